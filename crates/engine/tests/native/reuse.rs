//! Runs one after another in one process leave the traces that they leave in processes of their own.

use std::time::Duration;

use engine::executor::{End, Executor, ForkServer, ProcessCounts, ProcessReason};
use wire::NotUndone;

use crate::build::{Built, LONG, SYMBOLIC, input, with_cells, with_flags};

/// Functions with a memory of their own, of the library's and of the kernel's; `a` says which, `b` is what it works on.
const WORLD: &str = r#"
#include <errno.h>
#include <fenv.h>
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int n_calls;
int total = 5;
static _Thread_local int own = 3;
static char *kept;
static char text[64] = "one,two,three";

static void at_exit(void) { if (n_calls > 0) printf("left %d\n", n_calls); }
static int deep(int n) { volatile char room[4096]; room[n] = (char)n; return n > 0 ? deep(n - 1) + room[n] : 0; }
static int stale(int n) { volatile int never_set[300]; int sum = 0; for (int i = 0; i < 300; i++) sum += never_set[i] != 0; return sum > n; }

int f(int a, int b)
{
    jmp_buf back;
    if (n_calls++ != 0 || own++ != 3 || total != 5)
        return 1;
    switch (a) {
    case 0: total += b; return total > 100;
    case 1: kept = kept ? kept : malloc((size_t)(b & 1023) + 1); memset(kept, b, 1); return kept[0] == 'x';
    case 2: { char *large = malloc(1 << 21); large[b & 4095] = 1; int was = large[(b + 1) & 4095]; if (b < 9) free(large); return was; }
    case 3: printf("b is %d", b); return b > 7;
    case 4: { char *first = strtok(n_calls > 1 ? 0 : text, ","); return first && first[0] == (char)b; }
    case 5: return rand() % 7 == b;
    case 6: setlocale(LC_ALL, b > 3 ? "C.UTF-8" : "C"); return MB_CUR_MAX > 1;
    case 7: exit(b & 63);
    case 8: atexit(at_exit); return b > 1;
    case 9: if (setjmp(back) == 0) longjmp(back, 1); return b == 77;
    case 10: return deep(b & 31) > 3 ? 2 : 0;
    case 11: return stale(b);
    case 12: fesetround(b > 0 ? FE_UPWARD : FE_DOWNWARD); return rint((double)b + 0.5) > b;
    case 13: errno = b ? errno : EINTR; return errno == EINTR;
    case 14: for (int i = 0; i < (b & 255); i++) kept = realloc(kept, (size_t)i * 100 + 1); return kept == 0;
    case 15: signal(SIGUSR1, SIG_IGN); return b;
    case 16: { FILE *file = fopen("scratch", "a+"); fputc('x', file); long at = ftell(file); fclose(file); return at == b; }
    case 17: abort();
    case 18: *(volatile int *)8 = b; return 0;
    case 19: while (b == 1) {} return 0;
    case 20: { sigset_t all; sigfillset(&all); sigprocmask(SIG_SETMASK, &all, 0); return b; }
    case 21: { static char big[1 << 16]; for (int i = 0; i < (b & 0xffff); i += 64) big[i] = (char)b; return big[b & 1023] == 'q'; }
    case 22: puts("gone"); fclose(stdout); return b;
    case 24: { FILE *file = fopen("/dev/null", "r"); return file && fgetc(file) == EOF && fileno(file) == b; }
    case 25: { fclose(stdin); FILE *file = fopen("/dev/zero", "r"); return file && fgetc(file) == 0 && fileno(file) == b; }
    default: return b == 1234;
    }
}
"#;

fn reusing(program: &Built) -> ForkServer {
    let mut options = program.options();
    options.reuse = true;
    ForkServer::new(options).expect("an executor")
}

/// Runs the inputs one after another, each also alone; what processes that took.
fn compare(program: &Built, inputs: &[[u64; 2]], limit: Duration) -> ProcessCounts {
    let mut server = reusing(program);
    let mut alone = program.server();
    for (number, values) in inputs.iter().enumerate() {
        let input = input(values);
        // this thread may do something else while it runs
        let beside = number % 3 == 1;
        server.start(&input, SYMBOLIC, limit, beside).expect("a run begins");
        let own = alone.execute(&input, SYMBOLIC, limit).expect("a run alone");
        let execution = server.finish(&input, SYMBOLIC, limit).expect("a run");
        assert_eq!(execution.end, own.end, "{values:?}");
        assert!(own.end == End::TimedOut || execution.log == own.log, "{values:?}");
        assert_eq!(execution.output, own.output, "{values:?}");
        assert_eq!(execution.fingerprint(), own.fingerprint(), "{values:?}");
    }
    server.take_counts()
}

fn started(counts: &ProcessCounts, reason: ProcessReason) -> u64 {
    counts.n_started.get(&reason).copied().unwrap_or(0)
}

/// Every kind of run that ends in order, with several values, twice.
fn orderly() -> Vec<[u64; 2]> {
    let kinds = (0..16).chain(21..26);
    let of_kind = |kind: u64| [0, 1, 7, 77, 120, 0xfff0].map(|value| [kind, value]);
    let once: Vec<[u64; 2]> = kinds.flat_map(of_kind).collect();
    [once.clone(), once].concat()
}

#[test]
fn one_process_runs_everything_that_is_undone() {
    let inputs = orderly();
    let counts = compare(&with_cells(WORLD, 2, "f(a, b)"), &inputs, LONG);
    // a locale that is read from files takes locks
    let n_started: u64 = counts.n_started.values().sum();
    let of_locks = started(&counts, ProcessReason::NotUndone(NotUndone::Thread));
    assert_eq!(n_started, 1 + of_locks, "{counts:?}");
    assert!(counts.n_reused > 150, "{counts:?}");
}

#[test]
fn the_same_holds_for_pointers_of_32_bits() {
    let counts = compare(&with_flags(WORLD, 2, "f(a, b)", &["-m32"]), &orderly(), LONG);
    assert!(counts.n_reused > 150, "{counts:?}");
}

#[test]
fn what_ends_a_process_or_is_not_undone_is_named() {
    let program = with_cells(WORLD, 2, "f(a, b)");
    let ends = [
        [0, 1],
        [20, 1],
        [0, 1],
        [16, 1],
        [16, 1],
        [0, 2],
        [17, 0],
        [0, 3],
        [18, 4],
        [0, 5],
        [19, 1],
        [0, 6],
    ];
    let counts = compare(&program, &ends, Duration::from_millis(300));
    assert_eq!(started(&counts, ProcessReason::First), 1);
    assert_eq!(started(&counts, ProcessReason::Crash), 2, "{counts:?}");
    assert_eq!(started(&counts, ProcessReason::Hang), 1);
    // once for the run alone, once for the next process to be reused
    assert_eq!(started(&counts, ProcessReason::NotUndone(NotUndone::Signal)), 2, "{counts:?}");
    assert!(started(&counts, ProcessReason::NotUndone(NotUndone::File)) >= 4, "{counts:?}");
}

#[test]
fn variables_that_are_too_large_are_named() {
    let text = "static char large[8 << 20]; int f(int a, int b) { large[a & 0xffff] = 1; return large[b & 0xffff]; }";
    let counts = compare(&with_cells(text, 2, "f(a, b)"), &[[1, 1], [2, 2], [2, 1]], LONG);
    assert_eq!(counts.n_reused, 0);
    let is_named = |reason: &ProcessReason| matches!(reason, ProcessReason::NotUndone(NotUndone::TooLarge(kib)) if *kib > 8192);
    assert!(counts.n_started.keys().any(is_named), "{counts:?}");
}
