// A text formatter: fills paragraphs to a width, obeys commands that begin with a dot, numbers headings, centres and indents.
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WIDEST 120
#define LONGEST 256

static char line[WIDEST + 1];
static int n_line;
static int width = 40;
static int indent;
static int next_indent = -1;
static int is_filled = 1;
static int is_justified;
static int spacing = 1;
static int centred;
static int page_length;
static int n_on_page;
static int page = 1;
static int headings[3];
static int direction;

static void new_line(void)
{
    putchar('\n');
    if (page_length && ++n_on_page == page_length) {
        printf("- %d -\n", page++);
        n_on_page = 0;
    }
}

static void put_spaces(int n)
{
    while (n-- > 0)
        putchar(' ');
}

static int margin(void)
{
    return next_indent >= 0 ? next_indent : indent;
}

/* Prints what the line holds, spread to the width if it is to be justified. */
static void put_line(int is_last)
{
    int i, gaps = 0, missing = width - margin() - n_line;
    if (n_line == 0)
        return;
    for (i = 0; i < n_line; i++)
        if (line[i] == ' ')
            gaps++;
    put_spaces(margin());
    if (is_justified && !is_last && gaps > 0 && missing > 0) {
        direction = !direction;
        for (i = 0; i < n_line; i++) {
            putchar(line[i]);
            if (line[i] == ' ') {
                int share = direction ? (missing + gaps - 1) / gaps : missing / gaps;
                put_spaces(share);
                missing -= share;
                gaps--;
            }
        }
    } else
        printf("%.*s", n_line, line);
    for (i = 0; i < spacing; i++)
        new_line();
    n_line = 0;
    next_indent = -1;
}

static void put_word(const char *word, int n)
{
    int room = width - margin();
    if (n > WIDEST)
        n = WIDEST;
    if (n_line > 0 && n_line + 1 + n > room)
        put_line(0);
    if (n_line > 0) {
        if (line[n_line - 1] == '.' && n_line + 2 + n <= room)
            line[n_line++] = ' ';
        line[n_line++] = ' ';
    }
    if (n_line + n > WIDEST)
        n = WIDEST - n_line;
    memcpy(line + n_line, word, (size_t)n);
    n_line += n;
}

static void fill(const char *text)
{
    while (*text) {
        const char *begin;
        while (isspace((unsigned char)*text))
            text++;
        begin = text;
        while (*text && !isspace((unsigned char)*text))
            text++;
        if (text > begin)
            put_word(begin, (int)(text - begin));
    }
}

static void centre(const char *text)
{
    int n = (int)strlen(text);
    if (n < width)
        put_spaces((width - n) / 2);
    fputs(text, stdout);
    new_line();
    centred--;
}

/* The number behind a command: absolute, or relative with a sign. */
static int value(const char *text, int old, int low, int high)
{
    int n;
    while (*text == ' ')
        text++;
    if (*text == '+')
        n = old + atoi(text + 1);
    else if (*text == '-')
        n = old - atoi(text + 1);
    else if (isdigit((unsigned char)*text))
        n = atoi(text);
    else
        return old;
    if (n < low)
        return low;
    return n > high ? high : n;
}

static void heading(const char *text)
{
    int level = 1, i;
    while (*text == ' ')
        text++;
    if (isdigit((unsigned char)*text)) {
        level = *text - '0';
        text++;
    }
    if (level < 1 || level > 3) {
        printf("?level\n");
        return;
    }
    headings[level - 1]++;
    for (i = level; i < 3; i++)
        headings[i] = 0;
    for (i = 0; i < level; i++)
        printf(i ? ".%d" : "%d", headings[i]);
    printf("%s", text);
    new_line();
}

static int command(const char *text)
{
    static const char *const names[] = {"br", "sp", "ce", "in", "ti", "fi", "nf", "ju", "na", "ls", "ll", "pl", "bp", "he"};
    const char *rest = text + 2;
    size_t i;
    int n;
    for (i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(text, names[i], 2) == 0)
            break;
    switch (i) {
    case 0:
        put_line(1);
        break;
    case 1:
        put_line(1);
        for (n = value(rest, 1, 0, 10); n > 0; n--)
            new_line();
        break;
    case 2:
        put_line(1);
        centred = value(rest, 1, 0, 100);
        break;
    case 3:
        put_line(1);
        indent = value(rest, indent, 0, width - 1);
        break;
    case 4:
        put_line(1);
        next_indent = value(rest, indent, 0, width - 1);
        break;
    case 5:
        put_line(1);
        is_filled = 1;
        break;
    case 6:
        put_line(1);
        is_filled = 0;
        break;
    case 7:
        is_justified = 1;
        break;
    case 8:
        is_justified = 0;
        break;
    case 9:
        spacing = value(rest, spacing, 1, 3);
        break;
    case 10:
        put_line(1);
        width = value(rest, width, indent + 1, WIDEST);
        break;
    case 11:
        page_length = value(rest, page_length, 0, 100);
        break;
    case 12:
        put_line(1);
        while (page_length && n_on_page > 0)
            new_line();
        break;
    case 13:
        put_line(1);
        heading(rest);
        break;
    default:
        return 0;
    }
    return 1;
}

int main(int argc, char **argv)
{
    char text[LONGEST];
    int n_unknown = 0;
    if (argc > 1) {
        width = atoi(argv[1]);
        if (width < 10 || width > WIDEST) {
            fprintf(stderr, "format: bad width %s\n", argv[1]);
            return 2;
        }
    }
    while (fgets(text, sizeof text, stdin)) {
        size_t n = strlen(text);
        if (n && text[n - 1] == '\n')
            text[n - 1] = 0;
        if (text[0] == '.') {
            if (!command(text + 1)) {
                fprintf(stderr, "format: unknown command %s\n", text);
                n_unknown++;
            }
        } else if (centred > 0)
            centre(text);
        else if (!text[0]) {
            put_line(1);
            new_line();
        } else if (!is_filled) {
            put_spaces(indent);
            fputs(text, stdout);
            new_line();
        } else {
            if (text[0] == ' ')
                put_line(1);
            fill(text);
        }
    }
    put_line(1);
    return n_unknown ? 1 : 0;
}
