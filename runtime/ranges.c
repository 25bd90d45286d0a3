/* What is known about a node's value from its shape alone: its range, and the terms of which it is a sum. */

struct q_range {
    int64_t low, high;
};

/* Values beyond this count as unknown, so that sums and products of known ones do not overflow. */
#define Q_FAR ((int64_t)1 << 40)

static const struct q_range q_anything = {-Q_FAR, Q_FAR};

static int q_is_known(struct q_range range)
{
    return range.low > -Q_FAR && range.high < Q_FAR;
}

static struct q_range q_unsigned_range(unsigned width)
{
    return width < 40 ? (struct q_range){0, ((int64_t)1 << width) - 1} : q_anything;
}

/* The range itself when its values are the same in `width` bits, whether read with a sign or without one. */
static struct q_range q_fitting(struct q_range range, unsigned width)
{
    struct q_range all = q_unsigned_range(width);
    return q_is_known(range) && range.low >= 0 && (width >= 40 || range.high <= all.high) ? range : all;
}

static struct q_range q_row_range(const struct q_node *table)
{
    struct q_range range = {Q_FAR, -Q_FAR};
    for (uint32_t row = table->b; row < table->b + table->c; row++) {
        uint64_t value = q_nodes[row].imm;
        if (q_nodes[row].op != Q_CONST || value >= (uint64_t)Q_FAR)
            return q_unsigned_range(table->width);
        range.low = (int64_t)value < range.low ? (int64_t)value : range.low;
        range.high = (int64_t)value > range.high ? (int64_t)value : range.high;
    }
    return range;
}

/* Of a node read as an unsigned number; a sign extension may give negative ones, which stand for themselves. */
static struct q_range q_range(q_id id, unsigned depth)
{
    const struct q_node *node = &q_nodes[id];
    unsigned width = node->width;
    struct q_range all = q_unsigned_range(width);
    int is_immediate = node->aux == Q_AUX_IMM;
    if (depth == 0)
        return all;
    switch (node->op) {
    case Q_ZEXT:
        return q_fitting(q_range(node->a, depth - 1), q_width(node->a));
    case Q_SEXT: {
        unsigned narrow = q_width(node->a);
        struct q_range inner = q_fitting(q_range(node->a, depth - 1), narrow);
        int64_t half = narrow < 40 ? (int64_t)1 << (narrow - 1) : Q_FAR;
        return q_is_known(inner) && inner.high < half ? inner : (struct q_range){-half, half - 1};
    }
    case Q_AND: {
        if (!is_immediate || node->imm >= (uint64_t)Q_FAR)
            return all;
        struct q_range inner = q_fitting(q_range(node->a, depth - 1), width);
        int64_t mask = (int64_t)node->imm;
        return (struct q_range){0, q_is_known(inner) && inner.high < mask ? inner.high : mask};
    }
    case Q_UREM:
        return is_immediate && node->imm && node->imm < (uint64_t)Q_FAR ? (struct q_range){0, (int64_t)node->imm - 1}
                                                                        : all;
    case Q_LSHR:
        return is_immediate && node->imm < width ? q_unsigned_range(width - (unsigned)node->imm) : all;
    case Q_ADD: {
        struct q_range inner = q_range(node->a, depth - 1);
        int64_t added = (int64_t)node->imm;
        if (!is_immediate || !q_is_known(inner) || added < 0 || added >= Q_FAR)
            return all;
        struct q_range sum = {inner.low + added, inner.high + added};
        return sum.low >= 0 && (width >= 40 || sum.high <= all.high) ? sum : all;
    }
    case Q_TABLE:
        return q_row_range(node);
    default:
        return all;
    }
}

/* A sum of nodes times numbers, and a number. */
#define Q_TERMS 6u
struct q_sum {
    unsigned n;
    unsigned overflows; /* had more terms than fit */
    uint64_t constant;
    struct {
        uint64_t factor;
        q_id node;
    } terms[Q_TERMS];
};

static void q_add_term(struct q_sum *sum, uint64_t factor, q_id node)
{
    for (unsigned i = 0; i < sum->n; i++)
        if (sum->terms[i].node == node) {
            sum->terms[i].factor += factor;
            return;
        }
    if (sum->n == Q_TERMS) {
        sum->overflows = 1;
        return;
    }
    sum->terms[sum->n].factor = factor;
    sum->terms[sum->n++].node = node;
}

/* Adds `factor` times the node to the sum, taken apart as far as it is itself a sum. */
static void q_take_apart(struct q_sum *sum, uint64_t factor, q_id id, unsigned depth)
{
    const struct q_node *node = &q_nodes[id];
    int is_immediate = (node->aux & Q_AUX_IMM) != 0;
    uint64_t negative = node->op == Q_SUB ? -factor : factor;
    switch (depth ? node->op : 0) {
    case Q_CONST:
        sum->constant += factor * node->imm;
        return;
    case Q_ADD:
    case Q_SUB:
        if (!is_immediate) {
            q_take_apart(sum, factor, node->a, depth - 1);
            q_take_apart(sum, negative, node->b, depth - 1);
        } else if (node->aux & Q_AUX_SWAP) {
            sum->constant += factor * node->imm;
            q_take_apart(sum, negative, node->a, depth - 1);
        } else {
            sum->constant += negative * node->imm;
            q_take_apart(sum, factor, node->a, depth - 1);
        }
        return;
    case Q_MUL:
        if (is_immediate) {
            q_take_apart(sum, factor * node->imm, node->a, depth - 1);
            return;
        }
        break;
    case Q_SHL:
        if (node->aux == Q_AUX_IMM && node->imm < node->width) {
            q_take_apart(sum, factor << node->imm, node->a, depth - 1);
            return;
        }
        break;
    default:
        break;
    }
    q_add_term(sum, factor, id);
}
