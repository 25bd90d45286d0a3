/* The results of strlen, strcmp and their relatives, as one term over the bytes they read.
 *
 * The library's own function has run; the term is built afterwards from its result, and only if some of those bytes are
 * symbolic. The term also gives the result for other values of the bytes, as far as memory after the string's end is
 * known to belong to it: as long as bytes are symbolic, and one zero after them. Where that is not far enough, the log
 * gets a pin: the result was determined before that byte. */

#include <sys/syscall.h>

/* Bytes behind the end that are looked at, at most. */
#define Q_BEHIND 4096u

/* Bytes of which the first `known` belong together for sure. */
struct q_text {
    uintptr_t start;
    size_t known;
};

static int q_is_symbolic_byte(uintptr_t address)
{
    struct q_shadow_byte *byte = q_flag(address) ? q_byte(address, 0) : 0;
    return byte && byte->entry;
}

static uint8_t q_read_byte(uintptr_t address)
{
    return *(const volatile uint8_t *)address;
}

static int q_same_page(uintptr_t a, uintptr_t b)
{
    return a >> Q_PAGE_BITS == b >> Q_PAGE_BITS;
}

/* Whether the byte with this index may be looked at. */
static int q_is_readable(struct q_text text, size_t index)
{
    uintptr_t address = text.start + index, last = address - 1;
    if (index < text.known || q_is_symbolic_byte(address))
        return 1;
    return index < text.known + Q_BEHIND && q_same_page(address, last) && q_is_symbolic_byte(last) &&
           q_read_byte(address) == 0;
}

/* Whether the byte with this index is zero, come what may. */
static int q_is_end(struct q_text text, size_t index)
{
    return !q_is_symbolic_byte(text.start + index) && q_read_byte(text.start + index) == 0;
}

static struct q_term q_text_byte(struct q_text text, size_t index)
{
    uintptr_t address = text.start + index;
    uint8_t value = q_read_byte(address);
    q_id node = q_flag(address) ? q_load_bytes(address, 1, value) : 0;
    return q_term(node, 8, value);
}

/* The run depends on this being true. */
static void q_pin_true(struct q_term condition)
{
    if (condition.node)
        q_pin(condition.node, condition.value);
}

/* strlen and strnlen: `length` was returned. */
Q_ENTRY q_id __quarry_strlen(uintptr_t start, size_t limit, size_t length)
{
    const unsigned width = 8 * sizeof(size_t);
    struct q_text text = {start, length < limit ? length + 1 : length};
    if (!H.n_nodes || !text.known || !q_any_flag(start, text.known))
        return 0;
    size_t n = 0;
    while (n < limit && q_is_readable(text, n) && !q_is_end(text, n))
        n++;
    int is_open = n < limit && !q_is_readable(text, n);
    struct q_term result = q_term(0, width, n), found = q_term(0, 1, 0);
    for (size_t i = n; i-- > 0;) {
        struct q_term is_end = q_with(Q_EQ, q_text_byte(text, i), 0);
        result = q_pick(is_end, q_term(0, width, i), result);
        if (is_open)
            found = q_apply(Q_OR, is_end, found);
    }
    q_pin_true(found);
    return result.node;
}

/* Lower case of a byte. */
static struct q_term q_folded(struct q_term byte)
{
    struct q_term is_upper = q_with(Q_ULT, q_with(Q_SUB, byte, 'A'), 26);
    return q_pick(is_upper, q_with(Q_ADD, byte, 'a' - 'A'), byte);
}

/* How two byte sequences are compared; the numbers are known to the instrumentation. */
enum { Q_COMPARE_STRINGS = 1, Q_COMPARE_FOLDED = 2 };

struct q_comparison {
    struct q_text a, b;
    uint32_t kind;
    int by_sign;  /* whether the result is -1, 0 or 1, or else the difference of the bytes */
    int is_open;  /* whether bytes behind those compared are unknown */
    size_t n;     /* bytes compared */
};

static struct q_term q_compared_byte(const struct q_comparison *c, struct q_text text, size_t index)
{
    struct q_term byte = q_text_byte(text, index);
    return c->kind & Q_COMPARE_FOLDED ? q_folded(byte) : byte;
}

/* Whether two concrete bytes differ. */
static int q_differ(const struct q_comparison *c, uint8_t a, uint8_t b)
{
    if (c->kind & Q_COMPARE_FOLDED) {
        a = (uint8_t)q_folded(q_term(0, 8, a)).value;
        b = (uint8_t)q_folded(q_term(0, 8, b)).value;
    }
    return a != b;
}

/* Bytes that the library's function looked at: those up to the first difference or end. */
static size_t q_known_bytes(const struct q_comparison *c, size_t limit)
{
    for (size_t i = 0; i < limit; i++) {
        uint8_t a = q_read_byte(c->a.start + i), b = q_read_byte(c->b.start + i);
        if (q_differ(c, a, b) || (c->kind & Q_COMPARE_STRINGS && a == 0))
            return i + 1;
    }
    return limit;
}

/* Whether the bytes with this index decide the comparison, come what may. */
static int q_is_decided(const struct q_comparison *c, size_t index)
{
    if (c->kind & Q_COMPARE_STRINGS && (q_is_end(c->a, index) || q_is_end(c->b, index)))
        return 1;
    uintptr_t a = c->a.start + index, b = c->b.start + index;
    return !q_is_symbolic_byte(a) && !q_is_symbolic_byte(b) && q_differ(c, q_read_byte(a), q_read_byte(b));
}

/* How many bytes decide the comparison. */
static void q_measure_comparison(struct q_comparison *c, size_t limit)
{
    for (c->n = 0; c->n < limit; c->n++) {
        if (!q_is_readable(c->a, c->n) || !q_is_readable(c->b, c->n)) {
            c->is_open = 1;
            return;
        }
        if (q_is_decided(c, c->n)) {
            c->n++;
            return;
        }
    }
}

static struct q_term q_difference(const struct q_comparison *c, struct q_term a, struct q_term b)
{
    if (c->by_sign)
        return q_pick(q_apply(Q_ULT, a, b), q_term(0, 32, ~(uint64_t)0), q_term(0, 32, 1));
    return q_apply(Q_SUB, q_extended(Q_ZEXT, a, 32), q_extended(Q_ZEXT, b, 32));
}

static struct q_term q_comparison_result(const struct q_comparison *c)
{
    const struct q_term zero = q_term(0, 32, 0);
    struct q_term result = zero, decided = q_term(0, 1, 0);
    for (size_t i = c->n; i-- > 0;) {
        struct q_term a = q_compared_byte(c, c->a, i), b = q_compared_byte(c, c->b, i);
        struct q_term differ = q_apply(Q_NE, a, b), ends = q_term(0, 1, 0);
        if (c->kind & Q_COMPARE_STRINGS)
            ends = q_with(Q_EQ, b.node ? a : b, 0); /* of the two, the one that is concrete if any: they are equal */
        result = q_pick(differ, q_difference(c, a, b), q_pick(ends, zero, result));
        if (c->is_open)
            decided = q_apply(Q_OR, q_apply(Q_OR, differ, ends), decided);
    }
    q_pin_true(decided);
    return result;
}

extern long syscall(long, ...);

/* Bytes of an operand, the first `known` of which were looked at: a string goes on to its end, memory to `limit`. Only a
 * program with undefined behaviour has none, and it must not fail here where the library's function did not. */
static size_t q_operand_bytes(const struct q_comparison *c, uintptr_t start, size_t known, size_t limit)
{
    while (known < limit && !(c->kind & Q_COMPARE_STRINGS && q_read_byte(start + known - 1) == 0)) {
        unsigned char resident;
        uintptr_t next = start + known;
        int is_new_page = !q_same_page(next, next - 1);
        if (is_new_page && syscall(SYS_mincore, next, (size_t)1, &resident) != 0)
            break; /* not mapped */
        known++;
    }
    return known;
}

/* A comparison of at most `limit` bytes returned `returned`. */
Q_ENTRY q_id __quarry_compare(uintptr_t a, uintptr_t b, size_t limit, uint32_t kind, uint32_t returned)
{
    if (!limit || !H.n_nodes)
        return 0;
    struct q_comparison c = {.a = {a, 0}, .b = {b, 0}, .kind = kind};
    size_t known = q_known_bytes(&c, limit);
    if (!q_any_flag(a, known) && !q_any_flag(b, known))
        return 0;
    c.a.known = q_operand_bytes(&c, a, known, limit);
    c.b.known = q_operand_bytes(&c, b, known, limit);
    q_measure_comparison(&c, limit);
    struct q_term result = q_comparison_result(&c);
    if (result.value != returned) {
        c.by_sign = 1;
        result = q_comparison_result(&c);
    }
    if (result.value != returned && result.node) { /* only its sign is foretold */
        q_pin(result.node, result.value);
        return 0;
    }
    return result.node;
}
