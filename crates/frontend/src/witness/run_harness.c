/* Runs a harness natively on inputs from a file, each in a process of its own, and notes what becomes of it. On request, inputs run one
 * after another in one process, which costs a hundredth; one that does not return then runs again in a process of its own.
 *
 * It gives a harness what the runtime gives it (runtime/input.c, runtime/objects.c), without expressions: the same keys, choices and
 * sizes make the same objects. A block that the call allocated and that nothing refers to afterwards is reported as a leak,
 * found as LeakSanitizer finds it, which cannot work here: it traces the process, and that is refused. Limits: pointers in the thread-local
 * variables of libraries are not seen. */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

/* As in the runtime: what an array may have beyond what a search tries, so that an access fits. */
#define QUARRY_LARGEST 4096u

enum { RECORD = 197, OBJECTS = 4096, ALIASES = 6, FUNCTIONS = 16, BLOCKS = 1 << 16, LEAKS = 4, FRAMES = 24, MOST_SLOW = 3 };

void __quarry_harness(void);
int __sanitizer_install_malloc_and_free_hooks(void (*made)(const volatile void *, size_t),
                                              void (*freed)(const volatile void *));
size_t __asan_get_alloc_stack(void *address, void **trace, size_t size, int *thread);

/* What a call returns, so that it counts as referred to. */
unsigned char __quarry_result[256];

struct cell {
    uint64_t key, value;
};
static const struct cell *cells; /* by key */
static uint32_t n_cells;

/* Every condition of the source is marked with a call of this. */
_Bool __q(unsigned id, _Bool outcome)
{
    (void)id;
    return outcome;
}

static void note(const char *what, long number)
{
    char text[64];
    int length = snprintf(text, sizeof text, "%s\x1f%ld\x1e", what, number);
    if (write(RECORD, text, (size_t)length) != length)
        _exit(98);
}

/* The input. */

static const struct cell *find(uint64_t key)
{
    uint32_t low = 0, high = n_cells;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (cells[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low < n_cells && cells[low].key == key ? &cells[low] : NULL;
}

static uint64_t value_of(uint64_t key, uint64_t otherwise)
{
    const struct cell *cell = find(key);
    return cell ? cell->value : otherwise;
}

static uint64_t mask(unsigned bits)
{
    return bits >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << bits) - 1;
}

unsigned long long __quarry_part_key(unsigned long long object, unsigned long long index)
{
    uint64_t x = object * 0x9e3779b97f4a7c15u + (index + 1);
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return (x ^ x >> 31) | (uint64_t)1 << 63;
}

static uint64_t cell_value(uint64_t key, const void *memory, unsigned bytes, unsigned bits)
{
    uint64_t now = 0;
    for (unsigned i = 0; i < bytes; i++)
        now |= (uint64_t)((const unsigned char *)memory)[i] << 8 * i;
    return value_of(key, now) & mask(bits);
}

static void put(void *memory, unsigned bytes, uint64_t value)
{
    for (unsigned i = 0; i < bytes; i++)
        ((unsigned char *)memory)[i] = (unsigned char)(value >> 8 * i);
}

void __quarry_cell(unsigned long long key, void *memory, unsigned bytes, unsigned bits)
{
    put(memory, bytes, cell_value(key, memory, bytes, bits));
}

__attribute__((noreturn)) void __quarry_end(void);

unsigned long long __quarry_size(unsigned long long key, unsigned long long first, unsigned long long least,
                                 unsigned long long most)
{
    uint64_t value = value_of(key, first), largest = most > QUARRY_LARGEST ? most : QUARRY_LARGEST;
    return value < least ? least : value > largest ? largest : value;
}

/* Call number `number` of a sequence is made: one more than the input allows ends the run. */
void __quarry_call(unsigned long long sequence, unsigned long long number)
{
    if (number >= value_of(__quarry_part_key(sequence, -2ull), 1 << 20))
        __quarry_end();
}

unsigned __quarry_option(unsigned long long key, unsigned first, unsigned n)
{
    uint64_t option = value_of(key, first);
    return option < n ? (unsigned)option : first;
}

/* Objects. They are roots: what they refer to is not lost, nor are they. */

static struct {
    const void *address;
    uint64_t n_elements;
    unsigned type;
} objects[OBJECTS];
static unsigned n_objects;

static void *made[OBJECTS];
static unsigned n_made;

void *__quarry_new(unsigned long long count, unsigned long long size)
{
    void *memory = calloc((size_t)count, (size_t)size);
    if (n_made < OBJECTS)
        made[n_made++] = memory;
    return memory;
}

void __quarry_object(const void *address, unsigned type, unsigned long long n_elements)
{
    if (n_objects == OBJECTS)
        return;
    objects[n_objects].address = address;
    objects[n_objects].n_elements = n_elements;
    objects[n_objects++].type = type;
}

int __quarry_is_fresh(unsigned long long key, unsigned first)
{
    return value_of(key, first) == 1;
}

int __quarry_pointer(unsigned long long key, void *where, const void *fresh, unsigned type, unsigned first,
                     unsigned long long n_elements)
{
    const void *options[2 + ALIASES] = {NULL, fresh};
    unsigned n = 2;
    for (unsigned i = 0; i < n_objects && n < 2 + ALIASES; i++)
        if (objects[i].type == type)
            options[n++] = objects[i].address;
    if (*(void *const *)where)
        return 0;
    uint64_t choice = value_of(key, first);
    if (choice >= n)
        choice = 0;
    memcpy(where, &options[choice], sizeof options[choice]);
    if (choice == 1)
        __quarry_object(fresh, type, n_elements);
    return choice == 1;
}

void __quarry_function(unsigned long long key, void *where, const void *const *functions, unsigned n, unsigned first)
{
    if (*(void *const *)where)
        return;
    if (n > FUNCTIONS)
        n = FUNCTIONS;
    uint64_t choice = value_of(key, first);
    if (choice > n)
        choice = 0;
    const void *chosen = choice ? functions[choice - 1] : NULL;
    memcpy(where, &chosen, sizeof chosen);
}

void __quarry_count(unsigned long long key, void *memory, unsigned bytes, unsigned bits, const void *const *pointers,
                    unsigned n_pointers)
{
    uint64_t most = mask(bits);
    for (unsigned i = 0; i < n_pointers; i++) {
        const void *address = *(const void *const *)pointers[i];
        uint64_t n = address ? ~(uint64_t)0 : 0;
        for (unsigned at = 0; at < n_objects; at++)
            if (objects[at].address == address) {
                n = objects[at].n_elements;
                break;
            }
        if (n < most)
            most = n;
    }
    uint64_t value = cell_value(key, memory, bytes, bits);
    put(memory, bytes, value > most ? value % (most + 1) : value);
}

void __quarry_input_file(unsigned long long key, const char *name, unsigned long long most)
{
    uint64_t size = value_of(key, 0);
    if (value_of(key + 1, 0))
        return;
    int descriptor = open(name, O_CREAT | O_TRUNC | O_WRONLY, 0644);
    for (uint64_t i = 0; i < size && i < most; i++) {
        unsigned char byte = (unsigned char)value_of(__quarry_part_key(__quarry_part_key(key, i), 0), 0);
        if (write(descriptor, &byte, 1) != 1)
            break;
    }
    close(descriptor);
}

__attribute__((noreturn)) void __quarry_reject(void)
{
    note("rejected", 1);
    _exit(0);
}

__attribute__((noreturn)) void __quarry_end(void)
{
    exit(0);
}

/* Allocations that fail. The linker lets the program call these where some may. */

static uint64_t allocation_key;
static unsigned n_choices, n_allocations;

void __quarry_fail_allocations(unsigned long long key, unsigned most)
{
    allocation_key = key;
    n_choices = most;
}

static int fails(void)
{
    if (n_allocations >= n_choices || !(value_of(__quarry_part_key(allocation_key, n_allocations++), 0) & 1))
        return 0;
    errno = ENOMEM;
    return 1;
}

#ifdef QUARRY_FAILING
void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *memory, size_t size);
char *__real_strdup(const char *text);
char *__real_strndup(const char *text, size_t n);

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
    return fails() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *memory, size_t size)
{
    return fails() ? NULL : __real_realloc(memory, size);
}

char *__wrap_strdup(const char *text)
{
    return fails() ? NULL : __real_strdup(text);
}

char *__wrap_strndup(const char *text, size_t n)
{
    return fails() ? NULL : __real_strndup(text, n);
}
#else
__attribute__((unused)) static int (*const unused)(void) = fails;
#endif

/* Leaks. The list of blocks is where the search for references does not look. */

static struct block {
    uintptr_t start;
    size_t size;
    int is_known;
} *blocks;
static uint32_t n_blocks;
static int is_calling;

static void block_made(const volatile void *address, size_t size)
{
    if (is_calling && address && n_blocks < BLOCKS)
        blocks[n_blocks++] = (struct block){(uintptr_t)address, size ? size : 1, 0};
}

static void block_freed(const volatile void *address)
{
    if (!is_calling || !address)
        return;
    for (uint32_t i = n_blocks; i-- > 0;)
        if (blocks[i].start == (uintptr_t)address) {
            blocks[i] = blocks[--n_blocks];
            return;
        }
}

/* The range that has all blocks: most values are outside of it. */
static uintptr_t lowest, span;

static void note_range(void)
{
    uintptr_t highest = 0;
    lowest = UINTPTR_MAX;
    for (uint32_t i = 0; i < n_blocks; i++) {
        uintptr_t end = blocks[i].start + blocks[i].size;
        lowest = blocks[i].start < lowest ? blocks[i].start : lowest;
        highest = end > highest ? end : highest;
    }
    span = highest - lowest;
}

__attribute__((no_sanitize("address", "undefined"))) static void look_at(uintptr_t start, uintptr_t end)
{
    for (start = (start + sizeof(void *) - 1) & -sizeof(void *); start + sizeof(void *) <= end; start += sizeof(void *)) {
        uintptr_t value = *(const volatile uintptr_t *)start;
        if (value - lowest >= span)
            continue;
        for (uint32_t i = 0; i < n_blocks; i++)
            if (!blocks[i].is_known && value - blocks[i].start < blocks[i].size) {
                blocks[i].is_known = 1;
                look_at(blocks[i].start, blocks[i].start + blocks[i].size);
            }
    }
}

/* Memory that begins as zeros: pages that nobody wrote to, as the kernel tells, have no reference, and the run-time part of the
   sanitizers has megabytes of them. */
static void look_at_zeroed(uintptr_t start, uintptr_t end)
{
    enum { AT_A_TIME = 512 };
    uint64_t pages[AT_A_TIME], was_written = UINT64_C(3) << 62;
    uintptr_t size = (uintptr_t)sysconf(_SC_PAGESIZE);
    int map = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    while (start < end) {
        uintptr_t first = start / size, n = (end - 1) / size - first + 1;
        n = n < AT_A_TIME ? n : AT_A_TIME;
        ssize_t n_read = map < 0 ? 0 : pread(map, pages, n * sizeof *pages, (off_t)(first * sizeof *pages));
        for (uintptr_t i = 0; i < n; i++) {
            uintptr_t next = (first + i + 1) * size;
            if (n_read != (ssize_t)(n * sizeof *pages) || pages[i] & was_written)
                look_at(start, next < end ? next : end);
            start = next;
        }
    }
    if (map >= 0)
        close(map);
}

static int look_at_module(struct dl_phdr_info *module, size_t size, void *first)
{
    (void)size;
    for (int i = 0; i < module->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &module->dlpi_phdr[i];
        uintptr_t start = module->dlpi_addr + part->p_vaddr;
        if (part->p_type == PT_LOAD && part->p_flags & PF_W) {
            look_at(start, start + part->p_filesz);
            look_at_zeroed(start + part->p_filesz, start + part->p_memsz);
        }
        if (part->p_type == PT_TLS && *(int *)first)
            look_at((uintptr_t)pthread_self() - part->p_memsz - part->p_align, (uintptr_t)pthread_self());
    }
    *(int *)first = 0;
    return 0;
}

static int own_base(struct dl_phdr_info *module, size_t size, void *base)
{
    (void)size;
    *(uintptr_t *)base = module->dlpi_addr;
    return 1;
}

static void report_leaks(void)
{
    int first = 1, n_told = 0;
    uintptr_t base = 0;
    is_calling = 0;
    if (n_blocks == 0)
        return;
    note_range();
    dl_iterate_phdr(own_base, &base);
    dl_iterate_phdr(look_at_module, &first);
    for (uint32_t i = 0; i < n_blocks && n_told < LEAKS; i++) {
        if (blocks[i].is_known)
            continue;
        void *trace[FRAMES];
        int thread;
        size_t n_frames = __asan_get_alloc_stack((void *)blocks[i].start, trace, FRAMES, &thread);
        dprintf(RECORD, "address\x1f" "ERROR: AddressSanitizer: memory-leak of %zu bytes\n", blocks[i].size);
        for (size_t frame = 0; frame < n_frames; frame++)
            dprintf(RECORD, "#%zu 0x0 (/proc/self/exe+0x%zx)\n", frame, (size_t)((uintptr_t)trace[frame] - base));
        dprintf(RECORD, "\x1e");
        n_told++;
    }
}

/* Main. */

static void watch_blocks(void)
{
    blocks = mmap(NULL, BLOCKS * sizeof *blocks, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (blocks != MAP_FAILED)
        __sanitizer_install_malloc_and_free_hooks(block_made, block_freed);
}

static void run(long milliseconds)
{
    struct itimerval timer = {{0, 0}, {milliseconds / 1000, milliseconds % 1000 * 1000}};
    if (milliseconds > 0)
        setitimer(ITIMER_REAL, &timer, NULL);
    is_calling = blocks != MAP_FAILED;
    __quarry_harness();
    note("returned", 1);
    fflush(stdout);
    report_leaks();
}

static void run_alone(long milliseconds)
{
    watch_blocks();
    run(milliseconds);
    exit(0);
}

/* The next input of a file; nothing behind the last. */
static const char *take_input(const char *at)
{
    uint64_t n;
    memcpy(&n, at, sizeof n);
    cells = (const struct cell *)(at + sizeof n);
    n_cells = (uint32_t)n;
    return (const char *)(cells + n);
}

/* How far the inputs of a process of several have come. */
static struct progress {
    const char *at; /* the input that runs */
    int number;
} *progress;

static void run_together(const char *end, long milliseconds)
{
    watch_blocks();
    while (progress->at < end) {
        note("test", progress->number);
        const char *next = take_input(progress->at);
        n_objects = n_made = n_choices = n_allocations = n_blocks = 0;
        run(milliseconds);
        note("ended", 0);
        progress->number++;
        progress->at = next;
    }
    _exit(0);
}

static int run_in_turns(const char *at, const char *end, long milliseconds)
{
    progress = mmap(NULL, sizeof *progress, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (progress == MAP_FAILED)
        return 2;
    *progress = (struct progress){at, 1};
    /* a function that often takes long would take all the time */
    for (int n_slow = 0; progress->at < end && n_slow < MOST_SLOW;) {
        int status = 0;
        pid_t child = fork();
        if (child == 0)
            run_together(end, milliseconds);
        if (child < 0 || waitpid(child, &status, 0) != child)
            return 3;
        if (progress->at >= end)
            break;
        const char *next = take_input(progress->at);
        if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGALRM) {
            /* what came before may be the reason */
            note("test", progress->number);
            child = fork();
            if (child == 0)
                run_alone(milliseconds);
            if (child < 0 || waitpid(child, &status, 0) != child)
                return 3;
        }
        note("ended", status);
        n_slow += WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM;
        progress->number++;
        progress->at = next;
    }
    return 0;
}

int main(int argc, char **argv)
{
    int descriptor = argc > 1 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;
    off_t size = descriptor < 0 ? 0 : lseek(descriptor, 0, SEEK_END);
    const char *at = size > 0 ? mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, descriptor, 0) : MAP_FAILED;
    if (at == MAP_FAILED)
        return 2;
    unlink(argv[1]);
    const char *end = at + size;
    long milliseconds = argc > 2 ? atol(argv[2]) : 0;
    if (argc > 3)
        return run_in_turns(at, end, milliseconds);
    for (int number = 1; at < end; number++) {
        at = take_input(at);
        int status = 0;
        note("test", number);
        pid_t child = fork();
        if (child == 0)
            run_alone(milliseconds);
        if (child < 0 || waitpid(child, &status, 0) != child)
            return 3;
        note("ended", status);
    }
    return 0;
}
