// Wheel brakes of an aircraft: three channels of sensors compared, pedals, anti-skid, a fall-back; after WBS and ASW (paper 4).
//@ function: brake_command
//@ branches: 34
//@ infeasible: 0

enum { TOLERANCE = 5, MAX_PEDAL = 100, SKID_SLIP = 30, LANDED_SPEED = 60 };
enum source { NORMAL, ALTERNATE, EMERGENCY, RELEASED };

struct channel {
    short pedal;
    short wheel_speed;
    unsigned char valid;
};

struct aircraft {
    struct channel channel[3];
    short ground_speed;
    unsigned char on_ground;
    unsigned char auto_mode;   /* 0 off, 1 low, 2 high, 3 rejected take-off */
    unsigned char pressure_low;
    unsigned char lever_pulled;
};

static int close_to(int a, int b)
{
    return a - b <= TOLERANCE && b - a <= TOLERANCE;
}

/* The pedal on which two valid channels agree, or -1. */
static int voted_pedal(const struct channel c[3])
{
    for (int i = 0; i < 3; i++) {
        int other = (i + 1) % 3;

        if (c[i].valid && c[other].valid && close_to(c[i].pedal, c[other].pedal)) {
            int mean = (c[i].pedal + c[other].pedal) / 2;

            return mean < 0 || mean > MAX_PEDAL ? -1 : mean;
        }
    }
    return -1;
}

static int is_skidding(const struct aircraft *aircraft)
{
    int n_slow = 0;

    if (aircraft->ground_speed < LANDED_SPEED / 3)
        return 0;
    for (int i = 0; i < 3; i++) {
        if (aircraft->channel[i].valid && aircraft->ground_speed - aircraft->channel[i].wheel_speed > SKID_SLIP)
            n_slow++;
    }
    return n_slow >= 2;
}

static int automatic(const struct aircraft *aircraft)
{
    switch (aircraft->auto_mode) {
    case 1:
        return 30;
    case 2:
        return 60;
    case 3:
        return aircraft->ground_speed > LANDED_SPEED && !aircraft->pressure_low ? 100 : 0;
    default:
        return 0;
    }
}

/* Source times 1000 plus the pressure commanded. */
int brake_command(struct aircraft aircraft)
{
    int pedal = voted_pedal(aircraft.channel);
    int wanted;

    if (!aircraft.on_ground && !(aircraft.lever_pulled && aircraft.ground_speed < LANDED_SPEED))
        return RELEASED * 1000;
    if (pedal < 0 && (aircraft.lever_pulled || aircraft.auto_mode == 0))
        return EMERGENCY * 1000 + (aircraft.lever_pulled ? 50 : 0);
    wanted = automatic(&aircraft);
    if (pedal > wanted || (pedal > 0 && aircraft.auto_mode != 3))
        wanted = pedal;
    if (is_skidding(&aircraft))
        wanted = wanted > 40 ? wanted / 4 : 0;
    if (aircraft.pressure_low || (aircraft.lever_pulled && pedal < 0)) {
        if (wanted > 80 && aircraft.ground_speed > 2 * LANDED_SPEED)
            return ALTERNATE * 1000 + 80;
        return ALTERNATE * 1000 + wanted;
    }
    return NORMAL * 1000 + wanted;
}
