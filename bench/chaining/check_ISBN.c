// ISBNs among the tokens of a stream: digits and hyphens make a number, anything else ends it; after check_ISBN of paper 2.
//@ function: check_ISBN
//@ args: --len tokens=4096
//@ branches: 22
//@ infeasible: 1

enum { TOKENS = 4096, DIGITS = 10 };

/* How many valid numbers the stream has before its end, a zero; -1 when one of them ends in the middle. */
int check_ISBN(const char tokens[TOKENS])
{
    int n_digits = 0, sum = 0, n_valid = 0, state = 0, broken = 0;

    for (int i = 0; i < TOKENS; i++) {
        char c = tokens[i];

        if (c == '\0')
            break;
        if (c >= '0' && c <= '9') {
            if (n_digits < DIGITS) {
                sum += (DIGITS - n_digits) * (c - '0');
                n_digits++;
            } else {
                broken = 1;
            }
            state = 1;
        } else if (c == 'X' && n_digits == DIGITS - 1) {
            sum += 10;
            n_digits++;
            state = 2;
        } else if (c == '-') {
            if (state == 0)
                broken = 1;
        } else {
            if (n_digits == DIGITS && !broken) {
                if (sum % 11 == 0)
                    n_valid++;
            }
            /* infeasible: no digit is taken when there are enough */
            if (n_digits > DIGITS)
                return -2;
            n_digits = 0;
            sum = 0;
            state = 0;
            broken = 0;
        }
    }
    if (n_digits > 0)
        return -1;
    return n_valid;
}
