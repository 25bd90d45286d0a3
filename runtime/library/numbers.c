/* Numbers in text. Where a program asks where a number ends, each character is a path, and the value of the digits is one expression;
 * where it does not, and the number is decimal, the runtime makes one term of it all. */

/* The largest number of digits that cannot overflow, so that the common number has no test for it on its path. */
static unsigned LIB(safe_digits)(int base, int is_wide)
{
    if (base <= 10)
        return is_wide ? 18 : 9;
    if (base <= 16)
        return is_wide ? 15 : 7;
    return is_wide ? 12 : 5;
}

/* Value of a digit, or something that no base has. */
static unsigned LIB(digit)(char c, int base)
{
    unsigned digit = (unsigned)(unsigned char)c - '0';
    if (base <= 10)
        return digit;
    if (digit < 10)
        return digit;
    digit = ((unsigned)(unsigned char)c | 32) - 'a';
    return digit < 26 ? digit + 10 : UINT_MAX;
}

struct LIB(number) {
    unsigned long long magnitude;
    int is_negative, is_there, overflows;
    int is_long; /* more digits than surely fit */
    unsigned n_digits, short_magnitude;
};

/* Adds a digit to the number; 0 when it is none. Above `most` the number overflows. While it is short, it is computed in
 * few bits, which a solver likes better. */
static int LIB(add_digit)(struct LIB(number) * number, char c, int base, unsigned long long most)
{
    unsigned digit = LIB(digit)(c, base);
    if (digit >= (unsigned)base)
        return 0;
    number->is_there = 1;
    if (number->n_digits++ < LIB(safe_digits)(base, 0)) {
        number->short_magnitude = number->short_magnitude * (unsigned)base + digit;
        number->magnitude = number->short_magnitude;
        return 1;
    }
    number->is_long = number->n_digits > LIB(safe_digits)(base, most > UINT_MAX);
    if (number->overflows || (number->is_long && number->magnitude > (most - digit) / (unsigned)base))
        number->overflows = 1;
    else
        number->magnitude = number->magnitude * (unsigned)base + digit;
    return 1;
}

/* Reads what strtol and its relatives read; `*end` is where it stops. */
static struct LIB(number) LIB(read_number)(const char *text, const char **end, int base, unsigned long long most)
{
    struct LIB(number) number = {0};
    const char *at = text;
    while (IS_SPACE((unsigned char)*at))
        at++;
    if (*at == '-') {
        number.is_negative = 1;
        at++;
    } else if (*at == '+') {
        at++;
    }
    if ((base == 0 || base == 16) && at[0] == '0' && (at[1] | 32) == 'x') {
        *end = at + 1; /* at least the zero is a number */
        at += 2;
        base = 16;
    } else if (base == 0) {
        base = *at == '0' ? 8 : 10;
    }
    while (LIB(add_digit)(&number, *at, base, most))
        at++;
    if (number.is_there)
        *end = at;
    return number;
}

static int LIB(bad_base)(int base)
{
    if (base >= 0 && base != 1 && base <= 36)
        return 0;
    errno = EINVAL;
    return 1;
}

/* Whether a magnitude is out of the signed range that ends with `greatest`; the negative one goes one further. */
static int LIB(too_large)(struct LIB(number) number, unsigned long long greatest)
{
    return number.is_long && number.magnitude > greatest + (unsigned)number.is_negative;
}

/* A signed or unsigned conversion to `type`; `decimal` is what is done with decimal numbers whose end nobody asks about. */
#define CONVERSION(name, type, unsigned_type, least, greatest, decimal)                                            \
    type LIB(name)(const char *text, char **end, int base)                                                             \
    {                                                                                                                  \
        const char *stop = text;                                                                                       \
        if (!end && base == 10)                                                                                        \
            decimal;                                                                                                   \
        if (LIB(bad_base)(base))                                                                                       \
            return 0;                                                                                                  \
        struct LIB(number) number = LIB(read_number)(text, &stop, base, (unsigned_type) ~(unsigned_type)0);            \
        if (end)                                                                                                       \
            *end = (char *)stop;                                                                                       \
        unsigned_type magnitude = (unsigned_type)number.magnitude;                                                     \
        if (number.overflows || (least && LIB(too_large)(number, (unsigned long long)greatest))) {       \
            errno = ERANGE;                                                                                            \
            return number.is_negative && least ? (type)least : (type)greatest;                                         \
        }                                                                                                              \
        return (type)(number.is_negative ? 0 - magnitude : magnitude);                                                 \
    }

CONVERSION(strtol, long, unsigned long, LONG_MIN, LONG_MAX, return atol(text))
CONVERSION(strtoll, long long, unsigned long long, LLONG_MIN, LLONG_MAX, return atoll(text))
CONVERSION(strtoul, unsigned long, unsigned long, 0, ULONG_MAX, (void)0)
CONVERSION(strtoull, unsigned long long, unsigned long long, 0, ULLONG_MAX, (void)0)

long long LIB(strtoq)(const char *text, char **end, int base)
{
    return LIB(strtoll)(text, end, base);
}

intmax_t LIB(strtoimax)(const char *text, char **end, int base)
{
    return LIB(strtoll)(text, end, base);
}

uintmax_t LIB(strtoumax)(const char *text, char **end, int base)
{
    return LIB(strtoull)(text, end, base);
}

int LIB(atoi)(const char *text)
{
    return atoi(text);
}

long LIB(atol)(const char *text)
{
    return atol(text);
}

long long LIB(atoll)(const char *text)
{
    return atoll(text);
}

div_t LIB(div)(int a, int b)
{
    return (div_t){a / b, a % b};
}

ldiv_t LIB(ldiv)(long a, long b)
{
    return (ldiv_t){a / b, a % b};
}

lldiv_t LIB(lldiv)(long long a, long long b)
{
    return (lldiv_t){a / b, a % b};
}
