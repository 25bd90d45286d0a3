// Collision avoidance in the size of the classic subject: one call takes what is known of two aircraft and gives an advisory.
//@ function: advise
//@ branches: 94
//@ infeasible: 1

enum { CLEAR = 0, TRAFFIC = 1, CLIMB = 2, DESCEND = 3, LEVEL_OFF = 4, TURN_LEFT = 5, TURN_RIGHT = 6 };
enum { NEAR_RANGE = 1200, MIN_SEPARATION = 300, MAX_RATE = 600, CEILING = 41000, FLOOR = 1000, BONUS = 100 };

struct state {
    int altitude;
    int rate;
    int heading;
    int speed;
};

static int positive(int value)
{
    return value < 0 ? -value : value;
}

static int sensitivity(int altitude)
{
    if (altitude < 1000)
        return 0;
    if (altitude < 5000)
        return 1;
    if (altitude < 20000)
        return 2;
    return 3;
}

static int separation_wanted(int level)
{
    switch (level) {
    case 0:
        return 400;
    case 1:
        return 500;
    case 2:
        return 640;
    default:
        return 740;
    }
}

static int is_valid(const struct state *own, const struct state *other)
{
    if (own->altitude < 0 || own->altitude > 60000 || other->altitude < 0 || other->altitude > 60000)
        return 0;
    if (positive(own->rate) > 3000 || positive(other->rate) > 3000)
        return 0;
    return own->heading >= 0 && own->heading < 360 && other->heading >= 0 && other->heading < 360;
}

static int is_near(int range, int closing)
{
    if (closing <= 0)
        return range < NEAR_RANGE / 2;
    return range < NEAR_RANGE || range / closing < 40;
}

static int climb_would_do(const struct state *own, const struct state *other, int wanted)
{
    int later = own->altitude + 2 * own->rate + MIN_SEPARATION;
    if (own->altitude > CEILING)
        return 0;
    return later - (other->altitude + 2 * other->rate) >= wanted;
}

static int descent_would_do(const struct state *own, const struct state *other, int wanted)
{
    int later = own->altitude + 2 * own->rate - MIN_SEPARATION;
    if (own->altitude < FLOOR || later < FLOOR)
        return 0;
    return other->altitude + 2 * other->rate - later >= wanted;
}

static int vertical(const struct state *own, const struct state *other, int inhibited, int intent)
{
    int wanted = separation_wanted(sensitivity(own->altitude));
    int up = climb_would_do(own, other, wanted);
    int down = descent_would_do(own, other, wanted);
    if (intent == 1 && up)
        return DESCEND;
    if (intent == 2 && !inhibited)
        return CLIMB;
    if (up && !inhibited && (!down || own->altitude > other->altitude))
        return CLIMB;
    if (down && own->altitude <= other->altitude)
        return DESCEND;
    if (positive(own->rate) > MAX_RATE)
        return LEVEL_OFF;
    return TRAFFIC;
}

static int horizontal(const struct state *own, const struct state *other, int bearing)
{
    int crossing = positive(own->heading - other->heading);
    if (own->speed < 60 || other->speed > 600)
        return CLEAR;
    if (crossing > 170 && crossing < 190)
        return TURN_RIGHT;
    if (bearing > 0 && bearing < 110)
        return own->speed > other->speed ? TURN_LEFT : CLEAR;
    if (bearing < 0 && bearing > -110)
        return TURN_RIGHT;
    return CLEAR;
}

static int volume(int advisory, int cabin_noise, int muted)
{
    int loudness = 3;
    if (advisory == CLEAR)
        return 0;
    if (cabin_noise > 80 || advisory == CLIMB || advisory == DESCEND)
        loudness += 2;
    if (muted && advisory == TRAFFIC)
        loudness = 1;
    return loudness;
}

static int log_code(int quality, int reports)
{
    if (quality < 3 && reports < 2)
        return 9;
    if (reports > 10 || quality > 7)
        return 1;
    return 5;
}

int advise(struct state own, struct state other, int range, int closing, int bearing, int inhibited, int intent,
           int cabin_noise, int muted, int quality, int reports)
{
    int advisory = CLEAR;
    int turn = CLEAR;
    int code = log_code(quality, reports);
    if (!is_valid(&own, &other))
        return -1;
    if (quality > 1 && is_near(range, closing)) {
        advisory = vertical(&own, &other, inhibited, intent);
        if (advisory == TRAFFIC || advisory == LEVEL_OFF)
            turn = horizontal(&own, &other, bearing);
    }
    return advisory + 10 * turn + 100 * volume(advisory, cabin_noise, muted) + 1000 * code;
}
