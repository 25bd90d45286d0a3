/* sscanf and fscanf: whole numbers, words, characters and sets. Any other format is left to the library. */

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
    if (!directive->kind || !strchr("diuxXocsn%[", directive->kind))
        return 0;
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
