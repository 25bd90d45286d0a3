/* What the harness calls, with every value chosen by the verifier.
 *
 * A choice is announced in quarry_key and quarry_first (what the harness prefers) and ends up in quarry_value, so that a
 * counterexample that prints assignments names each cell of its input. */
extern unsigned long long __VERIFIER_nondet_ulonglong(void);
extern void *calloc(__SIZE_TYPE__, __SIZE_TYPE__);
extern void abort(void);

unsigned long long quarry_key, quarry_first, quarry_value;

static unsigned long long quarry_choose(unsigned long long key, unsigned long long first)
{
    quarry_key = key;
    quarry_first = first;
    quarry_value = __VERIFIER_nondet_ulonglong();
    return quarry_value;
}

static void quarry_assume(int holds)
{
    if (!holds)
        abort();
}

static struct quarry_object {
    const void *address;
    unsigned type;
    unsigned long long n_elements;
} quarry_objects[QUARRY_OBJECTS];
static unsigned quarry_n_objects;

void __quarry_reject(void)
{
    abort();
}

void __quarry_end(void)
{
    abort();
}

static void quarry_write(void *memory, unsigned bytes, unsigned long long value)
{
    for (unsigned i = 0; i < bytes; i++)
        ((unsigned char *)memory)[i] = (unsigned char)(value >> 8 * i);
}

static unsigned long long quarry_read(const void *memory, unsigned bytes)
{
    unsigned long long value = 0;
    for (unsigned i = 0; i < bytes; i++)
        value |= (unsigned long long)((const unsigned char *)memory)[i] << 8 * i;
    return value;
}

static unsigned long long quarry_most(unsigned bits)
{
    return bits < 64 ? (1ull << bits) - 1 : ~0ull;
}

void __quarry_cell(unsigned long long key, void *memory, unsigned bytes, unsigned bits)
{
    unsigned long long value = quarry_choose(key, quarry_read(memory, bytes) & quarry_most(bits));
    quarry_assume(value <= quarry_most(bits));
    quarry_write(memory, bytes, value);
}

void __quarry_call(unsigned long long sequence, unsigned long long number)
{
    (void)sequence, (void)number;
}

unsigned long long __quarry_part_key(unsigned long long object, unsigned long long index)
{
    unsigned long long x = object * 0x9e3779b97f4a7c15u + (index + 1);
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return (x ^ x >> 31) | 1ull << 63;
}

unsigned long long __quarry_size(unsigned long long key, unsigned long long first, unsigned long long least,
                                 unsigned long long most)
{
    unsigned long long size = quarry_choose(key, first);
    quarry_assume(size >= least && size <= most);
    return size;
}

unsigned __quarry_option(unsigned long long key, unsigned first, unsigned n)
{
    unsigned long long option = quarry_choose(key, first);
    quarry_assume(option < n);
    return (unsigned)option;
}

void *__quarry_new(unsigned long long count, unsigned long long size)
{
    return calloc((__SIZE_TYPE__)count, (__SIZE_TYPE__)size);
}

void __quarry_object(const void *address, unsigned type, unsigned long long n_elements)
{
    quarry_assume(quarry_n_objects < QUARRY_OBJECTS);
    quarry_objects[quarry_n_objects].address = address;
    quarry_objects[quarry_n_objects].type = type;
    quarry_objects[quarry_n_objects].n_elements = n_elements;
    quarry_n_objects++;
}

/* A size that depends on the choice is asked for before the choice is made use of. */
static unsigned long long quarry_chosen_key, quarry_chosen;
static int quarry_has_chosen;

static unsigned long long quarry_choice(unsigned long long key, unsigned first)
{
    if (!quarry_has_chosen || quarry_chosen_key != key)
        quarry_chosen = quarry_choose(key, first);
    quarry_has_chosen = 1;
    quarry_chosen_key = key;
    return quarry_chosen;
}

int __quarry_is_fresh(unsigned long long key, unsigned first)
{
    return quarry_choice(key, first) == 1;
}

int __quarry_pointer(unsigned long long key, void *where, const void *fresh, unsigned type, unsigned first,
                     unsigned long long n_elements)
{
    unsigned long long choice = quarry_choice(key, first), n = 2;
    const void *pointer = choice == 1 ? fresh : 0;
    quarry_has_chosen = 0;
    if (*(void **)where)
        return 0;
    for (unsigned i = 0; i < quarry_n_objects && n < 2 + QUARRY_ALIASES; i++)
        if (quarry_objects[i].type == type && n++ == choice)
            pointer = quarry_objects[i].address;
    quarry_assume(choice < n);
    *(const void **)where = pointer;
    if (choice == 1)
        __quarry_object(fresh, type, n_elements);
    return choice == 1;
}

void __quarry_function(unsigned long long key, void *where, const void *const *functions, unsigned n, unsigned first)
{
    if (*(void **)where)
        return;
    unsigned long long choice = quarry_choose(key, first);
    quarry_assume(choice <= n && choice <= QUARRY_FUNCTIONS);
    *(const void **)where = choice ? functions[choice - 1] : 0;
}

void __quarry_count(unsigned long long key, void *memory, unsigned bytes, unsigned bits, const void *const *pointers,
                    unsigned n_pointers)
{
    unsigned long long most = quarry_most(bits);
    for (unsigned i = 0; i < n_pointers; i++) {
        const void *at = *(const void *const *)pointers[i];
        unsigned long long n = at ? most : 0;
        for (unsigned o = 0; o < quarry_n_objects; o++)
            if (quarry_objects[o].address == at)
                n = quarry_objects[o].n_elements;
        if (n < most)
            most = n;
    }
    unsigned long long value = quarry_choose(key, quarry_read(memory, bytes) & quarry_most(bits));
    quarry_assume(value <= quarry_most(bits));
    quarry_write(memory, bytes, value > most ? value % (most + 1) : value);
}
