/* Functions whose direct calls stay the library's own, with a term for the result built by the runtime. These models are
 * used if such a function is called through a pointer. */

size_t LIB(strlen)(const char *text)
{
    return strlen(text);
}

size_t LIB(strnlen)(const char *text, size_t n)
{
    return strnlen(text, n);
}

int LIB(strcmp)(const char *a, const char *b)
{
    return strcmp(a, b);
}

int LIB(strcoll)(const char *a, const char *b)
{
    return strcoll(a, b);
}

int LIB(strncmp)(const char *a, const char *b, size_t n)
{
    return strncmp(a, b, n);
}

int LIB(strcasecmp)(const char *a, const char *b)
{
    return strcasecmp(a, b);
}

int LIB(strncasecmp)(const char *a, const char *b, size_t n)
{
    return strncasecmp(a, b, n);
}

int LIB(memcmp)(const void *a, const void *b, size_t n)
{
    return memcmp(a, b, n);
}

int LIB(bcmp)(const void *a, const void *b, size_t n)
{
    return bcmp(a, b, n);
}
