// A greeting with a fixed beginning, a fixed end and nothing but blanks between: guards passed one character at a time (paper 2).
//@ function: hello
//@ args: --len text=14
//@ branches: 24
//@ infeasible: 0

enum { LENGTH = 14 };

static int same(char a, char b, int fold)
{
    if (fold && a >= 'A' && a <= 'Z')
        a = (char)(a + ('a' - 'A'));
    if (fold && b >= 'A' && b <= 'Z')
        b = (char)(b + ('a' - 'A'));
    return a == b;
}

static int length_of(const char *text, int most)
{
    int n = 0;

    while (n < most && text[n] != '\0')
        n++;
    return n;
}

int hello(const char text[LENGTH], int fold)
{
    static const char begin[] = "Hello", end[] = "World!";
    int n = length_of(text, LENGTH);
    int n_begin = (int)sizeof begin - 1, n_end = (int)sizeof end - 1;
    int blank = 1;

    if (n < n_begin + n_end)
        return n == 0 ? -2 : -1;
    for (int i = 0; i < n_begin; i++) {
        if (!same(text[i], begin[i], fold))
            return 0;
    }
    for (int i = 0; i < n_end; i++) {
        if (!same(text[n - n_end + i], end[i], fold))
            return 1;
    }
    for (int i = n_begin; i < n - n_end; i++) {
        if (text[i] != ' ' && text[i] != '\t')
            blank = 0;
    }
    if (blank && n > n_begin + n_end)
        return 3;
    return 2;
}
