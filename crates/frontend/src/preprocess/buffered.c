/* Loaded into a compiler that writes a list of tokens to its standard error, several times per token and unbuffered: collects
 * what it writes, because the system calls cost many times what the list does. */
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static char buffer[1 << 16];
static size_t used;

static void flush(void)
{
    for (size_t done = 0; done < used;) {
        long n = syscall(SYS_write, STDERR_FILENO, buffer + done, used - done);
        if (n < 0 && errno != EINTR)
            break;
        done += n < 0 ? 0 : (size_t)n;
    }
    used = 0;
}

ssize_t write(int file, const void *bytes, size_t n)
{
    if (file != STDERR_FILENO)
        return syscall(SYS_write, file, bytes, n);
    if (n > sizeof buffer - used)
        flush();
    if (n > sizeof buffer)
        return syscall(SYS_write, file, bytes, n);
    memcpy(buffer + used, bytes, n);
    used += n;
    return (ssize_t)n;
}

__attribute__((destructor)) static void end(void)
{
    flush();
}
