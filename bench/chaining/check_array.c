// Whether all twenty elements are as wanted, told by a flag that one wrong element clears; CheckArray of paper 2.
//@ function: check_array
//@ args: --len a=20
//@ branches: 6
//@ infeasible: 0

enum { LENGTH = 20, WANTED = 25 };

int check_array(const int a[LENGTH])
{
    int success = 1;

    for (int i = 0; i < LENGTH; i++) {
        if (a[i] != WANTED)
            success = 0;
    }
    if (success)
        return 1;
    return 0;
}
