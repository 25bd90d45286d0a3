// A watchdog must be fed in time: too many ticks without food end the run, and only a run that never was late is a good one.
//@ function: watchdog
//@ args: --len ticks=24
//@ branches: 10
//@ infeasible: 0

enum { TICKS = 24, PATIENCE = 5, FOOD = 'f' };

int watchdog(const char ticks[TICKS])
{
    int hunger = 0, meals = 0, late = 0;

    for (int i = 0; i < TICKS; i++) {
        if (ticks[i] == FOOD) {
            hunger = 0;
            meals++;
        } else {
            hunger++;
        }
        if (hunger > PATIENCE)
            late = 1;
    }
    if (late)
        return -1;
    if (meals == 6)
        return 2;
    return 1;
}
