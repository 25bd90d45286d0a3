// Readings of sensors judged over time: hysteresis, debouncing, plausibility, a trend; numbers and flags intertwined.
//@ function: watch
//@ args: --len reading=6
//@ branches: 32
//@ infeasible: 0

enum { N_READINGS = 6, LOW = -40, HIGH = 125, WARN = 90, CLEAR = 80, MAX_JUMP = 50, DEBOUNCE = 2 };
enum { WARNING = 1, ALARM = 2, IMPLAUSIBLE = 4, STUCK = 8, RISING = 16, TRIPPED = 32 };

struct monitor {
    int flags;
    int n_over;
    int n_bad;
    int n_same;
    int n_rising;
    int last;
};

static int is_plausible(const struct monitor *monitor, int value, int first)
{
    if (value < LOW || value > HIGH)
        return 0;
    return first || (value - monitor->last <= MAX_JUMP && monitor->last - value <= MAX_JUMP);
}

static void follow_trend(struct monitor *monitor, int value)
{
    if (value == monitor->last) {
        monitor->n_same++;
    } else {
        monitor->n_same = 0;
        monitor->n_rising = value > monitor->last ? monitor->n_rising + 1 : 0;
    }
    if (monitor->n_same >= 3 && value != 0)
        monitor->flags |= STUCK;
    if (monitor->n_rising >= 3)
        monitor->flags |= RISING;
}

static void judge(struct monitor *monitor, int value)
{
    if (value >= WARN) {
        monitor->n_over++;
        if (monitor->n_over >= DEBOUNCE)
            monitor->flags |= WARNING;
        if (monitor->n_over > 2 * DEBOUNCE || (monitor->flags & RISING && value > WARN + 20))
            monitor->flags |= ALARM;
    } else if (value < CLEAR) {
        monitor->n_over = 0;
        monitor->flags &= ~WARNING;
    }
}

int watch(const short reading[N_READINGS], int enabled, int offset)
{
    struct monitor monitor = {0, 0, 0, 0, 0, 0};

    if (!enabled || offset < -10 || offset > 10)
        return -1;
    for (int i = 0; i < N_READINGS; i++) {
        int value = reading[i] + offset;

        if (!is_plausible(&monitor, value, i == 0)) {
            monitor.n_bad++;
            if (monitor.n_bad >= 3)
                return IMPLAUSIBLE;
            continue;
        }
        if (i > 0)
            follow_trend(&monitor, value);
        judge(&monitor, value);
        monitor.last = value;
    }
    if (monitor.flags & ALARM && (monitor.flags & RISING || monitor.n_bad == 0))
        monitor.flags |= TRIPPED;
    if (monitor.flags == (WARNING | STUCK) && monitor.last > WARN)
        return 100;
    return monitor.flags;
}
