// A token printer: characters with push-back, keywords, numbers, strings, comments and errors, each printed as a line's tag.
//@ function: print_tokens
//@ args: --len text=14
//@ branches: 88
//@ infeasible: 0

enum { MAX_TEXT = 14, MAX_TOKEN = 8, END = -1, N_KEYWORDS = 6 };
enum kind {
    T_END, T_KEYWORD, T_NAME, T_NUMBER, T_STRING, T_CHARACTER, T_PUNCTUATION, T_COMMENT, T_ERROR
};

struct reader {
    const char *text;
    int at;
    int line;
    int column;
    int pushed;
};

struct token {
    enum kind kind;
    char text[MAX_TOKEN + 1];
    int length;
    int truncated;
    int line;
};

struct totals {
    int n_keywords;
    int n_names;
    int n_numbers;
    int n_strings;
    int n_comments;
    int n_errors;
    int depth;
    int deepest;
};

static const char *const keywords[N_KEYWORDS] = {"and", "or", "if", "xor", "lambda", "=>"};
static struct totals totals;

static int next_character(struct reader *reader)
{
    int character;
    if (reader->pushed != END) {
        character = reader->pushed;
        reader->pushed = END;
        return character;
    }
    if (reader->at >= MAX_TEXT || reader->text[reader->at] == '\0')
        return END;
    character = (unsigned char)reader->text[reader->at++];
    if (character == '\n') {
        reader->line++;
        reader->column = 0;
    } else {
        reader->column++;
    }
    return character;
}

static void push_back(struct reader *reader, int character)
{
    reader->pushed = character;
}

static int is_letter(int character)
{
    return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') || character == '_';
}

static int is_digit(int character)
{
    return character >= '0' && character <= '9';
}

static int is_space(int character)
{
    return character == ' ' || character == '\t' || character == '\n';
}

static void begin(struct token *token, const struct reader *reader)
{
    token->kind = T_ERROR;
    token->length = 0;
    token->text[0] = '\0';
    token->truncated = 0;
    token->line = reader->line;
}

static void add(struct token *token, int character)
{
    if (token->length == MAX_TOKEN) {
        token->truncated = 1;
        return;
    }
    token->text[token->length++] = (char)character;
    token->text[token->length] = '\0';
}

static int same(const char *one, const char *other)
{
    while (*one != '\0' && *one == *other) {
        one++;
        other++;
    }
    return *one == *other;
}

static int is_keyword(const struct token *token)
{
    if (token->truncated)
        return 0;
    for (int i = 0; i < N_KEYWORDS; i++) {
        if (same(token->text, keywords[i]))
            return 1;
    }
    return 0;
}

static void read_name(struct reader *reader, struct token *token, int character)
{
    while (is_letter(character) || is_digit(character)) {
        add(token, character);
        character = next_character(reader);
    }
    push_back(reader, character);
    token->kind = is_keyword(token) ? T_KEYWORD : T_NAME;
}

static void read_number(struct reader *reader, struct token *token, int character)
{
    int n_points = 0;
    token->kind = T_NUMBER;
    while (is_digit(character) || character == '.') {
        if (character == '.')
            n_points++;
        add(token, character);
        character = next_character(reader);
    }
    if (n_points > 1)
        token->kind = T_ERROR;
    if (is_letter(character)) {
        /* a name must not begin with digits */
        token->kind = T_ERROR;
        while (is_letter(character)) {
            add(token, character);
            character = next_character(reader);
        }
    }
    push_back(reader, character);
}

static void read_string(struct reader *reader, struct token *token)
{
    int character = next_character(reader);
    while (character != '"') {
        if (character == END || character == '\n') {
            token->kind = T_ERROR;
            return;
        }
        if (character == '\\') {
            character = next_character(reader);
            if (character == END)
                return;
        }
        add(token, character);
        character = next_character(reader);
    }
    token->kind = T_STRING;
}

static void read_character(struct reader *reader, struct token *token)
{
    int character = next_character(reader);
    if (is_letter(character) || is_digit(character)) {
        add(token, character);
        token->kind = T_CHARACTER;
    } else {
        push_back(reader, character);
    }
}

static void read_comment(struct reader *reader, struct token *token)
{
    int character = next_character(reader);
    token->kind = T_COMMENT;
    while (character != '\n' && character != END) {
        add(token, character);
        character = next_character(reader);
    }
}

static void read_arrow(struct reader *reader, struct token *token)
{
    int character = next_character(reader);
    add(token, '=');
    if (character == '>') {
        add(token, '>');
        token->kind = T_KEYWORD;
    } else {
        push_back(reader, character);
        token->kind = T_PUNCTUATION;
    }
}

static void read_punctuation(struct token *token, int character)
{
    add(token, character);
    switch (character) {
    case '(':
    case '[':
        totals.depth++;
        if (totals.depth > totals.deepest)
            totals.deepest = totals.depth;
        token->kind = T_PUNCTUATION;
        break;
    case ')':
    case ']':
        if (totals.depth == 0)
            break;
        totals.depth--;
        token->kind = T_PUNCTUATION;
        break;
    case '\'':
    case '`':
    case ',':
        token->kind = T_PUNCTUATION;
        break;
    default:
        break;
    }
}

static void read_token(struct reader *reader, struct token *token)
{
    int character = next_character(reader);
    while (is_space(character))
        character = next_character(reader);
    begin(token, reader);
    if (character == END)
        token->kind = T_END;
    else if (is_letter(character))
        read_name(reader, token, character);
    else if (is_digit(character))
        read_number(reader, token, character);
    else if (character == '"')
        read_string(reader, token);
    else if (character == '#')
        read_character(reader, token);
    else if (character == ';')
        read_comment(reader, token);
    else if (character == '=')
        read_arrow(reader, token);
    else
        read_punctuation(token, character);
}

static void count(const struct token *token)
{
    switch (token->kind) {
    case T_KEYWORD:
        totals.n_keywords++;
        break;
    case T_NAME:
        totals.n_names++;
        break;
    case T_NUMBER:
        totals.n_numbers++;
        break;
    case T_STRING:
    case T_CHARACTER:
        totals.n_strings++;
        break;
    case T_COMMENT:
        totals.n_comments++;
        break;
    case T_ERROR:
        totals.n_errors++;
        break;
    default:
        break;
    }
}

/* What a printer would write for a token, as a number: the tag, the length and the line. */
static int tag(const struct token *token)
{
    int value = (int)token->kind * 100 + token->length;
    if (token->truncated)
        value += 50;
    return value + 1000 * token->line;
}

int print_tokens(const char *text)
{
    struct reader reader = {text, 0, 1, 0, END};
    struct token token;
    int sum = 0;
    totals = (struct totals){0};
    do {
        read_token(&reader, &token);
        count(&token);
        sum += tag(&token);
    } while (token.kind != T_END);
    if (totals.depth > 0)
        totals.n_errors++;
    if (totals.n_errors > 2)
        return -totals.n_errors;
    return sum + totals.deepest;
}
