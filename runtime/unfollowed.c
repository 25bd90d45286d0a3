/* Symbolic bytes that are given to code that is not followed: library functions without a model.
 *
 * The run continues with the values that such code computes, and no expression describes them. The log gets the site of the call, once
 * per run, when an argument is symbolic or leads to symbolic bytes: in the object that it points to, or, where the object
 * holds pointers (an argument vector), in what those point to. Limits: of an object the first bytes count, and of one that
 * the runtime does not know only bytes with a shadow; lists are followed no further than that. */

#define Q_LOOKED_AT 4096u     /* bytes of an object */
#define Q_LOOKED_AT_BLIND 64u /* bytes behind a pointer to an unknown object */
#define Q_POINTERS 64u        /* pointers in an object */
#define Q_SITES 32768u        /* those beyond are not told */

static uint8_t q_noted[Q_SITES / 8]; /* a bit each: reused processes copy it for every run */

static uint32_t q_unfollowed_site(uint32_t site)
{
    if (!site)
        site = __quarry_caller;
    return site < Q_SITES && !(q_noted[site / 8] >> site % 8 & 1) ? site : 0;
}

static void q_note_unfollowed(uint32_t site)
{
    q_noted[site / 8] |= (uint8_t)(1u << site % 8);
    q_log_varint(Q_EV_UNFOLLOWED, site);
}

/* Whether one of the bytes is symbolic; memory itself is not read. */
static int q_has_symbolic(uintptr_t address, size_t bytes)
{
    uintptr_t end = address + bytes;
    size_t n;
    struct q_shadow_byte *run;
    if (end < address)
        return 0;
    while ((run = q_next_run(&address, end, &n))) {
        for (size_t i = 0; i < n; i++)
            if (run[i].entry)
                return 1;
        address += n;
    }
    return 0;
}

/* How far memory at an address is known to belong together, at most as far as is looked. */
static size_t q_known_extent(uintptr_t address)
{
    struct q_extent object = q_find_extent(address);
    size_t left = object.kind ? object.size - (address - object.start) : 0;
    return left < Q_LOOKED_AT ? left : Q_LOOKED_AT;
}

static int q_leads_to_symbolic(uintptr_t address)
{
    size_t known = q_known_extent(address);
    if (q_has_symbolic(address, known ? known : Q_LOOKED_AT_BLIND))
        return 1;
    uintptr_t first = (address + sizeof(void *) - 1) & ~(sizeof(void *) - 1);
    for (size_t i = 0; i < Q_POINTERS && first - address + (i + 1) * sizeof(void *) <= known; i++) {
        uintptr_t pointer = ((const volatile uintptr_t *)first)[i];
        if (q_flag(pointer) && q_has_symbolic(pointer, Q_LOOKED_AT_BLIND))
            return 1;
    }
    return 0;
}

Q_COLD void q_lend_value_slow(uint32_t site)
{
    if ((site = q_unfollowed_site(site)))
        q_note_unfollowed(site);
}

/* A scalar is passed to code that is not followed. */
Q_INLINE void __quarry_lend_value(uint32_t site, q_id node)
{
    if (q_unlikely(node != 0))
        q_lend_value_slow(site);
}

/* A pointer is. */
Q_ENTRY void __quarry_lend(uint32_t site, uintptr_t address)
{
    if (H.n_nodes && address >= Q_PAGE_SIZE && (site = q_unfollowed_site(site)) && q_leads_to_symbolic(address))
        q_note_unfollowed(site);
}
