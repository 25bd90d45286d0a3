// Date arithmetic: a command and dates as arguments, in several notations.
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct date {
    int year;
    int month;
    int day;
};

static const char *const months[] = {"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"};
static const char *const days[] = {"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"};

static int is_leap(int year)
{
    return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

static int length(int year, int month)
{
    switch (month) {
    case 2:
        return is_leap(year) ? 29 : 28;
    case 4:
    case 6:
    case 9:
    case 11:
        return 30;
    default:
        return 31;
    }
}

static int is_valid(const struct date *date)
{
    if (date->year < 1583 || date->year > 9999)
        return 0;
    if (date->month < 1 || date->month > 12)
        return 0;
    return date->day >= 1 && date->day <= length(date->year, date->month);
}

/* Days since 1 March of year 0. */
static long number_of(const struct date *date)
{
    long year = date->year, month = date->month;
    if (month < 3) {
        year--;
        month += 12;
    }
    return 365 * year + year / 4 - year / 100 + year / 400 + (153 * (month - 3) + 2) / 5 + date->day - 1;
}

static struct date date_of(long number)
{
    struct date date;
    date.year = (int)((10000 * number + 14780) / 3652425);
    date.month = 1;
    date.day = 1;
    if (date.year > 9999)
        date.year = 9999;
    while (number_of(&date) > number)
        date.year--;
    for (;;) {
        struct date next = date;
        next.month++;
        if (next.month > 12) {
            next.month = 1;
            next.year++;
        }
        if (number_of(&next) > number)
            break;
        date = next;
    }
    date.day += (int)(number - number_of(&date));
    return date;
}

static int weekday(const struct date *date)
{
    return (int)((number_of(date) + 2) % 7);
}

static int week(const struct date *date, int *year)
{
    struct date first = {date->year, 1, 4};
    long number = number_of(date), monday;
    *year = date->year;
    monday = number_of(&first) - weekday(&first);
    if (number < monday) {
        first.year--;
        *year = first.year;
        monday = number_of(&first) - weekday(&first);
    } else {
        struct date next = {date->year + 1, 1, 4};
        long next_monday = number_of(&next) - weekday(&next);
        if (number >= next_monday) {
            *year = next.year;
            monday = next_monday;
        }
    }
    return (int)((number - monday) / 7) + 1;
}

static int month_of(const char *name)
{
    int i, j;
    for (i = 0; i < 12; i++) {
        for (j = 0; j < 3; j++)
            if (tolower((unsigned char)name[j]) != months[i][j])
                break;
        if (j == 3)
            return i + 1;
    }
    return 0;
}

/* 2024-02-29, 29.2.2024, 2/29/2024, 29feb2024, or 2024-060 for a day of the year. */
static int parse(const char *text, struct date *date)
{
    char name[4], rest;
    int day;
    if (sscanf(text, "%4d-%2d-%2d%c", &date->year, &date->month, &date->day, &rest) == 3)
        return is_valid(date);
    if (sscanf(text, "%2d.%2d.%4d%c", &date->day, &date->month, &date->year, &rest) == 3)
        return is_valid(date);
    if (sscanf(text, "%2d/%2d/%4d%c", &date->month, &date->day, &date->year, &rest) == 3)
        return is_valid(date);
    if (sscanf(text, "%2d%3[a-zA-Z]%4d%c", &date->day, name, &date->year, &rest) == 3) {
        date->month = month_of(name);
        return is_valid(date);
    }
    if (sscanf(text, "%4d-%3d%c", &date->year, &day, &rest) == 2) {
        date->month = 1;
        if (day < 1 || day > (is_leap(date->year) ? 366 : 365))
            return 0;
        while (day > length(date->year, date->month)) {
            day -= length(date->year, date->month);
            date->month++;
        }
        date->day = day;
        return is_valid(date);
    }
    return 0;
}

static void print(const struct date *date)
{
    printf("%04d-%02d-%02d\n", date->year, date->month, date->day);
}

/* Adds so many days, weeks, months or years: +3d, -2w, 1m, 4y. */
static int add(struct date *date, const char *text)
{
    char *end;
    long n = strtol(text, &end, 10), months_since;
    if (end == text || n > 100000 || n < -100000)
        return 0;
    switch (*end) {
    case 'w':
        n *= 7;
        /* fall through */
    case 'd':
    case 0:
        *date = date_of(number_of(date) + n);
        break;
    case 'y':
        n *= 12;
        /* fall through */
    case 'm':
        months_since = 12L * date->year + date->month - 1 + n;
        if (months_since < 12 * 1583L || months_since >= 12 * 10000L)
            return 0;
        date->year = (int)(months_since / 12);
        date->month = (int)(months_since % 12) + 1;
        if (date->day > length(date->year, date->month))
            date->day = length(date->year, date->month);
        break;
    default:
        return 0;
    }
    return is_valid(date);
}

static void calendar(const struct date *date)
{
    struct date first = {date->year, date->month, 1};
    int column = weekday(&first), day;
    printf("%*s", 3 * column, "");
    for (day = 1; day <= length(date->year, date->month); day++) {
        printf("%2d%c", day, column == 6 ? '\n' : ' ');
        column = (column + 1) % 7;
    }
    if (column != 0)
        printf("\n");
}

static int workdays(const struct date *from, const struct date *to)
{
    long number = number_of(from), last = number_of(to);
    int n = 0;
    for (; number < last; number++) {
        struct date date = date_of(number);
        if (weekday(&date) < 5)
            n++;
    }
    return n;
}

static int fail(const char *what, const char *text)
{
    fprintf(stderr, "dates: %s: %s\n", what, text);
    return 2;
}

int main(int argc, char **argv)
{
    struct date date, other;
    if (argc < 3) {
        fprintf(stderr, "usage: dates day|week|leap|add|diff|workdays|month|easter DATE [DATE|DIFFERENCE]\n");
        return 1;
    }
    if (strcmp(argv[1], "leap") == 0) {
        int year = atoi(argv[2]);
        if (year < 1583)
            return fail("bad year", argv[2]);
        printf(is_leap(year) ? "yes\n" : "no\n");
        return 0;
    }
    if (!parse(argv[2], &date))
        return fail("bad date", argv[2]);
    if (strcmp(argv[1], "day") == 0) {
        printf("%s\n", days[weekday(&date)]);
    } else if (strcmp(argv[1], "week") == 0) {
        int year, number = week(&date, &year);
        printf("%d-W%02d\n", year, number);
    } else if (strcmp(argv[1], "month") == 0) {
        calendar(&date);
    } else if (strcmp(argv[1], "add") == 0) {
        int i;
        for (i = 3; i < argc; i++)
            if (!add(&date, argv[i]))
                return fail("bad difference", argv[i]);
        print(&date);
    } else if (strcmp(argv[1], "diff") == 0 || strcmp(argv[1], "workdays") == 0) {
        if (argc != 4)
            return fail("two dates wanted", argv[1]);
        if (!parse(argv[3], &other))
            return fail("bad date", argv[3]);
        if (argv[1][0] == 'd')
            printf("%ld\n", number_of(&other) - number_of(&date));
        else {
            if (number_of(&other) < number_of(&date))
                return fail("dates in wrong order", argv[3]);
            if (number_of(&other) - number_of(&date) > 3660)
                return fail("too far apart", argv[3]);
            printf("%d\n", workdays(&date, &other));
        }
    } else
        return fail("unknown command", argv[1]);
    return 0;
}
