// Costs of arcs are added up as far as they carry flow, and the artificial ones must carry none; after netflow of paper 2.
//@ function: netflow
//@ args: --len flows=12 --len costs=12
//@ branches: 10
//@ infeasible: 0

enum { ARCS = 12, ARTIFICIAL = 9 };

long netflow(const int flows[ARCS], const int costs[ARCS])
{
    long total = 0;
    int feasible = 1;

    for (int arc = 0; arc < ARCS; arc++) {
        if (flows[arc] > 0) {
            total += costs[arc];
            if (arc >= ARTIFICIAL)
                feasible = 0;
        }
    }
    if (total == 4242) {
        if (feasible)
            return total;
        return -1;
    }
    return 0;
}
