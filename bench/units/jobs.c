// A queue of jobs with priorities, dependencies and limits: flags that a loop may kill; after handle_new_jobs (paper 2).
//@ function: schedule_jobs
//@ args: --len job=4
//@ branches: 38
//@ infeasible: 0

enum { N_JOBS = 4, MAX_LOAD = 100 };
enum state { WAITING, READY, RUNNING, DONE, FAILED };

struct job {
    int priority;
    int load;
    int after;   /* index of a job that must be done before, or -1 */
    int state;
    int retries;
};

static int is_valid(const struct job *job, int index)
{
    if (job->priority < 0 || job->priority > 9 || job->load <= 0 || job->load > MAX_LOAD)
        return 0;
    if (job->after < -1 || job->after >= N_JOBS || job->after == index)
        return 0;
    return job->state >= WAITING && job->state <= FAILED;
}

static int may_start(const struct job jobs[], int index, int load)
{
    const struct job *job = &jobs[index];

    if (job->state == FAILED)
        return job->retries > 0 && job->retries < 3 && load + job->load <= MAX_LOAD / 2;
    if (job->state != READY && job->state != WAITING)
        return 0;
    if (job->after >= 0 && jobs[job->after].state != DONE)
        return 0;
    return load + job->load <= MAX_LOAD;
}

/* Starts what may start, the most urgent first; the number of jobs started, or a negative number. */
int schedule_jobs(const struct job job[N_JOBS], int quiet_hours)
{
    struct job jobs[N_JOBS];
    int load = 0, n_started = 0, all_done = 1, progress = 1;

    for (int i = 0; i < N_JOBS; i++) {
        if (!is_valid(&job[i], i))
            return -1;
        jobs[i] = job[i];
        if (jobs[i].state == RUNNING)
            load += jobs[i].load;
        if (jobs[i].state != DONE)
            all_done = 0;
    }
    if (all_done)
        return -2;
    if (load > MAX_LOAD)
        return -3;
    while (progress) {
        int best = -1;

        progress = 0;
        for (int i = 0; i < N_JOBS; i++) {
            if (!may_start(jobs, i, load))
                continue;
            if (quiet_hours && jobs[i].priority < 7)
                continue;
            if (best < 0 || jobs[i].priority > jobs[best].priority
                || (jobs[i].priority == jobs[best].priority && jobs[i].load < jobs[best].load))
                best = i;
        }
        if (best >= 0) {
            jobs[best].state = RUNNING;
            load += jobs[best].load;
            n_started++;
            progress = 1;
        }
    }
    if (n_started == 0 && load == 0)
        return -4; /* nothing runs and nothing can */
    return load == MAX_LOAD ? 100 + n_started : n_started;
}
