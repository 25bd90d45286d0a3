// A language that defines arrays of antennas: recursive descent over a text, symbols, geometry and messages by number.
//@ function: interpret
//@ args: --len source=16
//@ branches: 61
//@ infeasible: 0

enum { MAX_TEXT = 16, MAX_GROUPS = 4, MAX_NUMBER = 99 };
enum message { NO_MESSAGE, EXPECTED_NUMBER, EXPECTED_CLOSE, TOO_MANY_GROUPS, BAD_LETTER, OUT_OF_GRID, UNKNOWN_GROUP, EMPTY_GROUP };
enum shape { LINE, BLOCK, HEXAGON, COPY };

struct group {
    enum shape shape;
    int rows;
    int columns;
    int step;
    int n_elements;
};

static const char *text;
static int at;
static enum message message;
static struct group groups[MAX_GROUPS];
static int n_groups;
static int grid_limit;
static int n_total;
static int nesting;

static char peek(void)
{
    return at < MAX_TEXT ? text[at] : '\0';
}

static void skip_blanks(void)
{
    while (peek() == ' ')
        at++;
}

static int accept(char wanted)
{
    skip_blanks();
    if (peek() != wanted)
        return 0;
    at++;
    return 1;
}

static void fail(enum message why)
{
    /* the first message is the one that helps */
    if (message == NO_MESSAGE)
        message = why;
}

static int is_digit(char character)
{
    return character >= '0' && character <= '9';
}

static int number(void)
{
    int value = 0;
    skip_blanks();
    if (!is_digit(peek())) {
        fail(EXPECTED_NUMBER);
        return 0;
    }
    while (is_digit(peek())) {
        value = value * 10 + (peek() - '0');
        if (value > MAX_NUMBER)
            value = MAX_NUMBER;
        at++;
    }
    return value;
}

static int optional_number(char mark, int otherwise)
{
    return accept(mark) ? number() : otherwise;
}

static struct group *new_group(enum shape shape)
{
    struct group *group;
    if (n_groups == MAX_GROUPS) {
        fail(TOO_MANY_GROUPS);
        return 0;
    }
    group = &groups[n_groups++];
    group->shape = shape;
    group->rows = 1;
    group->columns = 1;
    group->step = 1;
    group->n_elements = 0;
    return group;
}

static int count_elements(const struct group *group)
{
    int n = 0;
    switch (group->shape) {
    case LINE:
        return group->columns;
    case BLOCK:
        return group->rows * group->columns;
    case HEXAGON:
        for (int row = 0; row < group->rows && row < 4; row++)
            n += row % 2 ? group->columns - 1 : group->columns;
        return n;
    default:
        return group->n_elements;
    }
}

static void check(struct group *group)
{
    group->n_elements = count_elements(group);
    if (group->n_elements <= 0)
        fail(EMPTY_GROUP);
    if (group->rows * group->step > grid_limit || group->columns * group->step > grid_limit)
        fail(OUT_OF_GRID);
    n_total += group->n_elements;
}

static void line(void)
{
    struct group *group = new_group(LINE);
    if (!group)
        return;
    group->columns = number();
    group->step = optional_number('/', 1);
    check(group);
}

static void area(enum shape shape)
{
    struct group *group = new_group(shape);
    if (!group)
        return;
    group->rows = number();
    group->columns = optional_number('x', group->rows);
    group->step = optional_number('/', 1);
    check(group);
}

static void copy(void)
{
    int which = number();
    struct group *group;
    if (which >= n_groups) {
        fail(UNKNOWN_GROUP);
        return;
    }
    group = new_group(COPY);
    if (!group)
        return;
    group->rows = groups[which].rows;
    group->columns = groups[which].columns;
    group->n_elements = groups[which].n_elements;
    if (accept('!'))
        group->step = groups[which].step;
    check(group);
}

static void definitions(void);

static void nested(void)
{
    int limit = grid_limit;
    grid_limit = grid_limit / 2;
    nesting++;
    definitions();
    nesting--;
    grid_limit = limit;
    if (!accept(')'))
        fail(EXPECTED_CLOSE);
}

static void definition(void)
{
    char letter = peek();
    at++;
    switch (letter) {
    case 'L':
        line();
        break;
    case 'B':
        area(BLOCK);
        break;
    case 'H':
        area(HEXAGON);
        break;
    case 'C':
        copy();
        break;
    case 'G':
        grid_limit = number();
        break;
    case '(':
        nested();
        break;
    default:
        fail(BAD_LETTER);
    }
}

static void definitions(void)
{
    skip_blanks();
    while (message == NO_MESSAGE && peek() != '\0' && peek() != ')') {
        definition();
        accept(';');
        skip_blanks();
    }
    if (peek() == ')' && nesting == 0)
        fail(BAD_LETTER);
}

int interpret(const char *source)
{
    int largest = -1;
    text = source;
    at = 0;
    message = NO_MESSAGE;
    n_groups = 0;
    grid_limit = 40;
    n_total = 0;
    nesting = 0;
    definitions();
    if (message != NO_MESSAGE)
        return -(int)message;
    for (int i = 0; i < n_groups; i++) {
        if (largest < 0 || groups[i].n_elements > groups[largest].n_elements)
            largest = i;
    }
    return largest < 0 ? 0 : n_total * 10 + largest;
}
