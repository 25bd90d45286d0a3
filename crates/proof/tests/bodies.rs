//! Arguments beyond plain induction, and what a proof may assume.

#[path = "support/mod.rs"]
mod support;

use proof::{Checker, Proof, Solvers, Verdict};
use support::{program, proof, verdict};

#[track_caller]
fn check(decisions: &[&str], code: &str, text: &str, expected: &str) {
    let program = program(decisions, code);
    assert_eq!(verdict(&program, &proof(&program, text)), expected, "{text}");
}

const CAN_BE: &str = "it can be reached against the claim";

/// `x = 0; y = 1; while (p0--) { t = x; x = y; y = t; } if (x == y) …`: two turns tell what one does not.
const SWAP: &str = "function f0 \"f\" exported (i8) -> i32 {
b0: %0 = alloca 1 align 1
  %1 = alloca 1 align 1
  %2 = alloca 1 align 1
  %3 = store i8 0, %0
  %4 = store i8 1, %1
  %5 = store i8 p0, %2
  jump b1
b1: %6 = load i8, %0
  %7 = load i8, %1
  %8 = compare eq i8 %6, 5
  %9 = mark c0 %8
  branch %9, b4, b2 decided c0
b2: %10 = load i8, %2
  %11 = compare ne i8 %10, 0
  branch %11, b3, b5
b3: %12 = store i8 %7, %0
  %13 = store i8 %6, %1
  %14 = sub i8 %10, 1
  %15 = store i8 %14, %2
  jump b1
b4: return 1
b5: return 0
}";

#[test]
fn several_segments_together_show_what_one_does_not() {
    let goal = "entry f0 goal outcome c0 true cut @ b1 true";
    let rejected = format!("rejected @ b1 %9: {CAN_BE}");
    check(&["d0 f0 c0"], SWAP, &format!("{goal} k-induction 1"), &rejected);
    check(&["d0 f0 c0"], SWAP, &format!("{goal} k-induction 2"), &rejected);
    check(&["d0 f0 c0"], SWAP, &format!("{goal} k-induction 3"), "accepted");
    // what the first turns do counts, too
    let covered = SWAP.replace("store i8 1, %1", "store i8 5, %1");
    check(&["d0 f0 c0"], &covered, &format!("{goal} k-induction 3"), &rejected);
    check(&["d0 f0 c0"], &covered, &format!("{goal} k-induction 1"), &rejected);
    let too_many = "rejected k-induction: it takes 1 to 16 segments";
    check(&["d0 f0 c0"], SWAP, &format!("{goal} k-induction 0"), too_many);
    check(&["d0 f0 c0"], SWAP, &format!("{goal} k-induction 17"), too_many);
}

#[test]
fn formulas_may_need_several_segments_as_well() {
    let goal = "entry f0 goal outcome c0 true";
    let formula = "cut @ b1 (not (= (local @ %0) i8:5))";
    check(
        &["d0 f0 c0"],
        SWAP,
        &format!("{goal} {formula} k-induction 1"),
        &format!("rejected cut @ b1: {CAN_BE}"),
    );
    check(&["d0 f0 c0"], SWAP, &format!("{goal} {formula} k-induction 2"), "accepted");
    // a formula that fails at first
    let wrong = "cut @ b1 (= (local @ %0) i8:1)";
    check(
        &["d0 f0 c0"],
        SWAP,
        &format!("{goal} {wrong} k-induction 2"),
        &format!("rejected cut @ b1: {CAN_BE}"),
    );
}

#[test]
fn listed_states_must_be_all_that_control_arrives_in() {
    let listed = |formula: &str, rows: &str, expected: &str| {
        let states = format!("listed states 0 (local @ %0) (local @ %1) {rows} end");
        let claim = "entry f0 goal outcome c0 true cut @ b1";
        check(&["d0 f0 c0"], SWAP, &format!("{claim} {formula} {states}"), expected);
    };
    let formula = "(not (= (local @ %0) i8:5))";
    listed(formula, "row 0 1 row 1 0", "accepted");
    // the first state, and the one after it
    let lacks = "rejected listed: a row leads to a state that no row lists";
    listed(formula, "row 1 0", lacks);
    listed(formula, "row 0 1", lacks);
    listed(formula, "", lacks);
    // the values are exchanged, so what one row leaves open the next must
    listed(formula, "row 0 1 row _ 0 row 1 0", lacks);
    listed(formula, "row _ _", "rejected cut @ b1: the formula does not hold in a row");
    listed(
        "(= (local @ %0) i8:0)",
        "row 0 1 row 1 0",
        "rejected cut @ b1: the formula does not hold in a row",
    );
    // the formulas alone exclude the goal
    listed("true", "row 0 1 row 1 0", &format!("rejected @ b1 %9: {CAN_BE}"));
    listed(formula, "row 0 1 1", "rejected listed: a row has not as many values as there are scalars");
    let of_no_cut = "entry f0 goal outcome c0 true cut @ b1 true listed states 1 end";
    check(&["d0 f0 c0"], SWAP, of_no_cut, "rejected listed: there is no cut 1");
}

/// `x = p0; while (x) { if (x == 0) …; if (x > 9) x = 9; y = x; if (x == 5 && y == 6) … if (y == 9) …; x-- }`.
const ALIKE: &str = "function f0 \"f\" exported (i8) -> i32 {
b0: %0 = alloca 1 align 1
  %1 = store i8 p0, %0
  jump b1
b1: %2 = load i8, %0
  %3 = compare ne i8 %2, 0
  branch %3, b2, b7
b2: %4 = compare eq i8 %2, 0
  %5 = mark c0 %4
  branch %5, b7, b3 decided c0
b3: %6 = compare eq i8 %2, 5
  %7 = mark c1 %6
  branch %7, b4, b5 decided c1
b4: %8 = compare eq i8 %2, 6
  %9 = mark c2 %8
  branch %9, b7, b5 decided c2
b5: %10 = compare eq i8 %2, 9
  %11 = mark c3 %10
  branch %11, b6, b6 decided c3
b6: %12 = sub i8 %2, 1
  %13 = store i8 %12, %0
  jump b1
b7: return 0
}";

#[test]
fn proofs_that_are_decided_together_are_decided_as_each_by_itself() {
    let decisions = ["d0 f0 c0", "d1 f0 (c1 && c2)", "d2 f0 c3"];
    let program = program(&decisions, ALIKE);
    let of = |goal: &str, formula: &str, body: &str| {
        proof(&program, &format!("entry f0 goal {goal} cut @ b1 {formula} {body}"))
    };
    let never = ["outcome c0 true", "decision d1 true", "independent c2 true", "reach f0 b4 3"];
    let excluded = |formula: &str, body: &str| -> Vec<Proof> {
        never[..3].iter().map(|goal| of(goal, formula, body)).collect()
    };
    let check = |proofs: &[Proof], expected: &[bool]| {
        let mut solvers = Solvers::installed();
        let all: Vec<&Proof> = proofs.iter().collect();
        let accepted: Vec<bool> = Checker::new(&program)
            .check_all(&all, &mut solvers)
            .iter()
            .map(|verdict| matches!(verdict, Verdict::Accepted { .. }))
            .collect();
        assert_eq!(accepted, expected);
        for (proof, expected) in proofs.iter().zip(expected) {
            assert_eq!(verdict(&program, proof) == "accepted", *expected, "{proof:?}");
        }
    };
    check(&excluded("true", "inductive"), &[true; 3]);
    let any = "listed states 0 (local @ %0) row _ end";
    check(&excluded("true", any), &[true; 3]);
    // a goal that runs cover takes nothing from the others, wherever it stands
    for feasible in ["outcome c3 true", "decision d1 false", "independent c1 false", "reach f0 b5 0"] {
        for at in 0..=3 {
            let mut proofs = excluded("true", "inductive");
            proofs.insert(at, of(feasible, "true", "inductive"));
            let mut expected = vec![true; 4];
            expected[at] = false;
            check(&proofs, &expected);
        }
    }
    // neither does a formula that does not hold: with it the feasible goal would be excluded
    let wrong = "(bvult (local @ %0) i8:5)";
    for body in ["inductive", any, "listed states 0 (local @ %0) row 0 row 1 row 2 row 3 row 4 end"] {
        let mut proofs = excluded("true", body);
        proofs.push(of("outcome c3 true", wrong, body));
        let holds = !body.contains("row 0");
        check(&proofs, &[holds, holds, holds, false]);
    }
    // other arguments and other formulas beside each other
    let small = "(bvule (local @ %0) i8:255)";
    let mut proofs = excluded(small, "inductive");
    proofs.extend(excluded("true", "k-induction 2"));
    proofs.push(of("outcome c0 true", "(= (local @ %0) (local @ %0))", "inductive"));
    check(&proofs, &[true; 7]);
}

/// `for (i = 0; i < 3; i++) for (j = 0; j < i; j++) n++; if (n OP) …`
const NESTED: &str = "function f0 \"f\" exported () -> i32 {
b0: %0 = alloca 4 align 4
  %1 = alloca 4 align 4
  %2 = alloca 4 align 4
  %3 = store i32 0, %0
  %4 = store i32 0, %2
  jump b1
b1: %5 = load i32, %0
  %6 = compare slt i32 %5, 3
  branch %6, b2, b5
b2: %7 = store i32 0, %1
  jump b3
b3: %8 = load i32, %1
  %9 = load i32, %0
  %10 = compare slt i32 %8, %9
  branch %10, b4, b6
b4: %11 = load i32, %2
  %12 = add i32 %11, 1
  %13 = store i32 %12, %2
  %14 = add i32 %8, 1
  %15 = store i32 %14, %1
  jump b3
b6: %16 = add i32 %9, 1
  %17 = store i32 %16, %0
  jump b1
b5: %18 = load i32, %2
  %19 = compare LIMIT
  %20 = mark c0 %19
  branch %20, b7, b8 decided c0
b7: return 1
b8: return 0
}";

#[test]
fn unrolled_loops_must_have_ended() {
    // blocks are numbered in the order of their text
    let code = |limit: &str| {
        NESTED.replace("LIMIT", limit).replace("b5", "bX").replace("b6", "b5").replace("bX", "b6")
    };
    let claim = "entry f0 goal outcome c0 true cut @ b1 true cut @ b3 true";
    let order = "unrolled 0 1 0 1 1 0 1 1 1 0";
    let never = code("sgt i32 %18, 3");
    check(&["d0 f0 c0"], &never, &format!("{claim} {order}"), "accepted");
    check(
        &["d0 f0 c0"],
        &code("eq i32 %18, 3"),
        &format!("{claim} {order}"),
        &format!("rejected @ b6 %20: {CAN_BE}"),
    );
    let short = format!("rejected unrolled @ b1: {CAN_BE}");
    check(&["d0 f0 c0"], &never, &format!("{claim} unrolled 0 1 0 1 1 0 1 1 1"), &short);
    check(&["d0 f0 c0"], &never, &format!("{claim} unrolled"), &short);
    // one too many does no harm
    check(&["d0 f0 c0"], &never, &format!("{claim} {order} 0 1"), "accepted");
    check(&["d0 f0 c0"], &never, &format!("{claim} unrolled 2"), "rejected unrolled: there is no cut 2");
    let with_formula = claim.replace("cut @ b3 true", "cut @ b3 false");
    check(
        &["d0 f0 c0"],
        &never,
        &format!("{with_formula} {order}"),
        "rejected unrolled: a formula of a cut does not count",
    );
}

/// A definition that a loop overwrites reaches what is behind it only when the loop is not entered.
#[test]
fn a_pair_behind_a_loop_that_is_always_entered_takes_two_segments() {
    let code = "function f0 \"f\" exported (i32) -> i32 {
b0: %0 = alloca 4 align 4
  %1 = alloca 4 align 4
  %2 = store i32 p0, %0
  %3 = store i32 1, %1
  jump b1
b1: %4 = load i32, %0
  %5 = compare ne i32 %4, 0
  branch %5, b2, b3
b2: %6 = store i32 2, %1
  %7 = sub i32 %4, 1
  %8 = store i32 %7, %0
  jump b1
b3: %9 = compare ne i32 p0, 0
  branch %9, b4, b5
b4: %10 = load i32, %1
  return %10
b5: return 0
}";
    let goal = "entry f0 goal pair f0 %1 definitions %3 uses %10 cut @ b1 true";
    check(&[], code, &format!("{goal} k-induction 2"), "accepted");
    check(&[], code, &format!("{goal} k-induction 1"), &format!("rejected @ b4 %10: {CAN_BE}"));
    let feasible = code.replace("compare ne i32 p0, 0", "compare eq i32 p0, 0");
    check(&[], &feasible, &format!("{goal} k-induction 2"), &format!("rejected @ b4 %10: {CAN_BE}"));
}

#[test]
fn stubs_and_allocation_are_assumptions_that_must_be_stated() {
    let code = "function f0 \"f\" exported () -> i32 {
b0: %0 = call i32 f1()
  %1 = call ptr f2(i64 8)
  %2 = compare ne i32 %0, 7
  %3 = mark c0 %2
  %4 = compare eq ptr %1, null
  %5 = mark c1 %4
  branch %5, b1, b1 decided c1
b1: return 0
}
function f1 \"sensor\" exported () -> i32 generated {
b0: return 7
}
function f2 \"malloc\" external (i64) -> ptr";
    let decisions = ["d0 f0 c0", "d1 f0 c1"];
    let of = |goal: &str, rest: &str| format!("entry f0 goal outcome {goal} true {rest} inductive");
    check(&decisions, code, &of("c0", "assume stubs inline @.%0"), "accepted");
    let stub = "rejected inline @.%0: f1 is a stub, which stands for code that nobody has";
    check(&decisions, code, &of("c0", "inline @.%0"), stub);
    check(&decisions, code, &of("c0", "assume stubs"), &format!("rejected @ b0 %3: {CAN_BE}"));
    check(&decisions, code, &of("c1", "assume allocation"), "accepted");
    check(&decisions, code, &of("c1", ""), &format!("rejected @ b0 %5: {CAN_BE}"));
    check(
        &decisions,
        &code.replace("malloc", "mallac"),
        &of("c1", "assume allocation"),
        &format!("rejected @ b0 %5: {CAN_BE}"),
    );
    // what competitions agree on is no assumption
    check(&decisions, &code.replace("sensor", "__VERIFIER_nondet_int"), &of("c0", "inline @.%0"), "accepted");
}

/// Stores to a global, calls, and tests the global.
const CALLED: &str = "global g0 \"g\" exported size 4 align 4
function f0 \"f\" exported (ptr) -> i32 {
b0: %0 = store i32 7, g0
  %1 = CALL
  %2 = load i32, g0
  %3 = compare ne i32 %2, 7
  %4 = mark c0 %3
  branch %4, b1, b1 decided c0
b1: return 0
}
DECLARED";

#[test]
fn known_library_functions_change_only_what_they_are_told_to() {
    let may_change = format!("rejected @ b0 %4: {CAN_BE}");
    let said = |call: &str, declared: &str, expected: &str| {
        let code = CALLED.replace("CALL", call).replace("DECLARED", declared);
        check(&["d0 f0 c0"], &code, "entry f0 goal outcome c0 true inductive", expected);
    };
    let printf = "function f1 \"printf\" external (ptr, ...) -> i32";
    said("call i32 f1(ptr p0, i32 3)", printf, "accepted");
    said("call i32 f1(ptr p0, ptr g0)", printf, &may_change);
    said("call i32 f1(ptr p0, i32 3)", &printf.replace("printf", "print"), &may_change);
    let buffered = format!("{printf}\nfunction f2 \"setvbuf\" external (ptr) -> i32");
    said("call i32 f1(ptr p0, i32 3)", &buffered, &may_change);
    let cell = "function f1 \"__quarry_cell\" external (i64, ptr, i32, i32) -> void";
    said("call void f1(i64 1, ptr p0, i32 4, i32 32)", cell, &may_change);
    said("call void f1(i64 1, ptr g0, i32 4, i32 32)", cell, &may_change);
    let apart = CALLED
        .replace("global g0", "global g0 \"h\" exported size 4 align 4\nglobal g1")
        .replace("g0, ", "g1, ");
    let code = apart
        .replace("store i32 7, g0", "store i32 7, g1")
        .replace("load i32, g0", "load i32, g1")
        .replace("CALL", "call void f1(i64 1, ptr g0, i32 4, i32 32)")
        .replace("DECLARED", cell);
    check(&["d0 f0 c0"], &code, "entry f0 goal outcome c0 true inductive", "accepted");
}
