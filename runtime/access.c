/* Accesses at addresses that depend on the input.
 *
 * The address of an access is a sum: a pointer, numbers, indices times element sizes. Instrumented code reports the
 * parts that have nodes, one after the other, before the access. A read within a known object becomes a table over the
 * entries that it could have read: those at multiples of the greatest common divisor of the factors. The log gets the
 * assumption that the access stays within the object, with its place, so that the search can ask what happens otherwise.
 * The object is that of the pointer which the address was computed from, wherever the address has come to since: a pointer
 * that moved before the start of one object must not be judged by the object there.
 * A write within a small object turns every entry that it could have written into a choice between old and new. Every
 * other access pins the parts. */

#define Q_POINTER_BITS (8 * (unsigned)sizeof(void *))
/* Entries of one table, and of all tables of a run. */
#define Q_MOST_ENTRIES 4096u
#define Q_MOST_ROWS (1u << 20)
/* Entries that one write may change. */
#define Q_MOST_WRITTEN 64u
/* How far from its object a pointer's constant part may lie. */
#define Q_NEAR 256u

/* The access that is being described. */
static struct {
    struct q_sum sum;
    unsigned n_indices;
    struct {
        q_id node;
        uint64_t value;
    } indices[Q_TERMS];
    uint64_t varying;         /* present value of the sum's terms */
    q_id pointer;             /* node of the pointer it starts from */
    uint64_t pointer_value;
    struct q_extent object; /* that the pointer belongs to */
} q_access;

static void q_begin_access(void)
{
    q_access.sum.n = 0;
    q_access.sum.overflows = 0;
    q_access.n_indices = 0;
    q_access.varying = 0;
    q_access.pointer = 0;
}

/* Pins what an index was before it was widened. */
static void q_pin_index(q_id node, uint64_t value)
{
    while (q_nodes[node].op == Q_ZEXT || q_nodes[node].op == Q_SEXT)
        node = q_nodes[node].a;
    q_pin(node, value);
}

Q_COLD void q_index_slow(uint32_t is_first, uint64_t stride, q_id node, uint64_t value)
{
    if (is_first)
        q_begin_access();
    if (!node)
        return;
    if (q_access.n_indices == Q_TERMS) {
        q_access.sum.overflows = 1;
        q_pin_index(node, value);
        return;
    }
    q_access.indices[q_access.n_indices].node = node;
    q_access.indices[q_access.n_indices++].value = value;
    q_add_term(&q_access.sum, stride, node);
    q_access.varying += stride * value;
}

/* The access's address contains `stride` times this index. `any` says whether one of its parts has a node: all tests for
 * an access ask the same and become one. */
Q_INLINE void __quarry_index(uint32_t any, uint32_t is_first, uint64_t stride, q_id node, uint64_t value)
{
    if (q_unlikely(any != 0))
        q_index_slow(is_first, stride, node, value);
}

Q_COLD void q_base_slow(q_id node, uint64_t value)
{
    q_begin_access();
    q_access.pointer = node;
    q_access.pointer_value = value;
}

/* The access starts from this pointer. */
Q_INLINE void __quarry_base(uint32_t any, q_id node, uint64_t value)
{
    if (q_unlikely(any != 0))
        q_base_slow(node, value);
}

static int64_t q_signed_address(uint64_t value)
{
    return q_signed(q_term(0, Q_POINTER_BITS, value));
}

static uint64_t q_magnitude(uint64_t factor)
{
    int64_t value = q_signed_address(factor);
    return value < 0 ? -(uint64_t)value : (uint64_t)value;
}

/* The distance between entries that the access may reach; 0 when the terms cancel out. */
static uint64_t q_common_stride(const struct q_sum *sum)
{
    uint64_t common = 0;
    for (unsigned i = 0; i < sum->n; i++)
        for (uint64_t b = q_magnitude(sum->terms[i].factor), rest; b; b = rest) {
            rest = common % b;
            common = b;
        }
    return common;
}

/* The sum divided by the stride, as a node, and where it can lie. */
static q_id q_scaled_index(const struct q_sum *sum, uint64_t stride, struct q_range *range)
{
    q_id index = 0;
    *range = (struct q_range){0, 0};
    for (unsigned i = 0; i < sum->n; i++) {
        int64_t factor = q_signed_address(sum->terms[i].factor) / (int64_t)stride;
        q_id node = sum->terms[i].node;
        struct q_range part = q_range(node, 8);
        int is_small = factor > -(1 << 16) && factor < 1 << 16;
        if (!q_is_known(part) || !q_is_known(*range) || !is_small || part.high >> (Q_POINTER_BITS - 1)) {
            *range = q_anything;
        } else {
            range->low += factor * (factor < 0 ? part.high : part.low);
            range->high += factor * (factor < 0 ? part.low : part.high);
        }
        q_id product = q_make(Q_MUL, Q_POINTER_BITS, node, 0, 0, (uint64_t)factor);
        index = index ? q_new_pair(Q_ADD, Q_POINTER_BITS, index, product, 0) : product;
    }
    return index;
}

static q_id q_minus(q_id node, int64_t value)
{
    return value ? q_make(Q_ADD, Q_POINTER_BITS, node, 0, 0, (uint64_t)-value) : node;
}

/* Bounds assumed lately: loops go by the same index again and again. */
static struct {
    q_id index;
    uint32_t place;
    int64_t low, high;
} q_recent_bounds[64];

/* The run holds only as long as low <= index <= high. */
static void q_assume_within(q_id index, int64_t low, int64_t high, uint32_t place, const struct q_extent *object)
{
    unsigned slot = (index ^ place) % 64;
    if (q_recent_bounds[slot].index == index && q_recent_bounds[slot].place == place &&
        q_recent_bounds[slot].low == low && q_recent_bounds[slot].high == high)
        return;
    q_recent_bounds[slot].index = index;
    q_recent_bounds[slot].place = place;
    q_recent_bounds[slot].low = low;
    q_recent_bounds[slot].high = high;
    q_id within = q_make(Q_ULE, Q_POINTER_BITS, q_minus(index, low), 0, 0, (uint64_t)(high - low));
    if (!within)
        return;
    if (!object->is_certain)
        place = 0; /* the search shall not ask what happens otherwise */
    uint8_t entry[16] = {Q_EV_BOUNDS};
    size_t n = 1 + q_write_word(entry + 1, within, 4);
    n += q_write_varint(entry + n, (uint64_t)place << 1 | object->is_variable);
    q_append(entry, n);
}

/* Entries as they are now; the rows of a table are made from them. */
static struct {
    q_id node;
    uint64_t value;
} q_entries[Q_MOST_ENTRIES];

/* Rows made before. They serve again while memory holds the same. */
struct q_rows {
    uintptr_t start;
    uint64_t stride;
    uint32_t n, packed;
    q_id first;
    uint32_t is_constant;
};
static struct q_rows q_known_rows[64];
static uint32_t q_n_rows;

static uint64_t q_read_value(uintptr_t address, unsigned bytes)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < bytes; i++)
        value |= (uint64_t)((const volatile uint8_t *)address)[i] << 8 * i;
    return value;
}

static void q_gather(uintptr_t start, uint64_t stride, uint32_t n, unsigned bytes, unsigned width)
{
    for (uint32_t i = 0; i < n; i++) {
        uintptr_t address = start + (uintptr_t)stride * i;
        uint64_t value = q_read_value(address, bytes);
        q_id node = q_any_flag(address, bytes) ? q_load_bytes(address, bytes, value) : 0;
        q_entries[i].node = node ? q_extract(width, node, 0) : 0;
        q_entries[i].value = value & q_mask(width);
    }
}

static int q_rows_are_current(q_id first, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        const struct q_node *row = &q_nodes[first + i];
        if (q_entries[i].node ? row->op != Q_SAME || row->a != q_entries[i].node
                              : row->op != Q_CONST || row->imm != q_entries[i].value)
            return 0;
    }
    return 1;
}

static q_id q_make_rows(uint32_t n, unsigned width)
{
    if (q_n_rows + n > Q_MOST_ROWS || H.n_nodes + n > H.node_capacity)
        return 0;
    q_n_rows += n;
    q_id first = H.n_nodes + 1;
    for (uint32_t i = 0; i < n; i++) {
        if (q_entries[i].node)
            q_new(Q_SAME, width, 0, q_entries[i].node, 0);
        else
            q_constant(width, q_entries[i].value);
    }
    return first;
}

/* The first of the rows for these entries, 0 when there is no room for them. */
static q_id q_rows_of(uintptr_t start, uint64_t stride, uint32_t n, unsigned bytes, unsigned width, uint32_t is_constant)
{
    uint32_t packed = Q_PACK(bytes, width);
    struct q_rows *known = &q_known_rows[(start / 8 ^ n ^ packed) % 64];
    int is_known = known->start == start && known->stride == stride && known->n == n && known->packed == packed;
    if (is_known && known->is_constant)
        return known->first;
    q_gather(start, stride, n, bytes, width);
    if (is_known && q_rows_are_current(known->first, n))
        return known->first;
    q_id first = q_make_rows(n, width);
    if (first)
        *known = (struct q_rows){start, stride, n, packed, first, is_constant};
    return first;
}

static struct {
    q_id index, first, table;
    uint32_t n;
} q_known_tables[256];

static q_id q_table(unsigned width, q_id index, q_id first, uint32_t n)
{
    int is_same = 1;
    for (uint32_t i = 1; i < n && is_same; i++)
        is_same = q_nodes[first + i].op == q_nodes[first].op && q_nodes[first + i].a == q_nodes[first].a &&
                  q_nodes[first + i].imm == q_nodes[first].imm;
    if (is_same)
        return 0; /* whatever the index, it is what lies at the address now */
    unsigned slot = (index * 7 ^ first) % 256;
    if (q_known_tables[slot].index != index || q_known_tables[slot].first != first || q_known_tables[slot].n != n) {
        q_known_tables[slot].index = index;
        q_known_tables[slot].first = first;
        q_known_tables[slot].n = n;
        q_known_tables[slot].table = q_new_pair(Q_TABLE, width, index, first, n);
    }
    return q_known_tables[slot].table;
}

/* An access goes outside of the object it belongs to. */
static void q_goes_outside(const struct q_extent *object, uintptr_t address, uint32_t bytes, int writes, uint32_t place)
{
    if (!object->is_certain || !place || (H.marks & Q_MARK_OUT_OF_BOUNDS))
        return;
    H.marks |= Q_MARK_OUT_OF_BOUNDS;
    H.outside_offset = (uint64_t)q_signed_address(address - object->start);
    H.outside_size = object->size;
    H.outside_bytes = bytes | (writes ? Q_ACCESS_WRITE : 0);
    H.outside_object = object->kind;
    H.outside_place = place;
    uint8_t entry = Q_EV_OUTSIDE;
    q_append(&entry, 1);
}

/* Addresses that a pointer's expression adds and subtracts. */
struct q_origins {
    unsigned n;
    unsigned is_unclear; /* there were too many, or one of no known object */
    struct {
        struct q_extent object;
        int is_subtracted;
    } of[4];
};

/* Numbers up to here are offsets. */
#define Q_MOST_OFFSET (1 << 16)

static void q_note_origin(struct q_origins *origins, uint64_t number, int is_subtracted)
{
    int64_t offset = q_signed_address(number);
    if (offset > -Q_MOST_OFFSET && offset < Q_MOST_OFFSET)
        return;
    struct q_extent object = q_find_extent((uintptr_t)number);
    for (unsigned i = 0; i < origins->n; i++)
        if (origins->of[i].is_subtracted != is_subtracted && origins->of[i].object.start == object.start) {
            origins->of[i] = origins->of[--origins->n]; /* the distance between two pointers to one object */
            return;
        }
    if (!object.kind || origins->n == 4) {
        origins->is_unclear = 1;
        return;
    }
    origins->of[origins->n].object = object;
    origins->of[origins->n++].is_subtracted = is_subtracted;
}

static void q_find_origins(struct q_origins *origins, q_id id, int is_subtracted, unsigned depth)
{
    const struct q_node *node = &q_nodes[id];
    if (depth && node->op == Q_CONST)
        q_note_origin(origins, node->imm, is_subtracted);
    if (!depth || (node->op != Q_ADD && node->op != Q_SUB))
        return;
    int is_swapped = (node->aux & Q_AUX_SWAP) != 0, flips = node->op == Q_SUB;
    q_find_origins(origins, node->a, is_subtracted ^ (flips && is_swapped), depth - 1);
    if (node->aux & Q_AUX_IMM)
        q_note_origin(origins, node->imm, is_subtracted ^ (flips && !is_swapped));
    else
        q_find_origins(origins, node->b, is_subtracted ^ flips, depth - 1);
}

/* The object of the one address that a pointer was computed from. Else the object it points into now, which then is not
 * certain: the pointer may have come from an integer, or from code that is not instrumented. */
static struct q_extent q_object_of_pointer(q_id pointer, uint64_t value)
{
    struct q_origins origins = {0};
    q_find_origins(&origins, pointer, 0, 16);
    if (origins.n == 1 && !origins.is_unclear && !origins.of[0].is_subtracted)
        return origins.of[0].object;
    struct q_extent object = q_find_extent((uintptr_t)value);
    object.is_certain = 0;
    return object;
}

/* The pointer that the access starts from becomes part of the sum if it is near the object that it varies over; else it
 * is one of several pointers, and pinned. */
static void q_settle_pointer(void)
{
    if (!q_access.pointer)
        return;
    struct q_sum sum = q_access.sum;
    sum.constant = 0;
    q_take_apart(&sum, 1, q_access.pointer, 16);
    uint64_t constant = sum.constant & q_mask(Q_POINTER_BITS);
    struct q_extent object = q_object_of_pointer(q_access.pointer, q_access.pointer_value);
    int is_near = object.kind && !sum.overflows && constant + Q_NEAR >= object.start &&
                  constant <= object.start + object.size + Q_NEAR;
    if (is_near) {
        q_access.sum = sum;
        q_access.object = object;
        q_access.varying += q_access.pointer_value - constant;
        return;
    }
    q_pin_access(q_access.pointer, q_access.pointer_value);
    q_access.pointer = 0;
}

/* The object that an access belongs to, by the pointer it starts from. */
static struct q_extent q_object_of(uintptr_t root, size_t size)
{
    if (q_access.pointer)
        return q_access.object;
    struct q_extent object = q_find_extent(root);
    if (!size)
        return object;
    uint32_t is_constant = object.kind && object.start == root && object.is_constant;
    uint32_t kind = object.start == root && object.kind ? object.kind : Q_OBJECT_LOCAL;
    return (struct q_extent){root, size, kind, is_constant, 1, 0};
}

/* How an access is told to the runtime: bytes, bits of a read that may become a table (else 0), whether it writes. */
#define Q_ACCESS_BYTES(packed) ((packed) & 0xffff)
#define Q_ACCESS_BITS(packed) ((packed) >> 16 & 0xff)
#define Q_ACCESS_WRITES(packed) ((packed) >> 24)

/* Within these the scaled index keeps the access inside the object. */
static struct q_range q_bounds(const struct q_extent *object, uintptr_t origin, uint64_t stride, uint32_t bytes)
{
    int64_t low = q_signed_address(object->start - origin), step = (int64_t)stride;
    int64_t high = q_signed_address(object->start + object->size - bytes - origin);
    int64_t first = low >= 0 ? (low + step - 1) / step : -(-low / step);
    int64_t last = high >= 0 ? high / step : -((-high + step - 1) / step);
    return (struct q_range){first, last};
}

/* The entries that an access may reach: origin + stride * index with low <= index <= high. */
struct q_spread {
    uintptr_t origin;
    uint64_t stride;
    q_id index;
    int64_t low, high, now;
};

enum q_spreading { Q_UNKNOWN, Q_FIXED, Q_SPREAD };

/* Where the access described may go within its object, which is assumed from here on. Q_FIXED: the terms cancel out. */
static enum q_spreading q_find_spread(const struct q_extent *object, uintptr_t address, uint32_t bytes, uint32_t place,
                                      struct q_spread *spread)
{
    spread->stride = q_common_stride(&q_access.sum);
    if (spread->stride == 0)
        return Q_FIXED;
    spread->origin = address - (uintptr_t)q_access.varying;
    struct q_range range, bounds = q_bounds(object, spread->origin, spread->stride, bytes);
    spread->index = q_scaled_index(&q_access.sum, spread->stride, &range);
    spread->now = q_signed_address(q_access.varying) / (int64_t)spread->stride;
    spread->low = range.low > bounds.low ? range.low : bounds.low;
    spread->high = range.high < bounds.high ? range.high : bounds.high;
    if (!spread->index || spread->now < spread->low || spread->now > spread->high)
        return Q_UNKNOWN;
    if (range.low < bounds.low || range.high > bounds.high)
        q_assume_within(spread->index, bounds.low, bounds.high, place, object);
    return Q_SPREAD;
}

/* The table that a read chooses from, 0 when there is none: it has too many entries. */
static int q_read_table(const struct q_extent *object, const struct q_spread *spread, uint32_t packed, q_id *table)
{
    uint32_t bytes = Q_ACCESS_BYTES(packed), width = Q_ACCESS_BITS(packed);
    if (!width)
        return 0;
    if (spread->high - spread->low >= Q_MOST_ENTRIES) {
        H.marks |= Q_MARK_LARGE_OBJECT;
        return 0;
    }
    uintptr_t start = spread->origin + (uintptr_t)(spread->low * (int64_t)spread->stride);
    uint32_t n = (uint32_t)(spread->high - spread->low) + 1;
    q_id first = q_rows_of(start, spread->stride, n, bytes, width, object->is_constant);
    if (!first)
        return 0;
    *table = q_table(width, q_minus(spread->index, spread->low), first, n);
    return 1;
}

/* What an entry holds after `node`, which now is `value`, was written to the one with the spread's index. */
static q_id q_entry_after_write(const struct q_spread *spread, int64_t entry, unsigned bytes, q_id node, uint64_t value)
{
    uintptr_t address = spread->origin + (uintptr_t)(entry * (int64_t)spread->stride);
    uint64_t old_value = q_read_value(address, bytes);
    q_id old = q_any_flag(address, bytes) ? q_load_bytes(address, bytes, old_value) : 0;
    q_id is_here = q_make(Q_EQ, Q_POINTER_BITS, spread->index, 0, 0, (uint64_t)entry);
    if (!is_here)
        return entry == spread->now ? node : old; /* no index gives this entry, or there is no more room */
    return q_choose(8 * bytes, is_here, node, value, old, old_value);
}

/* Gives the other entries the choice between old and new; *node becomes that of the one written now. */
static int q_write_choices(const struct q_spread *spread, unsigned bytes, q_id *node, uint64_t value)
{
    uint64_t n = (uint64_t)(spread->high - spread->low) + 1;
    if (bytes > 8 || spread->stride < bytes || n > Q_MOST_WRITTEN || q_n_rows + 2 * n > Q_MOST_ROWS)
        return 0;
    q_n_rows += 2 * (uint32_t)n;
    q_id written = q_extend(Q_ZEXT, 8 * bytes, *node);
    for (int64_t entry = spread->low; entry <= spread->high; entry++) {
        uintptr_t address = spread->origin + (uintptr_t)(entry * (int64_t)spread->stride);
        q_id after = q_entry_after_write(spread, entry, bytes, written, value);
        if (entry == spread->now)
            *node = after;
        else
            q_set_bytes(address, bytes, after, q_read_value(address, bytes));
    }
    return 1;
}

static void q_pin_parts(void)
{
    if (q_access.pointer)
        q_pin_access(q_access.pointer, q_access.pointer_value);
    for (unsigned i = 0; i < q_access.n_indices; i++)
        q_pin_index(q_access.indices[i].node, q_access.indices[i].value);
}

/* The object of the access described and where in it the access may go. Pins the parts when that is not known. */
static enum q_spreading q_settle_access(uintptr_t address, uintptr_t root, size_t size, uint32_t packed, uint32_t place,
                                        struct q_extent *object, struct q_spread *spread)
{
    uint32_t bytes = Q_ACCESS_BYTES(packed);
    q_settle_pointer();
    if (q_access.sum.n == 0)
        return Q_FIXED;
    *object = q_object_of(root, size);
    int is_inside = object->kind && address >= object->start && bytes <= object->size &&
                    address - object->start <= object->size - bytes;
    if (object->kind && !is_inside)
        q_goes_outside(object, address, bytes, Q_ACCESS_WRITES(packed), place);
    enum q_spreading spreading = Q_UNKNOWN;
    if (is_inside && !q_access.sum.overflows)
        spreading = q_find_spread(object, address, bytes, place, spread);
    if (spreading == Q_UNKNOWN)
        q_pin_parts();
    return spreading;
}

Q_COLD q_id q_read_slow(uintptr_t address, uintptr_t root, size_t size, uint32_t packed, uint32_t place)
{
    struct q_extent object;
    struct q_spread spread;
    q_id table = 0;
    q_place = place;
    if (q_settle_access(address, root, size, packed, place, &object, &spread) == Q_SPREAD &&
        !q_read_table(&object, &spread, packed, &table))
        q_pin_parts();
    q_place = 0;
    return table;
}

/* A read is about to happen at `address`, which was reached from the pointer `root`, the start of an object of `size`
 * bytes unless that is 0. Returns the node of what is read when it is a table. */
Q_INLINE q_id __quarry_read(uint32_t any, uintptr_t address, uintptr_t root, size_t size, uint32_t packed,
                            uint32_t place)
{
    return q_likely(any == 0) ? 0 : q_read_slow(address, root, size, packed, place);
}

Q_COLD q_id q_write_slow(uintptr_t address, uintptr_t root, size_t size, uint32_t packed, uint32_t place, q_id node,
                         uint64_t value)
{
    struct q_extent object;
    struct q_spread spread;
    q_place = place;
    if (q_settle_access(address, root, size, packed, place, &object, &spread) == Q_SPREAD &&
        (!Q_ACCESS_BITS(packed) || !q_write_choices(&spread, Q_ACCESS_BYTES(packed), &node, value)))
        q_pin_parts();
    q_place = 0;
    return node;
}

/* The same for a write of `node`, which is `value`. Returns the node that is at the address afterwards. */
Q_INLINE q_id __quarry_write(uint32_t any, uintptr_t address, uintptr_t root, size_t size, uint32_t packed,
                             uint32_t place, q_id node, uint64_t value)
{
    return q_likely(any == 0) ? node : q_write_slow(address, root, size, packed, place, node, value);
}

/* Shadow of what was loaded at an address that may depend on the input. */
Q_INLINE q_id __quarry_load_at(uint32_t any, q_id table, uintptr_t address, uint32_t bytes, uint32_t width,
                               uint32_t crosses, uint64_t value)
{
    if (q_unlikely(any != 0) && table)
        return table;
    return __quarry_load(address, bytes, width, crosses, value);
}
