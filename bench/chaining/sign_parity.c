// Parity bits of words are summed up: none may be odd, and the number of words with a sign must be even and not small.
//@ function: sign_parity
//@ args: --len words=16
//@ branches: 12
//@ infeasible: 0

enum { WORDS = 16 };

int sign_parity(const int words[WORDS])
{
    int odd = 0, toggle = 0, n_signed = 0;

    for (int i = 0; i < WORDS; i++) {
        if (words[i] & 1)
            odd = 1;
        if (words[i] < 0) {
            toggle = !toggle;
            n_signed++;
        }
    }
    if (odd)
        return -1;
    if (toggle)
        return 0;
    if (n_signed == 14)
        return 2;
    return 1;
}
