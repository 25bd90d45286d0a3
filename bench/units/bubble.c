// Bubble sort in both directions over a slice that inputs choose, with an early end; after the example of paper 1.
//@ function: bubble
//@ args: --len v=6
//@ branches: 18
//@ infeasible: 0

enum { MAX_LENGTH = 6 };

static void swap(int v[], int i, int j)
{
    int kept = v[i];

    v[i] = v[j];
    v[j] = kept;
}

/* Whether v[low] .. v[high] goes upwards, or downwards. */
static int in_order(const int v[], int low, int high, int downwards)
{
    for (int at = low; at < high; at++) {
        if ((!downwards && v[at] > v[at + 1]) || (downwards && v[at] < v[at + 1]))
            return 0;
    }
    return 1;
}

/* Sorts v[low] .. v[high]; the number of rounds it took, or -1 for a slice that is none. */
int bubble(int v[MAX_LENGTH], int low, int high, int downwards)
{
    int rounds = 0;
    int changed = 1;

    if (low < 0 || high >= MAX_LENGTH || low > high)
        return -1;
    if (in_order(v, low, high, downwards))
        return 0;
    for (int last = high; last > low && changed; last--) {
        changed = 0;
        for (int at = low; at < last; at++) {
            int wrong = downwards ? v[at] < v[at + 1] : v[at] > v[at + 1];

            if (wrong) {
                swap(v, at, at + 1);
                changed = 1;
            }
        }
        rounds++;
    }
    if (changed && rounds == high - low && rounds > 3)
        return rounds + 100; /* as far from sorted as it can be */
    return rounds;
}
