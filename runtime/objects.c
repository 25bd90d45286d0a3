/* Objects that exist only in some runs: arrays whose size is part of the input, and what pointers point to.
 *
 * A size is concrete. A pointer is a choice between null, a new object and the existing objects of its type; its
 * expression lists them all, so that comparisons of pointers can be solved. The new object has an address even if it is
 * not chosen. Limit: a pointer offers the first Q_ALIASES objects of its type. */

#define Q_OBJECTS 4096u
#define Q_ALIASES 6u
#define Q_FUNCTIONS 16u
#define Q_LARGEST 4096u

struct q_object {
    const void *address;
    uint64_t n_elements;
    uint32_t type;
};

static struct q_object q_objects[Q_OBJECTS];
static uint32_t q_n_objects;

extern void *calloc(size_t count, size_t size);

/* The number of elements of an array; `first` when the input does not say. A search tries up to `most`; an input that was
 * enlarged until its accesses fit may have more. */
unsigned long long __quarry_size(unsigned long long key, unsigned long long first, unsigned long long least,
                                 unsigned long long most)
{
    const struct q_input *input = q_find_input(key);
    uint64_t value = input ? input->value : first, largest = most > Q_LARGEST ? most : Q_LARGEST;
    if (value < least)
        value = least;
    if (value > largest)
        value = largest;
    q_record_cell(key, value, 32, Q_CELL_SIZE, (unsigned)most);
    return value;
}

/* Which of `n` things is there, decided outside of any run. */
unsigned __quarry_option(unsigned long long key, unsigned first, unsigned n)
{
    const struct q_input *input = q_find_input(key);
    uint64_t option = input ? input->value : first;
    if (option >= n)
        option = first;
    q_record_cell(key, option, 8, Q_CELL_OPTION, n);
    return (unsigned)option;
}

/* Zeroed memory for so many elements; the program may free it. */
void *__quarry_new(unsigned long long count, unsigned long long size)
{
    void *memory = calloc((size_t)count, (size_t)size);
    q_note_block((uintptr_t)memory, (size_t)(count * size));
    return memory;
}

/* Names an object of a type, for pointers to it and for numbers that count its elements. */
void __quarry_object(const void *address, unsigned type, unsigned long long n_elements)
{
    if (q_n_objects < Q_OBJECTS)
        q_objects[q_n_objects++] = (struct q_object){address, n_elements, type};
}

static unsigned q_options(const void **options, const void *fresh, unsigned type)
{
    unsigned n = 0;
    options[n++] = 0;
    options[n++] = fresh;
    for (uint32_t i = 0; i < q_n_objects && n < 2 + Q_ALIASES; i++)
        if (q_objects[i].type == type)
            options[n++] = q_objects[i].address;
    return n;
}

/* Which of `options` the cell chooses, as an expression. */
static q_id q_chosen(q_id cell, const void *const *options, unsigned n)
{
    unsigned width = 8 * sizeof(void *);
    q_id chosen = 0;
    uint64_t value = 0;
    if (!cell)
        return 0;
    for (unsigned i = 1; i < n; i++) {
        q_id is_chosen = q_make(Q_EQ, 8, cell, 0, 0, i);
        if (!is_chosen)
            return 0;
        chosen = q_choose(width, is_chosen, 0, (uintptr_t)options[i], chosen, value);
    }
    return chosen;
}

/* Sets the pointer at `where` to null, to `fresh` or to an object of the type that is there; `first` is the choice when
 * the input does not say. Returns whether it is `fresh`, which is then an object of the type. */
int __quarry_pointer(unsigned long long key, void *where, const void *fresh, unsigned type, unsigned first,
                     unsigned long long n_elements)
{
    const void *options[2 + Q_ALIASES];
    unsigned n = q_options(options, fresh, type);
    if (*(void *const *)where)
        return 0; /* a global that points somewhere keeps its value */
    const struct q_input *input = q_find_input(key);
    uint64_t choice = input ? input->value : first;
    if (choice >= n)
        choice = 0;
    q_id cell = q_record_cell(key, choice, 8, Q_CELL_CHOICE, n);
    q_write(where, sizeof(void *), (uintptr_t)options[choice], q_chosen(cell, options, n));
    if (cell && n > 2 && choice < 2) {
        /* two ways to one object are rarely meant: they make circles */
        q_id is_own = q_make(Q_ULT, 8, cell, choice, 0, 2);
        if (is_own)
            q_log_node(Q_EV_PREFER, is_own);
    }
    if (choice == 1)
        __quarry_object(fresh, type, n_elements);
    return choice == 1;
}

/* Sets the pointer at `where` to null or to one of `n` functions, counted from 1. */
void __quarry_function(unsigned long long key, void *where, const void *const *functions, unsigned n, unsigned first)
{
    const void *options[1 + Q_FUNCTIONS] = {0};
    if (*(void *const *)where)
        return;
    if (n > Q_FUNCTIONS)
        n = Q_FUNCTIONS;
    for (unsigned i = 0; i < n; i++)
        options[1 + i] = functions[i];
    const struct q_input *input = q_find_input(key);
    uint64_t choice = input ? input->value : first;
    if (choice > n)
        choice = 0;
    q_id cell = q_record_cell(key, choice, 8, Q_CELL_CHOICE, n + 1);
    q_write(where, sizeof(void *), (uintptr_t)options[choice], q_chosen(cell, options, n + 1));
}

/* Whether the pointer will be a new object: asked where its size has to be known first. */
int __quarry_is_fresh(unsigned long long key, unsigned first)
{
    const struct q_input *input = q_find_input(key);
    return (input ? input->value : first) == 1;
}

static uint64_t q_n_elements(const void *address)
{
    for (uint32_t i = 0; i < q_n_objects; i++)
        if (q_objects[i].address == address)
            return q_objects[i].n_elements;
    return address ? ~(uint64_t)0 : 0;
}

/* A number of at most as many elements as each of the objects has that the pointers at `pointers` point to. */
void __quarry_count(unsigned long long key, void *memory, unsigned bytes, unsigned bits, const void *const *pointers,
                    unsigned n_pointers)
{
    uint64_t most = q_mask(bits);
    for (unsigned i = 0; i < n_pointers; i++) {
        uint64_t n = q_n_elements(*(const void *const *)pointers[i]);
        if (n < most)
            most = n;
    }
    uint64_t value = q_cell_value(key, memory, bytes, bits);
    if (value > most)
        value %= most + 1;
    q_id node = q_record_cell(key, value, bits, Q_CELL_VALUE, 0);
    q_write(memory, bytes, value, node);
    if (node && most < q_mask(bits))
        q_assume(q_make(Q_ULE, bits, node, value, 0, most));
}

/* An access is about to happen through a pointer with an expression: at this address only, and not through null. */
Q_COLD void q_pin_access(q_id node, uint64_t address)
{
    q_pin_pointer(node, address);
    q_id pointer = node;
    while (q_nodes[pointer].op == Q_ADD && q_nodes[pointer].aux == Q_AUX_IMM) {
        address -= q_nodes[pointer].imm;
        pointer = q_nodes[pointer].a;
    }
    int is_null = (address & q_mask(q_width(pointer))) == 0; /* the access is about to end the run */
    if (q_nodes[pointer].op == Q_ITE && !is_null && !q_is_recent(Q_RECENT_ACCESS, pointer))
        q_assume(q_make(Q_NE, q_width(pointer), pointer, 0, 0, 0));
}
