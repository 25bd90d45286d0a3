// Integer powers with overflow checks, negative bases and a modulus; loops whose length depends on the exponent.
//@ function: power
//@ branches: 30
//@ infeasible: 0

enum { LARGEST = 32767, SMALLEST = -32768 };
enum failure { FINE, BAD_EXPONENT, TOO_LARGE, BAD_MODULUS };

static int fits(int number)
{
    return number <= LARGEST && number >= SMALLEST;
}

static unsigned modular(unsigned base, int exponent, unsigned modulus)
{
    unsigned result = 1;
    unsigned square = base % modulus;

    for (; exponent > 0; exponent >>= 1) {
        if (exponent & 1)
            result = result * square % modulus;
        square = square * square % modulus;
    }
    return result;
}

/* base^exponent, modulo modulus when that is not 0; numbers above LARGEST tell failures. */
int power(short base, short exponent, short modulus)
{
    int result = 1;

    if (exponent < 0 || (base == 0 && exponent == 0))
        return LARGEST + BAD_EXPONENT;
    if (modulus != 0) {
        if (modulus < 2 || modulus > 15 || exponent > 7)
            return LARGEST + BAD_MODULUS;
        return base < 0 ? LARGEST + BAD_MODULUS : (int)modular((unsigned)base, exponent, (unsigned)modulus);
    }
    if (base == 0 || base == 1)
        return base;
    if (base == -1)
        return exponent % 2 == 0 ? 1 : -1;
    for (int i = 0; i < exponent; i++) {
        result *= base;
        if (!fits(result))
            return LARGEST + TOO_LARGE;
    }
    if (result == 1024 && base != 2)
        return base == 32 || base == -32 ? 2 : 5;
    if (result < 0 && result % 7 == 0 && exponent > 1)
        return -7;
    return result > 10000 && exponent >= 4 ? 10000 : result;
}
