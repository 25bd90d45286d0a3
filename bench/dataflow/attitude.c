// Attitude control of a satellite: floats in structures, estimation from sensors that fail, modes, limits and thrusters.
//@ function: attitude
//@ args: --len samples=8
//@ branches: 75
//@ infeasible: 0

enum { N_AXES = 2, N_STEPS = 2, N_THRUSTERS = 4 };
enum mode { DETUMBLE, ACQUIRE, POINT, SAFE };
enum sensor_state { GOOD, NOISY, LOST };

struct axis {
    double angle;
    double rate;
    double integral;
    double torque;
    enum sensor_state sensor;
};

struct thruster {
    int axis;
    int sign;
    int on;
    int n_pulses;
};

static struct axis axes[N_AXES];
static struct thruster thrusters[N_THRUSTERS];
static enum mode mode;
static double fuel;
static int n_safe;

static double magnitude(double value)
{
    return value < 0 ? -value : value;
}

static double limited(double value, double limit)
{
    if (value > limit)
        return limit;
    if (value < -limit)
        return -limit;
    return value;
}

static double wrapped(double angle)
{
    if (angle > 180)
        return angle - 360;
    if (angle < -180)
        return angle + 360;
    return angle;
}

static void initialise(double initial_fuel)
{
    for (int i = 0; i < N_AXES; i++) {
        axes[i].angle = 0;
        axes[i].rate = 0;
        axes[i].integral = 0;
        axes[i].torque = 0;
        axes[i].sensor = GOOD;
    }
    for (int i = 0; i < N_THRUSTERS; i++) {
        thrusters[i].axis = i / 2;
        thrusters[i].sign = i % 2 ? -1 : 1;
        thrusters[i].on = 0;
        thrusters[i].n_pulses = 0;
    }
    mode = DETUMBLE;
    fuel = initial_fuel;
    n_safe = 0;
}

static enum sensor_state judge(const struct axis *axis, double angle, double rate)
{
    if (!(angle >= -360 && angle <= 360))
        return LOST;
    if (magnitude(rate) > 50)
        return LOST;
    if (axis->sensor == LOST)
        return NOISY;
    return magnitude(angle - axis->angle) > 90 ? NOISY : GOOD;
}

static void estimate(struct axis *axis, double angle, double rate)
{
    axis->sensor = judge(axis, angle, rate);
    switch (axis->sensor) {
    case GOOD:
        axis->angle = wrapped(angle);
        axis->rate = rate;
        break;
    case NOISY:
        axis->angle = wrapped((axis->angle + angle) / 2);
        axis->rate = rate / 2;
        break;
    default:
        /* go on with what was known */
        axis->angle = wrapped(axis->angle + axis->rate);
    }
}

static int n_lost(void)
{
    int n = 0;
    for (int i = 0; i < N_AXES; i++) {
        if (axes[i].sensor == LOST)
            n++;
    }
    return n;
}

static double fastest(void)
{
    double found = 0;
    for (int i = 0; i < N_AXES; i++) {
        if (magnitude(axes[i].rate) > found)
            found = magnitude(axes[i].rate);
    }
    return found;
}

static double worst_angle(void)
{
    double found = 0;
    for (int i = 0; i < N_AXES; i++) {
        if (magnitude(axes[i].angle) > found)
            found = magnitude(axes[i].angle);
    }
    return found;
}

static enum mode next_mode(void)
{
    if (n_lost() == N_AXES || fuel <= 0)
        return SAFE;
    switch (mode) {
    case DETUMBLE:
        return fastest() < 2 ? ACQUIRE : DETUMBLE;
    case ACQUIRE:
        if (fastest() > 10)
            return DETUMBLE;
        return worst_angle() < 5 ? POINT : ACQUIRE;
    case POINT:
        return worst_angle() > 15 ? ACQUIRE : POINT;
    default:
        n_safe++;
        return DETUMBLE;
    }
}

static void command_torque(struct axis *axis)
{
    switch (mode) {
    case DETUMBLE:
        axis->torque = limited(-axis->rate, 1.0);
        break;
    case ACQUIRE:
        axis->torque = limited(-0.1 * axis->angle - axis->rate, 1.0);
        break;
    case POINT:
        axis->integral = limited(axis->integral + axis->angle, 20.0);
        axis->torque = limited(-0.05 * axis->angle - 0.01 * axis->integral - axis->rate, 0.5);
        break;
    default:
        axis->integral = 0;
        axis->torque = 0;
    }
}

static void fire(struct thruster *thruster)
{
    double wanted = axes[thruster->axis].torque * thruster->sign;
    int on = wanted > (thruster->on ? 0.1 : 0.3);
    if (on && !thruster->on)
        thruster->n_pulses++;
    thruster->on = on;
    if (on)
        fuel -= wanted;
}

static void step(const double *samples)
{
    for (int i = 0; i < N_AXES; i++)
        estimate(&axes[i], samples[2 * i], samples[2 * i + 1]);
    mode = next_mode();
    for (int i = 0; i < N_AXES; i++)
        command_torque(&axes[i]);
    for (int i = 0; i < N_THRUSTERS; i++)
        fire(&thrusters[i]);
}

int attitude(const double *samples, double initial_fuel, int start)
{
    int n_pulses = 0;
    initialise(initial_fuel);
    if (start >= DETUMBLE && start <= SAFE)
        mode = (enum mode)start;
    for (int i = 0; i < N_STEPS; i++)
        step(samples + i * 2 * N_AXES);
    for (int i = 0; i < N_THRUSTERS; i++)
        n_pulses += thrusters[i].n_pulses;
    return (int)mode * 100 + n_pulses * 10 + n_safe;
}
