// A scheduler with word commands on standard input: adds, starts, ends and lists jobs with priorities, deadlines and dependencies.
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 20
#define NAME 16

enum state { WAITING, RUNNING, DONE, CANCELLED };

struct job {
    char name[NAME];
    int priority;
    int cost;
    int deadline;
    int after;
    enum state state;
    int started;
};

static struct job jobs[MOST];
static int n_jobs;
static int now;
static int slots = 1;
static int is_strict;

static int find(const char *name)
{
    int i;
    for (i = 0; i < n_jobs; i++)
        if (strcmp(jobs[i].name, name) == 0)
            return i;
    return -1;
}

static int n_in(enum state state)
{
    int i, n = 0;
    for (i = 0; i < n_jobs; i++)
        if (jobs[i].state == state)
            n++;
    return n;
}

static int is_ready(const struct job *job)
{
    if (job->state != WAITING)
        return 0;
    return job->after < 0 || jobs[job->after].state == DONE;
}

/* The job to start next: the highest priority, among equals the earlier deadline. */
static int best(void)
{
    int i, found = -1;
    for (i = 0; i < n_jobs; i++) {
        if (!is_ready(&jobs[i]))
            continue;
        if (found < 0 || jobs[i].priority > jobs[found].priority)
            found = i;
        else if (jobs[i].priority == jobs[found].priority && jobs[i].deadline && (!jobs[found].deadline || jobs[i].deadline < jobs[found].deadline))
            found = i;
    }
    return found;
}

static void start_all(void)
{
    while (n_in(RUNNING) < slots) {
        int next = best();
        if (next < 0)
            return;
        jobs[next].state = RUNNING;
        jobs[next].started = now;
        printf("%d: %s starts\n", now, jobs[next].name);
    }
}

static void end(struct job *job)
{
    job->state = DONE;
    printf("%d: %s ends%s\n", now, job->name, job->deadline && now > job->deadline ? " late" : "");
}

static void tick(int n)
{
    int i;
    while (n-- > 0) {
        start_all();
        now++;
        for (i = 0; i < n_jobs; i++)
            if (jobs[i].state == RUNNING && now - jobs[i].started >= jobs[i].cost)
                end(&jobs[i]);
    }
}

static const char *word(char **rest)
{
    char *begin = *rest;
    while (*begin == ' ')
        begin++;
    if (!*begin)
        return NULL;
    *rest = begin;
    while (**rest && **rest != ' ')
        (*rest)++;
    if (**rest)
        *(*rest)++ = 0;
    return begin;
}

static int number(const char *text, int *value)
{
    int n = 0;
    if (!text || !*text)
        return 0;
    for (; *text; text++) {
        if (!isdigit((unsigned char)*text))
            return 0;
        n = n * 10 + (*text - '0');
        if (n > 10000)
            return 0;
    }
    *value = n;
    return 1;
}

static const char *add(char *rest)
{
    struct job job = {.after = -1, .priority = 1, .cost = 1};
    const char *name = word(&rest), *text;
    if (!name)
        return "no name";
    if (strlen(name) >= NAME)
        return "name too long";
    if (find(name) >= 0)
        return "job exists";
    if (n_jobs == MOST)
        return "too many jobs";
    strcpy(job.name, name);
    while ((text = word(&rest)) != NULL) {
        if (strncmp(text, "cost=", 5) == 0) {
            if (!number(text + 5, &job.cost) || job.cost == 0)
                return "bad cost";
        } else if (strncmp(text, "prio=", 5) == 0) {
            if (!number(text + 5, &job.priority) || job.priority > 9)
                return "bad priority";
        } else if (strncmp(text, "by=", 3) == 0) {
            if (!number(text + 3, &job.deadline))
                return "bad deadline";
            if (job.deadline <= now)
                return "deadline has passed";
        } else if (strncmp(text, "after=", 6) == 0) {
            job.after = find(text + 6);
            if (job.after < 0)
                return "no such job";
        } else
            return "unknown property";
    }
    jobs[n_jobs++] = job;
    return NULL;
}

static const char *cancel(char *rest)
{
    const char *name = word(&rest);
    int i, at = name ? find(name) : -1;
    if (at < 0)
        return "no such job";
    if (jobs[at].state == DONE || jobs[at].state == CANCELLED)
        return "too late";
    if (is_strict && jobs[at].state == RUNNING)
        return "job is running";
    jobs[at].state = CANCELLED;
    for (i = 0; i < n_jobs; i++)
        if (jobs[i].after == at && jobs[i].state == WAITING)
            printf("%s is stuck\n", jobs[i].name);
    return NULL;
}

static const char *raise(char *rest)
{
    const char *name = word(&rest);
    int by = 1, at = name ? find(name) : -1;
    const char *text = word(&rest);
    if (at < 0)
        return "no such job";
    if (text && !number(text, &by))
        return "bad number";
    if (jobs[at].state != WAITING)
        return "not waiting";
    jobs[at].priority += by;
    if (jobs[at].priority > 9)
        jobs[at].priority = 9;
    return NULL;
}

static void list(void)
{
    static const char *const names[] = {"waiting", "running", "done", "cancelled"};
    int i;
    for (i = 0; i < n_jobs; i++) {
        printf("%s %s prio %d", jobs[i].name, names[jobs[i].state], jobs[i].priority);
        if (jobs[i].deadline)
            printf(" by %d", jobs[i].deadline);
        if (jobs[i].after >= 0)
            printf(" after %s", jobs[jobs[i].after].name);
        printf("\n");
    }
    if (n_jobs == 0)
        printf("no jobs\n");
}

static const char *set(char *rest)
{
    const char *what = word(&rest), *text = word(&rest);
    int value;
    if (!what || !text)
        return "set what?";
    if (strcmp(what, "slots") == 0) {
        if (!number(text, &value) || value < 1 || value > 4)
            return "bad number of slots";
        slots = value;
        return NULL;
    }
    if (strcmp(what, "strict") == 0) {
        if (strcmp(text, "on") == 0)
            is_strict = 1;
        else if (strcmp(text, "off") == 0)
            is_strict = 0;
        else
            return "on or off";
        return NULL;
    }
    return "unknown setting";
}

static const char *run(char *line)
{
    char *rest = line;
    const char *command = word(&rest);
    int n = 1;
    if (!command || *command == '#')
        return NULL;
    if (strcmp(command, "add") == 0)
        return add(rest);
    if (strcmp(command, "cancel") == 0)
        return cancel(rest);
    if (strcmp(command, "raise") == 0)
        return raise(rest);
    if (strcmp(command, "set") == 0)
        return set(rest);
    if (strcmp(command, "list") == 0) {
        list();
        return NULL;
    }
    if (strcmp(command, "tick") == 0) {
        const char *text = word(&rest);
        if (text && (!number(text, &n) || n > 100))
            return "bad number";
        tick(n);
        return NULL;
    }
    return "unknown command";
}

int main(void)
{
    char line[100];
    int n_line = 0, n_errors = 0;
    while (fgets(line, sizeof line, stdin)) {
        const char *error;
        line[strcspn(line, "\r\n")] = 0;
        n_line++;
        error = run(line);
        if (error) {
            printf("line %d: %s\n", n_line, error);
            if (++n_errors == 5) {
                printf("giving up\n");
                return 2;
            }
        }
    }
    if (n_in(WAITING) > 0)
        printf("%d jobs wait\n", n_in(WAITING));
    return n_errors > 0;
}
