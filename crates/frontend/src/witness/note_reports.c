/* Notes what AddressSanitizer and UndefinedBehaviorSanitizer report on the descriptor for records: entries end with the
   separator of records (0x1e), their fields with that of units (0x1f). */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { RECORD = 197 };

void __asan_set_error_report_callback(void (*callback)(const char *));
void __ubsan_get_current_report_data(const char **kind, const char **message, const char **file, unsigned *line, unsigned *column,
                                     char **address);

/* Addresses are looked up later, outside; a program may ask for as much memory as without the sanitizer. */
const char *__asan_default_options(void)
{
    return "symbolize=0:detect_leaks=0:color=never:allocator_may_return_null=1:max_allocation_size_mb=1024:mmap_limit_mb=4096:"
           "exitcode=99:handle_abort=1:print_legend=0:redzone=256:detect_stack_use_after_return=1";
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

__attribute__((constructor)) static void begin(void)
{
    __asan_set_error_report_callback(address_report);
}
