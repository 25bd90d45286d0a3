/* sscanf: whole numbers, words, characters and sets. A format with anything else goes to the library. */

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

/* A whole number; null when there is none. */
static const char *LIB(scan_whole)(const char *at, const struct LIB(directive) * directive, unsigned long long *value)
{
    const char *stop = directive->width ? at + directive->width : 0;
    struct LIB(number) number = {0, 0, 0, 0, 0};
    int base = directive->kind == 'o' ? 8 : 10;
    if (directive->kind == 'x' || directive->kind == 'X')
        base = 16;
    if (directive->kind == 'i')
        base = 0;
    if (*at == '-' || *at == '+')
        number.is_negative = *at++ == '-';
    if (at != stop && (base == 0 || base == 16) && *at == '0') {
        number.is_there = 1;
        at++;
        if (at != stop && (*at | 32) == 'x') {
            base = 16;
            at++;
        } else if (base == 0) {
            base = 8;
        }
    }
    if (base == 0)
        base = 10;
    int is_wide = directive->size == 'L' || sizeof(long) == sizeof(long long);
    unsigned long long most = is_wide ? ULLONG_MAX : ULONG_MAX;
    at = LIB(add_digits)(&number, at, stop, base, most);
    *value = LIB(saturated)(number, directive->kind == 'd' || directive->kind == 'i', most);
    return number.is_there ? at : 0;
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

/* Characters of a word, a set or of any kind; `to` may be null. Null when there are none. */
static const char *LIB(scan_text)(const char *at, const struct LIB(directive) * directive, char *to)
{
    const char *first = at;
    size_t most = directive->width ? directive->width : directive->kind == 'c' ? 1 : SIZE_MAX;
    for (size_t n = 0; n < most && *at; n++, at++) {
        if (directive->kind == 's' && IS_SPACE((unsigned char)*at))
            break;
        if (directive->kind == '[' && !LIB(set_has)(directive, *at))
            break;
        if (to)
            *to++ = *at;
    }
    if (at == first)
        return 0;
    if (to && directive->kind != 'c')
        *to = 0;
    return at;
}

static const char *LIB(skip_space)(const char *at)
{
    while (IS_SPACE((unsigned char)*at))
        at++;
    return at;
}

int LIB(vsscanf)(const char *text, const char *format, va_list arguments)
{
    if (!LIB(is_known_format)(format))
        return vsscanf(text, format, arguments);
    int n_stored = 0;
    const char *at = text;
    while (*format) {
        struct LIB(directive) directive = {.kind = '%'};
        char literal = *format++;
        if (IS_SPACE((unsigned char)literal)) {
            at = LIB(skip_space)(at);
            continue;
        }
        if (literal == '%') {
            format = LIB(read_directive)(format, &directive);
            if (!strchr("c[n", directive.kind))
                at = LIB(skip_space)(at);
        }
        if (directive.kind == 'n') {
            if (!directive.is_dropped)
                LIB(store_whole)(va_arg(arguments, void *), directive.size, (unsigned long long)(at - text));
            continue;
        }
        if (!*at)
            return n_stored ? n_stored : EOF;
        if (directive.kind == '%') {
            if (*at++ != literal)
                return n_stored;
            continue;
        }
        void *to = directive.is_dropped ? 0 : va_arg(arguments, void *);
        unsigned long long value = 0;
        int is_text = directive.kind == 'c' || directive.kind == 's' || directive.kind == '[';
        at = is_text ? LIB(scan_text)(at, &directive, to) : LIB(scan_whole)(at, &directive, &value);
        if (!at)
            return n_stored;
        if (to && !is_text)
            LIB(store_whole)(to, directive.size, value);
        n_stored += to != 0;
    }
    return n_stored;
}

int LIB(sscanf)(const char *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int n_stored = LIB(vsscanf)(text, format, arguments);
    va_end(arguments);
    return n_stored;
}
