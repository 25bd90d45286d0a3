/* Comparisons for tests without a framework. Each says on stderr what differs; the test goes on. */
#ifndef QUARRY_CHECKS_H
#define QUARRY_CHECKS_H

#include <stdio.h>
#include <string.h>

#include "quarry_support.h"

#define QUARRY_UNUSED __attribute__((unused))

static char quarry_messages[4096];
static size_t quarry_n_message;

/* Notes that a comparison failed; also called by the macros below. */
#define QUARRY_FAIL(...)                                                                                               \
    do {                                                                                                               \
        if (quarry_n_message < sizeof quarry_messages)                                                                 \
            quarry_n_message += (size_t)snprintf(quarry_messages + quarry_n_message,                                   \
                                                 sizeof quarry_messages - quarry_n_message, __VA_ARGS__);              \
    } while (0)

QUARRY_UNUSED static void quarry_int(int line, const char *what, long long is, long long expected)
{
    if (is != expected)
        QUARRY_FAIL("line %d: %s is %lld, expected %lld\n", line, what, is, expected);
}

QUARRY_UNUSED static void quarry_uint(int line, const char *what, unsigned long long is, unsigned long long expected)
{
    if (is != expected)
        QUARRY_FAIL("line %d: %s is %llu, expected %llu\n", line, what, is, expected);
}

QUARRY_UNUSED static void quarry_true(int line, const char *what, int is)
{
    if (!is)
        QUARRY_FAIL("line %d: not true: %s\n", line, what);
}

QUARRY_UNUSED static void quarry_string(int line, const char *what, const char *is, const char *expected)
{
    if (!is || strcmp(is, expected) != 0)
        QUARRY_FAIL("line %d: %s is \"%s\", expected \"%s\"\n", line, what, is ? is : "(null)", expected);
}

QUARRY_UNUSED static void quarry_bytes(int line, const char *what, const char *is, const char *expected, size_t n)
{
    if (!is || memcmp(is, expected, n) != 0)
        QUARRY_FAIL("line %d: %s is \"%.*s\", expected \"%s\"\n", line, what, (int)n, is ? is : "(null)", expected);
}

#define CHECK_INT(is, expected) quarry_int(__LINE__, #is, (long long)(is), expected)
#define CHECK_UINT(is, expected) quarry_uint(__LINE__, #is, (unsigned long long)(is), expected)
#define CHECK_TRUE(is) quarry_true(__LINE__, #is, !!(is))
#define CHECK_FALSE(is) quarry_true(__LINE__, "!(" #is ")", !(is))
#define CHECK_NULL(is) quarry_true(__LINE__, #is " == NULL", !(is))
#define CHECK_NOT_NULL(is) quarry_true(__LINE__, #is " != NULL", !!(is))
#define CHECK_POINTER(is, expected) quarry_true(__LINE__, #is " == " #expected, (const void *)(is) == (const void *)(expected))
#define CHECK_TEXT(is, expected) quarry_string(__LINE__, #is, (const char *)(is), expected)
#define CHECK_BYTES(is, expected, n) quarry_bytes(__LINE__, #is, (const char *)(is), expected, n)

/* What failed since the last time, or null. */
QUARRY_UNUSED static const char *quarry_failures(void)
{
    static char told[sizeof quarry_messages];
    if (quarry_n_message == 0)
        return 0;
    memcpy(told, quarry_messages, sizeof told);
    quarry_n_message = 0;
    return told;
}

struct quarry_test {
    const char *name;
    void (*run)(void);
};

/* Runs all tests, or those named; the number of those that failed, at most 100. */
QUARRY_UNUSED static int quarry_run_tests(const struct quarry_test *tests, int argc, char **argv)
{
    int n_run = 0, n_failed = 0;
    for (; tests->name; tests++) {
        const char *failures;
        if (!quarry_is_wanted(argc, argv, tests->name))
            continue;
        tests->run();
        n_run++;
        failures = quarry_failures();
        if (failures) {
            n_failed++;
            fprintf(stderr, "%s failed\n%s", tests->name, failures);
        }
    }
    printf("%d of %d tests passed\n", n_run - n_failed, n_run);
    return n_run == 0 ? 101 : n_failed < 100 ? n_failed : 100;
}

#endif
