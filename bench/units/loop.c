// Counters that loops build up and conditions after them compare; after the example with which paper 1 explains where PPS spins.
//@ function: loop
//@ args: --len v=6
//@ branches: 26
//@ infeasible: 0

enum { LENGTH = 6, MARK = 3 };

int loop(const int v[LENGTH], int x, int mode)
{
    int n_marks = 0;
    int n_runs = 0;
    int longest = 0;
    int run = 0;

    if (x != 2 && x != 5)
        return -1;
    for (int i = 0; i < LENGTH; i++) {
        if (v[i] == MARK) {
            n_marks++;
            run++;
        } else {
            if (run > 0)
                n_runs++;
            run = 0;
        }
        if (run > longest)
            longest = run;
    }
    if (run > 0)
        n_runs++;

    if (x == 2 && n_marks == 4)
        return 1;
    if (x == 5 && n_runs == 3 && longest == 1)
        return 2;
    switch (mode) {
    case 0:
        return n_marks == LENGTH ? 3 : 4;
    case 1:
        return longest >= 2 && n_runs == 2 ? 5 : 6;
    case 2:
        if (n_marks > 1 && longest == n_marks)
            return 7;
        break;
    default:
        break;
    }
    return 0;
}
