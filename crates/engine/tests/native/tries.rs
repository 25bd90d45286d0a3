//! Many inputs tried in one process: which of them look new?

use std::time::Duration;

use engine::executor::{Executor, Values};
use model::input::Key;
use wire::Flags;

use crate::build::{Built, LONG, with_cells};

/// Which of these values for key 0 look new, tried one after another.
fn new_ones(program: &Built, flags: Flags, values: &[u64], limit: Duration) -> Vec<u64> {
    let tries: Vec<Values> = values.iter().map(|value| vec![(Key(0), *value)]).collect();
    let tried = program.server().try_all(&tries, flags, limit).expect("tries");
    values.iter().zip(tried).filter(|(_, tried)| tried.looks_new).map(|(value, _)| *value).collect()
}

fn new_of(text: &str, values: &[u64]) -> Vec<u64> {
    let program = with_cells(text, 1, "f(a)");
    let alone = Flags { alone: true, ..Flags::default() };
    let found = new_ones(&program, Flags::default(), values, LONG);
    assert_eq!(new_ones(&program, alone, values, LONG), found, "processes make no difference");
    found
}

#[test]
fn an_outcome_that_nobody_had_is_new() {
    let text =
        "int f(int a) { if (a > 5) return 1; switch (a) { case 2: return 2; case 3: return 3; } return 0; }";
    assert_eq!(new_of(text, &[0, 0, 1, 9, 10, 2, 4, 3, 3]), [0, 9, 2, 3]);
}

#[test]
fn a_number_of_rounds_is_new_when_its_magnitude_is() {
    let text = "int f(int a) { int s = 0; for (int i = 0; i < a; i++) s += i; return s; }";
    assert_eq!(new_of(text, &[0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 3]), [0, 1, 2, 3, 4, 8, 16]);
}

#[test]
fn variables_are_set_back_between_tries() {
    let text = "static int n_calls; int total = 5; \
        int f(int a) { static int last; n_calls++; total += a; \
        if (n_calls > 1 || total != 5 + a || last) return 1; last = 1; return 0; }";
    assert_eq!(new_of(text, &[1, 1, 1]), [1]);
}

#[test]
fn a_try_that_ends_the_process_is_judged_and_the_rest_goes_on() {
    let text = "#include <stdlib.h>\n\
        int f(int a) { if (a == 1) exit(3); if (a == 2) abort(); if (a == 3) *(volatile int *)8 = 1; return 0; }";
    assert_eq!(new_of(text, &[0, 1, 1, 2, 3, 3, 2, 4]), [0, 1, 2, 3]);
}

#[test]
fn a_try_that_goes_on_for_long_is_cut_off_and_counts_for_what_none_did() {
    let text = "int f(int a) { volatile long s = 0; if (a == 9) s = 1; \
        for (long i = 0; i < a / 2 * 4000000000L; i++) s += i; return 0; }";
    assert_eq!(new_of(text, &[0, 2, 4, 9, 8, 1]), [0, 2, 9]);
}

#[test]
fn a_crash_is_new_once_though_every_outcome_was_seen() {
    let text = "static int cells[4]; int f(int a) { volatile int *p = (volatile int *)(cells + a * 100000000L); \
        if (a < 9) *p = 1; return 0; }";
    assert_eq!(new_of(text, &[0, 9, 0, 1, 2, 0, 1]), [0, 9, 1]);
}

#[test]
fn a_try_that_does_not_end_is_ended() {
    let text = "int f(int a) { if (a == 1) for (;;) {} if (a == 2) return 1; return 0; }";
    let program = with_cells(text, 1, "f(a)");
    let limit = Duration::from_millis(300);
    let values = [0, 1, 0, 2];
    let found = new_ones(&program, Flags::default(), &values, limit);
    assert_eq!(found, [0, 1], "the time for all of them is over");
}

#[test]
fn what_an_execution_did_is_not_new_to_tries() {
    let program = with_cells("int f(int a) { if (a == 1) return 1; return 0; }", 1, "f(a)");
    let mut server = program.server();
    program.run(&mut server, &[1], LONG);
    let tries: Vec<Values> = [1, 0, 1].iter().map(|value| vec![(Key(0), *value)]).collect();
    let tried = server.try_all(&tries, Flags::default(), LONG).expect("tries");
    let looks: Vec<bool> = tried.iter().map(|tried| tried.looks_new).collect();
    assert_eq!(looks, [false, true, false]);
}

#[test]
fn more_tries_than_fit_are_tried_in_turns() {
    let program = with_cells("int f(int a) { if (a == 999) return 1; return 0; }", 1, "f(a)");
    let values: Vec<u64> = (0..1000).collect();
    assert_eq!(new_ones(&program, Flags::default(), &values, LONG), [0, 999]);
}
