// A matrix of floats: elimination with pivots, determinant and solution, where zeros, order and rounding decide.
//@ function: solve
//@ args: --len values=9 --len right=3
//@ branches: 74
//@ infeasible: 0

enum { N = 3 };
enum result { SOLVED, SINGULAR, ILL_CONDITIONED, NOT_FINITE, TRIANGULAR, DIAGONAL };

struct matrix {
    double cell[N][N];
    double right[N];
    double solution[N];
    int row_of[N];
    int n_swaps;
};

static double magnitude(double value)
{
    return value < 0 ? -value : value;
}

static int is_finite(double value)
{
    /* neither infinite nor no number */
    return value - value == 0;
}

static void load(struct matrix *matrix, const double *values, const double *right)
{
    for (int row = 0; row < N; row++) {
        for (int column = 0; column < N; column++)
            matrix->cell[row][column] = values[row * N + column];
        matrix->right[row] = right[row];
        matrix->solution[row] = 0;
        matrix->row_of[row] = row;
    }
    matrix->n_swaps = 0;
}

static int all_finite(const struct matrix *matrix)
{
    for (int row = 0; row < N; row++) {
        for (int column = 0; column < N; column++) {
            if (!is_finite(matrix->cell[row][column]))
                return 0;
        }
        if (!is_finite(matrix->right[row]))
            return 0;
    }
    return 1;
}

static int is_upper(const struct matrix *matrix)
{
    for (int row = 1; row < N; row++) {
        for (int column = 0; column < row; column++) {
            if (matrix->cell[row][column] != 0)
                return 0;
        }
    }
    return 1;
}

static int is_diagonal(const struct matrix *matrix)
{
    if (!is_upper(matrix))
        return 0;
    for (int row = 0; row < N; row++) {
        for (int column = row + 1; column < N; column++) {
            if (matrix->cell[row][column] != 0)
                return 0;
        }
    }
    return 1;
}

static double largest(const struct matrix *matrix)
{
    double found = 0;
    for (int row = 0; row < N; row++) {
        for (int column = 0; column < N; column++) {
            double size = magnitude(matrix->cell[row][column]);
            if (size > found)
                found = size;
        }
    }
    return found;
}

static int find_pivot(const struct matrix *matrix, int column)
{
    int pivot = column;
    double best = magnitude(matrix->cell[column][column]);
    for (int row = column + 1; row < N; row++) {
        double size = magnitude(matrix->cell[row][column]);
        if (size > best) {
            best = size;
            pivot = row;
        }
    }
    return pivot;
}

static void swap_rows(struct matrix *matrix, int one, int other)
{
    double value;
    int row;
    for (int column = 0; column < N; column++) {
        value = matrix->cell[one][column];
        matrix->cell[one][column] = matrix->cell[other][column];
        matrix->cell[other][column] = value;
    }
    value = matrix->right[one];
    matrix->right[one] = matrix->right[other];
    matrix->right[other] = value;
    row = matrix->row_of[one];
    matrix->row_of[one] = matrix->row_of[other];
    matrix->row_of[other] = row;
    matrix->n_swaps++;
}

static int eliminate(struct matrix *matrix, double smallest)
{
    for (int column = 0; column < N; column++) {
        int pivot = find_pivot(matrix, column);
        if (magnitude(matrix->cell[pivot][column]) <= smallest)
            return 0;
        if (pivot != column)
            swap_rows(matrix, pivot, column);
        for (int row = column + 1; row < N; row++) {
            double factor = matrix->cell[row][column] / matrix->cell[column][column];
            if (factor == 0)
                continue;
            for (int k = column; k < N; k++)
                matrix->cell[row][k] -= factor * matrix->cell[column][k];
            matrix->right[row] -= factor * matrix->right[column];
        }
    }
    return 1;
}

static void substitute(struct matrix *matrix)
{
    for (int row = N - 1; row >= 0; row--) {
        double sum = matrix->right[row];
        for (int column = row + 1; column < N; column++)
            sum -= matrix->cell[row][column] * matrix->solution[column];
        matrix->solution[row] = sum / matrix->cell[row][row];
    }
}

static double determinant(const struct matrix *matrix)
{
    double product = matrix->n_swaps % 2 ? -1 : 1;
    for (int row = 0; row < N; row++)
        product *= matrix->cell[row][row];
    return product;
}

int solve(const double *values, const double *right)
{
    struct matrix matrix;
    enum result result = SOLVED;
    double scale;
    load(&matrix, values, right);
    if (!all_finite(&matrix))
        return NOT_FINITE;
    scale = largest(&matrix);
    if (is_diagonal(&matrix))
        result = DIAGONAL;
    else if (is_upper(&matrix))
        result = TRIANGULAR;
    if (!eliminate(&matrix, scale * 1e-12))
        return SINGULAR;
    substitute(&matrix);
    if (magnitude(determinant(&matrix)) < 1e-6)
        return ILL_CONDITIONED;
    for (int row = 0; row < N; row++) {
        if (magnitude(matrix.solution[row]) > 1e9)
            return ILL_CONDITIONED;
    }
    return result;
}
