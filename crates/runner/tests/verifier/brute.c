/* Runs a program for verifiers on every value of its one byte, and ends with the words of a verifier. */
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

extern unsigned long long quarry_key;
extern int program(void);

static unsigned value;
static unsigned long long asked;

unsigned long long __VERIFIER_nondet_ulonglong(void)
{
    asked = quarry_key;
    return value;
}

void __assert_fail(const char *what, const char *key, unsigned line, const char *function)
{
    (void)what, (void)key, (void)line, (void)function;
    printf("  quarry_key=%lluull\n  quarry_value=%uull\n", asked, value);
    fflush(stdout);
    _exit(77);
}

int main(void)
{
    for (value = 0; value < 256; value++) {
        int status;
        if (fork() == 0) {
            program();
            _exit(0);
        }
        wait(&status);
        if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
            puts("VERIFICATION FAILED");
            return 10;
        }
    }
    puts("VERIFICATION SUCCESSFUL");
    return 0;
}
