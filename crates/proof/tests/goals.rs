//! Every kind of goal: when it is covered, and in which activations.

#[path = "support/mod.rs"]
mod support;

use support::{program, proof, verdict};

#[track_caller]
fn check(decisions: &[&str], code: &str, text: &str, expected: bool) {
    let program = program(decisions, code);
    let said = verdict(&program, &proof(&program, text));
    assert!(said == "accepted" || said.ends_with("against the claim"), "{text}: {said}");
    assert_eq!(said == "accepted", expected, "{text}");
}

/// `if (x > 5 && x > 3)`: where the second is evaluated it is true.
const MASKED: &str = "function f0 \"f\" exported (i32) -> i32 {
b0: %0 = compare sgt i32 p0, 5
  %1 = mark c0 %0
  branch %1, b1, b3 decided c0
b1: %2 = compare sgt i32 p0, 3
  %3 = mark c1 %2
  branch %3, b2, b3 decided c1
b2: return 1
b3: return 0
}";

#[test]
fn independence_and_vectors_are_read_off_whole_evaluations() {
    let goals = [
        ("outcome c1 false inductive", true),
        ("outcome c1 true inductive", false),
        ("independent c1 false inductive", true),
        ("independent c1 true inductive", false),
        ("independent c0 false inductive", false),
        ("decision d0 true inductive", false),
        // TT, TF, F-
        ("vector d0 0 inductive", false),
        ("vector d0 1 inductive", true),
        ("vector d0 2 inductive", false),
        // the pair of c1 needs TF, that of c0 does not
        ("paired c1 true halves 1 inductive", true),
        ("paired c1 false halves 1 inductive", true),
        ("paired c1 true halves 0 inductive", false),
    ];
    for (goal, expected) in goals {
        check(&["d0 f0 (c0 && c1)"], MASKED, &format!("entry f0 goal {goal}"), expected);
    }
    let program = program(&["d0 f0 (c0 && c1)"], MASKED);
    let said = |text: &str| verdict(&program, &proof(&program, text));
    let pair = "rejected halves: vectors 0 and 2 are a pair without either of them";
    assert_eq!(said("entry f0 goal paired c0 true halves 1 inductive"), pair);
    assert_eq!(said("entry f0 goal paired c0 true halves inductive"), pair);
    assert_eq!(
        said("entry f0 goal paired c0 true halves 3 inductive"),
        "rejected halves: the decision has 3 vectors"
    );
}

#[test]
fn an_evaluation_does_not_mix_with_the_one_before() {
    // while (x == y && x == z) x++: a second turn has other outcomes than the first
    let code = "function f0 \"f\" exported (i32) -> i32 {
b0: %0 = alloca 4 align 4
  %1 = store i32 0, %0
  jump b1
b1: %2 = load i32, %0
  %3 = compare ult i32 %2, 3
  %4 = mark c0 %3
  branch %4, b2, b4 decided c0
b2: %5 = compare ne i32 p0, 0
  %6 = mark c1 %5
  branch %6, b3, b4 decided c1
b3: %7 = add i32 %2, 1
  %8 = store i32 %7, %0
  jump b1
b4: return 0
}";
    let decisions = ["d0 f0 (c0 && c1)"];
    for (goal, expected) in [("vector d0 0", false), ("vector d0 1", false), ("vector d0 2", false)] {
        check(&decisions, code, &format!("entry f0 goal {goal} cut @ b1 true inductive"), expected);
    }
    let never = code.replace("compare ne i32 p0, 0", "compare ne i32 %2, %2");
    for (goal, expected) in [("vector d0 0", true), ("vector d0 1", false), ("decision d0 true", true)] {
        check(&decisions, &never, &format!("entry f0 goal {goal} cut @ b1 true inductive"), expected);
    }
}

const SWITCH: &str = "switch sw0 f0 at s0 \"\" { case 1 at s0, case 2 ... 3 at s0DEFAULT }
function f0 \"f\" exported (i32) -> i32 {
b0: %0 = and i32 p0, MASK
  switch i32 %0 { 1: b1, 2: b2, 3: b2, default: b3 } source sw0
b1: return 1
b2: return 2
b3: return 3
}";

#[test]
fn labels_are_edges_of_the_switch() {
    let code = |mask: &str, default: &str| SWITCH.replace("MASK", mask).replace("DEFAULT", default);
    let label = |label: &str| format!("entry f0 goal label sw0 {label} inductive");
    check(&[], &code("1", ""), &label("0"), false);
    check(&[], &code("1", ""), &label("1"), true);
    check(&[], &code("2", ""), &label("0"), true);
    check(&[], &code("2", ""), &label("1"), false);
    check(&[], &code("2", ""), &label("implicit"), false);
    check(&[], &code("2", ", default at s0"), &label("2"), false);
    // the default label makes an implicit one impossible
    check(&[], &code("2", ", default at s0"), &label("implicit"), true);
    let never_default = code("1", "").replace("and i32 p0, 1", "or i32 1, 2");
    check(&[], &never_default, &label("implicit"), true);
    check(&[], &never_default, &label("1"), false);
}

#[test]
fn large_ranges_are_tests_behind_the_default_edge() {
    let code = "switch sw0 f0 at s0 \"\" { case 1 at s0, case 10 ... 900 at s0 }
function f0 \"f\" exported (i32) -> i32 {
b0: %0 = and i32 p0, MASK
  switch i32 %0 { 1: b1, default: b2 } source sw0
b1: return 1
b2: %1 = sub i32 %0, 10
  %2 = compare ule i32 %1, 890
  branch %2, b3, b4 range sw0 1
b3: return 2
b4: return 3
}";
    let label = |label: &str| format!("entry f0 goal label sw0 {label} inductive");
    check(&[], &code.replace("MASK", "7"), &label("1"), true);
    check(&[], &code.replace("MASK", "7"), &label("implicit"), false);
    check(&[], &code.replace("MASK", "15"), &label("1"), false);
    // 11 and 15 are in the range, 9 is not
    check(&[], &code.replace("and i32 p0, MASK", "or i32 1, 10"), &label("implicit"), true);
}

#[test]
fn a_definition_reaches_a_use_unless_another_comes_between() {
    // int x = 1; if (p) x = 2; if (p) use(x); else use(x);
    let code = "function f0 \"f\" exported (i32) -> i32 {
b0: %0 = alloca 4 align 4
  %1 = store i32 1, %0
  %2 = compare ne i32 p0, 0
  branch %2, b1, b2
b1: %3 = store i32 2, %0
  jump b2
b2: %4 = compare ne i32 p0, 0
  branch %4, b3, b4
b3: %5 = load i32, %0
  return %5
b4: %6 = load i32, %0
  return %6
}";
    let pair = |definition: &str, use_: &str| {
        format!("entry f0 goal pair f0 %0 definitions {definition} uses {use_} inductive")
    };
    check(&[], code, &pair("%1", "%5"), true);
    check(&[], code, &pair("%1", "%6"), false);
    check(&[], code, &pair("%3", "%5"), false);
    check(&[], code, &pair("%3", "%6"), true);
    // all uses of a definition together
    check(&[], code, &pair("%1", "%5 %6"), false);
    // a call in between makes an activation of its own
    let nested =
        code.replace("%4 = compare ne i32 p0, 0", "%7 = call i32 f0(i32 1)\n %4 = compare ne i32 p0, 0");
    check(&[], &nested, &pair("%1", "%5"), true);
    check(&[], &nested, &pair("%1", "%6"), false);
    // one whose address is passed on may change by other means
    let escapes = code.replace("compare ne i32 p0, 0\n  branch %4", "compare ne ptr %0, null\n  branch %4");
    let program = program(&[], &escapes);
    let said = verdict(&program, &proof(&program, &pair("%1", "%5")));
    assert_eq!(said, "rejected goal: %0 is no promoted local of f0");
}

#[test]
fn loops_of_inlined_functions_are_cut_in_their_activation() {
    // sum(n) counts down from n; f calls it with 3 and marks a result above 3
    let code = "function f0 \"f\" exported () -> i32 {
b0: %0 = call i32 f1(i32 3)
  %1 = compare ugt i32 %0, 3
  %2 = mark c0 %1
  branch %2, b1, b2 decided c0
b1: return 1
b2: return 0
}
function f1 \"count\" internal (i32) -> i32 {
b0: %0 = alloca 4 align 4
  %1 = alloca 4 align 4
  %2 = store i32 p0, %0
  %3 = store i32 0, %1
  jump b1
b1: %4 = load i32, %0
  %5 = compare ugt i32 %4, 0
  branch %5, b2, b3
b2: %6 = sub i32 %4, 1
  %7 = store i32 %6, %0
  %8 = load i32, %1
  %9 = add i32 %8, 1
  %10 = store i32 %9, %1
  jump b1
b3: %11 = load i32, %1
  return %11
}";
    let goal = "entry f0 goal outcome c0 true inline @.%0";
    let sum = "(= (bvadd (local @.%0 %0) (local @.%0 %1)) i32:3)";
    let small = "(bvule (local @.%0 %0) i32:3)";
    check(&["d0 f0 c0"], code, &format!("{goal} cut @.%0 b1 (and {sum} {small}) inductive"), true);
    check(&["d0 f0 c0"], code, &format!("{goal} cut @.%0 b1 {small} inductive"), false);
    check(&["d0 f0 c0"], code, &format!("{goal} cut @.%0 b1 {sum} inductive"), true);
    // without inlining, the result is anything
    check(&["d0 f0 c0"], code, "entry f0 goal outcome c0 true inductive", false);
    let program = program(&["d0 f0 c0"], code);
    let said = verdict(&program, &proof(&program, &format!("{goal} inductive")));
    assert_eq!(said, "rejected cycle @.%0 b1, @.%0 b2: no cut is on it");
}

#[test]
fn recursion_is_inlined_only_as_far_as_the_proof_says() {
    // f(n) = n == 0 ? 0 : f(n - 1); g marks a result that is not 0 of f(2)
    let code = "function f0 \"g\" exported () -> i32 {
b0: %0 = call i32 f1(i32 2)
  %1 = compare ne i32 %0, 0
  %2 = mark c0 %1
  branch %2, b1, b2 decided c0
b1: return 1
b2: return 0
}
function f1 \"f\" internal (i32) -> i32 {
b0: %0 = compare eq i32 p0, 0
  branch %0, b1, b2
b1: return 0
b2: %1 = sub i32 p0, 1
  %2 = call i32 f1(i32 %1)
  return %2
}";
    let goal = "entry f0 goal outcome c0 true inline @.%0 inline @.%0.%2";
    check(&["d0 f0 c0"], code, &format!("{goal} inline @.%0.%2.%2 inductive"), true);
    check(&["d0 f0 c0"], code, &format!("{goal} inductive"), false);
}

#[test]
fn memory_is_arbitrary_at_a_cut_but_for_its_formula() {
    // a global flag that the loop never sets: the formula must say so
    let code = "global g0 \"flag\" internal size 4 align 4
function f0 \"f\" exported (i32) -> i32 {
b0: %0 = alloca 4 align 4
  %1 = store i32 p0, %0
  %2 = store i32 0, g0
  jump b1
b1: %3 = load i32, %0
  %4 = sub i32 %3, 1
  %5 = store i32 %4, %0
  %6 = compare ne i32 %4, 0
  branch %6, b1, b2
b2: %7 = load i32, g0
  %8 = compare ne i32 %7, 0
  %9 = mark c0 %8
  branch %9, b3, b4 decided c0
b3: return 1
b4: return 0
}";
    let goal = "entry f0 goal outcome c0 true";
    check(&["d0 f0 c0"], code, &format!("{goal} cut @ b1 (= (load 32 (address g0)) i32:0) inductive"), true);
    check(&["d0 f0 c0"], code, &format!("{goal} cut @ b1 true inductive"), false);
    check(&["d0 f0 c0"], code, &format!("{goal} cut @ b1 (= (load 16 (address g0)) i16:0) inductive"), false);
    let calls = format!(
        "{}\nfunction f1 \"out\" external () -> void",
        code.replace("%4 = sub", "%10 = call void f1()\n %4 = sub")
    );
    check(
        &["d0 f0 c0"],
        &calls,
        &format!("{goal} cut @ b1 (= (load 32 (address g0)) i32:0) inductive"),
        false,
    );
    // pointers of 32 bits
    let wide = model::text::print(&program(&["d0 f0 c0"], code));
    let narrow = model::text::parse(&wide.replace("pointer 64", "pointer 32")).expect("it is a program");
    let said =
        |formula: &str| verdict(&narrow, &proof(&narrow, &format!("{goal} cut @ b1 {formula} inductive")));
    assert_eq!(said("(= (load 32 (address g0)) i32:0)"), "accepted");
    assert_eq!(said("(= (load 8 i64:4096) i8:0)"), "rejected cut @ b1: a load takes an address");
    // a local in memory, whose address is passed on before the loop
    let local = code.replace("store i32 0, g0", "store i32 0, %10").replace("load i32, g0", "load i32, %10");
    let local = local.replace("b0: ", "b0: %10 = alloca 4 align 4\n %11 = ptrtoint ptr %10 to i64\n ");
    let formula = "(= (load 32 (alloca @ %10)) i32:0)";
    check(&["d0 f0 c0"], &local, &format!("{goal} cut @ b1 {formula} inductive"), true);
    check(&["d0 f0 c0"], &local, &format!("{goal} cut @ b1 true inductive"), false);
}

#[test]
fn a_value_that_one_of_two_ways_computes_again_is_the_new_one_there() {
    // b2 sets a flag and goes on when the value is positive: back over b1, which reads it again, or straight to b4
    let code = "function f0 \"f\" exported (ptr) -> i32 {
b0: %0 = alloca 4 align 4
  %1 = store i32 0, %0
  jump b1
b1: %2 = volatile load i32, p0
  %3 = volatile load i1, p0
  branch %3, b2, b4
b2: %4 = store i32 1, %0
  %5 = compare sgt i32 %2, 0
  branch %5, b3, b7
b3: %6 = volatile load i1, p0
  branch %6, b1, b4
b4: %7 = compare sle i32 %2, 0
  %8 = load i32, %0
  %9 = compare eq i32 %8, 1
  %10 = and i1 %7, %9
  %11 = mark c0 %10
  branch %11, b5, b6 decided c0
b5: return 1
b6: return 0
b7: return 2
}";
    check(&["d0 f0 c0"], code, "entry f0 goal outcome c0 true cut @ b2 true inductive", false);
    // without the way over b1 the value is positive wherever the flag is set
    let straight = code.replace("branch %6, b1, b4", "branch %6, b4, b4");
    check(&["d0 f0 c0"], &straight, "entry f0 goal outcome c0 true cut @ b2 true inductive", true);
}

#[test]
fn locals_of_a_call_are_gone_when_it_returns() {
    // g gives the address of its local, to which it stored 5
    let code = "function f0 \"f\" exported () -> i32 {
b0: %0 = call ptr f1()
  %1 = load i32, %0
  %2 = compare ne i32 %1, 5
  %3 = mark c0 %2
  branch %3, b1, b2 decided c0
b1: return 1
b2: return 0
}
function f1 \"g\" internal () -> ptr {
b0: %0 = alloca 4 align 4
  %1 = store i32 5, %0
  return %0
}";
    check(&["d0 f0 c0"], code, "entry f0 goal outcome c0 true inline @.%0 inductive", false);
    let within = code.replace("return %0", "%2 = load i32, %0\n %3 = inttoptr i32 %2 to ptr\n return %3");
    let within = within.replace(
        "%1 = load i32, %0\n  %2 = compare ne i32 %1, 5",
        "%1 = ptrtoint ptr %0 to i32\n  %2 = compare ne i32 %1, 5",
    );
    check(&["d0 f0 c0"], &within, "entry f0 goal outcome c0 true inline @.%0 inductive", true);
}
