/* The harness of a whole program as a target of libFuzzer.
 *
 * A program leaves its variables and streams as it likes, so each run is a process of its own, which hands back the counters of
 * the edges that it took. Limit: what libFuzzer learns from comparisons stays in that process. */

#define _GNU_SOURCE
#include "cells.h"
#include "guard.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define RUN_LIMIT 250 /* milliseconds */
#define SCRATCH "scratch"

/* The counters of the compiler's instrumentation. */
extern uint8_t __start___sancov_cntrs[], __stop___sancov_cntrs[];

static uint8_t *taken; /* shared with the runs */
static int is_running;

static size_t n_counters(void)
{
    return (size_t)(__stop___sancov_cntrs - __start___sancov_cntrs);
}

static void leave(int signal)
{
    if (is_running)
        memcpy(taken, __start___sancov_cntrs, n_counters());
    _exit(128 + signal);
}

void __real_exit(int code) __attribute__((noreturn));

/* exit, as the linker directs it here. */
void __wrap_exit(int code)
{
    if (is_running)
        leave(0);
    __real_exit(code);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    taken = mmap(0, n_counters() + 1, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return taken == MAP_FAILED;
}

static void run(const uint8_t *bytes, size_t size)
{
    int nothing = open("/dev/null", O_WRONLY);
    dup2(nothing, 1);
    dup2(nothing, 2);
    if (chdir(SCRATCH) != 0)
        _exit(3);
    confine(".", ".");
    guard(RUN_LIMIT, leave);
    is_running = 1;
    take_bytes(bytes, size);
    begin_run();
    __quarry_harness();
    leave(0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    memset(taken, 0, n_counters());
    pid_t child = fork();
    if (child == 0)
        run(bytes, size);
    if (child > 0)
        waitpid(child, 0, 0);
    memcpy(__start___sancov_cntrs, taken, n_counters());
    return 0;
}
