// A marker must come in a message, and exactly once.
//@ function: seen_once
//@ args: --len message=24
//@ branches: 10
//@ infeasible: 0

enum { LENGTH = 24, MARKER = 0x7e };

int seen_once(const unsigned char message[LENGTH])
{
    int seen = 0, again = 0;

    for (int i = 0; i < LENGTH; i++) {
        if (message[i] == MARKER) {
            if (seen)
                again = 1;
            seen = 1;
        }
    }
    if (!seen)
        return 0;
    if (again)
        return 2;
    return 1;
}
