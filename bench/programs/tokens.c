// A tokeniser for a small Lisp: reads a file or standard input character by character and prints each token's kind.
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LONGEST 80

enum kind {
    KEYWORD,
    SPECIAL,
    IDENTIFIER,
    NUMBER,
    STRING,
    CHARACTER,
    COMMENT,
    BROKEN,
    END
};

struct reader {
    FILE *file;
    char buffer[LONGEST + 1];
    int length;
    int position;
};

static int get(struct reader *reader)
{
    if (reader->position >= reader->length) {
        if (!fgets(reader->buffer, sizeof reader->buffer, reader->file))
            return EOF;
        reader->length = (int)strlen(reader->buffer);
        reader->position = 0;
    }
    if (reader->length == 0)
        return EOF;
    return (unsigned char)reader->buffer[reader->position++];
}

static void unget(struct reader *reader, int c)
{
    if (c != EOF && reader->position > 0)
        reader->buffer[--reader->position] = (char)c;
}

static int is_special(int c)
{
    switch (c) {
    case '(':
    case ')':
    case '[':
    case ']':
    case '\'':
    case '`':
    case ',':
        return 1;
    default:
        return 0;
    }
}

static int ends_token(int c)
{
    return c == EOF || isspace(c) || is_special(c) || c == '"' || c == ';';
}

static int is_keyword(const char *text)
{
    static const char *const keywords[] = {"and", "or", "if", "xor", "lambda", "=>", "define", "let"};
    size_t i;
    for (i = 0; i < sizeof keywords / sizeof *keywords; i++)
        if (strcmp(text, keywords[i]) == 0)
            return 1;
    return 0;
}

static int is_number(const char *text)
{
    int i = 0, dots = 0;
    if (text[0] == '-' || text[0] == '+')
        i = 1;
    if (!isdigit((unsigned char)text[i]))
        return 0;
    for (; text[i]; i++) {
        if (text[i] == '.') {
            if (++dots > 1)
                return 0;
        } else if (!isdigit((unsigned char)text[i]))
            return 0;
    }
    return 1;
}

static int is_identifier(const char *text)
{
    int i;
    if (!isalpha((unsigned char)text[0]) && text[0] != '_')
        return 0;
    for (i = 1; text[i]; i++)
        if (!isalnum((unsigned char)text[i]) && text[i] != '-' && text[i] != '_' && text[i] != '?')
            return 0;
    return 1;
}

static int is_character(const char *text)
{
    if (text[0] != '#' || text[1] != '\\')
        return 0;
    if (text[2] && !text[3])
        return 1;
    return strcmp(text + 2, "space") == 0 || strcmp(text + 2, "newline") == 0;
}

static enum kind string_token(struct reader *reader, char *text)
{
    int n = 1, c;
    text[0] = '"';
    while ((c = get(reader)) != EOF && c != '"' && c != '\n') {
        if (c == '\\') {
            c = get(reader);
            if (c == EOF)
                break;
            if (c == 'n')
                c = '\n';
        }
        if (n < LONGEST - 1)
            text[n++] = (char)c;
    }
    text[n] = 0;
    return c == '"' ? STRING : BROKEN;
}

static enum kind comment_token(struct reader *reader, char *text)
{
    int n = 0, c;
    while ((c = get(reader)) != EOF && c != '\n')
        if (n < LONGEST - 1)
            text[n++] = (char)c;
    text[n] = 0;
    return COMMENT;
}

static enum kind token(struct reader *reader, char *text)
{
    int c, n = 0;
    do
        c = get(reader);
    while (c != EOF && isspace(c));
    if (c == EOF)
        return END;
    if (is_special(c)) {
        text[0] = (char)c;
        text[1] = 0;
        return SPECIAL;
    }
    if (c == '"')
        return string_token(reader, text);
    if (c == ';')
        return comment_token(reader, text);
    while (!ends_token(c)) {
        if (n == LONGEST - 1)
            break;
        text[n++] = (char)c;
        c = get(reader);
    }
    text[n] = 0;
    unget(reader, c);
    if (is_keyword(text))
        return KEYWORD;
    if (is_number(text))
        return NUMBER;
    if (is_identifier(text))
        return IDENTIFIER;
    if (is_character(text))
        return CHARACTER;
    return BROKEN;
}

static void print(enum kind kind, const char *text)
{
    switch (kind) {
    case KEYWORD:
        printf("keyword,\"%s\".\n", text);
        break;
    case SPECIAL:
        switch (text[0]) {
        case '(':
            printf("lparen.\n");
            break;
        case ')':
            printf("rparen.\n");
            break;
        case '[':
            printf("lsquare.\n");
            break;
        case ']':
            printf("rsquare.\n");
            break;
        case '\'':
            printf("quote.\n");
            break;
        case '`':
            printf("bquote.\n");
            break;
        default:
            printf("comma.\n");
        }
        break;
    case IDENTIFIER:
        printf("identifier,\"%s\".\n", text);
        break;
    case NUMBER:
        printf("numeric,%s.\n", text);
        break;
    case STRING:
        printf("string,%s\".\n", text);
        break;
    case CHARACTER:
        printf("character,\"%s\".\n", text + 2);
        break;
    case COMMENT:
        break;
    case BROKEN:
        printf("error,\"%s\".\n", text);
        break;
    case END:
        printf("eof.\n");
        break;
    }
}

int main(int argc, char **argv)
{
    struct reader reader = {0};
    char text[LONGEST + 1];
    enum kind kind;
    int n_broken = 0;
    if (argc > 2) {
        fprintf(stderr, "usage: tokens [file]\n");
        return 2;
    }
    reader.file = stdin;
    if (argc == 2 && strcmp(argv[1], "-") != 0) {
        reader.file = fopen(argv[1], "r");
        if (!reader.file) {
            fprintf(stderr, "cannot open %s\n", argv[1]);
            return 1;
        }
    }
    do {
        kind = token(&reader, text);
        print(kind, text);
        if (kind == BROKEN)
            n_broken++;
    } while (kind != END);
    if (n_broken > 2)
        printf("%d errors\n", n_broken);
    return 0;
}
