/* What a run may not do, and how its end is classified: limits, a system call filter, a handler for faults. */

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#if defined(__x86_64__)
#define Q_AUDIT_ARCH AUDIT_ARCH_X86_64
#elif defined(__i386__)
#define Q_AUDIT_ARCH AUDIT_ARCH_I386
#else
#error "the sandbox knows x86-64 and i386"
#endif

/* In an argument the kernel ignores: by it the filter knows the runtime's own calls. */
#define Q_COOKIE 0x51a77e15u
#if defined(__x86_64__)
#define Q_CLONE_COOKIE 4 /* tls, unused without CLONE_SETTLS */
#else
#define Q_CLONE_COOKIE 3
#endif

#define Q_REFUSE BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)
#define Q_LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define Q_DENY(name) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1), Q_REFUSE
/* Denied unless the low word of an argument is `value`. */
#define Q_DENY_UNLESS(name, argument, value)                                                                           \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 4), Q_LOAD(args[argument]),                                     \
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW), Q_REFUSE
/* Denied if the low word of the first argument is one of two. */
#define Q_DENY_BOTH(name, one, other)                                                                                  \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 5), Q_LOAD(args[0]),                                            \
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (one), 2, 0), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (other), 1, 0),          \
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW), Q_REFUSE

/* No network, no other process or thread, no signals to others, no new mounts. Where it may write is decided before it
 * starts; everything else a program does is its own affair.
 * Installed once in the server, because installing costs more than a fork; so it cannot know the pid of a run: signals
 * go through the functions below, and what libc sends itself (abort, raise) must not reach server or engine. */
static void q_filter_calls(void)
{
    uint32_t server = (uint32_t)syscall(SYS_getpid), engine = (uint32_t)syscall(SYS_getppid);
    struct sock_filter filter[] = {
        Q_LOAD(arch),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, Q_AUDIT_ARCH, 1, 0),
        Q_REFUSE,
        Q_LOAD(nr),
        Q_DENY_UNLESS(clone, Q_CLONE_COOKIE, Q_COOKIE),
        Q_DENY(clone3),
        Q_DENY(fork),
        Q_DENY(vfork),
        Q_DENY(execve),
        Q_DENY(execveat),
        Q_DENY(ptrace),
        Q_DENY(process_vm_writev),
#if defined(__i386__)
        Q_DENY(socketcall),
#endif
        Q_DENY(socket),
        Q_DENY(io_uring_setup),
        Q_DENY(unshare),
        Q_DENY(setns),
        Q_DENY(mount),
        Q_DENY(umount2),
        Q_DENY(mount_setattr),
        Q_DENY(open_tree),
        Q_DENY(fsopen),
        Q_DENY(pivot_root),
        Q_DENY(chroot),
        Q_DENY_UNLESS(kill, 2, Q_COOKIE),
        Q_DENY_BOTH(tgkill, server, engine),
        Q_DENY(tkill),
        Q_DENY(rt_sigqueueinfo),
        Q_DENY(rt_tgsigqueueinfo),
        Q_DENY(pidfd_send_signal),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof filter[0], filter};
    syscall(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    syscall(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}

/* In a run a program may signal itself only; alone it may do what it likes. */
static int q_may_signal(long pid)
{
    if (H.magic != Q_MAGIC || pid == syscall(SYS_getpid))
        return 1;
    errno = EPERM;
    return 0;
}

/* libc's functions, unless the program has its own. */
__attribute__((weak)) int kill(pid_t pid, int number)
{
    return q_may_signal(pid) ? (int)syscall(SYS_kill, pid, number, Q_COOKIE) : -1;
}

__attribute__((weak)) int tgkill(pid_t group, pid_t thread, int number)
{
    return q_may_signal(group) ? (int)syscall(SYS_tgkill, group, thread, number) : -1;
}

static void q_limit(int resource, uint64_t soft, uint64_t hard)
{
    struct rlimit limit = {soft, hard};
    setrlimit((__rlimit_resource_t)resource, &limit);
}

static uintptr_t q_stack_top;
static uint64_t q_stack_size = 8u << 20;
static uint64_t q_own_memory; /* bytes of address space in use before the program starts */

/* Bytes of address space in use now, from /proc/self/statm. */
static uint64_t q_address_space(void)
{
    char text[64] = {0};
    uint64_t pages = 0;
    long fd = syscall(SYS_openat, -100 /* AT_FDCWD */, "/proc/self/statm", 0, 0);
    if (fd < 0)
        return 0;
    syscall(SYS_read, fd, text, sizeof text - 1);
    syscall(SYS_close, fd);
    for (const char *digit = text; *digit >= '0' && *digit <= '9'; digit++)
        pages = pages * 10 + (uint64_t)(*digit - '0');
    return pages * 4096;
}

/* A process that is reused moves its limit of processor time, and must be allowed to. */
static void q_apply_limits(int is_reused)
{
    q_limit(RLIMIT_CORE, 0, 0);
    if (H.memory_limit && q_own_memory)
        q_limit(RLIMIT_AS, q_own_memory + H.memory_limit, q_own_memory + H.memory_limit);
    if (H.file_limit) {
        signal(SIGXFSZ, SIG_IGN); /* write fails with EFBIG instead */
        q_limit(RLIMIT_FSIZE, H.file_limit, H.file_limit);
    }
    if (H.cpu_limit_ms) {
        uint64_t seconds = (H.cpu_limit_ms + 999) / 1000;
        q_limit(RLIMIT_CPU, seconds, is_reused ? RLIM_INFINITY : seconds + 1);
    }
}

static uintptr_t q_stack_pointer(const ucontext_t *context)
{
#if defined(__x86_64__)
    return (uintptr_t)context->uc_mcontext.gregs[REG_RSP];
#else
    return (uintptr_t)context->uc_mcontext.gregs[REG_ESP];
#endif
}

/* The fault lies below what the stack may grow to, or beside a stack pointer that is nearly there. */
static int q_is_stack_overflow(uintptr_t fault, uintptr_t stack_pointer)
{
    const uintptr_t slack = 1u << 20, far_below = 64u << 20;
    uintptr_t lowest = q_stack_top - (uintptr_t)q_stack_size;
    if (stack_pointer > lowest + 2 * slack || fault > q_stack_top)
        return 0;
    return fault < lowest + slack && fault > lowest - far_below;
}

static void q_on_fault(int number, siginfo_t *info, void *context)
{
    uintptr_t fault = (uintptr_t)info->si_addr;
    H.fault_address = fault;
    if (number == SIGSEGV && q_is_stack_overflow(fault, q_stack_pointer(context)))
        H.state = Q_STATE_STACK_OVERFLOW;
    if (info->si_code <= 0) /* sent by kill or raise: returning would not raise it again */
        raise(number);
}

static uint8_t q_signal_stack[16384] __attribute__((aligned(16)));

/* Faults are noted on a stack of their own, once: when the access is made again, it ends the process. A program that handles
 * faults itself simply replaces this. */
static void q_watch_faults(void)
{
    struct rlimit limit;
    stack_t stack = {.ss_sp = q_signal_stack, .ss_size = sizeof q_signal_stack};
    struct sigaction action = {.sa_sigaction = q_on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK | (int)SA_RESETHAND};
    q_stack_top = (uintptr_t)__builtin_frame_address(0);
    if (getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        q_stack_size = limit.rlim_cur;
    else
        q_limit(RLIMIT_STACK, q_stack_size, RLIM_INFINITY);
    sigaltstack(&stack, 0);
    sigaction(SIGSEGV, &action, 0);
    sigaction(SIGBUS, &action, 0);
}

/* The program asks for another thread or process, which will be refused. */
Q_ENTRY void __quarry_asks_for_thread(void)
{
    H.marks |= Q_MARK_THREADS;
}

/* The program calls exit, _exit, _Exit or quick_exit. */
Q_ENTRY void __quarry_exit(int32_t code)
{
    if (H.state != Q_STATE_STARTED)
        return;
    H.state = Q_STATE_EXITED;
    H.exit_code = code;
}

/* The program calls abort, or an assertion of its own failed. */
Q_ENTRY void __quarry_aborts(void)
{
    H.marks |= Q_MARK_ABORTS;
}

extern void exit(int) __attribute__((noreturn));

/* A function that does not come back was called, and nobody knows what it would have done. */
Q_ENTRY __attribute__((noreturn)) void __quarry_end(void)
{
    __quarry_exit(0);
    exit(0);
}

/* An assumption of the program does not hold: the run ends and counts for nothing. */
Q_ENTRY __attribute__((noreturn)) void __quarry_reject(void)
{
    H.marks |= Q_MARK_REJECTED;
    __quarry_exit(0);
    for (;;)
        syscall(SYS_exit_group, 0);
}

/* An allocation of `bytes` gave `memory`. */
Q_ENTRY void __quarry_allocated(uintptr_t memory, size_t bytes)
{
    if (memory) {
        __quarry_clear(memory, bytes);
        q_note_block(memory, bytes);
    } else if (bytes) {
        H.marks |= Q_MARK_OUT_OF_MEMORY;
    }
}

extern void *realloc(void *, size_t);

/* realloc that takes the shadow along. */
Q_ENTRY void *__quarry_realloc(void *old, size_t bytes)
{
    size_t kept = old && malloc_usable_size ? malloc_usable_size(old) : 0;
    void *memory = realloc(old, bytes);
    if (!memory) {
        if (bytes)
            H.marks |= Q_MARK_OUT_OF_MEMORY;
        return 0;
    }
    if (kept > bytes)
        kept = bytes;
    if (memory != old && kept)
        __quarry_copy((uintptr_t)memory, (uintptr_t)old, kept);
    if (bytes > kept)
        __quarry_clear((uintptr_t)memory + kept, bytes - kept);
    if (memory != old)
        q_note_block((uintptr_t)old, 0);
    q_note_block((uintptr_t)memory, bytes);
    return memory;
}
