/* The arena of expression nodes: sixteen bytes each, operands before users, no sharing of equal nodes. A few local
 * simplifications keep constants out of the arena and undo what C's promotions add. */

static q_id q_new(unsigned op, unsigned width, unsigned aux, q_id a, uint64_t imm)
{
    uint32_t id = H.n_nodes + 1;
    if (id > H.node_capacity || !q_nodes) {
        H.marks |= Q_MARK_NODES_FULL;
        return 0;
    }
    struct q_node *node = &q_nodes[id];
    node->op = (uint8_t)op;
    node->width = (uint8_t)width;
    node->aux = (uint16_t)aux;
    node->a = a;
    node->imm = imm;
    H.n_nodes = id;
    return id;
}

static q_id q_new_pair(unsigned op, unsigned width, q_id a, q_id b, q_id c)
{
    return q_new(op, width, 0, a, b | (uint64_t)c << 32);
}

static inline unsigned q_width(q_id node)
{
    return q_nodes[node].width;
}

static q_id q_constant(unsigned width, uint64_t value)
{
    return q_new(Q_CONST, width, 0, 0, value & q_mask(width));
}

static q_id q_not(q_id a)
{
    if (q_nodes[a].op == Q_NOT)
        return q_nodes[a].a;
    return q_new(Q_NOT, q_width(a), 0, a, 0);
}

/* Q_ZEXT or Q_SEXT of `a` to `width`, which is not less than its own. */
static q_id q_extend(unsigned op, unsigned width, q_id a)
{
    if (!a || q_width(a) == width)
        return a;
    const struct q_node *inner = &q_nodes[a];
    if (inner->op == Q_ZEXT || (inner->op == Q_SEXT && op == Q_SEXT))
        return q_new(inner->op, width, 0, inner->a, 0); /* a zero-extended value has sign bit 0 */
    return q_new(op, width, 0, a, 0);
}

static q_id q_extract(unsigned width, q_id a, unsigned low)
{
    if (!a || (low == 0 && q_width(a) == width))
        return a;
    const struct q_node *inner = &q_nodes[a];
    switch (inner->op) {
    case Q_EXTRACT:
        return q_extract(width, inner->a, low + inner->aux);
    case Q_ZEXT:
    case Q_SEXT: {
        unsigned narrow = q_width(inner->a);
        if (low + width <= narrow)
            return q_extract(width, inner->a, low);
        if (low == 0)
            return q_new(inner->op, width, 0, inner->a, 0);
        if (inner->op == Q_ZEXT && low >= narrow)
            return 0;
        break;
    }
    case Q_CONCAT: {
        unsigned border = q_width(inner->b);
        if (low + width <= border)
            return q_extract(width, inner->b, low);
        if (low >= border)
            return q_extract(width, inner->a, low - border);
        break;
    }
    default:
        break;
    }
    return q_new(Q_EXTRACT, width, low, a, 0);
}

static q_id q_concat(q_id high, q_id low)
{
    if (!high || !low)
        return 0; /* the arena is full */
    const struct q_node *h = &q_nodes[high], *l = &q_nodes[low];
    unsigned width = h->width + l->width;
    if (h->op == Q_EXTRACT && l->op == Q_EXTRACT && h->a == l->a && h->aux == l->aux + l->width)
        return q_extract(width, h->a, l->aux);
    if (h->op == Q_CONST && h->imm == 0)
        return q_extend(Q_ZEXT, width, low);
    return q_new_pair(Q_CONCAT, width, high, low, 0);
}

static int q_is_compare(unsigned op)
{
    return op >= Q_EQ && op <= Q_SLE;
}

/* a op value where a neutral or absorbing constant decides; returns 1 and sets *result when it does. */
static int q_simplify_right(unsigned op, unsigned width, q_id a, uint64_t value, q_id *result)
{
    uint64_t ones = q_mask(width);
    switch (op) {
    case Q_ADD:
    case Q_SUB:
    case Q_OR:
    case Q_XOR:
    case Q_SHL:
    case Q_LSHR:
    case Q_ASHR:
        if (value == 0)
            return *result = a, 1;
        if (value == ones && op == Q_OR)
            return *result = 0, 1;
        if (value == ones && op == Q_XOR)
            return *result = q_not(a), 1;
        return 0;
    case Q_AND:
        if (value == 0)
            return *result = 0, 1;
        if (value == ones)
            return *result = a, 1;
        return 0;
    case Q_MUL:
        if (value == 0)
            return *result = 0, 1;
        if (value == 1)
            return *result = a, 1;
        return 0;
    case Q_UDIV:
    case Q_SDIV:
        return value == 1 && width > 1 ? (*result = a, 1) : 0;
    default:
        return 0;
    }
}

/* a == value or a != value through extensions and truth values. */
static q_id q_equality(unsigned op, q_id a, uint64_t value)
{
    while (q_nodes[a].op == Q_ZEXT) {
        q_id inner = q_nodes[a].a;
        if (value & ~q_mask(q_width(inner)))
            return 0; /* out of the narrow range: the same for every input */
        a = inner;
    }
    if (q_width(a) == 1)
        return (op == Q_EQ) == (value == 1) ? a : q_not(a);
    return q_new(op, 1, Q_AUX_IMM, a, value);
}

/* A constant added to one of two: a pointer that may be null moves on as such. */
static q_id q_add_to_choice(q_id node, uint64_t value)
{
    const struct q_node choice = q_nodes[node];
    return q_choose(choice.width, choice.a, 0, q_nodes[choice.b].imm + value, 0, q_nodes[choice.c].imm + value);
}

/* Node for `a op b` on operands of `width` bits; an operand whose node is 0 stands for its value. */
static q_id q_make(unsigned op, unsigned width, q_id a, uint64_t value_a, q_id b, uint64_t value_b)
{
    unsigned result_width = q_is_compare(op) ? 1 : width;
    value_a &= q_mask(width);
    value_b &= q_mask(width);
    if (a && b)
        return q_new_pair(op, result_width, a, b, 0);
    if (!a && !b)
        return 0;
    int commutes = op == Q_ADD || op == Q_MUL || op == Q_AND || op == Q_OR || op == Q_XOR || op == Q_EQ || op == Q_NE;
    if (!a && !commutes)
        return q_new(op, result_width, Q_AUX_IMM | Q_AUX_SWAP, b, value_a);
    q_id node = a ? a : b;
    uint64_t value = a ? value_b : value_a;
    q_id simple;
    if (op == Q_EQ || op == Q_NE)
        return q_equality(op, node, value);
    if (q_simplify_right(op, width, node, value, &simple))
        return simple;
    if (op == Q_ADD && q_is_choice(node))
        return q_add_to_choice(node, value);
    return q_new(op, result_width, Q_AUX_IMM, node, value);
}

/* Whether a node is one of two constants. */
static int q_is_choice(q_id node)
{
    const struct q_node *choice = &q_nodes[node];
    return choice->op == Q_ITE && q_nodes[choice->b].op == Q_CONST && q_nodes[choice->c].op == Q_CONST;
}

static q_id q_choose(unsigned width, q_id condition, q_id then_node, uint64_t then_value, q_id else_node,
                     uint64_t else_value)
{
    if (!then_node && !else_node) {
        then_value &= q_mask(width);
        else_value &= q_mask(width);
        if (then_value == else_value)
            return 0;
        if (then_value == 1 && else_value == 0)
            return q_extend(Q_ZEXT, width, condition);
        if (then_value == 0 && else_value == 1)
            return q_extend(Q_ZEXT, width, q_not(condition));
    }
    if (!then_node)
        then_node = q_constant(width, then_value);
    if (!else_node)
        else_node = q_constant(width, else_value);
    if (!then_node || !else_node)
        return 0;
    return q_new_pair(Q_ITE, width, condition, then_node, else_node);
}
