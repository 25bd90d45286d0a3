// Flags that one bad element among many clears, tested after the loop; after CheckArray (paper 2).
//@ function: check_array
//@ args: --len a=10
//@ branches: 22
//@ infeasible: 0

enum { LENGTH = 10, WANTED = 25 };

int check_array(const int a[LENGTH], int n, int strict)
{
    int all_wanted = 1, rising = 1, any_negative = 0;
    int n_equal = 0;

    if (n <= 0 || n > LENGTH)
        return -1;
    for (int i = 0; i < n; i++) {
        if (a[i] != WANTED)
            all_wanted = 0;
        if (i > 0 && a[i] <= a[i - 1])
            rising = 0;
        if (a[i] < 0)
            any_negative = 1;
        if (i > 0 && a[i] == a[0])
            n_equal++;
    }
    if (all_wanted && n == LENGTH)
        return 1;
    if (rising && n > 4 && !any_negative)
        return 2;
    if (strict && (any_negative || n_equal >= n / 2)) {
        if (n_equal > 3 && any_negative)
            return 3;
        return 4;
    }
    return all_wanted || rising ? 5 : 6;
}
