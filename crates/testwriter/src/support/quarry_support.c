#define _GNU_SOURCE
#include "quarry_support.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct {
    int saved;
    FILE *file;
    char *text;
} quarry_streams[2];

static void quarry_redirect(int number, FILE *stream)
{
    fflush(stream);
    quarry_streams[number].file = tmpfile();
    quarry_streams[number].saved = dup(number + 1);
    if (!quarry_streams[number].file || quarry_streams[number].saved < 0 ||
        dup2(fileno(quarry_streams[number].file), number + 1) < 0) {
        perror("cannot capture output");
        exit(3);
    }
}

static void quarry_restore(int number, FILE *stream)
{
    FILE *file = quarry_streams[number].file;
    fflush(stream);
    dup2(quarry_streams[number].saved, number + 1);
    close(quarry_streams[number].saved);
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    free(quarry_streams[number].text);
    quarry_streams[number].text = calloc(1, (size_t)size + 1);
    if (!quarry_streams[number].text || fread(quarry_streams[number].text, 1, (size_t)size, file) != (size_t)size) {
        perror("cannot read captured output");
        exit(3);
    }
    fclose(file);
}

void quarry_capture(void)
{
    quarry_redirect(0, stdout);
    quarry_redirect(1, stderr);
}

void quarry_release(void)
{
    quarry_restore(0, stdout);
    quarry_restore(1, stderr);
}

const char *quarry_stdout(void)
{
    return quarry_streams[0].text;
}

const char *quarry_stderr(void)
{
    return quarry_streams[1].text;
}

int quarry_exit_status(void (*call)(void))
{
    int status = 0;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        call();
        fflush(NULL);
        _exit(255); /* it came back, which is another end */
    }
    if (child < 0 || waitpid(child, &status, 0) != child)
        return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

/* How far two values lie apart, counted in representable values. */
static unsigned long long quarry_distance(uint64_t a, uint64_t b, uint64_t sign)
{
    int64_t x = (int64_t)(a & sign ? sign - (a & ~sign) : a + sign);
    int64_t y = (int64_t)(b & sign ? sign - (b & ~sign) : b + sign);
    return (uint64_t)x > (uint64_t)y ? (uint64_t)x - (uint64_t)y : (uint64_t)y - (uint64_t)x;
}

int quarry_same_float(float a, float b, unsigned long long n_apart)
{
    uint32_t x, y;
    memcpy(&x, &a, sizeof x);
    memcpy(&y, &b, sizeof y);
    if (a != a || b != b)
        return a != a && b != b;
    return x == y || (n_apart > 0 && quarry_distance(x, y, UINT64_C(1) << 31) <= n_apart);
}

int quarry_same_double(double a, double b, unsigned long long n_apart)
{
    uint64_t x, y;
    memcpy(&x, &a, sizeof x);
    memcpy(&y, &b, sizeof y);
    if (a != a || b != b)
        return a != a && b != b;
    return x == y || (n_apart > 0 && quarry_distance(x, y, UINT64_C(1) << 63) <= n_apart);
}

int quarry_is_wanted(int argc, char **argv, const char *name)
{
    int i;
    for (i = 1; i < argc; i++)
        if (strcmp(argv[i], name) == 0)
            return 1;
    return argc < 2;
}
