// Patterns with any-character, classes, repetition and anchors matched against text, with backtracking; after replace (paper 3).
//@ function: find
//@ args: --len pattern=6 --len text=5
//@ branches: 50
//@ infeasible: 0

enum { PATTERN = 6, TEXT = 5, BAD_PATTERN = -2, NOT_FOUND = -1 };

struct item {
    int kind;      /* a character, '.' for any, '[' for a class */
    int negated;
    int first;     /* of a class: its members are pattern[first] .. pattern[last - 1] */
    int last;
    int next;
};

/* Reads one item; whether it is well formed. */
static int read_item(const char *pattern, int at, int n, struct item *item)
{
    item->kind = (unsigned char)pattern[at];
    item->negated = 0;
    item->next = at + 1;
    if (pattern[at] == '\\') {
        if (at + 1 >= n)
            return 0;
        item->kind = (unsigned char)pattern[at + 1];
        item->next = at + 2;
        return item->kind != '.' && item->kind != '[';
    }
    if (pattern[at] == '*')
        return 0;
    if (pattern[at] != '[')
        return 1;
    at++;
    if (at < n && pattern[at] == '^') {
        item->negated = 1;
        at++;
    }
    item->first = at;
    while (at < n && pattern[at] != ']')
        at++;
    item->last = at;
    item->next = at + 1;
    return at < n && item->last > item->first;
}

static int in_class(const char *pattern, const struct item *item, char c)
{
    for (int i = item->first; i < item->last; i++) {
        if (i + 2 < item->last && pattern[i + 1] == '-') {
            if (c >= pattern[i] && c <= pattern[i + 2])
                return 1;
            i += 2;
        } else if (pattern[i] == c) {
            return 1;
        }
    }
    return 0;
}

static int matches_item(const char *pattern, const struct item *item, char c)
{
    if (item->kind == '[')
        return in_class(pattern, item, c) != item->negated;
    return item->kind == '.' || item->kind == (unsigned char)c;
}

/* The end of a match that starts at `at`, or a negative number. */
static int match(const char *pattern, int from, int n, const char *text, int at, int n_text)
{
    struct item item;

    if (from >= n)
        return at;
    if (pattern[from] == '$' && from == n - 1)
        return at == n_text ? at : NOT_FOUND;
    if (!read_item(pattern, from, n, &item))
        return BAD_PATTERN;
    if (item.next < n && pattern[item.next] == '*') {
        int most = at;

        while (most < n_text && matches_item(pattern, &item, text[most]))
            most++;
        for (; most >= at; most--) {
            int end = match(pattern, item.next + 1, n, text, most, n_text);

            if (end >= 0 || end == BAD_PATTERN)
                return end;
        }
        return NOT_FOUND;
    }
    if (at < n_text && matches_item(pattern, &item, text[at]))
        return match(pattern, item.next, n, text, at + 1, n_text);
    return NOT_FOUND;
}

static int length_of(const char *text, int most)
{
    int n = 0;

    while (n < most && text[n] != '\0')
        n++;
    return n;
}

/* 16 times the start plus the length of the first match, or a negative number. */
int find(const char pattern[PATTERN], const char text[TEXT])
{
    int n = length_of(pattern, PATTERN), n_text = length_of(text, TEXT);
    int anchored = n > 0 && pattern[0] == '^';

    if (n == 0)
        return BAD_PATTERN;
    for (int start = 0; start <= n_text && (start == 0 || !anchored); start++) {
        int end = match(pattern, anchored, n, text, start, n_text);

        if (end == BAD_PATTERN)
            return BAD_PATTERN;
        if (end > start || (end == start && anchored))
            return 16 * start + end - start;
    }
    return NOT_FOUND;
}
