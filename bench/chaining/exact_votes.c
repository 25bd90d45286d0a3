// Votes are counted, and a tie of all of them is told from any other result.
//@ function: exact_votes
//@ args: --len votes=18
//@ branches: 12
//@ infeasible: 0

enum { VOTES = 18 };

int exact_votes(const char votes[VOTES])
{
    int yes = 0, no = 0;

    for (int i = 0; i < VOTES; i++) {
        if (votes[i] == 'y')
            yes++;
        else if (votes[i] == 'n')
            no++;
    }
    if (yes == 9) {
        if (no == 9)
            return 2;
        return 1;
    }
    if (no == 17)
        return 3;
    return 0;
}
