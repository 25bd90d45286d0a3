// A tokeniser for a language like C: reads all of standard input into memory, then walks it with a pointer and a table of operators.
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind { WORD, RESERVED, INTEGER, REAL, TEXT, LETTER, OPERATOR, ERROR };

struct position {
    int line;
    int column;
};

static const char *const reserved[] = {"break", "case", "do", "else", "for", "if", "int", "return", "struct", "while"};
static const char *const operators[] = {"<<=", ">>=", "...", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||",
                                        "+=",  "-=",  "*=",  "/=", "=",  "+",  "-",  "*",  "/",  "%",  "<",  ">",  "!",  "&",
                                        "|",   "^",   "~",   "?",  ":",  ";",  ",",  ".",  "(",  ")",  "[",  "]",  "{",  "}"};
static struct position here = {1, 1};
static int counts[ERROR + 1];
static int is_verbose;
static int wants_positions;

static void advance(const char **at)
{
    if (**at == '\n') {
        here.line++;
        here.column = 1;
    } else if (**at == '\t')
        here.column += 8 - (here.column - 1) % 8;
    else
        here.column++;
    (*at)++;
}

static void emit(enum kind kind, const char *begin, const char *end, struct position position)
{
    static const char *const names[] = {"word", "reserved", "integer", "real", "text", "letter", "operator", "error"};
    counts[kind]++;
    if (!is_verbose && kind != ERROR)
        return;
    if (wants_positions)
        printf("%d:%d: ", position.line, position.column);
    printf("%s %.*s\n", names[kind], (int)(end - begin), begin);
}

static int is_reserved(const char *begin, const char *end)
{
    int low = 0, high = (int)(sizeof reserved / sizeof *reserved) - 1;
    size_t n = (size_t)(end - begin);
    while (low <= high) {
        int middle = (low + high) / 2;
        int order = strncmp(begin, reserved[middle], n);
        if (order == 0 && reserved[middle][n])
            order = -1;
        if (order == 0)
            return 1;
        if (order < 0)
            high = middle - 1;
        else
            low = middle + 1;
    }
    return 0;
}

static int skip_comment(const char **at)
{
    if ((*at)[1] == '/') {
        while (**at && **at != '\n')
            advance(at);
        return 1;
    }
    advance(at);
    advance(at);
    while (**at) {
        if ((*at)[0] == '*' && (*at)[1] == '/') {
            advance(at);
            advance(at);
            return 1;
        }
        advance(at);
    }
    return 0;
}

static enum kind number(const char **at)
{
    enum kind kind = INTEGER;
    if (**at == '0' && ((*at)[1] == 'x' || (*at)[1] == 'X')) {
        int n = 0;
        advance(at);
        advance(at);
        while (isxdigit((unsigned char)**at)) {
            advance(at);
            n++;
        }
        if (n == 0)
            return ERROR;
    } else if (**at == '0' && isdigit((unsigned char)(*at)[1])) {
        while (isdigit((unsigned char)**at)) {
            if (**at > '7')
                kind = ERROR;
            advance(at);
        }
    } else {
        while (isdigit((unsigned char)**at))
            advance(at);
        if (**at == '.') {
            kind = REAL;
            advance(at);
            while (isdigit((unsigned char)**at))
                advance(at);
        }
        if (**at == 'e' || **at == 'E') {
            kind = REAL;
            advance(at);
            if (**at == '+' || **at == '-')
                advance(at);
            if (!isdigit((unsigned char)**at))
                return ERROR;
            while (isdigit((unsigned char)**at))
                advance(at);
        }
    }
    while (**at == 'u' || **at == 'l' || **at == 'U' || **at == 'L') {
        if (kind == REAL && (**at == 'u' || **at == 'U'))
            kind = ERROR;
        advance(at);
    }
    if (isalpha((unsigned char)**at)) {
        while (isalnum((unsigned char)**at))
            advance(at);
        return ERROR;
    }
    return kind;
}

static int escape(const char **at)
{
    advance(at);
    switch (**at) {
    case 'n':
    case 't':
    case '0':
    case '\\':
    case '\'':
    case '"':
        advance(at);
        return 1;
    case 'x':
        advance(at);
        if (!isxdigit((unsigned char)**at))
            return 0;
        while (isxdigit((unsigned char)**at))
            advance(at);
        return 1;
    default:
        return 0;
    }
}

static enum kind quoted(const char **at)
{
    char quote = **at;
    int n = 0, is_good = 1;
    advance(at);
    while (**at && **at != quote && **at != '\n') {
        if (**at == '\\') {
            if (!escape(at))
                is_good = 0;
        } else
            advance(at);
        n++;
    }
    if (**at != quote)
        return ERROR;
    advance(at);
    if (!is_good)
        return ERROR;
    if (quote == '\'')
        return n == 1 ? LETTER : ERROR;
    return TEXT;
}

static enum kind other(const char **at)
{
    size_t i;
    for (i = 0; i < sizeof operators / sizeof *operators; i++) {
        size_t n = strlen(operators[i]);
        if (strncmp(*at, operators[i], n) == 0) {
            while (n--)
                advance(at);
            return OPERATOR;
        }
    }
    advance(at);
    return ERROR;
}

static void scan(const char *at)
{
    while (*at) {
        const char *begin = at;
        struct position position = here;
        if (isspace((unsigned char)*at)) {
            advance(&at);
            continue;
        }
        if (*at == '/' && (at[1] == '/' || at[1] == '*')) {
            if (!skip_comment(&at))
                emit(ERROR, begin, begin + 2, position);
            continue;
        }
        if (isalpha((unsigned char)*at) || *at == '_') {
            while (isalnum((unsigned char)*at) || *at == '_')
                advance(&at);
            emit(is_reserved(begin, at) ? RESERVED : WORD, begin, at, position);
        } else if (isdigit((unsigned char)*at) || (*at == '.' && isdigit((unsigned char)at[1]))) {
            enum kind kind = number(&at);
            emit(kind, begin, at, position);
        } else if (*at == '"' || *at == '\'') {
            enum kind kind = quoted(&at);
            emit(kind, begin, at, position);
        } else {
            enum kind kind = other(&at);
            emit(kind, begin, at, position);
        }
    }
}

static char *read_all(size_t *n)
{
    size_t room = 64;
    char *text = malloc(room);
    int c;
    *n = 0;
    while (text && (c = getchar()) != EOF) {
        if (*n + 1 == room) {
            char *more = realloc(text, room *= 2);
            if (!more) {
                free(text);
                return NULL;
            }
            text = more;
        }
        text[(*n)++] = (char)c;
    }
    if (text)
        text[*n] = 0;
    return text;
}

int main(int argc, char **argv)
{
    size_t n;
    char *text;
    int i;
    for (i = 1; i < argc; i++) {
        if (strcmp(argv[i], "-v") == 0)
            is_verbose = 1;
        else if (strcmp(argv[i], "-p") == 0)
            wants_positions = 1;
        else {
            fprintf(stderr, "lexer: unknown option %s\n", argv[i]);
            return 2;
        }
    }
    text = read_all(&n);
    if (!text)
        return 3;
    if (strlen(text) != n) {
        fprintf(stderr, "lexer: zero byte in text\n");
        free(text);
        return 4;
    }
    scan(text);
    printf("%d words, %d reserved, %d numbers, %d texts, %d operators\n", counts[WORD], counts[RESERVED], counts[INTEGER] + counts[REAL], counts[TEXT] + counts[LETTER], counts[OPERATOR]);
    free(text);
    if (counts[ERROR] > 0) {
        printf("%d errors\n", counts[ERROR]);
        return 1;
    }
    return 0;
}
