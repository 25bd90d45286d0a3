/* getopt, with the variables of the library. Options and operands may be mixed, as in glibc: operands are moved to the
 * end. */

static char *LIB(next_letter); /* the rest of an argument with several options */
static int LIB(first_operand), LIB(last_operand); /* operands that were passed by, not yet behind the options */

/* Moves operands that were passed by behind the options that followed them. */
static void LIB(move_operands)(char **argv)
{
    int n_operands = LIB(last_operand) - LIB(first_operand), n_options = optind - LIB(last_operand);
    for (int moved = 0; moved < n_options; moved++) {
        char *option = argv[LIB(last_operand) + moved];
        for (int i = LIB(last_operand) + moved; i > LIB(first_operand) + moved; i--)
            argv[i] = argv[i - 1];
        argv[LIB(first_operand) + moved] = option;
    }
    LIB(first_operand) += n_options;
    LIB(last_operand) = LIB(first_operand) + n_operands;
}

static int LIB(is_option)(const char *argument)
{
    return argument[0] == '-' && argument[1] != 0;
}

/* Finds the next argument with options; 0 when there is none. */
static int LIB(next_argument)(int argc, char **argv, int permutes)
{
    if (LIB(last_operand) > optind)
        LIB(last_operand) = optind;
    if (LIB(first_operand) > optind)
        LIB(first_operand) = optind;
    if (permutes) {
        if (LIB(first_operand) != LIB(last_operand) && LIB(last_operand) != optind)
            LIB(move_operands)(argv);
        else if (LIB(last_operand) != optind)
            LIB(first_operand) = optind;
        while (optind < argc && !LIB(is_option)(argv[optind]))
            optind++;
        LIB(last_operand) = optind;
    }
    int ends = optind < argc && argv[optind][0] == '-' && argv[optind][1] == '-' && argv[optind][2] == 0;
    if (ends) {
        optind++;
        if (LIB(first_operand) != LIB(last_operand) && LIB(last_operand) != optind)
            LIB(move_operands)(argv);
        else if (LIB(first_operand) == LIB(last_operand))
            LIB(first_operand) = optind;
        LIB(last_operand) = argc;
        optind = argc;
    }
    if (optind >= argc) {
        if (LIB(first_operand) != LIB(last_operand))
            optind = LIB(first_operand);
        return 0;
    }
    if (!LIB(is_option)(argv[optind]))
        return 0;
    LIB(next_letter) = argv[optind] + 1;
    return 1;
}

/* The argument of an option, which stands behind its letter or is the next one. */
static int LIB(take_argument)(int argc, char **argv, const char *known, int letter, int is_quiet)
{
    if (*LIB(next_letter)) {
        optarg = LIB(next_letter);
        optind++;
    } else if (known[2] == ':') {
        optarg = 0; /* it may be missing */
    } else if (optind == argc) {
        if (!is_quiet)
            fprintf(stderr, "%s: option requires an argument -- '%c'\n", argv[0], letter);
        optopt = letter;
        letter = is_quiet == 2 ? ':' : '?';
    } else {
        optarg = argv[optind++];
    }
    LIB(next_letter) = 0;
    return letter;
}

int LIB(getopt)(int argc, char *const *arguments, const char *options)
{
    static int is_started;
    char **argv = (char **)arguments;
    if (argc < 1 || options[0] == '-')
        return getopt(argc, arguments, options); /* operands as options: not known here */
    optarg = 0;
    if (optind == 0 || !is_started) {
        if (optind == 0)
            optind = 1;
        LIB(first_operand) = LIB(last_operand) = optind;
        LIB(next_letter) = 0;
        is_started = 1;
    }
    int permutes = options[0] != '+' && !getenv("POSIXLY_CORRECT");
    if (options[0] == '+')
        options++;
    int is_quiet = options[0] == ':' ? 2 : !opterr;
    if (!LIB(next_letter) || !*LIB(next_letter)) {
        if (!LIB(next_argument)(argc, argv, permutes))
            return -1;
    }
    int letter = *LIB(next_letter)++;
    const char *known = letter == ':' || letter == ';' ? 0 : LIB(strchr)(options, letter);
    if (!*LIB(next_letter))
        optind++;
    if (!known) {
        if (!is_quiet)
            fprintf(stderr, "%s: invalid option -- '%c'\n", argv[0], letter);
        optopt = letter;
        return '?';
    }
    return known[1] == ':' ? LIB(take_argument)(argc, argv, known, letter, is_quiet) : letter;
}
