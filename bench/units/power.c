// Integer powers with overflow checks, negative bases and a modulus; loops whose length depends on the exponent.
//@ function: power
//@ branches: 36
//@ infeasible: 0

enum { LARGEST = 32767 };
enum failure { FINE, BAD_EXPONENT, TOO_LARGE, BAD_MODULUS };

/* Odd powers modulo 8 repeat after two steps, others vanish after three. */
static int modulo_8(int base, int exponent)
{
    int rest = base & 7;

    if (exponent == 0)
        return 1;
    if (rest & 1)
        return exponent & 1 ? rest : 1;
    if (exponent >= 3 || (exponent == 2 && (rest & 3) == 0))
        return 0;
    return exponent == 2 ? 4 : rest;
}

/* base^exponent, or that modulo 8; numbers above LARGEST tell failures. */
int power(unsigned char base, unsigned char exponent, int negative, int modulus)
{
    unsigned result = 1;

    if (base == 0 && (exponent == 0 || negative))
        return LARGEST + BAD_EXPONENT;
    if (modulus != 0) {
        if (modulus != 8 || (negative && base > 100))
            return LARGEST + BAD_MODULUS;
        return modulo_8(negative ? -base : base, exponent);
    }
    if (base == 0 || base == 1)
        return negative && exponent % 2 == 1 ? -1 : base;
    for (int i = 0; i < exponent; i++) {
        result *= base;
        if (result > LARGEST)
            return LARGEST + TOO_LARGE;
    }
    if (result == 1024 && base != 2)
        return base == 32 ? 2 : 5;
    if (negative && exponent % 2 == 1)
        return result % 2 == 0 && exponent > 1 ? -(int)result / 2 : -(int)result;
    return result > 10000 && exponent >= 4 ? 10000 : (int)result;
}
