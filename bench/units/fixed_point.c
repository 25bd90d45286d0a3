// Fixed-point arithmetic that saturates: multiplication, division, square root, a polynomial; numeric conditions.
//@ function: evaluate
//@ branches: 32
//@ infeasible: 0

enum { ONE = 1 << 8, LARGEST = 32767, SMALLEST = -32768 };
enum operation { ADD, MULTIPLY, DIVIDE, ROOT, POLYNOMIAL };

static short saturated(int value)
{
    if (value > LARGEST)
        return LARGEST;
    if (value < SMALLEST)
        return SMALLEST;
    return (short)value;
}

static short multiplied(short a, short b)
{
    int product = a * b;
    int rounded = product >= 0 ? product + ONE / 2 : product - ONE / 2;

    return saturated(rounded / ONE);
}

static short divided(short a, short b, int *failed)
{
    if (b == 0) {
        *failed = 1;
        return a < 0 ? SMALLEST : LARGEST;
    }
    return saturated(a * ONE / b);
}

static short root(short a, int *failed)
{
    int wanted, guess = 0;

    if (a < 0) {
        *failed = 1;
        return 0;
    }
    wanted = a * ONE;
    for (int bit = 1 << 11; bit > 0; bit >>= 1) {
        int next = guess + bit;

        if (next * next <= wanted)
            guess = next;
    }
    return saturated(guess);
}

/* 0 for an ordinary result, otherwise what is special about it. */
int evaluate(short a, short b, short c, int operation)
{
    int failed = 0;
    short result;

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
    case POLYNOMIAL:
        result = saturated(multiplied(multiplied(a, b), b) + multiplied(a, c));
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
