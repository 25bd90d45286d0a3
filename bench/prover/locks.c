/* Unbounded loops over scalars: lock counters, a scheduler, a protocol with modes. Each function has a branch that no run
 * takes, marked "infeasible", and a twin that differs in one token, whose branch, marked "feasible", some run takes. */

extern int __VERIFIER_nondet_int(void);

/* A lock that is taken and given back under the same condition. */
int lock_pairs(int request)
{
    int held = 0, got = 0;
    while (__VERIFIER_nondet_int() != 0) {
        request = __VERIFIER_nondet_int();
        if (request > 0) {
            if (held != 0) /* infeasible */
                return -1;
            held = 1;
            got = got + 1;
        }
        if (request > 0) {
            if (held != 1) /* infeasible */
                return -2;
            held = 0;
        }
    }
    return got;
}

int lock_pairs_twin(int request)
{
    int held = 0, got = 0;
    while (__VERIFIER_nondet_int() != 0) {
        request = __VERIFIER_nondet_int();
        if (request > 0) {
            if (held != 0) /* feasible */
                return -1;
            held = 1;
            got = got + 1;
        }
        if (request > 1) {
            if (held != 1) /* infeasible */
                return -2;
            held = 0;
        }
    }
    return got;
}

/* Readers are counted; a writer comes in only when there are none. */
int readers_and_writer(void)
{
    unsigned readers = 0;
    int writing = 0;
    for (;;) {
        switch (__VERIFIER_nondet_int()) {
        case 0: return (int)readers;
        case 1:
            if (!writing && readers < 1000)
                readers++;
            break;
        case 2:
            if (readers > 0)
                readers--;
            break;
        case 3:
            if (readers == 0)
                writing = 1;
            break;
        case 4: writing = 0; break;
        default: break;
        }
        if (writing && readers != 0) /* infeasible */
            return -1;
        if (readers > 1000) /* infeasible */
            return -2;
    }
}

int readers_and_writer_twin(void)
{
    unsigned readers = 0;
    int writing = 0;
    for (;;) {
        switch (__VERIFIER_nondet_int()) {
        case 0: return (int)readers;
        case 1:
            if (!writing || readers < 1000)
                readers++;
            break;
        case 2:
            if (readers > 0)
                readers--;
            break;
        case 3:
            if (readers == 0)
                writing = 1;
            break;
        case 4: writing = 0; break;
        default: break;
        }
        if (writing && readers != 0) /* feasible */
            return -1;
    }
}

/* Three processes, of which one runs; each is ready, running or asleep. */
enum { ASLEEP, READY, RUNNING };

int scheduler(void)
{
    int p = READY, q = ASLEEP, r = ASLEEP;
    while (__VERIFIER_nondet_int()) {
        int event = __VERIFIER_nondet_int();
        if (event == 1 && p == ASLEEP)
            p = READY;
        else if (event == 2 && q == ASLEEP)
            q = READY;
        else if (event == 3 && r == ASLEEP)
            r = READY;
        else if (event == 4 && p == READY && q != RUNNING && r != RUNNING)
            p = RUNNING;
        else if (event == 5 && q == READY && p != RUNNING && r != RUNNING)
            q = RUNNING;
        else if (event == 6 && r == READY && p != RUNNING && q != RUNNING)
            r = RUNNING;
        else if (event == 7 && p == RUNNING)
            p = ASLEEP;
        else if (event == 8 && q == RUNNING)
            q = ASLEEP;
        else if (event == 9 && r == RUNNING)
            r = ASLEEP;
        if (p == RUNNING && q == RUNNING) /* infeasible */
            return 1;
        if (q == RUNNING && r == RUNNING) /* infeasible */
            return 2;
        if (p > RUNNING) /* infeasible */
            return 3;
        if (p == RUNNING && q == READY && r == READY) /* feasible */
            return 4;
    }
    return 0;
}

int scheduler_twin(void)
{
    int p = READY, q = ASLEEP, r = ASLEEP;
    while (__VERIFIER_nondet_int()) {
        int event = __VERIFIER_nondet_int();
        if (event == 1 && p == ASLEEP)
            p = READY;
        else if (event == 2 && q == ASLEEP)
            q = READY;
        else if (event == 3 && r == ASLEEP)
            r = READY;
        else if (event == 4 && p == READY && q != RUNNING && r != RUNNING)
            p = RUNNING;
        else if (event == 5 && q == READY && p != READY && r != RUNNING)
            q = RUNNING;
        else if (event == 6 && r == READY && p != RUNNING && q != RUNNING)
            r = RUNNING;
        else if (event == 7 && p == RUNNING)
            p = ASLEEP;
        else if (event == 8 && q == RUNNING)
            q = ASLEEP;
        else if (event == 9 && r == RUNNING)
            r = ASLEEP;
        if (p == RUNNING && q == RUNNING) /* feasible */
            return 1;
    }
    return 0;
}

/* A connection: acknowledgements come only for what was sent, and nothing is sent before the handshake. */
int connection(void)
{
    int mode = 0;
    unsigned sent = 0, acknowledged = 0;
    for (;;) {
        int event = __VERIFIER_nondet_int();
        if (event == 0)
            return -1;
        if (mode == 0 && event == 1)
            mode = 1;
        else if (mode == 1 && event == 2)
            mode = 2;
        else if (mode == 2 && event == 3 && sent < 0xffffffffu)
            sent++;
        else if (mode == 2 && event == 4 && acknowledged < sent)
            acknowledged++;
        else if (mode == 2 && event == 5 && acknowledged == sent)
            mode = 3;
        else if (mode == 3)
            return 0;
        if (acknowledged > sent) /* infeasible */
            return 1;
        if (mode < 2 && sent != 0) /* infeasible */
            return 2;
        if (mode == 3 && acknowledged != sent) /* infeasible */
            return 3;
    }
}

int connection_twin(void)
{
    int mode = 0;
    unsigned sent = 0, acknowledged = 0;
    for (;;) {
        int event = __VERIFIER_nondet_int();
        if (event == 0)
            return -1;
        if (mode == 0 && event == 1)
            mode = 1;
        else if (mode == 1 && event == 2)
            mode = 2;
        else if (mode == 2 && event == 3 && sent < 0xffffffffu)
            sent++;
        else if (mode == 2 && event == 4 && acknowledged <= sent)
            acknowledged++;
        else if (mode == 2 && event == 5 && acknowledged == sent)
            mode = 3;
        else if (mode == 3)
            return 0;
        if (acknowledged > sent) /* feasible */
            return 1;
    }
}

/* Both counters move together. */
int together(int n)
{
    int i = 0, j = 0;
    while (i < n) {
        i++;
        j++;
    }
    if (n > 0 && j != n) /* infeasible */
        return 1;
    if (i > n && n >= 0) /* infeasible */
        return 2;
    return 0;
}

int together_twin(int n)
{
    int i = 0, j = 0;
    while (i < n) {
        i++;
        j += i & 1;
    }
    if (n > 0 && j != n) /* feasible */
        return 1;
    return 0;
}

/* Even whatever wraps around. */
int even(unsigned n)
{
    unsigned x = 0;
    for (unsigned i = 0; i < n; i++)
        x += 2;
    if (x == 7) /* infeasible */
        return 1;
    return 0;
}

int even_twin(unsigned n)
{
    unsigned x = 1;
    for (unsigned i = 0; i < n; i++)
        x += 2;
    if (x == 7) /* feasible */
        return 1;
    return 0;
}
