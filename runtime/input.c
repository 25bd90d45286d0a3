/* Input cells: a harness requests the values of an input here. */

static const struct q_input *q_find_input(uint64_t key)
{
    uint32_t low = 0, high = H.n_inputs;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (q_inputs[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low < H.n_inputs && q_inputs[low].key == key ? &q_inputs[low] : 0;
}

/* The key of one part of an object that exists in some runs only; model::input::Key::part computes the same. */
unsigned long long __quarry_part_key(unsigned long long object, unsigned long long index)
{
    uint64_t x = object * 0x9e3779b97f4a7c15u + (index + 1);
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return (x ^ x >> 31) | (uint64_t)1 << 63;
}

static q_id q_record_cell(uint64_t key, uint64_t value, unsigned bits, unsigned kind, unsigned limit)
{
    uint32_t index = H.n_cells;
    if (index >= H.cell_capacity) {
        H.marks |= Q_MARK_CELLS_FULL;
        return 0;
    }
    int is_symbolic = H.flags & Q_FLAG_SYMBOLIC && kind != Q_CELL_SIZE && kind != Q_CELL_OPTION;
    q_id node = is_symbolic ? q_new(Q_INPUT, bits, 0, index, 0) : 0;
    q_cells[index] = (struct q_cell){key, value, node, bits, kind, limit};
    H.n_cells = index + 1;
    return node;
}

static void q_write(void *memory, unsigned bytes, uint64_t value, q_id node)
{
    uint8_t *to = memory;
    for (unsigned i = 0; i < bytes; i++)
        to[i] = (uint8_t)(value >> 8 * i);
    if (node || q_any_flag((uintptr_t)to, bytes))
        q_set_bytes((uintptr_t)to, bytes, q_extend(Q_ZEXT, 8 * bytes, node), value);
}

/* The input's value for the cell, or what memory holds. */
static uint64_t q_cell_value(uint64_t key, const void *memory, unsigned bytes, unsigned bits)
{
    const uint8_t *from = memory;
    uint64_t value = 0;
    const struct q_input *input = q_find_input(key);
    for (unsigned i = 0; i < bytes; i++)
        value |= (uint64_t)from[i] << 8 * i;
    return (input ? input->value : value) & q_mask(bits);
}

unsigned long long __quarry_size(unsigned long long key, unsigned long long first, unsigned long long least,
                                 unsigned long long most);
Q_ENTRY __attribute__((noreturn)) void __quarry_end(void);

enum { Q_CALLS_FIRST = 256, Q_CALLS_LAST = 1 << 20 }; /* as in model::input::calls */

/* Call number `number` of a sequence is made: one more than the input allows ends the run. */
void __quarry_call(unsigned long long sequence, unsigned long long number)
{
    uint64_t key = __quarry_part_key(sequence, -2ull);
    uint64_t first = H.n_inputs > Q_CALLS_FIRST ? H.n_inputs : Q_CALLS_FIRST;
    const struct q_input *input = q_find_input(key);
    if (number == 0)
        __quarry_size(key, first, 1, Q_CALLS_LAST);
    if (number >= (input ? input->value : first))
        __quarry_end();
}

/* Sets `memory` to the cell's value, if the input has one, and makes it symbolic if the run is to be. */
void __quarry_cell(unsigned long long key, void *memory, unsigned bytes, unsigned bits)
{
    uint64_t value = q_cell_value(key, memory, bytes, bits);
    q_write(memory, bytes, value, q_record_cell(key, value, bits, Q_CELL_VALUE, 0));
}
