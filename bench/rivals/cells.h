/* Where a harness gets its values from when it runs without Quarry. */
#ifndef CELLS_H
#define CELLS_H

#include <stddef.h>
#include <stdint.h>

/* A cell's value as a test of Quarry has it. */
struct cell {
    uint64_t key, value;
};

/* The generated function that builds an input and calls the function under test. */
extern void __quarry_harness(void);

/* From here on, values come from these bytes, in the order in which the harness asks. */
void take_bytes(const uint8_t *bytes, size_t size);
/* From these cells, sorted by key. */
void take_cells(const struct cell *cells, size_t n_cells);
/* From chance. */
void take_chance(uint64_t seed);

/* Whether the input has a value for the cell with this key, of so many bits. */
int has_value(uint64_t key, unsigned bits, uint64_t *value);
/* Whether values are those of a test, to be taken as Quarry takes them; others may be fitted to what is possible. */
int is_test(void);

/* How many bytes the harness has asked for since. */
size_t bytes_asked(void);

#endif
