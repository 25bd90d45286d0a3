/* A scheduler in the manner of a simulation kernel: five processes with program counters and states pass a token by events; a loop runs
 * those that are ready, in any order, and advances time when none is. "infeasible" is what no run comes to. generate.py wrote this. */

extern int __VERIFIER_nondet_int(void);

/* states: 0 ready, 2 waits; events: 0 happens now, 1 happened, 2 does not */
static int pc1 = 0, st1 = 0, ev1 = 2;
static int pc2 = 0, st2 = 0, ev2 = 2;
static int pc3 = 0, st3 = 0, ev3 = 2;
static int pc4 = 0, st4 = 0, ev4 = 2;
static int pc5 = 0, st5 = 0, ev5 = 2;
static int token = 0, holder = 1, local = 0, stopped = 0, ticks = 0;

static int fail(int number)
{
    return number;
}

static int is_triggered_1(void)
{
    if (pc1 == 1)
        if (ev1 == 1)
            return 1;
    return 0;
}

static int is_triggered_2(void)
{
    if (pc2 == 1)
        if (ev2 == 1)
            return 1;
    return 0;
}

static int is_triggered_3(void)
{
    if (pc3 == 1)
        if (ev3 == 1)
            return 1;
    return 0;
}

static int is_triggered_4(void)
{
    if (pc4 == 1)
        if (ev4 == 1)
            return 1;
    return 0;
}

static int is_triggered_5(void)
{
    if (pc5 == 1)
        if (ev5 == 1)
            return 1;
    return 0;
}

static void activate(void)
{
    int triggered;
    triggered = is_triggered_1();
    if (triggered)
        st1 = 0;
    triggered = is_triggered_2();
    if (triggered)
        st2 = 0;
    triggered = is_triggered_3();
    if (triggered)
        st3 = 0;
    triggered = is_triggered_4();
    if (triggered)
        st4 = 0;
    triggered = is_triggered_5();
    if (triggered)
        st5 = 0;
}

static void fire(void)
{
    if (ev1 == 0)
        ev1 = 1;
    if (ev2 == 0)
        ev2 = 1;
    if (ev3 == 0)
        ev3 = 1;
    if (ev4 == 0)
        ev4 = 1;
    if (ev5 == 0)
        ev5 = 1;
}

static void reset(void)
{
    if (ev1 == 1)
        ev1 = 2;
    if (ev2 == 1)
        ev2 = 2;
    if (ev3 == 1)
        ev3 = 2;
    if (ev4 == 1)
        ev4 = 2;
    if (ev5 == 1)
        ev5 = 2;
}

static void notify(void)
{
    activate();
}

static int process_1(void)
{
    if (pc1 == 0) {
        token = 1;
        local = token;
        holder = 2;
        ev2 = 1;
        notify();
        ev2 = 2;
        pc1 = 1;
        st1 = 2;
        return 0;
    }
    if (pc1 != 1) /* infeasible */
        return fail(1);
    if (holder != 1) /* infeasible */
        return fail(2);
    if (token != local + 4) /* infeasible */
        return fail(3);
    if (__VERIFIER_nondet_int()) {
        stopped = 1;
        st1 = 2;
        return 0;
    }
    stopped = 0;
    token = 1;
    local = token;
    holder = 2;
    ev2 = 1;
    notify();
    ev2 = 2;
    st1 = 2;
    return 0;
}

static int process_2(void)
{
    if (pc2 == 0) {
        pc2 = 1;
        st2 = 2;
        return 0;
    }
    if (pc2 != 1) /* infeasible */
        return fail(21);
    if (holder != 2) /* infeasible */
        return fail(22);
    if (token == 2) /* infeasible */
        return fail(23);
    if (token != 1) /* infeasible */
        return fail(24);
    token += 1;
    holder = 3;
    ev3 = 1;
    notify();
    ev3 = 2;
    st2 = 2;
    return 0;
}

static int process_3(void)
{
    if (pc3 == 0) {
        pc3 = 1;
        st3 = 2;
        return 0;
    }
    if (pc3 != 1) /* infeasible */
        return fail(31);
    if (holder != 3) /* infeasible */
        return fail(32);
    if (token == 3) /* infeasible */
        return fail(33);
    if (token != 2) /* infeasible */
        return fail(34);
    token += 1;
    holder = 4;
    ev4 = 1;
    notify();
    ev4 = 2;
    st3 = 2;
    return 0;
}

static int process_4(void)
{
    if (pc4 == 0) {
        pc4 = 1;
        st4 = 2;
        return 0;
    }
    if (pc4 != 1) /* infeasible */
        return fail(41);
    if (holder != 4) /* infeasible */
        return fail(42);
    if (token == 4) /* infeasible */
        return fail(43);
    if (token != 3) /* infeasible */
        return fail(44);
    token += 1;
    holder = 5;
    ev5 = 1;
    notify();
    ev5 = 2;
    st4 = 2;
    return 0;
}

static int process_5(void)
{
    if (pc5 == 0) {
        pc5 = 1;
        st5 = 2;
        return 0;
    }
    if (pc5 != 1) /* infeasible */
        return fail(51);
    if (holder != 5) /* infeasible */
        return fail(52);
    if (token == 5) /* infeasible */
        return fail(53);
    if (token != 4) /* infeasible */
        return fail(54);
    token += 1;
    holder = 1;
    ev1 = 1;
    notify();
    ev1 = 2;
    st5 = 2;
    return 0;
}

static int has_ready(void)
{
    if (st1 == 0 || st2 == 0 || st3 == 0 || st4 == 0 || st5 == 0)
        return 1;
    return 0;
}

static int eval(void)
{
    int go, failed;
    while (1) {
        if (!has_ready())
            return 0;
        if (st2 == 0) {
            go = __VERIFIER_nondet_int();
            if (go) {
                st2 = 1;
                failed = process_2();
                if (failed) /* infeasible */
                    return failed;
            }
        }
        if (st3 == 0) {
            go = __VERIFIER_nondet_int();
            if (go) {
                st3 = 1;
                failed = process_3();
                if (failed) /* infeasible */
                    return failed;
            }
        }
        if (st4 == 0) {
            go = __VERIFIER_nondet_int();
            if (go) {
                st4 = 1;
                failed = process_4();
                if (failed) /* infeasible */
                    return failed;
            }
        }
        if (st5 == 0) {
            go = __VERIFIER_nondet_int();
            if (go) {
                st5 = 1;
                failed = process_5();
                if (failed) /* infeasible */
                    return failed;
            }
        }
        if (st1 == 0 && pc2 == 1 && pc3 == 1 && pc4 == 1 && pc5 == 1) {
            go = __VERIFIER_nondet_int();
            if (go) {
                st1 = 1;
                failed = process_1();
                if (failed) /* infeasible */
                    return failed;
            }
        }
        if (st1 == 1) /* infeasible */
            return fail(100);
    }
}

int ring(void)
{
    int failed, left;
    fire();
    activate();
    reset();
    while (1) {
        failed = eval();
        if (failed) /* infeasible */
            return 1;
        fire();
        activate();
        reset();
        left = has_ready();
        if (left && !stopped) /* infeasible */
            return 2;
        if (left && ticks == 100) /* feasible */
            return 4;
        ticks = ticks < 100 ? ticks + 1 : 0;
        if (ticks > 100) /* infeasible */
            return 3;
        if (__VERIFIER_nondet_int())
            return 0;
        if (stopped && __VERIFIER_nondet_int())
            ev1 = 0;
    }
}
