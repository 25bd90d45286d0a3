// Frames of telecommands for a satellite: a header, an authorisation, a checksum, one effect per command; after space_control (paper 1).
//@ function: receive
//@ args: --len frame=12
//@ branches: 49
//@ infeasible: 0

enum { LENGTH = 12, SYNC = 0xeb, VERSION = 1, HEADER = 5, OWN_ID = 0x2a, EVERYONE = 0xff };
enum command { SWITCH_UNIT = 1, SET_MODE = 2, POINT = 3, DUMP = 4, ARM = 5, FIRE = 6 };
enum mode { SAFE, NOMINAL, SCIENCE, MANOEUVRE };
enum reply { DONE = 0, NO_SYNC = -1, OTHER_VERSION = -2, NOT_OURS = -3, BAD_LENGTH = -4, BAD_SUM = -5, REFUSED = -6, UNKNOWN = -7, OUT_OF_SEQUENCE = -8 };

struct craft {
    int mode;
    int charge;       /* percent */
    int sequence;
    int armed;
    int unit_mask;
};

static int sum_is_right(const unsigned char *frame, int n)
{
    unsigned sum = 0;

    for (int i = 0; i < n; i++)
        sum = (sum << 1 | sum >> 7) ^ frame[i];
    return (sum & 0xff) == frame[n];
}

static enum reply set_mode(struct craft *craft, int mode)
{
    if (mode > MANOEUVRE)
        return UNKNOWN;
    if (mode == SCIENCE && (craft->charge < 40 || craft->mode == SAFE))
        return REFUSED;
    if (mode == MANOEUVRE && !(craft->mode == NOMINAL && craft->charge >= 60 && craft->armed))
        return REFUSED;
    craft->mode = mode;
    return DONE;
}

static enum reply carry_out(struct craft *craft, int command, const unsigned char *data, int n)
{
    switch (command) {
    case SWITCH_UNIT:
        if (n != 2 || data[0] > 7)
            return BAD_LENGTH;
        if (data[0] == 0 && data[1] == 0)
            return REFUSED; /* the receiver itself */
        craft->unit_mask = data[1] ? craft->unit_mask | 1 << data[0] : craft->unit_mask & ~(1 << data[0]);
        return DONE;
    case SET_MODE:
        return n == 1 ? set_mode(craft, data[0]) : BAD_LENGTH;
    case POINT:
        if (n != 3)
            return BAD_LENGTH;
        if (craft->mode < NOMINAL || (data[0] > 180 && data[0] < 200) || data[1] + data[2] > 400)
            return REFUSED;
        return DONE;
    case DUMP:
        return craft->mode == SCIENCE || (craft->mode == NOMINAL && n == 0) ? DONE : REFUSED;
    case ARM:
        if (n != 2 || data[0] != 0xa5 || data[1] != 0x5a)
            return REFUSED;
        craft->armed = 1;
        return DONE;
    case FIRE:
        if (!craft->armed || craft->mode != MANOEUVRE || craft->charge < 60)
            return REFUSED;
        craft->armed = 0;
        return DONE;
    default:
        return UNKNOWN;
    }
}

int receive(const unsigned char frame[LENGTH], unsigned char mode, unsigned char charge, int armed)
{
    struct craft craft = {SAFE, 0, 7, armed != 0, 1};
    int n;

    if (mode > MANOEUVRE || charge > 100)
        return UNKNOWN;
    craft.mode = mode;
    craft.charge = charge;
    if (frame[0] != SYNC)
        return NO_SYNC;
    if (frame[1] >> 4 != VERSION)
        return OTHER_VERSION;
    if (frame[2] != OWN_ID && frame[2] != EVERYONE)
        return NOT_OURS;
    if (frame[2] == EVERYONE && frame[3] != SET_MODE)
        return REFUSED;
    n = frame[4];
    if (n > LENGTH - HEADER - 1)
        return BAD_LENGTH;
    if (!sum_is_right(frame, HEADER + n))
        return BAD_SUM;
    if ((frame[1] & 15) != craft.sequence && frame[3] != SET_MODE)
        return OUT_OF_SEQUENCE;
    return carry_out(&craft, frame[3], frame + HEADER, n);
}
