// A scanner for a small language: identifiers, numbers, strings, comments, two-character operators; after printtokens2 (paper 3).
//@ function: scan
//@ args: --len text=8
//@ branches: 65
//@ infeasible: 0

enum { LENGTH = 8 };
enum token { END, NAME, KEYWORD, NUMBER, REAL, STRING, OPERATOR, COMMENT, BAD };

struct scanner {
    const char *text;
    int at;
};

static char look(const struct scanner *scanner, int ahead)
{
    return scanner->at + ahead < LENGTH ? scanner->text[scanner->at + ahead] : '\0';
}

static int is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static enum token word(struct scanner *scanner)
{
    const char *start = scanner->text + scanner->at;
    int n = 0;

    while (is_letter(look(scanner, 0)) || is_digit(look(scanner, 0))) {
        scanner->at++;
        n++;
    }
    if ((n == 2 && start[0] == 'i' && start[1] == 'f') || (n == 3 && start[0] == 'f' && start[1] == 'o' && start[2] == 'r'))
        return KEYWORD;
    return NAME;
}

static enum token number(struct scanner *scanner)
{
    enum token token = NUMBER;

    while (is_digit(look(scanner, 0)))
        scanner->at++;
    if (look(scanner, 0) == '.' && is_digit(look(scanner, 1))) {
        token = REAL;
        scanner->at++;
        while (is_digit(look(scanner, 0)))
            scanner->at++;
    }
    return is_letter(look(scanner, 0)) ? BAD : token;
}

static enum token string(struct scanner *scanner)
{
    scanner->at++;
    for (; look(scanner, 0) != '\0'; scanner->at++) {
        if (look(scanner, 0) == '\\' && look(scanner, 1) != '\0') {
            scanner->at++;
        } else if (look(scanner, 0) == '"') {
            scanner->at++;
            return STRING;
        }
    }
    return BAD;
}

static enum token operator(struct scanner *scanner)
{
    char c = look(scanner, 0), next = look(scanner, 1);

    if (c == '/' && next == '/') {
        while (look(scanner, 0) != '\0' && look(scanner, 0) != '\n')
            scanner->at++;
        return COMMENT;
    }
    scanner->at++;
    switch (c) {
    case '<':
    case '>':
        if (next == '=' || next == c)
            scanner->at++;
        return OPERATOR;
    case '=':
    case '!':
        if (next == '=')
            scanner->at++;
        return c == '!' && next != '=' ? BAD : OPERATOR;
    case '&':
    case '|':
        if (next != c)
            return BAD;
        scanner->at++;
        return OPERATOR;
    case '+':
    case '-':
    case '*':
    case '/':
        return OPERATOR;
    default:
        return BAD;
    }
}

static enum token token(struct scanner *scanner)
{
    while (look(scanner, 0) == ' ' || look(scanner, 0) == '\n')
        scanner->at++;
    if (look(scanner, 0) == '\0')
        return END;
    if (is_letter(look(scanner, 0)))
        return word(scanner);
    if (is_digit(look(scanner, 0)))
        return number(scanner);
    return look(scanner, 0) == '"' ? string(scanner) : operator(scanner);
}

int scan(const char text[LENGTH])
{
    struct scanner scanner = {text, 0};
    int n_tokens = 0, n_operators = 0;
    enum token previous = END;

    for (enum token now = token(&scanner); now != END; now = token(&scanner)) {
        if (now == BAD)
            return -1;
        if (now == OPERATOR)
            n_operators++;
        if (previous == KEYWORD && (now == KEYWORD || now == REAL))
            return -2;
        if (now != COMMENT)
            previous = now;
        n_tokens++;
    }
    return n_tokens == 3 && n_operators == 1 && previous == NAME ? 100 : n_tokens;
}
