// Two series of readings must both be quiet, and one of them must have had a peak before the end.
//@ function: two_sensors
//@ args: --len left=12 --len right=12
//@ branches: 14
//@ infeasible: 0

enum { READINGS = 12, QUIET = 40, PEAK = 35 };

int two_sensors(const short left[READINGS], const short right[READINGS])
{
    int left_quiet = 1, right_quiet = 1, peak = 0;

    for (int i = 0; i < READINGS; i++)
        if (left[i] > QUIET || left[i] < -QUIET)
            left_quiet = 0;
    for (int i = 0; i < READINGS; i++) {
        if (right[i] < 10)
            right_quiet = 0;
        if (right[i] == PEAK)
            peak = 1;
    }
    if (left_quiet && right_quiet) {
        if (peak)
            return 2;
        return 1;
    }
    return 0;
}
