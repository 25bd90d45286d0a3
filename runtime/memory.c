/* Shadow memory: which expression does each byte of the program's memory hold?
 *
 * A table of page flags says whether a page may hold symbolic bytes at all; loads and stores test it inline and are done
 * if it is clear. Otherwise each page has a table with an entry per byte: `node << 3 | index of the byte in the node's
 * value`, and the concrete byte at that time. A load that finds another byte knows that uninstrumented code wrote there.
 * Flags are never cleared; pages 4 GiB apart share one. */

#include <sys/syscall.h>

#define Q_PAGE_BITS 12
#define Q_PAGE_SIZE ((uintptr_t)1 << Q_PAGE_BITS)
#define Q_FLAGS ((uintptr_t)1 << 20)
#define Q_SHADOW_PAGES 131072u
#define Q_SLOTS (2 * Q_SHADOW_PAGES)
#define Q_EIGHTH (Q_PAGE_SIZE / 8)

struct q_shadow_byte {
    uint32_t entry;
    uint32_t concrete;
};

struct q_slot {
    uintptr_t page; /* number of the program's page, 0: free */
    struct q_shadow_byte *bytes;
};

static uint8_t q_flags[Q_FLAGS];
static struct q_slot q_slots[Q_SLOTS];
static struct q_shadow_byte *q_shadow;
static uint32_t q_n_shadow_pages, q_shadow_capacity;

/* By number of the shadow page: where its slot is, and which eighths of it were written to. */
static struct {
    uint32_t slot;
    uint32_t written;
} q_shadowed[Q_SHADOW_PAGES];

static inline __attribute__((always_inline)) uint8_t q_flag(uintptr_t address)
{
    return q_flags[(address >> Q_PAGE_BITS) & (Q_FLAGS - 1)];
}

/* Whether a small range may hold symbolic bytes; `crosses` says whether it may reach into a second page. */
static inline __attribute__((always_inline)) int q_flagged(uintptr_t address, size_t bytes, uint32_t crosses)
{
    uint8_t flag = q_flag(address);
    if (crosses)
        flag |= q_flag(address + bytes - 1);
    return q_unlikely(flag != 0);
}

static struct q_shadow_byte *q_page_shadow(uintptr_t page, int make)
{
    size_t slot = page % Q_SLOTS; /* neighbours share cache lines and host pages */
    while (q_slots[slot].page && q_slots[slot].page != page)
        slot = (slot + 1) % Q_SLOTS;
    if (q_slots[slot].page || !make)
        return q_slots[slot].bytes;
    if (q_n_shadow_pages >= q_shadow_capacity) {
        H.marks |= Q_MARK_NODES_FULL;
        return 0;
    }
    q_slots[slot].page = page;
    q_slots[slot].bytes = q_shadow + (size_t)q_n_shadow_pages * Q_PAGE_SIZE;
    q_shadowed[q_n_shadow_pages].slot = (uint32_t)slot;
    q_shadowed[q_n_shadow_pages++].written = 0;
    q_flags[page & (Q_FLAGS - 1)] = 1;
    return q_slots[slot].bytes;
}

static struct q_shadow_byte *q_byte(uintptr_t address, int make)
{
    struct q_shadow_byte *bytes = q_page_shadow(address >> Q_PAGE_BITS, make);
    return bytes ? bytes + (address & (Q_PAGE_SIZE - 1)) : 0;
}

static void q_set_byte(uintptr_t address, uint32_t entry, uint8_t concrete)
{
    struct q_shadow_byte *byte = q_byte(address, entry != 0);
    if (byte) {
        if (entry)
            q_shadowed[(size_t)(byte - q_shadow) / Q_PAGE_SIZE].written |= 1u << (address & (Q_PAGE_SIZE - 1)) / Q_EIGHTH;
        byte->entry = entry;
        byte->concrete = concrete;
    }
}

/* The bytes now hold `node`, whose width is 8 * bytes, or are concrete when it is 0. */
static void q_set_bytes(uintptr_t address, unsigned bytes, q_id node, uint64_t value)
{
    for (unsigned i = 0; i < bytes; i++)
        q_set_byte(address + i, node ? node << 3 | i : 0, (uint8_t)(value >> 8 * i));
}

/* A node for bytes that do not come from one value: runs of consecutive bytes of a node, and constants, joined. */
static q_id q_join(const uint32_t *entries, unsigned bytes, uint64_t value)
{
    q_id joined = 0;
    for (unsigned i = 0, n; i < bytes; i += n) {
        n = 1;
        while (i + n < bytes && (entries[i] ? entries[i + n] == entries[i] + n && (entries[i] & 7) + n < 8
                                            : entries[i + n] == 0))
            n++;
        q_id part = entries[i] ? q_extract(8 * n, entries[i] >> 3, 8 * (entries[i] & 7)) : 0;
        if (!part)
            part = q_constant(8 * n, value >> 8 * i);
        joined = i ? q_concat(part, joined) : part;
    }
    return joined;
}

/* Node of the `bytes` at `address`, which hold `value`. */
static q_id q_load_bytes(uintptr_t address, unsigned bytes, uint64_t value)
{
    uint32_t entries[8], any = 0;
    for (unsigned i = 0; i < bytes; i++) {
        struct q_shadow_byte *byte = q_byte(address + i, 0);
        entries[i] = byte ? byte->entry : 0;
        if (entries[i] && byte->concrete != (uint8_t)(value >> 8 * i)) {
            H.marks |= Q_MARK_OVERWRITTEN;
            byte->entry = entries[i] = 0;
        }
        any |= entries[i];
    }
    return any ? q_join(entries, bytes, value) : 0;
}

Q_COLD q_id q_load_slow(uintptr_t address, uint32_t packed, uint64_t value)
{
    return q_extract(Q_WIDTH(packed), q_load_bytes(address, Q_OP(packed), value), 0);
}

/* Shadow of a loaded integer or pointer of `width` bits in `bytes` bytes. */
Q_INLINE q_id __quarry_load(uintptr_t address, uint32_t bytes, uint32_t width, uint32_t crosses, uint64_t value)
{
    if (q_flagged(address, bytes, crosses))
        return q_load_slow(address, Q_PACK(bytes, width), value);
    return 0;
}

Q_COLD void q_store_slow(uintptr_t address, uint32_t bytes, q_id node, uint64_t value)
{
    q_set_bytes(address, bytes, q_extend(Q_ZEXT, 8 * bytes, node), value);
}

/* An integer or pointer was stored. */
Q_INLINE void __quarry_store(uintptr_t address, uint32_t bytes, uint32_t crosses, q_id node, uint64_t value)
{
    if (q_unlikely(node != 0) || q_flagged(address, bytes, crosses))
        q_store_slow(address, bytes, node, value);
}

/* Pages of a range that have shadow, one after the other: *bytes entries from *address on. */
static struct q_shadow_byte *q_next_run(uintptr_t *address, uintptr_t end, size_t *bytes)
{
    while (*address < end) {
        uintptr_t next = (*address | (Q_PAGE_SIZE - 1)) + 1;
        if (q_flag(*address)) {
            struct q_shadow_byte *run = q_byte(*address, 0);
            if (run) {
                *bytes = (next > end || next == 0 ? end : next) - *address;
                return run;
            }
        }
        if (next == 0)
            break;
        *address = next;
    }
    return 0;
}

Q_COLD void q_clear_slow(uintptr_t address, size_t bytes)
{
    uintptr_t end = address + bytes;
    size_t n;
    struct q_shadow_byte *run;
    if (end < address)
        return;
    while ((run = q_next_run(&address, end, &n))) {
        for (size_t i = 0; i < n; i++)
            run[i].entry = 0;
        address += n;
    }
}

/* The bytes are fresh or were written with something concrete. */
Q_INLINE void __quarry_clear(uintptr_t address, size_t bytes)
{
    if (bytes > Q_PAGE_SIZE || (bytes != 0 && q_flagged(address, bytes, 1)))
        q_clear_slow(address, bytes);
}

Q_COLD void q_pin_slow(uintptr_t address, size_t bytes)
{
    for (size_t i = 0; i < bytes; i += 8) {
        unsigned n = bytes - i < 8 ? (unsigned)(bytes - i) : 8;
        uint64_t value = 0;
        for (unsigned k = 0; k < n; k++)
            value |= (uint64_t)((const volatile uint8_t *)address)[i + k] << 8 * k;
        q_id node = q_load_bytes(address + i, n, value);
        if (node)
            q_pin(node, value);
    }
}

/* The bytes were read into something that has no shadow (floating point, vectors). */
Q_INLINE void __quarry_pin_bytes(uintptr_t address, size_t bytes)
{
    if (q_flagged(address, bytes, 1))
        q_pin_slow(address, bytes);
}

static int q_any_flag(uintptr_t address, size_t bytes)
{
    uintptr_t last = address + bytes - 1;
    for (uintptr_t page = address >> Q_PAGE_BITS; page <= last >> Q_PAGE_BITS; page++)
        if (q_flags[page & (Q_FLAGS - 1)])
            return 1;
    return 0;
}

static void q_copy_byte(uintptr_t to, uintptr_t from)
{
    struct q_shadow_byte *source = q_byte(from, 0);
    if (source && source->entry)
        q_set_byte(to, source->entry, (uint8_t)source->concrete);
    else
        q_set_byte(to, 0, 0);
}

Q_COLD void q_copy_slow(uintptr_t to, uintptr_t from, size_t bytes)
{
    if (!q_any_flag(from, bytes)) {
        q_clear_slow(to, bytes);
    } else if (to < from) {
        for (size_t i = 0; i < bytes; i++)
            q_copy_byte(to + i, from + i);
    } else if (to > from) {
        for (size_t i = bytes; i-- > 0;)
            q_copy_byte(to + i, from + i);
    }
}

/* memcpy or memmove: the shadow goes with the bytes. */
Q_INLINE void __quarry_copy(uintptr_t to, uintptr_t from, size_t bytes)
{
    if (bytes > Q_PAGE_SIZE || (bytes != 0 && (q_flagged(from, bytes, 1) || q_flagged(to, bytes, 1))))
        q_copy_slow(to, from, bytes);
}

Q_COLD void q_fill_slow(uintptr_t address, size_t bytes, q_id byte, uint64_t value)
{
    for (size_t i = 0; i < bytes; i++)
        q_set_byte(address + i, byte << 3, (uint8_t)value);
}

/* memset; `node` is that of the value passed, of any width. */
Q_INLINE void __quarry_fill(uintptr_t address, size_t bytes, q_id node, uint64_t value)
{
    if (q_likely(node == 0))
        __quarry_clear(address, bytes);
    else
        q_fill_slow(address, bytes, q_cast_slow(Q_PACK(Q_EXTRACT, 8), node), value);
}

/* A structure passed in memory arrived: `source` is where the caller has it, 0 when the caller is unknown. */
Q_INLINE void __quarry_receive(uintptr_t copy, uintptr_t source, size_t bytes)
{
    if (source)
        __quarry_copy(copy, source, bytes);
    else
        __quarry_clear(copy, bytes);
}

/* va_start filled `list`: it is concrete. */
Q_ENTRY void __quarry_va_start(void *list)
{
    __quarry_clear((uintptr_t)list, sizeof(__builtin_va_list));
}

/* No byte of memory is symbolic any more. Beyond so many pages, those of the shadow are given back. */
static void q_forget_shadow(uint32_t most)
{
    for (uint32_t i = 0; i < q_n_shadow_pages; i++) {
        struct q_slot *slot = &q_slots[q_shadowed[i].slot];
        q_flags[slot->page & (Q_FLAGS - 1)] = 0;
        *slot = (struct q_slot){0, 0};
        for (uint32_t part = 0; i < most && part < 8; part++)
            if (q_shadowed[i].written >> part & 1)
                q_zero((uintptr_t)(q_shadow + i * Q_PAGE_SIZE + part * Q_EIGHTH), sizeof *q_shadow * Q_EIGHTH);
    }
    if (q_n_shadow_pages > most) {
        const size_t page = sizeof *q_shadow * Q_PAGE_SIZE;
        q_own_call(SYS_madvise, (long)((uintptr_t)q_shadow + most * page), (long)((q_n_shadow_pages - most) * page),
                   4 /* MADV_DONTNEED */, 0, 0, 0);
    }
    q_n_shadow_pages = 0;
}
