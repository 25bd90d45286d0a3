/* Copies and parts of strings. The length of a string decides where the copy goes, so lengths are paths here. */

char *LIB(stpcpy)(char *to, const char *from)
{
    while ((*to = *from)) {
        to++;
        from++;
    }
    return to;
}

char *LIB(strcpy)(char *to, const char *from)
{
    LIB(stpcpy)(to, from);
    return to;
}

char *LIB(stpncpy)(char *to, const char *from, size_t n)
{
    size_t i = 0;
    while (i < n && from[i]) {
        to[i] = from[i];
        i++;
    }
    char *end = to + i;
    if (i < n)
        memset(end, 0, n - i);
    return end;
}

char *LIB(strncpy)(char *to, const char *from, size_t n)
{
    LIB(stpncpy)(to, from, n);
    return to;
}

static char *LIB(end_of)(char *text)
{
    while (*text)
        text++;
    return text;
}

char *LIB(strcat)(char *to, const char *from)
{
    LIB(stpcpy)(LIB(end_of)(to), from);
    return to;
}

char *LIB(strncat)(char *to, const char *from, size_t n)
{
    char *end = LIB(end_of)(to);
    for (size_t i = 0; i < n && from[i]; i++)
        *end++ = from[i];
    *end = 0;
    return to;
}

/* With the size of the destination, as programs built with _FORTIFY_SOURCE call them. */
extern void __chk_fail(void) __attribute__((noreturn));

static size_t LIB(length_within)(const char *text, size_t size)
{
    size_t n = 0;
    while (text[n])
        n++;
    if (n >= size)
        __chk_fail();
    return n;
}

char *LIB(__stpcpy_chk)(char *to, const char *from, size_t size)
{
    size_t n = LIB(length_within)(from, size);
    memcpy(to, from, n + 1);
    return to + n;
}

char *LIB(__strcpy_chk)(char *to, const char *from, size_t size)
{
    LIB(__stpcpy_chk)(to, from, size);
    return to;
}

char *LIB(__strncpy_chk)(char *to, const char *from, size_t n, size_t size)
{
    if (n > size)
        __chk_fail();
    return LIB(strncpy)(to, from, n);
}

char *LIB(__strcat_chk)(char *to, const char *from, size_t size)
{
    size_t n = LIB(length_within)(to, size);
    LIB(__stpcpy_chk)(to + n, from, size - n);
    return to;
}

char *LIB(__strncat_chk)(char *to, const char *from, size_t n, size_t size)
{
    size_t length = LIB(length_within)(to, size), n_added = 0;
    while (n_added < n && from[n_added])
        n_added++;
    if (n_added >= size - length)
        __chk_fail();
    memcpy(to + length, from, n_added);
    to[length + n_added] = 0;
    return to;
}

size_t LIB(strlcpy)(char *to, const char *from, size_t size)
{
    size_t i = 0;
    for (; from[i]; i++)
        if (i + 1 < size)
            to[i] = from[i];
    if (size)
        to[i < size ? i : size - 1] = 0;
    return i;
}

size_t LIB(strlcat)(char *to, const char *from, size_t size)
{
    size_t n = 0;
    while (n < size && to[n])
        n++;
    return n + LIB(strlcpy)(to + n, from, size - n);
}

char *LIB(strndup)(const char *text, size_t n)
{
    size_t length = 0;
    while (length < n && text[length])
        length++;
    char *copy = LIB(fails)() ? 0 : malloc(length + 1);
    if (!copy)
        return 0;
    memcpy(copy, text, length);
    copy[length] = 0;
    return copy;
}

char *LIB(strdup)(const char *text)
{
    return LIB(strndup)(text, SIZE_MAX);
}

char *LIB(__strdup)(const char *text)
{
    return LIB(strdup)(text);
}

void *LIB(memccpy)(void *to, const void *from, int c, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        unsigned char byte = ((const unsigned char *)from)[i];
        ((unsigned char *)to)[i] = byte;
        if (byte == (unsigned char)c)
            return (unsigned char *)to + i + 1;
    }
    return 0;
}
