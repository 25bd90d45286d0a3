/* Expressions for the instructions and intrinsics of the program. Each entry point that instrumented code calls often
 * tests whether any operand has a node, and builds nodes only then. */

/* Two small constants in one argument: the code that calls a cold function is everywhere. */
#define Q_PACK(op, width) ((op) | (width) << 8)
#define Q_OP(packed) ((packed) & 0xff)
#define Q_WIDTH(packed) ((packed) >> 8)

Q_COLD q_id q_binary_slow(uint32_t packed, q_id a, uint64_t value_a, q_id b, uint64_t value_b)
{
    return q_make(Q_OP(packed), Q_WIDTH(packed), a, value_a, b, value_b);
}

/* Everything with two operands except division and shifts. */
Q_INLINE q_id __quarry_binary(uint32_t op, uint32_t width, q_id a, uint64_t value_a, q_id b, uint64_t value_b)
{
    if (q_likely((a | b) == 0))
        return 0;
    return q_binary_slow(Q_PACK(op, width), a, value_a, b, value_b);
}

static void q_assume(q_id node)
{
    if (node)
        q_log_node(Q_EV_ASSUME, node);
}

/* The division happens, so its operands are no case that traps. */
static void q_assume_no_trap(uint32_t op, uint32_t width, q_id a, uint64_t value_a, q_id b, uint64_t value_b)
{
    uint64_t least = (uint64_t)1 << (width - 1), ones = q_mask(width);
    if (b && value_b == 0)
        return; /* it will trap */
    if (b && !q_is_recent(Q_RECENT_DIVISOR, b))
        q_assume(q_make(Q_NE, width, b, value_b, 0, 0));
    if (op != Q_SDIV && op != Q_SREM)
        return;
    if ((!a && value_a != least) || (!b && value_b != ones) || (value_a == least && value_b == ones))
        return;
    q_id not_least = q_make(Q_NE, width, a, value_a, 0, least);
    q_id not_minus_one = q_make(Q_NE, width, b, value_b, 0, ones);
    q_assume(q_make(Q_OR, 1, not_least, value_a != least, not_minus_one, value_b != ones));
}

Q_COLD q_id q_divide_slow(uint32_t packed, q_id a, uint64_t value_a, q_id b, uint64_t value_b)
{
    uint32_t op = Q_OP(packed), width = Q_WIDTH(packed);
    q_assume_no_trap(op, width, a, value_a & q_mask(width), b, value_b & q_mask(width));
    return q_make(op, width, a, value_a, b, value_b);
}

/* Q_UDIV, Q_SDIV, Q_UREM, Q_SREM. */
Q_INLINE q_id __quarry_divide(uint32_t op, uint32_t width, q_id a, uint64_t value_a, q_id b, uint64_t value_b)
{
    if (q_likely((a | b) == 0))
        return 0;
    return q_divide_slow(Q_PACK(op, width), a, value_a, b, value_b);
}

Q_COLD q_id q_shift_slow(uint32_t packed, q_id a, uint64_t value_a, q_id b, uint64_t amount)
{
    uint32_t op = Q_OP(packed), width = Q_WIDTH(packed);
    if (b && amount < width) {
        if (!q_is_recent(Q_RECENT_SHIFT, b))
            q_assume(q_make(Q_ULT, width, b, amount, 0, width));
        return q_make(op, width, a, value_a, b, amount);
    }
    if (b)
        q_pin(b, amount);
    if (amount >= width) /* undefined in C: the machine takes the amount modulo the width */
        amount = (width & (width - 1)) ? 0 : amount & (width - 1);
    return q_make(op, width, a, value_a, 0, amount);
}

/* Q_SHL, Q_LSHR, Q_ASHR. */
Q_INLINE q_id __quarry_shift(uint32_t op, uint32_t width, q_id a, uint64_t value_a, q_id b, uint64_t amount)
{
    if (q_likely((a | b) == 0))
        return 0;
    return q_shift_slow(Q_PACK(op, width), a, value_a, b, amount);
}

Q_COLD q_id q_cast_slow(uint32_t packed, q_id a)
{
    uint32_t op = Q_OP(packed), width = Q_WIDTH(packed);
    return op == Q_EXTRACT ? q_extract(width, a, 0) : q_extend(op, width, a);
}

/* Q_ZEXT, Q_SEXT, or Q_EXTRACT for the low bits. */
Q_INLINE q_id __quarry_cast(uint32_t op, uint32_t width, q_id a)
{
    return q_likely(a == 0) ? 0 : q_cast_slow(Q_PACK(op, width), a);
}

Q_COLD q_id q_select_slow(uint32_t width, q_id condition, q_id a, uint64_t value_a, q_id b, uint64_t value_b)
{
    return q_choose(width, condition, a, value_a, b, value_b);
}

/* condition ? a : b */
Q_INLINE q_id __quarry_select(uint32_t width, q_id condition, uint32_t taken, q_id a, uint64_t value_a, q_id b,
                              uint64_t value_b)
{
    if (q_likely(condition == 0))
        return taken ? a : b;
    return q_select_slow(width, condition, a, value_a, b, value_b);
}

/* A value with its node, for expressions of several steps. */
struct q_term {
    q_id node;
    unsigned width;
    uint64_t value;
};

static struct q_term q_term(q_id node, unsigned width, uint64_t value)
{
    return (struct q_term){node, width, value & q_mask(width)};
}

static int64_t q_signed(struct q_term t)
{
    unsigned shift = 64 - t.width;
    return (int64_t)(t.value << shift) >> shift;
}

static uint64_t q_compute(unsigned op, struct q_term a, struct q_term b)
{
    switch (op) {
    case Q_ADD: return a.value + b.value;
    case Q_SUB: return a.value - b.value;
    case Q_MUL: return a.value * b.value;
    case Q_UDIV: return b.value ? a.value / b.value : ~(uint64_t)0;
    case Q_AND: return a.value & b.value;
    case Q_OR: return a.value | b.value;
    case Q_XOR: return a.value ^ b.value;
    case Q_SHL: return b.value < a.width ? a.value << b.value : 0;
    case Q_LSHR: return b.value < a.width ? a.value >> b.value : 0;
    case Q_EQ: return a.value == b.value;
    case Q_NE: return a.value != b.value;
    case Q_ULT: return a.value < b.value;
    case Q_ULE: return a.value <= b.value;
    case Q_SLT: return q_signed(a) < q_signed(b);
    case Q_SLE: return q_signed(a) <= q_signed(b);
    default: return 0; /* not used by the expressions below */
    }
}

static struct q_term q_apply(unsigned op, struct q_term a, struct q_term b)
{
    q_id node = q_make(op, a.width, a.node, a.value, b.node, b.value);
    return q_term(node, q_is_compare(op) ? 1 : a.width, q_compute(op, a, b));
}

static struct q_term q_with(unsigned op, struct q_term a, uint64_t value)
{
    return q_apply(op, a, q_term(0, a.width, value));
}

static struct q_term q_extended(unsigned op, struct q_term a, unsigned width)
{
    return q_term(q_extend(op, width, a.node), width, op == Q_SEXT ? (uint64_t)q_signed(a) : a.value);
}

static struct q_term q_pick(struct q_term condition, struct q_term a, struct q_term b)
{
    struct q_term taken = condition.value ? a : b;
    if (condition.node)
        taken.node = q_choose(a.width, condition.node, a.node, a.value, b.node, b.value);
    return taken;
}

/* Number of ones: sums of neighbouring groups of bits, as in Hacker's Delight. */
static struct q_term q_ones(struct q_term x)
{
    unsigned width = x.width;
    if (width == 1)
        return x;
    unsigned wide = width <= 8 ? 8 : width <= 16 ? 16 : width <= 32 ? 32 : 64;
    uint64_t groups[] = {0x5555555555555555u, 0x3333333333333333u, 0x0f0f0f0f0f0f0f0fu,
                         0x00ff00ff00ff00ffu, 0x0000ffff0000ffffu, 0x00000000ffffffffu};
    x = q_extended(Q_ZEXT, x, wide);
    for (unsigned step = 0; 1u << step < wide; step++) {
        struct q_term high = q_with(Q_LSHR, x, (uint64_t)1 << step);
        x = q_apply(Q_ADD, q_with(Q_AND, x, groups[step]), q_with(Q_AND, high, groups[step]));
    }
    return q_term(q_extract(width, x.node, 0), width, x.value);
}

static struct q_term q_complement(struct q_term x)
{
    return q_with(Q_XOR, x, ~(uint64_t)0);
}

static struct q_term q_leading_zeros(struct q_term x)
{
    for (unsigned step = 1; step < x.width; step *= 2)
        x = q_apply(Q_OR, x, q_with(Q_LSHR, x, step));
    return q_ones(q_complement(x));
}

static struct q_term q_trailing_zeros(struct q_term x)
{
    struct q_term negative = q_apply(Q_SUB, q_term(0, x.width, 0), x);
    struct q_term lowest = q_apply(Q_AND, x, negative);
    return q_ones(q_with(Q_SUB, lowest, 1));
}

static struct q_term q_byte_swap(struct q_term x)
{
    struct q_term swapped = q_term(0, x.width, 0);
    for (unsigned low = 0; low < x.width; low += 8) {
        struct q_term byte = q_with(Q_AND, q_with(Q_LSHR, x, low), 0xff);
        swapped = q_apply(Q_OR, swapped, q_with(Q_SHL, byte, x.width - 8 - low));
    }
    return swapped;
}

/* The high word of a:b shifted left by the amount (fshl), or the low word shifted right (fshr). */
static struct q_term q_funnel(int left, struct q_term a, struct q_term b, struct q_term amount)
{
    unsigned width = a.width;
    if (amount.node && (width & (width - 1)))
        q_pin(amount.node, amount.value), amount.node = 0;
    if (width & (width - 1))
        amount = q_term(0, width, amount.value % width);
    else
        amount = q_with(Q_AND, amount, width - 1);
    struct q_term rest = q_apply(Q_SUB, q_term(0, width, width - 1), amount); /* in range also for amount 0 */
    if (left)
        return q_apply(Q_OR, q_apply(Q_SHL, a, amount), q_apply(Q_LSHR, q_with(Q_LSHR, b, 1), rest));
    return q_apply(Q_OR, q_apply(Q_SHL, q_with(Q_SHL, a, 1), rest), q_apply(Q_LSHR, b, amount));
}

/* Intrinsics of one to three operands; the numbers are known to the instrumentation. */
enum {
    Q_ABS = 0,
    Q_SMIN = 1,
    Q_SMAX = 2,
    Q_UMIN = 3,
    Q_UMAX = 4,
    Q_BSWAP = 5,
    Q_CTPOP = 6,
    Q_CTLZ = 7,
    Q_CTTZ = 8,
    Q_FSHL = 9,
    Q_FSHR = 10,
    Q_UADD_SAT = 11,
    Q_USUB_SAT = 12,
};

Q_ENTRY q_id __quarry_intrinsic(uint32_t kind, uint32_t width, q_id na, uint64_t va, q_id nb, uint64_t vb, q_id nc,
                                uint64_t vc)
{
    if ((na | nb | nc) == 0)
        return 0;
    struct q_term a = q_term(na, width, va), b = q_term(nb, width, vb), c = q_term(nc, width, vc);
    switch (kind) {
    case Q_ABS: return q_pick(q_with(Q_SLT, a, 0), q_apply(Q_SUB, q_term(0, width, 0), a), a).node;
    case Q_SMIN: return q_pick(q_apply(Q_SLE, a, b), a, b).node;
    case Q_SMAX: return q_pick(q_apply(Q_SLE, a, b), b, a).node;
    case Q_UMIN: return q_pick(q_apply(Q_ULE, a, b), a, b).node;
    case Q_UMAX: return q_pick(q_apply(Q_ULE, a, b), b, a).node;
    case Q_BSWAP: return q_byte_swap(a).node;
    case Q_CTPOP: return q_ones(a).node;
    case Q_CTLZ: return q_leading_zeros(a).node;
    case Q_CTTZ: return q_trailing_zeros(a).node;
    case Q_FSHL: return q_funnel(1, a, b, c).node;
    case Q_FSHR: return q_funnel(0, a, b, c).node;
    case Q_UADD_SAT: {
        struct q_term sum = q_apply(Q_ADD, a, b);
        return q_pick(q_apply(Q_ULT, sum, a), q_term(0, width, ~(uint64_t)0), sum).node;
    }
    case Q_USUB_SAT: return q_pick(q_apply(Q_ULT, a, b), q_term(0, width, 0), q_apply(Q_SUB, a, b)).node;
    default: return 0; /* the instrumentation passes no other kind */
    }
}

static struct q_term q_both(struct q_term a, struct q_term b)
{
    return q_apply(Q_AND, a, b);
}

/* Overflow of a * b for widths where twice the width does not fit a node: divide back. */
static struct q_term q_wide_product_overflows(int is_signed, struct q_term a, struct q_term b, struct q_term product)
{
    unsigned width = a.width;
    struct q_term zero = q_with(Q_EQ, a, 0);
    struct q_term divisor = q_pick(zero, q_term(0, width, 1), a);
    if (!is_signed) {
        struct q_term quotient = q_apply(Q_UDIV, product, divisor);
        return q_both(q_complement(zero), q_apply(Q_NE, quotient, b));
    }
    struct q_term minus_one = q_with(Q_EQ, a, ~(uint64_t)0);
    struct q_term least = q_with(Q_EQ, b, (uint64_t)1 << (width - 1));
    divisor = q_pick(minus_one, q_term(0, width, 1), divisor);
    q_id node = q_make(Q_SDIV, width, product.node, product.value, divisor.node, divisor.value);
    struct q_term quotient = q_term(node, width, (uint64_t)(q_signed(product) / q_signed(divisor)));
    struct q_term common = q_both(q_complement(minus_one), q_both(q_complement(zero), q_apply(Q_NE, quotient, b)));
    return q_apply(Q_OR, q_both(minus_one, least), common);
}

static struct q_term q_product_overflows(int is_signed, struct q_term a, struct q_term b)
{
    unsigned width = a.width, op = is_signed ? Q_SEXT : Q_ZEXT;
    if (2 * width > 64)
        return q_wide_product_overflows(is_signed, a, b, q_apply(Q_MUL, a, b));
    struct q_term product = q_apply(Q_MUL, q_extended(op, a, 2 * width), q_extended(op, b, 2 * width));
    struct q_term low = q_term(q_extract(width, product.node, 0), width, product.value);
    return q_apply(Q_NE, q_extended(op, low, 2 * width), product);
}

/* The overflow bit of llvm.*.with.overflow; op is Q_ADD, Q_SUB or Q_MUL. */
Q_ENTRY q_id __quarry_overflow(uint32_t op, uint32_t is_signed, uint32_t width, q_id na, uint64_t va, q_id nb,
                               uint64_t vb)
{
    if ((na | nb) == 0)
        return 0;
    struct q_term a = q_term(na, width, va), b = q_term(nb, width, vb);
    if (op == Q_MUL)
        return q_product_overflows(is_signed, a, b).node;
    struct q_term result = q_apply(op, a, b);
    if (!is_signed)
        return op == Q_ADD ? q_apply(Q_ULT, result, a).node : q_apply(Q_ULT, a, b).node;
    struct q_term other = op == Q_ADD ? result : b; /* the sign that must differ from a's */
    struct q_term changed = q_apply(Q_XOR, a, result);
    struct q_term signs = op == Q_ADD ? q_apply(Q_XOR, b, result) : q_apply(Q_XOR, a, other);
    return q_with(Q_SLT, q_both(changed, signs), 0).node;
}
