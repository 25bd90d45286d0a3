// Traffic lights at a crossing with a tram: timers, requests and a fault mode, stepped over a few inputs.
//@ function: run_crossing
//@ args: --len sensors=6
//@ branches: 38
//@ infeasible: 1

enum { N_STEPS = 6, SHORT = 2, LONG = 3 };
enum { CAR_WAITS = 1, WALKER_WAITS = 2, TRAM_COMES = 4, LAMP_FAULT = 8, NIGHT = 16 };
enum phase { MAIN_GREEN, MAIN_YELLOW, SIDE_GREEN, SIDE_YELLOW, WALK, TRAM, BLINKING };

struct crossing {
    enum phase phase;
    int timer;
    int walker_asked;
    int n_trams;
};

static void enter(struct crossing *crossing, enum phase phase)
{
    crossing->phase = phase;
    crossing->timer = 0;
}

static void leave_main(struct crossing *crossing, unsigned sensors)
{
    if (sensors & TRAM_COMES && crossing->n_trams < 2) {
        crossing->n_trams++;
        enter(crossing, TRAM);
    } else if (crossing->walker_asked) {
        crossing->walker_asked = 0;
        enter(crossing, WALK);
    } else if (sensors & CAR_WAITS) {
        enter(crossing, SIDE_GREEN);
    } else {
        enter(crossing, MAIN_GREEN);
    }
}

static void step(struct crossing *crossing, unsigned sensors)
{
    int wanted = (sensors & (CAR_WAITS | TRAM_COMES)) || crossing->walker_asked;

    crossing->timer++;
    if (sensors & WALKER_WAITS && crossing->phase != WALK)
        crossing->walker_asked = 1;
    if ((sensors & LAMP_FAULT) || (sensors & NIGHT && !(sensors & TRAM_COMES) && crossing->phase == MAIN_GREEN)) {
        enter(crossing, BLINKING);
        return;
    }
    switch (crossing->phase) {
    case MAIN_GREEN:
        if (wanted && (crossing->timer >= LONG || sensors & TRAM_COMES))
            enter(crossing, MAIN_YELLOW);
        break;
    case MAIN_YELLOW:
        leave_main(crossing, sensors);
        break;
    case SIDE_GREEN:
        if (crossing->timer >= SHORT || !(sensors & CAR_WAITS))
            enter(crossing, SIDE_YELLOW);
        break;
    case SIDE_YELLOW:
    case WALK:
        if (crossing->phase == SIDE_YELLOW || crossing->timer >= SHORT)
            enter(crossing, MAIN_GREEN);
        break;
    case TRAM:
        if (!(sensors & TRAM_COMES))
            enter(crossing, crossing->walker_asked ? WALK : MAIN_GREEN);
        break;
    case BLINKING:
        if (!(sensors & NIGHT) && crossing->timer > SHORT)
            enter(crossing, MAIN_YELLOW);
        break;
    default: /* infeasible: every phase has its case */
        return;
    }
}

int run_crossing(const unsigned char sensors[N_STEPS], int start_blinking)
{
    struct crossing crossing = {MAIN_GREEN, 0, 0, 0};

    if (start_blinking)
        enter(&crossing, BLINKING);
    for (int i = 0; i < N_STEPS; i++)
        step(&crossing, sensors[i]);
    if (crossing.n_trams == 2 && crossing.phase == WALK)
        return -1;
    return crossing.walker_asked && crossing.phase == TRAM ? 100 : (int)crossing.phase;
}
