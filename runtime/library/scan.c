/* sscanf and fscanf: numbers, words, characters and sets. Long doubles and wide characters are left to the library. */

/* What is scanned: a string, or a stream of which one character is read ahead. */
struct LIB(source) {
    const char *text; /* where the next character is; null: a stream */
    FILE *stream;
    int ahead;    /* the stream's next character, */
    int is_ahead; /* if it was read */
    int end;      /* what stands for the end */
    size_t n;     /* characters taken */
};

/* The next character, which is not taken. */
static int LIB(peek)(struct LIB(source) * source)
{
    if (source->text)
        return (unsigned char)*source->text;
    if (!source->is_ahead) {
        source->ahead = LIB(fgetc)(source->stream);
        source->is_ahead = 1;
    }
    return source->ahead;
}

static void LIB(take)(struct LIB(source) * source)
{
    source->n++;
    source->is_ahead = 0;
    if (source->text)
        source->text++;
}

struct LIB(directive) {
    char kind;       /* the conversion's letter */
    char size;       /* 'H' for hh, 'h', 'l', 'L' for ll and the like, 0 for int */
    int is_dropped;  /* whether the result is stored nowhere */
    size_t width;    /* at most so many characters, 0: any number */
    const char *set; /* of '[': what stands between the brackets, */
    const char *set_end;
    int set_excludes; /* and whether it lists what is not wanted */
};

/* Reads a directive from behind its '%'; returns what follows, or null when it is not known here. */
static const char *LIB(read_directive)(const char *format, struct LIB(directive) * directive)
{
    *directive = (struct LIB(directive)){0};
    if (*format == '*') {
        directive->is_dropped = 1;
        format++;
    }
    for (; IS_DIGIT((unsigned char)*format); format++)
        directive->width = directive->width * 10 + (size_t)(*format - '0');
    char size = *format;
    if (size == 'h' || size == 'l') {
        format++;
        directive->size = size;
        if (*format == size) {
            format++;
            directive->size = size == 'h' ? 'H' : 'L';
        }
    } else if (size == 'j' || size == 'z' || size == 't') {
        format++;
        directive->size = size == 'j' ? 'L' : 'l';
    }
    directive->kind = *format++;
    if (!directive->kind || !strchr("diuxXocsn%[aAeEfFgG", directive->kind))
        return 0;
    if (strchr("aAeEfFgG", directive->kind)) {
        directive->kind = 'f';
        return directive->size && directive->size != 'l' ? 0 : format;
    }
    if (strchr("cs[", directive->kind) && directive->size)
        return 0; /* wide characters */
    if (directive->kind != '[')
        return format;
    if (*format == '^') {
        directive->set_excludes = 1;
        format++;
    }
    directive->set = format;
    if (*format == ']')
        format++;
    while (*format && *format != ']')
        format++;
    directive->set_end = format;
    return *format ? format + 1 : 0;
}

static int LIB(is_known_format)(const char *format)
{
    struct LIB(directive) directive;
    while (format && *format) {
        if (*format++ == '%')
            format = LIB(read_directive)(format, &directive);
    }
    return format != 0;
}

static void LIB(store_whole)(void *to, char size, unsigned long long value)
{
    switch (size) {
    case 'H':
        *(unsigned char *)to = (unsigned char)value;
        break;
    case 'h':
        *(unsigned short *)to = (unsigned short)value;
        break;
    case 'l':
        *(unsigned long *)to = (unsigned long)value;
        break;
    case 'L':
        *(unsigned long long *)to = value;
        break;
    default:
        *(unsigned *)to = (unsigned)value;
        break;
    }
}

/* What strtol, strtoul and the long ones make of a number. */
static unsigned long long LIB(saturated)(struct LIB(number) number, int is_signed, unsigned long long most)
{
    unsigned long long greatest = is_signed ? most >> 1 : most;
    if (number.overflows || (is_signed && LIB(too_large)(number, greatest))) {
        errno = ERANGE;
        return is_signed && number.is_negative ? greatest + 1 : greatest;
    }
    return number.is_negative ? 0 - number.magnitude : number.magnitude;
}

/* A whole number; 0 when there is none. */
static int LIB(scan_whole)(struct LIB(source) * source, const struct LIB(directive) * directive,
                           unsigned long long *value)
{
    size_t stop = directive->width ? source->n + directive->width : SIZE_MAX;
    struct LIB(number) number = {0};
    int base = directive->kind == 'o' ? 8 : 10, c = LIB(peek)(source);
    if (directive->kind == 'x' || directive->kind == 'X')
        base = 16;
    if (directive->kind == 'i')
        base = 0;
    if (c == '-' || c == '+') {
        number.is_negative = c == '-';
        LIB(take)(source);
    }
    if (source->n < stop && (base == 0 || base == 16) && LIB(peek)(source) == '0') {
        number.is_there = 1;
        LIB(take)(source);
        if (source->n < stop && (LIB(peek)(source) | 32) == 'x') {
            base = 16;
            LIB(take)(source);
        } else if (base == 0) {
            base = 8;
        }
    }
    if (base == 0)
        base = 10;
    int is_wide = directive->size == 'L' || sizeof(long) == sizeof(long long);
    unsigned long long most = is_wide ? ULLONG_MAX : ULONG_MAX;
    while (source->n < stop && LIB(add_digit)(&number, (char)LIB(peek)(source), base, most))
        LIB(take)(source);
    *value = LIB(saturated)(number, directive->kind == 'd' || directive->kind == 'i', most);
    return number.is_there;
}

/* Characters of a floating-point number that are kept; more of them are no text that a person writes. */
#define FLOAT_LENGTH 400

/* A floating-point number: its characters, and what they are worth if it is decimal and short. */
struct LIB(float_text) {
    char text[FLOAT_LENGTH];
    size_t n;
    size_t stop; /* the source's count at which its width is used up */
    struct LIB(decimal) decimal;
    int is_plain;
};

/* Takes the next character; 0 when there is none left to look at behind it. */
static int LIB(take_of_float)(struct LIB(source) * source, struct LIB(float_text) * number)
{
    if (number->n + 1 < sizeof number->text)
        number->text[number->n++] = (char)LIB(peek)(source);
    else
        number->is_plain = 0;
    LIB(take)(source);
    return source->n < number->stop && LIB(peek)(source) != source->end;
}

/* The rest of "nan", "inf" or "infinity", of which the first character is next. */
static int LIB(scan_name)(struct LIB(source) * source, struct LIB(float_text) * number, const char *name)
{
    number->is_plain = 0;
    for (; *name; name++) {
        if ((LIB(peek)(source) | 32) != *name)
            return 0;
        if (!LIB(take_of_float)(source, number))
            return !name[1];
    }
    return 1;
}

/* Digits, a point and an exponent, as far as they go. */
static void LIB(scan_digits)(struct LIB(source) * source, struct LIB(float_text) * number)
{
    struct LIB(decimal) *decimal = &number->decimal;
    int has_digit = 0, has_point = 0, has_exponent = 0, base = 10, exponent_is_negative = 0, exponent = 0, after_e = 0;
    if (LIB(peek)(source) == '0') {
        has_digit = 1;
        decimal->n_digits = 1;
        if (!LIB(take_of_float)(source, number))
            return;
        if ((LIB(peek)(source) | 32) == 'x') {
            number->is_plain = has_digit = 0;
            base = 16;
            if (!LIB(take_of_float)(source, number))
                return;
        }
    }
    for (;;) {
        int c = LIB(peek)(source), is_behind_e = after_e;
        after_e = 0;
        if (IS_DIGIT(c)) {
            has_digit = 1;
            if (has_exponent)
                exponent = exponent < 100000 ? exponent * 10 + (c - '0') : exponent;
            else {
                if (decimal->n_digits++ < EXACT_DIGITS)
                    decimal->digits = decimal->digits * 10 + (c - '0');
                decimal->exponent -= has_point;
            }
        } else if (base == 16 && !has_exponent && LIB(digit)((char)c, 16) < 16) {
            has_digit = 1;
        } else if (is_behind_e && (c == '-' || c == '+')) {
            exponent_is_negative = c == '-';
        } else if (has_digit && !has_exponent && (c | 32) == (base == 16 ? 'p' : 'e')) {
            has_exponent = has_point = after_e = 1;
        } else if (c == '.' && !has_point) {
            has_point = 1;
        } else {
            break;
        }
        if (!LIB(take_of_float)(source, number))
            break;
    }
    decimal->exponent += exponent_is_negative ? -exponent : exponent;
}

/* A floating-point number; 0 when there is none. The characters are those that glibc takes, also when they are none in the end. */
static int LIB(scan_float)(struct LIB(source) * source, const struct LIB(directive) * directive, double *value)
{
    struct LIB(float_text) number;
    number.n = 0;
    number.stop = directive->width ? source->n + directive->width : SIZE_MAX;
    number.decimal = (struct LIB(decimal)){0};
    number.is_plain = 1;
    int c = LIB(peek)(source);
    if (c == '-' || c == '+') {
        number.decimal.is_negative = c == '-';
        if (!LIB(take_of_float)(source, &number))
            return 0;
        c = LIB(peek)(source);
    }
    if ((c | 32) == 'n') {
        if (!LIB(scan_name)(source, &number, "nan"))
            return 0;
    } else if ((c | 32) == 'i') {
        size_t n = source->n;
        if (!LIB(scan_name)(source, &number, "inf"))
            return 0;
        int goes_on = source->n - n == 3 && source->n < number.stop && (LIB(peek)(source) | 32) == 'i';
        if (goes_on && !LIB(scan_name)(source, &number, "inity"))
            return 0;
    } else {
        LIB(scan_digits)(source, &number);
    }
    number.text[number.n] = 0;
    if (number.is_plain) {
        number.decimal.end = number.text;
        if (!number.decimal.n_digits)
            return 0;
        if (directive->size ? LIB(is_exact)(&number.decimal) : LIB(is_exact_float)(&number.decimal)) {
            *value = directive->size ? LIB(value_of)(&number.decimal) : (double)LIB(float_of)(&number.decimal);
            return 1;
        }
    } else if ((number.text[number.n - 1] | 32) == 'x') {
        return 0;
    }
    char *end;
    *value = directive->size ? strtod(number.text, &end) : (double)strtof(number.text, &end);
    return end != number.text;
}

/* Whether a set has a character, as one term. */
static int LIB(set_has)(const struct LIB(directive) * directive, char c)
{
    int found = 0;
    for (const char *at = directive->set; at != directive->set_end; at++) {
        int is_range = at[1] == '-' && at + 2 != directive->set_end && (unsigned char)at[0] <= (unsigned char)at[2];
        if (is_range) {
            found |= IN_RANGE((unsigned char)c, (unsigned char)at[0], (unsigned char)at[2]);
            at += 2;
        } else {
            found |= *at == c;
        }
    }
    return found ^ directive->set_excludes;
}

/* Characters of a word, a set or of any kind; `to` may be null. 0 when there are none. */
static int LIB(scan_text)(struct LIB(source) * source, const struct LIB(directive) * directive, char *to)
{
    size_t most = directive->width ? directive->width : directive->kind == 'c' ? 1 : SIZE_MAX, n = 0;
    for (; n < most; n++) {
        int c = LIB(peek)(source);
        if (c == source->end || (directive->kind == 's' && IS_SPACE(c)))
            break;
        if (directive->kind == '[' && !LIB(set_has)(directive, (char)c))
            break;
        if (to)
            *to++ = (char)c;
        LIB(take)(source);
    }
    if (n == 0)
        return 0;
    if (to && directive->kind != 'c')
        *to = 0;
    return 1;
}

static void LIB(skip_space)(struct LIB(source) * source)
{
    while (IS_SPACE(LIB(peek)(source)))
        LIB(take)(source);
}

/* Scans by a known format. */
static int LIB(scan)(struct LIB(source) * source, const char *format, va_list arguments)
{
    int n_stored = 0;
    while (*format) {
        struct LIB(directive) directive = {.kind = '%'};
        char literal = *format++;
        if (IS_SPACE((unsigned char)literal)) {
            LIB(skip_space)(source);
            continue;
        }
        if (literal == '%') {
            format = LIB(read_directive)(format, &directive);
            if (!strchr("c[n", directive.kind))
                LIB(skip_space)(source);
        }
        if (directive.kind == 'n') {
            if (!directive.is_dropped)
                LIB(store_whole)(va_arg(arguments, void *), directive.size, source->n);
            continue;
        }
        if (LIB(peek)(source) == source->end)
            return n_stored ? n_stored : EOF;
        if (directive.kind == '%') {
            if (LIB(peek)(source) != (unsigned char)literal)
                return n_stored;
            LIB(take)(source);
            continue;
        }
        void *to = directive.is_dropped ? 0 : va_arg(arguments, void *);
        if (directive.kind == 'f') {
            double value = 0;
            if (!LIB(scan_float)(source, &directive, &value))
                return n_stored;
            if (to && directive.size)
                *(double *)to = value;
            else if (to)
                *(float *)to = (float)value;
            n_stored += to != 0;
            continue;
        }
        unsigned long long value = 0;
        int is_text = directive.kind == 'c' || directive.kind == 's' || directive.kind == '[';
        if (!(is_text ? LIB(scan_text)(source, &directive, to) : LIB(scan_whole)(source, &directive, &value)))
            return n_stored;
        if (to && !is_text)
            LIB(store_whole)(to, directive.size, value);
        n_stored += to != 0;
    }
    return n_stored;
}

int LIB(vsscanf)(const char *text, const char *format, va_list arguments)
{
    if (!LIB(is_known_format)(format))
        return vsscanf(text, format, arguments);
    struct LIB(source) source = {.text = text};
    return LIB(scan)(&source, format, arguments);
}

int LIB(sscanf)(const char *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int n_stored = LIB(vsscanf)(text, format, arguments);
    va_end(arguments);
    return n_stored;
}

int LIB(vfscanf)(FILE *stream, const char *format, va_list arguments)
{
    int file = LIB(open_file)(stream);
    if (file >= 0 && LIB(is_known_format)(format)) {
        struct LIB(source) source = {.stream = stream, .end = EOF};
        int n_stored = LIB(scan)(&source, format, arguments);
        if (source.is_ahead && source.ahead != EOF)
            __quarry_push_back(&source.ahead, stream);
        return n_stored;
    }
    long long begin = file < 0 ? 0 : __quarry_position(stream);
    int n_stored = vfscanf(stream, format, arguments);
    __quarry_forget_position(stream);
    if (file >= 0) /* it also looked at the character that it stopped at */
        __quarry_depends_on(file, begin, __quarry_position(stream) + 1);
    return n_stored;
}

int LIB(vscanf)(const char *format, va_list arguments)
{
    return LIB(vfscanf)(stdin, format, arguments);
}

int LIB(fscanf)(FILE *stream, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int n_stored = LIB(vfscanf)(stream, format, arguments);
    va_end(arguments);
    return n_stored;
}

int LIB(scanf)(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int n_stored = LIB(vfscanf)(stdin, format, arguments);
    va_end(arguments);
    return n_stored;
}
