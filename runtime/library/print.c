/* sprintf and its relatives: what a program prints into memory it may read again. Whole numbers, characters and texts are
 * written here, so that what they are made of is known: how many digits a number has is a path, each digit an expression. The
 * text of a floating-point number and of a pointer is the library's. Wide characters, numbered arguments and `long double`
 * are left to the library. */

/* Where the text goes: memory with so much room, or memory that grows. */
struct LIB(output) {
    char *text;
    size_t room, n;
    int grows, has_failed;
};

/* A directive from behind its '%'. */
struct LIB(printing) {
    char kind; /* the conversion's letter */
    char size; /* 'H' for hh, 'h', 'l', 'L' for ll and the like, 0 for int */
    int is_left, has_plus, has_space, has_mark, has_zeros;
    int takes_width, takes_precision; /* from an argument */
    int width, precision;             /* a precision of -1 is none */
};

struct LIB(values) {
    va_list list;
};

/* Without realloc, which a program with a malloc of its own may not have. */
static void LIB(grow)(struct LIB(output) * output)
{
    char *larger = malloc(2 * output->room);
    if (!larger) {
        output->has_failed = 1;
        return;
    }
    memcpy(larger, output->text, output->room);
    free(output->text);
    output->text = larger;
    output->room *= 2;
}

static void LIB(put)(struct LIB(output) * output, char c)
{
    if (output->grows && output->n == output->room && !output->has_failed)
        LIB(grow)(output);
    if (output->n < output->room)
        output->text[output->n] = c;
    output->n++;
}

static void LIB(put_times)(struct LIB(output) * output, char c, int n)
{
    for (; n > 0; n--)
        LIB(put)(output, c);
}

static const char *LIB(read_count)(const char *format, int *count, int *is_argument)
{
    if (*format == '*') {
        *is_argument = 1;
        return format + 1;
    }
    for (; IS_DIGIT((unsigned char)*format); format++)
        *count = *count < 100000 ? *count * 10 + (*format - '0') : *count;
    return format;
}

/* Reads a directive; returns what follows, or null when it is not known here. */
static const char *LIB(read_printing)(const char *format, struct LIB(printing) * directive)
{
    *directive = (struct LIB(printing)){.precision = -1};
    for (;; format++) {
        if (*format == '-')
            directive->is_left = 1;
        else if (*format == '+')
            directive->has_plus = 1;
        else if (*format == ' ')
            directive->has_space = 1;
        else if (*format == '#')
            directive->has_mark = 1;
        else if (*format == '0')
            directive->has_zeros = 1;
        else
            break;
    }
    format = LIB(read_count)(format, &directive->width, &directive->takes_width);
    if (*format == '.') {
        directive->precision = 0;
        format = LIB(read_count)(format + 1, &directive->precision, &directive->takes_precision);
    }
    if (*format == 'h' || *format == 'l') {
        char size = *format++;
        directive->size = size;
        if (*format == size) {
            format++;
            directive->size = size == 'h' ? 'H' : 'L';
        }
    } else if (*format == 'j') {
        format++;
        directive->size = 'L';
    } else if (*format == 'z' || *format == 't') {
        format++;
        directive->size = 'l';
    }
    char kind = directive->kind = *format;
    if (!kind || !strchr("diuxXocspn%fFeEgGaA", kind))
        return 0;
    int is_plain = format[-1] == '%', is_number = strchr("diuxXon", kind) != 0;
    if (kind == '%' && !is_plain)
        return 0;
    if (kind == 'p' && (directive->has_zeros || directive->has_plus || directive->has_space || directive->precision >= 0))
        return 0;
    if (directive->size && !is_number && (directive->size != 'l' || !strchr("fFeEgGaA", kind)))
        return 0;
    return format + 1;
}

static int LIB(is_known_printing)(const char *format)
{
    struct LIB(printing) directive;
    while (format && *format) {
        if (*format++ == '%')
            format = LIB(read_printing)(format, &directive);
    }
    return format != 0;
}

/* `n` characters between blanks, or zeros behind the prefix. */
static void LIB(put_padded)(struct LIB(output) * output, const struct LIB(printing) * directive, const char *prefix,
                            const char *text, int n, int n_zeros)
{
    int n_prefix = (int)strlen(prefix), n_blanks = directive->width - n_prefix - n - n_zeros;
    if (directive->has_zeros && !directive->is_left && n_blanks > 0) {
        n_zeros += n_blanks;
        n_blanks = 0;
    }
    if (!directive->is_left)
        LIB(put_times)(output, ' ', n_blanks);
    for (int i = 0; i < n_prefix; i++)
        LIB(put)(output, prefix[i]);
    LIB(put_times)(output, '0', n_zeros);
    for (int i = 0; i < n; i++)
        LIB(put)(output, text[i]);
    if (directive->is_left)
        LIB(put_times)(output, ' ', n_blanks);
}

/* Enough for the digits of any number in any base. */
#define MOST_PRINTED 24

static const unsigned long long LIB(decimal_powers)[20] = {
    1ull,
    10ull,
    100ull,
    1000ull,
    10000ull,
    100000ull,
    1000000ull,
    10000000ull,
    100000000ull,
    1000000000ull,
    10000000000ull,
    100000000000ull,
    1000000000000ull,
    10000000000000ull,
    100000000000000ull,
    1000000000000000ull,
    10000000000000000ull,
    100000000000000000ull,
    1000000000000000000ull,
    10000000000000000000ull,
};

/* The digits of a number that fits an int: terms of 32 bits are much easier to solve. */
static int LIB(print_short)(unsigned value, char *digits)
{
    int n = 1;
    while (n < 10 && value >= (unsigned)LIB(decimal_powers)[n])
        n++;
    for (int i = 0; i < n; i++)
        digits[i] = (char)('0' + value / (unsigned)LIB(decimal_powers)[n - 1 - i] % 10);
    return n;
}

static int LIB(print_long)(unsigned long long value, char *digits)
{
    int n = 1;
    while (n < 20 && value >= LIB(decimal_powers)[n])
        n++;
    for (int i = 0; i < n; i++)
        digits[i] = (char)('0' + value / LIB(decimal_powers)[n - 1 - i] % 10);
    return n;
}

/* In base 16 or 8, so many bits a digit; without a branch on the digit. */
static int LIB(print_bits)(unsigned long long value, int n_bits, int is_upper, char *digits)
{
    int n = 1;
    while (n * n_bits < 64 && value >> n * n_bits)
        n++;
    for (int i = 0; i < n; i++) {
        unsigned digit = (unsigned)(value >> (n - 1 - i) * n_bits) & ((1u << n_bits) - 1);
        digits[i] = (char)('0' + digit + (digit > 9) * (unsigned)((is_upper ? 'A' : 'a') - '0' - 10));
    }
    return n;
}

static long long LIB(signed_value)(const struct LIB(printing) * directive, struct LIB(values) * values)
{
    switch (directive->size) {
    case 'H':
        return (signed char)va_arg(values->list, int);
    case 'h':
        return (short)va_arg(values->list, int);
    case 'l':
        return va_arg(values->list, long);
    case 'L':
        return va_arg(values->list, long long);
    default:
        return va_arg(values->list, int);
    }
}

static unsigned long long LIB(unsigned_value)(const struct LIB(printing) * directive, struct LIB(values) * values)
{
    switch (directive->size) {
    case 'H':
        return (unsigned char)va_arg(values->list, unsigned);
    case 'h':
        return (unsigned short)va_arg(values->list, unsigned);
    case 'l':
        return va_arg(values->list, unsigned long);
    case 'L':
        return va_arg(values->list, unsigned long long);
    default:
        return va_arg(values->list, unsigned);
    }
}

static void LIB(put_whole)(struct LIB(output) * output, struct LIB(printing) * directive, struct LIB(values) * values)
{
    char digits[MOST_PRINTED], kind = directive->kind;
    const char *prefix = "";
    int is_short = directive->size != 'L' && (directive->size != 'l' || sizeof(long) == sizeof(int)), n;
    unsigned long long value;
    if (kind == 'd' || kind == 'i') {
        long long given = LIB(signed_value)(directive, values);
        int is_negative = is_short ? (int)given < 0 : given < 0;
        prefix = is_negative ? "-" : directive->has_plus ? "+" : directive->has_space ? " " : "";
        if (is_short)
            value = is_negative ? 0 - (unsigned)given : (unsigned)given;
        else
            value = is_negative ? 0 - (unsigned long long)given : (unsigned long long)given;
    } else {
        value = LIB(unsigned_value)(directive, values);
    }
    if (kind == 'x' || kind == 'X') {
        n = LIB(print_bits)(value, 4, kind == 'X', digits);
        if (directive->has_mark && value != 0)
            prefix = kind == 'x' ? "0x" : "0X";
    } else if (kind == 'o') {
        n = LIB(print_bits)(value, 3, 0, digits);
    } else {
        n = is_short ? LIB(print_short)((unsigned)value, digits) : LIB(print_long)(value, digits);
    }
    if (directive->precision >= 0)
        directive->has_zeros = 0;
    if (directive->precision == 0 && value == 0)
        n = 0;
    int n_zeros = directive->precision > n ? directive->precision - n : 0;
    if (kind == 'o' && directive->has_mark && n_zeros == 0 && (n == 0 || digits[0] != '0'))
        n_zeros = 1;
    LIB(put_padded)(output, directive, prefix, digits, n, n_zeros);
}

static void LIB(put_text)(struct LIB(output) * output, struct LIB(printing) * directive, const char *text)
{
    directive->has_zeros = 0;
    if (!text)
        text = directive->precision >= 0 && directive->precision < 6 ? "" : "(null)";
    if (directive->width <= 0) {
        for (int n = 0; (directive->precision < 0 || n < directive->precision) && text[n]; n++)
            LIB(put)(output, text[n]);
        return;
    }
    int n = 0;
    while ((directive->precision < 0 || n < directive->precision) && text[n])
        n++;
    LIB(put_padded)(output, directive, "", text, n, 0);
}

/* A floating-point number, as the library writes it. */
static void LIB(put_float)(struct LIB(output) * output, const struct LIB(printing) * directive, double value)
{
    char format[16], written[512], *text = written;
    int at = 0;
    format[at++] = '%';
    if (directive->is_left)
        format[at++] = '-';
    if (directive->has_plus)
        format[at++] = '+';
    if (directive->has_space)
        format[at++] = ' ';
    if (directive->has_mark)
        format[at++] = '#';
    if (directive->has_zeros)
        format[at++] = '0';
    format[at++] = '*';
    format[at++] = '.';
    format[at++] = '*';
    format[at++] = directive->kind;
    format[at] = 0;
    int n = snprintf(written, sizeof written, format, directive->width, directive->precision, value);
    if (n >= (int)sizeof written && (text = malloc((size_t)n + 1)))
        snprintf(text, (size_t)n + 1, format, directive->width, directive->precision, value);
    if (!text)
        return;
    for (int i = 0; i < n; i++)
        LIB(put)(output, text[i]);
    if (text != written)
        free(text);
}

static void LIB(put_pointer)(struct LIB(output) * output, struct LIB(printing) * directive, const void *pointer)
{
    char text[32];
    snprintf(text, sizeof text, "%p", pointer);
    LIB(put_text)(output, directive, text);
}

static void LIB(store_count)(const struct LIB(printing) * directive, struct LIB(values) * values, size_t n)
{
    LIB(store_whole)(va_arg(values->list, void *), directive->size, n);
}

static void LIB(put_value)(struct LIB(output) * output, struct LIB(printing) * directive, struct LIB(values) * values)
{
    if (directive->takes_width) {
        directive->width = va_arg(values->list, int);
        if (directive->width < 0) {
            directive->is_left = 1;
            directive->width = -directive->width;
        }
    }
    if (directive->takes_precision) {
        directive->precision = va_arg(values->list, int);
        if (directive->precision < 0)
            directive->precision = -1;
    }
    switch (directive->kind) {
    case '%':
        LIB(put)(output, '%');
        break;
    case 'c': {
        char c = (char)va_arg(values->list, int);
        directive->has_zeros = 0;
        LIB(put_padded)(output, directive, "", &c, 1, 0);
        break;
    }
    case 's':
        LIB(put_text)(output, directive, va_arg(values->list, const char *));
        break;
    case 'p':
        LIB(put_pointer)(output, directive, va_arg(values->list, const void *));
        break;
    case 'n':
        LIB(store_count)(directive, values, output->n);
        break;
    case 'd':
    case 'i':
    case 'u':
    case 'x':
    case 'X':
    case 'o':
        LIB(put_whole)(output, directive, values);
        break;
    default:
        LIB(put_float)(output, directive, va_arg(values->list, double));
        break;
    }
}

/* Writes what a known format says, without a zero byte at the end. */
static void LIB(print)(struct LIB(output) * output, const char *format, struct LIB(values) * values)
{
    struct LIB(printing) directive;
    while (*format) {
        if (*format != '%') {
            LIB(put)(output, *format++);
            continue;
        }
        format = LIB(read_printing)(format + 1, &directive);
        LIB(put_value)(output, &directive, values);
    }
}

int LIB(vsnprintf)(char *text, size_t room, const char *format, va_list list)
{
    if (!LIB(is_known_printing)(format))
        return vsnprintf(text, room, format, list);
    struct LIB(output) output = {.text = text, .room = room};
    struct LIB(values) values;
    va_copy(values.list, list);
    LIB(print)(&output, format, &values);
    va_end(values.list);
    if (room)
        text[output.n < room ? output.n : room - 1] = 0;
    return (int)output.n;
}

int LIB(vsprintf)(char *text, const char *format, va_list list)
{
    if (!LIB(is_known_printing)(format))
        return vsprintf(text, format, list);
    return LIB(vsnprintf)(text, SIZE_MAX, format, list);
}

/* Room for a text whose length is not known yet. */
#define FIRST_ROOM 128

int LIB(vasprintf)(char **text, const char *format, va_list list)
{
    if (!LIB(is_known_printing)(format))
        return vasprintf(text, format, list);
    struct LIB(output) output = {.text = malloc(FIRST_ROOM), .room = FIRST_ROOM, .grows = 1};
    if (!output.text)
        return -1;
    struct LIB(values) values;
    va_copy(values.list, list);
    LIB(print)(&output, format, &values);
    LIB(put)(&output, 0);
    va_end(values.list);
    if (output.has_failed) {
        free(output.text);
        return -1;
    }
    *text = output.text;
    return (int)output.n - 1;
}

#define PRINT_WITH(call)                                                                                               \
    va_list list;                                                                                                      \
    va_start(list, format);                                                                                            \
    int n = call;                                                                                                      \
    va_end(list);                                                                                                      \
    return n

int LIB(snprintf)(char *text, size_t room, const char *format, ...)
{
    PRINT_WITH(LIB(vsnprintf)(text, room, format, list));
}

int LIB(sprintf)(char *text, const char *format, ...)
{
    PRINT_WITH(LIB(vsprintf)(text, format, list));
}

int LIB(asprintf)(char **text, const char *format, ...)
{
    PRINT_WITH(LIB(vasprintf)(text, format, list));
}

/* glibc's checked variants. */

int LIB(__vsnprintf_chk)(char *text, size_t room, int flag, size_t size, const char *format, va_list list)
{
    (void)flag, (void)size;
    return LIB(vsnprintf)(text, room, format, list);
}

int LIB(__vsprintf_chk)(char *text, int flag, size_t size, const char *format, va_list list)
{
    (void)flag, (void)size;
    return LIB(vsprintf)(text, format, list);
}

int LIB(__vasprintf_chk)(char **text, int flag, const char *format, va_list list)
{
    (void)flag;
    return LIB(vasprintf)(text, format, list);
}

int LIB(__snprintf_chk)(char *text, size_t room, int flag, size_t size, const char *format, ...)
{
    (void)flag, (void)size;
    PRINT_WITH(LIB(vsnprintf)(text, room, format, list));
}

int LIB(__sprintf_chk)(char *text, int flag, size_t size, const char *format, ...)
{
    (void)flag, (void)size;
    PRINT_WITH(LIB(vsprintf)(text, format, list));
}

int LIB(__asprintf_chk)(char **text, int flag, const char *format, ...)
{
    (void)flag;
    PRINT_WITH(LIB(vasprintf)(text, format, list));
}
