// Statistics over tables of counts: each table has its numbers of rows and columns, then the counts; comments begin with '#'.
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE 256
#define CELLS 200

static long cells[CELLS];

/* The information of a table, or a negative number that says what is wrong. */
static double information(int rows, int columns, int *freedom)
{
    double row_sums[CELLS], column_sums[CELLS], total = 0.0, info = 0.0;
    int i, j;
    if (rows <= 1 || columns <= 1)
        return -3.0;
    *freedom = (rows - 1) * (columns - 1);
    for (i = 0; i < rows; i++) {
        double sum = 0.0;
        for (j = 0; j < columns; j++) {
            long count = cells[i * columns + j];
            if (count < 0)
                return -2.0;
            sum += (double)count;
        }
        row_sums[i] = sum;
        total += sum;
    }
    if (total <= 0.0)
        return -1.0;
    for (j = 0; j < columns; j++) {
        double sum = 0.0;
        for (i = 0; i < rows; i++)
            sum += (double)cells[i * columns + j];
        column_sums[j] = sum;
    }
    info = total * log(total);
    for (i = 0; i < rows; i++) {
        double sum = row_sums[i];
        if (sum > 0.0)
            info -= sum * log(sum);
        for (j = 0; j < columns; j++) {
            double count = (double)cells[i * columns + j];
            if (count > 0.0)
                info += count * log(count);
        }
    }
    for (j = 0; j < columns; j++) {
        double sum = column_sums[j];
        if (sum > 0.0)
            info -= sum * log(sum);
    }
    return info;
}

/* The regularised incomplete gamma function, by its series or its continued fraction. */
static double gamma_tail(double a, double x)
{
    double scale = -x + a * log(x) - lgamma(a);
    int n;
    if (x <= 0.0)
        return 1.0;
    if (x < a + 1.0) {
        double term = 1.0 / a, sum = term;
        for (n = 1; n <= 100; n++) {
            term *= x / (a + n);
            sum += term;
            if (fabs(term) < fabs(sum) * 1e-7)
                return 1.0 - sum * exp(scale);
        }
    } else {
        double before = 0.0, a0 = 1.0, a1 = x, b0 = 0.0, b1 = 1.0, factor = 1.0;
        for (n = 1; n <= 100; n++) {
            double shift = n - a, step = n * factor;
            a0 = (a1 + a0 * shift) * factor;
            b0 = (b1 + b0 * shift) * factor;
            a1 = x * a0 + step * a1;
            b1 = x * b0 + step * b1;
            if (a1 != 0.0) {
                double now;
                factor = 1.0 / a1;
                now = b1 * factor;
                if (fabs((now - before) / now) < 1e-7)
                    return exp(scale) * now;
                before = now;
            }
        }
    }
    return -1.0;
}

static double chi_tail(double value, int freedom)
{
    return gamma_tail((double)freedom / 2.0, value / 2.0);
}

static double mean_of(int n)
{
    double sum = 0.0;
    int i;
    for (i = 0; i < n; i++)
        sum += (double)cells[i];
    return n ? sum / n : 0.0;
}

static long greatest(int n)
{
    long most = cells[0];
    int i;
    for (i = 1; i < n; i++)
        if (cells[i] > most)
            most = cells[i];
    return most;
}

static void print_header(char *text)
{
    size_t n = strlen(text);
    while (n && isspace((unsigned char)text[n - 1]))
        text[--n] = 0;
    printf("%s\n", text);
}

int main(void)
{
    char line[LINE], *text;
    int rows, columns, i, freedom, n_tables = 0, total_freedom = 0;
    double total_info = 0.0;
    while (fgets(line, sizeof line, stdin)) {
        for (text = line; *text && isspace((unsigned char)*text); text++)
            ;
        if (!*text)
            continue;
        if (*text == '#') {
            print_header(text);
            continue;
        }
        if (sscanf(text, "%d %d", &rows, &columns) != 2) {
            printf("* no size of a table *\n");
            return 1;
        }
        if (rows <= 0 || columns <= 0 || rows > CELLS || columns > CELLS || rows * columns > CELLS) {
            printf("* a table is too large or empty *\n");
            return 1;
        }
        for (i = 0; i < rows * columns; i++)
            if (scanf("%ld", &cells[i]) != 1) {
                printf("* a table is incomplete *\n");
                return 1;
            }
        {
            double info = information(rows, columns, &freedom);
            n_tables++;
            if (info >= 0.0) {
                double tail = chi_tail(2.0 * info, freedom);
                printf("info %5.2f, freedom %d, tail %7.4f, mean %.2f, most %ld\n", info, freedom, tail,
                       mean_of(rows * columns), greatest(rows * columns));
                if (tail >= 0.0 && tail < 0.05)
                    printf("significant\n");
                total_info += info;
                total_freedom += freedom;
            } else if (info > -1.5)
                printf("* the table has no counts *\n");
            else if (info > -2.5)
                printf("* a count is negative *\n");
            else
                printf("* not a table *\n");
        }
    }
    if (n_tables == 0) {
        printf("* no tables *\n");
        return 0;
    }
    if (total_freedom > 0)
        printf("total %5.2f, freedom %d, tail %7.4f\n", total_info, total_freedom,
               chi_tail(2.0 * total_info, total_freedom));
    return 0;
}
