/* An event-condition-action system: 240 rules over eleven variables in three functions, of which each handles what the one before
 * did not, and assertions. 13665 of 46080 combinations are reached; "infeasible" is what is not. generate.py wrote this. */

extern int __VERIFIER_nondet_int(void);

static int v0 = 5;
static int v1 = 1;
static int v2 = 8;
static int v3 = 5;
static int v4 = 0;
static int v5 = 11;
static int v6 = 1;
static int v7 = 4;
static int v8 = 3;
static int v9 = 1;
static int v10 = 2;

static int rules_3(int input)
{
    if (input == 3 && v0 == 5 && v1 == 0 && v7 == 6 && v9 == 0 && v10 == 2) { /* feasible */
        v7 = 6;
        v4 = 0;
        return 160;
    } else if (input == 2 && v2 == 8 && v4 == 0 && v6 == 0 && v7 == 6 && v8 == 3) { /* feasible */
        v2 = 7;
        v5 = 13;
        return 161;
    } else if (input == 5 && v0 == 5 && v1 == 0 && v4 == 0 && v5 == 11) { /* feasible */
        v10 = 2;
        v0 = 4;
        v7 = 6;
        return 162;
    } else if (input == 3 && v0 == 5 && v1 == 1 && v5 == 12 && v7 == 4 && v8 == 3) { /* feasible */
        v0 = 5;
        v3 = 1;
        return 163;
    } else if (input == 2 && v5 == 11 && v6 == 0 && v8 == 9) { /* feasible */
        v4 = 1;
        v5 = 11;
        return 164;
    } else if (input == 4 && v2 == 7 && v3 == 4 && v4 == 0 && v6 == 0 && v10 == 2) { /* feasible */
        v0 = 4;
        return 165;
    } else if (input == 4 && v1 == 1 && v2 == 9 && v8 == 9 && v9 == 0 && v10 == 2) { /* feasible */
        v10 = 2;
        v0 = 5;
        return 166;
    } else if (input == 2 && v4 == 1 && v7 == 6 && v9 == 0) { /* feasible */
        v0 = 3;
        v10 = 2;
        return 167;
    } else if (input == 1 && v2 == 7 && v6 == 0 && v8 == 15) { /* feasible */
        v10 = 2;
        v1 = 1;
        return 168;
    } else if (input == 3 && v4 == 0 && v8 == 15 && v10 == 1) { /* feasible */
        v1 = 0;
        v0 = 5;
        v10 = 1;
        return 169;
    } else if (input == 4 && v3 == 5 && v5 == 11 && v6 == 1 && v9 == 1) { /* feasible */
        v3 = 4;
        v6 = 0;
        v10 = 1;
        return 170;
    } else if (input == 5 && v4 == 0 && v6 == 0 && v7 == 4 && v8 == 3 && v10 == 1) { /* feasible */
        v2 = 8;
        v8 = 15;
        return 171;
    } else if (input == 1 && v0 == 5 && v4 == 1 && v7 == 6 && v9 == 0) { /* feasible */
        v8 = 3;
        return 172;
    } else if (input == 4 && v2 == 7 && v3 == 5 && v6 == 1 && v7 == 4 && v9 == 1) { /* feasible */
        v0 = 3;
        v1 = 0;
        v2 = 9;
        return 173;
    } else if (input == 3 && v1 == 1 && v6 == 0 && v10 == 2) { /* feasible */
        v7 = 6;
        v9 = 0;
        return 174;
    } else if (input == 4 && v3 == 3 && v6 == 1 && v8 == 3) { /* feasible */
        v1 = 1;
        return 175;
    } else if (input == 5 && v3 == 3 && v6 == 1 && v7 == 6 && v10 == 1) { /* feasible */
        v7 = 6;
        return 176;
    } else if (input == 5 && v1 == 0 && v5 == 11 && v6 == 0 && v8 == 9 && v10 == 2) { /* feasible */
        v3 = 5;
        v4 = 0;
        v10 = 2;
        return 177;
    } else if (input == 2 && v0 == 5 && v2 == 7 && v5 == 11 && v6 == 0 && v9 == 1) { /* feasible */
        v7 = 4;
        return 178;
    } else if (input == 3 && v1 == 1 && v4 == 1 && v5 == 11 && v8 == 15 && v9 == 0) { /* feasible */
        v2 = 9;
        return 179;
    } else if (input == 5 && v4 == 1 && v5 == 13 && v9 == 1) { /* feasible */
        v10 = 2;
        v7 = 4;
        v4 = 0;
        return 180;
    } else if (input == 2 && v4 == 0 && v7 == 6 && v8 == 3 && v9 == 1 && v10 == 2) { /* feasible */
        v5 = 13;
        v3 = 3;
        return 181;
    } else if (input == 1 && v5 == 13 && v6 == 1 && v8 == 9) { /* feasible */
        v3 = 1;
        v2 = 7;
        return 182;
    } else if (input == 3 && v0 == 4 && v3 == 5 && v4 == 1) { /* feasible */
        v5 = 12;
        v3 = 3;
        return 183;
    } else if (input == 5 && v0 == 5 && v5 == 10 && v7 == 4 && v10 == 2) { /* feasible */
        v3 = 2;
        v8 = 15;
        return 184;
    } else if (input == 4 && v5 == 10 && v6 == 1 && v7 == 4 && v10 == 2) { /* feasible */
        v5 = 11;
        v9 = 1;
        v10 = 1;
        return 185;
    } else if (input == 1 && v0 == 3 && v3 == 5 && v7 == 6) { /* feasible */
        v1 = 1;
        return 186;
    } else if (input == 3 && v6 == 0 && v7 == 4 && v8 == 15 && v9 == 0) { /* feasible */
        v8 = 3;
        v4 = 0;
        return 187;
    } else if (input == 2 && v0 == 2 && v2 == 7 && v3 == 5 && v4 == 1 && v8 == 9) { /* feasible */
        v4 = 0;
        v6 = 1;
        return 188;
    } else if (input == 4 && v1 == 0 && v3 == 3 && v7 == 4 && v8 == 3) { /* feasible */
        v8 = 9;
        v3 = 3;
        v6 = 1;
        return 189;
    } else if (input == 3 && v0 == 3 && v4 == 1 && v8 == 15 && v10 == 1) { /* feasible */
        v5 = 13;
        v8 = 15;
        return 190;
    } else if (input == 5 && v1 == 0 && v3 == 2 && v4 == 1 && v6 == 1 && v8 == 15) { /* feasible */
        v0 = 4;
        v4 = 0;
        return 191;
    } else if (input == 1 && v1 == 0 && v2 == 8 && v6 == 0) { /* feasible */
        v9 = 0;
        return 192;
    } else if (input == 3 && v3 == 1 && v7 == 4 && v9 == 0 && v10 == 2) { /* feasible */
        v9 = 0;
        v1 = 1;
        return 193;
    } else if (input == 2 && v2 == 9 && v4 == 0 && v10 == 2) { /* feasible */
        v0 = 2;
        v5 = 11;
        return 194;
    } else if (input == 5 && v2 == 7 && v5 == 11 && v7 == 4) { /* feasible */
        v10 = 1;
        v1 = 0;
        return 195;
    } else if (input == 2 && v2 == 8 && v3 == 2 && v4 == 0 && v6 == 1 && v10 == 1) { /* feasible */
        v1 = 1;
        return 196;
    } else if (input == 3 && v1 == 1 && v4 == 1 && v6 == 1 && v10 == 1) { /* feasible */
        v1 = 0;
        v8 = 3;
        v4 = 0;
        return 197;
    } else if (input == 1 && v2 == 9 && v5 == 11 && v6 == 1 && v8 == 3) { /* feasible */
        v10 = 2;
        v9 = 0;
        v3 = 4;
        return 198;
    } else if (input == 2 && v2 == 7 && v3 == 5 && v6 == 1) { /* feasible */
        v5 = 12;
        v0 = 2;
        return 199;
    } else if (input == 3 && v0 == 2 && v3 == 2 && v9 == 1 && v10 == 1) { /* feasible */
        v9 = 0;
        v0 = 3;
        return 200;
    } else if (input == 4 && v1 == 0 && v3 == 5 && v6 == 1 && v7 == 4) { /* feasible */
        v6 = 0;
        v2 = 8;
        v10 = 1;
        return 201;
    } else if (input == 3 && v0 == 2 && v3 == 4 && v9 == 0) { /* feasible */
        v4 = 0;
        v8 = 3;
        v10 = 2;
        return 202;
    } else if (input == 4 && v0 == 4 && v4 == 1 && v10 == 2) { /* feasible */
        v10 = 1;
        return 203;
    } else if (input == 3 && v1 == 0 && v4 == 0 && v8 == 15 && v9 == 1) { /* feasible */
        v3 = 3;
        v7 = 4;
        return 204;
    } else if (input == 5 && v0 == 3 && v1 == 0 && v2 == 7 && v3 == 3 && v9 == 1) { /* feasible */
        v10 = 1;
        v0 = 4;
        v4 = 0;
        return 205;
    } else if (input == 4 && v3 == 5 && v5 == 13 && v6 == 1 && v8 == 15) { /* feasible */
        v7 = 4;
        v8 = 3;
        return 206;
    } else if (input == 5 && v2 == 8 && v7 == 6 && v8 == 3 && v10 == 1) { /* feasible */
        v8 = 15;
        v9 = 0;
        v2 = 7;
        return 207;
    } else if (input == 1 && v0 == 3 && v6 == 0 && v8 == 15 && v10 == 2) { /* feasible */
        v10 = 2;
        v0 = 2;
        return 208;
    } else if (input == 1 && v4 == 0 && v6 == 0 && v7 == 6 && v9 == 0 && v10 == 2) { /* feasible */
        v9 = 0;
        return 209;
    } else if (input == 4 && v1 == 0 && v2 == 9 && v5 == 11 && v9 == 1) { /* feasible */
        v0 = 4;
        v8 = 9;
        return 210;
    } else if (input == 3 && v3 == 1 && v6 == 1 && v7 == 6 && v10 == 2) { /* feasible */
        v8 = 3;
        v4 = 0;
        return 211;
    } else if (input == 4 && v1 == 1 && v4 == 0 && v9 == 0 && v10 == 2) { /* feasible */
        v6 = 0;
        v7 = 4;
        v5 = 10;
        return 212;
    } else if (input == 4 && v2 == 9 && v7 == 6 && v10 == 2) { /* feasible */
        v7 = 6;
        v4 = 1;
        return 213;
    } else if (input == 2 && v0 == 4 && v2 == 7 && v7 == 4 && v10 == 2) { /* feasible */
        v9 = 0;
        return 214;
    } else if (input == 5 && v0 == 2 && v2 == 9 && v4 == 0 && v8 == 15 && v9 == 0) { /* feasible */
        v7 = 4;
        v6 = 0;
        return 215;
    } else if (input == 5 && v1 == 0 && v4 == 1 && v6 == 0 && v7 == 4 && v9 == 1) { /* feasible */
        v0 = 3;
        v8 = 15;
        v3 = 5;
        return 216;
    } else if (input == 2 && v2 == 7 && v3 == 2 && v5 == 11 && v8 == 15) { /* feasible */
        v3 = 1;
        v7 = 4;
        v1 = 0;
        return 217;
    } else if (input == 3 && v2 == 7 && v3 == 5 && v5 == 13 && v7 == 4 && v10 == 2) { /* feasible */
        v6 = 1;
        v3 = 3;
        v5 = 10;
        return 218;
    } else if (input == 2 && v2 == 7 && v4 == 0 && v5 == 11 && v6 == 0 && v8 == 3) { /* feasible */
        v4 = 1;
        v9 = 0;
        return 219;
    } else if (input == 1 && v4 == 0 && v7 == 4 && v8 == 3) { /* feasible */
        v3 = 3;
        v4 = 1;
        v6 = 1;
        return 220;
    } else if (input == 3 && v0 == 2 && v1 == 1 && v3 == 2 && v7 == 4) { /* feasible */
        v7 = 6;
        v10 = 2;
        return 221;
    } else if (input == 1 && v2 == 7 && v4 == 0 && v5 == 13 && v7 == 6 && v10 == 1) { /* feasible */
        v2 = 9;
        return 222;
    } else if (input == 2 && v2 == 9 && v6 == 1 && v10 == 1) { /* feasible */
        v1 = 0;
        v7 = 6;
        return 223;
    } else if (input == 4 && v1 == 1 && v2 == 9 && v6 == 1 && v10 == 1) { /* feasible */
        v1 = 0;
        v2 = 8;
        v0 = 2;
        return 224;
    } else if (input == 4 && v0 == 2 && v2 == 8 && v4 == 0 && v5 == 11 && v9 == 0) { /* feasible */
        v1 = 1;
        v5 = 11;
        return 225;
    } else if (input == 2 && v0 == 2 && v4 == 1 && v6 == 1 && v7 == 4) { /* feasible */
        v0 = 3;
        v3 = 4;
        v6 = 1;
        return 226;
    } else if (input == 3 && v1 == 1 && v3 == 2 && v5 == 11 && v8 == 15 && v9 == 0) { /* feasible */
        v1 = 1;
        v3 = 5;
        return 227;
    } else if (input == 5 && v0 == 3 && v4 == 0 && v5 == 10 && v7 == 4 && v9 == 1) { /* feasible */
        v8 = 9;
        return 228;
    } else if (input == 3 && v1 == 0 && v6 == 1 && v8 == 3) { /* feasible */
        v5 = 11;
        return 229;
    } else if (input == 4 && v0 == 2 && v2 == 8 && v5 == 11 && v6 == 1) { /* feasible */
        v2 = 7;
        v1 = 0;
        return 230;
    } else if (input == 3 && v0 == 2 && v1 == 1 && v3 == 3 && v4 == 0 && v7 == 4) { /* feasible */
        v9 = 0;
        v5 = 11;
        return 231;
    } else if (input == 4 && v1 == 1 && v4 == 1 && v7 == 6 && v9 == 0) { /* feasible */
        v8 = 9;
        v0 = 4;
        v9 = 1;
        return 232;
    } else if (input == 3 && v1 == 0 && v6 == 0 && v9 == 0) { /* feasible */
        v3 = 1;
        v7 = 6;
        v1 = 1;
        return 233;
    } else if (input == 2 && v4 == 1 && v6 == 0 && v8 == 9 && v9 == 1) { /* feasible */
        v1 = 0;
        v4 = 1;
        v0 = 4;
        return 234;
    } else if (input == 1 && v0 == 2 && v7 == 4 && v8 == 9 && v10 == 2) { /* feasible */
        v6 = 1;
        return 235;
    } else if (input == 2 && v2 == 9 && v4 == 0 && v5 == 11 && v6 == 1 && v8 == 15) { /* infeasible */
        v9 = 1;
        return 236;
    } else if (input == 4 && v2 == 7 && v4 == 0 && v9 == 1) { /* feasible */
        v6 = 1;
        v0 = 3;
        return 237;
    } else if (input == 4 && v0 == 4 && v1 == 0 && v6 == 0 && v7 == 6) { /* feasible */
        v5 = 10;
        v2 = 9;
        return 238;
    } else if (input == 2 && v1 == 0 && v2 == 8 && v4 == 0 && v7 == 4 && v9 == 0) { /* feasible */
        v2 = 7;
        v9 = 0;
        v4 = 0;
        return 239;
    }
    return -1;
}

static int rules_2(int input)
{
    if (input == 5 && v0 == 3 && v2 == 8 && v7 == 6 && v9 == 0) { /* feasible */
        v2 = 8;
        return 80;
    } else if (input == 5 && v0 == 2 && v7 == 6 && v8 == 15 && v9 == 0) { /* feasible */
        v7 = 4;
        v6 = 0;
        return 81;
    } else if (input == 1 && v1 == 1 && v3 == 5 && v4 == 0 && v8 == 15) { /* feasible */
        v0 = 5;
        v2 = 9;
        return 82;
    } else if (input == 5 && v2 == 8 && v7 == 4 && v9 == 1 && v10 == 2) { /* feasible */
        v6 = 0;
        v5 = 11;
        return 83;
    } else if (input == 1 && v3 == 5 && v6 == 1 && v7 == 4 && v9 == 1) { /* feasible */
        v7 = 6;
        v3 = 4;
        return 84;
    } else if (input == 2 && v0 == 2 && v2 == 7 && v4 == 0 && v5 == 10) { /* feasible */
        v4 = 1;
        v1 = 0;
        return 85;
    } else if (input == 5 && v0 == 5 && v1 == 1 && v2 == 7 && v3 == 5) { /* feasible */
        v8 = 9;
        v0 = 5;
        return 86;
    } else if (input == 2 && v0 == 3 && v2 == 7 && v3 == 5 && v8 == 3 && v10 == 2) { /* feasible */
        v5 = 13;
        v7 = 4;
        return 87;
    } else if (input == 1 && v2 == 8 && v6 == 0 && v7 == 6 && v8 == 3) { /* feasible */
        v9 = 0;
        v3 = 1;
        return 88;
    } else if (input == 4 && v0 == 5 && v1 == 1 && v4 == 1 && v6 == 1 && v9 == 1) { /* feasible */
        v1 = 0;
        v6 = 1;
        return 89;
    } else if (input == 4 && v4 == 0 && v5 == 11 && v6 == 1 && v7 == 4 && v9 == 1) { /* feasible */
        v8 = 15;
        v1 = 1;
        return 90;
    } else if (input == 1 && v4 == 0 && v7 == 4 && v8 == 3 && v9 == 1) { /* feasible */
        v6 = 1;
        return 91;
    } else if (input == 3 && v2 == 8 && v4 == 1 && v5 == 10 && v7 == 4 && v9 == 1) { /* feasible */
        v10 = 2;
        v7 = 6;
        return 92;
    } else if (input == 4 && v0 == 2 && v1 == 1 && v6 == 1 && v8 == 3) { /* feasible */
        v6 = 0;
        v10 = 2;
        v0 = 4;
        return 93;
    } else if (input == 5 && v0 == 4 && v1 == 0 && v2 == 8 && v3 == 5 && v4 == 0) { /* feasible */
        v8 = 15;
        v7 = 4;
        return 94;
    } else if (input == 5 && v0 == 5 && v1 == 1 && v4 == 1 && v5 == 11) { /* feasible */
        v2 = 8;
        v10 = 2;
        return 95;
    } else if (input == 1 && v4 == 0 && v5 == 10 && v6 == 0 && v7 == 6) { /* feasible */
        v1 = 0;
        v10 = 2;
        return 96;
    } else if (input == 2 && v0 == 5 && v2 == 7 && v6 == 1 && v7 == 6 && v10 == 1) { /* feasible */
        v5 = 11;
        v10 = 2;
        return 97;
    } else if (input == 5 && v2 == 8 && v4 == 1 && v6 == 1 && v9 == 1) { /* feasible */
        v10 = 1;
        v2 = 8;
        return 98;
    } else if (input == 3 && v4 == 0 && v6 == 0 && v9 == 0 && v10 == 2) { /* feasible */
        v0 = 3;
        return 99;
    } else if (input == 3 && v0 == 4 && v5 == 11 && v6 == 1) { /* feasible */
        v4 = 1;
        return 100;
    } else if (input == 4 && v2 == 7 && v5 == 11 && v6 == 1 && v9 == 0 && v10 == 2) { /* feasible */
        v8 = 9;
        return 101;
    } else if (input == 3 && v0 == 4 && v2 == 8 && v5 == 10) { /* feasible */
        v4 = 0;
        v5 = 13;
        v3 = 2;
        return 102;
    } else if (input == 4 && v0 == 5 && v1 == 0 && v2 == 8 && v8 == 15) { /* feasible */
        v7 = 4;
        v2 = 8;
        return 103;
    } else if (input == 1 && v0 == 2 && v1 == 0 && v5 == 11 && v6 == 1 && v8 == 3) { /* feasible */
        v9 = 0;
        v0 = 3;
        v2 = 9;
        return 104;
    } else if (input == 3 && v0 == 5 && v4 == 0 && v5 == 11) { /* feasible */
        v3 = 1;
        return 105;
    } else if (input == 2 && v3 == 2 && v4 == 1 && v6 == 1 && v7 == 4) { /* feasible */
        v6 = 0;
        v10 = 1;
        v4 = 0;
        return 106;
    } else if (input == 2 && v4 == 1 && v5 == 11 && v7 == 6 && v8 == 3 && v10 == 2) { /* feasible */
        v4 = 1;
        return 107;
    } else if (input == 4 && v0 == 5 && v2 == 8 && v3 == 5 && v4 == 1) { /* feasible */
        v2 = 7;
        v6 = 0;
        return 108;
    } else if (input == 5 && v1 == 0 && v5 == 10 && v6 == 0) { /* feasible */
        v9 = 0;
        return 109;
    } else if (input == 4 && v3 == 3 && v6 == 1 && v7 == 4 && v8 == 3 && v10 == 2) { /* feasible */
        v5 = 10;
        v8 = 3;
        return 110;
    } else if (input == 4 && v3 == 5 && v5 == 10 && v9 == 0) { /* feasible */
        v1 = 1;
        return 111;
    } else if (input == 5 && v3 == 5 && v6 == 1 && v7 == 4 && v8 == 15 && v10 == 1) { /* feasible */
        v4 = 0;
        v9 = 1;
        v0 = 3;
        return 112;
    } else if (input == 2 && v3 == 3 && v4 == 1 && v5 == 11 && v9 == 1) { /* feasible */
        v3 = 2;
        return 113;
    } else if (input == 5 && v4 == 0 && v8 == 3 && v9 == 1) { /* feasible */
        v8 = 9;
        v5 = 11;
        return 114;
    } else if (input == 1 && v0 == 2 && v3 == 3 && v4 == 0 && v7 == 6 && v10 == 2) { /* feasible */
        v0 = 3;
        v8 = 9;
        v1 = 0;
        return 115;
    } else if (input == 5 && v3 == 5 && v4 == 0 && v5 == 11) { /* feasible */
        v7 = 4;
        v1 = 1;
        v9 = 0;
        return 116;
    } else if (input == 2 && v0 == 5 && v5 == 10 && v6 == 0 && v8 == 15 && v10 == 2) { /* feasible */
        v2 = 8;
        v9 = 0;
        return 117;
    } else if (input == 2 && v4 == 0 && v5 == 13 && v9 == 0) { /* feasible */
        v5 = 13;
        v4 = 0;
        return 118;
    } else if (input == 1 && v4 == 0 && v5 == 11 && v6 == 1 && v10 == 2) { /* feasible */
        v3 = 3;
        v7 = 4;
        v1 = 1;
        return 119;
    } else if (input == 4 && v3 == 1 && v5 == 11 && v6 == 1 && v7 == 6 && v10 == 2) { /* feasible */
        v10 = 1;
        v4 = 0;
        v9 = 0;
        return 120;
    } else if (input == 1 && v4 == 0 && v6 == 0 && v8 == 3 && v9 == 0) { /* feasible */
        v8 = 15;
        return 121;
    } else if (input == 4 && v0 == 5 && v1 == 0 && v5 == 10 && v9 == 0) { /* feasible */
        v7 = 6;
        v1 = 0;
        return 122;
    } else if (input == 4 && v0 == 5 && v3 == 5 && v7 == 4 && v9 == 1) { /* feasible */
        v0 = 2;
        return 123;
    } else if (input == 1 && v3 == 5 && v7 == 4 && v8 == 15 && v9 == 0 && v10 == 2) { /* feasible */
        v10 = 2;
        v9 = 1;
        return 124;
    } else if (input == 5 && v0 == 4 && v2 == 8 && v5 == 10 && v6 == 0 && v8 == 15) { /* feasible */
        v1 = 1;
        return 125;
    } else if (input == 4 && v1 == 0 && v3 == 4 && v9 == 0) { /* feasible */
        v5 = 11;
        v3 = 5;
        return 126;
    } else if (input == 2 && v3 == 2 && v7 == 4 && v9 == 1) { /* infeasible */
        v8 = 3;
        return 127;
    } else if (input == 1 && v1 == 0 && v6 == 1 && v9 == 0 && v10 == 2) { /* feasible */
        v2 = 9;
        v4 = 0;
        v8 = 9;
        return 128;
    } else if (input == 3 && v0 == 5 && v6 == 0 && v8 == 3 && v10 == 2) { /* feasible */
        v5 = 11;
        v7 = 4;
        v3 = 4;
        return 129;
    } else if (input == 5 && v1 == 1 && v3 == 1 && v5 == 13 && v6 == 0) { /* feasible */
        v0 = 4;
        return 130;
    } else if (input == 1 && v5 == 10 && v6 == 0 && v8 == 15 && v10 == 2) { /* feasible */
        v5 = 11;
        v7 = 6;
        return 131;
    } else if (input == 4 && v0 == 4 && v1 == 1 && v5 == 10 && v9 == 1 && v10 == 1) { /* feasible */
        v5 = 11;
        return 132;
    } else if (input == 2 && v0 == 2 && v1 == 1 && v3 == 3 && v4 == 0) { /* feasible */
        v9 = 0;
        v1 = 1;
        return 133;
    } else if (input == 5 && v0 == 3 && v2 == 7 && v5 == 11 && v8 == 15) { /* feasible */
        v6 = 0;
        return 134;
    } else if (input == 4 && v0 == 2 && v3 == 2 && v9 == 0 && v10 == 2) { /* feasible */
        v2 = 7;
        return 135;
    } else if (input == 1 && v1 == 1 && v6 == 1 && v7 == 6 && v10 == 2) { /* feasible */
        v10 = 1;
        v8 = 15;
        return 136;
    } else if (input == 4 && v1 == 1 && v3 == 1 && v8 == 15 && v10 == 1) { /* feasible */
        v7 = 4;
        v6 = 1;
        return 137;
    } else if (input == 4 && v0 == 3 && v6 == 1 && v7 == 6 && v9 == 0 && v10 == 2) { /* feasible */
        v10 = 2;
        v5 = 13;
        return 138;
    } else if (input == 2 && v2 == 8 && v5 == 11 && v7 == 6 && v9 == 1 && v10 == 1) { /* feasible */
        v9 = 0;
        v0 = 4;
        v4 = 1;
        return 139;
    } else if (input == 5 && v1 == 1 && v2 == 8 && v6 == 0 && v9 == 0) { /* feasible */
        v10 = 2;
        return 140;
    } else if (input == 2 && v2 == 8 && v5 == 10 && v9 == 0) { /* feasible */
        v4 = 0;
        v1 = 0;
        return 141;
    } else if (input == 3 && v1 == 0 && v2 == 7 && v3 == 3 && v9 == 0) { /* feasible */
        v9 = 0;
        v4 = 0;
        return 142;
    } else if (input == 2 && v4 == 0 && v8 == 15 && v9 == 0 && v10 == 2) { /* feasible */
        v4 = 0;
        v8 = 9;
        return 143;
    } else if (input == 5 && v1 == 1 && v2 == 7 && v8 == 15 && v9 == 1) { /* feasible */
        v4 = 1;
        v0 = 4;
        return 144;
    } else if (input == 1 && v3 == 2 && v5 == 11 && v7 == 4 && v8 == 9 && v9 == 0) { /* feasible */
        v4 = 0;
        return 145;
    } else if (input == 4 && v3 == 5 && v4 == 0 && v5 == 10) { /* feasible */
        v0 = 3;
        v6 = 0;
        return 146;
    } else if (input == 2 && v1 == 0 && v5 == 10 && v7 == 6 && v8 == 15) { /* feasible */
        v1 = 0;
        v7 = 4;
        return 147;
    } else if (input == 1 && v3 == 5 && v4 == 0 && v5 == 11 && v10 == 1) { /* feasible */
        v9 = 0;
        v10 = 1;
        v5 = 11;
        return 148;
    } else if (input == 1 && v0 == 2 && v4 == 1 && v10 == 2) { /* feasible */
        v0 = 4;
        return 149;
    } else if (input == 5 && v3 == 1 && v5 == 10 && v6 == 0 && v10 == 2) { /* feasible */
        v0 = 4;
        v9 = 1;
        return 150;
    } else if (input == 3 && v2 == 7 && v3 == 3 && v6 == 0 && v7 == 6) { /* feasible */
        v2 = 9;
        v3 = 5;
        return 151;
    } else if (input == 1 && v0 == 4 && v2 == 8 && v4 == 1 && v9 == 1) { /* feasible */
        v3 = 5;
        return 152;
    } else if (input == 4 && v0 == 2 && v3 == 3 && v6 == 0 && v7 == 4) { /* feasible */
        v6 = 0;
        return 153;
    } else if (input == 1 && v3 == 1 && v4 == 0 && v5 == 11 && v6 == 1) { /* feasible */
        v0 = 5;
        return 154;
    } else if (input == 2 && v2 == 8 && v6 == 0 && v9 == 0) { /* feasible */
        v5 = 11;
        v10 = 1;
        return 155;
    } else if (input == 2 && v0 == 5 && v2 == 9 && v3 == 5 && v9 == 1) { /* feasible */
        v5 = 12;
        v10 = 1;
        v1 = 0;
        return 156;
    } else if (input == 1 && v0 == 5 && v1 == 0 && v4 == 0 && v10 == 1) { /* feasible */
        v8 = 3;
        v4 = 0;
        v1 = 0;
        return 157;
    } else if (input == 2 && v2 == 9 && v8 == 3 && v9 == 1 && v10 == 2) { /* feasible */
        v5 = 13;
        v9 = 0;
        v7 = 4;
        return 158;
    } else if (input == 4 && v0 == 5 && v4 == 1 && v6 == 0 && v7 == 4 && v10 == 1) { /* feasible */
        v0 = 3;
        return 159;
    }
    return rules_3(input);
}

static int rules_1(int input)
{
    if (input == 2 && v0 == 3 && v6 == 1 && v8 == 3) { /* feasible */
        v0 = 2;
        return 0;
    } else if (input == 3 && v5 == 11 && v7 == 4 && v10 == 2) { /* feasible */
        v7 = 4;
        v0 = 5;
        return 1;
    } else if (input == 3 && v3 == 5 && v4 == 0 && v5 == 11) { /* feasible */
        v6 = 0;
        return 2;
    } else if (input == 3 && v0 == 5 && v3 == 5 && v10 == 2) { /* feasible */
        v6 = 1;
        v1 = 1;
        v3 = 1;
        return 3;
    } else if (input == 2 && v1 == 1 && v2 == 8 && v6 == 1) { /* feasible */
        v2 = 8;
        v8 = 15;
        v3 = 2;
        return 4;
    } else if (input == 2 && v0 == 5 && v1 == 1 && v3 == 1 && v6 == 1 && v9 == 1) { /* feasible */
        v0 = 3;
        return 5;
    } else if (input == 3 && v0 == 5 && v4 == 0 && v5 == 11 && v9 == 1) { /* feasible */
        v9 = 1;
        return 6;
    } else if (input == 4 && v2 == 8 && v6 == 1 && v7 == 4 && v9 == 1) { /* feasible */
        v3 = 5;
        v2 = 7;
        return 7;
    } else if (input == 2 && v0 == 5 && v1 == 1 && v6 == 1) { /* feasible */
        v4 = 1;
        v6 = 0;
        v7 = 4;
        return 8;
    } else if (input == 3 && v1 == 1 && v4 == 0 && v8 == 3 && v9 == 1 && v10 == 2) { /* feasible */
        v0 = 3;
        return 9;
    } else if (input == 4 && v1 == 0 && v2 == 8 && v5 == 11 && v7 == 4) { /* feasible */
        v4 = 0;
        v0 = 2;
        return 10;
    } else if (input == 1 && v1 == 1 && v2 == 8 && v5 == 11 && v8 == 15) { /* feasible */
        v5 = 10;
        v10 = 2;
        return 11;
    } else if (input == 1 && v0 == 5 && v7 == 4 && v9 == 1) { /* feasible */
        v1 = 0;
        return 12;
    } else if (input == 3 && v3 == 5 && v5 == 11 && v6 == 1 && v7 == 4 && v8 == 3) { /* feasible */
        v0 = 5;
        v3 = 5;
        v1 = 1;
        return 13;
    } else if (input == 2 && v2 == 8 && v3 == 5 && v4 == 1 && v9 == 1) { /* feasible */
        v6 = 0;
        v4 = 1;
        return 14;
    } else if (input == 3 && v1 == 1 && v3 == 5 && v5 == 11 && v9 == 1 && v10 == 2) { /* feasible */
        v2 = 8;
        v1 = 1;
        return 15;
    } else if (input == 5 && v5 == 11 && v6 == 1 && v7 == 4 && v8 == 3 && v9 == 1) { /* feasible */
        v10 = 2;
        return 16;
    } else if (input == 5 && v0 == 5 && v2 == 8 && v9 == 1 && v10 == 2) { /* feasible */
        v0 = 5;
        v1 = 0;
        return 17;
    } else if (input == 5 && v3 == 5 && v9 == 1 && v10 == 2) { /* feasible */
        v8 = 3;
        v0 = 4;
        v2 = 8;
        return 18;
    } else if (input == 1 && v1 == 1 && v3 == 5 && v6 == 1 && v8 == 3 && v9 == 1) { /* feasible */
        v7 = 4;
        v5 = 10;
        return 19;
    } else if (input == 5 && v1 == 1 && v4 == 0 && v5 == 11 && v6 == 1) { /* feasible */
        v7 = 6;
        return 20;
    } else if (input == 5 && v0 == 5 && v1 == 1 && v3 == 5 && v7 == 4) { /* feasible */
        v7 = 6;
        v2 = 8;
        return 21;
    } else if (input == 2 && v4 == 0 && v7 == 4 && v8 == 3 && v9 == 1) { /* feasible */
        v4 = 0;
        v6 = 1;
        return 22;
    } else if (input == 2 && v1 == 1 && v3 == 5 && v4 == 0 && v6 == 1 && v8 == 3) { /* feasible */
        v7 = 4;
        return 23;
    } else if (input == 5 && v3 == 5 && v4 == 0 && v6 == 1 && v7 == 6 && v10 == 2) { /* feasible */
        v3 = 4;
        return 24;
    } else if (input == 5 && v0 == 5 && v2 == 8 && v3 == 5 && v9 == 1) { /* feasible */
        v9 = 0;
        v7 = 6;
        return 25;
    } else if (input == 2 && v0 == 5 && v3 == 5 && v6 == 1 && v8 == 3) { /* feasible */
        v10 = 1;
        v8 = 15;
        return 26;
    } else if (input == 1 && v2 == 8 && v5 == 11 && v9 == 1 && v10 == 2) { /* feasible */
        v1 = 0;
        v2 = 7;
        return 27;
    } else if (input == 2 && v1 == 1 && v2 == 8 && v6 == 1 && v9 == 1 && v10 == 2) { /* infeasible */
        v1 = 1;
        v8 = 15;
        return 28;
    } else if (input == 2 && v0 == 5 && v1 == 1 && v7 == 4 && v9 == 1 && v10 == 2) { /* feasible */
        v9 = 0;
        return 29;
    } else if (input == 4 && v1 == 1 && v5 == 11 && v6 == 1) { /* feasible */
        v0 = 3;
        v10 = 1;
        return 30;
    } else if (input == 1 && v2 == 8 && v3 == 5 && v5 == 11 && v6 == 1) { /* feasible */
        v9 = 1;
        v10 = 2;
        v3 = 3;
        return 31;
    } else if (input == 5 && v2 == 8 && v5 == 11 && v6 == 1 && v8 == 3 && v9 == 1) { /* feasible */
        v7 = 4;
        v1 = 1;
        return 32;
    } else if (input == 1 && v3 == 5 && v4 == 0 && v5 == 11 && v10 == 2) { /* feasible */
        v10 = 2;
        v3 = 5;
        v1 = 0;
        return 33;
    } else if (input == 5 && v0 == 5 && v4 == 0 && v6 == 1 && v7 == 4) { /* feasible */
        v5 = 13;
        v8 = 15;
        return 34;
    } else if (input == 5 && v0 == 3 && v1 == 1 && v3 == 4 && v8 == 3 && v10 == 2) { /* feasible */
        v7 = 6;
        v6 = 1;
        v4 = 1;
        return 35;
    } else if (input == 4 && v4 == 0 && v5 == 11 && v8 == 3 && v9 == 1 && v10 == 2) { /* feasible */
        v6 = 0;
        v10 = 2;
        return 36;
    } else if (input == 4 && v1 == 1 && v3 == 5 && v6 == 1 && v7 == 4) { /* feasible */
        v2 = 7;
        v3 = 5;
        v1 = 1;
        return 37;
    } else if (input == 5 && v0 == 5 && v2 == 8 && v5 == 11 && v8 == 3) { /* feasible */
        v10 = 2;
        v9 = 1;
        return 38;
    } else if (input == 2 && v1 == 1 && v2 == 8 && v3 == 5 && v7 == 4) { /* feasible */
        v4 = 0;
        v9 = 1;
        return 39;
    } else if (input == 2 && v0 == 5 && v3 == 5 && v8 == 3 && v10 == 2) { /* feasible */
        v8 = 3;
        v4 = 0;
        return 40;
    } else if (input == 4 && v3 == 5 && v5 == 11 && v7 == 4 && v10 == 2) { /* feasible */
        v7 = 4;
        return 41;
    } else if (input == 3 && v2 == 8 && v5 == 12 && v6 == 1 && v9 == 1) { /* feasible */
        v6 = 0;
        v5 = 13;
        return 42;
    } else if (input == 2 && v6 == 1 && v7 == 4 && v9 == 1) { /* feasible */
        v1 = 1;
        return 43;
    } else if (input == 5 && v2 == 8 && v4 == 0 && v5 == 11 && v7 == 4) { /* feasible */
        v7 = 6;
        v9 = 1;
        return 44;
    } else if (input == 5 && v0 == 5 && v3 == 5 && v5 == 11 && v6 == 1 && v9 == 1) { /* feasible */
        v9 = 1;
        v5 = 11;
        return 45;
    } else if (input == 1 && v0 == 5 && v1 == 1 && v4 == 0 && v7 == 4) { /* feasible */
        v10 = 2;
        return 46;
    } else if (input == 4 && v1 == 1 && v4 == 0 && v5 == 11) { /* feasible */
        v1 = 0;
        v6 = 0;
        return 47;
    } else if (input == 4 && v5 == 10 && v6 == 1 && v7 == 4 && v8 == 15) { /* feasible */
        v9 = 0;
        return 48;
    } else if (input == 2 && v0 == 2 && v1 == 1 && v6 == 1 && v7 == 4) { /* feasible */
        v6 = 0;
        v2 = 9;
        v3 = 4;
        return 49;
    } else if (input == 4 && v4 == 0 && v6 == 1 && v8 == 3 && v10 == 2) { /* feasible */
        v10 = 1;
        v2 = 7;
        return 50;
    } else if (input == 3 && v0 == 2 && v1 == 0 && v3 == 5 && v5 == 11 && v8 == 3) { /* feasible */
        v2 = 7;
        v4 = 1;
        v6 = 1;
        return 51;
    } else if (input == 1 && v1 == 0 && v5 == 10 && v6 == 1 && v7 == 6 && v8 == 15) { /* feasible */
        v10 = 1;
        return 52;
    } else if (input == 2 && v2 == 8 && v3 == 5 && v6 == 0 && v7 == 4) { /* feasible */
        v10 = 2;
        v9 = 0;
        return 53;
    } else if (input == 4 && v0 == 5 && v2 == 8 && v3 == 1 && v8 == 3) { /* feasible */
        v7 = 6;
        v1 = 0;
        v8 = 3;
        return 54;
    } else if (input == 5 && v0 == 3 && v3 == 1 && v7 == 6) { /* feasible */
        v5 = 13;
        v4 = 0;
        return 55;
    } else if (input == 1 && v1 == 1 && v5 == 10 && v8 == 15 && v9 == 0 && v10 == 2) { /* feasible */
        v10 = 2;
        return 56;
    } else if (input == 2 && v1 == 0 && v3 == 2 && v4 == 1 && v6 == 1 && v7 == 4) { /* feasible */
        v5 = 10;
        v6 = 1;
        return 57;
    } else if (input == 2 && v1 == 1 && v4 == 0 && v5 == 10 && v7 == 4 && v8 == 3) { /* feasible */
        v2 = 9;
        return 58;
    } else if (input == 5 && v0 == 3 && v1 == 1 && v6 == 1 && v7 == 4) { /* feasible */
        v5 = 13;
        return 59;
    } else if (input == 3 && v2 == 8 && v5 == 11 && v6 == 1 && v7 == 6) { /* feasible */
        v3 = 5;
        v9 = 0;
        return 60;
    } else if (input == 3 && v1 == 0 && v4 == 0 && v5 == 11 && v7 == 6) { /* feasible */
        v9 = 0;
        return 61;
    } else if (input == 1 && v2 == 8 && v3 == 2 && v5 == 11 && v8 == 15) { /* feasible */
        v10 = 1;
        return 62;
    } else if (input == 2 && v5 == 11 && v6 == 1 && v7 == 6 && v9 == 0) { /* feasible */
        v7 = 4;
        return 63;
    } else if (input == 3 && v2 == 8 && v4 == 1 && v8 == 15) { /* feasible */
        v0 = 4;
        return 64;
    } else if (input == 2 && v1 == 1 && v2 == 7 && v8 == 3 && v10 == 2) { /* feasible */
        v4 = 0;
        v6 = 0;
        return 65;
    } else if (input == 4 && v0 == 4 && v2 == 7 && v6 == 1 && v8 == 15 && v10 == 2) { /* feasible */
        v0 = 3;
        v10 = 2;
        return 66;
    } else if (input == 5 && v5 == 11 && v6 == 1 && v7 == 6) { /* feasible */
        v4 = 1;
        v7 = 6;
        v9 = 0;
        return 67;
    } else if (input == 1 && v6 == 1 && v8 == 15 && v9 == 1 && v10 == 2) { /* feasible */
        v6 = 1;
        v9 = 0;
        v5 = 11;
        return 68;
    } else if (input == 2 && v0 == 5 && v3 == 5 && v6 == 0 && v8 == 15 && v10 == 2) { /* feasible */
        v1 = 1;
        v5 = 11;
        return 69;
    } else if (input == 4 && v1 == 1 && v4 == 1 && v8 == 15 && v9 == 0 && v10 == 2) { /* feasible */
        v0 = 3;
        v5 = 10;
        return 70;
    } else if (input == 3 && v0 == 4 && v2 == 8 && v3 == 5 && v5 == 10 && v10 == 2) { /* feasible */
        v3 = 1;
        v4 = 0;
        return 71;
    } else if (input == 3 && v0 == 5 && v2 == 8 && v3 == 1 && v7 == 6) { /* feasible */
        v5 = 13;
        v4 = 0;
        return 72;
    } else if (input == 3 && v1 == 1 && v2 == 7 && v3 == 5 && v6 == 0 && v10 == 1) { /* feasible */
        v4 = 0;
        v5 = 11;
        return 73;
    } else if (input == 5 && v1 == 1 && v2 == 7 && v4 == 1 && v7 == 4) { /* feasible */
        v9 = 1;
        return 74;
    } else if (input == 1 && v1 == 1 && v2 == 7 && v4 == 1 && v6 == 1 && v9 == 1) { /* feasible */
        v0 = 5;
        v9 = 1;
        return 75;
    } else if (input == 1 && v1 == 0 && v2 == 7 && v8 == 15) { /* feasible */
        v0 = 3;
        v8 = 15;
        v4 = 0;
        return 76;
    } else if (input == 3 && v3 == 5 && v4 == 0 && v6 == 0 && v7 == 6 && v8 == 3) { /* feasible */
        v4 = 0;
        v0 = 5;
        v3 = 2;
        return 77;
    } else if (input == 2 && v6 == 0 && v7 == 4 && v9 == 1) { /* feasible */
        v1 = 0;
        return 78;
    } else if (input == 4 && v0 == 5 && v2 == 8 && v4 == 1 && v9 == 1) { /* feasible */
        v9 = 0;
        v7 = 4;
        return 79;
    }
    return rules_2(input);
}

int rules(void)
{
    for (;;) {
        int input = __VERIFIER_nondet_int();
        if (input < 1 || input > 5)
            return 0;
        rules_1(input);
        if (v2 == 9 && v4 == 1 && v5 == 10 && v6 == 0 && v7 == 6 && v8 == 15 && v9 == 0 && v10 == 2) /* feasible */
            return 1;
        if (v0 == 5 && v3 == 1 && v6 == 0 && v8 == 9) /* feasible */
            return 2;
        if (v0 == 5 && v1 == 1 && v5 == 10 && v6 == 1 && v7 == 6 && v8 == 15 && v9 == 0 && v10 == 1) /* feasible */
            return 3;
        if (v1 == 1 && v2 == 8 && v3 == 3 && v4 == 0 && v5 == 13 && v7 == 6 && v9 == 1 && v10 == 2) /* infeasible */
            return 4;
        if (v2 == 7 && v4 == 1 && v5 == 13 && v7 == 4 && v9 == 1 && v10 == 2) /* feasible */
            return 5;
        if (v0 == 3 && v1 == 0 && v2 == 9 && v4 == 1 && v5 == 10 && v7 == 4 && v8 == 9 && v10 == 2) /* feasible */
            return 6;
        if (v0 == 2 && v3 == 1 && v4 == 0 && v6 == 0 && v7 == 6 && v8 == 15) /* feasible */
            return 7;
        if (v1 == 0 && v2 == 7 && v3 == 5 && v4 == 0 && v5 == 13 && v6 == 0 && v8 == 15 && v9 == 1) /* feasible */
            return 8;
        if (v0 == 5 && v1 == 0 && v2 == 7 && v3 == 1 && v4 == 0 && v6 == 1 && v8 == 9 && v9 == 1) /* feasible */
            return 9;
        if (v1 == 0 && v2 == 9 && v6 == 0 && v7 == 6) /* feasible */
            return 10;
        if (v0 == 3 && v1 == 1 && v2 == 8 && v3 == 1 && v4 == 1 && v5 == 11 && v7 == 6 && v10 == 2) /* feasible */
            return 11;
        if (v0 == 3 && v2 == 9 && v3 == 1 && v4 == 1 && v5 == 10 && v6 == 0 && v8 == 9 && v10 == 1) /* infeasible */
            return 12;
        if (v0 == 4 && v1 == 1 && v2 == 9 && v4 == 1 && v5 == 13 && v6 == 1 && v8 == 15 && v10 == 2) /* infeasible */
            return 13;
        if (v1 == 1 && v3 == 3 && v4 == 1 && v5 == 10 && v6 == 1 && v7 == 6 && v8 == 9 && v10 == 2) /* infeasible */
            return 14;
        if (v2 == 9 && v3 == 3 && v4 == 0 && v5 == 12 && v6 == 1 && v7 == 4 && v9 == 1 && v10 == 1) /* infeasible */
            return 15;
        if (v0 == 2 && v2 == 7 && v3 == 5 && v4 == 0 && v5 == 13 && v7 == 6 && v8 == 3 && v9 == 0) /* infeasible */
            return 16;
        if (v0 == 3 && v3 == 4 && v4 == 1 && v5 == 12 && v6 == 0 && v7 == 4 && v8 == 9 && v10 == 2) /* infeasible */
            return 17;
        if (v1 == 0 && v2 == 9 && v3 == 5 && v5 == 11 && v6 == 1 && v8 == 9 && v9 == 1 && v10 == 2) /* infeasible */
            return 18;
        if (v0 == 3 && v3 == 5 && v4 == 1 && v5 == 12 && v6 == 0 && v7 == 6 && v9 == 1 && v10 == 1) /* infeasible */
            return 19;
        if (v0 == 3 && v1 == 1 && v2 == 8 && v3 == 2 && v6 == 0 && v7 == 4 && v8 == 9 && v9 == 1) /* infeasible */
            return 20;
        if (v0 == 3 && v1 == 0 && v2 == 8 && v5 == 10 && v6 == 1 && v8 == 9 && v9 == 1 && v10 == 2) /* infeasible */
            return 21;
        if (v0 == 5 && v1 == 0 && v3 == 3 && v4 == 0 && v5 == 10 && v8 == 3 && v9 == 1 && v10 == 2) /* infeasible */
            return 22;
        if (v1 == 0 && v2 == 8 && v3 == 3 && v5 == 13 && v7 == 6 && v8 == 15 && v9 == 1 && v10 == 2) /* infeasible */
            return 23;
        if (v0 == 5 && v2 == 7 && v3 == 2 && v5 == 11 && v6 == 0 && v7 == 6 && v9 == 0 && v10 == 1) /* infeasible */
            return 24;
        if (v0 == 2 && v1 == 0 && v2 == 9 && v3 == 2 && v4 == 1 && v6 == 0 && v7 == 4 && v8 == 3) /* infeasible */
            return 25;
        if (v0 == 3 && v1 == 0 && v2 == 9 && v3 == 1 && v5 == 11 && v6 == 0 && v7 == 4 && v10 == 1) /* infeasible */
            return 26;
        if (v0 == 2 && v2 == 8 && v3 == 1 && v4 == 1 && v5 == 10 && v7 == 4) /* infeasible */
            return 27;
        if (v0 == 3 && v1 == 0 && v3 == 3 && v4 == 0 && v5 == 12 && v6 == 0 && v8 == 9 && v9 == 1) /* infeasible */
            return 28;
        if (v0 == 2 && v1 == 0 && v2 == 9 && v3 == 3 && v4 == 0 && v7 == 6 && v8 == 15 && v10 == 1) /* infeasible */
            return 29;
        if (v2 == 7 && v3 == 1 && v4 == 0 && v5 == 12 && v6 == 0 && v8 == 9 && v9 == 0 && v10 == 1) /* infeasible */
            return 30;
        if (v0 == 5 && v2 == 9 && v3 == 4 && v4 == 0 && v5 == 12 && v6 == 1 && v7 == 4 && v8 == 3) /* infeasible */
            return 31;
        if (v0 == 2 && v1 == 0 && v3 == 4 && v4 == 1 && v5 == 12 && v7 == 4 && v8 == 9 && v10 == 1) /* infeasible */
            return 32;
        if (v2 == 8 && v3 == 4 && v4 == 1 && v5 == 13 && v6 == 0 && v7 == 4 && v8 == 9 && v10 == 2) /* infeasible */
            return 33;
        if (v0 == 3 && v1 == 1 && v2 == 8 && v4 == 1 && v5 == 12 && v7 == 4) /* infeasible */
            return 34;
        if (v0 == 4 && v2 == 8 && v3 == 4 && v4 == 1 && v5 == 12 && v7 == 4 && v8 == 9 && v9 == 0) /* infeasible */
            return 35;
        if (v0 == 2 && v1 == 0 && v3 == 3 && v4 == 0 && v5 == 13 && v6 == 0 && v9 == 0 && v10 == 1) /* infeasible */
            return 36;
        if (v3 == 3 && v4 == 0 && v5 == 12 && v6 == 1 && v7 == 6 && v8 == 15 && v9 == 0 && v10 == 1) /* infeasible */
            return 37;
        if (v0 == 5 && v1 == 0 && v2 == 9 && v3 == 4 && v4 == 1 && v5 == 12 && v6 == 0 && v9 == 1) /* infeasible */
            return 38;
        if (v0 == 4 && v1 == 0 && v2 == 7 && v4 == 1 && v5 == 13 && v8 == 3 && v9 == 0 && v10 == 2) /* infeasible */
            return 39;
        if (v0 == 4 && v2 == 7 && v3 == 5 && v4 == 0 && v5 == 12 && v6 == 0 && v8 == 15 && v10 == 1) /* infeasible */
            return 40;
    }
}
