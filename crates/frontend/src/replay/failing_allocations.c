/* Lets allocations of the program under test fail. Compile the program's files to objects, let them call these functions,
 *   objcopy --redefine-sym malloc=quarry_malloc --redefine-sym calloc=quarry_calloc --redefine-sym realloc=quarry_realloc
 *           --redefine-sym strdup=quarry_strdup --redefine-sym strndup=quarry_strndup program.o
 * and link them with this file. The variable QUARRY_FAILING_ALLOCATIONS lists the numbers of the calls that fail, from 1. */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static int fails(void)
{
    static long n_calls;
    const char *list = getenv("QUARRY_FAILING_ALLOCATIONS");
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
