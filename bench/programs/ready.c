// A scheduler with three priorities: numbers of processes as arguments, numbered commands on standard input.
#include <stdio.h>
#include <stdlib.h>

#define LEVELS 3
#define NEW_JOB 1
#define RAISE 2
#define BLOCK 3
#define UNBLOCK 4
#define EXPIRE 5
#define FINISH 6
#define FLUSH 7

struct process {
    int id;
    int level;
    struct process *next;
};

struct queue {
    int length;
    struct process *first;
    struct process *last;
};

static struct queue ready[LEVELS + 1];
static struct queue blocked;
static struct process *running;
static int next_id;
static int n_finished;

static void append(struct queue *queue, struct process *process)
{
    process->next = NULL;
    if (queue->last)
        queue->last->next = process;
    else
        queue->first = process;
    queue->last = process;
    queue->length++;
}

static struct process *take(struct queue *queue, int index)
{
    struct process *before = NULL, *process = queue->first;
    if (index < 0 || index >= queue->length)
        return NULL;
    while (index-- > 0) {
        before = process;
        process = process->next;
    }
    if (before)
        before->next = process->next;
    else
        queue->first = process->next;
    if (queue->last == process)
        queue->last = before;
    queue->length--;
    process->next = NULL;
    return process;
}

/* The process at a share of the queue: 0 is the first, 1 the last. */
static struct process *take_share(struct queue *queue, double share)
{
    int index;
    if (queue->length == 0)
        return NULL;
    if (share < 0.0 || share > 1.0)
        return NULL;
    index = (int)(share * queue->length);
    if (index == queue->length)
        index--;
    return take(queue, index);
}

static void choose(void)
{
    int level;
    if (running)
        return;
    for (level = LEVELS; level > 0; level--) {
        if (ready[level].length > 0) {
            running = take(&ready[level], 0);
            return;
        }
    }
}

static int create(int level)
{
    struct process *process;
    if (level < 1 || level > LEVELS)
        return 0;
    process = malloc(sizeof *process);
    if (!process)
        return 0;
    process->id = next_id++;
    process->level = level;
    append(&ready[level], process);
    return 1;
}

static void put_back(void)
{
    if (running) {
        append(&ready[running->level], running);
        running = NULL;
    }
}

static void finish(void)
{
    if (running) {
        printf("%d ", running->id);
        free(running);
        running = NULL;
        n_finished++;
    }
}

static int raise_one(int level, double share)
{
    struct process *process;
    if (level < 1 || level >= LEVELS)
        return 0;
    process = take_share(&ready[level], share);
    if (!process)
        return 0;
    process->level = level + 1;
    append(&ready[level + 1], process);
    return 1;
}

static int unblock(double share)
{
    struct process *process = take_share(&blocked, share);
    if (!process)
        return 0;
    append(&ready[process->level], process);
    if (running && process->level > running->level)
        put_back();
    return 1;
}

static void flush(void)
{
    put_back();
    choose();
    while (running) {
        finish();
        choose();
    }
    printf("\n");
}

static int schedule(int command)
{
    int level;
    double share;
    switch (command) {
    case NEW_JOB:
        if (scanf("%d", &level) != 1)
            return 0;
        if (!create(level))
            printf("no such priority\n");
        else if (running && level > running->level)
            put_back();
        break;
    case RAISE:
        if (scanf("%d %lf", &level, &share) != 2)
            return 0;
        if (!raise_one(level, share))
            printf("cannot raise\n");
        break;
    case BLOCK:
        if (running) {
            append(&blocked, running);
            running = NULL;
        }
        break;
    case UNBLOCK:
        if (scanf("%lf", &share) != 1)
            return 0;
        if (!unblock(share))
            printf("cannot unblock\n");
        break;
    case EXPIRE:
        put_back();
        break;
    case FINISH:
        choose();
        finish();
        break;
    case FLUSH:
        flush();
        break;
    default:
        printf("bad command %d\n", command);
        return 1;
    }
    choose();
    return 1;
}

int main(int argc, char **argv)
{
    int command, level, i, n;
    if (argc < LEVELS + 1) {
        fprintf(stderr, "usage: ready LOW MIDDLE HIGH < commands\n");
        return 1;
    }
    for (level = LEVELS; level > 0; level--) {
        n = atoi(argv[level]);
        if (n < 0) {
            fprintf(stderr, "negative number of processes\n");
            return 2;
        }
        for (i = 0; i < n; i++)
            create(level);
    }
    choose();
    while (scanf("%d", &command) == 1)
        if (!schedule(command)) {
            printf("incomplete command\n");
            break;
        }
    if (blocked.length > 0)
        printf("%d blocked\n", blocked.length);
    if (n_finished > 10)
        printf("busy\n");
    return 0;
}
