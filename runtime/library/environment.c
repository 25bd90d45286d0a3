/* The environment, and memory that may run out. */

char *LIB(getenv)(const char *name)
{
    char *found = getenv(name);
    for (unsigned i = 0; i < __quarry_n_variables; i++) {
        if (strcmp(name, __quarry_variables[i].name) != 0 || !__quarry_is_as_given(i, found))
            continue;
        return __quarry_variables[i].is_set ? found : 0;
    }
    return found;
}

char *LIB(secure_getenv)(const char *name)
{
    return LIB(getenv)(name);
}

/* Whether an allocation of the program fails because the input says so. */
static int LIB(fails)(void)
{
    const unsigned char *choice = __quarry_allocation();
    if (!choice || !*choice)
        return 0;
    errno = ENOMEM;
    return 1;
}

void *LIB(malloc)(size_t n)
{
    return LIB(fails)() ? 0 : malloc(n);
}

void *LIB(calloc)(size_t n, size_t size)
{
    return LIB(fails)() ? 0 : calloc(n, size);
}

void *LIB(realloc)(void *memory, size_t n)
{
    return LIB(fails)() ? 0 : realloc(memory, n);
}

void *LIB(reallocarray)(void *memory, size_t n, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(n, size, &bytes)) {
        errno = ENOMEM;
        return 0;
    }
    return LIB(realloc)(memory, bytes);
}
