// Network addresses in text, with an optional prefix length, and the class of what was read.
//@ function: read_address
//@ args: --len text=16
//@ branches: 42
//@ infeasible: 0

enum { LENGTH = 16, N_PARTS = 4 };
enum kind { BROKEN = -1, ANY, LOOPBACK, PRIVATE, LINK_LOCAL, MULTICAST, BROADCAST, NETWORK, HOST };

struct reader {
    const char *text;
    int at;
};

static char current(const struct reader *reader)
{
    return reader->at < LENGTH ? reader->text[reader->at] : '\0';
}

/* A decimal number up to `most` without needless zeros, or -1. */
static int decimal(struct reader *reader, int most)
{
    int value = 0, n_digits = 0;

    while (current(reader) >= '0' && current(reader) <= '9') {
        if (n_digits > 0 && value == 0)
            return -1;
        value = value * 10 + (current(reader) - '0');
        n_digits++;
        if (value > most)
            return -1;
        reader->at++;
    }
    return n_digits > 0 ? value : -1;
}

static enum kind kind_of(const unsigned part[N_PARTS], int prefix)
{
    unsigned whole = part[0] << 24 | part[1] << 16 | part[2] << 8 | part[3];

    if (whole == 0)
        return ANY;
    if (whole == 0xffffffffu)
        return BROADCAST;
    if (prefix < 32 && (prefix == 0 ? whole : whole << prefix) == 0)
        return NETWORK;
    if (part[0] == 127)
        return LOOPBACK;
    if (part[0] == 10 || (part[0] == 172 && part[1] >= 16 && part[1] < 32) || (part[0] == 192 && part[1] == 168))
        return PRIVATE;
    if (part[0] == 169 && part[1] == 254)
        return LINK_LOCAL;
    if (part[0] >= 224 && part[0] < 240)
        return MULTICAST;
    return HOST;
}

enum kind read_address(const char text[LENGTH], int prefix_needed)
{
    struct reader reader = {text, 0};
    unsigned part[N_PARTS];
    int prefix = 32;

    for (int i = 0; i < N_PARTS; i++) {
        int value;

        if (i > 0) {
            if (current(&reader) != '.')
                return BROKEN;
            reader.at++;
        }
        value = decimal(&reader, 255);
        if (value < 0)
            return BROKEN;
        part[i] = (unsigned)value;
    }
    if (current(&reader) == '/') {
        reader.at++;
        prefix = decimal(&reader, 32);
        if (prefix < 0)
            return BROKEN;
    } else if (prefix_needed) {
        return BROKEN;
    }
    if (current(&reader) != '\0' && current(&reader) != ' ')
        return BROKEN;
    return kind_of(part, prefix);
}
