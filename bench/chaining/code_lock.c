// A lock is opened by a code that is entered key by key over several calls; three wrong codes block it.
//@ function: code_lock
//@ args: --len keys=14
//@ branches: 16
//@ infeasible: 1

enum { KEYS = 14, DIGITS = 4, TRIES = 3 };

struct lock {
    int entered;
    int wrong;
    int failures;
    int open;
};

static const char code[DIGITS] = { '7', '1', '9', '4' };

static void press(struct lock *lock, char key)
{
    if (lock->failures >= TRIES)
        return;
    if (key != code[lock->entered])
        lock->wrong = 1;
    lock->entered++;
    if (lock->entered == DIGITS) {
        if (lock->wrong)
            lock->failures++;
        else
            lock->open = 1;
        lock->entered = 0;
        lock->wrong = 0;
    }
}

int code_lock(const char keys[KEYS])
{
    struct lock lock = { 0, 0, 0, 0 };

    for (int i = 0; i < KEYS; i++)
        press(&lock, keys[i]);
    if (lock.open) {
        if (lock.failures == 2)
            return 2;
        return 1;
    }
    /* infeasible: fourteen keys are three codes, and each of them opens the lock or is a failure */
    if (lock.failures < TRIES)
        return 0;
    return -1;
}
