// Book and serial numbers in a text: separators, a check digit that may be X, states kept in flags; after check_ISBN (paper 2).
//@ function: check_number
//@ args: --len text=16
//@ branches: 34
//@ infeasible: 0

enum { TEXT = 16, BOOK = 10, SERIAL = 8 };
enum verdict { VALID = 0, EMPTY, BAD_CHARACTER, BAD_LENGTH, BAD_SUM, BAD_SEPARATOR };

static int digit_value(char c, int position, int length)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if ((c == 'X' || c == 'x') && position == length - 1)
        return 10;
    return -1;
}

/* The first number in the text; kind is BOOK or SERIAL. */
enum verdict check_number(const char text[TEXT], int kind)
{
    int length = kind == BOOK ? BOOK : SERIAL;
    int n_digits = 0, sum = 0, n_separators = 0;
    int after_separator = 1, in_number = 0, done = 0;

    if (kind != BOOK && kind != SERIAL)
        return BAD_LENGTH;
    for (int i = 0; i < TEXT && text[i] != '\0' && !done; i++) {
        char c = text[i];
        int value = digit_value(c, n_digits, length);

        if (value >= 0 && n_digits < length) {
            in_number = 1;
            sum += value * (length - n_digits);
            n_digits++;
            after_separator = 0;
        } else if (c == '-' && in_number) {
            if (after_separator || n_digits == length)
                return BAD_SEPARATOR;
            after_separator = 1;
            n_separators++;
        } else if (c == ' ' || c == '\t') {
            if (in_number)
                done = 1;
        } else if (in_number || value >= 0) {
            return n_digits == length ? BAD_LENGTH : BAD_CHARACTER;
        }
    }
    if (!in_number)
        return EMPTY;
    if (n_digits != length || after_separator)
        return BAD_LENGTH;
    if (kind == SERIAL && n_separators != 1)
        return BAD_SEPARATOR;
    if (kind == BOOK && n_separators != 0 && n_separators != 3)
        return BAD_SEPARATOR;
    return sum % 11 == 0 ? VALID : BAD_SUM;
}
