// Avoidance logic: decides whether an aircraft climbs, descends or holds, from twelve numbers on the command line.
#include <stdio.h>
#include <stdlib.h>

enum { ADVICE_HOLD = 0, ADVICE_CLIMB = 1, ADVICE_DESCEND = 2 };
enum { PEER_NONE = 0, PEER_UP = 1, PEER_DOWN = 2 };

#define CEILING 450
#define SLOW_RATE 40
#define MERGE_BAND 350
#define FAR_BAND 900
#define ROOM 120

struct situation {
    int own_height;
    int own_rate;
    int other_height;
    int other_rate;
    int is_confident;
    int two_reports;
    int band;
    int room_above;
    int room_below;
    int peer_advice;
    int is_equipped;
    int is_inhibited;
};

static const int margins[4] = {300, 420, 600, 720};

static int margin(const struct situation *s)
{
    return margins[s->band];
}

static int climb_room(const struct situation *s)
{
    return s->is_inhibited ? s->room_above + ROOM : s->room_above;
}

static int own_is_below(const struct situation *s)
{
    return s->own_height < s->other_height;
}

static int own_is_above(const struct situation *s)
{
    return s->other_height < s->own_height;
}

static int prefers_climb(const struct situation *s)
{
    return climb_room(s) > s->room_below;
}

static int climb_is_safe(const struct situation *s)
{
    if (prefers_climb(s))
        return !own_is_below(s) || (own_is_below(s) && s->room_below < margin(s));
    return own_is_above(s) && s->own_rate <= SLOW_RATE && s->room_above >= margin(s);
}

static int descent_is_safe(const struct situation *s)
{
    if (prefers_climb(s))
        return own_is_below(s) && s->own_rate >= -SLOW_RATE && s->room_below >= margin(s);
    return !own_is_above(s) || (own_is_above(s) && s->room_above >= margin(s));
}

static int is_merging(const struct situation *s)
{
    int apart = s->own_height - s->other_height;
    if (apart < 0)
        apart = -apart;
    if (apart > FAR_BAND)
        return 0;
    if (apart <= MERGE_BAND)
        return 1;
    if (own_is_below(s) && s->own_rate - s->other_rate > SLOW_RATE)
        return 1;
    if (own_is_above(s) && s->other_rate - s->own_rate > SLOW_RATE)
        return 1;
    return 0;
}

static int advise(const struct situation *s)
{
    int is_enabled = s->is_confident && s->own_rate <= CEILING && is_merging(s);
    int is_known = s->is_equipped && s->peer_advice != PEER_NONE;
    int is_vague = s->two_reports && !is_known;
    int advice = ADVICE_HOLD;

    if (is_enabled && ((s->is_equipped && is_vague) || !s->is_equipped)) {
        int up = climb_is_safe(s) && own_is_below(s);
        int down = descent_is_safe(s) && own_is_above(s);
        if (up && down)
            advice = ADVICE_HOLD;
        else if (up)
            advice = ADVICE_CLIMB;
        else if (down)
            advice = ADVICE_DESCEND;
        else
            advice = ADVICE_HOLD;
    } else if (is_enabled && is_known) {
        switch (s->peer_advice) {
        case PEER_UP:
            advice = descent_is_safe(s) ? ADVICE_DESCEND : ADVICE_HOLD;
            break;
        case PEER_DOWN:
            advice = climb_is_safe(s) ? ADVICE_CLIMB : ADVICE_HOLD;
            break;
        default:
            advice = ADVICE_HOLD;
        }
    }
    return advice;
}

static int is_sound(const struct situation *s)
{
    if (s->own_height < 0 || s->own_height > 60000) {
        printf("own height out of range\n");
        return 0;
    }
    if (s->other_height < 0 || s->other_height > 60000) {
        printf("other height out of range\n");
        return 0;
    }
    if (s->band < 0 || s->band > 3) {
        printf("no such band: %d\n", s->band);
        return 0;
    }
    if (s->peer_advice != PEER_NONE && s->peer_advice != PEER_UP && s->peer_advice != PEER_DOWN) {
        printf("no such advice: %d\n", s->peer_advice);
        return 0;
    }
    return 1;
}

int main(int argc, char **argv)
{
    struct situation s;
    if (argc < 13) {
        printf("usage: avoid own-height own-rate other-height other-rate confident two-reports band "
               "room-above room-below peer equipped inhibited\n");
        return 1;
    }
    s.own_height = atoi(argv[1]);
    s.own_rate = atoi(argv[2]);
    s.other_height = atoi(argv[3]);
    s.other_rate = atoi(argv[4]);
    s.is_confident = atoi(argv[5]);
    s.two_reports = atoi(argv[6]);
    s.band = atoi(argv[7]);
    s.room_above = atoi(argv[8]);
    s.room_below = atoi(argv[9]);
    s.peer_advice = atoi(argv[10]);
    s.is_equipped = atoi(argv[11]);
    s.is_inhibited = atoi(argv[12]);
    if (!is_sound(&s))
        return 2;
    switch (advise(&s)) {
    case ADVICE_CLIMB:
        puts("climb");
        break;
    case ADVICE_DESCEND:
        puts("descend");
        break;
    default:
        puts("hold");
    }
    return 0;
}
