//! How runs end, and what they may not take.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use engine::executor::{End, Executor, ExecutorError, ForkServer};

use crate::build::{LONG, SYMBOLIC, built, input, with_cells};

#[test]
fn every_end_is_told_apart() {
    let text = r#"
        #include <stdlib.h>
        static int deep(volatile int *p) { int v[64]; v[0] = *p; if (v[0] > 0) return deep(v) + v[1]; return 0; }
        void f(int how) {
            switch (how) {
            case 1: exit(7);
            case 2: abort();
            case 3: *(volatile int *)0x1230 = 1; break;
            case 4: for (;;) {}
            case 5: { char *p = malloc(1ul << 40); *p = 1; break; }
            case 6: deep(&how); break;
            case 7: how = 7 / (how - 7); break;
            case 8: exit(0);
            }
        }"#;
    let program = with_cells(text, 1, "f(a)");
    let mut server = program.server();
    let mut end = |how, limit| program.run(&mut server, &[how], limit).end;
    assert_eq!(end(0, LONG), End::Returned);
    assert_eq!(end(1, LONG), End::Exited(7));
    assert_eq!(end(2, LONG), End::Aborted);
    assert_eq!(end(3, LONG), End::Signalled { signal: libc::SIGSEGV, address: Some(0x1230) });
    assert_eq!(end(5, LONG), End::OutOfMemory);
    assert_eq!(end(6, LONG), End::StackOverflow);
    assert_eq!(end(7, LONG), End::Signalled { signal: libc::SIGFPE, address: None });
    assert_eq!(end(8, LONG), End::Exited(0));
    let started = Instant::now();
    assert_eq!(end(4, Duration::from_millis(200)), End::TimedOut);
    assert!(started.elapsed() < Duration::from_secs(2), "{:?}", started.elapsed());
    assert_eq!(end(0, LONG), End::Returned, "the server survives all of them");
}

#[test]
fn signals_that_the_caller_ignores_reach_the_program() {
    let text = "#include <signal.h>\nvoid f(int number) { raise(number); }";
    let program = with_cells(text, 1, "f(a)");
    let ignored = [libc::SIGINT, libc::SIGHUP, libc::SIGQUIT, libc::SIGPIPE, libc::SIGUSR1];
    // SAFETY: sets no handler; no other test waits for one of these signals.
    let set = |how| ignored.iter().for_each(|number| unsafe { _ = libc::signal(*number, how) });
    set(libc::SIG_IGN);
    let mut server = program.server();
    let ends = ignored.map(|number| program.run(&mut server, &[number as u64], LONG).end);
    set(libc::SIG_DFL);
    assert_eq!(ends, ignored.map(|signal| End::Signalled { signal, address: None }));
}

#[test]
fn a_run_that_sleeps_is_ended_like_one_that_works() {
    let program = with_cells("#include <unistd.h>\nvoid f(void) { for (;;) pause(); }", 0, "f()");
    let started = Instant::now();
    assert_eq!(program.run(&mut program.server(), &[], Duration::from_millis(200)).end, End::TimedOut);
    assert!(started.elapsed() < Duration::from_secs(2), "{:?}", started.elapsed());
}

#[test]
fn a_run_that_others_keep_from_running_is_no_hang() {
    let text = "#include <time.h>\nvoid f(void) { while (clock() < CLOCKS_PER_SEC / 4) {} }";
    let program = with_cells(text, 0, "f()");
    let done = AtomicBool::new(false);
    let busy = || {
        stay_on_first_processor();
        while !done.load(Ordering::Relaxed) {
            std::hint::spin_loop();
        }
    };
    let (end, wall) = std::thread::scope(|scope| {
        (0..3).for_each(|_| drop(scope.spawn(busy)));
        // the run inherits it
        stay_on_first_processor();
        let started = Instant::now();
        let end = program.run(&mut program.server(), &[], Duration::from_millis(400)).end;
        done.store(true, Ordering::Relaxed);
        (end, started.elapsed())
    });
    assert_eq!(end, End::Returned);
    assert!(wall > Duration::from_millis(400), "{wall:?}: nothing kept it from running");
}

/// Of this thread and what it starts.
fn stay_on_first_processor() {
    // SAFETY: a set of processors is plain data; the system calls are given its size.
    unsafe {
        let mut allowed: libc::cpu_set_t = std::mem::zeroed();
        let size = size_of::<libc::cpu_set_t>();
        libc::sched_getaffinity(0, size, &raw mut allowed);
        let first = (0..libc::CPU_SETSIZE as usize).find(|cpu| libc::CPU_ISSET(*cpu, &allowed));
        let mut only: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(first.expect("a processor"), &mut only);
        assert_eq!(libc::sched_setaffinity(0, size, &raw const only), 0);
    }
}

#[test]
fn a_main_that_returns_a_code_returned() {
    let program = built("int main(void) { return 3; }", None, &[]);
    assert_eq!(program.run(&mut program.server(), &[], LONG).end, End::Returned);
}

#[test]
fn a_crash_still_shows_its_path() {
    let text = "int f(int a) { if (a == 5) { if (a > 2) *(volatile int *)8 = 1; } return 0; }";
    let program = with_cells(text, 1, "f(a)");
    let left = program.run(&mut program.server(), &[5], LONG);
    assert_eq!(left.end, End::Signalled { signal: libc::SIGSEGV, address: Some(8) });
    assert_eq!(left.trace.steps.len(), 2);
    assert!(matches!(left.trace.end, model::walk::WalkEnd::CutOff(..)));
}

#[test]
fn output_is_captured_and_bounded() {
    let text = r#"
        #include <stdio.h>
        int f(int n) { for (int i = 0; i < n; i++) puts("0123456789abcde"); fprintf(stderr, "done"); return 0; }"#;
    let program = with_cells(text, 1, "f(a)");
    let mut server = program.server();
    let two = program.run(&mut server, &[2], LONG).output;
    assert_eq!(two.stdout, b"0123456789abcde\n0123456789abcde\n");
    assert_eq!((two.stderr.as_slice(), two.truncated), (b"done".as_slice(), false));
    let many = program.run(&mut server, &[100_000], LONG).output;
    assert_eq!((many.stdout.len(), many.truncated), (64 << 10, true));
    assert_eq!(program.run(&mut server, &[1], LONG).output.stdout, b"0123456789abcde\n");
}

#[test]
fn a_run_finds_its_directory_empty() {
    let text = r#"
        #include <stdio.h>
        #include <sys/stat.h>
        int f(void) {
            FILE *old = fopen("left", "r"); if (old) puts("not empty"); else puts("empty");
            FILE *file = fopen("left", "w"); if (file) { fputs("x", file); fclose(file); }
            mkdir("directory", 0700); fclose(fopen("directory/inside", "w")); chmod("directory", 0);
            return 0;
        }"#;
    let program = with_cells(text, 0, "f()");
    let options = program.options();
    let directory = options.directory.clone();
    let mut server = ForkServer::new(options).expect("an executor");
    for _ in 0..2 {
        assert_eq!(program.run(&mut server, &[], LONG).output.stdout, b"empty\n");
        assert_eq!(std::fs::read_dir(&directory).expect("still there").count(), 0);
    }
}

#[test]
fn the_environment_is_small_and_fixed() {
    let text = r#"
        #include <stdio.h>
        extern char **environ;
        int f(void) { for (char **e = environ; *e; e++) puts(*e); return 0; }"#;
    let program = with_cells(text, 0, "f()");
    let output = program.run(&mut program.server(), &[], LONG).output.stdout;
    let text = String::from_utf8(output).expect("text");
    let mut names: Vec<&str> = text.lines().filter_map(|line| line.split('=').next()).collect();
    names.sort_unstable();
    assert_eq!(names, ["HOME", "LC_ALL", "PATH", "QUARRY_SERVER", "TZ"]);
}

#[test]
fn a_program_that_is_not_one_is_refused() {
    let directory = tempfile::tempdir().expect("a directory");
    let missing = engine::executor::ExecutorOptions::new("/no/such/program", directory.path(), 64);
    assert!(matches!(ForkServer::new(missing), Err(ExecutorError::System { .. })));
    let other = engine::executor::ExecutorOptions::new("/bin/true", directory.path().join("run"), 64);
    let mut server = ForkServer::new(other).expect("an executor");
    let error = server.execute(&input(&[]), SYMBOLIC, LONG).expect_err("not instrumented");
    assert!(matches!(error, ExecutorError::NoServer { .. }), "{error}");
}

#[test]
fn an_interrupt_ends_a_run() {
    let program = with_cells("void f(void) { for (;;) {} }", 0, "f()");
    let options = program.options();
    let interrupt = std::sync::Arc::clone(&options.interrupt);
    let mut server = ForkServer::new(options).expect("an executor");
    let started = Instant::now();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            std::thread::sleep(Duration::from_millis(300));
            interrupt.store(true, std::sync::atomic::Ordering::Relaxed);
        });
        let error = server.execute(&input(&[]), SYMBOLIC, LONG).expect_err("interrupted");
        assert!(matches!(error, ExecutorError::Interrupted));
    });
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
}
