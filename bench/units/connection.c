// The states of a connection, driven by segments: handshake, data, both kinds of closing, resets, retries.
//@ function: drive
//@ args: --len segment=6
//@ branches: 58
//@ infeasible: 0

enum { N_SEGMENTS = 6, FIN = 1, SYN = 2, RST = 4, ACK = 8, TIMEOUT = 16, CLOSE = 32 };
enum state { CLOSED, LISTEN, SYN_SENT, SYN_RECEIVED, ESTABLISHED, FIN_WAIT_1, FIN_WAIT_2, CLOSE_WAIT, CLOSING, LAST_ACK, TIME_WAIT };

struct segment {
    unsigned char flags;
    unsigned char sequence;
    unsigned char length;
};

struct connection {
    enum state state;
    unsigned char expected;
    int n_retries;
    int n_bytes;
};

static int has(const struct segment *segment, int flags)
{
    return (segment->flags & flags) == flags;
}

static void take_data(struct connection *connection, const struct segment *segment)
{
    if (segment->length > 0 && segment->sequence == connection->expected) {
        connection->n_bytes += segment->length;
        connection->expected = (unsigned char)(connection->expected + segment->length);
    }
}

static enum state waiting_for_fin(struct connection *connection, const struct segment *segment)
{
    int acknowledged = has(segment, ACK);
    int finished = has(segment, FIN) && segment->sequence == connection->expected;

    if (connection->state == FIN_WAIT_1) {
        if (finished)
            return acknowledged ? TIME_WAIT : CLOSING;
        return acknowledged ? FIN_WAIT_2 : FIN_WAIT_1;
    }
    return finished ? TIME_WAIT : FIN_WAIT_2;
}

static enum state next(struct connection *connection, const struct segment *segment)
{
    if (has(segment, TIMEOUT)) {
        connection->n_retries++;
        if (connection->state == TIME_WAIT || connection->n_retries > 2)
            return CLOSED;
        return connection->state;
    }
    if (has(segment, RST) && connection->state != LISTEN)
        return connection->state == SYN_RECEIVED ? LISTEN : CLOSED;
    switch (connection->state) {
    case LISTEN:
        if (has(segment, SYN) && !has(segment, ACK)) {
            connection->expected = (unsigned char)(segment->sequence + 1);
            return SYN_RECEIVED;
        }
        return has(segment, CLOSE) ? CLOSED : LISTEN;
    case SYN_SENT:
        if (!has(segment, SYN))
            return SYN_SENT;
        connection->expected = (unsigned char)(segment->sequence + 1);
        return has(segment, ACK) ? ESTABLISHED : SYN_RECEIVED;
    case SYN_RECEIVED:
        return has(segment, ACK) && segment->sequence == connection->expected ? ESTABLISHED : SYN_RECEIVED;
    case ESTABLISHED:
        take_data(connection, segment);
        if (has(segment, FIN) && segment->sequence == connection->expected)
            return CLOSE_WAIT;
        return has(segment, CLOSE) ? FIN_WAIT_1 : ESTABLISHED;
    case FIN_WAIT_1:
    case FIN_WAIT_2:
        take_data(connection, segment);
        return waiting_for_fin(connection, segment);
    case CLOSE_WAIT:
        return has(segment, CLOSE) ? LAST_ACK : CLOSE_WAIT;
    case CLOSING:
        return has(segment, ACK) ? TIME_WAIT : CLOSING;
    case LAST_ACK:
        return has(segment, ACK) ? CLOSED : LAST_ACK;
    default:
        return connection->state;
    }
}

int drive(const struct segment segment[N_SEGMENTS], int active)
{
    struct connection connection = {active ? SYN_SENT : LISTEN, 0, 0, 0};

    for (int i = 0; i < N_SEGMENTS && connection.state != CLOSED; i++)
        connection.state = next(&connection, &segment[i]);
    if (connection.state == CLOSED && connection.n_bytes > 0 && connection.n_retries == 0)
        return -1;
    if (connection.state == TIME_WAIT && connection.n_bytes == 7)
        return -2;
    return connection.state;
}
