/* Runs a harness on given or random inputs in a native build that measures coverage.
 *
 *     replay size                        how many bytes the harness asks for, at most in a few tries
 *     replay cells COUNTS FILE...        tests of Quarry: pairs of key and value, 8 bytes each
 *     replay bytes COUNTS FILE...        inputs of libFuzzer
 *     replay random COUNTS SECONDS SEED  as many random inputs as there is time for
 *
 * Each input runs in a process of its own, random ones in processes that end after BATCH inputs or one crash. However a process
 * ends, it adds its counts to those in the directory COUNTS. Files are written in the directory `scratch` only. */

#include "cells.h"
#include "guard.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef BATCH
#define BATCH 2000 /* a whole program runs once in a process */
#endif
#define SCRATCH "scratch"
#define RUN_LIMIT 2000 /* milliseconds: this build is slower than those that search */
#define LARGEST_INPUT (1 << 20)
#define NOISE 4096
#define N_TRIES 32

extern int __llvm_profile_write_file(void);
extern void __llvm_profile_set_filename(const char *pattern);

static char input[LARGEST_INPUT];
static const char *counts = ".";
static int size_reader = -1; /* whom to tell how many bytes were asked for */

static void tell_size(void)
{
    size_t n = bytes_asked();
    _exit(write(size_reader, &n, sizeof n) != sizeof n);
}

static void after_crash(int signal)
{
    if (size_reader >= 0)
        tell_size();
    __llvm_profile_write_file();
    _exit(128 + signal);
}

static void fail(const char *what)
{
    perror(what);
    exit(2);
}

/* In the child: what the function under test writes goes nowhere else. */
static void begin(void)
{
    int nothing = open("/dev/null", O_WRONLY);
    dup2(nothing, 1);
    dup2(nothing, 2);
    if (chdir(SCRATCH) != 0)
        _exit(3);
    confine(".", counts);
    begin_run();
}

static size_t read_input(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        fail(path);
    size_t size = fread(input, 1, sizeof input, file);
    fclose(file);
    return size;
}

static void finish(pid_t child)
{
    if (child < 0 || waitpid(child, 0, 0) != child)
        fail("fork");
}

static void run_file(int is_cells, const char *path)
{
    size_t size = read_input(path);
    pid_t child = fork();
    if (child == 0) {
        if (is_cells)
            take_cells((const struct cell *)input, size / sizeof(struct cell));
        else
            take_bytes((const uint8_t *)input, size);
        begin();
        __quarry_harness();
        exit(0);
    }
    finish(child);
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void run_random(double seconds, uint64_t seed)
{
    for (double end = now() + seconds; now() < end; seed += BATCH) {
        pid_t child = fork();
        if (child == 0) {
            begin();
            for (uint64_t i = 0; i < BATCH && now() < end; i++) {
                take_chance((seed + i) * 0x9e3779b97f4a7c15u);
                begin_run();
                __quarry_harness();
            }
            exit(0);
        }
        finish(child);
    }
}

/* The bytes that the harness asks for, given zeros or noise. */
static size_t bytes_for(unsigned seed)
{
    size_t n = 0;
    int ends[2];
    if (pipe(ends) != 0)
        fail("pipe");
    pid_t child = fork();
    if (child == 0) {
        size_reader = ends[1];
        atexit(tell_size);
        srand(seed);
        for (size_t i = 0; seed && i < NOISE; i++)
            input[i] = (char)(rand() >> 8);
        take_bytes((const uint8_t *)input, sizeof input);
        begin();
        __quarry_harness();
        exit(0);
    }
    close(ends[1]);
    if (read(ends[0], &n, sizeof n) != sizeof n)
        n = 0;
    close(ends[0]);
    finish(child);
    return n;
}

static size_t size(void)
{
    size_t most = 0;
    for (unsigned i = 0; i < N_TRIES; i++) {
        size_t n = bytes_for(i);
        most = n > most ? n : most;
    }
    return most;
}

/* Counts go to this directory, given by its whole path; what is there is added up. */
static void count_in(const char *directory)
{
    static char pattern[PATH_MAX];
    counts = directory;
    snprintf(pattern, sizeof pattern, "%s/%%m.profraw", directory);
    __llvm_profile_set_filename(pattern);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    guard(RUN_LIMIT, after_crash);
    if (argc > 2)
        count_in(argv[2]);
    if (argc > 2 && (strcmp(what, "cells") == 0 || strcmp(what, "bytes") == 0)) {
        for (int i = 3; i < argc; i++)
            run_file(*what == 'c', argv[i]);
    } else if (strcmp(what, "random") == 0 && argc == 5) {
        run_random(atof(argv[3]), strtoull(argv[4], 0, 10));
    } else if (strcmp(what, "size") == 0) {
        printf("%zu\n", size());
    } else {
        fprintf(stderr, "usage: replay size | cells COUNTS FILE... | bytes COUNTS FILE... | random COUNTS SECONDS SEED\n");
        return 2;
    }
    return 0;
}
