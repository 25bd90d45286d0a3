// Numbers read from text as strtol does: blanks, signs, bases, prefixes, overflow; what follows the number counts too.
//@ function: read_number
//@ args: --len text=10
//@ branches: 38
//@ infeasible: 0

#include <limits.h>

enum { LENGTH = 10 };
enum ending { NO_NUMBER = -1, WHOLE = 0, TRAILING_BLANKS = 1, TRAILING_TEXT = 2, OVERFLOWED = 3, MAGIC = 4 };

static int digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'Z')
        return c - 'A' + 10;
    return 99;
}

static int is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

enum ending read_number(const char text[LENGTH], int base, long *value)
{
    int at = 0, n_digits = 0, negative = 0, overflowed = 0;
    int number = 0;

    *value = 0;
    if (base < 0 || base == 1 || base > 36)
        return NO_NUMBER;
    while (at < LENGTH && is_blank(text[at]))
        at++;
    if (at < LENGTH && (text[at] == '-' || text[at] == '+')) {
        negative = text[at] == '-';
        at++;
    }
    if ((base == 0 || base == 16) && at + 2 < LENGTH && text[at] == '0' && (text[at + 1] == 'x' || text[at + 1] == 'X')
        && digit(text[at + 2]) < 16) {
        at += 2;
        base = 16;
    } else if (base == 0) {
        base = at < LENGTH && text[at] == '0' ? 8 : 10;
    }
    for (; at < LENGTH && digit(text[at]) < base; at++) {
        int next = digit(text[at]);

        if (number > (INT_MAX - next) / base)
            overflowed = 1;
        else
            number = number * base + next;
        n_digits++;
    }
    if (n_digits == 0)
        return NO_NUMBER;
    if (overflowed) {
        *value = negative ? INT_MIN : INT_MAX;
        return OVERFLOWED;
    }
    *value = negative ? -(long)number : number;
    if (*value == -255 && base == 16)
        return MAGIC;
    if (at == LENGTH || text[at] == '\0')
        return WHOLE;
    while (at < LENGTH && is_blank(text[at]))
        at++;
    return at == LENGTH || text[at] == '\0' ? TRAILING_BLANKS : TRAILING_TEXT;
}
