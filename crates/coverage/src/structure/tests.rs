//! Two answers to the same question must agree: the search backwards with call stacks, and walking ahead to the end.

use model::{
    Block, BlockId, Callee, Condition, ConditionId, Decided, Decision, DecisionId, DecisionKind, Function,
    FunctionId, Instr, InstrId, Op, Operand, Program, Shape, Span, SpanId, Terminator, Type,
};

use super::*;
use crate::{Scope, TestId, criterion_named, observe::Observer};

/// How a block of a test program ends.
#[derive(Clone, Copy, Debug)]
enum To {
    If(u32, u32),
    /// Calls a function, then goes on.
    Call(u32, u32),
    Return,
}

/// Functions made of blocks; conditions are numbered in order.
fn program(functions: &[Vec<To>]) -> Program {
    let mut program = Program { root: Some(FunctionId(0)), pointer_bits: 64, ..Program::default() };
    program.files.push(model::SourceFile { path: "f.c".to_owned(), system: false });
    program
        .spans
        .push(Span { at: model::Position { file: model::FileId(0), line: 1, column: 1 }, spelled: None });
    for (number, blocks) in (0..).zip(functions) {
        let mut instrs = Vec::new();
        let blocks =
            blocks.iter().map(|to| block(&mut program, FunctionId(number), *to, &mut instrs)).collect();
        program.functions.push(Function::procedure(format!("f{number}"), instrs, blocks));
    }
    program
}

fn block(program: &mut Program, function: FunctionId, to: To, instrs: &mut Vec<Instr>) -> Block {
    let mut add = |op, ty| {
        instrs.push(Instr { op, ty, span: None });
        InstrId::new(instrs.len() - 1)
    };
    let (ids, terminator) = match to {
        To::If(then, otherwise) => {
            let condition = ConditionId::new(program.conditions.len());
            let decision = DecisionId::new(program.decisions.len());
            let (span, text) = (SpanId(0), condition.to_string());
            let shape = Shape::Leaf(condition);
            program.conditions.push(Condition { decision, span, text: text.clone() });
            program.decisions.push(Decision { function, span, kind: DecisionKind::If, shape, text });
            let value = Operand::Undefined(Type::Int(1));
            let mark = add(Op::Mark { condition, value }, Type::Int(1));
            let decided = Some(Decided { condition, negated: false });
            let (then, otherwise) = (BlockId(then), BlockId(otherwise));
            let condition = Operand::Result(mark);
            (vec![mark], Terminator::Branch { condition, then, otherwise, decided, range: None })
        }
        To::Call(callee, next) => {
            let callee = Callee::Direct(FunctionId(callee));
            let call = add(Op::Call { callee, arguments: Vec::new() }, Type::Void);
            (vec![call], Terminator::Jump(BlockId(next)))
        }
        To::Return => (Vec::new(), Terminator::Return(None)),
    };
    Block { instrs: ids, terminator, span: None }
}

fn branch_goals(program: &Program) -> Coverage {
    Coverage::new(program, &Scope::whole(program), &[criterion_named("branch").expect("known")])
}

/// Covers these outcomes of conditions.
fn cover(marking: &Marking<'_>, coverage: &mut Coverage, outcomes: &[(u32, bool)]) {
    let mut observer = Observer::new(marking);
    let visitor: &mut dyn model::walk::Visitor<()> = &mut observer;
    visitor.enter(FunctionId(0), None);
    for (condition, taken) in outcomes {
        visitor.outcome(Site::Condition(ConditionId(*condition)), *taken, ());
    }
    coverage.cover(TestId(1), &observer.finish());
}

/// A small generator: xorshift, because a test must repeat itself.
struct Chance(u64);

impl Chance {
    fn below(&mut self, n: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        u32::try_from(self.0 % u64::from(n)).expect("below n")
    }
}

fn any_program(chance: &mut Chance) -> Vec<Vec<To>> {
    let n_functions = 1 + chance.below(4);
    let function = |chance: &mut Chance| {
        let n_blocks = 2 + chance.below(6);
        let mut blocks: Vec<To> = (1..n_blocks)
            .map(|_| match chance.below(3) {
                0 => To::Call(chance.below(n_functions), chance.below(n_blocks)),
                _ => To::If(chance.below(n_blocks), chance.below(n_blocks)),
            })
            .collect();
        blocks.push(To::Return);
        blocks
    };
    (0..n_functions).map(|_| function(chance)).collect()
}

/// Ways to enter functions from the root by calls, up to some depth, each with the calls.
fn contexts(program: &Program) -> Vec<(FunctionId, Vec<Call>)> {
    let mut all = vec![(FunctionId(0), Vec::new())];
    for depth in 0..3 {
        for (function, calls) in all.clone().into_iter().filter(|(_, calls)| calls.len() == depth) {
            for (block, code) in program.function(function).blocks() {
                for (&id, at) in code.instrs.iter().zip(0..) {
                    if let Op::Call { callee: Callee::Direct(callee), .. } =
                        program.function(function).instr(id).op
                    {
                        all.push((callee, [calls.clone(), vec![Call { function, block, at }]].concat()));
                    }
                }
            }
        }
    }
    all
}

#[test]
fn looking_back_and_looking_ahead_agree_on_random_programs() {
    let mut chance = Chance(0x5175_6172_7279);
    let (mut n_relevant, mut n_irrelevant) = (0, 0);
    for _ in 0..300 {
        let functions = any_program(&mut chance);
        let program = program(&functions);
        let marking = Marking::new(&program);
        let mut coverage = branch_goals(&program);
        let n_conditions = u32::try_from(program.conditions.len()).expect("few conditions");
        let outcomes = (0..n_conditions).flat_map(|condition| [(condition, true), (condition, false)]);
        let seen: Vec<(u32, bool)> = outcomes.filter(|_| chance.below(5) > 0).collect();
        let mut structure = Structure::new(&marking, &coverage);
        cover(&marking, &mut coverage, &seen);
        structure.refresh(&coverage);
        for (function, calls) in contexts(&program) {
            let context = calls
                .iter()
                .fold(ContextId::ROOT, |below, call| structure.context(below, Back::Behind(*call)));
            for (condition, decision) in (0..).map(ConditionId).zip(&program.decisions) {
                if decision.function != function {
                    continue;
                }
                for value in [true, false] {
                    let outlook =
                        structure.outlook(context, Site::Condition(condition), Choice::Outcome(value), None);
                    let ahead = structure.potential(outlook, u32::MAX, &coverage) > 0;
                    let relevance = structure.relevance(outlook, &coverage);
                    assert_eq!(
                        ahead,
                        relevance != Relevance::Irrelevant,
                        "{functions:?} {calls:?} {condition} {value}"
                    );
                    if ahead {
                        n_relevant += 1;
                    } else {
                        n_irrelevant += 1;
                    }
                }
            }
        }
    }
    assert!(n_relevant > 1000 && n_irrelevant > 1000, "{n_relevant} relevant, {n_irrelevant} not");
}

#[test]
fn a_goal_behind_the_call_is_reached_only_from_that_call() {
    // f0 calls f1 twice, with a condition behind each call
    let functions = vec![
        vec![To::Call(1, 1), To::If(2, 2), To::Call(1, 3), To::If(4, 4), To::Return],
        vec![To::If(1, 1), To::Return],
    ];
    let program = program(&functions);
    let marking = Marking::new(&program);
    let mut coverage = branch_goals(&program);
    // the condition behind the first call is open, everything else is covered
    cover(&marking, &mut coverage, &[(1, true), (1, false), (2, true), (2, false)]);
    let mut structure = Structure::new(&marking, &coverage);
    let call = |block| Back::Behind(Call { function: FunctionId(0), block: BlockId(block), at: 0 });
    let mut relevance = |block| {
        let context = structure.context(ContextId::ROOT, call(block));
        let outlook =
            structure.outlook(context, Site::Condition(ConditionId(2)), Choice::Outcome(true), None);
        (structure.relevance(outlook, &coverage), structure.distance(outlook).is_some())
    };
    assert_eq!(relevance(0), (Relevance::May, true));
    assert_eq!(relevance(2), (Relevance::Irrelevant, false));
}

#[test]
fn levels_bound_how_far_ahead_is_counted() {
    // a chain of three conditions
    let program = program(&[vec![To::If(1, 3), To::If(2, 3), To::If(3, 3), To::Return]]);
    let marking = Marking::new(&program);
    let coverage = branch_goals(&program);
    let mut structure = Structure::new(&marking, &coverage);
    let first = Site::Condition(ConditionId(0));
    let on = structure.outlook(ContextId::ROOT, first, Choice::Outcome(true), None);
    let off = structure.outlook(ContextId::ROOT, first, Choice::Outcome(false), None);
    let potential = |outlook, n_levels| structure.potential(outlook, n_levels, &coverage);
    assert_eq!([0, 1, 2, 3].map(|n_levels| potential(on, n_levels)), [1, 3, 5, 5]);
    assert_eq!([0, 3].map(|n_levels| potential(off, n_levels)), [1, 1]);
}
