// Collision avoidance between two aircraft: long conjunctions, helper calls inside them, correlated flags; after tcas (papers 3 and 4).
//@ function: advise
//@ branches: 26
//@ infeasible: 1

enum { N_LAYERS = 4, MAX_CLIMB_RATE = 600, SAFE_GAP = 300, CLIMB_COST = 100 };
enum advice { NONE, CLIMB, DESCEND, LEVEL_OFF };
enum intent { SILENT, STAYS_BELOW, STAYS_ABOVE };

struct aircraft {
    int altitude;
    int rate;
    int reliable;
};

struct encounter {
    struct aircraft own;
    struct aircraft other;
    int gap;
    int gap_climbing;
    int gap_descending;
    int layer;
    int equipped;
    int intent;
    int climb_inhibited;
    int previous;
};

static int threshold(int layer)
{
    static const int feet[N_LAYERS] = {400, 500, 640, 740};

    if (layer < 0 || layer >= N_LAYERS)
        return feet[N_LAYERS - 1];
    return feet[layer];
}

static int is_below(const struct encounter *now)
{
    return now->own.altitude < now->other.altitude;
}

static int is_above(const struct encounter *now)
{
    return now->other.altitude < now->own.altitude;
}

static int prefers_climb(const struct encounter *now)
{
    int gain = now->climb_inhibited ? now->gap_climbing - CLIMB_COST : now->gap_climbing;

    return gain > now->gap_descending;
}

static int must_climb(const struct encounter *now)
{
    int least = threshold(now->layer);

    if (prefers_climb(now))
        return !is_below(now) || (is_below(now) && !(now->gap_descending >= least));
    return is_above(now) && now->gap >= SAFE_GAP && now->gap_climbing >= least;
}

static int must_descend(const struct encounter *now)
{
    int least = threshold(now->layer);

    if (prefers_climb(now))
        return is_below(now) && now->gap >= SAFE_GAP && now->gap_descending >= least;
    return !is_above(now) || (is_above(now) && now->gap_climbing >= least);
}

/* Two advices in a row must not contradict each other unless the situation is urgent. */
static enum advice smoothed(const struct encounter *now, enum advice wanted)
{
    int urgent = now->gap < SAFE_GAP / 2 || now->other.rate > MAX_CLIMB_RATE || now->other.rate < -MAX_CLIMB_RATE;

    if (!urgent && ((wanted == CLIMB && now->previous == DESCEND) || (wanted == DESCEND && now->previous == CLIMB)))
        return LEVEL_OFF;
    if (wanted == NONE && now->previous != NONE && now->gap < SAFE_GAP)
        return (enum advice)now->previous;
    return wanted;
}

enum advice advise(struct encounter now)
{
    int enabled, needed_silence, climb, descend;

    if (now.gap < 0 || now.previous < NONE || now.previous > LEVEL_OFF)
        return NONE;
    enabled = now.own.reliable && now.other.reliable && now.own.rate <= MAX_CLIMB_RATE
        && now.gap > threshold(0) / 4;
    needed_silence = now.equipped && now.intent == SILENT;
    if (!enabled || !((now.equipped && needed_silence) || !now.equipped))
        return NONE;

    climb = must_climb(&now) && is_below(&now);
    descend = must_descend(&now) && is_above(&now);
    if (climb && descend) /* infeasible when true: nobody is above and below */
        return NONE;
    if (climb) {
        if (now.intent == STAYS_ABOVE && !now.equipped)
            return smoothed(&now, LEVEL_OFF);
        return smoothed(&now, CLIMB);
    }
    if (descend)
        return smoothed(&now, now.intent == STAYS_BELOW && !now.equipped ? LEVEL_OFF : DESCEND);
    return smoothed(&now, NONE);
}
