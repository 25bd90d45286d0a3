// A binary heap in an array: operations told by an input, sifting loops, a check of the invariant at the end.
//@ function: run_heap
//@ args: --len operation=5 --len value=5
//@ branches: 31
//@ infeasible: 2

enum { MAX_SIZE = 4, N_OPERATIONS = 5 };
enum operation { PUSH, POP, REPLACE, CLEAR };

struct heap {
    int item[MAX_SIZE];
    int size;
};

static void swap(struct heap *heap, int i, int j)
{
    int kept = heap->item[i];

    heap->item[i] = heap->item[j];
    heap->item[j] = kept;
}

static void sift_up(struct heap *heap, int at)
{
    while (at > 0 && heap->item[at] > heap->item[(at - 1) / 2]) {
        swap(heap, at, (at - 1) / 2);
        at = (at - 1) / 2;
    }
}

static void sift_down(struct heap *heap, int at)
{
    for (;;) {
        int largest = at, left = 2 * at + 1, right = 2 * at + 2;

        if (left < heap->size && heap->item[left] > heap->item[largest])
            largest = left;
        if (right < heap->size && heap->item[right] > heap->item[largest])
            largest = right;
        if (largest == at)
            return;
        swap(heap, at, largest);
        at = largest;
    }
}

static int is_heap(const struct heap *heap)
{
    for (int at = 1; at < heap->size; at++) {
        if (heap->item[at] > heap->item[(at - 1) / 2]) /* infeasible when true */
            return 0;
    }
    return 1;
}

int run_heap(const unsigned char operation[N_OPERATIONS], const short value[N_OPERATIONS])
{
    struct heap heap = {{0}, 0};
    int last = 0, n_popped = 0;

    for (int i = 0; i < N_OPERATIONS; i++) {
        switch (operation[i]) {
        case PUSH:
            if (heap.size == MAX_SIZE)
                return -1;
            heap.item[heap.size++] = value[i];
            sift_up(&heap, heap.size - 1);
            break;
        case POP:
        case REPLACE:
            if (heap.size == 0)
                return -2;
            last = heap.item[0];
            heap.item[0] = operation[i] == POP ? heap.item[--heap.size] : value[i];
            sift_down(&heap, 0);
            n_popped++;
            break;
        case CLEAR:
            heap.size = 0;
            break;
        default:
            return -3;
        }
    }
    if (!is_heap(&heap)) /* infeasible when true: sifting keeps the invariant */
        return -4;
    if (heap.size > 2 && n_popped == 1 && last > heap.item[0] && heap.item[1] == heap.item[2])
        return 1;
    return heap.size == 0 && n_popped >= 2 ? 2 : 0;
}
