/* Which object does an address belong to? Looked up only for accesses that depend on the input, so recording objects
 * must be cheap and looking them up need not be.
 *
 * Globals are listed by the instrumentation and sorted once. Stack objects whose address leaves their function are
 * pushed on entry and dropped on return; the others are known where they are used. Allocations are appended to a journal
 * that is sorted into the list of live blocks on a look-up or when it is full. Tables of the C library are added when
 * their address is requested. Limit: memory that uninstrumented code allocates belongs to no object. */

/* Made by the instrumentation. */
struct q_global {
    void *address;
    size_t size;
    size_t is_constant;
};
extern const struct q_global __quarry_globals[] __attribute__((visibility("hidden")));
extern const uint32_t __quarry_n_globals __attribute__((visibility("hidden")));

struct q_extent {
    uintptr_t start;
    size_t size;
    uint32_t kind; /* Q_OBJECT_*, 0: none */
    uint32_t is_constant;
    uint32_t is_certain; /* whether the pointer asked about can belong to no other object */
    uint32_t is_variable; /* whether its size depends on the input */
};

#define Q_GLOBALS 16384u
static struct q_extent q_globals[Q_GLOBALS]; /* by address */
static uint32_t q_n_globals;

static void q_prepare_globals(void)
{
    uint32_t n = __quarry_n_globals < Q_GLOBALS ? __quarry_n_globals : Q_GLOBALS;
    for (uint32_t i = 0; i < n; i++) {
        const struct q_global *global = &__quarry_globals[i];
        q_globals[i] = (struct q_extent){(uintptr_t)global->address, global->size, Q_OBJECT_GLOBAL,
                                         (uint32_t)global->is_constant, 1, 0};
    }
    for (uint32_t gap = n / 2; gap > 0; gap /= 2)
        for (uint32_t i = gap; i < n; i++) {
            struct q_extent moved = q_globals[i];
            uint32_t at = i;
            for (; at >= gap && q_globals[at - gap].start > moved.start; at -= gap)
                q_globals[at] = q_globals[at - gap];
            q_globals[at] = moved;
        }
    q_n_globals = n;
}

/* Stack objects by order of entry; the newest Q_LOCALS are known. */
#define Q_LOCALS 65536u
struct q_block {
    uintptr_t start;
    size_t size : 8 * sizeof(size_t) - 1;
    size_t is_variable : 1; /* its size depends on the input */
};
static struct q_block q_locals[Q_LOCALS];
static uint32_t q_n_locals;

/* How many stack objects the callers have, for __quarry_leave. */
Q_INLINE uint32_t __quarry_frame(void)
{
    return q_n_locals;
}

Q_INLINE void __quarry_local(uint32_t number, uintptr_t start, size_t size)
{
    q_locals[number % Q_LOCALS] = (struct q_block){start, size, 0};
    q_n_locals = number + 1;
}

Q_INLINE void __quarry_leave(uint32_t frame)
{
    q_n_locals = frame;
}

/* A stack object of a size known only now. It is the lowest there is: what lies below was freed. */
Q_ENTRY void __quarry_local_sized(uintptr_t start, size_t size)
{
    while (q_n_locals > 0 && q_locals[(q_n_locals - 1) % Q_LOCALS].start < start + size)
        q_n_locals--;
    __quarry_local(q_n_locals, start, size);
}

/* The heap. A journal entry of size 0 says that the block was freed. */
#define Q_JOURNAL 512u
#define Q_BLOCKS 65536u
static struct q_block q_journal[Q_JOURNAL];
static uint32_t q_n_journal;
static uint32_t q_size_is_symbolic; /* that of the block to be noted next */
static struct q_block q_block_lists[2][Q_BLOCKS]; /* by address; merging goes from one to the other */
static struct q_block *q_blocks = q_block_lists[0];
static uint32_t q_n_blocks;

/* Sorts the journal by address; of several entries for one only the last is kept. */
static uint32_t q_sort_journal(void)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < q_n_journal; i++) {
        struct q_block moved = q_journal[i];
        uint32_t low = 0, high = n;
        while (low < high) {
            uint32_t middle = low + (high - low) / 2;
            if (q_journal[middle].start < moved.start)
                low = middle + 1;
            else
                high = middle;
        }
        if (low < n && q_journal[low].start == moved.start) {
            q_journal[low] = moved;
            continue;
        }
        for (uint32_t at = n++; at > low; at--)
            q_journal[at] = q_journal[at - 1];
        q_journal[low] = moved;
    }
    return n;
}

static void q_settle_journal(void)
{
    uint32_t n = q_sort_journal(), block = 0, n_merged = 0;
    struct q_block *merged = q_block_lists[q_blocks == q_block_lists[0]];
    for (uint32_t entry = 0; entry < n || block < q_n_blocks;) {
        struct q_block next;
        if (entry == n || (block < q_n_blocks && q_blocks[block].start < q_journal[entry].start)) {
            next = q_blocks[block++];
        } else {
            next = q_journal[entry++];
            if (block < q_n_blocks && q_blocks[block].start == next.start)
                block++;
        }
        if (next.size && n_merged < Q_BLOCKS)
            merged[n_merged++] = next;
    }
    q_blocks = merged;
    q_n_blocks = n_merged;
    q_n_journal = 0;
}

static void q_note_block(uintptr_t start, size_t size)
{
    if (!(H.flags & Q_FLAG_SYMBOLIC) || !start)
        return;
    if (q_n_journal == Q_JOURNAL)
        q_settle_journal();
    q_journal[q_n_journal++] = (struct q_block){start, size, size && q_size_is_symbolic};
    if (size)
        q_size_is_symbolic = 0;
}

/* The program frees a block. */
Q_ENTRY void __quarry_freed(uintptr_t start)
{
    q_note_block(start, 0);
}

/* Tables of the C library. */
#define Q_FOREIGN 16u
static struct q_block q_foreign[Q_FOREIGN];
static uint32_t q_n_foreign;

/* `place` is what __ctype_b_loc and its like return: where a pointer to a table is kept, to its entry for 0 of -128..255. */
Q_ENTRY void __quarry_character_table(const uintptr_t *place, size_t entry)
{
    struct q_block table = {*place - 128 * entry, 384 * entry, 0};
    for (uint32_t i = 0; i < q_n_foreign; i++)
        if (q_foreign[i].start == table.start)
            return;
    if (q_n_foreign < Q_FOREIGN)
        q_foreign[q_n_foreign++] = table;
}

extern size_t malloc_usable_size(void *) __attribute__((weak));

/* A block that uninstrumented code freed or moved is still listed: the allocator, or the next block, knows better. */
static int q_is_stale(uint32_t block)
{
    const struct q_block *b = &q_blocks[block];
    if (block + 1 < q_n_blocks && q_blocks[block + 1].start < b->start + b->size)
        return 1;
    return malloc_usable_size && malloc_usable_size((void *)b->start) < b->size;
}

static struct q_extent q_find_block(uintptr_t address)
{
    if (q_n_journal)
        q_settle_journal();
    uint32_t low = 0, high = q_n_blocks;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (q_blocks[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || address - q_blocks[low - 1].start > q_blocks[low - 1].size || q_is_stale(low - 1))
        return (struct q_extent){0};
    return (struct q_extent){q_blocks[low - 1].start, q_blocks[low - 1].size, Q_OBJECT_HEAP, 0, 1,
                             q_blocks[low - 1].is_variable};
}

static struct q_extent q_find_local(uintptr_t address)
{
    uintptr_t live = (uintptr_t)__builtin_frame_address(0);
    uint32_t oldest = q_n_locals > Q_LOCALS ? q_n_locals - Q_LOCALS : 0;
    struct q_extent ending = {0};
    for (uint32_t i = q_n_locals; i-- > oldest;) {
        const struct q_block *local = &q_locals[i % Q_LOCALS];
        if (local->start < live || address < local->start || address - local->start > local->size)
            continue;
        struct q_extent found = {local->start, local->size, Q_OBJECT_LOCAL, 0, 1, 0};
        if (address - local->start < local->size)
            return found;
        ending = found;
    }
    return ending;
}

/* The last global that starts at the address or before, if it reaches there. */
static struct q_extent q_find_global(uintptr_t address)
{
    uint32_t low = 0, high = q_n_globals;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (q_globals[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || address - q_globals[low - 1].start > q_globals[low - 1].size)
        return (struct q_extent){0};
    return q_globals[low - 1];
}

/* The object that `address` points into, or just behind when there is no better. */
static struct q_extent q_find_extent(uintptr_t address)
{
    struct q_extent found = q_find_global(address);
    if (!found.kind)
        found = q_find_local(address);
    if (!found.kind)
        found = q_find_block(address);
    for (uint32_t i = 0; !found.kind && i < q_n_foreign; i++)
        if (address - q_foreign[i].start < q_foreign[i].size)
            found = (struct q_extent){q_foreign[i].start, q_foreign[i].size, Q_OBJECT_FOREIGN, 1, 1, 0};
    if (!found.kind)
        return found;
    /* behind the end of one object and at the start of another, a pointer may belong to either */
    if (address == found.start) {
        struct q_extent before = q_find_global(address - 1);
        if (!before.kind)
            before = q_find_local(address - 1);
        found.is_certain = !(before.kind && before.start + before.size == address);
    } else if (address - found.start == found.size) {
        found.is_certain = 0;
    }
    return found;
}

/* How many bytes of an object there are from here on; 0 when nobody knows. For programs that compare two versions of a function. */
unsigned long long __quarry_room(const void *address)
{
    struct q_extent found = q_find_extent((uintptr_t)address);
    return found.kind ? found.start + found.size - (uintptr_t)address : 0;
}
