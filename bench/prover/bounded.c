/* Loop-free and bounded goals, functions that are never called, arrays, allocated memory. Each function has a branch that no
 * run takes, marked "infeasible", and a twin that differs in one token, whose branch, marked "feasible", some run takes. */

#include <stdlib.h>

static int nobody_calls(int x)
{
    if (x > 3) /* infeasible: never called */
        return 1;
    return 0;
}

static int called(int x)
{
    if (x > 3) /* feasible */
        return 1;
    return 0;
}

static int (*kept)(int);

int calls(int x)
{
    if (x == 99)
        kept = called;
    return called(x) + (kept != 0);
}

/* The number of bits of a word. */
int bits(unsigned x)
{
    int n = 0;
    for (int i = 0; i < 32; i++)
        if (x >> i & 1)
            n++;
    if (n > 32) /* infeasible */
        return 1;
    return 0;
}

int bits_twin(unsigned x)
{
    int n = 0;
    for (int i = 0; i <= 32; i++)
        if (i < 32 ? x >> i & 1 : n == 32)
            n++;
    if (n > 32) /* feasible */
        return 1;
    return 0;
}

/* A bounded sum of what was clipped. */
int clipped(const signed char v[8])
{
    int sum = 0;
    for (int i = 0; i < 8; i++) {
        int x = v[i];
        if (x > 20)
            x = 20;
        if (x < 0)
            x = 0;
        sum += x;
    }
    if (sum > 160) /* infeasible */
        return 1;
    if (sum < 0) /* infeasible */
        return 2;
    return 0;
}

int clipped_twin(const signed char v[8])
{
    int sum = 0;
    for (int i = 0; i < 8; i++) {
        int x = v[i];
        if (x > 21)
            x = 21;
        if (x < 0)
            x = 0;
        sum += x;
    }
    if (sum > 160) /* feasible */
        return 1;
    return 0;
}

/* A small array that is sorted by a network. */
int sorted(int a, int b, int c)
{
    int v[3] = {a, b, c}, t;
    if (v[0] > v[1]) { t = v[0]; v[0] = v[1]; v[1] = t; }
    if (v[1] > v[2]) { t = v[1]; v[1] = v[2]; v[2] = t; }
    if (v[0] > v[1]) { t = v[0]; v[0] = v[1]; v[1] = t; }
    if (v[0] > v[1] || v[1] > v[2]) /* infeasible */
        return 1;
    return 0;
}

int sorted_twin(int a, int b, int c)
{
    int v[3] = {a, b, c}, t;
    if (v[0] > v[1]) { t = v[0]; v[0] = v[1]; v[1] = t; }
    if (v[1] > v[2]) { t = v[1]; v[1] = v[2]; v[2] = t; }
    if (v[0] > v[2]) { t = v[0]; v[0] = v[1]; v[1] = t; }
    if (v[0] > v[1] || v[1] > v[2]) /* feasible */
        return 1;
    return 0;
}

/* A structure that helpers change through a pointer. */
struct tank { int level, pump, alarm; };

static void fill(struct tank *tank)
{
    if (tank->pump && tank->level < 100)
        tank->level++;
}

static void control(struct tank *tank, int sensor)
{
    tank->pump = sensor < 5;
    if (tank->level >= 100)
        tank->pump = 0;
    tank->alarm = tank->level > 90 && tank->pump;
}

int tank(const signed char *sensor, int n)
{
    struct tank tank = {50, 0, 0};
    for (int i = 0; i < n; i++) {
        fill(&tank);
        control(&tank, sensor[i]);
        if (tank.level > 100) /* infeasible */
            return 1;
        if (tank.pump && tank.level == 100) /* infeasible */
            return 2;
    }
    return tank.alarm;
}

int tank_twin(const signed char *sensor, int n)
{
    struct tank tank = {99, 1, 0};
    for (int i = 0; i < n; i++) {
        fill(&tank);
        control(&tank, sensor[i]);
        if (tank.level > 99) /* feasible */
            return 1;
    }
    return tank.alarm;
}

/* Elements of an array that a loop filled. */
int filled(int n, int k)
{
    int a[40];
    if (n < 0 || n > 40)
        return -1;
    for (int i = 0; i < n; i++)
        a[i] = 7;
    if (k >= 0 && k < n && a[k] != 7) /* infeasible */
        return 1;
    return 0;
}

int filled_twin(int n, int k)
{
    int a[40] = {0};
    if (n < 0 || n > 40)
        return -1;
    for (int i = 1; i < n; i++)
        a[i] = 7;
    if (k >= 0 && k < n && a[k] != 7) /* feasible */
        return 1;
    return 0;
}

/* Memory that is always there, under an assumption. */
int allocated(int n)
{
    int *p = malloc(sizeof *p);
    if (p == NULL) /* infeasible: there is memory enough */
        return 1;
    *p = n;
    n = *p > 5;
    free(p);
    return n;
}
