// Comparison sort: data-dependent branches and swaps over an array.
#include <stdio.h>
#include <stdlib.h>

enum { LENGTH = 60000, ROUNDS = 12 };
static int values[LENGTH];

static void sift_down(int *heap, int root, int n)
{
    for (;;) {
        int child = 2 * root + 1;
        if (child >= n)
            return;
        if (child + 1 < n && heap[child + 1] > heap[child])
            child++;
        if (heap[root] >= heap[child])
            return;
        int swapped = heap[root];
        heap[root] = heap[child];
        heap[child] = swapped;
        root = child;
    }
}

static void heap_sort(int *heap, int n)
{
    for (int root = n / 2 - 1; root >= 0; root--)
        sift_down(heap, root, n);
    for (int last = n - 1; last > 0; last--) {
        int swapped = heap[0];
        heap[0] = heap[last];
        heap[last] = swapped;
        sift_down(heap, 0, last);
    }
}

int main(int argc, char **argv)
{
    unsigned seed = 12345, sum = 0;
    int rounds = argc > 1 ? atoi(argv[1]) : ROUNDS;

    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < LENGTH; i++) {
            seed = seed * 1103515245u + 12345u;
            values[i] = (int)(seed >> 8);
        }
        heap_sort(values, LENGTH);
        for (int i = 0; i < LENGTH; i++)
            sum = sum * 31 + (unsigned)values[i];
    }
    printf("%u\n", sum);
    return 0;
}
