/* Signals of a crash, also of one for want of stack, and the time a run may take. Time is the processor's: on a busy machine a
 * run is not cut short for waiting. */

#include "guard.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>

#define STACK_SIZE (1 << 16)

static struct itimerval limit;

void guard(unsigned milliseconds, void (*act)(int signal))
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGPROF};
    static char memory[STACK_SIZE];
    stack_t stack = {.ss_sp = memory, .ss_size = sizeof memory};
    struct sigaction action = {.sa_handler = act, .sa_flags = SA_ONSTACK | SA_NODEFER};
    limit.it_value.tv_sec = milliseconds / 1000;
    limit.it_value.tv_usec = milliseconds % 1000 * 1000;
    sigaltstack(&stack, 0);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        sigaction(signals[i], &action, 0);
}

void begin_run(void)
{
    setitimer(ITIMER_PROF, &limit, 0);
}
