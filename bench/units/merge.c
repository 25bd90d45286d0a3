// Merging two sorted slices, with and without duplicates, after checking that they are sorted.
//@ function: merge
//@ args: --len a=4 --len b=4 --len out=8
//@ branches: 30
//@ infeasible: 0

enum { MOST = 4 };
enum mode { KEEP_ALL, UNIQUE, COMMON, ONLY_FIRST };

static int is_sorted(const int v[], int n, int strictly)
{
    for (int i = 1; i < n; i++) {
        if (v[i - 1] > v[i] || (strictly && v[i - 1] == v[i]))
            return 0;
    }
    return 1;
}

int merge(const int a[MOST], int n_a, const int b[MOST], int n_b, int mode, int out[2 * MOST])
{
    int i = 0, j = 0, n = 0;

    if (n_a < 0 || n_a > MOST || n_b < 0 || n_b > MOST || mode < KEEP_ALL || mode > ONLY_FIRST)
        return -1;
    if (!is_sorted(a, n_a, mode != KEEP_ALL) || !is_sorted(b, n_b, mode != KEEP_ALL))
        return -2;
    while (i < n_a && j < n_b) {
        if (a[i] < b[j]) {
            if (mode != COMMON)
                out[n++] = a[i];
            i++;
        } else if (a[i] > b[j]) {
            if (mode == KEEP_ALL || mode == UNIQUE)
                out[n++] = b[j];
            j++;
        } else {
            if (mode == COMMON || mode == UNIQUE) {
                out[n++] = a[i];
                i++;
                j++;
            } else if (mode == ONLY_FIRST) {
                i++;
                j++;
            } else {
                out[n++] = a[i++];
            }
        }
    }
    while (i < n_a && mode != COMMON)
        out[n++] = a[i++];
    while (j < n_b && (mode == KEEP_ALL || mode == UNIQUE))
        out[n++] = b[j++];
    if (n == 2 * MOST && out[0] == out[n - 1])
        return -3; /* all the same */
    if (mode == COMMON && n == 3 && out[1] == 42)
        return 100;
    return n;
}
