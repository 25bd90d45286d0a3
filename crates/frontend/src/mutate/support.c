/* Selects a mutant of a program that has them all. */
extern char *getenv(const char *);
extern long write(int, const void *, unsigned long);

#define RECORD 197
#define MOST 1000000u

/* 0 selects none; the greatest number asks what is reached */
unsigned __quarry_mutant;

static unsigned char quarry_reached[MOST / 8 + 1];

void __quarry_reach(unsigned number)
{
    char line[16];
    unsigned at = sizeof line, rest = number;

    if (number >= MOST || quarry_reached[number / 8] >> number % 8 & 1)
        return;
    quarry_reached[number / 8] |= (unsigned char)(1u << number % 8);
    line[--at] = '\n';
    do
        line[--at] = (char)('0' + rest % 10);
    while (rest /= 10);
    line[--at] = ' ';
    line[--at] = 'M';
    if (write(RECORD, line + at, sizeof line - at) < 0)
        return;
}

__attribute__((constructor)) static void quarry_select(void)
{
    const char *text = getenv("QUARRY_MUTANT");

    if (text && *text == 'a')
        __quarry_mutant = ~0u;
    else
        for (; text && *text >= '0' && *text <= '9'; text++)
            __quarry_mutant = __quarry_mutant * 10 + (unsigned)(*text - '0');
}
