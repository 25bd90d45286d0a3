/* Character classes and case, without branches: the result is one term. The values are those of glibc's table, because
 * programs do compare and print them. */

#define CLASS(name, value, test)                                                                                       \
    int LIB(name)(int c)                                                                                               \
    {                                                                                                                  \
        return (int)(test) * (value);                                                                                  \
    }

#define IS_UPPER(c) IN_RANGE(c, 'A', 'Z')
#define IS_LOWER(c) IN_RANGE(c, 'a', 'z')
#define IS_DIGIT(c) IN_RANGE(c, '0', '9')
#define IS_ALPHA(c) (IS_UPPER(c) | IS_LOWER(c))
#define IS_SPACE(c) (((c) == ' ') | IN_RANGE(c, '\t', '\r'))

CLASS(isupper, 0x100, IS_UPPER(c))
CLASS(islower, 0x200, IS_LOWER(c))
CLASS(isalpha, 0x400, IS_ALPHA(c))
CLASS(isdigit, 0x800, IS_DIGIT(c))
CLASS(isxdigit, 0x1000, IS_DIGIT(c) | IN_RANGE(c, 'A', 'F') | IN_RANGE(c, 'a', 'f'))
CLASS(isspace, 0x2000, IS_SPACE(c))
CLASS(isprint, 0x4000, IN_RANGE(c, ' ', '~'))
CLASS(isgraph, 0x8000, IN_RANGE(c, '!', '~'))
CLASS(isblank, 1, ((c) == ' ') | ((c) == '\t'))
CLASS(iscntrl, 2, IN_RANGE(c, 0, 31) | ((c) == 127))
CLASS(ispunct, 4, IN_RANGE(c, '!', '~') & !IS_ALPHA(c) & !IS_DIGIT(c))
CLASS(isalnum, 8, IS_ALPHA(c) | IS_DIGIT(c))
CLASS(isascii, 1, ((c) & ~0x7f) == 0)

/* A plain char above 127 comes as a negative number; glibc's table answers with the unsigned one. */
#define AS_TABLE(c) ((c) + (int)IN_RANGE(c, -128, -2) * 256)

int LIB(tolower)(int c)
{
    return AS_TABLE(c) + (int)IS_UPPER(c) * ('a' - 'A');
}

int LIB(toupper)(int c)
{
    return AS_TABLE(c) - (int)IS_LOWER(c) * ('a' - 'A');
}

int LIB(toascii)(int c)
{
    return c & 0x7f;
}
