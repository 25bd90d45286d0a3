// A count of elements must come out exact behind a loop, and one input with it; after testloop of paper 2, from Fitnex.
//@ function: test_loop
//@ args: --len y=40
//@ branches: 8
//@ infeasible: 0

enum { LENGTH = 40, NEEDED = 24 };

int test_loop(int x, const int y[LENGTH])
{
    if (x != 90)
        return 0;
    for (int i = 0; i < LENGTH; i++) {
        if (y[i] == 15)
            x++;
    }
    if (x == 90 + NEEDED)
        return 2;
    return 1;
}
