// UTF-8 decoded and judged: lengths, continuation bytes, overlong forms, surrogates, byte order marks.
//@ function: judge_text
//@ args: --len bytes=8
//@ branches: 39
//@ infeasible: 0

enum { LENGTH = 8 };
enum verdict { EMPTY = 0, ASCII, LATIN, WIDE, ASTRAL, BAD_START = -1, CUT = -2, BAD_NEXT = -3, OVERLONG = -4, FORBIDDEN = -5 };

/* Bytes that a first byte announces; 0 for one that starts nothing. */
static int announced(unsigned char first)
{
    if (first < 0x80)
        return 1;
    if (first < 0xc0 || first > 0xf7)
        return 0;
    if (first < 0xe0)
        return 2;
    return first < 0xf0 ? 3 : 4;
}

static unsigned bits_of_first(unsigned char first, int n)
{
    switch (n) {
    case 2:
        return first & 0x1f;
    case 3:
        return first & 0x0f;
    default:
        return first & 0x07;
    }
}

static int is_overlong(unsigned code, int n)
{
    return (n == 2 && code < 0x80) || (n == 3 && code < 0x800) || (n == 4 && code < 0x10000);
}

enum verdict judge_text(const unsigned char bytes[LENGTH], int n)
{
    enum verdict verdict = EMPTY;
    int at = 0;

    if (n < 0 || n > LENGTH)
        return EMPTY;
    if (n >= 3 && bytes[0] == 0xef && bytes[1] == 0xbb && bytes[2] == 0xbf)
        at = 3;
    while (at < n) {
        int length = announced(bytes[at]);
        unsigned code = bytes[at];

        if (length == 0)
            return BAD_START;
        if (length > n - at)
            return CUT;
        if (length > 1)
            code = bits_of_first(bytes[at], length);
        for (int i = 1; i < length; i++) {
            if ((bytes[at + i] & 0xc0) != 0x80)
                return BAD_NEXT;
            code = code << 6 | (bytes[at + i] & 0x3f);
        }
        if (is_overlong(code, length))
            return OVERLONG;
        if ((code >= 0xd800 && code <= 0xdfff) || code > 0x10ffff || code == 0xfffe)
            return FORBIDDEN;
        if (code >= 0x10000)
            verdict = ASTRAL;
        else if (code >= 0x100 && verdict < WIDE)
            verdict = WIDE;
        else if (code >= 0x80 && verdict < LATIN)
            verdict = LATIN;
        else if (verdict < ASCII)
            verdict = ASCII;
        at += length;
    }
    return verdict;
}
