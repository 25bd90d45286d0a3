// Ships of a game move; a flag tells whether anything was drawn anew, another whether all of them are gone; after update_shps of paper 2.
//@ function: update_ships
//@ args: --len ships=12
//@ branches: 16
//@ infeasible: 0

enum { SHIPS = 12, GONE = 0, SAILING = 1, SINKING = 2 };

struct ship {
    int state;
    int speed;
    int depth;
};

int update_ships(struct ship ships[SHIPS], int game)
{
    int changed = 0, all_gone = 1;

    for (int i = 0; i < SHIPS; i++) {
        struct ship *ship = &ships[i];

        if (ship->state == SAILING) {
            all_gone = 0;
            if (ship->speed != 0)
                changed = 1;
        } else if (ship->state == SINKING) {
            all_gone = 0;
            if (ship->depth > 9) {
                ship->state = GONE;
                changed = 1;
            }
        }
    }
    if (changed)
        game++;
    if (all_gone)
        return 0;
    if (game == 77)
        return 2;
    return 1;
}
