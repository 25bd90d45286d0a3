/* Floating-point expressions. A number is its bits, in registers as in memory; nodes say what was computed with them.
 *
 * Which NaN an operation returns depends on the order of its operands, which the compiler chooses; nodes use the
 * machine's default one. If a run produces another one, its node says so, at least for NaNs of this run. A node is built
 * only if it explains the result: the arithmetic is repeated here, and if the result differs (excess precision, other
 * rounding) or the machine is not set to round to nearest, the operands are pinned instead. */

#define Q_SIGN(width) ((uint64_t)1 << ((width) - 1))

static uint64_t q_infinity(unsigned width)
{
    return width == 32 ? 0x7f800000u : 0x7ff0000000000000u;
}

static uint64_t q_default_nan(unsigned width)
{
    return width == 32 ? 0xffc00000u : 0xfff8000000000000u;
}

static int q_value_is_nan(unsigned width, uint64_t bits)
{
    return (bits & ~Q_SIGN(width)) > q_infinity(width);
}

static double q_double(uint64_t bits)
{
    union {
        uint64_t bits;
        double number;
    } u = {bits};
    return u.number;
}

static float q_float(uint64_t bits)
{
    union {
        uint32_t bits;
        float number;
    } u = {(uint32_t)bits};
    return u.number;
}

/* The number of a value of 32 or 64 bits; a double holds both. */
static double q_number(struct q_term t)
{
    return t.width == 32 ? (double)q_float(t.value) : q_double(t.value);
}

static uint64_t q_bits_of_double(double number)
{
    union {
        double number;
        uint64_t bits;
    } u = {number};
    return u.bits;
}

static uint64_t q_bits_of_float(float number)
{
    union {
        float number;
        uint32_t bits;
    } u = {number};
    return u.bits;
}

/* Whether arithmetic rounds to nearest and knows subnormal numbers. */
static int q_mode_is_default(void)
{
#if defined(__SSE__)
    return (__builtin_ia32_stmxcsr() & 0xe040) == 0;
#else
    return 1;
#endif
}

static void q_pin_term(struct q_term t)
{
    if (t.node)
        q_pin(t.node, t.value);
}

/* Node of an operation on two numbers; an operand whose node is 0 stands for its value. */
static q_id q_float_node(unsigned op, unsigned result_width, struct q_term a, struct q_term b)
{
    if (a.node && b.node)
        return q_new_pair(op, result_width, a.node, b.node, 0);
    if (a.node)
        return q_new(op, result_width, Q_AUX_IMM, a.node, b.value);
    return b.node ? q_new(op, result_width, Q_AUX_IMM | Q_AUX_SWAP, b.node, a.value) : 0;
}

static q_id q_node_of(struct q_term t)
{
    return t.node ? t.node : q_constant(t.width, t.value);
}

static struct q_term q_is_nan(struct q_term a)
{
    q_id node = a.node ? q_new(Q_FNAN, 1, 0, a.node, 0) : 0;
    return q_term(node, 1, (uint64_t)q_value_is_nan(a.width, a.value));
}

/* Q_FEQ, Q_FLT or Q_FLE. */
static struct q_term q_float_compare(unsigned op, struct q_term a, struct q_term b)
{
    double x = q_number(a), y = q_number(b);
    int holds = op == Q_FEQ ? x == y : op == Q_FLT ? x < y : x <= y;
    return q_term(q_float_node(op, 1, a, b), 1, (uint64_t)holds);
}

static struct q_term q_absolute(struct q_term a)
{
    return q_with(Q_AND, a, ~Q_SIGN(a.width));
}

/* The node of a computed number; this run's NaN is the one that the machine gave. */
static q_id q_settle(unsigned width, q_id node, uint64_t result)
{
    result &= q_mask(width);
    if (!node || !q_value_is_nan(width, result) || result == q_default_nan(width))
        return node;
    q_id is_nan = q_new(Q_FNAN, 1, 0, node, 0);
    return is_nan ? q_choose(width, is_nan, 0, result, node, 0) : 0;
}

/* What the operation gives here; sets *known to 0 for those that are not done again. */
static uint64_t q_float_compute(unsigned op, struct q_term a, struct q_term b, int *known)
{
    *known = 1;
    if (a.width == 32) {
        volatile float x = q_float(a.value), y = q_float(b.value); /* one rounding each */
        switch (op) {
        case Q_FADD: return q_bits_of_float(x + y);
        case Q_FSUB: return q_bits_of_float(x - y);
        case Q_FMUL: return q_bits_of_float(x * y);
        case Q_FDIV: return q_bits_of_float(x / y);
        }
    } else {
        volatile double x = q_double(a.value), y = q_double(b.value);
        switch (op) {
        case Q_FADD: return q_bits_of_double(x + y);
        case Q_FSUB: return q_bits_of_double(x - y);
        case Q_FMUL: return q_bits_of_double(x * y);
        case Q_FDIV: return q_bits_of_double(x / y);
        }
    }
    *known = 0;
    return 0;
}

static int q_same_number(unsigned width, uint64_t a, uint64_t b)
{
    return a == b || (q_value_is_nan(width, a) && q_value_is_nan(width, b));
}

static q_id q_float_arithmetic(unsigned op, struct q_term a, struct q_term b, uint64_t result)
{
    int known;
    uint64_t computed = q_float_compute(op, a, b, &known);
    result &= q_mask(a.width);
    if (!q_mode_is_default() || (known && !q_same_number(a.width, computed, result))) {
        q_pin_term(a);
        q_pin_term(b);
        return 0;
    }
    return q_settle(a.width, q_float_node(op, a.width, a, b), result);
}

Q_COLD q_id q_float_slow(uint32_t packed, q_id a, uint64_t value_a, q_id b, uint64_t value_b, uint64_t result)
{
    uint32_t width = Q_WIDTH(packed);
    return q_float_arithmetic(Q_OP(packed), q_term(a, width, value_a), q_term(b, width, value_b), result);
}

/* Q_FADD .. Q_FREM, after it was done. */
Q_INLINE q_id __quarry_float(uint32_t op, uint32_t width, q_id a, uint64_t value_a, q_id b, uint64_t value_b,
                             uint64_t result)
{
    if (q_likely((a | b) == 0))
        return 0;
    return q_float_slow(Q_PACK(op, width), a, value_a, b, value_b, result);
}

/* Predicates of `fcmp` by LLVM's numbers: bit 0 equal, 1 greater, 2 less, 3 unordered. */
enum { Q_EQUAL = 1, Q_GREATER = 2, Q_LESS = 4, Q_UNORDERED = 8 };

static struct q_term q_either(struct q_term a, struct q_term b)
{
    return q_apply(Q_OR, a, b);
}

/* Ordered predicates; the others are negations. */
static struct q_term q_ordered(unsigned predicate, struct q_term a, struct q_term b)
{
    switch (predicate) {
    case Q_EQUAL: return q_float_compare(Q_FEQ, a, b);
    case Q_GREATER: return q_float_compare(Q_FLT, b, a);
    case Q_GREATER | Q_EQUAL: return q_float_compare(Q_FLE, b, a);
    case Q_LESS: return q_float_compare(Q_FLT, a, b);
    case Q_LESS | Q_EQUAL: return q_float_compare(Q_FLE, a, b);
    case Q_LESS | Q_GREATER: return q_either(q_float_compare(Q_FLT, a, b), q_float_compare(Q_FLT, b, a));
    case Q_LESS | Q_GREATER | Q_EQUAL: {
        struct q_term unordered =
            a.node == b.node && a.value == b.value ? q_is_nan(a) : q_either(q_is_nan(a), q_is_nan(b));
        return q_complement(unordered);
    }
    default: return q_term(0, 1, 0);
    }
}

Q_COLD q_id q_fcmp_slow(uint32_t packed, q_id na, uint64_t va, q_id nb, uint64_t vb)
{
    unsigned predicate = Q_OP(packed), width = Q_WIDTH(packed);
    struct q_term a = q_term(na, width, va), b = q_term(nb, width, vb);
    if (predicate & Q_UNORDERED)
        return q_complement(q_ordered(~predicate & 7, a, b)).node;
    return q_ordered(predicate, a, b).node;
}

Q_INLINE q_id __quarry_fcmp(uint32_t predicate, uint32_t width, q_id a, uint64_t value_a, q_id b, uint64_t value_b)
{
    if (q_likely((a | b) == 0))
        return 0;
    return q_fcmp_slow(Q_PACK(predicate, width), a, value_a, b, value_b);
}

/* The integer of 32 or 64 bits that x86 makes of a number. */
static struct q_term q_to_signed(struct q_term a, unsigned width)
{
    double bound = width == 32 ? 2147483648.0 : 9223372036854775808.0, x = q_number(a);
    double least = width == 32 ? x + 1.0 : x; /* what is cut to the least integer; exact where it matters */
    int fits = x < bound && (width == 32 ? least > -bound : x >= -bound);
    uint64_t value = fits ? (uint64_t)(int64_t)x : Q_SIGN(width);
    return q_term(a.node ? q_new(Q_FTO_SIGNED, width, 0, a.node, 0) : 0, width, value);
}

static struct q_term q_low_bits(struct q_term a, unsigned width)
{
    return q_term(q_extract(width, a.node, 0), width, a.value);
}

/* As x86-64 computes it from signed conversions, also for what has no such integer. */
static struct q_term q_to_unsigned(struct q_term a, unsigned width)
{
    if (width < 32)
        return q_low_bits(q_to_signed(a, 32), width);
    if (width < 64)
        return q_low_bits(q_to_signed(a, 64), width);
    uint64_t offset = a.width == 32 ? 0xdf000000u : 0xc3e0000000000000u; /* -2^63 */
    struct q_term shift = q_term(0, a.width, offset);
    int known;
    uint64_t lowered = q_float_compute(Q_FADD, a, shift, &known);
    struct q_term above = q_term(q_float_node(Q_FADD, a.width, a, shift), a.width, lowered);
    struct q_term low = q_to_signed(a, 64), high = q_to_signed(above, 64);
    struct q_term sign = q_term(q_make(Q_ASHR, 64, low.node, low.value, 0, 63), 64, (uint64_t)((int64_t)low.value >> 63));
    return q_apply(Q_OR, low, q_apply(Q_AND, high, sign));
}

enum { Q_FROM_FLOAT = 0, Q_FROM_SIGNED = 1, Q_FROM_UNSIGNED = 2, Q_TO_SIGNED = 3, Q_TO_UNSIGNED = 4 };

/* Between numbers and integers, or numbers of both formats, after it was done. */
Q_ENTRY q_id __quarry_float_convert(uint32_t kind, uint32_t from, uint32_t to, q_id node, uint64_t value,
                                    uint64_t result)
{
    if (!node)
        return 0;
    struct q_term a = q_term(node, from, value);
    if (kind == Q_TO_SIGNED || kind == Q_TO_UNSIGNED) {
        struct q_term integer = kind == Q_TO_UNSIGNED ? q_to_unsigned(a, to)
                                                      : q_low_bits(q_to_signed(a, to <= 32 ? 32 : 64), to);
        if (integer.value == (result & q_mask(to)))
            return integer.node;
        q_pin_term(a); /* no such integer, and another instruction */
        return 0;
    }
    if (!q_mode_is_default()) {
        q_pin_term(a);
        return 0;
    }
    unsigned op = kind == Q_FROM_FLOAT ? Q_FCONVERT : kind == Q_FROM_SIGNED ? Q_FFROM_SIGNED : Q_FFROM_UNSIGNED;
    return q_settle(to, q_new(op, to, 0, node, 0), result);
}

/* The one of two numbers that fmin or fmax gives; a NaN only when both are. Of zeros, the one that this run was given. */
static struct q_term q_extreme(int least, struct q_term a, struct q_term b, uint64_t result)
{
    int tied = q_number(a) == q_number(b), first = tied && a.value == result;
    struct q_term less = least ? q_float_compare(Q_FLT, a, b) : q_float_compare(Q_FLT, b, a);
    struct q_term more = least ? q_float_compare(Q_FLT, b, a) : q_float_compare(Q_FLT, a, b);
    struct q_term of_numbers = first ? q_pick(more, b, a) : q_pick(less, a, b);
    return q_pick(q_is_nan(a), b, q_pick(q_is_nan(b), a, of_numbers));
}

/* The classes of llvm.is.fpclass. */
enum { Q_SIGNALLING = 1, Q_QUIET = 2, Q_NEGATIVE_INFINITY = 4, Q_POSITIVE_INFINITY = 512 };

/* Whether a number of one sign, or of any, is in a class counted from infinity (0) to zero (3). */
static struct q_term q_in_class(struct q_term x, unsigned class)
{
    struct q_term zero = q_term(0, x.width, 0), infinity = q_term(0, x.width, q_infinity(x.width));
    struct q_term normal = q_term(0, x.width, x.width == 32 ? 0x00800000u : 0x0010000000000000u);
    switch (class) {
    case 0: return q_float_compare(Q_FEQ, x, infinity);
    case 1: return q_both(q_float_compare(Q_FLE, normal, x), q_float_compare(Q_FLT, x, infinity));
    case 2: return q_both(q_float_compare(Q_FLT, zero, x), q_float_compare(Q_FLT, x, normal));
    default: return q_with(Q_EQ, x, 0);
    }
}

/* llvm.is.fpclass */
Q_ENTRY q_id __quarry_fpclass(uint32_t width, uint32_t mask, q_id node, uint64_t value)
{
    if (!node)
        return 0;
    struct q_term x = q_term(node, width, value), in = q_term(0, 1, 0);
    uint64_t quiet = width == 32 ? 0x00400000u : 0x0008000000000000u;
    if (mask & (Q_SIGNALLING | Q_QUIET)) {
        struct q_term nan = q_is_nan(x);
        if ((mask & 3) != 3)
            nan = q_both(nan, q_apply(mask & Q_QUIET ? Q_NE : Q_EQ, q_with(Q_AND, x, quiet), q_term(0, width, 0)));
        in = q_either(in, nan);
    }
    struct q_term opposite = q_with(Q_XOR, x, Q_SIGN(width));
    for (unsigned class = 0; class < 4; class++) {
        int negative = mask & Q_NEGATIVE_INFINITY << class, positive = mask & Q_POSITIVE_INFINITY >> class;
        if (negative && positive)
            in = q_either(in, class == 3 ? q_float_compare(Q_FEQ, x, q_term(0, width, 0))
                                         : q_in_class(q_absolute(x), class));
        else if (negative || positive)
            in = q_either(in, q_in_class(negative ? opposite : x, class));
    }
    return in.node;
}

/* Functions of one to three numbers; the numbers are known to the instrumentation. */
enum {
    Q_SQRT = 0,
    Q_RINT = 1, /* .. Q_TRUNC in the order of the directions */
    Q_TRUNC = 5,
    Q_FABS = 6,
    Q_FNEG = 7,
    Q_COPYSIGN = 8,
    Q_FMIN = 9,
    Q_FMAX = 10,
    Q_FUSED = 11,
    Q_FMOD = 12,
    Q_MULTIPLY_ADD = 13, /* in two steps */
};

/* Those that only look at bits or compare: they do not round. */
static q_id q_select_bits(uint32_t kind, struct q_term a, struct q_term b, uint64_t result)
{
    uint64_t sign = Q_SIGN(a.width);
    switch (kind) {
    case Q_FABS: return q_absolute(a).node;
    case Q_FNEG: return q_with(Q_XOR, a, sign).node;
    case Q_COPYSIGN: return q_apply(Q_OR, q_absolute(a), q_with(Q_AND, b, sign)).node;
    default: {
        struct q_term extreme = q_extreme(kind == Q_FMIN, a, b, result);
        return q_settle(a.width, extreme.node, result);
    }
    }
}

Q_ENTRY q_id __quarry_float_function(uint32_t kind, uint32_t width, q_id na, uint64_t va, q_id nb, uint64_t vb,
                                     q_id nc, uint64_t vc, uint64_t result)
{
    if ((na | nb | nc) == 0)
        return 0;
    struct q_term a = q_term(na, width, va), b = q_term(nb, width, vb), c = q_term(nc, width, vc);
    result &= q_mask(width);
    if (kind >= Q_FABS && kind <= Q_FMAX)
        return q_select_bits(kind, a, b, result);
    if (!q_mode_is_default()) {
        q_pin_term(a);
        q_pin_term(b);
        q_pin_term(c);
        return 0;
    }
    q_id node = 0;
    if (kind == Q_SQRT)
        node = q_new(Q_FSQRT, width, 0, a.node, 0);
    else if (kind >= Q_RINT && kind <= Q_TRUNC)
        node = q_new(Q_FROUND, width, kind - Q_RINT, a.node, 0);
    else if (kind == Q_FMOD)
        node = q_float_node(Q_FREM, width, a, b);
    else if (kind == Q_FUSED)
        node = q_new_pair(Q_FMA, width, q_node_of(a), q_node_of(b), q_node_of(c));
    else if (kind == Q_MULTIPLY_ADD) {
        int known;
        uint64_t product = q_float_compute(Q_FMUL, a, b, &known);
        q_id inner = (a.node | b.node) ? q_float_arithmetic(Q_FMUL, a, b, product) : 0;
        return q_float_arithmetic(Q_FADD, q_term(inner, width, product), c, result);
    }
    return q_settle(width, node, result);
}

/* lround and its like: a number rounded in a direction, as an integer of `to` bits. */
Q_ENTRY q_id __quarry_float_round(uint32_t direction, uint32_t from, uint32_t to, q_id node, uint64_t value)
{
    if (!node)
        return 0;
    struct q_term a = q_term(node, from, value);
    double x = q_number(a), bound = to == 32 ? 2147483000.0 : 9.2e18;
    if (!q_mode_is_default() || !(x > -bound && x < bound)) {
        q_pin_term(a);
        return 0;
    }
    /* beyond, the library may do as it likes */
    uint64_t limit = from == 32 ? q_bits_of_float((float)bound) : q_bits_of_double(bound);
    q_assume(q_float_compare(Q_FLT, q_absolute(a), q_term(0, from, limit)).node);
    q_id whole = q_new(Q_FROUND, from, direction, node, 0);
    return whole ? q_new(Q_FTO_SIGNED, to, 0, whole, 0) : 0;
}

/* What a function not looked into returned for one or two arguments. The run goes on with this value; the node says what
 * it depends on. */
Q_ENTRY q_id __quarry_opaque(uint32_t width, q_id a, uint64_t value_a, q_id b, uint64_t value_b, uint64_t result)
{
    if ((a | b) == 0)
        return 0;
    if (a)
        q_pin(a, value_a);
    if (b)
        q_pin(b, value_b);
    q_id value = q_constant(width, result);
    return value ? q_new_pair(Q_OPAQUE, width, a ? a : b, a ? b : 0, value) : 0;
}

/* One of two numbers of 32 bits held together. */
Q_ENTRY q_id __quarry_pair_get(q_id pair, uint32_t index)
{
    return pair ? q_extract(32, pair, 32 * index) : 0;
}

/* Two numbers of 32 bits held together, one of them replaced. */
Q_ENTRY q_id __quarry_pair_set(q_id pair, uint64_t value, uint32_t index, q_id node, uint64_t number)
{
    if ((pair | node) == 0)
        return 0;
    struct q_term other = q_term(q_extract(32, pair, 32 - 32 * index), 32, value >> (32 - 32 * index));
    struct q_term set = q_term(node, 32, number);
    return index ? q_concat(q_node_of(set), q_node_of(other)) : q_concat(q_node_of(other), q_node_of(set));
}
