//! How runs end, and what they may not do.

use frontend::instrument::Mode;
use wire::RunState;

use crate::build::{Flags, instrumented};
use crate::server::{Limits, Server, Trace};

fn run_with(text: &str, limits: Limits) -> Trace {
    let program = instrumented(text, Mode::Symbolic, &Flags::default());
    let mut server = Server::start(&program.path);
    server.limits = limits;
    server.run(&[(0, 5)])
}

fn run(text: &str) -> Trace {
    run_with(text, Limits::default())
}

fn signal(trace: &Trace) -> Option<i32> {
    libc::WIFSIGNALED(trace.wait_status).then(|| libc::WTERMSIG(trace.wait_status))
}

#[test]
fn returning_and_exiting_are_told_apart() {
    let returned = run("void __quarry_harness(void) { }");
    assert_eq!((returned.header.state, returned.wait_status), (Some(RunState::Returned), 0));
    let exited = run("#include <stdlib.h>\nvoid __quarry_harness(void) { exit(0); }");
    assert_eq!((exited.header.state, exited.header.exit_code), (Some(RunState::Exited), 0));
    let exited = run("#include <unistd.h>\nvoid __quarry_harness(void) { _exit(9); }");
    assert_eq!((exited.header.state, exited.header.exit_code), (Some(RunState::Exited), 9));
    assert_eq!(libc::WEXITSTATUS(exited.wait_status), 9);
    let main = run("int main(void) { return 4; }");
    assert_eq!((main.header.state, main.header.exit_code), (Some(RunState::Returned), 4));
}

#[test]
fn a_crash_keeps_its_trace_and_address() {
    let trace = run(
        "void __quarry_harness(void) { int a = 0; CELL(0, a); if (__q(0, a == 5)) *(volatile int *)0x1230 = 1; }",
    );
    assert_eq!(signal(&trace), Some(libc::SIGSEGV));
    assert_eq!(trace.header.state, Some(RunState::Started));
    assert_eq!(trace.header.fault_address, 0x1230);
    assert_eq!(trace.events.len(), 1);
    let abort = run("#include <stdlib.h>\nvoid __quarry_harness(void) { if (__q(0, 1)) abort(); }");
    assert_eq!((signal(&abort), abort.events.len()), (Some(libc::SIGABRT), 1));
    let trap = run(
        "void __quarry_harness(void) { int a = 0, b = 5; CELL(0, b); a = 7 / (b - 5); if (__q(0, a)) ; }",
    );
    assert_eq!(signal(&trap), Some(libc::SIGFPE));
}

#[test]
fn running_out_of_stack_is_told_apart() {
    let text = "static int f(volatile int *p) { int v[64]; v[0] = *p; if (__q(0, v[0] > 0)) return f(v) + v[1]; return 0; }
                void __quarry_harness(void) { int a = 1; CELL(0, a); f(&a); }";
    let trace = run(text);
    assert_eq!(signal(&trace), Some(libc::SIGSEGV));
    assert_eq!(trace.header.state, Some(RunState::StackOverflow));
    let wild = run(
        "void __quarry_harness(void) { int v[4]; volatile long far = 200 << 20; *(volatile char *)((char *)v - far) = 1; }",
    );
    assert_eq!((signal(&wild), wild.header.state), (Some(libc::SIGSEGV), Some(RunState::Started)));
}

#[test]
fn a_program_may_handle_its_own_faults() {
    let text = r#"#include <setjmp.h>
        #include <signal.h>
        static sigjmp_buf env; static void on(int s) { siglongjmp(env, s); }
        int main(void) { signal(SIGSEGV, on); int s = sigsetjmp(env, 1); if (s == 0) *(volatile int *)0 = 1; return s; }"#;
    let trace = run(text);
    assert_eq!((trace.header.state, trace.header.exit_code), (Some(RunState::Returned), libc::SIGSEGV));
}

#[test]
fn memory_and_files_are_limited() {
    let text = r#"#include <stdio.h>
        #include <stdlib.h>
        int main(void) { if (malloc(1 << 20) == 0) return 1; if (malloc(512 << 20) != 0) return 2;
            FILE *f = tmpfile(); if (!f) return 3; setvbuf(f, 0, _IONBF, 0); static char b[65536];
            for (int i = 0; i < 32; i++) if (fwrite(b, 1, sizeof b, f) != sizeof b) return 40; return 5; }"#;
    let trace = run_with(text, Limits { memory: 64 << 20, file: 1 << 20 });
    assert_eq!(trace.header.exit_code, 40);
    assert!(trace.header.marks.out_of_memory);
}

#[test]
fn threads_processes_network_and_signals_to_others_are_refused() {
    let text = r#"#include <errno.h>
        #include <pthread.h>
        #include <signal.h>
        #include <stdlib.h>
        #include <sys/socket.h>
        #include <unistd.h>
        static void *work(void *p) { return p; }
        int main(void) { pthread_t t; if (pthread_create(&t, 0, work, 0) == 0) return 1; if (fork() != -1) return 2;
            if (socket(AF_INET, SOCK_STREAM, 0) != -1 || errno != EPERM) return 3; if (kill(getppid(), 0) != -1) return 4;
            if (system("true") == 0) return 5; if (execl("/bin/true", "true", (char *)0) != -1) return 6;
            if (kill(getpid(), 0) != 0 || raise(0) != 0) return 7; return 77; }"#;
    let trace = run(text);
    assert_eq!(trace.header.exit_code, 77);
    assert!(trace.header.marks.threads);
}

#[test]
fn one_server_makes_hundreds_of_runs() {
    let text = "void __quarry_harness(void) { int a = 0; CELL(0, a); if (__q(0, a > 3)) ; }";
    let program = instrumented(text, Mode::Symbolic, &Flags::default());
    let mut server = Server::start(&program.path);
    let first = server.run(&[(0, 5)]);
    for _ in 0..300 {
        server.execute_blind();
    }
    let last = server.run(&[(0, 5)]);
    assert_eq!(first.log, last.log);
}
