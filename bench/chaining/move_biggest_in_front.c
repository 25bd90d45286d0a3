// The biggest entry of a list is swapped to its front, and a flag tells whether any had to be moved; after moveBiggestInFront of paper 2.
//@ function: move_biggest_in_front
//@ args: --len candidates=16
//@ branches: 8
//@ infeasible: 0

enum { LENGTH = 16 };

int move_biggest_in_front(int candidates[LENGTH])
{
    int biggest = 0, moved = 0;

    for (int i = 1; i < LENGTH; i++) {
        if (candidates[i] > candidates[biggest]) {
            biggest = i;
            moved = 1;
        }
    }
    if (moved) {
        int kept = candidates[0];

        candidates[0] = candidates[biggest];
        candidates[biggest] = kept;
    }
    if (biggest == LENGTH - 1)
        return 1;
    return 0;
}
