/* What is printed into memory: formats put together at random, by the models and by the library. */

/* A directive with random flags, width and precision; -1 as width or precision is none. */
static void random_directive(char *format, const char *kind)
{
    static const char *const widths[] = {"", "", "1", "4", "9", "12"}, *const precisions[] = {"", "", ".", ".0", ".1", ".3", ".7"};
    char flags[4];
    random_text(flags, 3, "-+ #0");
    sprintf(format, "%%%s%s%s%s", flags, widths[pick(6)], precisions[pick(7)], kind);
}

#define EXPECT_SAME_PRINT(format, ...)                                                                                 \
    do {                                                                                                               \
        size_t room = pick(3) ? sizeof printed_a : pick(12);                                                           \
        memset(printed_a, '#', sizeof printed_a);                                                                      \
        memset(printed_b, '#', sizeof printed_b);                                                                      \
        int n_a = LIB(snprintf)(printed_a, room, format, __VA_ARGS__);                                                 \
        int n_b = snprintf(printed_b, room, format, __VA_ARGS__);                                                      \
        expect(n_a == n_b && !memcmp(printed_a, printed_b, sizeof printed_a), "snprintf(\"%s\", %zu): %d %s, not %d %s", \
               format, room, n_a, printed_a, n_b, printed_b);                                                          \
    } while (0)

static long long random_number(void)
{
    static const long long awkward[] = {0, 1, -1, 9, 10, 99, 100, 127, 128, -128, 255, 256, 32767, 32768, 65535, 65536, 999999999,
                                        1000000000, INT_MAX, INT_MIN, UINT_MAX, LLONG_MAX, LLONG_MIN};
    if (pick(2))
        return awkward[pick(sizeof awkward / sizeof *awkward)];
    long long number = (long long)((unsigned long long)pick(1u << 31) << 33 ^ (unsigned long long)pick(1u << 31) << 11 ^ pick(1 << 20));
    return number >> pick(63);
}

static void compare_print_of_whole(const char *letters)
{
    static char printed_a[64], printed_b[64];
    static const char *const sizes[] = {"", "hh", "h", "l", "ll", "j", "z", "t"};
    for (int i = 0; i < 20000; i++) {
        char kind[4], format[24];
        unsigned size = pick(8);
        snprintf(kind, sizeof kind, "%s%c", sizes[size], letters[pick((unsigned)strlen(letters))]);
        random_directive(format, kind);
        long long number = random_number();
        if (size < 3)
            EXPECT_SAME_PRINT(format, (int)number);
        else if (size == 3 || size > 5)
            EXPECT_SAME_PRINT(format, (long)number);
        else
            EXPECT_SAME_PRINT(format, number);
    }
}

static void compare_print_of_texts(void)
{
    static char printed_a[64], printed_b[64];
    char text[16], format[24];
    for (int i = 0; i < 20000; i++) {
        random_text(text, 12, MIXED);
        random_directive(format, "s");
        const char *given = pick(8) ? text : 0;
        int number = (int)pick(256);
        EXPECT_SAME_PRINT(format, given);
        random_directive(format, "c");
        EXPECT_SAME_PRINT(format, number);
        random_directive(format, "p");
        EXPECT_SAME_PRINT(format, given);
        int width = (int)pick(20) - 10, precision = (int)pick(20) - 10, count_a = 0, count_b = 0;
        EXPECT_SAME_PRINT("<%*.*s|%*d|%.*x>%%", width, precision, text, width, width * 100, precision, width);
        LIB(sprintf)(printed_a, "%s%n %d", text, &count_a, width);
        sprintf(printed_b, "%s%n %d", text, &count_b, width);
        expect(!strcmp(printed_a, printed_b) && count_a == count_b, "sprintf: %s, not %s", printed_a, printed_b);
        char *made_a = 0, *made_b = 0;
        int n_a = LIB(asprintf)(&made_a, "%*s and %-*d", 80 * width, text, 90 * precision, width);
        int n_b = asprintf(&made_b, "%*s and %-*d", 80 * width, text, 90 * precision, width);
        expect(n_a == n_b && !strcmp(made_a, made_b), "asprintf: %d %s, not %d %s", n_a, made_a, n_b, made_b);
        free(made_a);
        free(made_b);
    }
}

static void compare_print_of_floats(void)
{
    static char printed_a[640], printed_b[640];
    static const double awkward[] = {0, -0.0, 1, 0.1, 1e300, 1e-300, 1.0 / 0.0, -1.0 / 0.0, 12345.678, 99.99999};
    static const char *const kinds[] = {"f", "F", "e", "E", "g", "G", "a", "lf"};
    for (int i = 0; i < 5000; i++) {
        char format[24];
        random_directive(format, kinds[pick(8)]);
        double value = pick(2) ? awkward[pick(10)] : (double)random_number() / (1 + pick(100000));
        int number = 250 + (int)pick(100);
        EXPECT_SAME_PRINT(format, value);
        EXPECT_SAME_PRINT("%.*f", number, value);
        /* left to the library, with what stands beside them */
        EXPECT_SAME_PRINT("%2$s %1$d", number, "text");
        EXPECT_SAME_PRINT("%d %Lf %ls", number, (long double)number, L"wide");
    }
}

static void compare_printing(void)
{
    compare_print_of_whole("di");
    compare_print_of_whole("uxXo");
    compare_print_of_texts();
    compare_print_of_floats();
}
