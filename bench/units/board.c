// A board of three by three: whose turn, who has won, what is not possible, and whether a move wins at once.
//@ function: judge_board
//@ args: --len board=9
//@ branches: 38
//@ infeasible: 0

enum { N = 9, N_LINES = 8 };
enum verdict { ONGOING, X_WINS, O_WINS, DRAWN, BAD_CELL, BAD_COUNT, BOTH_WIN, WRONG_LAST, CAN_WIN };

static const int line[N_LINES][3] = {{0, 1, 2}, {3, 4, 5}, {6, 7, 8}, {0, 3, 6}, {1, 4, 7}, {2, 5, 8}, {0, 4, 8}, {2, 4, 6}};

static int n_lines_of(const char board[N], char player)
{
    int n = 0;

    for (int i = 0; i < N_LINES; i++) {
        if (board[line[i][0]] == player && board[line[i][1]] == player && board[line[i][2]] == player)
            n++;
    }
    return n;
}

static int can_win(const char board[N], char player)
{
    for (int i = 0; i < N_LINES; i++) {
        int n_own = 0, n_free = 0;

        for (int j = 0; j < 3; j++) {
            if (board[line[i][j]] == player)
                n_own++;
            else if (board[line[i][j]] == '.')
                n_free++;
        }
        if (n_own == 2 && n_free == 1)
            return 1;
    }
    return 0;
}

enum verdict judge_board(const char board[N])
{
    int n_x = 0, n_o = 0, x_lines, o_lines;

    for (int i = 0; i < N; i++) {
        if (board[i] == 'x')
            n_x++;
        else if (board[i] == 'o')
            n_o++;
        else if (board[i] != '.')
            return BAD_CELL;
    }
    if (n_x != n_o && n_x != n_o + 1)
        return BAD_COUNT;
    x_lines = n_lines_of(board, 'x');
    o_lines = n_lines_of(board, 'o');
    if (x_lines > 0 && o_lines > 0)
        return BOTH_WIN;
    if ((x_lines > 0 && n_x == n_o) || (o_lines > 0 && n_x > n_o))
        return WRONG_LAST;
    if (x_lines > 0)
        return X_WINS;
    if (o_lines > 0)
        return O_WINS;
    if (n_x + n_o == N)
        return DRAWN;
    return can_win(board, n_x == n_o ? 'x' : 'o') ? CAN_WIN : ONGOING;
}
