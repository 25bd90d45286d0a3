// Two arrays and a flag for each: one is to hold the target somewhere, the other nothing but one number; after sample of paper 2 and its
// source, the chaining approach of Ferguson and Korel.
//@ function: sample
//@ args: --len a=10 --len b=10
//@ branches: 12
//@ infeasible: 0

enum { LENGTH = 10 };

int sample(const int a[LENGTH], const int b[LENGTH], int target)
{
    int i = 0, found_a = 0, found_b = 1, result = 0;

    while (i < LENGTH) {
        if (a[i] == target + 5)
            found_a = 1;
        i++;
    }
    if (found_a) {
        i = 0;
        while (i < LENGTH) {
            if (b[i] != 17)
                found_b = 0;
            i++;
        }
        if (found_b)
            result = 1;
    }
    return result;
}
