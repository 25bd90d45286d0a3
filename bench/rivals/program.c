/* The functions that the harness of a whole program calls for arguments, standard input, files and environment.
 *
 * Keys are those of Quarry's runtime: an object's size has a key of its own, its elements are parts of it. The process runs one input
 * only, so nothing is put back. Limit: allocations do not fail. */

#define _GNU_SOURCE
#include "cells.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

extern char **environ;
extern void __quarry_cell(unsigned long long key, void *memory, unsigned bytes, unsigned bits);
extern unsigned long long __quarry_part_key(unsigned long long object, unsigned long long index);

/* A number from 0 to `most`. */
static uint64_t count(uint64_t key, uint64_t most)
{
    unsigned bits = 1;
    uint64_t value;
    while (most >> bits)
        bits++;
    if (!has_value(key, bits, &value))
        return 0;
    value &= ((uint64_t)1 << bits) - 1;
    return value <= most ? value : is_test() ? most : value % (most + 1);
}

static char *text(uint64_t key, unsigned length)
{
    char *characters = calloc(length + 1, 1);
    for (unsigned i = 0; i < length; i++)
        __quarry_cell(__quarry_part_key(key, i), characters + i, 1, 8);
    return characters;
}

char **__quarry_arguments(unsigned long long key, const char *program, unsigned most, unsigned length, int *argc)
{
    char **argv = calloc(most + 2, sizeof *argv);
    uint64_t n = count(key, most);
    argv[0] = (char *)program;
    for (unsigned i = 0; i < n; i++)
        argv[i + 1] = text(__quarry_part_key(key, i), length);
    *argc = (int)n + 1;
    return argv;
}

static int create(const char *name)
{
    char *path = strdup(name);
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        mkdir(path, 0755);
        *slash = '/';
    }
    free(path);
    return open(name, O_CREAT | O_TRUNC | O_RDWR, 0644);
}

void __quarry_input_file(unsigned long long key, const char *name, unsigned long long most)
{
    int is_missing = name && count(key + 1, 1);
    uint64_t size = count(key, most);
    uint8_t *bytes = calloc(size + 1, 1);
    for (uint64_t i = 0; i < size; i++)
        __quarry_cell(__quarry_part_key(__quarry_part_key(key, i), 0), bytes + i, 1, 8);
    if (is_missing) {
        unlink(name);
        return;
    }
    int descriptor = name ? create(name) : memfd_create("stdin", 0);
    if (descriptor < 0 || write(descriptor, bytes, size) != (ssize_t)size)
        _exit(3);
    lseek(descriptor, 0, SEEK_SET);
    if (!name)
        dup2(descriptor, 0);
    if (descriptor > 0)
        close(descriptor);
    free(bytes);
}

void __quarry_input_variable(unsigned long long key, const char *name, unsigned length)
{
    unsetenv(name);
    if (count(key, 1))
        setenv(name, text(key, length), 1);
}

char **__quarry_environment(void)
{
    return environ;
}
