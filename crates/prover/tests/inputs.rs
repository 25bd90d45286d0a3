//! Which goals of small programs get inputs, and what these inputs are.

use std::collections::{BTreeMap, BTreeSet};

use model::input::{Input, Key};
use model::{ConditionId, FunctionId, Program, text, verify};
use proof::Goal;
use prover::{Counterexample, Effort, Engine, Known, Outcome, Task, prove};

/// A harness `f0` that fills a number of 32 bits from cell 7, and a function `f1` that gets it and tests condition `c0`.
fn program(code: &str) -> Program {
    let text = format!(
        "program pointer 64 root f0
file file0 \"t.c\"
span s0 file0:1:1
decision d0 if f1 at s0 c0 \"\"
condition c0 of d0 at s0 \"\"
function f0 \"harness\" exported () -> void {{
b0: %0 = alloca 4 align 4
  %1 = call void f2(i64 7, ptr %0, i32 4, i32 32)
  %2 = load i32, %0
  %3 = call i32 f1(i32 %2)
  return
}}
function f1 \"f\" exported (i32) -> i32 {{
{code}
}}
function f2 \"__quarry_cell\" external (i64, ptr, i32, i32) -> void
function f3 \"unknown\" external (i32) -> i32
"
    );
    let program = text::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(verify(&program).first().map(ToString::to_string), None, "{text}");
    program
}

fn outcome(program: &Program, engine: Engine) -> Outcome {
    let goals = vec![Goal::Outcome { condition: ConditionId(0), value: true }];
    let under_test = Some(FunctionId(1));
    let task = Task { program, goals, under_test, inputs: Vec::new(), misled: BTreeSet::new(), engine };
    prove(&task, &mut Known::default(), &Effort::new(300_000, || false))
}

/// Counts the bits of the parameter in a loop of 32 iterations, then compares their number.
fn bits(tested: &str) -> Program {
    program(&format!(
        "b0: %0 = alloca 4 align 4
  %1 = alloca 4 align 4
  %2 = store i32 0, %0
  %3 = store i32 0, %1
  jump b1
b1: %4 = load i32, %0
  %5 = compare slt i32 %4, 32
  branch %5, b2, b3
b2: %6 = lshr i32 p0, %4
  %7 = and i32 %6, 1
  %8 = load i32, %1
  %9 = add i32 %8, %7
  %10 = store i32 %9, %1
  %11 = add i32 %4, 1
  %12 = store i32 %11, %0
  jump b1
b3: %13 = load i32, %1
  %14 = compare {tested}
  %15 = mark c0 %14
  branch %15, b4, b5 decided c0
b4: return 1
b5: return 0"
    ))
}

#[test]
fn a_loop_is_unrolled_until_the_goal_is_met() {
    let found = outcome(&bits("eq i32 %13, 17"), Engine::Bounded).counterexamples;
    let Counterexample { input, approximations } = &found[&0];
    assert_eq!(input.values[&Key(7)].count_ones(), 17);
    assert!(approximations.is_empty());
}

#[test]
fn no_input_is_found_where_there_is_none_and_the_reason_says_so() {
    let outcome = outcome(&bits("ugt i32 %13, 32"), Engine::Bounded);
    assert!(outcome.counterexamples.is_empty() && outcome.proofs.is_empty());
    let reason = "no run with these shapes of the input covers it".to_owned();
    assert_eq!(outcome.gave_up, BTreeMap::from([(0, (Engine::Bounded, reason))]));
}

#[test]
fn all_engines_together_find_inputs_and_proofs() {
    assert_eq!(outcome(&bits("eq i32 %13, 3"), Engine::Auto).counterexamples.len(), 1);
    let loop_free = program(
        "b0: %0 = and i32 p0, 3\n  %1 = compare ugt i32 %0, 3\n  %2 = mark c0 %1\n  branch %2, b1, b1 decided c0\nb1: return 0",
    );
    let outcome = outcome(&loop_free, Engine::Auto);
    assert_eq!((outcome.proofs.len(), outcome.counterexamples.len()), (1, 0));
}

#[test]
fn a_division_by_zero_is_no_way_to_a_goal() {
    let divided = |tested: &str| {
        program(&format!(
            "b0: %0 = udiv i32 1000, p0\n  %1 = compare {tested}\n  %2 = mark c0 %1\n  branch %2, b1, b1 decided c0\nb1: return 0"
        ))
    };
    assert_eq!(outcome(&divided("eq i32 p0, 0"), Engine::Bounded).counterexamples, BTreeMap::new());
    let found = outcome(&divided("eq i32 %0, 90"), Engine::Bounded).counterexamples;
    assert_eq!(found[&0].input, Input { values: BTreeMap::from([(Key(7), 11)]) });
}

#[test]
fn what_a_call_returns_is_a_guess_that_is_named() {
    let called = program(
        "b0: %0 = call i32 f3(i32 p0)\n  %1 = compare eq i32 %0, 5\n  %2 = mark c0 %1\n  branch %2, b1, b1 decided c0\nb1: return 0",
    );
    let found = outcome(&called, Engine::Bounded).counterexamples;
    assert_eq!(found[&0].approximations, ["call of unknown"]);
}
