// A vending machine: coins, stock and change in small numbers; what is left over decides.
//@ function: vend
//@ args: --len action=6
//@ branches: 39
//@ infeasible: 0

enum { N_ACTIONS = 6, N_SLOTS = 3 };
enum action { COIN_10 = 10, COIN_20 = 20, COIN_50 = 50, SELECT_A = 'a', SELECT_B, SELECT_C, CANCEL = 'x', SERVICE = 's' };
enum outcome { WAITS = 0, SOLD = 1, RETURNED = 2, OUT_OF_STOCK = 3, NO_CHANGE = 4, TILT = 5, SERVICED = 6 };

struct machine {
    int credit;
    int n_tens;
    int n_twenties;
    int stock[N_SLOTS];
    int n_errors;
};

/* Pays back from the coins there are, larger ones first; whether that worked. */
static int pay_back(struct machine *machine, int amount)
{
    while (amount >= 20 && machine->n_twenties > 0) {
        machine->n_twenties--;
        amount -= 20;
    }
    while (amount >= 10 && machine->n_tens > 0) {
        machine->n_tens--;
        amount -= 10;
    }
    return amount == 0;
}

static enum outcome sell(struct machine *machine, int slot)
{
    static const int price[N_SLOTS] = {30, 50, 80};

    if (machine->stock[slot] == 0)
        return OUT_OF_STOCK;
    if (machine->credit < price[slot])
        return WAITS;
    if (!pay_back(machine, machine->credit - price[slot]))
        return NO_CHANGE;
    machine->stock[slot]--;
    machine->credit = 0;
    return SOLD;
}

static enum outcome act(struct machine *machine, int action)
{
    switch (action) {
    case COIN_10:
        machine->n_tens++;
        machine->credit += 10;
        return WAITS;
    case COIN_20:
        machine->n_twenties++;
        machine->credit += 20;
        return WAITS;
    case COIN_50:
        machine->credit += 50;
        return machine->credit > 150 ? TILT : WAITS;
    case SELECT_A:
    case SELECT_B:
    case SELECT_C:
        return sell(machine, action - SELECT_A);
    case CANCEL:
        if (machine->credit > 0 && pay_back(machine, machine->credit)) {
            machine->credit = 0;
            return RETURNED;
        }
        return machine->credit > 0 ? NO_CHANGE : WAITS;
    case SERVICE:
        if (machine->credit == 0 && machine->n_errors > 1)
            return SERVICED;
        break;
    default:
        break;
    }
    machine->n_errors++;
    return machine->n_errors > 3 ? TILT : WAITS;
}

int vend(const unsigned char action[N_ACTIONS], unsigned char tens, unsigned char stock)
{
    struct machine machine = {0, 0, 0, {0, 0, 0}, 0};
    int n_sold = 0;

    if (tens > 4 || stock > 2)
        return -1;
    machine.n_tens = tens;
    for (int slot = 0; slot < N_SLOTS; slot++)
        machine.stock[slot] = stock;
    for (int i = 0; i < N_ACTIONS; i++) {
        enum outcome outcome = act(&machine, action[i]);

        if (outcome == SOLD)
            n_sold++;
        else if (outcome == TILT || outcome == SERVICED || (outcome == NO_CHANGE && machine.n_errors > 0))
            return (int)outcome * 10 + n_sold;
    }
    return n_sold;
}
