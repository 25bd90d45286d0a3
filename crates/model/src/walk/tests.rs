//! Walks over small programs built by hand.

use super::*;
use crate::{
    Block, Callee, ConditionId, Decided, Function, Instr, InstrId, Op, Operand, Program, Terminator, Type,
};

fn instr(op: Op) -> Instr {
    Instr { op, ty: Type::Void, span: None }
}

fn function(name: &str, blocks: Vec<(Vec<Op>, Terminator)>) -> Function {
    let mut instrs = Vec::new();
    let mut made = Vec::new();
    for (ops, terminator) in blocks {
        let first = instrs.len();
        instrs.extend(ops.into_iter().map(instr));
        let ids = (first..instrs.len()).map(InstrId::new).collect();
        made.push(Block { instrs: ids, terminator, span: None });
    }
    Function {
        no_return: name == "longjmp" || name == "exit",
        returns_twice: name == "setjmp",
        ..Function::procedure(name, instrs, made)
    }
}

fn call(function: u32) -> Op {
    Op::Call { callee: Callee::Direct(FunctionId(function)), arguments: Vec::new() }
}

fn mark(condition: u32) -> Op {
    Op::Mark { condition: ConditionId(condition), value: Operand::Undefined(Type::Int(1)) }
}

fn decided(condition: u32, then: u32, otherwise: u32) -> Terminator {
    Terminator::Branch {
        condition: Operand::Result(InstrId(0)),
        then: BlockId(then),
        otherwise: BlockId(otherwise),
        decided: Some(Decided { condition: ConditionId(condition), negated: false }),
        range: None,
    }
}

#[derive(Default)]
struct Told(Vec<String>);

impl Visitor<()> for Told {
    fn enter(&mut self, function: FunctionId, call: Option<Call>) {
        let by = call.map(|call| format!(" by {}.{} {}", call.function, call.block, call.at));
        self.0.push(format!("enter {function}{}", by.unwrap_or_default()));
    }
    fn leave(&mut self) {
        self.0.push("leave".to_owned());
    }
    fn block(&mut self, function: FunctionId, block: BlockId) {
        self.0.push(format!("{function}.{block}"));
    }
    fn abandon(&mut self, function: FunctionId, block: BlockId, at: u32) {
        self.0.push(format!("abandon {function}.{block} {at}"));
    }
    fn resume(&mut self, function: FunctionId, block: BlockId, at: u32) {
        self.0.push(format!("resume {function}.{block} {at}"));
    }
    fn outcome(&mut self, site: Site, taken: bool, (): ()) {
        self.0.push(format!("{site:?} {taken}"));
    }
}

fn told(
    functions: Vec<Function>,
    log: Vec<Entry<()>>,
    completeness: Completeness,
) -> (Result<WalkEnd, WalkError>, String) {
    let program = Program { functions, ..Program::default() };
    let mut told = Told::default();
    let script = Script::new(&program, None);
    let end = walk(&script, FunctionId(0), log.into_iter(), completeness, &mut told);
    (end, told.0.join(", "))
}

fn outcome(taken: bool) -> Entry<()> {
    Entry::Outcome { taken, payload: () }
}

#[test]
fn a_mark_decides_the_branch_behind_it() {
    let main = function(
        "main",
        vec![
            (vec![mark(0)], decided(0, 1, 2)),
            (vec![], Terminator::Jump(BlockId(2))),
            (vec![], Terminator::Return(None)),
        ],
    );
    let (end, path) = told(vec![main.clone()], vec![outcome(true)], Completeness::Complete);
    assert_eq!(end, Ok(WalkEnd::Returned));
    assert_eq!(path, "enter f0, f0.b0, Condition(ConditionId(0)) true, f0.b1, f0.b2, leave");

    let (end, path) = told(vec![main], vec![outcome(true)], Completeness::Partial);
    assert_eq!(end, Ok(WalkEnd::CutOff(FunctionId(0), BlockId(1))), "a crash in b1 must not claim b2");
    assert!(path.ends_with("f0.b1, abandon f0.b1 0, leave"), "{path}");
}

#[test]
fn uninstrumented_code_calls_back_as_often_as_it_likes() {
    let main = function("main", vec![(vec![call(1), call(2)], Terminator::Return(None))]);
    let qsort = function("qsort", vec![]);
    let compare = function("compare", vec![(vec![mark(0)], Terminator::Return(None))]);
    let callback = Entry::Callback { function: FunctionId(2) };
    let log = vec![callback, outcome(true), callback, outcome(false), outcome(true)];
    let (end, path) = told(vec![main, qsort, compare], log, Completeness::Complete);
    assert_eq!(end, Ok(WalkEnd::Returned));
    assert_eq!(path.matches("enter f2").count(), 3);
}

/// `compute` does something that no log shows.
fn compute() -> Op {
    Op::Freeze(Operand::Undefined(Type::Int(32)))
}

fn call_indirect() -> Op {
    Op::Call { callee: Callee::Indirect(Operand::Undefined(Type::Ptr)), arguments: Vec::new() }
}

fn returning(ops: Vec<Op>) -> Vec<(Vec<Op>, Terminator)> {
    vec![(ops, Terminator::Return(None))]
}

fn unreachable(ops: Vec<Op>) -> Vec<(Vec<Op>, Terminator)> {
    vec![(ops, Terminator::Unreachable)]
}

#[test]
fn an_exit_in_a_callee_abandons_every_frame_at_its_call() {
    let main = function("main", returning(vec![compute(), call(1), compute()]));
    let stop = function("stop", unreachable(vec![compute(), compute(), call(2)]));
    let exit = function("exit", vec![]);
    let functions = vec![main, stop, exit];
    let (end, path) = told(functions.clone(), vec![], Completeness::Complete);
    assert_eq!(end, Ok(WalkEnd::NoReturn(FunctionId(1), BlockId(0))));
    assert_eq!(
        path,
        "enter f0, f0.b0, enter f1 by f0.b0 1, f1.b0, abandon f1.b0 2, leave, abandon f0.b0 1, leave"
    );

    let (_, path) = told(functions, vec![], Completeness::Partial);
    assert_eq!(path, "enter f0, f0.b0, abandon f0.b0 0, leave", "the run may have died before the call");
}

#[test]
fn a_cut_off_run_proves_what_comes_before_its_last_entry() {
    let callee = function("callee", returning(vec![compute(), mark(1), compute(), mark(2)]));
    let main = function(
        "main",
        vec![
            (vec![mark(0)], decided(0, 1, 1)),
            (vec![compute(), call_indirect(), compute()], Terminator::Return(None)),
        ],
    );
    let functions = vec![main, callee];
    let called = Entry::Callee { function: Some(FunctionId(1)) };
    let log = [outcome(true), called, outcome(true), outcome(true)];
    let path = |n_entries: usize| {
        let (end, path) = told(functions.clone(), log[..n_entries].to_vec(), Completeness::Partial);
        assert!(matches!(end, Ok(WalkEnd::CutOff(..))), "{end:?}");
        path.split_once("b0, ").expect("the root has a block").1.to_owned()
    };
    let first = "Condition(ConditionId(0)) true, f0.b1, ";
    let inside = "enter f1 by f0.b1 1, f1.b0, ";
    let second = "Condition(ConditionId(1)) true, ";
    let third = "Condition(ConditionId(2)) true, ";
    assert_eq!(path(0), "abandon f0.b0 0, leave");
    assert_eq!(path(1), format!("{first}abandon f0.b1 0, leave"));
    assert_eq!(path(2), format!("{first}{inside}abandon f1.b0 0, leave, abandon f0.b1 1, leave"));
    assert_eq!(path(3), format!("{first}{inside}{second}abandon f1.b0 1, leave, abandon f0.b1 1, leave"));
    assert_eq!(
        path(4),
        format!("{first}{inside}{second}{third}abandon f1.b0 3, leave, abandon f0.b1 1, leave"),
        "whether the callee returned is not known"
    );
}

#[test]
fn a_callback_is_entered_by_no_call_and_its_caller_waits_in_one() {
    let main = function("main", returning(vec![compute(), call(1), compute()]));
    let qsort = function("qsort", vec![]);
    let compare = function("compare", returning(vec![mark(0), call(3)]));
    let exit_now = function("exit_now", unreachable(vec![call(4)]));
    let exit = function("exit", vec![]);
    let functions = vec![main, qsort, compare, exit_now, exit];
    let log = vec![Entry::Callback { function: FunctionId(2) }, outcome(true)];
    let (end, path) = told(functions, log, Completeness::Complete);
    assert_eq!(end, Ok(WalkEnd::NoReturn(FunctionId(3), BlockId(0))));
    assert_eq!(
        path,
        "enter f0, f0.b0, enter f2, f2.b0, Condition(ConditionId(0)) true, enter f3 by f2.b0 1, f3.b0, \
         abandon f3.b0 0, leave, abandon f2.b0 1, leave, abandon f0.b0 1, leave"
    );
}

/// `main` calls `setjmp` and decides by its result whether to go through `middle` to `thrower`, which does `last`.
fn throwing(last: Vec<Op>) -> Vec<Function> {
    let main = function(
        "main",
        vec![
            (vec![call(1), mark(0)], decided(0, 1, 2)),
            (vec![call(2), compute()], Terminator::Jump(BlockId(2))),
            (vec![], Terminator::Return(None)),
        ],
    );
    let setjmp = function("setjmp", vec![]);
    let middle = function("middle", returning(vec![compute(), call(3), compute()]));
    let thrower = function("thrower", unreachable(last));
    let longjmp = function("longjmp", vec![]);
    let puts = function("puts", vec![]);
    vec![main, setjmp, middle, thrower, longjmp, puts]
}

const THROWN: [Entry<()>; 4] = [
    Entry::Setjmp { activation: 1 },
    Entry::Outcome { taken: true, payload: () },
    Entry::Setjmp { activation: 1 },
    Entry::Outcome { taken: false, payload: () },
];

#[test]
fn longjmp_leaves_the_frames_above_setjmp() {
    let (end, path) = told(throwing(vec![compute(), call(4)]), THROWN.to_vec(), Completeness::Complete);
    assert_eq!(end, Ok(WalkEnd::Returned));
    assert_eq!(
        path,
        "enter f0, f0.b0, Condition(ConditionId(0)) true, f0.b1, enter f2 by f0.b1 0, f2.b0, \
         enter f3 by f2.b0 1, f3.b0, abandon f3.b0 1, leave, abandon f2.b0 1, leave, \
         abandon f0.b1 0, resume f0.b0 0, Condition(ConditionId(0)) false, f0.b2, leave"
    );
}

#[test]
fn the_call_that_does_not_return_is_the_one_that_jumped() {
    let (end, path) = told(throwing(vec![call(5), call(4)]), THROWN.to_vec(), Completeness::Complete);
    assert_eq!(end, Ok(WalkEnd::Returned));
    assert!(path.contains("f3.b0, abandon f3.b0 1, leave"), "{path}");

    let (end, path) =
        told(throwing(vec![call(5), mark(1), call(4)]), THROWN.to_vec(), Completeness::Complete);
    assert_eq!(end, Ok(WalkEnd::Returned));
    assert!(path.contains("f3.b0, abandon f3.b0 0, leave"), "behind an outcome that is missing: {path}");
}

#[test]
fn a_jump_to_a_function_that_returned_is_an_error() {
    let main = function("main", returning(vec![call(1), call(3)]));
    let armed = function("armed", returning(vec![call(2)]));
    let setjmp = function("setjmp", vec![]);
    let puts = function("puts", vec![]);
    let back = Entry::Setjmp { activation: 1 };
    let (end, _) = told(vec![main, armed, setjmp, puts], vec![back, back], Completeness::Complete);
    assert_eq!(end, Err(WalkError::LeftOver { index: 1 }));
}

#[test]
fn a_log_that_does_not_fit_is_an_error() {
    let main = function("main", vec![(vec![mark(0)], Terminator::Return(None))]);
    let log = vec![Entry::Switch { case: 0, payload: () }];
    let (end, _) = told(vec![main.clone()], log, Completeness::Complete);
    assert!(matches!(end, Err(WalkError::Unexpected { .. })));
    let (end, _) = told(vec![main], vec![outcome(true), outcome(true)], Completeness::Complete);
    assert_eq!(end, Err(WalkError::LeftOver { index: 1 }));
}
