// Dates and times: validity, leap years, week days, the day of a year, holidays that several fields decide.
//@ function: classify_day
//@ branches: 30
//@ infeasible: 1

enum kind { INVALID, WORKDAY, WEEKEND, HOLIDAY, BRIDGE, YEAR_END };

static int is_leap(int year)
{
    return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

static int days_in(int month, int year)
{
    switch (month) {
    case 4:
    case 6:
    case 9:
    case 11:
        return 30;
    case 2:
        return is_leap(year) ? 29 : 28;
    default:
        return 31;
    }
}

/* 0 is Sunday. */
static int week_day(int year, int month, int day)
{
    static const int shift[12] = {0, 3, 2, 5, 0, 3, 5, 1, 4, 6, 2, 4};

    if (month < 3)
        year--;
    return (year + year / 4 - year / 100 + year / 400 + shift[month - 1] + day) % 7;
}

static int is_fixed_holiday(int month, int day)
{
    return (month == 1 && day == 1) || (month == 5 && day == 1) || (month == 12 && (day == 25 || day == 26));
}

enum kind classify_day(int year, int month, int day, int hour)
{
    int today;

    if (year < 1900 || year > 2199 || month < 1 || month > 12 || day < 1 || day > days_in(month, year))
        return INVALID;
    if (hour < 0 || hour > 24 || (hour == 24 && !(month == 12 && day == 31)))
        return INVALID;
    if (month == 12 && day == 31 && hour >= 23)
        return hour == 24 && is_leap(year) ? HOLIDAY : YEAR_END;

    today = week_day(year, month, day);
    if (is_fixed_holiday(month, day))
        return HOLIDAY;
    if (month == 2 && day == 29 && today == 1)
        return HOLIDAY; /* ours: a leap day that is a Monday */
    if (today == 0 || today == 6)
        return WEEKEND;
    if (today == 5 && is_fixed_holiday(month, day - 1))
        return BRIDGE;
    if (today == 1 && day < days_in(month, year) && is_fixed_holiday(month, day + 1))
        return BRIDGE;
    if (today < 0) /* infeasible when true: everything it is made of is positive */
        return INVALID;
    return WORKDAY;
}
