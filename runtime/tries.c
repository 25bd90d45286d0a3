/* Tries: many inputs, one after another in one process, to see which of them do something new.
 *
 * New is an outcome that no run of this server had, or had about as often: counts are compared by magnitude. Before each
 * try the variables of the program are reset to their values before the first; the heap, the C library, open files and
 * thread-local variables are not, so a try gives only a hint, and the engine runs the input once more in its own process
 * before relying on it. A try that ends the process is judged by the server; a crash is new if no process crashed after
 * having done the same. */

#include <malloc.h>
#include <sys/mman.h>

extern const uint32_t __quarry_n_counter_bytes __attribute__((visibility("hidden")));

/* Made by the instrumentation: the variables of the program. */
struct q_variable {
    uint8_t *address;
    size_t size;
};
extern const struct q_variable __quarry_state[] __attribute__((visibility("hidden")));
extern const uint32_t __quarry_n_state __attribute__((visibility("hidden")));

/* Programs with more bytes of variables get a process for each try: setting them back would cost more. */
#define Q_MAX_STATE (1u << 20)
/* Bytes of path log after which a process has tried enough. */
#define Q_ENOUGH_TRIED (1u << 20)

static uint8_t *q_seen;           /* per counter the magnitudes that some run had, a bit each */
static uint8_t *q_initial_state;  /* 0: cannot be set back */
static size_t q_n_initial_state;
static struct q_try *q_tries;
static const struct q_input *q_all_inputs;

static void q_copy_bytes(uint8_t *to, const uint8_t *from, size_t n)
{
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
}

static void q_clear_counters(void)
{
    uint8_t *to = __quarry_counters;
    size_t n = __quarry_n_counter_bytes;
    __asm__ volatile("rep stosb" : "+D"(to), "+c"(n) : "a"(0) : "memory");
}

/* Counters and what was seen are shared between the server and its runs. */
static void q_prepare_tries(void)
{
    const int mode = PROT_READ | PROT_WRITE;
    void *seen = mmap(0, __quarry_n_counter_bytes, mode, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    void *counters = mmap(__quarry_counters, __quarry_n_counter_bytes, mode, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    q_seen = seen == MAP_FAILED || counters == MAP_FAILED ? 0 : seen;
    size_t n = 0;
    for (uint32_t i = 0; i < __quarry_n_state; i++)
        n += __quarry_state[i].size;
    if (n > Q_MAX_STATE)
        return;
    uint8_t *copy = mmap(0, n + 1, mode, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if ((void *)copy == MAP_FAILED)
        return;
    q_initial_state = copy;
    q_n_initial_state = n + 1;
    for (uint32_t i = 0; i < __quarry_n_state; copy += __quarry_state[i++].size)
        q_copy_bytes(copy, __quarry_state[i].address, __quarry_state[i].size);
}

static void q_set_back(void)
{
    const uint8_t *copy = q_initial_state;
    for (uint32_t i = 0; i < __quarry_n_state; copy += __quarry_state[i++].size)
        q_copy_bytes(__quarry_state[i].address, copy, __quarry_state[i].size);
}

/* 1, 2, 3, 4 to 7, 8 to 15, 16 to 31, 32 to 127, more: a bit each. */
static uint8_t q_how_often(uint8_t count)
{
    if (count < 4)
        return (uint8_t)(1u << (count - 1));
    return count < 8 ? 8 : count < 16 ? 16 : count < 32 ? 32 : count < 128 ? 64 : 128;
}

/* Whether the run did something new, which from now on is not. Of a run that was cut off only what none ever did counts: how often
 * it did the same says nothing. */
static int q_did_something_new(int is_cut_off)
{
    const uint64_t *counters = (const void *)__quarry_counters;
    int is_new = 0;
    for (uint32_t word = 0; q_seen && word < __quarry_n_counter_bytes / 8; word++) {
        uint64_t counts = counters[word];
        for (uint32_t i = 8 * word; counts; i++, counts >>= 8) {
            uint8_t magnitude = counts & 0xff ? q_how_often((uint8_t)counts) : 0;
            is_new |= is_cut_off ? magnitude && !q_seen[i] : (magnitude & ~q_seen[i]) != 0;
            q_seen[i] |= magnitude;
        }
    }
    return is_new;
}

/* What a run writes to the header, and what the runtime knows of a run without expressions, as at its start. */
static void q_begin_run(void)
{
    H.marks = 0;
    H.n_cells = 0;
    H.n_nodes = 0;
    H.log_length = 0;
    H.exit_code = 0;
    H.fault_address = 0;
    H.outside_place = 0;
    H.fresh_reason = 0;
    q_n_setjmps = 0;
    q_n_locals = 0;
    q_jumping = 0;
    q_is_trying = 0;
    q_log_limit = (size_t)H.log_capacity;
    q_clear_counters();
    H.state = Q_STATE_STARTED;
}

static int q_has_tries(void)
{
    return H.n_tried < H.n_tries && H.n_tried < Q_MAX_TRIES;
}

static void q_begin_try(void)
{
    const struct q_try *next = &q_tries[H.n_tried];
    q_inputs = q_all_inputs + next->first_input;
    H.n_inputs = next->n_inputs;
    q_begin_run();
    q_is_trying = 1;
    if (q_log_limit > Q_LONGEST_TRY)
        q_log_limit = Q_LONGEST_TRY;
}

static void q_end_try(int is_new)
{
    struct q_try *ended = &q_tries[H.n_tried % Q_MAX_TRIES];
    is_new |= !(H.marks & Q_MARK_REJECTED) && q_did_something_new((H.marks & Q_MARK_LOG_FULL) != 0);
    ended->n_logged = H.log_length < UINT32_MAX ? (uint32_t)H.log_length : UINT32_MAX;
    ended->verdict = is_new ? Q_TRY_NEW : Q_TRY_KNOWN;
    H.n_tried++;
    H.state = Q_STATE_READY;
}

/* Crashes by what was done before them, the first ones. */
#define Q_CRASHES 64u
static uint64_t q_crashes[Q_CRASHES];
static uint32_t q_n_crashes;

/* Whether no process crashed before after having done the same; asked by the server. */
static int q_is_new_crash(void)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (uint32_t i = 0; i < __quarry_n_counter_bytes; i++)
        if (__quarry_counters[i])
            hash = (hash ^ i ^ (uint64_t)q_how_often(__quarry_counters[i]) << 32) * 0x100000001b3u;
    for (uint32_t i = 0; i < q_n_crashes; i++)
        if (q_crashes[i] == hash)
            return 0;
    if (q_n_crashes == Q_CRASHES)
        return 0;
    q_crashes[q_n_crashes++] = hash;
    return 1;
}

/* A try ended the process. One that was killed took too long. */
static void q_end_process(int wait_status)
{
    int signal_number = wait_status & 0x7f;
    q_end_try(signal_number && signal_number != SIGKILL && q_is_new_crash());
}

/* Memory that a try gives back stays for the next one, but for large pieces, which are zero when they come from the system. */
static void q_keep_memory(void)
{
    mallopt(M_MMAP_THRESHOLD, 1 << 20);
    mallopt(M_TRIM_THRESHOLD, 64 << 20);
    mallopt(M_TOP_PAD, 1 << 20);
}

/* Goes on with the tries. */
static void q_try(int argc, char **argv, char **envp)
{
    q_keep_memory();
    for (uint64_t n_logged = 0; q_has_tries() && n_logged < Q_ENOUGH_TRIED;) {
        q_begin_try();
        __quarry_root(argc, argv, envp);
        n_logged += H.log_length;
        q_end_try(0);
        if (H.flags & Q_FLAG_ALONE || !q_initial_state)
            return;
        q_set_back();
    }
}
