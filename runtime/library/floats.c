/* Floating-point numbers in text. Decimal numbers of few digits are converted here, so that their value is an
 * expression; numbers that need more than one rounding, and every other notation, are left to the library. */

/* Whether a product or quotient of two doubles is rounded once. */
#if defined(__SSE2_MATH__) || defined(__x86_64__)
#define ROUNDS_ONCE 1
#else
#define ROUNDS_ONCE 0
#endif

/* Digits that any double holds exactly, and powers of ten that it does. */
#define EXACT_DIGITS 15
#define EXACT_POWERS 22

static const double LIB(powers_of_ten)[EXACT_POWERS + 1] = {
    1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
};

/* A decimal number: digits * 10 ^ exponent. */
struct LIB(decimal) {
    long long digits;
    int n_digits, exponent, is_negative;
    const char *end;
};

static const char *LIB(read_digits)(const char *at, struct LIB(decimal) * number)
{
    for (; IS_DIGIT((unsigned char)*at); at++) {
        if (number->n_digits++ < EXACT_DIGITS)
            number->digits = number->digits * 10 + (*at - '0');
    }
    return at;
}

/* The exponent behind the digits, if there is one. */
static void LIB(read_exponent)(struct LIB(decimal) * number)
{
    const char *at = number->end;
    if ((*at | 32) != 'e')
        return;
    at++;
    int is_negative = *at == '-';
    if (*at == '-' || *at == '+')
        at++;
    if (!IS_DIGIT((unsigned char)*at))
        return;
    int exponent = 0;
    for (int n = 0; IS_DIGIT((unsigned char)*at); at++)
        if (n++ < 6)
            exponent = exponent * 10 + (*at - '0');
    number->exponent += is_negative ? -exponent : exponent;
    number->end = at;
}

/* Reads a decimal number; `end` is null when there is none, or something that only the library reads. */
static struct LIB(decimal) LIB(read_decimal)(const char *text)
{
    struct LIB(decimal) number = {0, 0, 0, 0, 0};
    const char *at = text;
    while (IS_SPACE((unsigned char)*at))
        at++;
    if (*at == '-') {
        number.is_negative = 1;
        at++;
    } else if (*at == '+') {
        at++;
    }
    if (*at == '0' && (at[1] | 32) == 'x')
        return number;
    at = LIB(read_digits)(at, &number);
    if (*at == '.') {
        int n_before = number.n_digits;
        at = LIB(read_digits)(at + 1, &number);
        number.exponent = n_before - number.n_digits;
    }
    if (number.n_digits) {
        number.end = at;
        LIB(read_exponent)(&number);
    }
    return number;
}

/* Both factors are exact, so the result is rounded once, as the library does. */
static int LIB(is_exact)(const struct LIB(decimal) * number)
{
    if (!number->end || number->n_digits > EXACT_DIGITS)
        return 0;
    if (number->exponent == 0)
        return 1;
    return ROUNDS_ONCE && number->exponent >= -EXACT_POWERS && number->exponent <= EXACT_POWERS;
}

static double LIB(value_of)(const struct LIB(decimal) * number)
{
    double value = (double)number->digits;
    if (number->exponent < 0)
        value /= LIB(powers_of_ten)[-number->exponent];
    else if (number->exponent > 0)
        value *= LIB(powers_of_ten)[number->exponent];
    return number->is_negative ? -value : value;
}

/* The same for a float, of which fewer digits and powers are exact. */
#define EXACT_FLOAT_DIGITS 7
#define EXACT_FLOAT_POWERS 10

static int LIB(is_exact_float)(const struct LIB(decimal) * number)
{
    if (number->exponent == 0)
        return number->n_digits <= EXACT_DIGITS;
    return ROUNDS_ONCE && number->n_digits <= EXACT_FLOAT_DIGITS && number->exponent >= -EXACT_FLOAT_POWERS &&
           number->exponent <= EXACT_FLOAT_POWERS;
}

static float LIB(float_of)(const struct LIB(decimal) * number)
{
    float value = (float)number->digits;
    if (number->exponent < 0)
        value /= (float)LIB(powers_of_ten)[-number->exponent];
    else if (number->exponent > 0)
        value *= (float)LIB(powers_of_ten)[number->exponent];
    return number->is_negative ? -value : value;
}

double LIB(strtod)(const char *text, char **end)
{
    struct LIB(decimal) number = LIB(read_decimal)(text);
    if (!LIB(is_exact)(&number))
        return strtod(text, end);
    if (end)
        *end = (char *)number.end;
    return LIB(value_of)(&number);
}

double LIB(atof)(const char *text)
{
    return LIB(strtod)(text, 0);
}
