//! Valid proofs are accepted, and every kind of wrong one is rejected, with the reason.

#[path = "support/mod.rs"]
mod support;

use proof::{Answer, Checker, Decide, Verdict};
use support::{program, proof, verdict};

#[track_caller]
fn check(decisions: &[&str], code: &str, text: &str, expected: &str) {
    let program = program(decisions, code);
    assert_eq!(verdict(&program, &proof(&program, text)), expected);
}

/// `for (i = 0; i < 10; i++); if (i > 10) …`
const COUNTER: &str = "function f0 \"f\" exported (i32) -> i32 {
b0: %0 = alloca 4 align 4
  %1 = store i32 0, %0
  jump b1
b1: %2 = load i32, %0
  %3 = compare slt i32 %2, 10
  branch %3, b2, b3
b2: %4 = load i32, %0
  %5 = add i32 %4, 1
  %6 = store i32 %5, %0
  jump b1
b3: %7 = load i32, %0
  %8 = compare sgt i32 %7, 10
  %9 = mark c0 %8
  branch %9, b4, b5 decided c0
b4: return 1
b5: return 0
}";

#[track_caller]
fn counter(text: &str, expected: &str) {
    check(&["d0 f0 c0"], COUNTER, text, expected);
}

#[test]
fn an_inductive_invariant_shows_the_claim() {
    counter("entry f0 goal outcome c0 true cut @ b1 (bvsle (local @ %0) i32:10) inductive", "accepted");
    counter("entry f0 goal reach f0 b4 0 cut @ b1 (bvsle (local @ %0) i32:10) inductive", "accepted");
    counter("entry f0 goal decision d0 true cut @ b1 (bvsle (local @ %0) i32:10) inductive", "accepted");
    // a cut where it is not needed is as good as another
    let two = "cut @ b1 (bvsle (local @ %0) i32:10) cut @ b3 (= (local @ %0) i32:10) inductive";
    counter(&format!("entry f0 goal outcome c0 true {two}"), "accepted");
}

#[test]
fn what_does_not_follow_is_rejected_by_name() {
    let goal = "entry f0 goal outcome c0 true";
    counter(&format!("{goal} inductive"), "rejected cycle @ b1, @ b2: no cut is on it");
    let can_be = "it can be reached against the claim";
    counter(&format!("{goal} cut @ b1 true inductive"), &format!("rejected @ b3 %9: {can_be}"));
    // not inductive: 9 leads to 10
    counter(
        &format!("{goal} cut @ b1 (bvsle (local @ %0) i32:9) inductive"),
        &format!("rejected cut @ b1: {can_be}"),
    );
    // not initial
    counter(
        &format!("{goal} cut @ b1 (= (local @ %0) i32:10) inductive"),
        &format!("rejected cut @ b1: {can_be}"),
    );
    // holds, and leaves the goal open
    counter(
        &format!("{goal} cut @ b1 (bvsge (local @ %0) i32:0) inductive"),
        &format!("rejected @ b3 %9: {can_be}"),
    );
    counter(
        "entry f0 goal outcome c0 false cut @ b1 (bvsle (local @ %0) i32:10) inductive",
        &format!("rejected @ b3 %9: {can_be}"),
    );
    // false holds nowhere
    counter(&format!("{goal} cut @ b1 false inductive"), &format!("rejected cut @ b1: {can_be}"));
}

#[test]
fn ids_and_sorts_that_do_not_fit_are_rejected() {
    let goal = "entry f0 goal outcome c0 true";
    let cut = "cut @ b1 (bvsle (local @ %0) i32:10) inductive";
    counter(&format!("entry f7 goal outcome c0 true {cut}"), "rejected claim: f7 is no defined function");
    counter(&format!("entry f0 goal outcome c9 true {cut}"), "rejected goal: c9 does not exist");
    counter(&format!("entry f0 goal reach f0 b9 0 {cut}"), "rejected goal: f0 b9 0 does not exist");
    counter(&format!("entry f0 goal reach f0 b4 1 {cut}"), "rejected goal: f0 b4 1 does not exist");
    counter(&format!("entry f0 goal decision d4 true {cut}"), "rejected goal: d4 does not exist");
    counter(&format!("entry f0 goal label sw0 0 {cut}"), "rejected goal: sw0 does not exist");
    counter(&format!("entry f0 goal vector d0 2 {cut}"), "rejected goal: vector 2 of d0 does not exist");
    counter(
        &format!("entry f0 goal paired c0 true {cut}"),
        "rejected goal: the vectors that break all pairs are not given",
    );
    counter(
        "entry f0 goal outcome c0 true halves 0 inductive",
        "rejected goal: halves show only that there is no pair",
    );
    counter(
        &format!("entry f0 goal pair f0 %0 definitions %2 uses %4 {cut}"),
        "rejected goal: the ends are no stores to and loads from %0",
    );
    counter(
        &format!("{goal} cut @ b1 (bvsle (local @ %1) i32:10) inductive"),
        "rejected cut @ b1: @ %1 is no promoted local",
    );
    counter(
        &format!("{goal} cut @ b1 (bvsle (local @.%3 %0) i32:10) inductive"),
        "rejected cut @ b1: @.%3 is not inlined",
    );
    counter(
        &format!("{goal} cut @ b1 (bvsle (local @ %0) i64:10) inductive"),
        "rejected cut @ b1: bvsle does not take such operands",
    );
    counter(&format!("{goal} cut @ b1 (local @ %0) inductive"), "rejected cut @ b1: it is no boolean");
    counter(
        &format!("{goal} cut @ b1 (= (parameter 1) i32:0) inductive"),
        "rejected cut @ b1: parameter 1 is no scalar of the entry",
    );
    counter(
        &format!("{goal} cut @ b1 (= (load 8 (local @ %0)) i8:0) inductive"),
        "rejected cut @ b1: a load takes an address",
    );
    counter(
        &format!("{goal} cut @ b1 (= (address g0) i64:0) inductive"),
        "rejected cut @ b1: g0 does not exist",
    );
    counter(
        &format!("{goal} cut @ b1 (= (alloca @ %0) i64:0) inductive"),
        "rejected cut @ b1: @ %0 is no local in memory",
    );
    counter(&format!("{goal} cut @ b9 true inductive"), "rejected cut @ b9: b9 does not exist");
    counter(&format!("{goal} cut @.%4 b0 true inductive"), "rejected cut @.%4 b0: @.%4 is not inlined");
    counter(&format!("{goal} cut @ b1 true cut @ b1 true inductive"), "rejected cut @ b1: it is there twice");
    counter(&format!("{goal} inline @ {cut}"), "rejected inline @: the entry's own activation is no call");
    counter(&format!("{goal} inline @.%4 {cut}"), "rejected inline @.%4: %4 is no direct call");
    counter(
        &format!("{goal} inline @.%4.%4 {cut}"),
        "rejected inline @.%4.%4: @.%4 is not inlined before it",
    );
}

#[test]
fn a_claim_about_another_program_is_rejected() {
    let one = program(&["d0 f0 c0"], COUNTER);
    let other = program(&["d0 f0 c0"], &COUNTER.replace("slt i32 %2, 10", "slt i32 %2, 11"));
    let proof = proof(&one, "entry f0 goal outcome c0 true cut @ b1 (bvsle (local @ %0) i32:10) inductive");
    assert_eq!(verdict(&one, &proof), "accepted");
    let said = verdict(&other, &proof);
    assert!(said.starts_with("rejected claim: it is about program "), "{said}");
}

#[test]
fn arithmetic_wraps_around() {
    // `if (x > 0 && x + 1 < x)` is feasible on bit-vectors, though not on integers
    let code = "function f0 \"f\" exported (i32) -> i32 {
b0: %0 = add i32 p0, 1
  %1 = compare slt i32 %0, p0
  %2 = mark c0 %1
  branch %2, b1, b2 decided c0
b1: return 1
b2: return 0
}";
    let rejected = "rejected @ b0 %2: it can be reached against the claim";
    check(&["d0 f0 c0"], code, "entry f0 goal outcome c0 true inductive", rejected);
    // i += 2 from 0 never becomes odd, and becomes negative
    let code = "function f0 \"f\" exported (i32) -> i32 {
b0: %0 = alloca 4 align 4
  %1 = store i32 0, %0
  jump b1
b1: %2 = load i32, %0
  %3 = mark c0 TEST
  branch %3, b2, b3 decided c0
b2: return 1
b3: %4 = load i32, %0
  %5 = add i32 %4, 2
  %6 = store i32 %5, %0
  jump b1
}";
    let odd =
        code.replace("%3 = mark c0 TEST", "%7 = and i32 %2, 1\n%8 = compare ne i32 %7, 0\n%3 = mark c0 %8");
    let even = "cut @ b1 (= (extract 0 0 (local @ %0)) i1:0) inductive";
    check(&["d0 f0 c0"], &odd, &format!("entry f0 goal outcome c0 true {even}"), "accepted");
    let negative = code.replace("%3 = mark c0 TEST", "%7 = compare slt i32 %2, 0\n%3 = mark c0 %7");
    let positive = "entry f0 goal outcome c0 true cut @ b1 (bvsge (local @ %0) i32:0) inductive";
    check(&["d0 f0 c0"], &negative, positive, "rejected cut @ b1: it can be reached against the claim");
}

/// A function that marks what it gets, called with 1 and with `ARGUMENT`.
const CALLS: &str = "function f0 \"f\" exported (ptr) -> i32 {
b0: %0 = call i32 f1(i32 1)
  %1 = call i32 f1(i32 ARGUMENT)
  return %0
}
function f1 \"g\" internal (i32) -> i32 {
b0: %0 = compare eq i32 p0, 3
  %1 = mark c0 %0
  branch %1, b1, b2 decided c0
b1: return 1
b2: return 0
}";

#[test]
fn every_call_that_may_lead_to_the_goal_is_inlined() {
    let goal = "entry f0 goal outcome c0 true";
    let calls = |argument: &str| CALLS.replace("ARGUMENT", argument);
    let both = format!("{goal} inline @.%0 inline @.%1 inductive");
    check(&["d0 f1 c0"], &calls("2"), &both, "accepted");
    check(&["d0 f1 c0"], &calls("3"), &both, "rejected @.%1 b0 %1: it can be reached against the claim");
    check(
        &["d0 f1 c0"],
        &calls("2"),
        &format!("{goal} inline @.%0 inductive"),
        "rejected @ b0 %1: g may lead to the goal, and is not inlined",
    );
    check(
        &["d0 f1 c0"],
        &calls("2"),
        &format!("{goal} inline @.%0 inline @.%0 inline @.%1 inductive"),
        "rejected inline @.%0: it is inlined twice",
    );
    // by itself, the function may be called with 3
    check(
        &["d0 f1 c0"],
        &calls("2"),
        "entry f1 goal outcome c0 true inductive",
        "rejected @ b0 %1: it can be reached against the claim",
    );
    // through a pointer, and through code outside, to functions whose address is taken
    let indirect = calls("2").replace("call i32 f1(i32 2)", "call i32 *p0(i32 2)");
    check(&["d0 f1 c0"], &indirect, &format!("{goal} inline @.%0 inductive"), "accepted");
    let taken = format!("global g0 \"table\" internal size 8 align 8 relocations {{ 0: f1 }}\n{indirect}");
    check(
        &["d0 f1 c0"],
        &taken,
        &format!("{goal} inline @.%0 inductive"),
        "rejected @ b0 %1: a pointer may lead to the goal, and is not inlined",
    );
    let outside = taken.replace("call i32 *p0(i32 2)", "call i32 f2(i32 2)");
    let outside = format!("{outside}\nfunction f2 \"qsort\" external (i32) -> i32");
    check(
        &["d0 f1 c0"],
        &outside,
        &format!("{goal} inline @.%0 inductive"),
        "rejected @ b0 %1: qsort may lead to the goal, and is not inlined",
    );
    // code that the model does not have may call even a static function
    let unseen = outside.replace("{ 0: f1 }", "{ 0: f2 }").replace("external", "internal");
    check(
        &["d0 f1 c0"],
        &unseen,
        &format!("{goal} inline @.%0 inductive"),
        "rejected @ b0 %1: qsort may lead to the goal, and is not inlined",
    );
}

#[test]
fn nested_activations_are_activations_of_their_own() {
    // f(n): if (n == 0) return; f(n - 1); a goal that no activation covers by itself
    let code = "function f0 \"f\" exported (i32) -> i32 {
b0: %0 = alloca 4 align 4
  %1 = store i32 7, %0
  %2 = call i32 f0(i32 3)
  %3 = load i32, %0
  %4 = compare ne i32 %3, 7
  %5 = mark c0 %4
  branch %5, b1, b2 decided c0
b1: return 1
b2: return %2
}";
    check(&["d0 f0 c0"], code, "entry f0 goal outcome c0 true inductive", "accepted");
    // the result of the call is arbitrary
    let result = code.replace("compare ne i32 %3, 7", "compare ne i32 %2, 0");
    check(
        &["d0 f0 c0"],
        &result,
        "entry f0 goal outcome c0 true inductive",
        "rejected @ b0 %5: it can be reached against the claim",
    );
    // what is assumed of the first activation need not hold for the second
    check(
        &["d0 f0 c0"],
        code,
        "entry f0 goal outcome c0 true assume initial-globals inductive",
        "rejected @ b0 %2: f may lead to the goal, and is not inlined",
    );
}

#[test]
fn jumps_and_code_that_runs_beside_are_refused() {
    let calls = |callee: &str| {
        format!(
            "function f0 \"f\" exported () -> i32 {{
b0: %0 = call i32 f1()
  %1 = mark c0 0
  branch %1, b1, b2 decided c0
b1: return 1
b2: return 0
}}
function f1 \"{callee}\" external () -> i32"
        )
    };
    let goal = "entry f0 goal outcome c0 true inductive";
    check(&["d0 f0 c0"], &calls("puts"), goal, "accepted");
    let refused = "rejected @ b0 %0: setjmp does not come back as calls do";
    check(&["d0 f0 c0"], &format!("{} returns_twice", calls("setjmp")), goal, refused);
    let refused = "rejected @ b0 %0: longjmp does not come back as calls do";
    check(&["d0 f0 c0"], &format!("{} no_return", calls("longjmp")), goal, refused);
    let refused = "rejected program: the program uses signal: code may run beside what calls show";
    check(&["d0 f0 c0"], &calls("signal"), goal, refused);
    let thread = format!("gap thread \"pthread_create\"\n{}", calls("puts"));
    check(&["d0 f0 c0"], &thread, goal, "rejected program: the program has threads: pthread_create");
    // what does not return ends the run
    let ends = calls("exit").replace("mark c0 0", "mark c0 1");
    check(&["d0 f0 c0"], &format!("{ends} no_return"), goal, "accepted");
    check(&["d0 f0 c0"], &ends, goal, "rejected @ b0 %1: it can be reached against the claim");
}

/// Says what it is told to.
struct Told(Vec<Answer>);

impl Decide for Told {
    fn decide(&mut self, _script: &str) -> Answer {
        self.0.remove(0)
    }
}

#[test]
fn doubt_is_no_acceptance() {
    let program = program(&["d0 f0 c0"], COUNTER);
    let proof =
        proof(&program, "entry f0 goal outcome c0 true cut @ b1 (bvsle (local @ %0) i32:10) inductive");
    let answers = |told: Vec<Answer>| Checker::new(&program).check(&proof, &mut Told(told));
    let doubt = Answer::Unknown("tired".to_owned());
    // that 0 is at most 10 where the loop begins takes no solver
    assert_eq!(answers(vec![Answer::Unsat]), Verdict::Accepted { n_queries: 1 });
    assert_eq!(answers(vec![doubt.clone(), doubt]), Verdict::Unknown("@ b3 %9: tired".to_owned()));
    let quarrel = Answer::Disagreement("z3 says sat, cvc5 says unsat".to_owned());
    assert_eq!(answers(vec![quarrel]), Verdict::Disagreement("z3 says sat, cvc5 says unsat".to_owned()));
}
