// Chained hash table: heap allocation, pointer chasing, calls.
#include <stdio.h>
#include <stdlib.h>

enum { BUCKETS = 1024, KEYS = 6000, ROUNDS = 300 };

struct entry {
    struct entry *next;
    unsigned key;
    unsigned count;
};

static struct entry *buckets[BUCKETS];

static unsigned mix(unsigned key)
{
    key ^= key >> 16;
    key *= 0x45d9f3bu;
    key ^= key >> 16;
    return key;
}

static struct entry *find_or_add(unsigned key)
{
    struct entry **slot = &buckets[mix(key) % BUCKETS];

    for (struct entry *entry = *slot; entry != NULL; entry = entry->next)
        if (entry->key == key)
            return entry;
    struct entry *entry = malloc(sizeof *entry);
    if (entry == NULL)
        abort();
    entry->next = *slot;
    entry->key = key;
    entry->count = 0;
    *slot = entry;
    return entry;
}

int main(int argc, char **argv)
{
    unsigned seed = 7, sum = 0;
    int rounds = argc > 1 ? atoi(argv[1]) : ROUNDS;

    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < KEYS; i++) {
            seed = seed * 1664525u + 1013904223u;
            find_or_add(seed >> 19)->count += (unsigned)round;
        }
    }
    for (int i = 0; i < BUCKETS; i++) {
        for (struct entry *entry = buckets[i], *next; entry != NULL; entry = next) {
            next = entry->next;
            sum = sum * 31 + (entry->count ^ entry->key);
            free(entry);
        }
    }
    printf("%u\n", sum);
    return 0;
}
