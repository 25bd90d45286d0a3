// Names are defined in a table before they are looked up; a name that is used must have been defined, and defined anew once.
//@ function: name_table
//@ args: --len ops=8
//@ branches: 18
//@ infeasible: 0

enum { OPS = 8, NAMES = 4 };

struct op {
    unsigned char what;
    unsigned char name;
    unsigned char value;
};

int name_table(const struct op ops[OPS])
{
    int defined[NAMES] = { 0 }, values[NAMES] = { 0 };
    int n_errors = 0, n_again = 0, n_found = 0;

    for (int i = 0; i < OPS; i++) {
        unsigned name = ops[i].name % NAMES;

        if (ops[i].what == 'd') {
            if (defined[name])
                n_again++;
            defined[name] = 1;
            values[name] = ops[i].value;
        } else if (ops[i].what == 'u') {
            if (!defined[name])
                n_errors++;
            else if (values[name] == 42)
                n_found++;
        }
    }
    if (n_errors > 0)
        return -1;
    if (n_found == 2) {
        if (n_again == 1)
            return 2;
        return 1;
    }
    return 0;
}
