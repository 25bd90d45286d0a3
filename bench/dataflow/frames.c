// A protocol of frames: flags, escapes, sequence numbers and a checksum; what one frame leaves decides what the next may do.
//@ function: receive
//@ args: --len bytes=16
//@ branches: 50
//@ infeasible: 0

enum { MAX_BYTES = 16, MAX_PAYLOAD = 6, FLAG = 0x7e, ESCAPE = 0x7d, FLIP = 0x20, WINDOW = 4 };
enum state { IDLE, ADDRESS, CONTROL, PAYLOAD, ESCAPED };
enum link { DOWN, UP, RECOVERING };
enum control { CONNECT = 0xc0, DISCONNECT = 0xd0, REJECT = 0xe0 };

struct frame {
    unsigned char address;
    unsigned char control;
    unsigned char payload[MAX_PAYLOAD];
    int length;
    int too_long;
};

struct statistics {
    int n_good;
    int n_bad;
    int n_repeated;
    int n_lost;
    int n_foreign;
};

static enum state state;
static enum link link;
static struct frame frame;
static struct statistics statistics;
static unsigned expected;
static unsigned acknowledged;
static unsigned char own_address;
static int delivered;

static void reset(unsigned char address)
{
    state = IDLE;
    link = DOWN;
    statistics = (struct statistics){0};
    expected = 0;
    acknowledged = 0;
    own_address = address;
    delivered = 0;
}

static void begin_frame(void)
{
    frame.address = 0;
    frame.control = 0;
    frame.length = 0;
    frame.too_long = 0;
}

static void add(unsigned char byte)
{
    if (frame.length == MAX_PAYLOAD)
        frame.too_long = 1;
    else
        frame.payload[frame.length++] = byte;
}

/* The last byte of the payload is the sum of what comes before it. */
static int is_whole(void)
{
    unsigned sum = frame.address + frame.control;
    if (frame.too_long || frame.length == 0)
        return 0;
    for (int i = 0; i < frame.length - 1; i++)
        sum += frame.payload[i];
    return (sum & 0xff) == frame.payload[frame.length - 1];
}

static void deliver(void)
{
    for (int i = 0; i < frame.length - 1; i++)
        delivered = (delivered * 31 + frame.payload[i]) % 10007;
}

static void accept_data(void)
{
    unsigned sequence = frame.control & 7;
    unsigned ahead = (sequence - expected) & 7;
    if (link == DOWN) {
        statistics.n_bad++;
        return;
    }
    if (ahead == 0) {
        deliver();
        expected = (expected + 1) & 7;
        link = UP;
        statistics.n_good++;
    } else if (ahead < WINDOW) {
        statistics.n_lost += (int)ahead;
        link = RECOVERING;
    } else {
        statistics.n_repeated++;
    }
    acknowledged = (frame.control >> 3) & 7;
}

static void accept_control(void)
{
    switch (frame.control) {
    case CONNECT:
        link = UP;
        expected = 0;
        break;
    case DISCONNECT:
        if (link == RECOVERING)
            statistics.n_lost++;
        link = DOWN;
        break;
    case REJECT:
        if (link == UP)
            acknowledged = 0;
        else
            statistics.n_bad++;
        break;
    default:
        statistics.n_bad++;
    }
}

static void end_frame(void)
{
    if (!is_whole()) {
        statistics.n_bad++;
        return;
    }
    if (frame.address != own_address && frame.address != 0xff) {
        statistics.n_foreign++;
        return;
    }
    if (frame.control & 0x80)
        accept_control();
    else
        accept_data();
}

static void on_flag(void)
{
    switch (state) {
    case IDLE:
    case ADDRESS:
        break;
    case CONTROL:
    case ESCAPED:
        statistics.n_bad++;
        break;
    default:
        end_frame();
    }
    begin_frame();
    state = ADDRESS;
}

static void on_byte(unsigned char byte)
{
    switch (state) {
    case IDLE:
        break;
    case ADDRESS:
        frame.address = byte;
        state = CONTROL;
        break;
    case CONTROL:
        frame.control = byte;
        state = PAYLOAD;
        break;
    case PAYLOAD:
        if (byte == ESCAPE)
            state = ESCAPED;
        else
            add(byte);
        break;
    default:
        add(byte ^ FLIP);
        state = PAYLOAD;
    }
}

int receive(const unsigned char *bytes, unsigned char address)
{
    reset(address);
    begin_frame();
    for (int i = 0; i < MAX_BYTES; i++) {
        if (bytes[i] == FLAG)
            on_flag();
        else
            on_byte(bytes[i]);
    }
    if (statistics.n_bad > statistics.n_good)
        return -statistics.n_bad;
    if (statistics.n_lost > 0 || statistics.n_repeated > 0)
        return 1000 + statistics.n_lost * 10 + statistics.n_repeated;
    return link == UP ? delivered : (int)acknowledged + statistics.n_foreign;
}
