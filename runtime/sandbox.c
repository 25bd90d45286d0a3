/* What a run may not do, and how its end is told apart: limits, a system call filter, a handler for faults. */

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
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

#define Q_DENY_CALL(name)                                                                                              \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)
/* Denied unless the low word of the first argument is `value`. */
#define Q_DENY_UNLESS(name, value)                                                                                     \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 4),                                                             \
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),                                    \
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),              \
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)

/* No network, no other process or thread, no signals to others. Everything else a program does is its own affair. */
static void q_filter_calls(uint32_t own_pid)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, Q_AUDIT_ARCH, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        Q_DENY_CALL(clone),
        Q_DENY_CALL(clone3),
        Q_DENY_CALL(fork),
        Q_DENY_CALL(vfork),
        Q_DENY_CALL(execve),
        Q_DENY_CALL(execveat),
        Q_DENY_CALL(ptrace),
        Q_DENY_CALL(process_vm_writev),
#if defined(__i386__)
        Q_DENY_CALL(socketcall),
#endif
        Q_DENY_UNLESS(socket, AF_UNIX),
        Q_DENY_UNLESS(kill, own_pid),
        Q_DENY_UNLESS(tgkill, own_pid),
        Q_DENY_UNLESS(tkill, own_pid),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof filter[0], filter};
    syscall(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    syscall(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
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

static void q_apply_limits(void)
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
        q_limit(RLIMIT_CPU, seconds, seconds + 1);
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
    signal(number, SIG_DFL);
    if (info->si_code <= 0) /* sent by kill or raise: returning would not raise it again */
        raise(number);
}

static uint8_t q_signal_stack[16384] __attribute__((aligned(16)));

/* Faults are noted on a stack of their own. A program that handles them itself simply replaces this. */
static void q_watch_faults(void)
{
    struct rlimit limit;
    stack_t stack = {.ss_sp = q_signal_stack, .ss_size = sizeof q_signal_stack};
    struct sigaction action = {.sa_sigaction = q_on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
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

/* An allocation of `bytes` gave `memory`. */
Q_ENTRY void __quarry_allocated(uintptr_t memory, size_t bytes)
{
    if (memory)
        __quarry_clear(memory, bytes);
    else if (bytes)
        H.marks |= Q_MARK_OUT_OF_MEMORY;
}

extern void *realloc(void *, size_t);
extern size_t malloc_usable_size(void *) __attribute__((weak));

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
    return memory;
}
