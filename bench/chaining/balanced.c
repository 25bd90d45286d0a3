// Brackets must be balanced and nested five deep at some place.
//@ function: balanced
//@ args: --len text=16
//@ branches: 16
//@ infeasible: 0

enum { LENGTH = 16, DEEP = 5 };

int balanced(const char text[LENGTH])
{
    int depth = 0, deepest = 0, bad = 0;

    for (int i = 0; i < LENGTH; i++) {
        if (text[i] == '(') {
            depth++;
            if (depth > deepest)
                deepest = depth;
        }
        if (text[i] == ')') {
            depth--;
            if (depth < 0)
                bad = 1;
        }
    }
    if (bad)
        return -1;
    if (deepest >= DEEP) {
        if (depth == 0)
            return 2;
        return 1;
    }
    return 0;
}
