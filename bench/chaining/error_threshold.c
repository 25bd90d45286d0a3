// Errors are counted down by good frames, and a link fails at a threshold that only a series of bad frames reaches.
//@ function: error_threshold
//@ args: --len frames=20
//@ branches: 14
//@ infeasible: 0

enum { FRAMES = 20, THRESHOLD = 12, GOOD = 0xa5 };

int error_threshold(const unsigned char frames[FRAMES])
{
    int errors = 0, failed = 0;

    for (int i = 0; i < FRAMES; i++) {
        if (frames[i] == GOOD) {
            if (errors > 0)
                errors -= 2;
        } else if (frames[i] > 0xf0) {
            errors++;
        }
        if (errors >= THRESHOLD)
            failed = 1;
    }
    if (failed) {
        if (errors < 4)
            return 2;
        return 1;
    }
    return 0;
}
