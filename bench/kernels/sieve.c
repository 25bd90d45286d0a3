// Sieve of Eratosthenes: byte stores in strided loops.
#include <stdio.h>
#include <stdlib.h>

enum { LIMIT = 1000000, ROUNDS = 6 };
static unsigned char composite[LIMIT + 1];

static int count_primes(void)
{
    int primes = 0;

    for (int i = 0; i <= LIMIT; i++)
        composite[i] = 0;
    for (int i = 2; i <= LIMIT; i++) {
        if (composite[i])
            continue;
        primes++;
        for (long long multiple = (long long)i * i; multiple <= LIMIT; multiple += i)
            composite[multiple] = 1;
    }
    return primes;
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : ROUNDS, sum = 0;

    for (int round = 0; round < rounds; round++)
        sum += count_primes();
    printf("%d\n", sum);
    return 0;
}
