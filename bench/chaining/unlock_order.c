// Bits of a mask are set by commands that each need the one before, and no branch tells how far it came.
//@ function: unlock_order
//@ args: --len commands=12
//@ branches: 12
//@ infeasible: 0

enum { COMMANDS = 12 };

int unlock_order(const unsigned char commands[COMMANDS])
{
    unsigned mask = 0;

    for (int i = 0; i < COMMANDS; i++) {
        unsigned char command = commands[i];

        if (command == 10)
            mask |= 1;
        else if (command == 11 && (mask & 1))
            mask |= 2;
        else if (command == 12 && (mask & 2))
            mask |= 4;
        else if (command == 13)
            mask = 0;
    }
    if (mask == 7)
        return 1;
    return 0;
}
