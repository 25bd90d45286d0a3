/* The functions that a generated harness calls for its input, for tools other than Quarry.
 *
 * Each function means what runtime/input.c and its neighbours say; only where values come from differs: bytes of a fuzzer, cells
 * of a test, or chance. A value that the source does not have leaves what memory holds, respectively the harness's first choice.
 * Limit: of a pointer's choice and of sizes, bytes and chance reach all values but not evenly: a new object is likelier. */

#include "cells.h"

#include <stdlib.h>

#define MAX_OBJECTS 4096u
#define MAX_ALIASES 6u
#define MAX_FUNCTIONS 16u

struct object {
    const void *address;
    uint64_t n_elements;
    unsigned type;
};

static enum { BYTES, CELLS, CHANCE } source;
static const uint8_t *bytes_left, *bytes_end;
static const struct cell *cells;
static size_t n_cells, n_asked;
static uint64_t random_state;
static struct object objects[MAX_OBJECTS];
static size_t n_objects;
static uint64_t chosen_key, chosen;
static int has_chosen;

static void start(void)
{
    n_asked = n_objects = 0;
    has_chosen = 0;
}

void take_bytes(const uint8_t *bytes, size_t size)
{
    start();
    source = BYTES;
    bytes_left = bytes;
    bytes_end = bytes + size;
}

void take_cells(const struct cell *from, size_t n)
{
    start();
    source = CELLS;
    cells = from;
    n_cells = n;
}

void take_chance(uint64_t seed)
{
    start();
    source = CHANCE;
    random_state = seed;
}

size_t bytes_asked(void)
{
    return n_asked;
}

static uint64_t mask(unsigned bits)
{
    return bits < 64 ? ((uint64_t)1 << bits) - 1 : ~(uint64_t)0;
}

/* SplitMix64. */
static uint64_t next_random(void)
{
    uint64_t x = random_state += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/* A number of any magnitude, since lengths and counts are rarely large; half of all bytes are printable. */
static uint64_t random_value(unsigned bits)
{
    uint64_t how = next_random(), value = next_random();
    if (bits == 8 && how & 1)
        return ' ' + value % 95;
    value &= mask((unsigned)(how >> 8) % bits + 1);
    return how >> 1 & 3 ? value : ~value;
}

static int find_cell(uint64_t key, uint64_t *value)
{
    size_t low = 0, high = n_cells;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (cells[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == n_cells || cells[low].key != key)
        return 0;
    *value = cells[low].value;
    return 1;
}

static int next_bytes(unsigned bits, uint64_t *value)
{
    unsigned n = (bits + 7) / 8;
    n_asked += n;
    if (bytes_left == bytes_end)
        return 0;
    *value = 0;
    for (unsigned i = 0; i < n && bytes_left < bytes_end; i++)
        *value |= (uint64_t)*bytes_left++ << 8 * i;
    return 1;
}

int is_test(void)
{
    return source == CELLS;
}

int has_value(uint64_t key, unsigned bits, uint64_t *value)
{
    switch (source) {
    case BYTES:
        return next_bytes(bits, value);
    case CELLS:
        return find_cell(key, value);
    case CHANCE:
        *value = random_value(bits);
        return 1;
    }
    abort();
}

static uint64_t cell_value(uint64_t key, const void *memory, unsigned bytes, unsigned bits)
{
    const uint8_t *from = memory;
    uint64_t value = 0;
    if (!has_value(key, bits, &value))
        for (unsigned i = 0; i < bytes; i++)
            value |= (uint64_t)from[i] << 8 * i;
    return value & mask(bits);
}

static void write_value(void *memory, unsigned bytes, uint64_t value)
{
    uint8_t *to = memory;
    for (unsigned i = 0; i < bytes; i++)
        to[i] = (uint8_t)(value >> 8 * i);
}

void __quarry_cell(unsigned long long key, void *memory, unsigned bytes, unsigned bits)
{
    write_value(memory, bytes, cell_value(key, memory, bytes, bits));
}

unsigned long long __quarry_part_key(unsigned long long object, unsigned long long index)
{
    uint64_t x = object * 0x9e3779b97f4a7c15u + (index + 1);
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return (x ^ x >> 31) | (uint64_t)1 << 63;
}

unsigned long long __quarry_size(unsigned long long key, unsigned long long first, unsigned long long least,
                                 unsigned long long most)
{
    uint64_t value;
    if (!has_value(key, most < 256 ? 8 : 32, &value))
        value = first;
    if (value < least)
        value = least;
    if (value <= most)
        return value;
    return is_test() ? most : value % (most + 1);
}

unsigned __quarry_option(unsigned long long key, unsigned first, unsigned n)
{
    uint64_t value;
    if (!has_value(key, 8, &value))
        return first;
    return value < n ? (unsigned)value : is_test() ? first : (unsigned)(value % n);
}

void *__quarry_new(unsigned long long count, unsigned long long size)
{
    return calloc((size_t)count, (size_t)size);
}

void __quarry_object(const void *address, unsigned type, unsigned long long n_elements)
{
    if (n_objects < MAX_OBJECTS)
        objects[n_objects++] = (struct object){address, n_elements, type};
}

/* What a pointer is to be: 0 for null, 1 for a new object, more for those that are there. The same when asked twice. */
static uint64_t choice_of(uint64_t key, unsigned first)
{
    uint64_t value;
    if (has_chosen && chosen_key == key)
        return chosen;
    if (!has_value(key, 8, &value))
        value = first;
    else if (!is_test())
        value = value % 4 == 3 ? 2 + value / 4 % MAX_ALIASES : (value % 4 + 1) / 2;
    has_chosen = 1;
    chosen_key = key;
    return chosen = value;
}

int __quarry_is_fresh(unsigned long long key, unsigned first)
{
    return choice_of(key, first) == 1;
}

int __quarry_pointer(unsigned long long key, void *where, const void *fresh, unsigned type, unsigned first,
                     unsigned long long n_elements)
{
    uint64_t choice = choice_of(key, first), n = 2;
    const void *pointer = choice == 1 ? fresh : 0;
    has_chosen = 0;
    if (*(void *const *)where)
        return 0;
    for (size_t i = 0; i < n_objects && n < 2 + MAX_ALIASES; i++)
        if (objects[i].type == type && n++ == choice)
            pointer = objects[i].address;
    *(const void **)where = pointer;
    if (choice == 1)
        __quarry_object(fresh, type, n_elements);
    return choice == 1;
}

void __quarry_function(unsigned long long key, void *where, const void *const *functions, unsigned n, unsigned first)
{
    uint64_t choice;
    if (*(void *const *)where)
        return;
    if (n > MAX_FUNCTIONS)
        n = MAX_FUNCTIONS;
    if (!has_value(key, 8, &choice))
        choice = first;
    else if (!is_test())
        choice %= n + 1;
    *(const void **)where = choice && choice <= n ? functions[choice - 1] : 0;
}

static uint64_t elements_at(const void *address)
{
    for (size_t i = 0; i < n_objects; i++)
        if (objects[i].address == address)
            return objects[i].n_elements;
    return address ? ~(uint64_t)0 : 0;
}

void __quarry_count(unsigned long long key, void *memory, unsigned bytes, unsigned bits, const void *const *pointers,
                    unsigned n_pointers)
{
    uint64_t most = mask(bits), value = cell_value(key, memory, bytes, bits);
    for (unsigned i = 0; i < n_pointers; i++) {
        uint64_t n = elements_at(*(const void *const *)pointers[i]);
        if (n < most)
            most = n;
    }
    write_value(memory, bytes, value > most ? value % (most + 1) : value);
}
