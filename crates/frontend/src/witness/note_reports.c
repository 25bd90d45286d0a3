/* Notes what AddressSanitizer and UndefinedBehaviorSanitizer report on the descriptor for records: entries end with the
   separator of records (0x1e), their fields with that of units (0x1f). Where QUARRY_EACH asks for it, every test runs in a
   child of its own, whose argument is the number of the test. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RECORD = 197 };

void __asan_set_error_report_callback(void (*callback)(const char *));
void __ubsan_get_current_report_data(const char **kind, const char **message, const char **file, unsigned *line, unsigned *column,
                                     char **address);

/* Addresses are looked up later, outside; a program may ask for as much memory as without the sanitizer. */
const char *__asan_default_options(void)
{
    return "symbolize=0:detect_leaks=0:color=never:allocator_may_return_null=1:max_allocation_size_mb=1024:mmap_limit_mb=4096:"
           "exitcode=99:print_legend=0:redzone=256:detect_stack_use_after_return=1";
}

const char *__ubsan_default_options(void)
{
    return "symbolize=0:color=never:print_stacktrace=0";
}

static void note(const char *text)
{
    size_t length = strlen(text);
    while (length > 0) {
        ssize_t n = write(RECORD, text, length);
        if (n <= 0)
            return;
        text += n;
        length -= (size_t)n;
    }
}

static void address_report(const char *report)
{
    note("address\x1f");
    note(report);
    note("\x1e");
}

void __ubsan_on_report(void)
{
    const char *kind, *message, *file;
    unsigned line, column;
    char *address;
    __ubsan_get_current_report_data(&kind, &message, &file, &line, &column, &address);
    char place[64];
    snprintf(place, sizeof place, "\x1f%u\x1f%u\x1f", line, column);
    note("undefined\x1f");
    note(kind ? kind : "");
    note("\x1f");
    note(file ? file : "");
    note(place);
    note(message ? message : "");
    note("\x1e");
}

static void note_number(const char *what, int number)
{
    char text[64];
    snprintf(text, sizeof text, "%s\x1f%d\x1e", what, number);
    note(text);
}

/* Ends this child when its time is over. */
static void limit(const char *milliseconds)
{
    long time = milliseconds ? atol(milliseconds) : 0;
    struct itimerval timer = {{0, 0}, {time / 1000, time % 1000 * 1000}};
    if (time > 0)
        setitimer(ITIMER_REAL, &timer, NULL);
}

/* Returns only in children. */
static void fork_for_each(int n, char *argument, const char *milliseconds)
{
    for (int number = 1; number <= n; number++) {
        int status = 0;
        note_number("test", number);
        pid_t child = fork();
        if (child == 0) {
            sprintf(argument, "%d", number);
            limit(milliseconds);
            return;
        }
        if (child < 0 || waitpid(child, &status, 0) != child)
            break;
        note_number("ended", status);
    }
    _exit(0);
}

__attribute__((constructor)) static void begin(int argc, char **argv)
{
    const char *each = getenv("QUARRY_EACH");
    __asan_set_error_report_callback(address_report);
    if (each && argc == 2 && strlen(argv[1]) == 10)
        fork_for_each(atoi(each), argv[1], getenv("QUARRY_EACH_LIMIT"));
}
