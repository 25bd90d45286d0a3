// Collision avoidance with all its state in globals: long conjunctions, helpers called inside them, a resolution that persists.
//@ function: avoid
//@ branches: 52
//@ infeasible: 1

enum { N_LAYERS = 4, OLD_TRACK = 600, MIN_GAP = 300, CLIMB_BONUS = 100, NEAR = 950 };
enum resolution { UNRESOLVED, UPWARD, DOWNWARD, LEVEL };
enum intent { NO_INTENT, WILL_NOT_CLIMB, WILL_NOT_DESCEND };
enum equipment { EQUIPPED, TRANSPONDER_ONLY, UNKNOWN_EQUIPMENT };

static int own_altitude;
static int own_rate;
static int own_inhibited;
static int other_altitude;
static int other_rate;
static int other_age;
static enum intent other_intent;
static enum equipment other_equipment;
static int vertical_gap;
static int gap_if_up;
static int gap_if_down;
static int layer;
static int high_confidence;
static int two_reports;
static int thresholds[N_LAYERS];
static enum resolution resolution;
static enum resolution previous;
static int n_reversals;

static void set_thresholds(void)
{
    thresholds[0] = 400;
    thresholds[1] = 500;
    thresholds[2] = 640;
    thresholds[3] = 740;
}

static int threshold(void)
{
    return thresholds[layer];
}

static int find_layer(int altitude)
{
    if (altitude < 1000)
        return 0;
    if (altitude < 5000)
        return 1;
    if (altitude < 20000)
        return 2;
    return 3;
}

static int absolute(int value)
{
    return value < 0 ? -value : value;
}

/* Where both will be shortly, as far as rates tell. */
static void predict(void)
{
    int own_later = own_altitude + 2 * own_rate;
    int other_later = other_altitude + 2 * other_rate;
    vertical_gap = absolute(own_altitude - other_altitude);
    gap_if_up = absolute(own_later + MIN_GAP - other_later);
    gap_if_down = absolute(own_later - MIN_GAP - other_later);
}

static int biased_climb(void)
{
    return own_inhibited ? gap_if_up + CLIMB_BONUS : gap_if_up;
}

static int own_below(void)
{
    return own_altitude < other_altitude;
}

static int own_above(void)
{
    return other_altitude < own_altitude;
}

static int crossing_climb(void)
{
    if (biased_climb() > gap_if_down)
        return !own_below() || (own_below() && gap_if_down < threshold());
    return own_above() && vertical_gap >= MIN_GAP && gap_if_up >= threshold();
}

static int crossing_descend(void)
{
    if (biased_climb() > gap_if_down)
        return own_below() && vertical_gap >= MIN_GAP && gap_if_down >= threshold();
    return !own_above() || (own_above() && gap_if_up >= threshold());
}

static int is_threat(void)
{
    if (!high_confidence || own_rate > OLD_TRACK)
        return 0;
    return vertical_gap < NEAR || other_age > OLD_TRACK;
}

static int may_choose_freely(void)
{
    if (other_equipment == EQUIPPED)
        return two_reports && other_intent == NO_INTENT;
    return other_equipment == TRANSPONDER_ONLY;
}

static enum resolution resolve(void)
{
    int wants_up, wants_down;
    if (!is_threat())
        return UNRESOLVED;
    if (!may_choose_freely() && other_equipment == EQUIPPED) {
        /* the other has said what it will do: do the opposite */
        if (other_intent == WILL_NOT_CLIMB)
            return UPWARD;
        return other_intent == WILL_NOT_DESCEND ? DOWNWARD : LEVEL;
    }
    wants_up = crossing_climb() && own_below();
    wants_down = crossing_descend() && own_above();
    if (wants_up && wants_down) /* infeasible when true: nobody is both below and above the other */
        return UNRESOLVED;
    if (wants_up)
        return UPWARD;
    if (wants_down)
        return DOWNWARD;
    return previous == LEVEL ? LEVEL : UNRESOLVED;
}

static void keep_or_reverse(void)
{
    if (previous == UPWARD && resolution == DOWNWARD)
        n_reversals++;
    else if (previous == DOWNWARD && resolution == UPWARD)
        n_reversals++;
    if (n_reversals > 1)
        resolution = LEVEL;
    previous = resolution;
}

static void fly(void)
{
    if (resolution == UPWARD && !own_inhibited)
        own_rate += 150;
    else if (resolution == DOWNWARD)
        own_rate -= 150;
    own_altitude += own_rate;
    other_altitude += other_rate;
    other_age += 100;
}

int avoid(int altitude, int rate, int inhibited, int its_altitude, int its_rate, unsigned equipment, unsigned intent, int flags)
{
    if (altitude < 0 || altitude > 50000 || its_altitude < 0 || its_altitude > 50000)
        return -1;
    if (absolute(rate) > 2000 || absolute(its_rate) > 2000)
        return -1;
    own_altitude = altitude;
    own_rate = rate;
    own_inhibited = inhibited;
    other_altitude = its_altitude;
    other_rate = its_rate;
    other_age = 0;
    other_equipment = (enum equipment)(equipment % 3);
    high_confidence = flags & 1;
    two_reports = flags & 2;
    previous = flags & 4 ? LEVEL : UNRESOLVED;
    n_reversals = 0;
    set_thresholds();
    for (int i = 0; i < 3; i++) {
        /* what the other says may change from report to report */
        other_intent = (enum intent)(intent % 3);
        intent /= 3;
        layer = find_layer(own_altitude);
        predict();
        resolution = resolve();
        keep_or_reverse();
        fly();
    }
    return (int)resolution * 10 + n_reversals;
}
