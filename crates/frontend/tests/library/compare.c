/* Runs random and awkward arguments through each model and through the C library's own function, and says where they
 * differ: in the result, in the memory they leave, in errno. Prints the number of comparisons and of differences. */
#include "library.c"
#include "stand_ins.c"

static unsigned long n_compared, n_different;

__attribute__((format(printf, 2, 3))) static void expect(int same, const char *format, ...)
{
    n_compared++;
    if (same || ++n_different > 20)
        return;
    va_list arguments;
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    putchar('\n');
}

/* xorshift: the same arguments in every run. */
static uint64_t state = 0x9e3779b97f4a7c15u;

static unsigned pick(unsigned n)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (unsigned)(state >> 20) % n;
}

/* A string of at most `most` bytes out of the alphabet. */
static void random_text(char *text, unsigned most, const char *alphabet)
{
    unsigned n = pick(most + 1), n_letters = (unsigned)strlen(alphabet);
    for (unsigned i = 0; i < n; i++)
        text[i] = alphabet[pick(n_letters)];
    text[n] = 0;
}

#define FEW "ab"
#define MIXED "abcABC \t,.\xe4\xff"

static void compare_classes(void)
{
    static int (*const pairs[][2])(int) = {
        {LIB(isalpha), isalpha}, {LIB(isdigit), isdigit}, {LIB(isalnum), isalnum}, {LIB(isupper), isupper},
        {LIB(islower), islower}, {LIB(isspace), isspace}, {LIB(isxdigit), isxdigit}, {LIB(isprint), isprint},
        {LIB(isgraph), isgraph}, {LIB(isblank), isblank}, {LIB(iscntrl), iscntrl}, {LIB(ispunct), ispunct},
        {LIB(toupper), toupper}, {LIB(tolower), tolower}, {LIB(isascii), isascii}, {LIB(toascii), toascii},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        for (int c = -128; c < 256; c++)
            expect(pairs[i][0](c) == pairs[i][1](c), "class %zu of %d: %d, not %d", i, c, pairs[i][0](c), pairs[i][1](c));
}

#define ROOM 64

/* Two buffers with the same rubbish; what is compared is all of them. */
static char ours[ROOM], theirs[ROOM];

static void fill(const char *text)
{
    memset(ours, '#', ROOM);
    strcpy(ours, text);
    memcpy(theirs, ours, ROOM);
}

#define EXPECT_SAME_COPY(name, a, b, text, n)                                                                          \
    expect((a) == (b) && memcmp(ours, theirs, ROOM) == 0, "%s(\"%s\", %u)", name, text, n)

static void compare_copies(void)
{
    char text[ROOM], begin[ROOM];
    for (int i = 0; i < 3000; i++) {
        random_text(text, 12, MIXED);
        random_text(begin, 12, MIXED);
        unsigned n = pick(16);
        fill(begin);
        EXPECT_SAME_COPY("strcpy", LIB(strcpy)(ours, text) - ours, strcpy(theirs, text) - theirs, text, n);
        fill(begin);
        EXPECT_SAME_COPY("stpcpy", LIB(stpcpy)(ours, text) - ours, stpcpy(theirs, text) - theirs, text, n);
        fill(begin);
        EXPECT_SAME_COPY("strncpy", LIB(strncpy)(ours, text, n) - ours, strncpy(theirs, text, n) - theirs, text, n);
        fill(begin);
        EXPECT_SAME_COPY("stpncpy", LIB(stpncpy)(ours, text, n) - ours, stpncpy(theirs, text, n) - theirs, text, n);
        fill(begin);
        EXPECT_SAME_COPY("strcat", LIB(strcat)(ours, text) - ours, strcat(theirs, text) - theirs, text, n);
        fill(begin);
        EXPECT_SAME_COPY("strncat", LIB(strncat)(ours, text, n) - ours, strncat(theirs, text, n) - theirs, text, n);
        fill(begin);
        EXPECT_SAME_COPY("__strcat_chk", LIB(__strcat_chk)(ours, text, ROOM) - ours, strcat(theirs, text) - theirs,
                         text, n);
        fill(begin);
        EXPECT_SAME_COPY("__strncat_chk", LIB(__strncat_chk)(ours, text, n, ROOM) - ours,
                         strncat(theirs, text, n) - theirs, text, n);
        fill(begin);
        EXPECT_SAME_COPY("__strcpy_chk", LIB(__strcpy_chk)(ours, text, ROOM) - ours, strcpy(theirs, text) - theirs,
                         text, n);
        fill(begin);
        char *a = LIB(memccpy)(ours, text, 'b', n < strlen(text) ? n : strlen(text));
        char *b = memccpy(theirs, text, 'b', n < strlen(text) ? n : strlen(text));
        EXPECT_SAME_COPY("memccpy", a ? a - ours : -1, b ? b - theirs : -1, text, n);
        char *copy = LIB(strdup)(text), *part = LIB(strndup)(text, n), *expected = strndup(text, n);
        expect(!strcmp(copy, text), "strdup(\"%s\")", text);
        expect(!strcmp(part, expected), "strndup(\"%s\", %u)", text, n);
        free(copy);
        free(part);
        free(expected);
        /* not in this glibc: by what the standard asks of them */
        fill(begin);
        size_t length = LIB(strlcpy)(ours, text, n);
        snprintf(theirs, n, "%s", text);
        EXPECT_SAME_COPY("strlcpy", length, strlen(text), text, n);
        fill(begin);
        length = LIB(strlcat)(ours, text, n);
        size_t kept = strnlen(begin, n);
        if (kept < n)
            snprintf(theirs + kept, n - kept, "%s", text);
        EXPECT_SAME_COPY("strlcat", length, kept + strlen(text), text, n);
    }
}

#define EXPECT_SAME(name, a, b) expect((a) == (b), "%s(\"%s\", \"%s\", '%c', %u)", name, text, other, c, n)

static void compare_searches(void)
{
    char text[ROOM], other[ROOM];
    for (int i = 0; i < 5000; i++) {
        random_text(text, 14, i % 2 ? FEW : MIXED);
        random_text(other, 4, i % 2 ? FEW : MIXED);
        int c = pick(8) ? (int)(signed char)MIXED[pick(sizeof MIXED)] : (int)pick(1024);
        unsigned n = pick((unsigned)strlen(text) + 2);
        EXPECT_SAME("strchr", LIB(strchr)(text, c), strchr(text, c));
        EXPECT_SAME("strchrnul", LIB(strchrnul)(text, c), strchrnul(text, c));
        EXPECT_SAME("strrchr", LIB(strrchr)(text, c), strrchr(text, c));
        EXPECT_SAME("index", LIB(index)(text, c), index(text, c));
        EXPECT_SAME("rindex", LIB(rindex)(text, c), rindex(text, c));
        EXPECT_SAME("memchr", LIB(memchr)(text, c, n), memchr(text, c, n));
        EXPECT_SAME("memrchr", LIB(memrchr)(text, c, n), memrchr(text, c, n));
        EXPECT_SAME("rawmemchr", LIB(rawmemchr)(text, 0), rawmemchr(text, 0));
        EXPECT_SAME("strstr", LIB(strstr)(text, other), strstr(text, other));
        EXPECT_SAME("strcasestr", LIB(strcasestr)(text, other), strcasestr(text, other));
        EXPECT_SAME("memmem", LIB(memmem)(text, n, other, strlen(other)), memmem(text, n, other, strlen(other)));
        EXPECT_SAME("strspn", LIB(strspn)(text, other), strspn(text, other));
        EXPECT_SAME("strcspn", LIB(strcspn)(text, other), strcspn(text, other));
        EXPECT_SAME("strpbrk", LIB(strpbrk)(text, other), strpbrk(text, other));
    }
}

/* Takes a text apart with each; the pieces and what is left must be the same. */
static void compare_tokens(void)
{
    char text[ROOM];
    for (int i = 0; i < 3000; i++) {
        char *a, *b, *rest_a, *rest_b;
        random_text(text, 14, "ab ,;");
        fill(text);
        a = LIB(strtok)(ours, " ,"), b = strtok(theirs, " ,");
        for (; a && b; a = LIB(strtok)(NULL, " ,"), b = strtok(NULL, " ,"))
            expect(a - ours == b - theirs && !strcmp(a, b), "strtok of \"%s\"", text);
        expect(!a == !b && !memcmp(ours, theirs, ROOM), "strtok of \"%s\"", text);
        fill(text);
        a = LIB(strtok_r)(ours, ",;", &rest_a), b = strtok_r(theirs, ",;", &rest_b);
        for (; a && b; a = LIB(strtok_r)(NULL, ",;", &rest_a), b = strtok_r(NULL, ",;", &rest_b))
            expect(a - ours == b - theirs && rest_a - ours == rest_b - theirs, "strtok_r of \"%s\"", text);
        expect(!a == !b && !memcmp(ours, theirs, ROOM), "strtok_r of \"%s\"", text);
        fill(text);
        for (rest_a = ours, rest_b = theirs; rest_a && rest_b;) {
            a = LIB(strsep)(&rest_a, " ;"), b = strsep(&rest_b, " ;");
            expect(a - ours == b - theirs && !strcmp(a, b), "strsep of \"%s\"", text);
        }
        expect(!rest_a == !rest_b && !memcmp(ours, theirs, ROOM), "strsep of \"%s\"", text);
    }
}

static const char *const awkward_numbers[] = {
    "", " ", "-", "+", "0", "-0", "0x", "0x1", "0X", "-0x", "0xg", "00x1", "0x-1", "08", "019", "z", "Zz", "  +7", "- 7", "+-7",
    "2147483647", "2147483648", "-2147483648", "-2147483649", "4294967295", "4294967296", "-4294967295", "-4294967296",
    "9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809",
    "18446744073709551615", "18446744073709551616", "-18446744073709551615", "-18446744073709551616",
    "99999999999999999999999999999999999999", "-99999999999999999999999999999999999999", "0000000000000000000000000012",
    "0xffffffffffffffff", "0x10000000000000000", "\t\n\v\f\r 5", "\xa0" "5", "1 2", "1x", "zzzzzzzzzzzzz", "zzzzzzzzzzzzzz",
    "1111111111111111111111111111111111111111111111111111111111111111", "777777777777777777777", "1777777777777777777777",
};

#define COMPARE_NUMBER(name)                                                                                           \
    do {                                                                                                               \
        char *end_a = "none", *end_b = end_a;                                                                          \
        errno = 0;                                                                                                     \
        __typeof__(name(text, &end_a, base)) a = LIB(name)(text, &end_a, base);                                        \
        int errno_a = errno;                                                                                           \
        errno = 0;                                                                                                     \
        __typeof__(a) b = name(text, &end_b, base);                                                                    \
        expect(a == b && end_a == end_b && errno_a == errno, #name "(\"%s\", %d): %lld, not %lld; errno %d, not %d",   \
               text, base, (long long)a, (long long)b, errno_a, errno);                                                \
    } while (0)

static void compare_number(const char *text, int base)
{
    COMPARE_NUMBER(strtol);
    COMPARE_NUMBER(strtoul);
    COMPARE_NUMBER(strtoll);
    COMPARE_NUMBER(strtoull);
    expect(LIB(strtol)(text, NULL, base) == strtol(text, NULL, base), "strtol(\"%s\", NULL, %d)", text, base);
}

static void compare_numbers(void)
{
    char text[ROOM];
    for (size_t i = 0; i < sizeof awkward_numbers / sizeof *awkward_numbers; i++) {
        for (int base = -1; base < 40; base++)
            compare_number(awkward_numbers[i], base);
        expect(LIB(atoi)(awkward_numbers[i]) == atoi(awkward_numbers[i]), "atoi(\"%s\")", awkward_numbers[i]);
        expect(LIB(atol)(awkward_numbers[i]) == atol(awkward_numbers[i]), "atol(\"%s\")", awkward_numbers[i]);
        expect(LIB(atoll)(awkward_numbers[i]) == atoll(awkward_numbers[i]), "atoll(\"%s\")", awkward_numbers[i]);
    }
    for (int i = 0; i < 20000; i++) {
        random_text(text, i % 3 ? 6 : 26, i % 2 ? "0123456789xXaF-+ " : "1239fz");
        compare_number(text, (int)(pick(3) ? 10 : pick(38)));
        compare_number(text, (int)pick(2) * 16);
    }
    for (int i = 0; i < 2000; i++) {
        int a = (int)pick(2000) - 1000, b = (int)pick(100) - 200;
        div_t x = LIB(div)(a, b), y = div(a, b);
        ldiv_t lx = LIB(ldiv)(a, b), ly = ldiv(a, b);
        lldiv_t llx = LIB(lldiv)(a, b), lly = lldiv(a, b);
        expect(x.quot == y.quot && x.rem == y.rem, "div(%d, %d)", a, b);
        expect(lx.quot == ly.quot && lx.rem == ly.rem, "ldiv(%d, %d)", a, b);
        expect(llx.quot == lly.quot && llx.rem == lly.rem, "lldiv(%d, %d)", a, b);
    }
}

static const char *const awkward_floats[] = {
    "", ".", "-", "+.", "0", "-0", "-0.0", ".5", "5.", "1e", "1e+", "1e5", "1E-5x", "0x1p3", "0x", "inf", "-nan", "infinity7",
    "123456789012345", "1234567890123456", "0.1", "1e22", "1e23", "1e-22", "1e-23", "9007199254740993", "4.35", "1e400",
    "-1e400", "1e-400", "  7.25", "1e999999999999", "0e999999999999", "000000000000000000001.5", "1.7976931348623157e308",
};

static void compare_float(const char *text)
{
    char *end_a = "none", *end_b = end_a;
    errno = 0;
    double a = LIB(strtod)(text, &end_a);
    int errno_a = errno;
    errno = 0;
    double b = strtod(text, &end_b);
    expect(!memcmp(&a, &b, sizeof a) && end_a == end_b && errno_a == errno, "strtod(\"%s\"): %a, not %a", text, a, b);
    a = LIB(atof)(text), b = atof(text);
    expect(!memcmp(&a, &b, sizeof a), "atof(\"%s\"): %a, not %a", text, a, b);
}

static void compare_floats(void)
{
    char text[ROOM];
    for (size_t i = 0; i < sizeof awkward_floats / sizeof *awkward_floats; i++)
        compare_float(awkward_floats[i]);
    for (int i = 0; i < 20000; i++) {
        random_text(text, i % 3 ? 8 : 24, i % 2 ? "0123456789.e-+ " : "0123456789999.");
        compare_float(text);
        snprintf(text, sizeof text, "%u.%ue%d", pick(100000), pick(1000000), (int)pick(60) - 30);
        compare_float(text);
    }
}

/* What sscanf may store, as rubbish first. */
struct scanned {
    long long numbers[3];
    char texts[3][ROOM];
};

#define SCAN(function, to, text)                                                                                       \
    (kinds[k].is_text ? function(text, kinds[k].format, (to)->texts[0], (to)->texts[1], (to)->texts[2])                \
                      : function(text, kinds[k].format, &(to)->numbers[0], &(to)->numbers[1], &(to)->numbers[2]))

static void compare_scans(void)
{
    static const struct {
        const char *format, *alphabet;
        int is_text;
    } kinds[] = {
        {"%d", "0123456789- +x", 0},          {"%d,%d", "0129-, ", 0},           {"%d , %i %n", "0179xXaf, -", 0},
        {"%x%hx", "0xXfg- 9", 0},             {"%o:%u", "07894:- ", 0},          {"%2d%3d%1d", "0123456789-", 0},
        {"%hhd.%hu.%ld", "0123456789.-", 0},  {"%lld %llu", "9999999999-  ", 0}, {"%*d %zd", "0123-  ", 0},
        {"(%i)", "(()0x17)", 0},              {"%d%%%d", "12% ", 0},             {"%5i%jd%tx", "0xX1f9 -", 0},
        {"%ld/%lu", "99999999999999/ -", 0},  {"%s %s", "ab  \t", 1},            {"%3s%s", "abcd ", 1},
        {"%c%c", "ab ", 1},                   {" %c %c", "ab  ", 1},             {"%[a-c]%s", "abcdef", 1},
        {"%[^,],%s", "ab,, ", 1},             {"%2[]a]%[^]x]", "a]bx", 1},       {"%*s %s", "ab  ", 1},
        {"%4c%s", "ab c", 1},                 {"k=%[^;];%s", "k=ab;", 1},        {"%[z-a]%[a-]", "za-", 1},
        {"%f", "0123.", 1},                   {"a %n%s", "a b", 1},
        {"%lf", "0123456789.-+eE", 0},        {"%lf,%lg %n", "01.e-, ", 0},      {"%4lf%3lf", "0123.e-", 0},
        {"%le %f", "0xX1fp.- ", 0},           {"%lf%d", "infaty 1", 0},          {"%*f%lf", "12. -", 0},
        {"%lf %lf %lf", "0129.eE+- ", 0},     {"%d:%lf%n", "12:.e", 0},
    };
    char text[ROOM];
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (int i = 0; i < 3000; i++) {
            struct scanned a, b;
            memset(&a, 7, sizeof a);
            memset(&b, 7, sizeof b);
            random_text(text, i % 4 ? 10 : 30, kinds[k].alphabet);
            int n_a = SCAN(LIB(sscanf), &a, text), n_b = SCAN(sscanf, &b, text);
            expect(n_a == n_b && !memcmp(&a, &b, sizeof a), "sscanf(\"%s\", \"%s\"): %d, not %d; %lld, not %lld", text,
                   kinds[k].format, n_a, n_b, a.numbers[0], b.numbers[0]);
        }
}

/* One of getopt, getopt_long and getopt_long_only. */
struct parser {
    const char *name;
    int (*letters)(int, char *const *, const char *);
    int (*names)(int, char *const *, const char *, const struct option *, int *);
};

static int chosen_flag;

static const struct option long_options[] = {
    {"abc", no_argument, 0, 'x'},
    {"abx", required_argument, 0, 'y'},
    {"a", optional_argument, 0, 'z'},
    {"cab", no_argument, &chosen_flag, 7},
    {"cax", no_argument, &chosen_flag, 7},
    {"b-x", optional_argument, &chosen_flag, 9},
    {0, 0, 0, 0},
};

/* The results of all calls, with the variables they set, as text. */
static void run_options(const struct parser *parser, int argc, char **argv, const char *letters, char *log, size_t room)
{
    size_t used = 0;
    int result;
    optind = chosen_flag = 0;
    do {
        int index = -1;
        result = parser->names ? parser->names(argc, argv, letters, long_options, &index) : parser->letters(argc, argv, letters);
        int letter = result == '?' || result == ':' ? optopt : 0; /* says something only then */
        used += (size_t)snprintf(log + used, room - used, "%d %s %d %d %d %d;", result, optarg ? optarg : "-", optind, letter,
                                 index, chosen_flag);
    } while (result != -1 && used < room - 64);
    for (int i = 0; i < argc; i++)
        used += (size_t)snprintf(log + used, room - used, " %s", argv[i]);
}

static void compare_options(void)
{
    static const char *const options[] = {"ab:c::", "+ab:c::", ":ab:c::", "+:b:", "", "a:b:c:", "-ab:", "-:b", "aW;", ":bW;x"};
    static const struct parser parsers[][2] = {
        {{"getopt", LIB(getopt), 0}, {"getopt", getopt, 0}},
        {{"getopt_long", 0, LIB(getopt_long)}, {"getopt_long", 0, getopt_long}},
        {{"getopt_long_only", 0, LIB(getopt_long_only)}, {"getopt_long_only", 0, getopt_long_only}},
    };
    static char words[8][8], a[1024], b[1024];
    opterr = 0;
    for (int i = 0; i < 60000; i++) {
        int argc = 1 + (int)pick(7);
        char *argv_a[9] = {"program"}, *argv_b[9] = {"program"};
        for (int k = 1; k < argc; k++) {
            random_text(words[k], 7, i % 2 ? "--abcxW=" : "--abcx");
            if (i % 3 == 0)
                memcpy(words[k], "--", 2);
            argv_a[k] = argv_b[k] = words[k];
        }
        const char *letters = options[pick(sizeof options / sizeof *options)];
        const struct parser *both = parsers[pick(3)];
        run_options(&both[0], argc, argv_a, letters, a, sizeof a);
        run_options(&both[1], argc, argv_b, letters, b, sizeof b);
        expect(!strcmp(a, b), "%s(\"%s\"):\n  %s\n  %s", both->name, letters, a, b);
    }
}

struct item {
    short key, number;
    char padding[40];
};

/* The calls of the comparison, in order: callbacks must come alike, too. */
static uint64_t calls;

static int by_key(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    calls = calls * 31 + (uint64_t)x->number * 7 + (uint64_t)y->number;
    return x->key - y->key;
}

static int by_key_and(const void *a, const void *b, void *sign)
{
    return *(int *)sign * by_key(a, b);
}

static void compare_sorting(void)
{
    static struct item items[40], expected[40];
    for (int i = 0; i < 1000; i++) {
        size_t n = pick(41);
        int sign = pick(2) ? 1 : -1;
        for (size_t k = 0; k < n; k++)
            items[k] = expected[k] = (struct item){.key = (short)pick(12), .number = (short)k};
        calls = 0;
        LIB(qsort)(items, n, sizeof *items, by_key);
        uint64_t ours = calls;
        calls = 0;
        qsort(expected, n, sizeof *expected, by_key);
        expect(!memcmp(items, expected, sizeof items) && calls == ours, "qsort of %zu", n);
        struct item key = {.key = (short)pick(12)};
        ptrdiff_t found = (struct item *)LIB(bsearch)(&key, items, n, sizeof key, by_key) - items;
        ptrdiff_t wanted = (struct item *)bsearch(&key, expected, n, sizeof key, by_key) - expected;
        expect(found == wanted || (found < 0) == (wanted < 0), "bsearch in %zu", n);
        calls = 0;
        LIB(qsort_r)(items, n, sizeof *items, by_key_and, &sign);
        ours = calls;
        calls = 0;
        qsort_r(expected, n, sizeof *expected, by_key_and, &sign);
        expect(!memcmp(items, expected, sizeof items) && calls == ours, "qsort_r of %zu", n);
    }
}

#include "streams.c"
#include "printing.c"

int main(void)
{
    compare_classes();
    compare_copies();
    compare_searches();
    compare_tokens();
    compare_numbers();
    compare_floats();
    compare_scans();
    compare_options();
    compare_sorting();
    compare_streams();
    compare_printing();
    printf("%lu compared, %lu different\n", n_compared, n_different);
    return n_different != 0;
}
