// Services of a small operating system with fixed priorities: activation, termination, resources with ceilings, events; after osek_os (paper 1).
//@ function: run_system
//@ args: --len call=6
//@ branches: 64
//@ infeasible: 1

enum { N_TASKS = 3, N_CALLS = 6, CEILING = 2, NOBODY = -1 };
enum service { ACTIVATE, TERMINATE, CHAIN, TAKE, RELEASE, WAIT, SIGNAL };
enum state { SUSPENDED, READY, RUNNING, BLOCKED };
enum status { OK, E_ACCESS, E_CALL_LEVEL, E_ID, E_LIMIT, E_NO_FUNCTION, E_RESOURCE, E_STATE };

struct call {
    unsigned char service;
    unsigned char argument;
};

struct task {
    enum state state;
    int n_pending;
    int events;
};

struct system {
    struct task task[N_TASKS];  /* by rising priority */
    int running;
    int holder;
};

static int priority(const struct system *system, int task)
{
    return system->holder == task && task < CEILING ? CEILING : task;
}

static void dispatch(struct system *system)
{
    int best = system->running;

    for (int t = 0; t < N_TASKS; t++) {
        if (system->task[t].state != READY)
            continue;
        if (best == NOBODY || priority(system, t) > priority(system, best))
            best = t;
    }
    if (best == system->running || best == NOBODY)
        return;
    if (system->running != NOBODY)
        system->task[system->running].state = READY;
    system->task[best].state = RUNNING;
    system->running = best;
}

static enum status activate(struct system *system, int id)
{
    if (id >= N_TASKS)
        return E_ID;
    if (system->task[id].state == SUSPENDED) {
        system->task[id].state = READY;
        system->task[id].events = 0;
    } else if (system->task[id].n_pending < 1) {
        system->task[id].n_pending++;
    } else {
        return E_LIMIT;
    }
    return OK;
}

static enum status terminate(struct system *system)
{
    struct task *task;

    if (system->running == NOBODY)
        return E_CALL_LEVEL;
    if (system->holder == system->running)
        return E_RESOURCE;
    task = &system->task[system->running];
    task->state = SUSPENDED;
    if (task->n_pending > 0) {
        task->n_pending--;
        task->state = READY;
    }
    system->running = NOBODY;
    return OK;
}

static enum status serve(struct system *system, enum service service, int argument)
{
    enum status status;

    switch (service) {
    case ACTIVATE:
        return activate(system, argument);
    case TERMINATE:
        return terminate(system);
    case CHAIN:
        if (argument >= N_TASKS)
            return E_ID;
        status = terminate(system);
        return status == OK ? activate(system, argument) : status;
    case TAKE:
        if (argument != 0)
            return E_ID;
        if (system->running == NOBODY || system->holder != NOBODY)
            return E_ACCESS;
        system->holder = system->running;
        return OK;
    case RELEASE:
        if (system->holder == NOBODY || system->holder != system->running)
            return E_NO_FUNCTION;
        system->holder = NOBODY;
        return OK;
    case WAIT:
        if (system->running == NOBODY || system->holder == system->running)
            return system->running == NOBODY ? E_CALL_LEVEL : E_RESOURCE;
        if (!(system->task[system->running].events & argument)) {
            system->task[system->running].state = BLOCKED;
            system->running = NOBODY;
        }
        return OK;
    case SIGNAL:
        if (argument >= N_TASKS)
            return E_ID;
        if (system->task[argument].state == SUSPENDED)
            return E_STATE;
        system->task[argument].events |= 1;
        if (system->task[argument].state == BLOCKED)
            system->task[argument].state = READY;
        return OK;
    default: /* infeasible: the caller lets no other service through */
        return E_ID;
    }
}

int run_system(const struct call call[N_CALLS])
{
    struct system system = {{{SUSPENDED, 0, 0}, {SUSPENDED, 0, 0}, {SUSPENDED, 0, 0}}, NOBODY, NOBODY};
    int n_failed = 0;

    for (int i = 0; i < N_CALLS; i++) {
        enum status status;

        if (call[i].service > SIGNAL)
            return -1;
        status = serve(&system, (enum service)call[i].service, call[i].argument);
        if (status != OK)
            n_failed++;
        else
            dispatch(&system);
    }
    if (n_failed == 0 && system.running == N_TASKS - 1 && system.holder == NOBODY && system.task[0].n_pending > 0)
        return 100;
    return n_failed > 2 && system.holder != NOBODY ? -2 : n_failed;
}
