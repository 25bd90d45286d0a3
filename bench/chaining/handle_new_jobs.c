// Jobs of a queue are looked at, and flags tell whether all are new and whether any is urgent; after handle_new_jobs of paper 2.
//@ function: handle_new_jobs
//@ args: --len queue=20
//@ branches: 12
//@ infeasible: 0

enum { JOBS = 20, NEW = 3, URGENT = 7 };

struct job {
    int state;
    int priority;
};

int handle_new_jobs(const struct job queue[JOBS])
{
    int all_new = 1, any_urgent = 0, started = 0;

    for (int i = 0; i < JOBS; i++) {
        if (queue[i].state != NEW)
            all_new = 0;
        if (queue[i].priority == URGENT)
            any_urgent = 1;
    }
    if (all_new) {
        started = JOBS;
        if (any_urgent)
            started++;
    }
    if (started > JOBS)
        return 2;
    return started != 0;
}
