// A scheduler of processes: three priority queues as linked lists, commands that block, wake, promote and finish.
//@ function: schedule
//@ args: --len commands=8
//@ branches: 60
//@ infeasible: 0

enum { N_LEVELS = 3, MAX_PROCESSES = 6, QUANTUM = 2, NOBODY = -1, N_COMMANDS = 8 };
enum command { SPAWN, PROMOTE, BLOCK, WAKE, EXPIRE, FINISH, FLUSH, N_KINDS };
enum status { OK, BAD_LEVEL, NO_SPACE, NOTHING_THERE, BAD_COMMAND };

struct process {
    int id;
    int level;
    int used;
    int next;
};

struct queue {
    int head;
    int tail;
    int length;
};

static struct process processes[MAX_PROCESSES];
static struct queue ready[N_LEVELS + 1];
static struct queue blocked;
static int free_list;
static int running;
static int next_id;
static int n_finished;

static void clear_queue(struct queue *queue)
{
    queue->head = NOBODY;
    queue->tail = NOBODY;
    queue->length = 0;
}

static void initialise(void)
{
    for (int level = 0; level <= N_LEVELS; level++)
        clear_queue(&ready[level]);
    clear_queue(&blocked);
    for (int i = 0; i < MAX_PROCESSES; i++) {
        processes[i].id = 0;
        processes[i].level = 0;
        processes[i].used = 0;
        processes[i].next = i + 1 < MAX_PROCESSES ? i + 1 : NOBODY;
    }
    free_list = 0;
    running = NOBODY;
    next_id = 1;
    n_finished = 0;
}

static void append(struct queue *queue, int slot)
{
    processes[slot].next = NOBODY;
    if (queue->head == NOBODY)
        queue->head = slot;
    else
        processes[queue->tail].next = slot;
    queue->tail = slot;
    queue->length++;
}

/* Takes the n-th of a queue out of it. */
static int take(struct queue *queue, int number)
{
    int before = NOBODY;
    int slot = queue->head;
    if (number < 0 || number >= queue->length)
        return NOBODY;
    for (int i = 0; i < number; i++) {
        before = slot;
        slot = processes[slot].next;
    }
    if (before == NOBODY)
        queue->head = processes[slot].next;
    else
        processes[before].next = processes[slot].next;
    if (queue->tail == slot)
        queue->tail = before;
    queue->length--;
    return slot;
}

static void dispatch(void)
{
    for (int level = N_LEVELS; level > 0 && running == NOBODY; level--) {
        if (ready[level].length > 0)
            running = take(&ready[level], 0);
    }
}

static enum status spawn(int level)
{
    int slot = free_list;
    if (level < 1 || level > N_LEVELS)
        return BAD_LEVEL;
    if (slot == NOBODY)
        return NO_SPACE;
    free_list = processes[slot].next;
    processes[slot].id = next_id++;
    processes[slot].level = level;
    processes[slot].used = 0;
    append(&ready[level], slot);
    return OK;
}

static enum status promote(int level, int number)
{
    int slot;
    if (level < 1 || level >= N_LEVELS)
        return BAD_LEVEL;
    slot = take(&ready[level], number);
    if (slot == NOBODY)
        return NOTHING_THERE;
    processes[slot].level = level + 1;
    append(&ready[level + 1], slot);
    return OK;
}

static enum status block(void)
{
    if (running == NOBODY)
        return NOTHING_THERE;
    append(&blocked, running);
    running = NOBODY;
    return OK;
}

static enum status wake(int number)
{
    int slot = take(&blocked, number);
    if (slot == NOBODY)
        return NOTHING_THERE;
    processes[slot].used = 0;
    append(&ready[processes[slot].level], slot);
    return OK;
}

static enum status expire(void)
{
    struct process *process;
    if (running == NOBODY)
        return NOTHING_THERE;
    process = &processes[running];
    process->used++;
    if (process->used >= QUANTUM) {
        /* whoever uses all of its time sinks */
        process->used = 0;
        if (process->level > 1)
            process->level--;
    }
    append(&ready[process->level], running);
    running = NOBODY;
    return OK;
}

static void release(int slot)
{
    processes[slot].next = free_list;
    free_list = slot;
    n_finished++;
}

static enum status finish(void)
{
    if (running == NOBODY)
        return NOTHING_THERE;
    release(running);
    running = NOBODY;
    return OK;
}

static enum status flush(void)
{
    int n_before = n_finished;
    dispatch();
    while (running != NOBODY) {
        finish();
        dispatch();
    }
    return n_finished == n_before ? NOTHING_THERE : OK;
}

static enum status execute(unsigned char code)
{
    int level = code / 8 % 4;
    int number = code / 32 % 4;
    switch (code % 8) {
    case SPAWN:
        return spawn(level);
    case PROMOTE:
        return promote(level, number);
    case BLOCK:
        return block();
    case WAKE:
        return wake(number);
    case EXPIRE:
        return expire();
    case FINISH:
        return finish();
    case FLUSH:
        return flush();
    default:
        return BAD_COMMAND;
    }
}

int schedule(const unsigned char *commands)
{
    int n_errors = 0;
    initialise();
    for (int i = 0; i < N_COMMANDS; i++) {
        if (execute(commands[i]) != OK)
            n_errors++;
        dispatch();
    }
    if (n_errors > 4)
        return -n_errors;
    return n_finished * 10 + (running == NOBODY ? 0 : processes[running].id);
}
