#include "ranges.h"

#include <limits.h>
#include <stddef.h>

int range_contains(struct range range, int number)
{
    return range.low <= number && number <= range.high;
}

int range_overlaps(struct range a, struct range b)
{
    if (a.low > a.high || b.low > b.high)
        return 0;
    return a.low <= b.high && b.low <= a.high;
}

/* The number at the text's start, at most 999; NULL when there is none. */
static const char *number(const char *text, int *result)
{
    int value = 0, digits = 0;
    while (digits < 3 && *text >= '0' && *text <= '9') {
        value = value * 10 + (*text++ - '0');
        digits++;
    }
    *result = value;
    return digits > 0 ? text : NULL;
}

int range_parse(const char *text, struct range *result)
{
    struct range read;
    text = number(text, &read.low);
    if (text == NULL)
        return 0;
    read.high = read.low;
    if (*text == '-') {
        read.high = INT_MAX;
        if (text[1] != '\0')
            text = number(text + 1, &read.high);
        else
            text++;
    }
    if (text == NULL || *text != '\0' || read.low > read.high)
        return 0;
    *result = read;
    return 1;
}
