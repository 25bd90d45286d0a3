/* Searching in strings. The result is a pointer, and what the program does with it depends on where it points: positions
 * are paths. */

char *LIB(strchrnul)(const char *text, int c)
{
    while (*text && *text != (char)c)
        text++;
    return (char *)text;
}

char *LIB(strchr)(const char *text, int c)
{
    for (;; text++) {
        if (*text == (char)c)
            return (char *)text;
        if (!*text)
            return 0;
    }
}

char *LIB(index)(const char *text, int c)
{
    return LIB(strchr)(text, c);
}

char *LIB(strrchr)(const char *text, int c)
{
    const char *end = text;
    while (*end)
        end++;
    for (; end != text; end--)
        if (*end == (char)c)
            return (char *)end;
    return *end == (char)c ? (char *)end : 0;
}

char *LIB(rindex)(const char *text, int c)
{
    return LIB(strrchr)(text, c);
}

void *LIB(memchr)(const void *memory, int c, size_t n)
{
    const unsigned char *bytes = memory;
    for (size_t i = 0; i < n; i++)
        if (bytes[i] == (unsigned char)c)
            return (void *)(bytes + i);
    return 0;
}

void *LIB(memrchr)(const void *memory, int c, size_t n)
{
    const unsigned char *bytes = memory;
    while (n-- > 0)
        if (bytes[n] == (unsigned char)c)
            return (void *)(bytes + n);
    return 0;
}

void *LIB(rawmemchr)(const void *memory, int c)
{
    const unsigned char *byte = memory;
    while (*byte != (unsigned char)c)
        byte++;
    return (void *)byte;
}

/* Whether the text begins with the other one; byte by byte, so that the search can get there byte by byte. */
static int LIB(begins)(const char *text, const char *with)
{
    for (; *with; text++, with++)
        if (*text != *with)
            return 0;
    return 1;
}

char *LIB(strstr)(const char *text, const char *wanted)
{
    for (;; text++) {
        if (LIB(begins)(text, wanted))
            return (char *)text;
        if (!*text)
            return 0;
    }
}

static int LIB(begins_folded)(const char *text, const char *with)
{
    for (; *with; text++, with++)
        if (LIB(tolower)((unsigned char)*text) != LIB(tolower)((unsigned char)*with))
            return 0;
    return 1;
}

char *LIB(strcasestr)(const char *text, const char *wanted)
{
    for (;; text++) {
        if (LIB(begins_folded)(text, wanted))
            return (char *)text;
        if (!*text)
            return 0;
    }
}

void *LIB(memmem)(const void *memory, size_t n, const void *wanted, size_t n_wanted)
{
    const unsigned char *bytes = memory, *other = wanted;
    for (size_t i = 0; n_wanted <= n && i <= n - n_wanted; i++) {
        size_t k = 0;
        while (k < n_wanted && bytes[i + k] == other[k])
            k++;
        if (k == n_wanted)
            return (void *)(bytes + i);
    }
    return 0;
}

/* Whether a byte is in a set, as one term: which of the set's bytes it is makes no difference to the caller. */
static int LIB(is_in)(char c, const char *set)
{
    int found = 0;
    for (; *set; set++)
        found |= *set == c;
    return found;
}

size_t LIB(strspn)(const char *text, const char *accepted)
{
    size_t n = 0;
    while (text[n] && LIB(is_in)(text[n], accepted))
        n++;
    return n;
}

size_t LIB(strcspn)(const char *text, const char *rejected)
{
    size_t n = 0;
    while (text[n] && !LIB(is_in)(text[n], rejected))
        n++;
    return n;
}

char *LIB(strpbrk)(const char *text, const char *accepted)
{
    text += LIB(strcspn)(text, accepted);
    return *text ? (char *)text : 0;
}

char *LIB(strtok_r)(char *text, const char *delimiters, char **rest)
{
    if (!text)
        text = *rest;
    text += LIB(strspn)(text, delimiters);
    if (!*text) {
        *rest = text;
        return 0;
    }
    char *end = text + LIB(strcspn)(text, delimiters);
    if (*end)
        *end++ = 0;
    *rest = end;
    return text;
}

char *LIB(__strtok_r)(char *text, const char *delimiters, char **rest)
{
    return LIB(strtok_r)(text, delimiters, rest);
}

char *LIB(strtok)(char *text, const char *delimiters)
{
    static char *rest;
    return LIB(strtok_r)(text, delimiters, &rest);
}

char *LIB(strsep)(char **text, const char *delimiters)
{
    char *begin = *text;
    if (!begin)
        return 0;
    char *end = begin + LIB(strcspn)(begin, delimiters);
    if (*end) {
        *end = 0;
        *text = end + 1;
    } else {
        *text = 0;
    }
    return begin;
}
