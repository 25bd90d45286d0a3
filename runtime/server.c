/* The process's main, and the fork server: one process per run, forked from one that has done all the set-up. */

#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/personality.h>

/* Where the shared memory and the shadow go: away from the stack, heap and libraries, so that a stray access of the
 * program faults as it would natively. The kernel may choose other places when these are taken. */
#if defined(__x86_64__)
#define Q_SHARED_ADDRESS ((void *)0x10000000000)
#define Q_SHADOW_ADDRESS ((void *)0x20000000000)
#else
#define Q_SHARED_ADDRESS ((void *)0x60000000)
#define Q_SHADOW_ADDRESS ((void *)0x50000000)
#endif

/* Bytes of stack that main needs at most; a run begins below them. */
#define Q_SERVER_STACK 1024u

static int q_serving(char **envp)
{
    static const char name[] = "QUARRY_SERVER=";
    for (; envp && *envp; envp++) {
        size_t i = 0;
        while (name[i] && (*envp)[i] == name[i])
            i++;
        if (!name[i])
            return 1;
    }
    return 0;
}

/* Same input, same trace: addresses must not change between servers. Before constructors, which would run twice. */
static void q_fix_addresses(int argc, char **argv, char **envp)
{
    int now = personality(0xffffffff);
    (void)argc;
    if (!q_serving(envp) || now == -1 || (now & ADDR_NO_RANDOMIZE))
        return;
    if (personality((unsigned long)now | ADDR_NO_RANDOMIZE) != -1 &&
        (personality(0xffffffff) & ADDR_NO_RANDOMIZE))
        syscall(SYS_execve, "/proc/self/exe", argv, envp);
}

__attribute__((section(".preinit_array"), used)) static void (*q_before_constructors)(int, char **, char **) =
    q_fix_addresses;

static __attribute__((noreturn)) void q_leave(int code)
{
    for (;;)
        syscall(SYS_exit_group, code);
}

static void *q_map(void *address, uint64_t bytes, int flags, int fd)
{
    void *memory = mmap(address, (size_t)bytes, PROT_READ | PROT_WRITE, flags, fd, 0);
    return memory == MAP_FAILED ? 0 : memory;
}

/* Maps the header over its private page and the rest beside it; leaves when the other side speaks another language. */
static void q_attach(void)
{
    if (!q_map(&q_shared, Q_HEADER_SIZE, MAP_SHARED | MAP_FIXED, Q_SHM_FD))
        q_leave(97);
    if (H.magic != Q_MAGIC || H.version != Q_WIRE_VERSION)
        q_leave(98);
    uint8_t *base = q_map(Q_SHARED_ADDRESS, H.total_size, MAP_SHARED | MAP_NORESERVE, Q_SHM_FD);
    if (!base || !q_shadow_reserve())
        q_leave(97);
    q_tries = (struct q_try *)(base + Q_TRY_OFFSET);
    q_inputs = q_all_inputs = (const struct q_input *)(base + H.input_offset);
    q_cells = (struct q_cell *)(base + H.cell_offset);
    q_nodes = (struct q_node *)(base + H.node_offset);
    q_log = base + H.log_offset;
}

static int q_shadow_reserve(void)
{
    const uint64_t page = sizeof(struct q_shadow_byte) * Q_PAGE_SIZE;
    uint32_t pages = sizeof(void *) == 8 ? Q_SHADOW_PAGES : 4096;
    for (; pages >= 64; pages /= 2) {
        q_shadow = q_map(Q_SHADOW_ADDRESS, page * pages, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
        if (q_shadow) {
            q_shadow_capacity = pages;
            return 1;
        }
    }
    return 0;
}

static int q_transfer(long call, int fd, void *bytes, size_t n)
{
    for (size_t done = 0; done < n;) {
        long now = syscall(call, fd, (char *)bytes + done, n - done);
        if (now < 0 && errno == EINTR)
            continue;
        if (now <= 0)
            return 0;
        done += (size_t)now;
    }
    return 1;
}

static void q_start_child(uint8_t command)
{
    syscall(SYS_close, Q_SHM_FD);
    syscall(SYS_close, Q_COMMAND_FD);
    if (command != Q_COMMAND_REUSE) {
        syscall(SYS_close, Q_REPLY_FD);
        syscall(SYS_close, Q_AGAIN_FD);
    }
    syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    q_apply_limits(command == Q_COMMAND_REUSE);
}

/* fork, past the filter. libc keeps the thread's number in memory, which the child needs to be its own. `process` becomes a
 * descriptor of the child if it is asked for. */
static pid_t q_fork(int *thread_number, int *process)
{
    const long flags = CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID | SIGCHLD | (process ? CLONE_PIDFD : 0);
#if defined(__x86_64__)
    return (pid_t)syscall(SYS_clone, flags, 0, process, thread_number, Q_COOKIE);
#else
    return (pid_t)syscall(SYS_clone, flags, 0, process, Q_COOKIE, thread_number);
#endif
}

/* Where libc keeps the number of the only thread; 0 when the kernel does not tell. */
static int *q_thread_number(void)
{
    int *address = 0;
    if (syscall(SYS_prctl, PR_GET_TID_ADDRESS, &address, 0, 0, 0) != 0 || !address)
        return 0;
    return *address == (int)syscall(SYS_gettid) ? address : 0;
}

/* The process that is reused, if there is one. */
static pid_t q_reused;
static int q_reused_process = -1; /* its descriptor */

static void q_wait_for(pid_t child, struct q_ended *ended)
{
    ended->wait_status = -1;
    while (child > 0 && syscall(SYS_wait4, child, &ended->wait_status, 0, 0) < 0 && errno == EINTR) {
    }
}

static int q_is_ready(struct pollfd *files, unsigned n, int milliseconds)
{
    struct timespec time = {0, milliseconds * 1000000L};
    long ready;
    do
        ready = syscall(SYS_ppoll, files, (long)n, milliseconds < 0 ? 0 : &time, 0L, 0L);
    while (ready < 0 && errno == EINTR);
    return ready > 0;
}

/* Waits for the next command, and meanwhile for the end of the process that is reused. */
static int q_next_command(uint8_t *command)
{
    while (q_reused) {
        struct pollfd files[] = {{Q_COMMAND_FD, POLLIN, 0}, {q_reused_process, POLLIN, 0}};
        if (!q_is_ready(files, 2, -1))
            return 0;
        if (!files[1].revents)
            break;
        struct q_ended ended;
        q_wait_for(q_reused, &ended);
        syscall(SYS_close, q_reused_process);
        q_reused = 0;
        q_did_something_new(0);
        q_transfer(SYS_write, Q_REPLY_FD, &ended, sizeof ended);
    }
    return q_transfer(SYS_read, Q_COMMAND_FD, command, 1);
}

/* Forgets what a process that was reused did not hear. */
static void q_drain_again(void)
{
    struct pollfd again = {Q_AGAIN_FD, POLLIN, 0};
    uint8_t byte;
    while (q_is_ready(&again, 1, 0) && again.revents & POLLIN && q_transfer(SYS_read, Q_AGAIN_FD, &byte, 1)) {
    }
}

/* Tries of a whole program that need a process each: the next one, or all after so many that did. */
static int q_next_is_alone;
static uint32_t q_n_given_up;
#define Q_MOST_GIVEN_UP 64u

/* Answers commands until the other side goes away. Comes back in every child, with what it is to do. */
static __attribute__((noinline)) uint8_t q_serve(void)
{
    uint8_t command;
    int *thread_number = q_thread_number();
    if (thread_number)
        q_filter_calls();
    while (q_next_command(&command)) {
        int is_reused = command == Q_COMMAND_REUSE;
        if (is_reused)
            q_drain_again();
        pid_t child = thread_number ? q_fork(thread_number, is_reused ? &q_reused_process : 0) : is_reused ? -1 : fork();
        if (child == 0) {
            if (!thread_number)
                q_filter_calls();
            q_start_child(command);
            if (is_reused) { /* by itself: its first run may be over before the server goes on */
                struct q_started own = {(int32_t)syscall(SYS_getpid)};
                q_transfer(SYS_write, Q_REPLY_FD, &own, sizeof own);
            }
            return command;
        }
        struct q_started started = {child};
        struct q_ended ended;
        if (!is_reused || child < 0)
            q_transfer(SYS_write, Q_REPLY_FD, &started, sizeof started);
        if (is_reused) {
            q_reused = child > 0 ? child : 0;
            continue;
        }
        q_wait_for(child, &ended);
        if (command == Q_COMMAND_RUN)
            q_did_something_new(0);
        else if (H.fresh_reason) { /* a try did what is not undone: it is tried again by itself */
            q_next_is_alone = 1;
            q_n_given_up++;
            H.state = Q_STATE_READY;
        } else if (H.state != Q_STATE_READY) /* a try ended the process */
            q_end_process(ended.wait_status);
        if (command == Q_COMMAND_TRY && !H.fresh_reason)
            q_next_is_alone = 0;
        q_transfer(SYS_write, Q_REPLY_FD, &ended, sizeof ended);
    }
    q_leave(0);
}

int main(int argc, char **argv, char **envp)
{
    if (q_serving(envp)) {
        q_attach();
        q_prepare_callees();
        q_prepare_globals();
        q_prepare_tries();
        q_watch_faults();
        q_prepare_reuse();
        q_own_memory = q_address_space();
        fflush(0); /* what constructors wrote must not be written again by every run */
        q_first_frame = (uintptr_t)__builtin_frame_address(0) - Q_SERVER_STACK & ~(uintptr_t)63;
        q_argc = argc, q_argv = argv, q_envp = envp;
        uint8_t command = q_serve();
        if (command == Q_COMMAND_TRY) {
            if (H.flags & Q_FLAG_ALONE && !q_next_is_alone && q_n_given_up < Q_MOST_GIVEN_UP)
                q_try_in_turn();
            q_try(argc, argv, envp);
            q_leave(0);
        }
        if (command == Q_COMMAND_REUSE)
            q_start_reuse();
        q_begin_run();
        q_enter_run();
    }
    int code = __quarry_root(argc, argv, envp);
    if (H.state == Q_STATE_STARTED) {
        H.exit_code = code;
        H.state = Q_STATE_RETURNED;
    }
    exit(code);
}
