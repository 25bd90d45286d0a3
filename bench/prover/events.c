/* An event-condition-action system: 132 rules over six variables, read in order, and assertions on combinations of values. Which
 * rules fire and which combinations occur was found by listing all 561 states that can be reached of 1152: "infeasible" is what
 * does not. */

extern int __VERIFIER_nondet_int(void);

static int a = 0;
static int b = 1;
static int c = 0;
static int d = 5;
static int e = 0;
static int f = 10;

static int output(int input)
{
    if (input == 1 && f == 12 && b == 3 && c == 0) {
        c = 0;
        e = 0;
        return 0;
    } else if (input == 1 && d == 5 && f == 10 && a == 5) {
        d = 8;
        e = 1;
        return 1;
    } else if (input == 1 && b == 3 && f == 12 && c == 1) {
        c = 0;
        d = 8;
        return 2;
    } else if (input == 1 && d == 6 && a == 0 && b == 1) {
        a = 3;
        f = 11;
        return 3;
    } else if (input == 1 && f == 12 && c == 1 && e == 0) {
        e = 0;
        a = 4;
        return 4;
    } else if (input == 1 && f == 12 && b == 1 && e == 0) {
        a = 4;
        e = 1;
        return 5;
    } else if (input == 1 && b == 1 && c == 1 && d == 8) {
        b = 2;
        f = 12;
        return 6;
    } else if (input == 1 && a == 5 && b == 1 && d == 5) {
        e = 0;
        a = 6;
        return 7;
    } else if (input == 1 && b == 1 && f == 11 && a == 0) {
        f = 12;
        c = 1;
        return 8;
    } else if (input == 1 && d == 6 && e == 0 && a == 7) {
        e = 0;
        c = 0;
        return 9;
    } else if (input == 1 && e == 1 && a == 4 && f == 12) {
        a = 0;
        c = 0;
        return 10;
    } else if (input == 1 && b == 1 && f == 10 && a == 2) {
        c = 1;
        b = 2;
        return 11;
    } else if (input == 1 && a == 3 && d == 6 && f == 10) {
        b = 2;
        a = 2;
        return 12;
    } else if (input == 1 && e == 0 && d == 8 && b == 2) {
        a = 3;
        b = 3;
        return 13;
    } else if (input == 1 && c == 1 && d == 6 && a == 5) {
        e = 0;
        c = 0;
        return 14;
    } else if (input == 1 && a == 6 && c == 1 && f == 12) {
        c = 1;
        d = 5;
        return 15;
    } else if (input == 1 && a == 3 && e == 0 && d == 5) {
        e = 1;
        f = 12;
        return 16;
    } else if (input == 1 && a == 4 && b == 3 && c == 0) {
        a = 3;
        f = 12;
        return 17;
    } else if (input == 1 && b == 3 && e == 0 && d == 7) {
        c = 0;
        d = 6;
        return 18;
    } else if (input == 1 && e == 1 && d == 7 && f == 10) {
        d = 8;
        a = 5;
        return 19;
    } else if (input == 1 && b == 2 && f == 11 && c == 1) {
        b = 1;
        e = 1;
        return 20;
    } else if (input == 1 && b == 1 && a == 1 && c == 1) {
        b = 1;
        e = 1;
        return 21;
    } else if (input == 2 && f == 12 && a == 5 && b == 2) {
        e = 0;
        b = 1;
        return 22;
    } else if (input == 2 && d == 6 && e == 1 && f == 11) {
        f = 12;
        e = 1;
        return 23;
    } else if (input == 2 && e == 0 && f == 12 && c == 1) {
        c = 0;
        f = 11;
        return 24;
    } else if (input == 2 && f == 10 && b == 2 && d == 7) {
        f = 10;
        e = 0;
        return 25;
    } else if (input == 2 && f == 12 && c == 0 && a == 5) {
        d = 7;
        b = 2;
        return 26;
    } else if (input == 2 && f == 10 && b == 2 && e == 0) {
        e = 0;
        a = 5;
        return 27;
    } else if (input == 2 && c == 0 && b == 1 && f == 11) {
        c = 0;
        a = 4;
        return 28;
    } else if (input == 2 && a == 0 && d == 8 && f == 11) {
        d = 5;
        e = 0;
        return 29;
    } else if (input == 2 && f == 10 && c == 1 && d == 8) {
        f = 11;
        e = 0;
        return 30;
    } else if (input == 2 && b == 2 && f == 10 && e == 0) { /* infeasible */
        d = 8;
        f = 10;
        return 31;
    } else if (input == 2 && c == 0 && e == 0 && a == 4) {
        b = 2;
        e = 1;
        return 32;
    } else if (input == 2 && d == 6 && a == 2 && c == 1) {
        c = 0;
        b = 2;
        return 33;
    } else if (input == 2 && d == 6 && b == 3 && c == 0) {
        b = 3;
        e = 0;
        return 34;
    } else if (input == 2 && a == 1 && c == 0 && d == 8) {
        d = 5;
        f = 12;
        return 35;
    } else if (input == 2 && f == 10 && b == 2 && e == 1) {
        b = 2;
        f = 10;
        return 36;
    } else if (input == 2 && a == 6 && f == 11 && d == 6) { /* infeasible */
        e = 0;
        b = 2;
        return 37;
    } else if (input == 2 && a == 4 && e == 0 && f == 11) {
        c = 1;
        f = 12;
        return 38;
    } else if (input == 2 && d == 5 && a == 0 && c == 0) {
        b = 3;
        f = 10;
        return 39;
    } else if (input == 2 && f == 10 && d == 5 && e == 0) {
        d = 8;
        e = 0;
        return 40;
    } else if (input == 2 && c == 1 && d == 5 && f == 11) {
        b = 3;
        f = 12;
        return 41;
    } else if (input == 2 && a == 2 && f == 12 && c == 0) {
        b = 2;
        f = 10;
        return 42;
    } else if (input == 2 && a == 6 && f == 12 && b == 3) {
        e = 1;
        d = 7;
        return 43;
    } else if (input == 3 && f == 11 && e == 0 && b == 1) {
        a = 7;
        e = 0;
        return 44;
    } else if (input == 3 && b == 1 && f == 10 && c == 1) {
        a = 4;
        b = 2;
        return 45;
    } else if (input == 3 && b == 1 && a == 0 && e == 0) {
        e = 1;
        c = 1;
        return 46;
    } else if (input == 3 && f == 12 && a == 0 && c == 1) {
        a = 4;
        c = 1;
        return 47;
    } else if (input == 3 && d == 5 && c == 0 && a == 1) {
        a = 4;
        e = 1;
        return 48;
    } else if (input == 3 && c == 0 && d == 8 && f == 12) {
        a = 6;
        f = 10;
        return 49;
    } else if (input == 3 && c == 0 && a == 5 && e == 0) {
        d = 5;
        f = 11;
        return 50;
    } else if (input == 3 && e == 0 && a == 0 && f == 12) {
        b = 1;
        d = 7;
        return 51;
    } else if (input == 3 && c == 0 && e == 0 && a == 3) {
        c = 1;
        e = 1;
        return 52;
    } else if (input == 3 && d == 8 && a == 1 && e == 0) {
        b = 3;
        e = 0;
        return 53;
    } else if (input == 3 && e == 0 && f == 10 && b == 2) {
        a = 5;
        b = 3;
        return 54;
    } else if (input == 3 && f == 12 && e == 1 && d == 8) {
        d = 7;
        a = 1;
        return 55;
    } else if (input == 3 && c == 0 && b == 3 && f == 12) {
        f = 12;
        e = 0;
        return 56;
    } else if (input == 3 && a == 2 && b == 3 && c == 0) {
        e = 0;
        a = 3;
        return 57;
    } else if (input == 3 && a == 4 && d == 6 && e == 0) {
        d = 7;
        b = 2;
        return 58;
    } else if (input == 3 && c == 1 && b == 2 && f == 12) {
        a = 3;
        b = 1;
        return 59;
    } else if (input == 3 && f == 12 && d == 7 && e == 0) {
        d = 8;
        e = 0;
        return 60;
    } else if (input == 3 && a == 3 && b == 3 && d == 5) {
        d = 5;
        c = 0;
        return 61;
    } else if (input == 3 && e == 0 && d == 5 && a == 0) {
        b = 1;
        a = 6;
        return 62;
    } else if (input == 3 && e == 0 && a == 4 && c == 1) {
        c = 0;
        b = 2;
        return 63;
    } else if (input == 3 && a == 3 && c == 1 && f == 11) {
        d = 7;
        c = 0;
        return 64;
    } else if (input == 3 && a == 7 && e == 0 && d == 7) {
        b = 3;
        a = 2;
        return 65;
    } else if (input == 4 && a == 1 && b == 3 && e == 0) {
        b = 2;
        a = 3;
        return 66;
    } else if (input == 4 && a == 2 && d == 8 && b == 1) {
        d = 6;
        c = 0;
        return 67;
    } else if (input == 4 && c == 1 && d == 8 && a == 6) {
        d = 5;
        e = 0;
        return 68;
    } else if (input == 4 && e == 1 && f == 10 && b == 3) {
        a = 0;
        b = 3;
        return 69;
    } else if (input == 4 && a == 6 && c == 1 && b == 1) {
        b = 2;
        f = 11;
        return 70;
    } else if (input == 4 && d == 5 && e == 1 && c == 0) {
        b = 2;
        e = 0;
        return 71;
    } else if (input == 4 && c == 1 && a == 1 && b == 1) {
        a = 6;
        d = 8;
        return 72;
    } else if (input == 4 && e == 0 && f == 10 && d == 5) {
        e = 1;
        b = 2;
        return 73;
    } else if (input == 4 && f == 12 && e == 1 && a == 3) {
        a = 5;
        d = 5;
        return 74;
    } else if (input == 4 && a == 2 && e == 0 && c == 0) {
        a = 2;
        b = 1;
        return 75;
    } else if (input == 4 && a == 7 && b == 2 && c == 1) {
        b = 1;
        d = 6;
        return 76;
    } else if (input == 4 && a == 5 && b == 2 && f == 11) {
        c = 1;
        a = 5;
        return 77;
    } else if (input == 4 && d == 8 && a == 2 && e == 0) {
        f = 11;
        e = 0;
        return 78;
    } else if (input == 4 && b == 3 && c == 0 && d == 6) {
        c = 0;
        a = 4;
        return 79;
    } else if (input == 4 && f == 10 && c == 0 && e == 1) {
        d = 5;
        a = 0;
        return 80;
    } else if (input == 4 && f == 12 && d == 6 && c == 1) {
        a = 7;
        e = 1;
        return 81;
    } else if (input == 4 && e == 0 && b == 2 && d == 5) {
        e = 0;
        a = 6;
        return 82;
    } else if (input == 4 && d == 6 && b == 3 && c == 1) {
        f = 11;
        c = 0;
        return 83;
    } else if (input == 4 && d == 7 && c == 0 && e == 0) {
        c = 0;
        a = 4;
        return 84;
    } else if (input == 4 && d == 8 && b == 1 && c == 1) {
        f = 11;
        e = 0;
        return 85;
    } else if (input == 4 && e == 1 && c == 0 && f == 10) { /* infeasible */
        c = 1;
        a = 3;
        return 86;
    } else if (input == 4 && d == 8 && a == 2 && c == 1) {
        a = 0;
        f = 12;
        return 87;
    } else if (input == 5 && c == 0 && f == 12 && b == 1) {
        c = 1;
        a = 0;
        return 88;
    } else if (input == 5 && c == 0 && d == 5 && e == 0) {
        f = 12;
        a = 2;
        return 89;
    } else if (input == 5 && f == 11 && b == 2 && a == 1) {
        b = 1;
        a = 0;
        return 90;
    } else if (input == 5 && a == 2 && c == 0 && e == 1) {
        e = 1;
        f = 10;
        return 91;
    } else if (input == 5 && b == 1 && a == 0 && e == 1) {
        f = 10;
        d = 5;
        return 92;
    } else if (input == 5 && d == 6 && c == 0 && f == 12) {
        a = 5;
        c = 0;
        return 93;
    } else if (input == 5 && c == 1 && d == 7 && e == 0) {
        a = 2;
        f = 11;
        return 94;
    } else if (input == 5 && a == 7 && b == 3 && c == 1) {
        f = 10;
        c = 0;
        return 95;
    } else if (input == 5 && c == 0 && a == 4 && f == 12) {
        b = 2;
        e = 1;
        return 96;
    } else if (input == 5 && d == 7 && a == 7 && e == 0) {
        a = 7;
        b = 3;
        return 97;
    } else if (input == 5 && c == 1 && f == 11 && a == 3) {
        d = 7;
        f = 12;
        return 98;
    } else if (input == 5 && c == 1 && d == 8 && a == 2) {
        f = 12;
        c = 0;
        return 99;
    } else if (input == 5 && d == 8 && f == 11 && e == 1) {
        c = 1;
        f = 12;
        return 100;
    } else if (input == 5 && a == 0 && f == 10 && c == 1) {
        e = 0;
        c = 1;
        return 101;
    } else if (input == 5 && b == 3 && f == 10 && e == 0) {
        d = 7;
        c = 1;
        return 102;
    } else if (input == 5 && f == 10 && c == 0 && b == 3) {
        d = 6;
        c = 0;
        return 103;
    } else if (input == 5 && d == 6 && f == 11 && e == 0) {
        e = 1;
        a = 6;
        return 104;
    } else if (input == 5 && e == 0 && f == 10 && c == 1) {
        b = 2;
        a = 4;
        return 105;
    } else if (input == 5 && c == 0 && f == 12 && b == 3) {
        f = 10;
        a = 5;
        return 106;
    } else if (input == 5 && a == 5 && f == 10 && d == 5) {
        e = 1;
        b = 2;
        return 107;
    } else if (input == 5 && d == 7 && a == 7 && e == 1) {
        e = 1;
        a = 3;
        return 108;
    } else if (input == 5 && f == 11 && c == 0 && b == 2) {
        f = 11;
        c = 1;
        return 109;
    } else if (input == 6 && c == 1 && d == 5 && e == 1) {
        a = 7;
        f = 11;
        return 110;
    } else if (input == 6 && e == 0 && f == 12 && c == 1) {
        d = 7;
        c = 1;
        return 111;
    } else if (input == 6 && f == 12 && d == 6 && e == 0) {
        a = 0;
        d = 7;
        return 112;
    } else if (input == 6 && e == 0 && a == 3 && b == 1) {
        a = 1;
        d = 5;
        return 113;
    } else if (input == 6 && b == 3 && c == 0 && f == 10) {
        e = 1;
        c = 1;
        return 114;
    } else if (input == 6 && f == 10 && a == 7 && d == 6) {
        d = 6;
        c = 0;
        return 115;
    } else if (input == 6 && c == 1 && f == 11 && e == 1) {
        d = 8;
        b = 2;
        return 116;
    } else if (input == 6 && d == 5 && c == 0 && a == 2) {
        e = 1;
        a = 6;
        return 117;
    } else if (input == 6 && f == 10 && e == 0 && c == 0) {
        f = 10;
        d = 8;
        return 118;
    } else if (input == 6 && f == 10 && a == 4 && c == 1) {
        a = 4;
        b = 3;
        return 119;
    } else if (input == 6 && e == 1 && b == 3 && f == 11) {
        f = 12;
        e = 1;
        return 120;
    } else if (input == 6 && d == 6 && f == 11 && a == 1) {
        a = 3;
        b = 1;
        return 121;
    } else if (input == 6 && f == 12 && e == 0 && d == 6) { /* infeasible */
        e = 0;
        f = 10;
        return 122;
    } else if (input == 6 && d == 7 && a == 0 && b == 3) {
        b = 2;
        a = 7;
        return 123;
    } else if (input == 6 && b == 2 && c == 0 && f == 10) {
        e = 1;
        a = 7;
        return 124;
    } else if (input == 6 && c == 0 && b == 2 && d == 7) {
        a = 1;
        f = 11;
        return 125;
    } else if (input == 6 && e == 1 && f == 10 && a == 3) {
        c = 0;
        a = 3;
        return 126;
    } else if (input == 6 && b == 3 && f == 11 && c == 0) {
        e = 1;
        d = 8;
        return 127;
    } else if (input == 6 && b == 1 && f == 12 && c == 0) {
        e = 1;
        f = 10;
        return 128;
    } else if (input == 6 && a == 6 && f == 11 && d == 5) {
        a = 7;
        e = 1;
        return 129;
    } else if (input == 6 && d == 6 && e == 0 && b == 1) {
        f = 11;
        b = 2;
        return 130;
    } else if (input == 6 && f == 12 && c == 1 && d == 5) { /* infeasible */
        d = 8;
        a = 1;
        return 131;
    }
    return -1;
}

int main(void)
{
    for (;;) {
        int input = __VERIFIER_nondet_int();
        if (input < 1 || input > 6)
            return 0;
        output(input);
        if (a == 0 && b == 3 && c == 1 && d == 6 && e == 0 && f == 12) /* infeasible */
            return 1;
        if (a == 5 && b == 3 && c == 1 && d == 6 && e == 0 && f == 11) /* infeasible */
            return 1;
        if (a == 7 && b == 2 && c == 0 && d == 6 && e == 1 && f == 11) /* infeasible */
            return 1;
        if (a == 2 && b == 3 && c == 0 && d == 8 && e == 0 && f == 10) /* infeasible */
            return 1;
        if (a == 2 && b == 2 && c == 0 && d == 7 && e == 0 && f == 11) /* infeasible */
            return 1;
        if (a == 2 && b == 1 && c == 1 && d == 5 && e == 1 && f == 12) /* infeasible */
            return 1;
        if (a == 1 && b == 3 && c == 1 && d == 5 && e == 1 && f == 10) /* infeasible */
            return 1;
        if (a == 3 && b == 2 && c == 0 && d == 6 && e == 0 && f == 12) /* infeasible */
            return 1;
        if (a == 0 && b == 2 && c == 1 && d == 5 && e == 1 && f == 11) /* infeasible */
            return 1;
        if (a == 7 && b == 2 && c == 0 && d == 7 && e == 1 && f == 12) /* infeasible */
            return 1;
        if (a == 5 && b == 3 && c == 0 && d == 5 && e == 1 && f == 11) /* infeasible */
            return 1;
        if (a == 3 && b == 2 && c == 1 && d == 5 && e == 0 && f == 11) /* infeasible */
            return 1;
        if (a == 7 && b == 3 && c == 0 && d == 8 && e == 1 && f == 10) /* feasible */
            return 2;
        if (a == 5 && b == 3 && c == 0 && d == 6 && e == 1 && f == 10) /* feasible */
            return 2;
        if (a == 2 && b == 2 && c == 0 && d == 5 && e == 1 && f == 10) /* feasible */
            return 2;
        if (a == 2 && b == 1 && c == 0 && d == 6 && e == 1 && f == 11) /* feasible */
            return 2;
    }
}
