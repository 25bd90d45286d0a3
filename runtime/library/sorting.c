/* Sorting and searching with a comparison function of the program, which is followed because it is called from here. */

typedef int (*LIB(order))(const void *, const void *);
typedef int (*LIB(order_with))(const void *, const void *, void *);

/* What one sort needs everywhere. */
struct LIB(sort) {
    size_t size;
    LIB(order) compare;
    LIB(order_with) compare_with;
    void *context;
    char *spare;
};

static int LIB(compare)(const struct LIB(sort) * sort, const void *a, const void *b)
{
    if (sort->compare)
        return sort->compare(a, b);
    return sort->compare_with(a, b, sort->context);
}

/* A merge sort that halves like glibc's: the same comparisons in the same order, equal elements in their order. */
static void LIB(merge_sort)(const struct LIB(sort) * sort, char *base, size_t n)
{
    if (n <= 1)
        return;
    size_t size = sort->size, n_left = n / 2, n_right = n - n_left;
    char *left = base, *right = base + n_left * size, *to = sort->spare;
    LIB(merge_sort)(sort, left, n_left);
    LIB(merge_sort)(sort, right, n_right);
    while (n_left > 0 && n_right > 0) {
        if (LIB(compare)(sort, left, right) <= 0) {
            memcpy(to, left, size);
            left += size;
            n_left--;
        } else {
            memcpy(to, right, size);
            right += size;
            n_right--;
        }
        to += size;
    }
    if (n_left > 0)
        memcpy(to, left, n_left * size);
    memcpy(base, sort->spare, (n - n_right) * size);
}

void LIB(qsort)(void *base, size_t n, size_t size, LIB(order) compare)
{
    struct LIB(sort) sort = {size, compare, 0, 0, n > 1 ? malloc(n * size) : 0};
    if (n > 1 && !sort.spare)
        return qsort(base, n, size, compare);
    LIB(merge_sort)(&sort, base, n);
    free(sort.spare);
}

void LIB(qsort_r)(void *base, size_t n, size_t size, LIB(order_with) compare, void *context)
{
    struct LIB(sort) sort = {size, 0, compare, context, n > 1 ? malloc(n * size) : 0};
    if (n > 1 && !sort.spare)
        return qsort_r(base, n, size, compare, context);
    LIB(merge_sort)(&sort, base, n);
    free(sort.spare);
}

void *LIB(bsearch)(const void *key, const void *base, size_t n, size_t size, LIB(order) compare)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        const char *element = (const char *)base + middle * size;
        int order = compare(key, element);
        if (order == 0)
            return (void *)element;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return 0;
}
