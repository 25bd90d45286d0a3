/* Input cells: where a harness asks for the values of an input. */

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

static q_id q_record_cell(uint64_t key, uint64_t value, unsigned bits)
{
    uint32_t index = H.n_cells;
    if (index >= H.cell_capacity) {
        H.marks |= Q_MARK_CELLS_FULL;
        return 0;
    }
    q_id node = H.flags & Q_FLAG_SYMBOLIC ? q_new(Q_INPUT, bits, 0, index, 0) : 0;
    q_cells[index] = (struct q_cell){key, value, node, bits};
    H.n_cells = index + 1;
    return node;
}

/* Sets `memory` to the cell's value, if the input has one, and makes it symbolic if the run is to be. */
void __quarry_cell(unsigned long long key, void *memory, unsigned bytes, unsigned bits)
{
    uint8_t *to = memory;
    uint64_t value = 0;
    const struct q_input *input = q_find_input(key);
    for (unsigned i = 0; i < bytes; i++)
        value |= (uint64_t)to[i] << 8 * i;
    value = (input ? input->value : value) & q_mask(bits);
    for (unsigned i = 0; i < bytes; i++)
        to[i] = (uint8_t)(value >> 8 * i);
    q_id node = q_record_cell(key, value, bits);
    if (node || q_any_flag((uintptr_t)to, bytes))
        q_set_bytes((uintptr_t)to, bytes, q_extend(Q_ZEXT, 8 * bytes, node), value);
}
