#ifndef RANGES_H
#define RANGES_H

/* All numbers from low to high; none when low is greater. */
struct range {
    int low;
    int high;
};

int range_contains(struct range range, int number);
int range_overlaps(struct range a, struct range b);

/* Reads "3-17", "3-" (to the greatest number) or "3" into *result. Returns 0 when the text is none of these. */
int range_parse(const char *text, struct range *result);

#endif
