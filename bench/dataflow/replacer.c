// A pattern replacer: a pattern with classes, ranges, closures and anchors is compiled, found in a line and replaced.
//@ function: replace
//@ args: --len text=7 --len line=7 --len substitute=4
//@ branches: 108
//@ infeasible: 0

enum { MAX_PATTERN = 7, MAX_LINE = 7, MAX_SUBSTITUTE = 4, MAX_ITEMS = 8, MAX_RESULT = 30, MAX_SET = 24 };
enum kind { LITERAL, ANY, BEGIN, FINISH, CLASS, NOT_CLASS };
enum fault { FINE, BAD_PATTERN, BAD_SUBSTITUTE, TOO_LONG };

struct item {
    enum kind kind;
    char character;
    int closure;
    char set[MAX_SET];
    int n_set;
};

struct pattern {
    struct item items[MAX_ITEMS];
    int n_items;
};

struct output {
    char text[MAX_RESULT + 1];
    int length;
    int overflow;
    int n_replaced;
};

static struct pattern pattern;
static struct output output;
static char replacement[MAX_SUBSTITUTE + 1];
static int is_ditto[MAX_SUBSTITUTE + 1];
static int n_replacement;

static int length_of(const char *text, int limit)
{
    int length = 0;
    while (length < limit && text[length] != '\0')
        length++;
    return length;
}

/* The character at a place; @ takes away the meaning of the one behind it. */
static char escaped(const char *text, int length, int *at)
{
    if (text[*at] != '@')
        return text[*at];
    if (*at + 1 >= length)
        return '@';
    (*at)++;
    if (text[*at] == 'n')
        return '\n';
    if (text[*at] == 't')
        return '\t';
    return text[*at];
}

static int add_to_set(struct item *item, char character)
{
    if (item->n_set == MAX_SET)
        return 0;
    item->set[item->n_set++] = character;
    return 1;
}

static int is_alphanumeric(char character)
{
    if (character >= '0' && character <= '9')
        return 1;
    if (character >= 'a' && character <= 'z')
        return 1;
    return character >= 'A' && character <= 'Z';
}

static int add_range(struct item *item, char low, char high)
{
    for (int character = low; character <= high; character++) {
        if (!add_to_set(item, (char)character))
            return 0;
    }
    return 1;
}

/* A class from behind its bracket; where it ends, or -1. */
static int compile_class(const char *text, int length, int at, struct item *item)
{
    item->kind = CLASS;
    item->n_set = 0;
    if (at < length && text[at] == '^') {
        item->kind = NOT_CLASS;
        at++;
    }
    while (at < length && text[at] != ']') {
        if (text[at] == '-' && item->n_set > 0 && at + 1 < length && text[at + 1] != ']') {
            char low = item->set[item->n_set - 1];
            char high = text[at + 1];
            if (!is_alphanumeric(low) || !is_alphanumeric(high) || low > high)
                return -1;
            if (!add_range(item, (char)(low + 1), high))
                return -1;
            at += 2;
        } else {
            char character = escaped(text, length, &at);
            if (!add_to_set(item, character))
                return -1;
            at++;
        }
    }
    return at < length ? at : -1;
}

static struct item *new_item(enum kind kind, char character)
{
    struct item *item = &pattern.items[pattern.n_items++];
    item->kind = kind;
    item->character = character;
    item->closure = 0;
    item->n_set = 0;
    return item;
}

static int may_repeat(const struct item *item)
{
    if (item->closure)
        return 0;
    return item->kind != BEGIN && item->kind != FINISH;
}

static enum fault compile_pattern(const char *text, int length)
{
    pattern.n_items = 0;
    if (length == 0)
        return BAD_PATTERN;
    for (int at = 0; at < length; at++) {
        char character = text[at];
        if (character == '?') {
            new_item(ANY, '?');
        } else if (character == '%' && at == 0) {
            new_item(BEGIN, '%');
        } else if (character == '$' && at == length - 1) {
            new_item(FINISH, '$');
        } else if (character == '[') {
            at = compile_class(text, length, at + 1, new_item(CLASS, '['));
            if (at < 0)
                return BAD_PATTERN;
        } else if (character == '*' && pattern.n_items > 0) {
            struct item *last = &pattern.items[pattern.n_items - 1];
            if (!may_repeat(last))
                return BAD_PATTERN;
            last->closure = 1;
        } else {
            character = escaped(text, length, &at);
            new_item(LITERAL, character);
        }
    }
    return FINE;
}

static enum fault compile_substitute(const char *text, int length)
{
    n_replacement = 0;
    for (int at = 0; at < length; at++) {
        int ditto = text[at] == '&';
        if (text[at] == '@' && at + 1 == length)
            return BAD_SUBSTITUTE;
        replacement[n_replacement] = escaped(text, length, &at);
        is_ditto[n_replacement] = ditto;
        n_replacement++;
    }
    return FINE;
}

static int in_set(const struct item *item, char character)
{
    for (int i = 0; i < item->n_set; i++) {
        if (item->set[i] == character)
            return 1;
    }
    return 0;
}

/* Whether an item that takes a character takes this one. */
static int takes(const struct item *item, char character)
{
    switch (item->kind) {
    case LITERAL:
        return item->character == character;
    case ANY:
        return character != '\n';
    case CLASS:
        return in_set(item, character);
    default:
        return character != '\n' && !in_set(item, character);
    }
}

static int match_here(const char *line, int length, int at, int number);

static int match_closure(const char *line, int length, int at, int number)
{
    int end = at;
    while (end < length && takes(&pattern.items[number], line[end]))
        end++;
    /* the longest first */
    for (; end >= at; end--) {
        int found = match_here(line, length, end, number + 1);
        if (found >= 0)
            return found;
    }
    return -1;
}

/* Where a match of the items from this one on ends that begins here, or -1. */
static int match_here(const char *line, int length, int at, int number)
{
    while (number < pattern.n_items) {
        const struct item *item = &pattern.items[number];
        if (item->kind == BEGIN) {
            if (at != 0)
                return -1;
        } else if (item->kind == FINISH) {
            if (at != length)
                return -1;
        } else if (item->closure) {
            return match_closure(line, length, at, number);
        } else {
            if (at == length || !takes(item, line[at]))
                return -1;
            at++;
        }
        number++;
    }
    return at;
}

static void put(char character)
{
    if (output.length == MAX_RESULT) {
        output.overflow = 1;
        return;
    }
    output.text[output.length++] = character;
}

static void put_replacement(const char *line, int from, int to)
{
    for (int i = 0; i < n_replacement; i++) {
        if (is_ditto[i]) {
            for (int at = from; at < to; at++)
                put(line[at]);
        } else {
            put(replacement[i]);
        }
    }
    output.n_replaced++;
}

static void change(const char *line, int length)
{
    int at = 0;
    int last_end = -1;
    while (at <= length) {
        int end = match_here(line, length, at, 0);
        if (end >= 0 && end != last_end) {
            put_replacement(line, at, end);
            last_end = end;
        }
        if (end <= at) {
            if (at < length)
                put(line[at]);
            at++;
        } else {
            at = end;
        }
    }
    output.text[output.length] = '\0';
}

int replace(const char *text, const char *substitute, const char *line)
{
    enum fault fault;
    output.length = 0;
    output.overflow = 0;
    output.n_replaced = 0;
    fault = compile_pattern(text, length_of(text, MAX_PATTERN));
    if (fault == FINE)
        fault = compile_substitute(substitute, length_of(substitute, MAX_SUBSTITUTE));
    if (fault != FINE)
        return -(int)fault;
    change(line, length_of(line, MAX_LINE));
    if (output.overflow)
        return -(int)TOO_LONG;
    return output.n_replaced * 100 + output.length;
}
