/* The harness as a target of libFuzzer.
 *
 * A crash, a call of exit and a run that takes too long end the run, not the fuzzer: it goes on with the next input, as Quarry
 * does. Limit: the process stays the same, so what a run leaves behind in memory is there in the next; when that ends the
 * fuzzer, whoever started it starts it again on the same corpus. */

#include "cells.h"
#include "guard.h"

#include <setjmp.h>
#include <unistd.h>

#define RUN_LIMIT 250 /* milliseconds */

static sigjmp_buf after_run;
static volatile int is_running;

static void leave(int signal)
{
    if (!is_running)
        _exit(128 + signal);
    is_running = 0;
    siglongjmp(after_run, 1);
}

void __real_exit(int code) __attribute__((noreturn));

/* exit, as the linker directs it here. */
void __wrap_exit(int code)
{
    if (is_running) {
        is_running = 0;
        siglongjmp(after_run, 1);
    }
    __real_exit(code);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    confine(".", ".");
    guard(RUN_LIMIT, leave);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    take_bytes(bytes, size);
    begin_run();
    if (sigsetjmp(after_run, 0) == 0) {
        is_running = 1;
        __quarry_harness();
    }
    is_running = 0;
    return 0;
}
