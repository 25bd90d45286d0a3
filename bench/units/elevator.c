// An elevator driven by a script of events: a state machine whose far states need several right events in a row.
//@ function: ride
//@ args: --len event=8
//@ branches: 50
//@ infeasible: 1

enum { N_EVENTS = 8, N_FLOORS = 5 };
enum event { NOTHING, CALL_UP, CALL_DOWN, ARRIVED, OPENED, CLOSED, BLOCKED, ALARM, RESET };
enum state { IDLE, MOVING_UP, MOVING_DOWN, OPENING, OPEN, CLOSING, STOPPED };

struct lift {
    enum state state;
    int floor;
    int target;
    int n_blocked;
    int n_rides;
};

static enum state towards(struct lift *lift, int floor)
{
    lift->target = floor;
    if (floor > lift->floor)
        return MOVING_UP;
    if (floor < lift->floor)
        return MOVING_DOWN;
    return OPENING;
}

static void arrive(struct lift *lift)
{
    lift->floor += lift->state == MOVING_UP ? 1 : -1;
    if (lift->floor == lift->target) {
        lift->state = OPENING;
        lift->n_rides++;
    }
}

static enum state close_door(struct lift *lift, enum event event)
{
    if (event == BLOCKED) {
        lift->n_blocked++;
        return lift->n_blocked >= 3 ? STOPPED : OPEN;
    }
    if (event == CLOSED || (event == CALL_UP && lift->floor == N_FLOORS - 1)
        || (event == CALL_DOWN && lift->floor == 0))
        return IDLE;
    return CLOSING;
}

static void step(struct lift *lift, enum event event)
{
    if (event == ALARM && lift->state != OPEN && lift->state != STOPPED) {
        lift->state = STOPPED;
        return;
    }
    switch (lift->state) { /* infeasible: no case matches */
    case IDLE:
        if (event == CALL_UP && lift->floor < N_FLOORS - 1)
            lift->state = towards(lift, lift->floor + 2 < N_FLOORS ? lift->floor + 2 : N_FLOORS - 1);
        else if (event == CALL_DOWN && lift->floor > 0)
            lift->state = towards(lift, 0);
        else if (event == CALL_DOWN)
            lift->state = towards(lift, lift->floor);
        break;
    case MOVING_UP:
    case MOVING_DOWN:
        if (event == ARRIVED)
            arrive(lift);
        break;
    case OPENING:
        if (event == OPENED)
            lift->state = OPEN;
        break;
    case OPEN:
        if (event == NOTHING || event == CLOSED)
            lift->state = CLOSING;
        break;
    case CLOSING:
        lift->state = close_door(lift, event);
        break;
    case STOPPED:
        if (event == RESET && lift->n_blocked < 3) {
            lift->state = IDLE;
            lift->target = lift->floor;
        }
        break;
    }
}

int ride(const unsigned char event[N_EVENTS], int floor)
{
    struct lift lift = {IDLE, 0, 0, 0, 0};

    if (floor < 0 || floor >= N_FLOORS)
        return -1;
    lift.floor = lift.target = floor;
    for (int i = 0; i < N_EVENTS; i++) {
        if (event[i] > RESET)
            return -2;
        step(&lift, (enum event)event[i]);
    }
    if (lift.state == STOPPED && lift.n_blocked > 0 && lift.n_rides > 0)
        return 100;
    if (lift.n_rides == 1 && lift.floor == N_FLOORS - 1 && (lift.state == OPEN || lift.state == CLOSING))
        return 200;
    return lift.state * 10 + lift.floor;
}
