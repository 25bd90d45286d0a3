/* getopt, getopt_long and getopt_long_only, with the variables of the library. Options and operands may be mixed, as in glibc:
 * operands are moved to the end. */

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

/* Finds the next argument with options: 1. There is none: 0; an operand comes first: 2. */
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
        return 2;
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

/* What a call of getopt or one of its relatives was asked for. */
struct LIB(parse) {
    int argc;
    char **argv;
    const char *letters;
    const struct option *names; /* null: letters only */
    int *index;
    int is_long_only;
    int is_quiet; /* 2: and a missing argument has a result of its own */
};

/* The option with this name, which "=value" may follow; how long its name is. */
static const struct option *LIB(find_name)(const struct option *names, const char *given, size_t *length)
{
    for (; names->name; names++) {
        size_t n = strlen(names->name);
        if (!strncmp(given, names->name, n) && (given[n] == 0 || given[n] == '=')) {
            *length = n;
            return names;
        }
    }
    return 0;
}

/* The option that this is the start of, if there is one only, or all of them do the same. */
static const struct option *LIB(find_short_form)(const struct LIB(parse) * parse, const char *given, size_t n,
                                                 int *is_ambiguous)
{
    const struct option *found = 0;
    for (const struct option *o = parse->names; o->name; o++) {
        if (strncmp(o->name, given, n))
            continue;
        if (!found)
            found = o;
        else if (parse->is_long_only || found->has_arg != o->has_arg || found->flag != o->flag || found->val != o->val)
            *is_ambiguous = 1;
    }
    return found;
}

static void LIB(complain_of_names)(const struct LIB(parse) * parse, const char *given, size_t n, const char *dashes)
{
    fprintf(stderr, "%s: option '%s%s' is ambiguous; possibilities:", parse->argv[0], dashes, given);
    const char *last = 0;
    for (const struct option *o = parse->names; o->name; o++) {
        if (!strncmp(o->name, given, n) && o->name != last)
            fprintf(stderr, " '%s%s'", dashes, o->name);
        last = o->name;
    }
    fputc('\n', stderr);
}

/* The option was found; its argument is behind the name or is the next one. */
static int LIB(take_name)(const struct LIB(parse) * parse, const struct option *found, const char *end,
                          const char *dashes)
{
    optind++;
    LIB(next_letter) = 0;
    if (*end) {
        if (!found->has_arg) {
            if (!parse->is_quiet)
                fprintf(stderr, "%s: option '%s%s' doesn't allow an argument\n", parse->argv[0], dashes, found->name);
            optopt = found->val;
            return '?';
        }
        optarg = (char *)end + 1;
    } else if (found->has_arg == required_argument) {
        if (optind >= parse->argc) {
            if (!parse->is_quiet)
                fprintf(stderr, "%s: option '%s%s' requires an argument\n", parse->argv[0], dashes, found->name);
            optopt = found->val;
            return parse->is_quiet == 2 ? ':' : '?';
        }
        optarg = parse->argv[optind++];
    }
    if (parse->index)
        *parse->index = (int)(found - parse->names);
    if (!found->flag)
        return found->val;
    *found->flag = found->val;
    return 0;
}

/* The option by name that `next_letter` is at; -1 when letters are to be tried instead. */
static int LIB(parse_name)(const struct LIB(parse) * parse, const char *dashes)
{
    const char *given = LIB(next_letter);
    size_t n = 0;
    int is_ambiguous = 0;
    const struct option *found = LIB(find_name)(parse->names, given, &n);
    if (!found) {
        while (given[n] && given[n] != '=')
            n++;
        found = LIB(find_short_form)(parse, given, n, &is_ambiguous);
    }
    if (found && !is_ambiguous)
        return LIB(take_name)(parse, found, given + n, dashes);
    if (!found && parse->is_long_only && parse->argv[optind][1] != '-' && LIB(strchr)(parse->letters, *given))
        return -1;
    if (!parse->is_quiet && is_ambiguous)
        LIB(complain_of_names)(parse, given, n, dashes);
    else if (!parse->is_quiet)
        fprintf(stderr, "%s: unrecognized option '%s%s'\n", parse->argv[0], dashes, given);
    LIB(next_letter) = 0;
    optind++;
    optopt = 0;
    return '?';
}

/* -W name, which means --name where the letters say so. */
static int LIB(parse_name_behind_letter)(const struct LIB(parse) * parse, int letter)
{
    if (!*LIB(next_letter)) {
        if (optind == parse->argc) {
            if (!parse->is_quiet)
                fprintf(stderr, "%s: option requires an argument -- '%c'\n", parse->argv[0], letter);
            optopt = letter;
            return parse->is_quiet == 2 ? ':' : '?';
        }
        LIB(next_letter) = parse->argv[optind];
    }
    optarg = 0;
    struct LIB(parse) names_only = *parse;
    names_only.is_long_only = 0;
    return LIB(parse_name)(&names_only, "-W ");
}

static int LIB(parse_letter)(const struct LIB(parse) * parse)
{
    int letter = *LIB(next_letter)++;
    const char *known = letter == ':' || letter == ';' ? 0 : LIB(strchr)(parse->letters, letter);
    if (!*LIB(next_letter))
        optind++;
    if (!known) {
        if (!parse->is_quiet)
            fprintf(stderr, "%s: invalid option -- '%c'\n", parse->argv[0], letter);
        optopt = letter;
        return '?';
    }
    if (parse->names && known[0] == 'W' && known[1] == ';')
        return LIB(parse_name_behind_letter)(parse, letter);
    return known[1] == ':' ? LIB(take_argument)(parse->argc, parse->argv, known, letter, parse->is_quiet) : letter;
}

/* What all three do. */
static int LIB(parse_option)(struct LIB(parse) * parse)
{
    static int is_started;
    optarg = 0;
    if (optind == 0 || !is_started) {
        if (optind == 0)
            optind = 1;
        LIB(first_operand) = LIB(last_operand) = optind;
        LIB(next_letter) = 0;
        is_started = 1;
    }
    char order = parse->letters[0];
    int permutes = order != '+' && order != '-' && !getenv("POSIXLY_CORRECT");
    if (order == '+' || order == '-')
        parse->letters++;
    parse->is_quiet = parse->letters[0] == ':' ? 2 : !opterr;
    if (LIB(next_letter) && *LIB(next_letter))
        return LIB(parse_letter)(parse);
    int found = LIB(next_argument)(parse->argc, parse->argv, permutes);
    if (found != 1) {
        if (!found || order != '-')
            return -1;
        optarg = parse->argv[optind++];
        return 1;
    }
    const char *argument = parse->argv[optind];
    if (parse->names && argument[1] == '-') {
        LIB(next_letter)++;
        return LIB(parse_name)(parse, "--");
    }
    if (parse->is_long_only && (argument[2] || !LIB(strchr)(parse->letters, argument[1]))) {
        int result = LIB(parse_name)(parse, "-");
        if (result != -1)
            return result;
    }
    return LIB(parse_letter)(parse);
}

int LIB(getopt)(int argc, char *const *arguments, const char *letters)
{
    if (argc < 1)
        return -1;
    struct LIB(parse) parse = {.argc = argc, .argv = (char **)arguments, .letters = letters};
    return LIB(parse_option)(&parse);
}

int LIB(getopt_long)(int argc, char *const *arguments, const char *letters, const struct option *names, int *index)
{
    if (argc < 1)
        return -1;
    struct LIB(parse) parse = {argc, (char **)arguments, letters, names, index, 0, 0};
    return LIB(parse_option)(&parse);
}

int LIB(getopt_long_only)(int argc, char *const *arguments, const char *letters, const struct option *names, int *index)
{
    if (argc < 1)
        return -1;
    struct LIB(parse) parse = {argc, (char **)arguments, letters, names, index, names != 0, 0};
    return LIB(parse_option)(&parse);
}
