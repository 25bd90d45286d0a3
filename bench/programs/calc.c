// A calculator: expressions from standard input, a line each, with variables, functions and a few commands.
#include <ctype.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VARIABLES 16
#define NAME 12

struct variable {
    char name[NAME];
    double value;
};

static struct variable variables[VARIABLES];
static int n_variables;
static const char *at;
static jmp_buf failed;
static int base = 10;
static int depth;

static void fail(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    fprintf(stdout, "error: ");
    vfprintf(stdout, format, list);
    fputc('\n', stdout);
    va_end(list);
    longjmp(failed, 1);
}

static void skip(void)
{
    while (*at == ' ' || *at == '\t')
        at++;
}

static int accept(char c)
{
    skip();
    if (*at != c)
        return 0;
    at++;
    return 1;
}

static struct variable *find(const char *name)
{
    int i;
    for (i = 0; i < n_variables; i++)
        if (strcmp(variables[i].name, name) == 0)
            return &variables[i];
    return NULL;
}

static void read_name(char *name)
{
    int n = 0;
    while (isalnum((unsigned char)*at) || *at == '_') {
        if (n == NAME - 1)
            fail("name too long");
        name[n++] = *at++;
    }
    name[n] = 0;
}

static double expression(void);

static double call(const char *name)
{
    double x = expression();
    if (strcmp(name, "sqrt") == 0) {
        if (!accept(')'))
            fail("missing )");
        if (x < 0)
            fail("root of a negative number");
        return sqrt(x);
    }
    if (strcmp(name, "abs") == 0) {
        if (!accept(')'))
            fail("missing )");
        return x < 0 ? -x : x;
    }
    if (strcmp(name, "max") == 0 || strcmp(name, "min") == 0) {
        int is_max = name[1] == 'a';
        while (accept(',')) {
            double y = expression();
            if (is_max ? y > x : y < x)
                x = y;
        }
        if (!accept(')'))
            fail("missing )");
        return x;
    }
    fail("no function %s", name);
    return 0;
}

static double primary(void)
{
    double value;
    char name[NAME], *end;
    skip();
    if (accept('(')) {
        if (++depth > 8)
            fail("too deep");
        value = expression();
        if (!accept(')'))
            fail("missing )");
        depth--;
        return value;
    }
    if (isdigit((unsigned char)*at) || *at == '.') {
        if (base == 16 || (at[0] == '0' && (at[1] == 'x' || at[1] == 'X')))
            value = (double)strtol(at, &end, 16);
        else
            value = strtod(at, &end);
        if (end == at)
            fail("bad number");
        at = end;
        return value;
    }
    if (isalpha((unsigned char)*at)) {
        struct variable *variable;
        read_name(name);
        if (accept('('))
            return call(name);
        variable = find(name);
        if (!variable)
            fail("no variable %s", name);
        return variable->value;
    }
    if (!*at)
        fail("unexpected end");
    fail("unexpected %c", *at);
    return 0;
}

static double power(void)
{
    double value;
    if (accept('-'))
        return -power();
    value = primary();
    if (accept('^')) {
        double exponent = power();
        if (value == 0 && exponent < 0)
            fail("zero to a negative power");
        return pow(value, exponent);
    }
    return value;
}

static double term(void)
{
    double value = power();
    for (;;) {
        if (accept('*'))
            value *= power();
        else if (accept('/')) {
            double divisor = power();
            if (divisor == 0)
                fail("division by zero");
            value /= divisor;
        } else if (accept('%')) {
            long divisor = (long)power();
            if (divisor == 0)
                fail("division by zero");
            value = (double)((long)value % divisor);
        } else
            return value;
    }
}

static double expression(void)
{
    double value = term();
    for (;;) {
        if (accept('+'))
            value += term();
        else if (accept('-'))
            value -= term();
        else
            return value;
    }
}

static void assign(const char *name, double value)
{
    struct variable *variable = find(name);
    if (!variable) {
        if (n_variables == VARIABLES)
            fail("too many variables");
        variable = &variables[n_variables++];
        strcpy(variable->name, name);
    }
    variable->value = value;
}

static void show(double value)
{
    if (base == 16 && value >= 0 && value < 4294967296.0 && value == floor(value))
        printf("0x%lx\n", (unsigned long)value);
    else if (value == floor(value) && fabs(value) < 1e15)
        printf("%.0f\n", value);
    else
        printf("%g\n", value);
}

/* A line that begins with a word of its own; false for an expression. */
static int command(void)
{
    char name[NAME];
    int i;
    if (strncmp(at, "list", 4) == 0 && !isalnum((unsigned char)at[4])) {
        for (i = 0; i < n_variables; i++)
            printf("%s = %g\n", variables[i].name, variables[i].value);
        if (n_variables == 0)
            printf("nothing\n");
        return 1;
    }
    if (strncmp(at, "base ", 5) == 0) {
        int wanted = atoi(at + 5);
        if (wanted != 10 && wanted != 16)
            fail("base is 10 or 16");
        base = wanted;
        return 1;
    }
    if (strncmp(at, "let ", 4) == 0) {
        double value;
        at += 4;
        skip();
        if (!isalpha((unsigned char)*at))
            fail("name expected");
        read_name(name);
        if (!accept('='))
            fail("= expected");
        value = expression();
        skip();
        if (*at)
            fail("trailing %s", at);
        assign(name, value);
        return 1;
    }
    return 0;
}

int main(int argc, char **argv)
{
    char line[128];
    int n_errors = 0, is_quiet = argc > 1 && strcmp(argv[1], "-q") == 0;
    if (argc > 2 || (argc == 2 && !is_quiet)) {
        fprintf(stderr, "usage: calc [-q]\n");
        return 2;
    }
    while (fgets(line, sizeof line, stdin)) {
        char *newline = strchr(line, '\n');
        double value;
        if (newline)
            *newline = 0;
        at = line;
        depth = 0;
        if (setjmp(failed)) {
            n_errors++;
            continue;
        }
        skip();
        if (!*at || *at == '#')
            continue;
        if (strcmp(at, "quit") == 0)
            break;
        if (command())
            continue;
        value = expression();
        skip();
        if (*at)
            fail("trailing %s", at);
        assign("ans", value);
        if (!is_quiet)
            show(value);
    }
    return n_errors ? 1 : 0;
}
