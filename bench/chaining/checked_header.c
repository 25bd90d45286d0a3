// Fields of a header are checked one by one by functions that tell their result, and what they tell is kept until the end.
//@ function: checked_header
//@ args: --len header=12
//@ branches: 14
//@ infeasible: 0

enum { LENGTH = 12 };

static int is_printable(const unsigned char *text, int n)
{
    for (int i = 0; i < n; i++)
        if (text[i] < ' ' || text[i] > '~')
            return 0;
    return 1;
}

static int is_ascending(const unsigned char *text, int n)
{
    int ok = 1;

    for (int i = 1; i < n; i++)
        if (text[i] <= text[i - 1])
            ok = 0;
    return ok;
}

int checked_header(const unsigned char header[LENGTH])
{
    int printable = is_printable(header, 6);
    int ascending = is_ascending(header + 6, 6);
    int score = 0;

    if (printable)
        score++;
    if (ascending)
        score += 2;
    if (score == 3)
        return 1;
    return 0;
}
