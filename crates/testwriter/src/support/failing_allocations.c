/* Lets allocations of the program under test fail. Compile the program's files, and replay.c when it includes one of them,
 * to objects, let them call these functions,
 *   objcopy --redefine-sym malloc=quarry_malloc --redefine-sym calloc=quarry_calloc --redefine-sym realloc=quarry_realloc
 *           --redefine-sym strdup=quarry_strdup --redefine-sym strndup=quarry_strndup program.o
 * and link them with this file. The numbers of the calls that fail, from 1, are in the variable QUARRY_FAILING_ALLOCATIONS
 * or told by quarry_fail_allocations, which begins to count anew. */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const char *told;
static long n_calls;

void quarry_fail_allocations(const char *numbers)
{
    told = numbers;
    n_calls = 0;
}

static int fails(void)
{
    const char *list = told ? told : getenv("QUARRY_FAILING_ALLOCATIONS");
    n_calls++;
    while (list && *list) {
        char *end;
        if (strtol(list, &end, 10) == n_calls) {
            errno = ENOMEM;
            return 1;
        }
        list = *end ? end + 1 : end;
    }
    return 0;
}

void *quarry_malloc(size_t n)
{
    return fails() ? NULL : malloc(n);
}

void *quarry_calloc(size_t n, size_t size)
{
    return fails() ? NULL : calloc(n, size);
}

void *quarry_realloc(void *memory, size_t n)
{
    return fails() ? NULL : realloc(memory, n);
}

char *quarry_strdup(const char *text)
{
    return fails() ? NULL : strdup(text);
}

char *quarry_strndup(const char *text, size_t n)
{
    return fails() ? NULL : strndup(text, n);
}
