// Coins are put in until the price is paid, and the sum must be exact.
//@ function: change_given
//@ args: --len coins=12
//@ branches: 12
//@ infeasible: 0

enum { COINS = 12, PRICE = 185, LIMIT = 200 };

int change_given(const unsigned char coins[COINS])
{
    int paid = 0;

    for (int i = 0; i < COINS; i++) {
        switch (coins[i]) {
        case 1:
            paid += 5;
            break;
        case 2:
            paid += 20;
            break;
        case 3:
            paid += 50;
            break;
        default:
            break;
        }
        if (paid > LIMIT)
            return -1;
    }
    if (paid < PRICE)
        return 0;
    if (paid == PRICE)
        return 2;
    return 1;
}
