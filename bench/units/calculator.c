// A recursive-descent calculator over text: precedence, brackets, division by zero, a nesting limit.
//@ function: calculate
//@ args: --len text=8
//@ branches: 42
//@ infeasible: 0

enum { LENGTH = 8, MAX_DEPTH = 2, LIMIT = 9999 };
enum failure { FINE, SYNTAX, DIVIDED_BY_ZERO, TOO_DEEP, TOO_LARGE };

struct parser {
    const char *text;
    int at;
    int depth;
    enum failure failure;
};

static int sum(struct parser *parser);

static char peek(struct parser *parser)
{
    while (parser->at < LENGTH && parser->text[parser->at] == ' ')
        parser->at++;
    return parser->at < LENGTH ? parser->text[parser->at] : '\0';
}

static int fail(struct parser *parser, enum failure failure)
{
    if (parser->failure == FINE)
        parser->failure = failure;
    return 0;
}

static int number(struct parser *parser)
{
    int value = 0;

    while (parser->at < LENGTH && parser->text[parser->at] >= '0' && parser->text[parser->at] <= '9') {
        value = value * 10 + (parser->text[parser->at] - '0');
        if (value > LIMIT)
            return fail(parser, TOO_LARGE);
        parser->at++;
    }
    return value;
}

static int factor(struct parser *parser)
{
    char c = peek(parser);
    int value;

    if (c >= '0' && c <= '9')
        return number(parser);
    if (c == '-') {
        parser->at++;
        return -factor(parser);
    }
    if (c != '(')
        return fail(parser, SYNTAX);
    if (++parser->depth > MAX_DEPTH)
        return fail(parser, TOO_DEEP);
    parser->at++;
    value = sum(parser);
    if (peek(parser) != ')')
        return fail(parser, SYNTAX);
    parser->at++;
    parser->depth--;
    return value;
}

static int product(struct parser *parser)
{
    int value = factor(parser);

    for (char c = peek(parser); parser->failure == FINE && (c == '*' || c == '/' || c == '%'); c = peek(parser)) {
        int right;

        parser->at++;
        right = factor(parser);
        if (c != '*' && right == 0)
            return fail(parser, DIVIDED_BY_ZERO);
        if (c == '*' && (right > 100 || right < -100))
            return fail(parser, TOO_LARGE);
        value = c == '*' ? value * right : c == '/' ? value / right : value % right;
    }
    return value;
}

static int sum(struct parser *parser)
{
    int value = product(parser);

    for (char c = peek(parser); parser->failure == FINE && (c == '+' || c == '-'); c = peek(parser)) {
        int right;

        parser->at++;
        right = product(parser);
        value = c == '+' ? value + right : value - right;
    }
    return value;
}

int calculate(const char text[LENGTH])
{
    struct parser parser = {text, 0, 0, FINE};
    int value = sum(&parser);

    if (parser.failure == FINE && peek(&parser) != '\0')
        fail(&parser, SYNTAX);
    if (parser.failure != FINE)
        return -100000 - (int)parser.failure;
    return value == 1234 ? 1 : value < 0 ? 2 : 3;
}
