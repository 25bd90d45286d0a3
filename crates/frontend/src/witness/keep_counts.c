/* Keeps the counts of clang's coverage however the program ends: they are written to the descriptor for records when it exits, also
   by _exit, when a signal ends it, and when its time is nearly over. Nothing here asks for memory after the start. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { RECORD = 197, STACK = 1 << 16 };

uint64_t __llvm_profile_get_size_for_buffer(void);
int __llvm_profile_write_buffer(char *buffer);
_Noreturn void __real__exit(int code);

/* takes the place of the code that would write a file at the end */
int __llvm_profile_runtime;

static char *buffer;
static uint64_t size;
static pid_t owner;
static volatile sig_atomic_t is_kept;

static void keep(void)
{
    if (is_kept || !buffer || getpid() != owner)
        return;
    is_kept = 1;
    if (__llvm_profile_write_buffer(buffer) != 0)
        return;
    uint64_t done = 0;
    while (done < size) {
        ssize_t n = write(RECORD, buffer + done, size - done);
        if (n <= 0)
            return;
        done += (uint64_t)n;
    }
}

static void ended_by(int signal_number)
{
    keep();
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

static void out_of_time(int signal_number)
{
    (void)signal_number;
    keep();
    __real__exit(124);
}

void __wrap__exit(int code)
{
    keep();
    __real__exit(code);
}

void __wrap__Exit(int code)
{
    __wrap__exit(code);
}

static void on(int signal_number, void (*handler)(int))
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = SA_ONSTACK;
    sigaction(signal_number, &action, 0);
}

__attribute__((constructor(101))) static void begin(void)
{
    size = __llvm_profile_get_size_for_buffer();
    char *memory = mmap(0, size + STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return;
    stack_t stack = {.ss_sp = memory + size, .ss_size = STACK};
    sigaltstack(&stack, 0);
    buffer = memory;
    owner = getpid();
    static const int fatal[] = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGXFSZ};
    for (unsigned i = 0; i < sizeof fatal / sizeof *fatal; i++)
        on(fatal[i], ended_by);
    const char *time = getenv("QUARRY_COUNTS_AFTER");
    if (time) {
        long milliseconds = atol(time);
        struct sigevent event;
        memset(&event, 0, sizeof event);
        event.sigev_notify = SIGEV_SIGNAL;
        event.sigev_signo = SIGRTMAX;
        struct itimerspec when = {.it_value = {milliseconds / 1000, milliseconds % 1000 * 1000000}};
        timer_t timer;
        on(SIGRTMAX, out_of_time);
        if (timer_create(CLOCK_MONOTONIC, &event, &timer) == 0)
            timer_settime(timer, 0, &when, 0);
        unsetenv("QUARRY_COUNTS_AFTER");
    }
}

__attribute__((destructor(101))) static void end(void)
{
    keep();
}
