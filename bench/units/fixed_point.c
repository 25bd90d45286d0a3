// Fixed-point arithmetic that saturates: multiplication, division, square root, interpolation; numeric conditions.
//@ function: evaluate
//@ branches: 42
//@ infeasible: 0

enum { ONE = 1 << 4, LARGEST = 127, SMALLEST = -128 };
enum operation { ADD, MULTIPLY, DIVIDE, ROOT, BETWEEN };

static signed char saturated(int value)
{
    if (value > LARGEST)
        return LARGEST;
    if (value < SMALLEST)
        return SMALLEST;
    return (signed char)value;
}

static signed char multiplied(signed char a, signed char b)
{
    int product = a * b;
    int rounded = product >= 0 ? product + ONE / 2 : product - ONE / 2;

    return saturated(rounded / ONE);
}

/* Restoring division, one bit of the quotient after the other. */
static signed char divided(signed char a, signed char b, int *failed)
{
    unsigned rest = (unsigned)(a < 0 ? -a : a) * ONE;
    unsigned divisor = (unsigned)(b < 0 ? -b : b);
    int quotient = 0;

    if (b == 0) {
        *failed = 1;
        return a < 0 ? SMALLEST : LARGEST;
    }
    for (int bit = 11; bit >= 0; bit--) {
        if (rest >= divisor << bit) {
            rest -= divisor << bit;
            quotient |= 1 << bit;
        }
    }
    return saturated((a < 0) != (b < 0) ? -quotient : quotient);
}

static signed char root(signed char a, int *failed)
{
    int wanted, guess = 0;

    if (a < 0) {
        *failed = 1;
        return 0;
    }
    wanted = a * ONE;
    for (int bit = 1 << 5; bit > 0; bit >>= 1) {
        int next = guess + bit;

        if (next * next <= wanted)
            guess = next;
    }
    return saturated(guess);
}

/* 0 for an ordinary result, otherwise what is special about it. */
int evaluate(signed char a, signed char b, signed char c, int operation)
{
    int failed = 0;
    signed char result;

    switch (operation) {
    case ADD:
        result = saturated(a + b);
        break;
    case MULTIPLY:
        result = multiplied(a, b);
        break;
    case DIVIDE:
        result = divided(a, b, &failed);
        break;
    case ROOT:
        result = root(a, &failed);
        break;
    case BETWEEN:
        result = saturated(a + multiplied(saturated(b - a), c));
        break;
    default:
        return -1;
    }
    if (failed)
        return operation == ROOT ? -3 : -2;
    if ((result == LARGEST || result == SMALLEST) && operation != ADD)
        return 1;
    if (result == 3 * ONE && a > ONE && b != ONE)
        return 2;
    return result > 0 && result < 4 && (b & 1) ? 3 : 0;
}
