// Flows of packets gathered from records: matching by several fields, expiry, flags set in loops; after netflow (paper 2).
//@ function: account
//@ args: --len packet=4
//@ branches: 30
//@ infeasible: 0

enum { MAX_FLOWS = 3, IDLE_LIMIT = 30, AGE_LIMIT = 120, TCP = 6, UDP = 17 };
enum { FIN = 1, SYN = 2, RST = 4, ACK = 16 };

struct packet {
    unsigned char source;
    unsigned char destination;
    unsigned char protocol;
    unsigned char flags;
    unsigned short port;
    unsigned short time;
};

struct flow {
    struct packet first;
    unsigned last_time;
    int n_packets;
    int flags;
    int open;
};

static int matches(const struct flow *flow, const struct packet *packet)
{
    if (!flow->open || flow->first.protocol != packet->protocol)
        return 0;
    if (packet->protocol == TCP || packet->protocol == UDP) {
        if (flow->first.port != packet->port)
            return 0;
    }
    return flow->first.source == packet->source && flow->first.destination == packet->destination;
}

static int is_over(const struct flow *flow, unsigned now)
{
    if (flow->first.protocol == TCP && (flow->flags & RST || (flow->flags & FIN && flow->flags & ACK)))
        return 1;
    return now - flow->last_time > IDLE_LIMIT || now - flow->first.time > AGE_LIMIT;
}

/* How many flows were exported; a tenth more for every one that was a whole connection. */
int account(const struct packet packet[4], int n)
{
    struct flow flows[MAX_FLOWS] = {{{0}, 0, 0, 0, 0}};
    int n_exported = 0, n_whole = 0, dropped = 0;
    unsigned now = 0;

    if (n < 0 || n > 4)
        return -1;
    for (int i = 0; i < n; i++) {
        int found = -1, unused = -1;

        if (packet[i].time < now)
            return -2;
        now = packet[i].time;
        for (int f = 0; f < MAX_FLOWS; f++) {
            if (flows[f].open && is_over(&flows[f], now)) {
                if (flows[f].n_packets > 1 && flows[f].flags & SYN && flows[f].flags & FIN)
                    n_whole++;
                flows[f].open = 0;
                n_exported++;
            }
            if (matches(&flows[f], &packet[i]))
                found = f;
            else if (!flows[f].open && unused < 0)
                unused = f;
        }
        if (found < 0 && unused < 0) {
            dropped = 1;
            continue;
        }
        if (found < 0) {
            found = unused;
            flows[found] = (struct flow){packet[i], now, 0, 0, 1};
        }
        flows[found].n_packets++;
        flows[found].flags |= packet[i].flags;
        flows[found].last_time = now;
    }
    if (dropped && n_exported == 0)
        return -3;
    return 10 * n_exported + n_whole;
}
