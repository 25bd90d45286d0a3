//! Definitions and uses of objects in memory: when a flow is covered, and what a claim about one must inline.

#[path = "support/mod.rs"]
mod support;

use support::{program, proof, verdict};

#[track_caller]
fn check(code: &str, text: &str, expected: &str) {
    let program = program(&[], code);
    let said = verdict(&program, &proof(&program, text));
    let short = if said.ends_with("against the claim") { "covered" } else { said.as_str() };
    assert_eq!(short, expected, "{text}");
}

/// `g = 1; if (p0) set(2); if (p0) return g; return h + g;` with two globals, and a function that stores to the first.
const GLOBAL: &str = "global g0 \"g\" internal size 4 align 4
global g1 \"h\" internal size 4 align 4
function f0 \"f\" exported (i32) -> i32 {
b0: %0 = store i32 1, g0
  %1 = compare ne i32 p0, 0
  branch %1, b1, b2
b1: %2 = call void f1(i32 2)
  jump b2
b2: %3 = compare ne i32 p0, 0
  branch %3, b3, b4
b3: %4 = load i32, g0
  return %4
b4: %5 = load i32, g1
  %6 = load i32, g0
  return %6
}
function f1 \"set\" internal (i32) -> void {
b0: %0 = store i32 p0, g0
  return
}";

#[test]
fn a_store_in_a_callee_overwrites_what_the_caller_stored() {
    let flow = |definition: &str, use_: &str| {
        format!("entry f0 goal flow g0 0 4 definitions {definition} uses {use_} inline @.%2 inductive")
    };
    check(GLOBAL, &flow("f0:%0", "f0:%4"), "accepted");
    check(GLOBAL, &flow("f0:%0", "f0:%6"), "covered");
    check(GLOBAL, &flow("f1:%0", "f0:%4"), "covered");
    check(GLOBAL, &flow("f1:%0", "f0:%6"), "accepted");
    // a load of another object is no use
    check(GLOBAL, &flow("f0:%0", "f0:%5"), "accepted");
    // a part of the object is touched by what touches it
    check(GLOBAL, &flow("f0:%0", "f0:%6").replace("g0 0 4", "g0 2 1"), "covered");
    // what stores must be seen
    let blind = flow("f1:%0", "f0:%6").replace("inline @.%2 ", "");
    check(GLOBAL, &blind, "rejected @ b1 %2: set may lead to the goal, and is not inlined");
}

#[test]
fn what_an_object_holds_at_first_is_a_definition_if_the_claim_says_so() {
    let flow = |initial: &str, use_: &str| {
        format!("entry f0 goal flow g0 0 4 {initial} definitions uses {use_} inline @.%2 inductive")
    };
    check(GLOBAL, &flow("initial", "f0:%4"), "accepted");
    check(
        &GLOBAL.replace("%0 = store i32 1, g0", "%0 = store i32 1, g1"),
        &flow("initial", "f0:%6"),
        "covered",
    );
    check(
        &GLOBAL.replace("%0 = store i32 1, g0", "%0 = store i32 1, g1"),
        &flow("initial", "f0:%4"),
        "accepted",
    );
    check(&GLOBAL.replace("%0 = store i32 1, g0", "%0 = store i32 1, g1"), &flow("", "f0:%6"), "accepted");
}

/// `s = {1, 2}; p = p0 ? &s.a : &s.b; *p = 3; use(s.a); use(s.b);` where `p` may be chosen by the parameter.
const LOCAL: &str = "function f0 \"f\" exported (i32) -> i32 {
b0: %0 = alloca 8 align 4
  %1 = address %0, 4
  %2 = store i32 1, %0
  %3 = store i32 2, %1
  %4 = compare ne i32 p0, 0
  %5 = select ptr %4, %0, %1
  %6 = store i32 3, %5
  branch %4, b1, b2
b1: %7 = load i32, %0
  %8 = load i32, %1
  return %8
b2: %9 = load i32, %0
  %10 = load i32, %1
  return %10
}";

#[test]
fn a_pointer_overwrites_what_it_points_to_and_nothing_else() {
    let flow = |member: u32, definition: &str, use_: &str| {
        format!("entry f0 goal flow f0 %0 {member} 4 definitions f0:{definition} uses f0:{use_} inductive")
    };
    check(LOCAL, &flow(0, "%2", "%7"), "accepted");
    check(LOCAL, &flow(0, "%2", "%9"), "covered");
    check(LOCAL, &flow(4, "%3", "%8"), "covered");
    check(LOCAL, &flow(4, "%3", "%10"), "accepted");
    check(LOCAL, &flow(0, "%6", "%7"), "covered");
    check(LOCAL, &flow(0, "%6", "%9"), "accepted");
    check(LOCAL, &flow(4, "%6", "%10"), "covered");
    // a copy uses what it copies, and defines where to
    let copied = LOCAL.replace("%6 = store i32 3, %5", "%6 = set %0, 0, 8");
    check(&copied, &flow(4, "%6", "%10"), "covered");
    check(&copied, &flow(4, "%3", "%10"), "accepted");
}

#[test]
fn ends_and_objects_must_be_there() {
    let no_ends = "rejected goal: the ends are no loads, stores and copies";
    check(LOCAL, "entry f0 goal flow f0 %0 0 4 definitions f0:%7 uses f0:%9 inductive", no_ends);
    check(LOCAL, "entry f0 goal flow f0 %0 0 4 definitions f0:%2 uses f0:%6 inductive", no_ends);
    check(LOCAL, "entry f0 goal flow f0 %0 0 4 definitions f9:%2 uses f0:%7 inductive", no_ends);
    let no_object = "rejected goal: there is no such object";
    check(LOCAL, "entry f0 goal flow f0 %4 0 4 definitions f0:%2 uses f0:%7 inductive", no_object);
    check(LOCAL, "entry f0 goal flow f0 %0 0 0 definitions f0:%2 uses f0:%7 inductive", no_object);
    check(LOCAL, "entry f0 goal flow f0 %0 0 4 initial definitions f0:%2 uses f0:%7 inductive", no_object);
    check(LOCAL, "entry f0 goal flow g7 0 4 definitions f0:%2 uses f0:%7 inductive", no_object);
}
