// A loan decided by income, debts, age and history: rules with many conditions, a score built up on the way.
//@ function: decide
//@ branches: 46
//@ infeasible: 0

enum outcome { REFUSED, ACCEPTED, REFERRED, INCOMPLETE };
enum work { STUDENT, EMPLOYED, SELF_EMPLOYED, RETIRED };

struct applicant {
    int age;
    int income;          /* a month */
    int debts;           /* paid a month */
    int savings;
    int years_employed;
    int work;
    int n_defaults;
    unsigned char owns_home;
    unsigned char is_customer;
    unsigned char has_guarantor;
};

static int is_complete(const struct applicant *who)
{
    if (who->age < 18 || who->age > 99 || who->work < STUDENT || who->work > RETIRED)
        return 0;
    if (who->income < 0 || who->income > 100000 || who->debts < 0 || who->debts > 100000)
        return 0;
    return who->savings >= 0 && who->years_employed >= 0 && who->years_employed <= who->age - 16
        && who->n_defaults >= 0;
}

static int score(const struct applicant *who)
{
    int points = 0;

    if (who->owns_home || who->savings > 20000)
        points += 3;
    if (who->is_customer && who->n_defaults == 0)
        points += 2;
    switch (who->work) {
    case EMPLOYED:
        points += who->years_employed >= 10 ? 4 : who->years_employed >= 2 ? 2 : 0;
        break;
    case SELF_EMPLOYED:
        points += who->years_employed > 5 && who->savings > 5000 ? 3 : 0;
        break;
    case RETIRED:
        points += who->income > 1500 ? 2 : 1;
        break;
    default:
        points -= who->has_guarantor ? 0 : 2;
        break;
    }
    points -= 2 * (who->n_defaults > 3 ? 3 : who->n_defaults);
    return points;
}

enum outcome decide(struct applicant who, int amount, int months)
{
    int rate, left, points;

    if (!is_complete(&who))
        return INCOMPLETE;
    if (amount < 500 || amount > 500000 || months < 6 || months > 360)
        return INCOMPLETE;
    rate = amount / months;
    left = who.income - who.debts - rate;
    points = score(&who);
    if (left < 0 && !(who.has_guarantor && points > 3))
        return REFUSED;
    if (who.n_defaults > 2 || (who.n_defaults > 0 && !who.is_customer))
        return REFUSED;
    if (who.age + months / 12 > 80 && !(who.owns_home && amount < 50000))
        return who.has_guarantor ? REFERRED : REFUSED;
    if (points >= 5 && left > 500)
        return ACCEPTED;
    if (points >= 3 && (left > 1000 || (who.has_guarantor && left > 300)))
        return amount > 100000 ? REFERRED : ACCEPTED;
    if (points == 9 || (who.work == STUDENT && who.has_guarantor && amount <= 5000))
        return REFERRED;
    return points < 0 || left < 200 ? REFUSED : REFERRED;
}
