#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void fail(const char *what)
{
    perror(what);
    _exit(125);
}

static void write_file(const struct file *file, const char *name)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s", name);
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        mkdir(path, 0755);
        *slash = '/';
    }
    FILE *to = fopen(name, "wb");
    if (!to || fwrite(file->bytes, 1, file->size, to) != file->size || fclose(to) != 0)
        fail(name);
}

/* In the child: the test's directory, files, standard input and environment, then the program. */
static void start(const char *program, const struct test *test, const char *directory, const char *input)
{
    char *failing, *environment[64], *profile = getenv("LLVM_PROFILE_FILE"), pattern[PATH_MAX + 20];
    int n = 0, descriptor;
    for (; test->environment[n] && n < 60; n++)
        environment[n] = (char *)test->environment[n];
    if (profile) { /* clang's coverage, when the program is built for it */
        snprintf(pattern, sizeof pattern, "LLVM_PROFILE_FILE=%s", profile);
        environment[n++] = pattern;
    }
    if (*test->failing) {
        size_t size = sizeof "QUARRY_FAILING_ALLOCATIONS=" + strlen(test->failing);
        if (!(failing = malloc(size)))
            fail("malloc");
        snprintf(failing, size, "QUARRY_FAILING_ALLOCATIONS=%s", test->failing);
        environment[n++] = failing;
    }
    environment[n] = 0;
    write_file(&test->input, input);
    if (chdir(directory) != 0)
        fail(directory);
    for (const struct file *file = test->files; file->name; file++)
        write_file(file, file->name);
    descriptor = open(input, O_RDONLY);
    if (descriptor < 0 || dup2(descriptor, 0) != 0)
        fail(input);
    if (descriptor != 0)
        close(descriptor);
    execve(program, (char *const *)test->arguments, environment);
    fail(program);
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *position)
{
    (void)status, (void)type, (void)position;
    return remove(path);
}

static void run(const char *program, const struct test *test)
{
    char directory[] = "/tmp/quarry-replay-XXXXXX", input[sizeof directory + 16], own[sizeof directory + 16];
    int status = 0;
    if (!mkdtemp(directory))
        fail(directory);
    snprintf(input, sizeof input, "%s/stdin", directory);
    snprintf(own, sizeof own, "%s/directory", directory);
    mkdir(own, 0755);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        start(program, test, own, input);
    if (child < 0 || waitpid(child, &status, 0) != child)
        fail("fork");
    nftw(directory, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    if (WIFSIGNALED(status))
        printf("%s: killed by signal %d\n", test->name, WTERMSIG(status));
    else
        printf("%s: exited with %d\n", test->name, WEXITSTATUS(status));
}

int main(int argc, char **argv)
{
    char program[PATH_MAX];
    if (argc < 2 || !realpath(argv[1], program)) {
        fprintf(stderr, "usage: %s PROGRAM [TEST...]\n", argv[0]);
        return 2;
    }
    for (const struct test *test = tests; test->name; test++) {
        int is_wanted = argc < 3;
        for (int i = 2; i < argc; i++)
            is_wanted |= strcmp(argv[i], test->name) == 0;
        if (is_wanted)
            run(program, test);
    }
    return 0;
}
