/* Shadows across calls, and how instrumented functions learn who called them.
 *
 * An instrumented caller writes the shadows of the arguments to __quarry_args and names the callee it is about to enter;
 * the callee compares. If the names differ, uninstrumented code made the call: arguments are concrete, and the log gets
 * the callback, because it does not follow from the program. */

#define Q_ARGS 256

q_id __quarry_args[Q_ARGS] __attribute__((visibility("hidden")));       /* one per scalar leaf of the arguments */
uintptr_t __quarry_byval[Q_ARGS] __attribute__((visibility("hidden"))); /* where a structure passed in memory comes from */
/* How many variable arguments were passed, then for each of them its place (bytes in the low four bits, its offset, and at the
 * top whether that counts from the first one on the stack or from the saved registers) and its shadow. */
uint32_t __quarry_variadic[Q_ARGS] __attribute__((visibility("hidden")));
q_id __quarry_returns[Q_ARGS] __attribute__((visibility("hidden")));    /* one per scalar leaf of the result */

struct q_function {
    void *address;
    uint32_t number;
    uint32_t signature;
};

/* Made by the instrumentation: the functions whose address is taken. */
extern const struct q_function __quarry_functions[] __attribute__((visibility("hidden")));
extern const uint32_t __quarry_n_functions __attribute__((visibility("hidden")));

static void *q_expected;

/* An instrumented function is about to be called directly. */
Q_INLINE void __quarry_expect(void *callee)
{
    q_expected = callee;
}

Q_COLD void q_callback(uint32_t function)
{
    for (unsigned i = 0; i < Q_ARGS; i++) {
        __quarry_args[i] = 0;
        __quarry_byval[i] = 0;
    }
    __quarry_variadic[0] = 0;
    q_log_varint(Q_EV_CALLBACK, function);
}

/* An instrumented function was entered. */
Q_INLINE void __quarry_enter(void *self, uint32_t function)
{
    if (q_likely(q_expected == self))
        q_expected = 0;
    else
        q_callback(function);
}

/* Functions by address, open addressing; built once by the server. */
#define Q_CALLEE_SLOTS 65536u
static uint32_t q_callees[Q_CALLEE_SLOTS]; /* index + 1 into __quarry_functions */
static int q_callees_ready;

static uint32_t q_callee_slot(const void *address)
{
    uint64_t key = (uintptr_t)address >> 4;
    return (uint32_t)(key * 0x9e3779b97f4a7c15u >> 48);
}

static void q_prepare_callees(void)
{
    uint32_t n = __quarry_n_functions;
    if (n > Q_CALLEE_SLOTS / 2)
        n = 0; /* too many for the table: searched one by one */
    for (uint32_t i = 0; i < n; i++) {
        uint32_t slot = q_callee_slot(__quarry_functions[i].address);
        while (q_callees[slot])
            slot = (slot + 1) % Q_CALLEE_SLOTS;
        q_callees[slot] = i + 1;
    }
    q_callees_ready = n > 0;
}

static const struct q_function *q_find_callee(const void *address)
{
    if (q_callees_ready) {
        for (uint32_t slot = q_callee_slot(address); q_callees[slot]; slot = (slot + 1) % Q_CALLEE_SLOTS)
            if (__quarry_functions[q_callees[slot] - 1].address == address)
                return &__quarry_functions[q_callees[slot] - 1];
        return 0;
    }
    for (uint32_t i = 0; i < __quarry_n_functions; i++)
        if (__quarry_functions[i].address == address)
            return &__quarry_functions[i];
    return 0;
}

/* An indirect call is about to happen; the arguments' shadows are written. Returns whether the result's shadow may be
 * believed. A callee of another type than the call gets concrete arguments: their leaves may not match. */
Q_ENTRY uint32_t __quarry_indirect(void *callee, uint32_t signature)
{
    q_expected = callee;
    if (!q_log_limit)
        return 0;
    const struct q_function *function = q_find_callee(callee);
    q_log_varint(Q_EV_CALLEE, function ? (uint64_t)function->number + 1 : 0);
    if (!function)
        return 0;
    if (function->signature == signature)
        return 1;
    for (unsigned i = 0; i < Q_ARGS; i++) {
        __quarry_args[i] = 0;
        __quarry_byval[i] = 0;
    }
    __quarry_variadic[0] = 0;
    return 0;
}

#if defined(__x86_64__)
#define Q_SAVED_REGISTERS 176u
#endif

/* A function with variable arguments was entered, of which `list` is a list: they get their shadows where they lie. Without a
 * caller that says what it passed they are concrete. */
Q_ENTRY void __quarry_receive_variadic(const void *list)
{
#if defined(__x86_64__)
    const struct {
        uint32_t offsets[2];
        uintptr_t stack, saved;
    } *arguments = list;
    uintptr_t saved = arguments->saved, stack = arguments->stack;
    __quarry_clear(saved, Q_SAVED_REGISTERS);
#else
    uintptr_t saved = 0, stack = *(const uintptr_t *)list;
#endif
    uint32_t n = __quarry_variadic[0];
    __quarry_variadic[0] = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t place = __quarry_variadic[1 + 2 * i], bytes = place & 15;
        q_id node = __quarry_variadic[2 + 2 * i];
        uintptr_t address = (place >> 31 ? stack : saved) + (place << 1 >> 5);
        if (!node) {
            __quarry_clear(address, bytes);
            continue;
        }
        uint64_t value = 0;
        for (uint32_t k = 0; k < bytes; k++)
            value |= (uint64_t)((const volatile uint8_t *)address)[k] << 8 * k;
        q_set_bytes(address, bytes, node, value);
    }
}
