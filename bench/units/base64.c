// Base64 decoded: alphabets, padding, line breaks, bits that must be zero; table look-ups are written as ranges.
//@ function: decode
//@ args: --len text=12 --len out=9
//@ branches: 34
//@ infeasible: 0

enum { LENGTH = 12, BAD = -1, PADDING = -2, SKIP = -3 };
enum failure { BAD_CHARACTER = -1, BAD_PADDING = -2, BAD_LENGTH = -3, STRAY_BITS = -4 };

static int sextet(char c, int url_safe)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    if ((c == '+' && !url_safe) || (c == '-' && url_safe))
        return 62;
    if ((c == '/' && !url_safe) || (c == '_' && url_safe))
        return 63;
    if (c == '=')
        return PADDING;
    return c == '\r' || c == '\n' ? SKIP : BAD;
}

/* The number of bytes written, or a failure. */
int decode(const char text[LENGTH], int url_safe, int strict, unsigned char out[9])
{
    unsigned bits = 0;
    int n_bits = 0, n_out = 0, n_read = 0, n_padding = 0;

    for (int i = 0; i < LENGTH && text[i] != '\0'; i++) {
        int value = sextet(text[i], url_safe);

        if (value == SKIP && !strict)
            continue;
        if (value == BAD || value == SKIP)
            return BAD_CHARACTER;
        n_read++;
        if (value == PADDING) {
            n_padding++;
            if (n_padding > 2 || n_read % 4 == 1 || n_read % 4 == 2)
                return BAD_PADDING;
            continue;
        }
        if (n_padding > 0)
            return BAD_PADDING;
        bits = bits << 6 | (unsigned)value;
        n_bits += 6;
        if (n_bits >= 8) {
            n_bits -= 8;
            out[n_out++] = (unsigned char)(bits >> n_bits);
        }
    }
    if (n_bits == 6 || (strict && n_read % 4 != 0))
        return BAD_LENGTH;
    if (strict && n_bits > 0 && (bits & ((1u << n_bits) - 1)) != 0)
        return STRAY_BITS;
    if (n_out == 3 && out[0] == 'Q' && out[1] == 'r' && out[2] == 'y')
        return 100;
    return n_out;
}
