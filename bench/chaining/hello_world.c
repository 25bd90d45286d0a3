// A text that starts with "Hello", ends with "World!" and has nothing but blanks between; hello_world of paper 2.
//@ function: hello_world
//@ args: --len text=24
//@ branches: 34
//@ infeasible: 0

enum { LENGTH = 24 };

int hello_world(const char text[LENGTH])
{
    int hello = 0, world = 0, blank = 1, result = 0;

    if (text[0] == 'H')
        if (text[1] == 'e')
            if (text[2] == 'l')
                if (text[3] == 'l')
                    if (text[4] == 'o')
                        hello = 1;
    if (text[LENGTH - 6] == 'W')
        if (text[LENGTH - 5] == 'o')
            if (text[LENGTH - 4] == 'r')
                if (text[LENGTH - 3] == 'l')
                    if (text[LENGTH - 2] == 'd')
                        if (text[LENGTH - 1] == '!')
                            world = 1;
    for (int i = 5; i < LENGTH - 6; i++) {
        if (text[i] != ' ')
            blank = 0;
    }
    if (hello)
        result++;
    if (world && hello)
        result++;
    if (blank) {
        if (result == 2)
            return 3;
    }
    return result;
}
