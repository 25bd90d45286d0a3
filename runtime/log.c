/* The path log. An outcome without an expression is one byte; everything else goes through q_append. If an entry does
 * not fit, the log ends there for good, so that it is always a prefix of the path. */

#include <sys/syscall.h>

/* The run is a try, which is cut off when its log is full: what it would still show takes too long. */
static int q_is_trying;

Q_COLD void q_log_is_full(void)
{
    H.marks |= Q_MARK_LOG_FULL;
    while (q_is_trying)
        q_own_call(SYS_exit_group, 0, 0, 0, 0, 0, 0);
}

static inline volatile size_t *q_log_length(void)
{
    return (volatile size_t *)&H.log_length; /* little-endian: the low word on 32-bit targets */
}

static inline __attribute__((always_inline)) void q_append_byte(uint8_t byte)
{
    size_t length = *q_log_length();
    if (q_likely(length < q_log_limit)) {
        q_log[length] = byte;
        *q_log_length() = length + 1;
    } else {
        q_log_is_full();
    }
}

static void q_append(const uint8_t *bytes, size_t n)
{
    size_t length = *q_log_length();
    if (length + n > q_log_limit) {
        q_log_is_full();
        q_log_limit = 0;
        return;
    }
    for (size_t i = 0; i < n; i++)
        q_log[length + i] = bytes[i];
    *q_log_length() = length + n;
}

static size_t q_write_varint(uint8_t *to, uint64_t value)
{
    size_t n = 0;
    for (; value >= 0x80; value >>= 7)
        to[n++] = (uint8_t)(value | 0x80);
    to[n++] = (uint8_t)value;
    return n;
}

static size_t q_write_word(uint8_t *to, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        to[i] = (uint8_t)(value >> 8 * i);
    return bytes;
}

static void q_log_varint(uint8_t event, uint64_t value)
{
    uint8_t entry[12] = {event};
    q_append(entry, 1 + q_write_varint(entry + 1, value));
}

static void q_log_node(uint8_t event, q_id node)
{
    uint8_t entry[8] = {event};
    q_append(entry, 1 + q_write_word(entry + 1, node, 4));
}

Q_COLD void q_outcome_symbolic(uint32_t taken, q_id node)
{
    q_log_node(taken ? Q_EV_TRUE_SYMBOLIC : Q_EV_FALSE_SYMBOLIC, node);
}

/* A marked condition, or a branch that no mark decides; its counters are those of false and true. */
Q_INLINE void __quarry_outcome(uint32_t taken, q_id node, uint32_t counters)
{
    __quarry_counters[counters + taken]++;
    if (q_likely(node == 0))
        q_append_byte((uint8_t)taken);
    else
        q_outcome_symbolic(taken, node);
}

Q_COLD void q_case_slow(uint32_t index, q_id node)
{
    uint8_t entry[16] = {node ? Q_EV_SWITCH_SYMBOLIC : Q_EV_SWITCH};
    size_t n = 1 + q_write_varint(entry + 1, index);
    if (node)
        n += q_write_word(entry + n, node, 4);
    q_append(entry, n);
}

/* A switch took the case with this index; it has a counter for each. */
Q_INLINE void __quarry_case(uint32_t index, q_id node, uint32_t counters)
{
    __quarry_counters[counters + index]++;
    size_t length = *q_log_length();
    if (q_likely(node == 0 && index < 0x80 && length + 1 < q_log_limit)) {
        q_log[length] = Q_EV_SWITCH;
        q_log[length + 1] = (uint8_t)index;
        *q_log_length() = length + 2;
    } else {
        q_case_slow(index, node);
    }
}

/* A switch whose cases lie close together: `table` holds the index of the case for each operand from the least. */
Q_INLINE void __quarry_switch_dense(uint64_t offset, const uint32_t *table, uint64_t span, uint32_t n_cases, q_id node,
                                    uint32_t counters)
{
    __quarry_case(offset < span ? table[offset] : n_cases, node, counters);
}

struct q_switch_case {
    uint64_t operand;
    uint64_t index;
};

/* A switch whose cases lie far apart: `cases` is sorted by operand. */
Q_ENTRY void __quarry_switch_sparse(uint64_t operand, const struct q_switch_case *cases, uint32_t n_cases, q_id node,
                                    uint32_t counters)
{
    uint32_t low = 0, high = n_cases;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (cases[middle].operand < operand)
            low = middle + 1;
        else
            high = middle;
    }
    int found = low < n_cases && cases[low].operand == operand;
    __quarry_case(found ? (uint32_t)cases[low].index : n_cases, node, counters);
}

static uint32_t q_jumping;

/* A computed goto is about to happen. Where it goes is logged on arrival: optimisation may give two of its targets the
 * same address, but not merge blocks that log different numbers. */
Q_INLINE void __quarry_jump(void)
{
    q_jumping = 1;
}

Q_COLD void q_landed(uint32_t successor, uint32_t counters)
{
    q_jumping = 0;
    __quarry_counters[counters + successor]++;
    q_log_varint(Q_EV_JUMP, successor);
}

/* A target of a computed goto was reached, by it or otherwise. */
Q_INLINE void __quarry_landing(uint32_t successor, uint32_t counters)
{
    if (q_unlikely(q_jumping))
        q_landed(successor, counters);
}

/* Nodes pinned or assumed about lately: loops pin the same node again and again. */
#define Q_RECENT 64u
static uint64_t q_recent[Q_RECENT];

static int q_is_recent(unsigned kind, q_id node)
{
    uint64_t tag = (uint64_t)kind << 32 | node;
    uint64_t *slot = &q_recent[(node ^ kind * 7) % Q_RECENT];
    if (*slot == tag)
        return 1;
    *slot = tag;
    return 0;
}

enum { Q_RECENT_PIN = 1, Q_RECENT_DIVISOR = 2, Q_RECENT_SHIFT = 3, Q_RECENT_ACCESS = 4 };

/* What a pin says of one of two constants is which of them it is; the pointers made of one are many, its condition one. */
static q_id q_pinned(q_id node, uint64_t *value)
{
    const struct q_node *choice = &q_nodes[node];
    if (!q_is_choice(node))
        return node;
    *value = (*value & q_mask(choice->width)) == q_nodes[choice->b].imm;
    return choice->a;
}

/* Where pins stand that are made without a site of their own: the access that is under way, as in Q_EV_BOUNDS. */
static uint32_t q_place;

/* Set by the program around calls of models: the site of the call, for what the model does not follow. */
uint32_t __quarry_caller __attribute__((visibility("hidden")));

/* Places of pins: a site where the program has one, or the caller of a model, or a span. */
static uint64_t q_logged_place(uint32_t site)
{
    if (!site && !q_place)
        site = __quarry_caller;
    return site ? (uint64_t)site << 1 : q_place ? (uint64_t)q_place << 1 | 1 : 0;
}

static void q_log_pin(uint8_t event, q_id node, uint64_t value, uint32_t site)
{
    node = q_pinned(node, &value);
    if (q_is_recent(Q_RECENT_PIN, node))
        return;
    uint8_t entry[24] = {event};
    size_t n = 1 + q_write_word(entry + 1, node, 4);
    n += q_write_word(entry + n, value & q_mask(q_nodes[node].width), 8);
    n += q_write_varint(entry + n, q_logged_place(site));
    q_append(entry, n);
}

Q_COLD void q_pin(q_id node, uint64_t value)
{
    q_log_pin(Q_EV_PIN, node, value, 0);
}

Q_COLD void q_pin_pointer(q_id node, uint64_t value)
{
    q_log_pin(Q_EV_POINTER, node, value, 0);
}

Q_COLD void q_pin_at(uint32_t event, q_id node, uint64_t value, uint32_t site)
{
    q_log_pin((uint8_t)event, node, value, site);
}

/* The run follows this pointer. */
Q_INLINE void __quarry_pin_pointer(q_id node, uint64_t value, uint32_t site)
{
    if (q_unlikely(node != 0))
        q_pin_at(Q_EV_POINTER, node, value, site);
}

/* The run goes on with this value in a way that is not tracked. */
Q_INLINE void __quarry_pin(q_id node, uint64_t value, uint32_t site)
{
    if (q_unlikely(node != 0))
        q_pin_at(Q_EV_PIN, node, value, site);
}

/* So many bytes are allocated, copied or filled. */
Q_COLD void q_size_slow(q_id node, uint64_t value, uint32_t site)
{
    while (q_nodes[node].op == Q_ZEXT || q_nodes[node].op == Q_SEXT)
        node = q_nodes[node].a;
    q_log_pin(Q_EV_SIZE, node, value, site);
}

Q_INLINE void __quarry_bytes(q_id node, uint64_t value, uint32_t site)
{
    if (q_unlikely(node != 0))
        q_size_slow(node, value, site);
}

/* So many bytes are about to be allocated: the size of the block depends on the input. */
Q_INLINE void __quarry_block_size(q_id node, uint64_t value, uint32_t site)
{
    if (q_unlikely(node != 0)) {
        q_size_is_symbolic = 1;
        q_size_slow(node, value, site);
    }
}

Q_COLD void q_log_address(uint64_t address, uint64_t size)
{
    uint8_t entry[24] = {Q_EV_ADDRESS};
    size_t n = 1 + q_write_word(entry + 1, address, 8);
    q_append(entry, n + q_write_varint(entry + n, size));
}

/* An access of so many bytes is about to happen, or a variable of that size lies here. */
Q_INLINE void __quarry_watch(const void *address, uint64_t size)
{
    if (q_unlikely(H.flags & Q_FLAG_ADDRESSES))
        q_log_address((uintptr_t)address, size);
}

static uint32_t q_n_setjmps;

/* Number for an activation of setjmp, taken before its first return, and above it the number of stack objects. */
Q_ENTRY uint64_t __quarry_setjmp_number(void)
{
    return ++q_n_setjmps | (uint64_t)q_n_locals << 32;
}

Q_ENTRY void __quarry_setjmp_back(uint64_t number)
{
    q_n_locals = (uint32_t)(number >> 32);
    q_log_varint(Q_EV_SETJMP, (uint32_t)number);
}
