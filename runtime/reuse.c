/* Runs one after another in one process, each of which finds the memory that the first one found.
 *
 * When the process starts, all memory that it can write to is copied: variables of the program, of the runtime and of the
 * libraries, thread-local ones, the heap, what lies on the stack above the first frame of a run. After each run the copies
 * are written back, the stack below is zero again, and shadow, heap and mappings shrink to what they were; so whatever the
 * C library remembers in memory (strtok, rand, stdio, malloc, atexit, a locale) is set back with it. What is not in memory
 * cannot be set back, and a filter lets through only system calls that leave nothing behind. Files that are opened for reading are
 * closed after the run, closed standard streams are brought back, and so are handlers of signals. At any other call the run is
 * given up: the process ends, says why, and the run is repeated in a process of its own. exit_group is caught as well and
 * ends the run, not the process. What a whole program is given is made anew for each run (program.c). Limit: memory beyond Q_MAX_COPIED bytes would cost more to copy than a fork. */

#include <fcntl.h>
#include <time.h>

#define Q_MAX_COPIED (2u << 20)
#define Q_REGIONS 96u
#define Q_MAPPINGS 64u
/* Bytes below the first frame of a run that are cleared by writing; beyond, pages are given back. */
#define Q_CLEARED_STACK (32u << 10)
/* Shadow pages that are cleared by writing. */
#define Q_CLEARED_PAGES 1024u
/* After so many runs the limit of processor time, which counts for a whole process, is moved. */
#define Q_RUNS_PER_LIMIT 32u

#if defined(__x86_64__)
#define Q_COPY_ADDRESS ((void *)0x18000000000)
#else
#define Q_COPY_ADDRESS ((void *)0x4f000000)
#endif

struct q_region {
    uintptr_t start;
    size_t size;
};

/* What the kernel takes for rt_sigaction, at most. */
struct q_action {
    uint8_t bytes[32];
};

static struct {
    int is_on;
    uint8_t *copies; /* of the regions, one after the other */
    size_t n_copied;
    struct q_region regions[Q_REGIONS];
    uint32_t n_regions;
    struct q_region mappings[Q_MAPPINGS]; /* made by the run */
    uint32_t n_mappings;
    uintptr_t heap_end;
    uint64_t signal_mask;
    uint32_t n_runs;
    uint64_t opened;        /* descriptors that the run has opened for reading */
    uint32_t closed;        /* standard streams that it has closed, */
    int streams[3];         /* and what they are */
    uint64_t handled;       /* signals that it has set a handler for, by number less one */
    struct q_action actions[64]; /* and what the kernel knew before */
    int is_for_tries;
    uint64_t n_logged; /* by its tries */
} q_reuse;

/* Where a run begins: the same place in every process. */
static uintptr_t q_first_frame;
static int q_argc;
static char **q_argv, **q_envp;

/* The instruction by whose address the filter of reused processes knows the runtime's own system calls. */
static uintptr_t q_own_instruction;

/* A system call that this filter lets through. Neither inlined nor cloned: there is one such instruction. */
static __attribute__((noinline, optnone)) long q_own_call(long number, long a, long b, long c, long d, long e, long f)
{
    long call[] = {number, a, b, c, d, e, f}, result;
#if defined(__x86_64__)
    __asm__ volatile("leaq 1f(%%rip), %%rcx\n\tmovq %%rcx, %1\n\t"
                     "movq 8(%%rax), %%rdi\n\tmovq 16(%%rax), %%rsi\n\tmovq 24(%%rax), %%rdx\n\tmovq 32(%%rax), %%r10\n\t"
                     "movq 40(%%rax), %%r8\n\tmovq 48(%%rax), %%r9\n\tmovq (%%rax), %%rax\n\tsyscall\n1:"
                     : "=a"(result), "=m"(q_own_instruction)
                     : "a"(call)
                     : "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory");
#else
    __asm__ volatile("movl $1f, %1\n\tpushl %%ebx\n\tpushl %%ebp\n\tmovl 4(%%eax), %%ebx\n\tmovl 8(%%eax), %%ecx\n\t"
                     "movl 12(%%eax), %%edx\n\tmovl 16(%%eax), %%esi\n\tmovl 20(%%eax), %%edi\n\tmovl 24(%%eax), %%ebp\n\t"
                     "movl (%%eax), %%eax\n\tint $0x80\n1:\tpopl %%ebp\n\tpopl %%ebx"
                     : "=a"(result), "=m"(q_own_instruction)
                     : "a"(call)
                     : "ecx", "edx", "esi", "edi", "memory");
#endif
    return result;
}

static void q_zero(uintptr_t start, size_t n)
{
    void *to = (void *)start;
    __asm__ volatile("rep stosb" : "+D"(to), "+c"(n) : "a"(0) : "memory");
}

/* The run cannot go on in this process. */
static __attribute__((noreturn)) void q_give_up(uint32_t reason, uint32_t detail)
{
    H.fresh_reason = reason;
    H.fresh_detail = detail;
    for (;;)
        q_own_call(SYS_exit_group, 0, 0, 0, 0, 0, 0);
}

/* Where libc lets the kernel write on which processor the thread runs. The kernel ends a process that writes there itself. */
extern const ptrdiff_t __rseq_offset __attribute__((weak));

/* Tables that are set back otherwise, or that no run changes, or whose contents count only as far as a counter says. */
static uint32_t q_kept_tables(struct q_region *tables)
{
#define Q_TABLE_OF(object) tables[n++] = (struct q_region){(uintptr_t)&(object), sizeof(object)}
    uint32_t n = 0;
    Q_TABLE_OF(q_reuse);
    Q_TABLE_OF(q_flags);
    Q_TABLE_OF(q_slots);
    Q_TABLE_OF(q_shadowed);
    Q_TABLE_OF(q_globals);
    Q_TABLE_OF(q_callees);
    Q_TABLE_OF(q_locals);
    Q_TABLE_OF(q_journal);
    Q_TABLE_OF(q_block_lists);
    Q_TABLE_OF(q_objects);
    Q_TABLE_OF(q_entries);
    Q_TABLE_OF(q_signal_stack);
#undef Q_TABLE_OF
    tables[n++] = (struct q_region){(uintptr_t)q_shadow, (size_t)q_shadow_capacity * Q_PAGE_SIZE * sizeof *q_shadow};
    tables[n++] = (struct q_region){(uintptr_t)q_reuse.copies, Q_MAX_COPIED};
    if (&__rseq_offset)
        tables[n++] = (struct q_region){(uintptr_t)((char *)__builtin_thread_pointer() + __rseq_offset), 32};
    tables[n++] = (struct q_region){(uintptr_t)q_initial_state, q_initial_state ? q_n_initial_state : 0};
    return n;
}
#define Q_KEPT_TABLES 20u

/* What is shared with the server and the engine by design. */
static int q_is_shared_by_design(uintptr_t start)
{
    return start == (uintptr_t)&q_shared || start == (uintptr_t)q_tries - Q_TRY_OFFSET || start == (uintptr_t)q_seen ||
           start == (uintptr_t)__quarry_counters;
}

static void q_add_region(uintptr_t start, uintptr_t end, const struct q_region *kept, uint32_t n_kept)
{
    for (uint32_t i = 0; i < n_kept; i++) {
        uintptr_t from = kept[i].start, to = from + kept[i].size;
        if (to <= start || from >= end || from == to)
            continue;
        if (start < from)
            q_add_region(start, from, kept, n_kept);
        if (to < end)
            q_add_region(to, end, kept, n_kept);
        return;
    }
    if (q_reuse.n_regions == Q_REGIONS)
        q_give_up(Q_FRESH_REGIONS, Q_REGIONS);
    q_reuse.regions[q_reuse.n_regions++] = (struct q_region){start, end - start};
    q_reuse.n_copied += end - start;
}

static const char *q_hexadecimal(const char *text, uintptr_t *number)
{
    for (*number = 0;; text++) {
        if (*text >= '0' && *text <= '9')
            *number = *number << 4 | (uintptr_t)(*text - '0');
        else if (*text >= 'a' && *text <= 'f')
            *number = *number << 4 | (uintptr_t)(*text - 'a' + 10);
        else
            return text;
    }
}

/* A line of /proc/self/maps: `start-end rwxp ...`. */
static void q_read_mapping(const char *line, const struct q_region *kept, uint32_t n_kept)
{
    uintptr_t start, end;
    const char *mode = q_hexadecimal(q_hexadecimal(line, &start) + 1, &end) + 1;
    if (mode[1] != 'w')
        return;
    if (mode[3] == 's') {
        if (!q_is_shared_by_design(start))
            q_give_up(Q_FRESH_SHARED, 0);
        return;
    }
    if (start <= q_first_frame && q_first_frame < end)
        start = q_first_frame; /* the stack */
    q_add_region(start, end, kept, n_kept);
}

/* Finds all memory that can be written to. The text goes where the copies will be. */
static void q_find_regions(void)
{
    struct q_region kept[Q_KEPT_TABLES];
    uint32_t n_kept = q_kept_tables(kept);
    char *text = (char *)q_reuse.copies;
    size_t length = 0;
    long now, fd = syscall(SYS_openat, -100 /* AT_FDCWD */, "/proc/self/maps", 0, 0);
    while (fd >= 0 && length < Q_MAX_COPIED - 1 &&
           (now = syscall(SYS_read, fd, text + length, Q_MAX_COPIED - 1 - length)) > 0)
        length += (size_t)now;
    syscall(SYS_close, fd);
    if (!length)
        q_give_up(Q_FRESH_REGIONS, 0);
    text[length] = 0;
    for (const char *line = text; *line;) {
        q_read_mapping(line, kept, n_kept);
        while (*line && *line != '\n')
            line++;
        line += *line == '\n';
    }
    if (q_reuse.n_copied > Q_MAX_COPIED)
        q_give_up(Q_FRESH_TOO_LARGE, (uint32_t)(q_reuse.n_copied >> 10));
}

#define Q_ALLOW BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define Q_PERMIT(name) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1), Q_ALLOW
/* With a low word of the argument of at most `most`. */
#define Q_PERMIT_UP_TO(name, argument, most)                                                                           \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 4), Q_LOAD(args[argument]),                                     \
        BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, (most), 1, 0), Q_ALLOW, Q_CATCH
#define Q_CATCH BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP)

/* Lets through what leaves nothing behind; everything else arrives at q_on_call. What the server's filter refuses stays
 * refused. */
static void q_catch_calls(void)
{
    q_own_call(SYS_getpid, 0, 0, 0, 0, 0, 0);
    uint64_t own = q_own_instruction;
    struct sock_filter filter[] = {
        Q_LOAD(instruction_pointer),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)own, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, instruction_pointer) + 4),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(own >> 32), 0, 1),
        Q_ALLOW,
        Q_LOAD(nr),
        Q_PERMIT(brk),
        Q_PERMIT_UP_TO(write, 0, 2),
        Q_PERMIT_UP_TO(writev, 0, 2),
        Q_PERMIT_UP_TO(read, 0, 0),
        Q_PERMIT_UP_TO(lseek, 0, 2),
        Q_PERMIT_UP_TO(fstat, 0, 2),
#if defined(__i386__)
        Q_PERMIT_UP_TO(_llseek, 0, 2),
        Q_PERMIT_UP_TO(fstat64, 0, 2),
        Q_PERMIT(fstatat64),
        Q_PERMIT(clock_gettime64),
#else
        Q_PERMIT(newfstatat),
#endif
        Q_PERMIT(statx),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ioctl, 0, 4),
        Q_LOAD(args[1]),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x5401 /* TCGETS */, 0, 1),
        Q_ALLOW,
        Q_CATCH,
        Q_PERMIT(mincore),
        Q_PERMIT(clock_gettime),
        Q_PERMIT(gettimeofday),
        Q_PERMIT(time),
        Q_PERMIT(getrandom),
        Q_PERMIT(getpid),
        Q_PERMIT(gettid),
        Q_PERMIT(getuid),
        Q_PERMIT(geteuid),
        Q_PERMIT(getcwd),
        Q_PERMIT(uname),
        Q_PERMIT(getrusage),
        Q_PERMIT(times),
        Q_PERMIT(nanosleep),
        Q_PERMIT(clock_nanosleep),
        Q_PERMIT(sched_yield),
        Q_PERMIT(rt_sigprocmask),
        Q_PERMIT(rt_sigreturn),
        Q_PERMIT(kill),
        Q_PERMIT(tgkill),
        Q_CATCH,
    };
    struct sock_fprog program = {sizeof filter / sizeof filter[0], filter};
    if (syscall(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) != 0)
        q_give_up(Q_FRESH_KERNEL, 0);
}

/* The kind of thing that a system call does. */
static uint32_t q_reason_of_call(long number)
{
    switch (number) {
    case SYS_open:
    case SYS_openat:
    case SYS_creat:
    case SYS_close:
    case SYS_read:
    case SYS_write:
    case SYS_writev:
    case SYS_lseek:
    case SYS_dup:
    case SYS_dup2:
    case SYS_fcntl:
    case SYS_pipe:
    case SYS_pipe2:
    case SYS_mkdir:
    case SYS_unlink:
    case SYS_unlinkat:
    case SYS_rename:
    case SYS_chdir:
    case SYS_memfd_create:
        return Q_FRESH_FILE;
    case SYS_rt_sigaction:
    case SYS_sigaltstack:
    case SYS_alarm:
    case SYS_setitimer:
    case SYS_timer_create:
    case SYS_pause:
        return Q_FRESH_SIGNAL;
    case SYS_clone:
    case SYS_clone3:
    case SYS_fork:
    case SYS_vfork:
    case SYS_execve:
    case SYS_wait4:
    case SYS_futex:
        return Q_FRESH_THREAD;
    case SYS_mmap:
#if defined(__i386__)
    case SYS_mmap2:
#endif
    case SYS_munmap:
    case SYS_mremap:
    case SYS_mprotect:
    case SYS_madvise:
        return Q_FRESH_MAPPING;
    default:
        return Q_FRESH_CALL;
    }
}

struct q_call {
    long number, arguments[6];
};

static struct q_call q_caught_call(const ucontext_t *context)
{
    const greg_t *registers = context->uc_mcontext.gregs;
#if defined(__x86_64__)
    return (struct q_call){registers[REG_RAX],
                           {registers[REG_RDI], registers[REG_RSI], registers[REG_RDX], registers[REG_R10],
                            registers[REG_R8], registers[REG_R9]}};
#else
    return (struct q_call){registers[REG_EAX],
                           {registers[REG_EBX], registers[REG_ECX], registers[REG_EDX], registers[REG_ESI],
                            registers[REG_EDI], registers[REG_EBP]}};
#endif
}

static long q_make_call(const struct q_call *call)
{
    const long *a = call->arguments;
    return q_own_call(call->number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* Descriptors that are looked after. */
#define Q_DESCRIPTORS 64

static int q_is_opened(long descriptor)
{
    return descriptor >= 0 && descriptor < Q_DESCRIPTORS && q_reuse.opened >> descriptor & 1;
}

/* mmap of memory of its own, or of a file that the run has opened, is done and remembered. */
static long q_map_for_run(const struct q_call *call)
{
    const long unwanted = MAP_FIXED | MAP_FIXED_NOREPLACE | MAP_GROWSDOWN;
    long protection = call->arguments[2], flags = call->arguments[3];
    int is_of_file = !(flags & MAP_ANONYMOUS) && q_is_opened((int)call->arguments[4]);
    int is_own = flags & MAP_PRIVATE && (flags & MAP_ANONYMOUS || is_of_file);
    /* what cannot be written to is not shared with anybody, whatever it says */
    int is_read = is_of_file && !(protection & PROT_WRITE);
    if (!(is_own || is_read) || flags & unwanted || q_reuse.n_mappings == Q_MAPPINGS)
        q_give_up(Q_FRESH_MAPPING, (uint32_t)call->number);
    long memory = q_make_call(call);
    if ((unsigned long)memory < (unsigned long)-4096)
        q_reuse.mappings[q_reuse.n_mappings++] = (struct q_region){(uintptr_t)memory, (size_t)call->arguments[1]};
    return memory;
}

/* munmap of all of such memory. */
static long q_unmap_for_run(const struct q_call *call)
{
    const size_t page = Q_PAGE_SIZE - 1;
    for (uint32_t i = 0; i < q_reuse.n_mappings; i++) {
        struct q_region *mapping = &q_reuse.mappings[i];
        if (mapping->start != (uintptr_t)call->arguments[0] ||
            (mapping->size + page) / Q_PAGE_SIZE != ((size_t)call->arguments[1] + page) / Q_PAGE_SIZE)
            continue;
        *mapping = q_reuse.mappings[--q_reuse.n_mappings];
        return q_make_call(call);
    }
    q_give_up(Q_FRESH_MAPPING, (uint32_t)call->number);
}

/* A file that is opened for reading, by its flags. */
static long q_open_for_run(const struct q_call *call, long flags)
{
    if (flags & (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND))
        q_give_up(Q_FRESH_FILE, (uint32_t)call->number);
    long descriptor = q_make_call(call);
    if (descriptor >= (long)Q_DESCRIPTORS)
        q_give_up(Q_FRESH_FILE, (uint32_t)call->number);
    if (descriptor >= 0)
        q_reuse.opened |= (uint64_t)1 << descriptor;
    return descriptor;
}

static long q_close_for_run(const struct q_call *call)
{
    long descriptor = call->arguments[0];
    if (q_is_opened(descriptor))
        q_reuse.opened &= ~((uint64_t)1 << descriptor);
    else if (descriptor >= 0 && descriptor <= 2)
        q_reuse.closed |= 1u << descriptor;
    else if (descriptor >= 0)
        q_give_up(Q_FRESH_FILE, (uint32_t)call->number);
    return q_make_call(call);
}

/* Reading, moving and asking, in a file that the run has opened. */
static long q_use_for_run(const struct q_call *call)
{
    if (!q_is_opened(call->arguments[0]))
        q_give_up(Q_FRESH_FILE, (uint32_t)call->number);
    return q_make_call(call);
}

/* A handler, but for the signal by which calls are caught. */
static long q_handle_for_run(const struct q_call *call)
{
    long number = call->arguments[0], size = call->arguments[3];
    if (number == SIGSYS || number < 1 || number > 64 || size != 8)
        q_give_up(Q_FRESH_SIGNAL, (uint32_t)call->number);
    if (call->arguments[1] && !(q_reuse.handled >> (number - 1) & 1)) {
        q_own_call(SYS_rt_sigaction, number, 0, (long)&q_reuse.actions[number - 1], size, 0, 0);
        q_reuse.handled |= (uint64_t)1 << (number - 1);
    }
    return q_make_call(call);
}

static void q_set_kernel_back(void)
{
    for (int i = 0; q_reuse.opened; q_reuse.opened >>= 1, i++)
        if (q_reuse.opened & 1)
            q_own_call(SYS_close, i, 0, 0, 0, 0, 0);
    for (int i = 0; q_reuse.closed; q_reuse.closed >>= 1, i++)
        if (q_reuse.closed & 1)
            q_own_call(SYS_dup2, q_reuse.streams[i], i, 0, 0, 0, 0);
    for (int i = 0; q_reuse.handled; q_reuse.handled >>= 1, i++)
        if (q_reuse.handled & 1)
            q_own_call(SYS_rt_sigaction, i + 1, (long)&q_reuse.actions[i], 0, 8, 0, 0);
}

static void q_set_memory_back(void)
{
    q_set_kernel_back();
    while (q_reuse.n_mappings) {
        const struct q_region *mapping = &q_reuse.mappings[--q_reuse.n_mappings];
        q_own_call(SYS_munmap, (long)mapping->start, (long)mapping->size, 0, 0, 0, 0);
    }
    q_own_call(SYS_brk, (long)q_reuse.heap_end, 0, 0, 0, 0, 0);
    q_forget_shadow(Q_CLEARED_PAGES);
    const uint8_t *copy = q_reuse.copies;
    for (uint32_t i = 0; i < q_reuse.n_regions; copy += q_reuse.regions[i++].size)
        q_copy_bytes((uint8_t *)q_reuse.regions[i].start, copy, q_reuse.regions[i].size);
    q_own_call(SYS_rt_sigprocmask, SIG_SETMASK, (long)&q_reuse.signal_mask, 0, sizeof q_reuse.signal_mask, 0, 0);
}

static void q_move_processor_limit(void)
{
    struct {
        uint64_t soft, hard;
    } limit = {0, ~(uint64_t)0};
    struct timespec used = {0, 0};
    if (!H.cpu_limit_ms || q_reuse.n_runs++ % Q_RUNS_PER_LIMIT)
        return;
    q_own_call(SYS_clock_gettime, CLOCK_PROCESS_CPUTIME_ID, (long)&used, 0, 0, 0, 0);
    limit.soft = (uint64_t)used.tv_sec + Q_RUNS_PER_LIMIT * ((H.cpu_limit_ms + 999) / 1000);
    q_own_call(SYS_prlimit64, 0, RLIMIT_CPU, (long)&limit, 0, 0, 0);
}

/* Runs the program from the first frame on, and does not come back. Memory below that frame is zero. */
static __attribute__((noreturn, used, noinline)) void q_run(void)
{
    errno = 0;
    uintptr_t lowest = (q_stack_top - (uintptr_t)q_stack_size) & ~(Q_PAGE_SIZE - 1), here, kept;
#if defined(__x86_64__)
    __asm__ volatile("movq %%rsp, %0" : "=r"(here));
#else
    __asm__ volatile("movl %%esp, %0" : "=r"(here));
#endif
    kept = q_reuse.is_on ? here - Q_CLEARED_STACK : here;
    kept &= ~(Q_PAGE_SIZE - 1);
    q_own_call(SYS_madvise, (long)lowest, (long)(kept - lowest), MADV_DONTNEED, 0, 0, 0);
    {
        void *to = (void *)kept;
        size_t n = here - kept;
        __asm__ volatile("rep stosb" : "+D"(to), "+c"(n) : "a"(0) : "memory");
    }
    int code = __quarry_root(q_argc, q_argv, q_envp);
    if (H.state == Q_STATE_STARTED) {
        H.exit_code = code;
        H.state = Q_STATE_RETURNED;
    }
    exit(code);
}

static __attribute__((noreturn)) void q_enter_run(void)
{
#if defined(__x86_64__)
    __asm__ volatile("movq %0, %%rsp\n\tcall *%1" : : "r"(q_first_frame), "r"(q_run) : "memory");
#else
    __asm__ volatile("movl %0, %%esp\n\tcall *%1" : : "r"(q_first_frame), "r"(q_run) : "memory");
#endif
    __builtin_unreachable();
}

static __attribute__((noreturn)) void q_next_try(void)
{
    q_reuse.n_logged += H.log_length;
    q_end_try(0);
    if (!q_has_tries() || q_reuse.n_logged >= Q_ENOUGH_TRIED)
        q_give_up(0, 0);
    q_set_memory_back();
    q_begin_try();
    q_enter_run();
}

/* The run is over: says so, sets memory back while the engine reads what the run left, and waits for the next. */
static __attribute__((noreturn)) void q_wait_for_run(int code)
{
    struct q_ended ended = {Q_ENDED_ALIVE | (code & 0xff) << 8};
    uint8_t command;
    q_did_something_new(0);
    q_own_call(SYS_write, Q_REPLY_FD, (long)&ended, sizeof ended, 0, 0, 0);
    q_set_memory_back();
    long n;
    do
        n = q_own_call(SYS_read, Q_AGAIN_FD, (long)&command, 1, 0, 0, 0);
    while (n == -EINTR);
    if (n != 1)
        q_give_up(0, 0);
    q_move_processor_limit();
    q_begin_run();
    q_enter_run();
}

static void q_on_call(int number, siginfo_t *info, void *context)
{
    struct q_call call = q_caught_call(context);
    long result;
    if (info->si_code != 1 /* SYS_SECCOMP: a call was caught */) {
        signal(number, SIG_DFL);
        raise(number);
        return;
    }
    switch (call.number) {
    case SYS_exit_group:
        if (q_reuse.is_for_tries)
            q_next_try();
        q_wait_for_run((int)call.arguments[0]);
#if defined(__i386__)
    case SYS_mmap2:
#else
    case SYS_mmap:
#endif
        result = q_map_for_run(&call);
        break;
    case SYS_munmap:
        result = q_unmap_for_run(&call);
        break;
    case SYS_open:
        result = q_open_for_run(&call, call.arguments[1]);
        break;
    case SYS_openat:
        result = q_open_for_run(&call, call.arguments[2]);
        break;
    case SYS_close:
        result = q_close_for_run(&call);
        break;
#if defined(__i386__)
    case SYS__llseek:
    case SYS_fstat64:
#endif
    case SYS_read:
    case SYS_lseek:
    case SYS_fstat:
        result = q_use_for_run(&call);
        break;
    case SYS_rt_sigaction:
        result = q_handle_for_run(&call);
        break;
    default:
        q_give_up(q_reason_of_call(call.number), (uint32_t)call.number);
    }
#if defined(__x86_64__)
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_RAX] = result;
#else
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_EAX] = result;
#endif
}

extern void *__libc_malloc(size_t) __attribute__((weak));
extern void __libc_free(void *) __attribute__((weak));

/* Done once by the server, so that every process has the same addresses. The heap is there before the first run: making
 * and removing it for each costs more than copying it. */
static void q_prepare_reuse(void)
{
    void *copies = mmap(Q_COPY_ADDRESS, Q_MAX_COPIED, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    q_reuse.copies = copies == MAP_FAILED ? 0 : copies;
    if (__libc_malloc && __libc_free)
        __libc_free(__libc_malloc(1));
}

/* This process is to run again and again. */
static __attribute__((noinline)) void q_start_reuse(void)
{
    struct sigaction action = {.sa_sigaction = q_on_call, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    if (!q_reuse.copies)
        q_give_up(Q_FRESH_KERNEL, 0);
    for (int i = 0; i < 3; i++)
        q_reuse.streams[i] = (int)syscall(SYS_fcntl, i, F_DUPFD, (int)Q_DESCRIPTORS);
    q_reuse.heap_end = (uintptr_t)syscall(SYS_brk, 0);
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, 0, &q_reuse.signal_mask, sizeof q_reuse.signal_mask);
    sigaction(SIGSYS, &action, 0);
    errno = 0;
    q_find_regions();
    q_catch_calls();
    q_reuse.is_on = 1;
    uint8_t *copy = q_reuse.copies;
    for (uint32_t i = 0; i < q_reuse.n_regions; copy += q_reuse.regions[i++].size)
        q_copy_bytes(copy, (const uint8_t *)q_reuse.regions[i].start, q_reuse.regions[i].size);
}

/* Tries of a whole program, one after another in this process. */
static void q_try_in_turn(void)
{
    q_keep_memory();
    q_start_reuse();
    q_reuse.is_for_tries = 1;
    q_begin_try();
    q_enter_run();
}
