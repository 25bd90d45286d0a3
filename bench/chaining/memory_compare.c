// Thirty-two bytes must be equal, told by one flag that three loops may clear.
//@ function: same_block
//@ args: --len a=32 --len b=32
//@ branches: 14
//@ infeasible: 0

enum { LENGTH = 32, HEADER = 8, TAIL = 24 };

int same_block(const unsigned char a[LENGTH], const unsigned char b[LENGTH])
{
    int same = 1;

    for (int i = 0; i < HEADER; i++)
        if (a[i] != b[i])
            same = 0;
    for (int i = HEADER; i < TAIL; i++)
        if (a[i] != (b[i] ^ 0x20))
            same = 0;
    for (int i = TAIL; i < LENGTH; i++)
        if (a[i] != b[LENGTH + TAIL - 1 - i])
            same = 0;
    if (same)
        return 1;
    return 0;
}
