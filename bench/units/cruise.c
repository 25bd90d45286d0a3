// A cruise control: modes, switches and limits decided by long conditions; the kind of logic MC/DC is asked for.
//@ function: control
//@ branches: 40
//@ infeasible: 0

enum mode { OFF, STANDBY, HOLDING, RESUMING, OVERRIDDEN };
enum { MIN_SPEED = 40, MAX_SPEED = 180, GEAR_MIN = 3 };

struct cabin {
    int mode;
    int speed;
    int target;
    int pedal;     /* accelerator, 0 .. 100 */
    int gear;
    unsigned brake : 1;
    unsigned clutch : 1;
    unsigned on : 1;
    unsigned set : 1;
    unsigned resume : 1;
    unsigned skidding : 1;
    unsigned fault : 1;
};

static int may_hold(const struct cabin *cabin)
{
    return cabin->speed >= MIN_SPEED && cabin->speed <= MAX_SPEED && cabin->gear >= GEAR_MIN && !cabin->brake
        && !cabin->clutch && !cabin->skidding;
}

static int must_release(const struct cabin *cabin)
{
    if (cabin->brake || cabin->clutch)
        return 1;
    return (cabin->skidding && cabin->speed > MIN_SPEED) || cabin->gear < GEAR_MIN
        || (cabin->mode == HOLDING && (cabin->speed < cabin->target - 15 || cabin->speed > cabin->target + 25));
}

static int next_mode(const struct cabin *cabin)
{
    if (cabin->fault || !cabin->on)
        return OFF;
    switch (cabin->mode) {
    case OFF:
        return cabin->pedal == 0 || cabin->speed > 0 ? STANDBY : OFF;
    case STANDBY:
        if (cabin->set && may_hold(cabin))
            return HOLDING;
        if (cabin->resume && cabin->target >= MIN_SPEED && cabin->target <= MAX_SPEED && may_hold(cabin))
            return cabin->speed == cabin->target ? HOLDING : RESUMING;
        return STANDBY;
    case HOLDING:
        if (must_release(cabin))
            return STANDBY;
        return cabin->pedal > 60 ? OVERRIDDEN : HOLDING;
    case RESUMING:
        if (must_release(cabin) || cabin->pedal > 90)
            return STANDBY;
        return cabin->speed >= cabin->target - 1 && cabin->speed <= cabin->target + 1 ? HOLDING : RESUMING;
    case OVERRIDDEN:
        if (must_release(cabin))
            return STANDBY;
        return cabin->pedal < 10 || (cabin->set && cabin->pedal < 60) ? RESUMING : OVERRIDDEN;
    default:
        return OFF;
    }
}

/* The throttle in percent, or -1 when the driver has it. */
int control(struct cabin cabin)
{
    int mode = next_mode(&cabin);
    int wanted;

    if (mode != HOLDING && mode != RESUMING)
        return -1;
    wanted = cabin.target - cabin.speed;
    if (mode == HOLDING && cabin.set && !cabin.resume)
        wanted = 0;
    if (wanted > 20)
        return mode == RESUMING && cabin.gear > 4 ? 80 : 100;
    if (wanted < -20)
        return 0;
    return 40 + wanted;
}
