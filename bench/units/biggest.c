// The biggest entry moved to the front of a list that arrays hold, links checked on the way; after moveBiggestInFront (paper 2).
//@ function: move_biggest
//@ args: --len size=5 --len next=5
//@ branches: 24
//@ infeasible: 0

enum { N = 5, END = -1 };

/* Whether the list from `head` ends without meeting an entry twice. */
static int is_list(const signed char next[N], int head)
{
    int seen = 0;

    while (head != END) {
        if (head < 0 || head >= N || seen & 1 << head)
            return 0;
        seen |= 1 << head;
        head = next[head];
    }
    return 1;
}

/* The new head, or a negative number. */
int move_biggest(const int size[N], const signed char next[N], int head, int ties_too)
{
    signed char link[N];
    int biggest, before = END, before_biggest = END, n = 0, n_ties = 0;

    for (int i = 0; i < N; i++) {
        link[i] = next[i];
        if (size[i] < 0 && !ties_too)
            return -4;
    }
    if (head == END)
        return -2;
    if (!is_list(next, head))
        return -3;
    biggest = head;
    for (int at = head; at != END; at = link[at]) {
        if (size[at] > size[biggest] || (ties_too && at != head && size[at] == size[biggest])) {
            if (size[at] == size[biggest])
                n_ties++;
            biggest = at;
            before_biggest = before;
        }
        before = at;
        n++;
    }
    if (biggest != head) {
        link[before_biggest] = link[biggest];
        link[biggest] = (signed char)head;
        head = biggest;
    }
    if (n == N && n_ties >= 2 && link[head] != END && size[link[head]] == size[head])
        return 100 + head;
    if (n > 3 && head == 4 && before == 0)
        return 200;
    return head;
}
