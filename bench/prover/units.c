/* Functions in which a goal hangs on a flag or a counter over many paths: a search that turns off one branch at a time
 * does not come to it, unrolled loops do. Each has one branch, marked "target", that is reached in this way only. */

/* 32 comparisons, each of which clears one flag. */
int flag_over_comparisons(const int v[32])
{
    int ok = 1;
    for (int i = 0; i < 32; i++)
        if (v[i] != 3 * i + 1)
            ok = 0;
    if (ok) /* target */
        return 1;
    return 0;
}

/* An exact number of bits. */
int exact_bits(unsigned x)
{
    int n = 0;
    for (int i = 0; i < 32; i++)
        if (x >> i & 1)
            n++;
    if (n == 17) /* target */
        return 1;
    return 0;
}

/* An exact number of elements in a range. */
int exact_count(const int v[24])
{
    int n = 0;
    for (int i = 0; i < 24; i++)
        if (v[i] > 100 && v[i] < 200)
            n++;
    if (n == 13) /* target */
        return 1;
    return 0;
}

/* Commands that enable commands: each does something only after the one before. */
int commands(const unsigned char c[12])
{
    int state = 0;
    for (int i = 0; i < 12; i++) {
        switch (c[i]) {
        case 'a': state = state == 0 ? 1 : 0; break;
        case 'k': state = state == 1 ? 2 : 0; break;
        case 'q': state = state == 2 ? 3 : 0; break;
        case 'm': state = state == 3 ? 4 : 0; break;
        case 'z': state = state == 4 ? 5 : 0; break;
        case 'y': state = state == 5 ? 6 : 0; break;
        case 'f': state = state == 6 ? 7 : 0; break;
        default: break;
        }
    }
    if (state == 7) /* target */
        return 1;
    return 0;
}

/* A sum that must be met while every element is small. */
int exact_sum(const unsigned char v[20])
{
    unsigned sum = 0;
    int small = 1;
    for (int i = 0; i < 20; i++) {
        if (v[i] > 9)
            small = 0;
        sum += v[i];
    }
    if (small && sum == 143) /* target */
        return 1;
    return 0;
}

/* Brackets that are balanced and deep. */
int balanced(const char s[16])
{
    int depth = 0, deepest = 0, bad = 0;
    for (int i = 0; i < 16; i++) {
        if (s[i] == '(') {
            depth++;
            if (depth > deepest)
                deepest = depth;
        } else if (s[i] == ')') {
            depth--;
            if (depth < 0)
                bad = 1;
        } else {
            bad = 1;
        }
    }
    if (!bad && depth == 0 && deepest == 6) /* target */
        return 1;
    return 0;
}

/* A lock counter: every step must keep it within its bounds. */
int lock_counter(const int step[18])
{
    int held = 0, valid = 1, peak = 0;
    for (int i = 0; i < 18; i++) {
        if (step[i] == 1)
            held++;
        else if (step[i] == 2)
            held--;
        else
            valid = 0;
        if (held < 0 || held > 4)
            valid = 0;
        if (held == 4)
            peak++;
    }
    if (valid && peak == 5 && held == 0) /* target */
        return 1;
    return 0;
}

/* A checksum over all bytes. */
int checksum(const unsigned char p[10])
{
    unsigned a = 1, b = 0;
    for (int i = 0; i < 9; i++) {
        a = (a + p[i]) & 0xff;
        b = (b + a) & 0xff;
    }
    if ((b ^ a) == p[9] && a == 0x5a && b == 0xc3) /* target */
        return 1;
    return 0;
}

/* Strictly rising, within bounds, with a fixed end. */
int rising(const short v[16])
{
    int ok = v[0] >= 0;
    for (int i = 1; i < 16; i++)
        ok &= v[i] > v[i - 1] && v[i] - v[i - 1] < 5;
    if (ok && v[15] == 40) /* target */
        return 1;
    return 0;
}

/* An event-condition-action machine: modes are left only by the right event while a timer runs. */
int machine(const int event[14])
{
    int mode = 1, timer = 0, armed = 0;
    for (int i = 0; i < 14; i++) {
        timer++;
        if (mode == 1 && event[i] == 4 && timer > 2)
            mode = 2, timer = 0;
        else if (mode == 2 && event[i] == 1 && timer == 3)
            mode = 3, armed = 1;
        else if (mode == 3 && event[i] == 5 && armed && timer > 5)
            mode = 4;
        else if (event[i] == 2)
            mode = 1, armed = 0;
    }
    if (mode == 4 && timer == 9) /* target */
        return 1;
    return 0;
}
