// Dangerous commands of a buffer need an enabling command before them, which the next command uses up.
//@ function: command_buffer
//@ args: --len commands=10
//@ branches: 15
//@ infeasible: 0

enum { COMMANDS = 10 };
enum command { NOP, ARM, FIRE, SAFE, SELECT };

int command_buffer(const unsigned char commands[COMMANDS])
{
    int armed = 0, selected = 0, fired = 0;

    for (int i = 0; i < COMMANDS; i++) {
        switch (commands[i]) {
        case ARM:
            if (selected)
                armed = 1;
            break;
        case SELECT:
            selected = 1;
            break;
        case FIRE:
            if (armed)
                fired++;
            armed = 0;
            selected = 0;
            break;
        case SAFE:
            armed = 0;
            break;
        default:
            selected = 0;
            break;
        }
    }
    if (fired == 3)
        return 2;
    if (fired)
        return 1;
    return 0;
}
