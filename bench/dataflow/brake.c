// An anti-lock brake controller: wheel speeds, slip, a phase for each wheel that depends on what was decided before.
//@ function: brake
//@ args: --len speeds=8
//@ branches: 62
//@ infeasible: 0

enum { N_WHEELS = 2, N_STEPS = 4, MAX_PRESSURE = 100, RELEASE_STEP = 20, APPLY_STEP = 10, MIN_SPEED = 5 };
enum phase { FOLLOW, HOLD, RELEASE, REAPPLY };
enum warning { NO_WARNING, WARN_SENSOR, WARN_PEDAL, WARN_BOTH };

struct wheel {
    int speed;
    int previous;
    int pressure;
    enum phase phase;
    int n_releases;
    int failed;
};

struct pedal {
    int position;
    int redundant;
    int pressed;
};

static struct wheel wheels[N_WHEELS];
static struct pedal pedal;
static int vehicle_speed;
static int active;
static enum warning warning;

static void reset(void)
{
    for (int i = 0; i < N_WHEELS; i++) {
        struct wheel *wheel = &wheels[i];
        wheel->speed = 0;
        wheel->previous = 0;
        wheel->pressure = 0;
        wheel->phase = FOLLOW;
        wheel->n_releases = 0;
        wheel->failed = 0;
    }
    pedal.position = 0;
    pedal.redundant = 0;
    pedal.pressed = 0;
    vehicle_speed = 0;
    active = 0;
    warning = NO_WARNING;
}

static int limited(int value, int low, int high)
{
    if (value < low)
        return low;
    if (value > high)
        return high;
    return value;
}

static void read_pedal(int position, int redundant)
{
    int difference = position - redundant;
    pedal.position = limited(position, 0, MAX_PRESSURE);
    pedal.redundant = redundant;
    if (difference > 10 || difference < -10) {
        /* the smaller of the two is used, and the driver is told */
        warning = warning == WARN_SENSOR ? WARN_BOTH : WARN_PEDAL;
        pedal.position = limited(position < redundant ? position : redundant, 0, MAX_PRESSURE);
    }
    pedal.pressed = pedal.position > 3;
}

static void read_wheel(struct wheel *wheel, int speed)
{
    wheel->previous = wheel->speed;
    if (speed < 0 || speed > 400) {
        wheel->failed = 1;
        warning = warning == WARN_PEDAL ? WARN_BOTH : WARN_SENSOR;
        return;
    }
    wheel->failed = 0;
    wheel->speed = speed;
}

/* The fastest wheel that works tells the speed of the vehicle; it falls no faster than brakes can make it. */
static void estimate_speed(void)
{
    int fastest = -1;
    for (int i = 0; i < N_WHEELS; i++) {
        if (!wheels[i].failed && wheels[i].speed > fastest)
            fastest = wheels[i].speed;
    }
    if (fastest < 0)
        return;
    if (fastest < vehicle_speed - 15)
        vehicle_speed -= 15;
    else
        vehicle_speed = fastest;
}

static int slip(const struct wheel *wheel)
{
    if (vehicle_speed < MIN_SPEED)
        return 0;
    return 100 * (vehicle_speed - wheel->speed) / vehicle_speed;
}

static enum phase next_phase(const struct wheel *wheel)
{
    int now = slip(wheel);
    int falling = wheel->speed < wheel->previous;
    switch (wheel->phase) {
    case FOLLOW:
        if (now > 25)
            return RELEASE;
        return now > 15 && falling ? HOLD : FOLLOW;
    case HOLD:
        if (now > 20)
            return RELEASE;
        return now < 10 ? FOLLOW : HOLD;
    case RELEASE:
        return falling ? RELEASE : REAPPLY;
    default:
        if (now > 25)
            return RELEASE;
        return wheel->pressure >= pedal.position ? FOLLOW : REAPPLY;
    }
}

static void control(struct wheel *wheel)
{
    if (wheel->failed || !pedal.pressed) {
        wheel->phase = FOLLOW;
    } else {
        wheel->phase = next_phase(wheel);
    }
    switch (wheel->phase) {
    case FOLLOW:
        wheel->pressure = pedal.position;
        break;
    case HOLD:
        break;
    case RELEASE:
        wheel->n_releases++;
        wheel->pressure = limited(wheel->pressure - RELEASE_STEP, 0, MAX_PRESSURE);
        break;
    default:
        wheel->pressure = limited(wheel->pressure + APPLY_STEP, 0, pedal.position);
    }
}

static void step(const int *speeds)
{
    active = 0;
    for (int i = 0; i < N_WHEELS; i++)
        read_wheel(&wheels[i], speeds[i]);
    estimate_speed();
    for (int i = 0; i < N_WHEELS; i++) {
        control(&wheels[i]);
        if (wheels[i].phase != FOLLOW)
            active++;
    }
}

int brake(const int *speeds, int position, int redundant)
{
    int total = 0;
    reset();
    for (int i = 0; i < N_STEPS; i++) {
        read_pedal(position + i, redundant);
        step(speeds + i * N_WHEELS);
    }
    for (int i = 0; i < N_WHEELS; i++)
        total += wheels[i].pressure + wheels[i].n_releases;
    return warning == NO_WARNING ? total + active : -(int)warning;
}
