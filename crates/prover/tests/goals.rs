//! Which goals of small programs are proved infeasible, and which of their feasible twins are not.

use std::collections::BTreeSet;
use std::fmt::Write;

use model::{ConditionId, DecisionId, FunctionId, GlobalId, InstrId, Program, text, verify};
use proof::{Assumption, Checker, FlowHome, FlowObject, FlowPlace, Goal, Proof, Solvers, Verdict};
use prover::{Effort, Engine, Known, Task, prove};

/// A program with decisions of one condition each, `d0` with `c0` and so on, in these functions.
fn program(decisions_in: &[u32], globals: &str, code: &str) -> Program {
    let mut tables = format!("program pointer 64 root f0\nfile file0 \"t.c\"\nspan s0 file0:1:1\n{globals}");
    for (id, function) in decisions_in.iter().enumerate() {
        writeln!(tables, "decision d{id} if f{function} at s0 c{id} \"\"")
            .expect("a string takes everything");
    }
    for id in 0..decisions_in.len() {
        writeln!(tables, "condition c{id} of d{id} at s0 \"\"").expect("a string takes everything");
    }
    let tables = format!("{tables}{code}\n");
    let program = text::parse(&tables).unwrap_or_else(|error| panic!("{error}\n{tables}"));
    assert_eq!(verify(&program).first().map(ToString::to_string), None, "{tables}");
    program
}

fn proof_of(program: &Program, engine: Engine, condition: u32, value: bool) -> Option<Proof> {
    let goals = vec![Goal::Outcome { condition: ConditionId(condition), value }];
    let task = Task {
        program,
        goals,
        under_test: Some(FunctionId(0)),
        inputs: Vec::new(),
        misled: BTreeSet::new(),
        engine,
    };
    prove(&task, &mut Known::default(), &Effort::new(300_000, || false)).proofs.remove(&0)
}

/// The condition is never true, and the checker agrees; it may be false.
#[track_caller]
fn never_true(program: &Program, condition: u32) -> Proof {
    let proof = proof_of(program, Engine::Houdini, condition, true).expect("a proof");
    let said = Checker::new(program).check(&proof, &mut Solvers::installed());
    assert!(matches!(said, Verdict::Accepted { .. }), "{said:?}\n{}", proof::text::print(&proof));
    assert_eq!(proof_of(program, Engine::Houdini, condition, false), None);
    proof
}

#[track_caller]
fn may_be_both(program: &Program, condition: u32) {
    for value in [true, false] {
        assert_eq!(proof_of(program, Engine::Houdini, condition, value), None, "{value}");
    }
}

/// `for (i = 0; i < 10; i += STEP); if (i OP LIMIT) …`
fn counter(step: u32, tested: &str) -> Program {
    program(
        &[0],
        "",
        &format!(
            "function f0 \"f\" exported (i32) -> i32 {{
b0: %0 = alloca 4 align 4
  %1 = store i32 0, %0
  jump b1
b1: %2 = load i32, %0
  %3 = compare slt i32 %2, 10
  branch %3, b2, b3
b2: %4 = load i32, %0
  %5 = add i32 %4, {step}
  %6 = store i32 %5, %0
  jump b1
b3: %7 = load i32, %0
  %8 = compare {tested}
  %9 = mark c0 %8
  branch %9, b4, b5 decided c0
b4: return 1
b5: return 0
}}"
        ),
    )
}

#[test]
fn a_loop_counter_ends_at_its_limit() {
    let counter_at_10 = counter(1, "ne i32 %7, 10");
    let proof = never_true(&counter_at_10, 0);
    assert_eq!(proof.cuts.len(), 1);
    assert_eq!(proof_of(&counter_at_10, Engine::LoopFree, 0, true), None, "nothing is known behind the loop");
}

#[test]
fn a_loop_counter_that_skips_its_limit_may_end_elsewhere() {
    let always = proof_of(&counter(3, "ne i32 %7, 10"), Engine::Houdini, 0, true);
    assert_eq!(always, None);
}

/// `g = CALLER_VALUE; helper(); …` where `helper` tests `g == 7`.
fn caller(stores_before_call: u32) -> Program {
    program(
        &[1],
        "global g0 \"g\" internal size 4 align 4\n",
        &format!(
            "function f0 \"f\" exported (i32) -> i32 {{
b0: %0 = store i32 {stores_before_call}, g0
  %1 = call i32 f1(i32 p0)
  return %1
}}
function f1 \"helper\" internal (i32) -> i32 {{
b0: %0 = load i32, g0
  %1 = compare eq i32 %0, 7
  %2 = mark c0 %1
  branch %2, b1, b2 decided c0
b1: return 1
b2: return 0
}}"
        ),
    )
}

#[test]
fn what_only_the_caller_knows_is_proved_from_the_caller() {
    let proof = never_true(&caller(3), 0);
    assert_eq!((proof.claim.entry, proof.contexts.len()), (FunctionId(0), 1));
    assert!(proof.claim.assumptions.is_empty());
    assert_eq!(proof_of(&caller(7), Engine::Houdini, 0, true), None);
}

/// Tests a global that nothing stores to.
const UNTOUCHED: &str = "function f0 \"f\" exported (i32) -> i32 {
b0: %0 = load i32, g0
  %1 = compare eq i32 %0, 7
  %2 = mark c0 %1
  branch %2, b1, b2 decided c0
b1: return 1
b2: return 0
}";

#[test]
fn the_initial_value_of_a_global_is_an_assumption_and_a_constant_is_none() {
    let variable = program(&[0], "global g0 \"g\" internal size 4 align 4\n", UNTOUCHED);
    let proof = never_true(&variable, 0);
    assert_eq!(proof.claim.assumptions.into_iter().collect::<Vec<_>>(), [Assumption::InitialGlobals]);
    let constant = program(&[0], "global g0 \"g\" internal constant size 4 align 4\n", UNTOUCHED);
    assert!(never_true(&constant, 0).claim.assumptions.is_empty());
}

#[test]
fn a_volatile_load_may_give_anything() {
    let code = UNTOUCHED.replace("load i32, g0", "volatile load i32, g0");
    let constant = program(&[0], "global g0 \"g\" internal constant size 4 align 4\n", &code);
    may_be_both(&constant, 0);
}

/// `x OP y` of the parameters, then a test of the result.
fn arithmetic(operation: &str, tested: &str) -> Program {
    program(
        &[0],
        "",
        &format!(
            "function f0 \"f\" exported (i32, i32) -> i32 {{
b0: %0 = {operation}
  %1 = compare {tested}
  %2 = mark c0 %1
  branch %2, b1, b2 decided c0
b1: return 1
b2: return 0
}}"
        ),
    )
}

#[test]
fn arithmetic_wraps_and_what_c_does_not_define_may_be_anything() {
    never_true(&arithmetic("and i32 p0, 3", "ugt i32 %0, 3"), 0);
    may_be_both(&arithmetic("add i32 p0, 1", "slt i32 %0, p0"), 0);
    // a shift by the width or more, and a division by zero that a compiler may have dropped
    may_be_both(&arithmetic("lshr i32 p0, 32", "ugt i32 %0, 5"), 0);
    may_be_both(&arithmetic("udiv i32 p0, p1", "eq i32 p1, 0"), 0);
    never_true(&arithmetic("lshr i32 p0, 31", "ugt i32 %0, 1"), 0);
}

#[test]
fn a_goal_of_code_that_the_model_does_not_have_is_not_proved() {
    let program = program(
        &[1],
        "",
        "function f0 \"f\" exported () -> void {
b0: return
}
function f1 \"g\" external (i32) -> i32",
    );
    let goals = vec![Goal::Decision { decision: DecisionId(0), value: true }];
    let task = Task {
        program: &program,
        goals,
        under_test: Some(FunctionId(0)),
        inputs: Vec::new(),
        misled: BTreeSet::new(),
        engine: Engine::Houdini,
    };
    assert!(prove(&task, &mut Known::default(), &Effort::new(10_000, || false)).proofs.is_empty());
}

#[test]
fn nothing_is_proved_without_effort() {
    let program = arithmetic("and i32 p0, 3", "ugt i32 %0, 3");
    let goals = vec![Goal::Outcome { condition: ConditionId(0), value: true }];
    let task = Task {
        program: &program,
        goals,
        under_test: None,
        inputs: Vec::new(),
        misled: BTreeSet::new(),
        engine: Engine::Houdini,
    };
    assert!(prove(&task, &mut Known::default(), &Effort::new(0, || false)).proofs.is_empty());
}

/// What the prover says of these goals, as many as there are; what it proves, the checker accepts.
fn proved(program: &Program, goals: Vec<Goal>) -> Vec<bool> {
    let n_goals = goals.len();
    let task = Task {
        program,
        goals,
        under_test: Some(FunctionId(0)),
        inputs: Vec::new(),
        misled: BTreeSet::new(),
        engine: Engine::Auto,
    };
    let proofs = prove(&task, &mut Known::default(), &Effort::new(300_000, || false)).proofs;
    for proof in proofs.values() {
        let said = Checker::new(program).check(proof, &mut Solvers::installed());
        assert!(matches!(said, Verdict::Accepted { .. }), "{said:?}\n{}", proof::text::print(proof));
        assert!(prover::decides(program, &proof.claim));
    }
    (0..n_goals).map(|number| proofs.contains_key(&number)).collect()
}

/// `g = 1; while (p0--) set(2); if (p0_was_positive) use g;` across a call and a loop.
#[test]
fn flows_of_globals_are_followed_through_calls_and_loops() {
    let code = |tested: &str| {
        program(
            &[],
            "global g0 \"g\" internal size 4 align 4\n",
            &format!(
                "function f0 \"f\" exported (i32) -> i32 {{
b0: %0 = alloca 4 align 4
  %1 = store i32 p0, %0
  %2 = store i32 1, g0
  jump b1
b1: %3 = load i32, %0
  %4 = compare ne i32 %3, 0
  branch %4, b2, b3
b2: %5 = call void f1(i32 2)
  %6 = sub i32 %3, 1
  %7 = store i32 %6, %0
  jump b1
b3: %8 = compare {tested} i32 p0, 0
  branch %8, b4, b5
b4: %9 = load i32, g0
  return %9
b5: return 0
}}
function f1 \"set\" internal (i32) -> void {{
b0: %0 = store i32 p0, g0
  return
}}"
            ),
        )
    };
    let place =
        |function: u32, instr: u32| FlowPlace { function: FunctionId(function), instr: InstrId(instr) };
    let object = FlowObject { home: FlowHome::Global(GlobalId(0)), offset: 0, size: 4, is_initial: false };
    let flow = |definition: FlowPlace| Goal::Flow {
        object,
        definitions: BTreeSet::from([definition]),
        uses: BTreeSet::from([place(0, 9)]),
    };
    let goals = || vec![flow(place(0, 2)), flow(place(1, 0))];
    assert_eq!(proved(&code("ne"), goals()), [true, false]);
    assert_eq!(proved(&code("eq"), goals()), [false, true]);
}

#[test]
fn unique_cause_needs_a_broken_half_of_every_pair() {
    // x > 5 && x > 3: the second is true where it is evaluated
    let text = "program pointer 64 root f0
file file0 \"t.c\"
span s0 file0:1:1
decision d0 if f0 at s0 (c0 && c1) \"\"
condition c0 of d0 at s0 \"\"
condition c1 of d0 at s0 \"\"
function f0 \"f\" exported (i32) -> i32 {
b0: %0 = compare sgt i32 p0, 5
  %1 = mark c0 %0
  branch %1, b1, b3 decided c0
b1: %2 = compare sgt i32 p0, 3
  %3 = mark c1 %2
  branch %3, b2, b3 decided c1
b2: return 1
b3: return 0
}
";
    let program = text::parse(text).unwrap_or_else(|error| panic!("{error}"));
    let paired = |condition, value| Goal::Paired { condition: ConditionId(condition), value };
    let goals = vec![paired(0, true), paired(0, false), paired(1, true), paired(1, false)];
    assert_eq!(proved(&program, goals), [false, false, true, true]);
}

#[test]
fn every_engine_proves_what_it_is_made_for_and_no_twin() {
    let skips = counter(3, "ne i32 %7, 10");
    for engine in [
        Engine::KInduction,
        Engine::Houdini,
        Engine::Unrolled,
        Engine::Cegar,
        Engine::Pdr,
        Engine::States,
        Engine::Auto,
    ] {
        assert_eq!(proof_of(&skips, engine, 0, true), None, "{engine:?}");
        assert_eq!(proof_of(&counter(1, "ne i32 %7, 10"), engine, 0, false), None, "{engine:?}");
    }
    let at_limit = counter(1, "ne i32 %7, 10");
    for engine in
        [Engine::Houdini, Engine::Unrolled, Engine::Cegar, Engine::Pdr, Engine::States, Engine::Auto]
    {
        let proof = proof_of(&at_limit, engine, 0, true).unwrap_or_else(|| panic!("{engine:?}"));
        let said = Checker::new(&at_limit).check(&proof, &mut Solvers::installed());
        assert!(
            matches!(said, Verdict::Accepted { .. }),
            "{engine:?} {said:?}\n{}",
            proof::text::print(&proof)
        );
    }
}

/// `x = 1; done = 0; while (n) { x = 2; done = 1; n--; } if (done OP 1) use x;`
fn definitions_behind_a_flag(tested: &str) -> Program {
    program(
        &[],
        "",
        &format!(
            "function f0 \"f\" exported (i32) -> i32 {{
b0: %0 = alloca 4 align 4
  %1 = alloca 4 align 4
  %2 = alloca 4 align 4
  %3 = store i32 1, %0
  %4 = store i32 0, %1
  %5 = store i32 p0, %2
  jump b1
b1: %6 = load i32, %2
  %7 = compare ne i32 %6, 0
  branch %7, b2, b3
b2: %8 = store i32 2, %0
  %9 = store i32 1, %1
  %10 = sub i32 %6, 1
  %11 = store i32 %10, %2
  jump b1
b3: %12 = load i32, %1
  %13 = compare {tested} i32 %12, 1
  branch %13, b4, b5
b4: %14 = load i32, %0
  return %14
b5: return 0
}}"
        ),
    )
}

#[test]
fn formulas_speak_of_whether_a_definition_arrives_for_their_own_goal_alone() {
    let pair = |definition: u32| Goal::Pair {
        function: FunctionId(0),
        local: InstrId(0),
        definitions: BTreeSet::from([InstrId(definition)]),
        uses: BTreeSet::from([InstrId(14)]),
    };
    let proofs = |program: &Program| {
        let goals = vec![pair(3), pair(8)];
        let (under_test, inputs, misled) = (Some(FunctionId(0)), Vec::new(), BTreeSet::new());
        let task = Task { program, goals, under_test, inputs, misled, engine: Engine::Pdr };
        prove(&task, &mut Known::default(), &Effort::new(300_000, || false)).proofs
    };
    for (tested, infeasible, other) in [("eq", 0, 8), ("ne", 1, 3)] {
        let program = definitions_behind_a_flag(tested);
        let mut found = proofs(&program);
        let mut proof = found.remove(&infeasible).expect("a proof");
        assert!(found.is_empty(), "the other pair is covered by some run");
        let (checker, mut solvers) = (Checker::new(&program), Solvers::installed());
        let said = checker.check(&proof, &mut solvers);
        assert!(matches!(said, Verdict::Accepted { .. }), "{said:?}\n{}", proof::text::print(&proof));
        assert!(proof::text::print(&proof).contains("(flag @)"));
        // what was shown of one goal's flag says nothing of another's
        proof.claim.goal = pair(other);
        assert!(matches!(checker.check(&proof, &mut solvers), Verdict::Rejected(_)));
    }
}

/// `helper` tests its parameter; `f` runs this code.
fn beside_helper(code: &str) -> Program {
    program(
        &[1],
        "global g0 \"g\" internal size 8 align 8\n",
        &format!(
            "function f0 \"f\" exported (i32) -> i32 {{
b0: {code}
  return 0
}}
function f1 \"helper\" internal (i32) -> i32 {{
b0: %0 = compare eq i32 p0, 7
  %1 = mark c0 %0
  branch %1, b1, b2 decided c0
b1: return 1
b2: %2 = call i32 f1(i32 p0)
  return %2
}}
function f2 \"other\" external () -> void
"
        ),
    )
}

#[test]
fn nothing_is_covered_in_a_function_that_no_call_leads_to() {
    let uncalled = beside_helper("%0 = store i32 p0, g0");
    for value in [true, false] {
        let mut proof = proof_of(&uncalled, Engine::Auto, 0, value).expect("a proof");
        assert!(proof.claim.assumptions.is_empty());
        let (checker, mut solvers) = (Checker::new(&uncalled), Solvers::installed());
        let said = checker.check(&proof, &mut solvers);
        assert!(matches!(said, Verdict::Accepted { .. }), "{said:?}\n{}", proof::text::print(&proof));
        // the same argument for programs in which a call may lead there
        for (code, what) in [
            ("%0 = call i32 f1(i32 p0)", "a call"),
            ("%0 = store ptr f1, g0\n  %1 = call void f2()", "a pointer that others may call"),
        ] {
            let called = beside_helper(code);
            assert_eq!(proof_of(&called, Engine::Auto, 0, value), None, "{what}");
            proof.claim.program = proof::ProgramHash::of(&called);
            let said = Checker::new(&called).check(&proof, &mut solvers);
            assert!(matches!(said, Verdict::Rejected(_)), "{what}: {said:?}");
        }
    }
}
