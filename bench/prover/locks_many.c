/* Fourteen locks that are taken and given back under the same condition in each round, and four that a mode keeps over rounds. Each check
 * of a lock that cannot fail is "infeasible". generate.py wrote this. */

extern int __VERIFIER_nondet_int(void);

int locks_many(void)
{
    int p1, lk1;
    int p2, lk2;
    int p3, lk3;
    int p4, lk4;
    int p5, lk5;
    int p6, lk6;
    int p7, lk7;
    int p8, lk8;
    int p9, lk9;
    int p10, lk10;
    int p11, lk11;
    int p12, lk12;
    int p13, lk13;
    int p14, lk14;
    int mode = 0, keep1 = 0, keep2 = 0, keep3 = 0, keep4 = 0, turns = 0;
    while (__VERIFIER_nondet_int() != 0) {
        p1 = __VERIFIER_nondet_int();
        lk1 = 0;
        p2 = __VERIFIER_nondet_int();
        lk2 = 0;
        p3 = __VERIFIER_nondet_int();
        lk3 = 0;
        p4 = __VERIFIER_nondet_int();
        lk4 = 0;
        p5 = __VERIFIER_nondet_int();
        lk5 = 0;
        p6 = __VERIFIER_nondet_int();
        lk6 = 0;
        p7 = __VERIFIER_nondet_int();
        lk7 = 0;
        p8 = __VERIFIER_nondet_int();
        lk8 = 0;
        p9 = __VERIFIER_nondet_int();
        lk9 = 0;
        p10 = __VERIFIER_nondet_int();
        lk10 = 0;
        p11 = __VERIFIER_nondet_int();
        lk11 = 0;
        p12 = __VERIFIER_nondet_int();
        lk12 = 0;
        p13 = __VERIFIER_nondet_int();
        lk13 = 0;
        p14 = __VERIFIER_nondet_int();
        lk14 = 0;
        if (p1 != 0)
            lk1 = 1;
        if (p2 != 0)
            lk2 = 1;
        if (p3 != 0)
            lk3 = 1;
        if (p4 != 0)
            lk4 = 1;
        if (p5 != 0)
            lk5 = 1;
        if (p6 != 0)
            lk6 = 1;
        if (p7 != 0)
            lk7 = 1;
        if (p8 != 0)
            lk8 = 1;
        if (p9 != 0)
            lk9 = 1;
        if (p10 != 0)
            lk10 = 1;
        if (p11 != 0)
            lk11 = 1;
        if (p12 != 0)
            lk12 = 1;
        if (p13 != 0)
            lk13 = 1;
        if (p14 != 0)
            lk14 = 1;
        switch (__VERIFIER_nondet_int()) {
        case 1:
            if (mode == 0) {
                if (keep1 || keep2 || keep3 || keep4) /* infeasible */
                    return 101;
                keep1 = 1;
                mode = 1;
            } else if (mode == 1) {
                if (keep2 != 0) /* infeasible */
                    return 102;
                keep2 = 1;
                mode = 2;
            }
            break;
        case 2:
            if (mode == 2) {
                if (!keep1) /* infeasible */
                    return 103;
                if (keep4) /* feasible */
                    return 104;
                keep4 = 1;
                mode = turns > 5 ? 4 : 2;
            }
            break;
        case 3:
            if (mode == 4) {
                if (!keep4) /* infeasible */
                    return 105;
                if (keep3) /* infeasible */
                    return 106;
                keep1 = keep2 = keep4 = 0;
                mode = 0;
            }
            break;
        case 4:
            if (mode == 0) {
                keep3 = 1;
                mode = 3;
            } else if (mode == 3) {
                if (keep3 == 0) /* infeasible */
                    return 107;
                if (keep1 != keep2) /* infeasible */
                    return 108;
                keep3 = 0;
                mode = 0;
            }
            break;
        default:
            break;
        }
        if (mode > 4 || mode < 0) /* infeasible */
            return 109;
        if (p1 != 0) {
            if (lk1 != 1) /* infeasible */
                return 1;
            lk1 = 0;
        }
        if (p2 != 0) {
            if (lk2 != 1) /* infeasible */
                return 2;
            lk2 = 0;
        }
        if (p3 != 0) {
            if (lk3 != 1) /* infeasible */
                return 3;
            lk3 = 0;
        }
        if (p4 != 0) {
            if (lk4 != 1) /* infeasible */
                return 4;
            lk4 = 0;
        }
        if (p5 != 0) {
            if (lk5 != 1) /* infeasible */
                return 5;
            lk5 = 0;
        }
        if (p6 != 0) {
            if (lk6 != 1) /* infeasible */
                return 6;
            lk6 = 0;
        }
        if (p7 != 0) {
            if (lk7 != 1) /* infeasible */
                return 7;
            lk7 = 0;
        }
        if (p8 != 0) {
            if (lk8 != 1) /* infeasible */
                return 8;
            lk8 = 0;
        }
        if (p9 != 1) {
            if (lk9 != 1) /* feasible */
                return 9;
            lk9 = 0;
        }
        if (p10 != 0) {
            if (lk10 != 1) /* infeasible */
                return 10;
            lk10 = 0;
        }
        if (p11 != 0) {
            if (lk11 != 1) /* infeasible */
                return 11;
            lk11 = 0;
        }
        if (p12 != 0) {
            if (lk12 != 1) /* infeasible */
                return 12;
            lk12 = 0;
        }
        if (p13 != 0) {
            if (lk13 != 1) /* infeasible */
                return 13;
            lk13 = 0;
        }
        if (p14 != 0) {
            if (lk14 != 1) /* infeasible */
                return 14;
            lk14 = 0;
        }
        if (turns < 1000)
            turns++;
    }
    if (turns > 1000) /* infeasible */
        return 200;
    return 0;
}
