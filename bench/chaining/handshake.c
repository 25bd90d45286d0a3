// A connection is opened by five messages in order; anything else starts it anew.
//@ function: handshake
//@ args: --len messages=10
//@ branches: 18
//@ infeasible: 0

enum { LENGTH = 10 };
enum state { CLOSED, HELLO, CHALLENGED, PROVED, AGREED, OPEN };

int handshake(const unsigned char messages[LENGTH])
{
    enum state state = CLOSED;
    int n_bytes = 0;

    for (int i = 0; i < LENGTH; i++) {
        unsigned char message = messages[i];

        if (state == CLOSED && message == 0x16)
            state = HELLO;
        else if (state == HELLO && message == 0x2b)
            state = CHALLENGED;
        else if (state == CHALLENGED && message == 0x90)
            state = PROVED;
        else if (state == PROVED && message == 0x33)
            state = AGREED;
        else if (state == AGREED && message == 0x01)
            state = OPEN;
        else if (state == OPEN)
            n_bytes++;
        else
            state = CLOSED;
    }
    if (n_bytes == 4)
        return 3;
    if (state == OPEN)
        return 2;
    return 0;
}
