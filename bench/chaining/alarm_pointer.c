// Flags behind pointers: a helper clears the one that it is given, and both must be set at the end.
//@ function: alarm_pointer
//@ args: --len events=16
//@ branches: 12
//@ infeasible: 0

enum { EVENTS = 16 };

struct panel {
    int door;
    int window;
};

static void clear(int *flag)
{
    *flag = 0;
}

int alarm_pointer(const unsigned char events[EVENTS])
{
    struct panel panel = { 1, 1 };

    for (int i = 0; i < EVENTS; i++) {
        if (events[i] < 100)
            clear(&panel.door);
        else if (events[i] < 200)
            clear(&panel.window);
    }
    if (panel.door) {
        if (panel.window)
            return 3;
        return 2;
    }
    if (panel.window)
        return 1;
    return 0;
}
