// Integer matrix product: three nested counted loops, address arithmetic, no data-dependent branch.
#include <stdio.h>
#include <stdlib.h>

enum { N = 120, ROUNDS = 14 };
static int a[N][N], b[N][N], c[N][N];

static void multiply(void)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            unsigned sum = 0;
            for (int k = 0; k < N; k++)
                sum += (unsigned)a[i][k] * (unsigned)b[k][j];
            c[i][j] = (int)(sum & 0xffff);
        }
}

int main(int argc, char **argv)
{
    unsigned sum = 0;
    int rounds = argc > 1 ? atoi(argv[1]) : ROUNDS;

    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            a[i][j] = i * 3 + j;
            b[i][j] = i ^ j;
        }
    for (int round = 0; round < rounds; round++) {
        multiply();
        for (int i = 0; i < N; i++)
            a[i][round % N] = c[round % N][i];
        sum = sum * 31 + (unsigned)c[round % N][5];
    }
    printf("%u\n", sum);
    return 0;
}
