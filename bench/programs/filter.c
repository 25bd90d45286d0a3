// A filter for comma-separated values: picks columns and rows and adds up what is left; options and a condition as arguments.
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FIELDS 12
#define LINE 200

enum relation { NO_CONDITION, EQUAL, DIFFERENT, LESS, GREATER, CONTAINS };

static char separator = ',';
static int has_header;
static int wants_sum;
static int picked[FIELDS];
static int n_picked;
static int condition_column = -1;
static char condition_name[32];
static char condition_value[32];
static enum relation relation = NO_CONDITION;
static int limit = -1;

static int usage(const char *problem)
{
    fprintf(stderr, "filter: %s\nusage: filter [-H] [-s] [-d CHAR] [-c COLUMNS] [-w CONDITION] [-n LINES]\n", problem);
    return 2;
}

/* Splits a line in place; -1 where a quote is open or there are too many fields. */
static int split(char *line, char **fields)
{
    int n = 0;
    char *from = line, *to;
    for (;;) {
        if (n == FIELDS)
            return -1;
        if (*from == '"') {
            fields[n++] = to = ++from;
            for (;;) {
                if (!*from)
                    return -1;
                if (*from == '"') {
                    if (from[1] != '"')
                        break;
                    from++;
                }
                *to++ = *from++;
            }
            from++;
            *to = 0;
            if (*from && *from != separator)
                return -1;
        } else {
            fields[n++] = from;
            while (*from && *from != separator)
                from++;
        }
        if (!*from)
            return n;
        *from++ = 0;
    }
}

static int parse_columns(char *text)
{
    char *rest = NULL, *part;
    for (part = strtok_r(text, ",", &rest); part; part = strtok_r(NULL, ",", &rest)) {
        char *end;
        long first = strtol(part, &end, 10), last = first;
        if (end == part || first < 1)
            return 0;
        if (*end == '-') {
            last = strtol(end + 1, &end, 10);
            if (last < first)
                return 0;
        }
        if (*end || last > FIELDS)
            return 0;
        for (; first <= last; first++) {
            if (n_picked == FIELDS)
                return 0;
            picked[n_picked++] = (int)first - 1;
        }
    }
    return n_picked > 0;
}

static int parse_condition(const char *text)
{
    size_t n = strcspn(text, "=!<>~");
    const char *value = text + n + 1;
    if (n == 0 || n >= sizeof condition_name || !text[n])
        return 0;
    memcpy(condition_name, text, n);
    condition_name[n] = 0;
    switch (text[n]) {
    case '=':
        relation = EQUAL;
        break;
    case '!':
        if (*value != '=')
            return 0;
        value++;
        relation = DIFFERENT;
        break;
    case '<':
        relation = LESS;
        break;
    case '>':
        relation = GREATER;
        break;
    default:
        relation = CONTAINS;
    }
    if (strlen(value) >= sizeof condition_value)
        return 0;
    strcpy(condition_value, value);
    if (isdigit((unsigned char)condition_name[0])) {
        condition_column = atoi(condition_name) - 1;
        return condition_column >= 0 && condition_column < FIELDS;
    }
    return 1;
}

static int is_number(const char *text)
{
    char *end;
    if (!*text)
        return 0;
    strtod(text, &end);
    return !*end;
}

static int holds(const char *text)
{
    int order;
    switch (relation) {
    case NO_CONDITION:
        return 1;
    case CONTAINS:
        return strstr(text, condition_value) != NULL;
    default:
        break;
    }
    if (is_number(text) && is_number(condition_value)) {
        double a = atof(text), b = atof(condition_value);
        order = a < b ? -1 : a > b;
    } else
        order = strcmp(text, condition_value);
    switch (relation) {
    case EQUAL:
        return order == 0;
    case DIFFERENT:
        return order != 0;
    case LESS:
        return order < 0;
    default:
        return order > 0;
    }
}

static void print_field(const char *text)
{
    if (strchr(text, separator) || strchr(text, '"')) {
        putchar('"');
        for (; *text; text++) {
            if (*text == '"')
                putchar('"');
            putchar(*text);
        }
        putchar('"');
    } else
        fputs(text, stdout);
}

static void print_row(char **fields, int n)
{
    int i;
    if (n_picked == 0)
        for (i = 0; i < n; i++) {
            if (i)
                putchar(separator);
            print_field(fields[i]);
        }
    else
        for (i = 0; i < n_picked; i++) {
            if (i)
                putchar(separator);
            print_field(picked[i] < n ? fields[picked[i]] : "");
        }
    putchar('\n');
}

static int read_header(char **fields, int n)
{
    int i;
    if (relation == NO_CONDITION || condition_column >= 0)
        return 1;
    for (i = 0; i < n; i++)
        if (strcasecmp(fields[i], condition_name) == 0) {
            condition_column = i;
            return 1;
        }
    return 0;
}

static int parse_options(int argc, char **argv)
{
    int option;
    while ((option = getopt(argc, argv, "Hsd:c:w:n:")) != -1)
        switch (option) {
        case 'H':
            has_header = 1;
            break;
        case 's':
            wants_sum = 1;
            break;
        case 'd':
            if (strcmp(optarg, "tab") == 0)
                separator = '\t';
            else if (strlen(optarg) == 1 && *optarg != '"')
                separator = *optarg;
            else
                return usage("bad separator");
            break;
        case 'c':
            if (!parse_columns(optarg))
                return usage("bad columns");
            break;
        case 'w':
            if (!parse_condition(optarg))
                return usage("bad condition");
            break;
        case 'n':
            limit = atoi(optarg);
            if (limit <= 0)
                return usage("bad number of lines");
            break;
        default:
            return usage("unknown option");
        }
    if (optind < argc)
        return usage("too many arguments");
    if (relation != NO_CONDITION && condition_column < 0 && !has_header)
        return usage("a name needs a header");
    return 0;
}

int main(int argc, char **argv)
{
    char line[LINE], *fields[FIELDS];
    double sum = 0;
    int n_line = 0, n_printed = 0, n_bad = 0, n, status = parse_options(argc, argv);
    if (status)
        return status;
    while (fgets(line, sizeof line, stdin)) {
        n_line++;
        line[strcspn(line, "\r\n")] = 0;
        n = split(line, fields);
        if (n < 0) {
            fprintf(stderr, "filter: line %d is malformed\n", n_line);
            n_bad++;
            continue;
        }
        if (has_header && n_line == 1) {
            if (!read_header(fields, n)) {
                fprintf(stderr, "filter: no column %s\n", condition_name);
                return 3;
            }
            print_row(fields, n);
            continue;
        }
        if (condition_column >= n || (condition_column >= 0 && !holds(fields[condition_column])))
            continue;
        if (wants_sum) {
            int column = n_picked ? picked[0] : 0;
            if (column < n && is_number(fields[column]))
                sum += atof(fields[column]);
        } else
            print_row(fields, n);
        if (++n_printed == limit)
            break;
    }
    if (wants_sum)
        printf("%g\n", sum);
    return n_bad ? 1 : 0;
}
