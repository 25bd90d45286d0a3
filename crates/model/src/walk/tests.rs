//! Walks over small programs built by hand.

use super::*;
use crate::{
    Block, Callee, Decided, Function, Instr, InstrId, Linkage, Op, Operand, Program, Terminator, Type,
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
        name: name.to_owned(),
        linkage: Linkage::Exported,
        parameters: Vec::new(),
        variadic: false,
        result: Type::Void,
        span: None,
        no_return: name == "longjmp",
        returns_twice: name == "setjmp",
        generated: false,
        instrs,
        blocks: made,
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
    fn enter(&mut self, function: FunctionId) {
        self.0.push(format!("enter {function}"));
    }
    fn leave(&mut self) {
        self.0.push("leave".to_owned());
    }
    fn block(&mut self, function: FunctionId, block: BlockId) {
        self.0.push(format!("{function}.{block}"));
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
    let script = Script::new(&program, false);
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
    assert!(path.ends_with("f0.b1"));
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

#[test]
fn longjmp_leaves_the_frames_above_setjmp() {
    let main = function(
        "main",
        vec![
            (vec![call(1), mark(0)], decided(0, 1, 2)),
            (vec![call(2)], Terminator::Unreachable),
            (vec![], Terminator::Return(None)),
        ],
    );
    let setjmp = function("setjmp", vec![]);
    let thrower = function("thrower", vec![(vec![call(3)], Terminator::Unreachable)]);
    let longjmp = function("longjmp", vec![]);
    let back = Entry::Setjmp { activation: 1 };
    let log = vec![back, outcome(true), back, outcome(false)];
    let (end, path) = told(vec![main, setjmp, thrower, longjmp], log, Completeness::Complete);
    assert_eq!(end, Ok(WalkEnd::Returned));
    assert!(path.contains("enter f2, f2.b0, leave, Condition(ConditionId(0)) false, f0.b2, leave"), "{path}");
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
