//! The path log, entry by entry.

use frontend::instrument::Mode;
use wire::Event;

use crate::build::{Flags, Program, instrumented};
use crate::server::Server;

fn program(text: &str, mode: Mode) -> Program {
    instrumented(text, mode, &Flags::default())
}

/// The whole log of a run on the given cells, in both modes, without nodes.
fn logged(text: &str, input: &[(u64, u64)]) -> Vec<Event> {
    let [symbolic, fast] = [Mode::Symbolic, Mode::Fast].map(|mode| {
        let program = program(text, mode);
        let mut server = Server::start(&program.path);
        server.flags.symbolic = mode == Mode::Symbolic;
        let trace = server.run(input);
        assert_eq!(server.run(input).log, trace.log, "same input, same trace");
        let path = trace.events.into_iter().filter_map(|event| match event {
            Event::Outcome { taken, .. } => Some(Event::Outcome { taken, node: None }),
            Event::Switch { case, .. } => Some(Event::Switch { case, node: None }),
            Event::Pin { .. } | Event::Assume { .. } | Event::Unfollowed { .. } | Event::Outside => None,
            other => Some(other),
        });
        path.collect::<Vec<_>>()
    });
    assert_eq!(symbolic, fast);
    symbolic
}

fn outcome(taken: bool) -> Event {
    Event::Outcome { taken, node: None }
}

#[test]
fn a_branch_decided_by_a_mark_logs_once() {
    let text = "void __quarry_harness(void) { int a = 0; CELL(0, a);
                if (__q(0, a > 3) && !__q(1, a == 7)) a = 1; if (!__q(2, a)) a = 2; if (a == 2) a = 3; }";
    assert_eq!(logged(text, &[(0, 5)]), [true, false, true, false].map(outcome));
    assert_eq!(logged(text, &[(0, 0)]), [false, false, true].map(outcome));
}

#[test]
fn a_mark_whose_value_is_kept_decides_no_branch() {
    let text = "void __quarry_harness(void) { int a = 0; CELL(0, a); _Bool r = __q(0, a > 3) && __q(1, a < 9); int s = __q(2, r);
                if (s) a = 1; }";
    // mark 0, mark 1, mark 2, then the branch on s by itself
    assert_eq!(logged(text, &[(0, 5)]), [true, true, true, true].map(outcome));
}

#[test]
fn switches_log_the_index_in_the_list() {
    let text = "void __quarry_harness(void) { int a = 0; CELL(0, a);
                switch (a) { case 10: case 11: a = 1; break; case 1 ... 3: a = 2; break; case -70000: a = 0; }
                switch (a) { default: break; } switch ((unsigned char)a) { case 2: break; case 0: break; } }";
    let index = |input: u64| match logged(text, &[(0, input)])[..] {
        [Event::Switch { case, .. }, ..] => case,
        _ => panic!("the first event is a switch"),
    };
    assert_eq!([10, 11, 1, 2, 3, (-70000i64).cast_unsigned(), 4].map(index), [0, 1, 2, 3, 4, 5, 6]);
}

#[test]
fn indirect_calls_name_their_callee() {
    let text = r#"#include <stdlib.h>
        static int one(int x) { return x; } int two(int x) { return -x; }
        void __quarry_harness(void) { int (*f[3])(int) = { one, two, abs }; int s = 0;
            f[0](1); f[1](2); f[2](3); int (*g)(int) = one; g(4); two(5); }"#;
    let numbers = program(text, Mode::Fast).numbers;
    let callee = |name: &str| Event::Callee { function: Some(u64::from(numbers[name])) };
    assert_eq!(
        logged(text, &[]),
        [callee("one"), callee("two"), Event::Callee { function: None }, callee("one")]
    );
}

#[test]
fn uninstrumented_code_calling_back_is_logged() {
    let text = r#"#include <stdlib.h>
        static void bye(void) { if (__q(0, 1)) ; }
        static int order(const void *a, const void *b) { return *(char *)a - *(char *)b; }
        void __quarry_harness(void) { char v[2] = "ba"; qsort(v, 2, 1, order); order(v, v); atexit(bye); }"#;
    let numbers = program(text, Mode::Fast).numbers;
    let callback = |name: &str| Event::Callback { function: u64::from(numbers[name]) };
    assert_eq!(logged(text, &[]), [callback("order"), callback("bye"), outcome(true)]);
}

#[test]
fn each_return_of_setjmp_is_logged_with_its_activation() {
    let text = r#"#include <setjmp.h>
        static jmp_buf outer, inner;
        static void f(void) { if (setjmp(inner) == 0) longjmp(inner, 1); longjmp(outer, 1); }
        void __quarry_harness(void) { if (setjmp(outer) == 0) f(); }"#;
    let activations: Vec<_> = logged(text, &[])
        .into_iter()
        .filter_map(|event| match event {
            Event::Setjmp { activation } => Some(activation),
            _ => None,
        })
        .collect();
    assert_eq!(activations, [1, 2, 2, 1]);
}

#[test]
fn computed_gotos_log_their_successor() {
    let text = "void __quarry_harness(void) { static void *t[] = { &&a, &&b, &&c }; int k = 0; CELL(0, k); goto *t[k % 3];
                a: k = 1; b: k = 2; c: k = 3; }";
    let jump = |k: u64| logged(text, &[(0, k)]);
    assert_eq!(jump(0), [Event::Jump { successor: 0 }]);
    assert_eq!(jump(2), [Event::Jump { successor: 2 }]);
}

#[test]
fn a_full_log_and_a_full_arena_are_marked() {
    let text = "void __quarry_harness(void) { unsigned a = 0; CELL(0, a); for (int i = 0; i < 1000; i++) { a = a * 3 + 1;
                if (__q(0, a & 1)) ; } }";
    let program = program(text, Mode::Symbolic);
    let layout =
        wire::Layout { input_capacity: 16, cell_capacity: 16, node_capacity: 100, log_capacity: 1 << 20 };
    let trace = Server::start_with(&program.path, layout).run(&[(0, 1)]);
    assert!(trace.header.marks.nodes_full && !trace.header.marks.log_full);
    assert_eq!(trace.header.n_nodes, 100);
    assert_eq!(trace.events.iter().filter(|e| matches!(e, Event::Outcome { .. })).count(), 2001);
    let layout = wire::Layout { node_capacity: 10000, log_capacity: 64, ..layout };
    let trace = Server::start_with(&program.path, layout).run(&[(0, 1)]);
    assert!(trace.header.marks.log_full && !trace.header.marks.nodes_full);
    assert!(trace.header.log_length <= 64);
}
