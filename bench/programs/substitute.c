// A pattern replacer: copies standard input and replaces what a pattern matches; both are arguments.
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 100

enum op { OP_CHAR, OP_ANY, OP_SET, OP_NOT_SET, OP_BEGIN, OP_END, OP_STAR };

struct step {
    enum op op;
    int is_repeated;
    char character;
    char set[MOST];
};

static struct step steps[MOST];
static int n_steps;
static char replacement[MOST];
static int n_replacement;

#define MARK_WHOLE '\001'

static int escaped(const char *text, int *at)
{
    if (text[*at] != '\\')
        return text[*at];
    if (!text[*at + 1])
        return '\\';
    (*at)++;
    switch (text[*at]) {
    case 'n':
        return '\n';
    case 't':
        return '\t';
    default:
        return text[*at];
    }
}

/* Appends a character to a set; false where it is full. */
static int add_to_set(char *set, int c)
{
    size_t n = strlen(set);
    if (n + 1 >= MOST)
        return 0;
    set[n] = (char)c;
    set[n + 1] = 0;
    return 1;
}

/* Reads what stands between brackets: characters, ranges, escapes. */
static int read_set(const char *text, int *at, struct step *step)
{
    int first = 0, c;
    step->op = OP_SET;
    if (text[*at] == '^') {
        step->op = OP_NOT_SET;
        (*at)++;
    }
    while (text[*at] && text[*at] != ']') {
        if (text[*at] == '-' && first && text[*at + 1] && text[*at + 1] != ']') {
            int last;
            (*at)++;
            last = escaped(text, at);
            if (!isalnum(first) || !isalnum(last) || last < first) {
                if (!add_to_set(step->set, '-') || !add_to_set(step->set, last))
                    return 0;
            } else
                for (c = first + 1; c <= last; c++)
                    if (!add_to_set(step->set, c))
                        return 0;
            first = 0;
        } else {
            first = (unsigned char)escaped(text, at);
            if (!add_to_set(step->set, first))
                return 0;
        }
        (*at)++;
    }
    return text[*at] == ']';
}

static int make_pattern(const char *text)
{
    int at;
    for (at = 0; text[at]; at++) {
        struct step *step = &steps[n_steps];
        if (n_steps == MOST - 1)
            return 0;
        if (text[at] == '?') {
            step->op = OP_ANY;
        } else if (text[at] == '%' && at == 0) {
            step->op = OP_BEGIN;
        } else if (text[at] == '$' && !text[at + 1]) {
            step->op = OP_END;
        } else if (text[at] == '[') {
            at++;
            if (!read_set(text, &at, step))
                return 0;
        } else if (text[at] == '*' && n_steps > 0) {
            step = &steps[n_steps - 1];
            if (step->op == OP_BEGIN || step->op == OP_END || step->is_repeated)
                return 0;
            step->is_repeated = 1;
            continue;
        } else {
            step->op = OP_CHAR;
            step->character = (char)escaped(text, &at);
        }
        n_steps++;
    }
    return 1;
}

static int make_replacement(const char *text)
{
    int at;
    for (at = 0; text[at]; at++) {
        if (n_replacement == MOST - 1)
            return 0;
        if (text[at] == '&')
            replacement[n_replacement++] = MARK_WHOLE;
        else
            replacement[n_replacement++] = (char)escaped(text, &at);
    }
    return 1;
}

static int one_matches(const struct step *step, const char *line, int at)
{
    switch (step->op) {
    case OP_CHAR:
        return line[at] == step->character;
    case OP_ANY:
        return line[at] && line[at] != '\n';
    case OP_SET:
        return line[at] && strchr(step->set, line[at]);
    case OP_NOT_SET:
        return line[at] && line[at] != '\n' && !strchr(step->set, line[at]);
    default:
        return 0;
    }
}

/* The end of the longest match from a position, or -1. */
static int match(const char *line, int at, int number)
{
    for (; number < n_steps; number++) {
        const struct step *step = &steps[number];
        if (step->is_repeated) {
            int end = at, found;
            while (line[end] && one_matches(step, line, end))
                end++;
            for (; end >= at; end--) {
                found = match(line, end, number + 1);
                if (found >= 0)
                    return found;
            }
            return -1;
        }
        if (step->op == OP_BEGIN) {
            if (at != 0)
                return -1;
        } else if (step->op == OP_END) {
            if (line[at] != '\n' && line[at])
                return -1;
        } else {
            if (!line[at] || !one_matches(step, line, at))
                return -1;
            at++;
        }
    }
    return at;
}

static void put_replacement(const char *line, int begin, int end)
{
    int i, j;
    for (i = 0; i < n_replacement; i++) {
        if (replacement[i] == MARK_WHOLE)
            for (j = begin; j < end; j++)
                putchar(line[j]);
        else
            putchar(replacement[i]);
    }
}

static int change(const char *line)
{
    int at = 0, last = -1, n = 0;
    while (line[at]) {
        int end = match(line, at, 0);
        if (end >= 0 && end != last) {
            put_replacement(line, at, end);
            last = end;
            n++;
        }
        if (end < 0 || end == at) {
            putchar(line[at]);
            at++;
        } else
            at = end;
    }
    return n;
}

int main(int argc, char **argv)
{
    char line[MOST];
    int n = 0;
    if (argc < 2) {
        fprintf(stderr, "usage: substitute pattern [replacement]\n");
        return 1;
    }
    if (!make_pattern(argv[1]) || n_steps == 0) {
        fprintf(stderr, "illegal pattern\n");
        return 2;
    }
    if (argc >= 3 && !make_replacement(argv[2])) {
        fprintf(stderr, "replacement too long\n");
        return 3;
    }
    while (fgets(line, sizeof line, stdin))
        n += change(line);
    return n > 0 ? 0 : 4;
}
