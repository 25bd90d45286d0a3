//! Which stub keeps a goal open?
//!
//! Method: a goal that was given up because nothing was left to try is looked at again. Its own condition, or a branch that
//! every way to it takes behind the last block that a covered goal shows to be reached, may come from what a stub does not
//! give (`analysis::origins`). Limits: only goals of the criteria asked for show what is reached; goals of data flow have no
//! place of their own.

use std::collections::{BTreeMap, BTreeSet};

use analysis::dominators::{Digraph, Dominators};
use analysis::origins::{Asked, Origins};
use model::{BlockId, DecisionId, FunctionId, Op, Operand, Program, Terminator};

use crate::{Coverage, Demand, GoalId, Reason, Status};

/// A block of the program.
type At = (FunctionId, BlockId);

/// Gives saturated goals the stub they may wait for.
pub fn blame(coverage: &mut Coverage, program: &Program, stubs: &BTreeMap<FunctionId, Asked>) {
    if stubs.is_empty() {
        return;
    }
    let mut blamed: Vec<(GoalId, FunctionId)> = Vec::new();
    let mut search = Search { program, origins: Origins::new(program, stubs), reached: BTreeSet::new() };
    for (_, goal, status) in coverage.goals() {
        if matches!(status, Status::Covered { .. }) {
            let places = places(program, goal.demand).into_iter().map(|(at, _)| at);
            places.for_each(|at| search.reach(at));
        }
    }
    for (id, goal, status) in coverage.goals() {
        if status != Status::Undecided(Reason::Saturated) {
            continue;
        }
        let stub = places(program, goal.demand).into_iter().find_map(|((function, block), value)| {
            let own = value.and_then(|value| search.origins.of(function, value));
            own.or_else(|| search.on_the_way((function, block), &mut BTreeSet::new()))
        });
        blamed.extend(stub.map(|stub| (id, stub)));
    }
    for (goal, stub) in blamed {
        coverage.blame(goal, stub);
    }
}

/// The blocks that decide a demand, with the value that does, if there is one.
fn places(program: &Program, demand: Demand) -> Vec<(At, Option<Operand>)> {
    match demand {
        Demand::Entered(function) => {
            let has_code = !program.function(function).blocks.is_empty();
            has_code.then(|| ((function, BlockId::new(0)), None)).into_iter().collect()
        }
        Demand::Ended(function) => {
            let returns = blocks(program).filter(|(at, _)| at.0 == function);
            let returns = returns.filter(|(_, block)| matches!(block.terminator, Terminator::Return(_)));
            returns.map(|(at, _)| (at, None)).collect()
        }
        Demand::Executed(statement) => {
            let statement = program.statement(statement);
            statement.code.map(|(block, _)| ((statement.function, block), None)).into_iter().collect()
        }
        Demand::Decision(decision, _) | Demand::Vector(decision, _) => marks(program, |_, of| of == decision),
        Demand::Condition(condition, _)
        | Demand::Independent(condition, _)
        | Demand::Paired(condition, _) => marks(program, |marked, _| marked == condition),
        Demand::Label(switch, _) => {
            let value = |(at, block): (At, &model::Block)| match &block.terminator {
                Terminator::Switch { value, source: Some(source), .. } if *source == switch => {
                    Some((at, Some(*value)))
                }
                Terminator::Branch { condition, range: Some(range), .. } if range.switch == switch => {
                    Some((at, Some(*condition)))
                }
                Terminator::Switch { .. }
                | Terminator::Branch { .. }
                | Terminator::Jump(_)
                | Terminator::IndirectJump { .. }
                | Terminator::Return(_)
                | Terminator::Unreachable => None,
            };
            blocks(program).filter_map(value).collect()
        }
        Demand::Defined(_) | Demand::Used(_) | Demand::Pair(_) => Vec::new(),
    }
}

fn blocks(program: &Program) -> impl Iterator<Item = (At, &model::Block)> {
    let functions = program.functions.iter().enumerate();
    functions.flat_map(|(index, function)| {
        let at = move |block: usize| (FunctionId::new(index), BlockId::new(block));
        function.blocks.iter().enumerate().map(move |(number, block)| (at(number), block))
    })
}

/// Where conditions are evaluated, with their values.
fn marks(
    program: &Program,
    is_meant: impl Fn(model::ConditionId, DecisionId) -> bool,
) -> Vec<(At, Option<Operand>)> {
    let mut found = Vec::new();
    for (at, block) in blocks(program) {
        for id in &block.instrs {
            if let Op::Mark { condition, value } = program.function(at.0).instr(*id).op
                && is_meant(condition, program.condition(condition).decision)
            {
                found.push((at, Some(value)));
            }
        }
    }
    found
}

struct Search<'p> {
    program: &'p Program,
    origins: Origins<'p>,
    reached: BTreeSet<At>,
}

impl Search<'_> {
    /// A run was here, and at all that every way to it passes.
    fn reach(&mut self, at: At) {
        let chain = self.chain(at);
        self.reached.extend(chain);
    }

    /// The blocks of the function that every way to this one passes, in order.
    fn chain(&self, (function, block): At) -> Vec<At> {
        let blocks = &self.program.function(function).blocks;
        let number = |index: usize| u32::try_from(index).expect("fewer than 2^32 blocks");
        let edges: Vec<(u32, u32)> = blocks
            .iter()
            .enumerate()
            .flat_map(|(from, block)| {
                let to = block.terminator.successors().into_iter();
                to.map(move |to| (number(from), number(to.index())))
            })
            .collect();
        let dominators = Dominators::of(&Digraph::new(blocks.len(), &edges), 0);
        let chain = dominators.chain(number(block.index())).unwrap_or_default();
        chain.into_iter().map(|block| (function, BlockId::new(block as usize))).collect()
    }

    /// The stub that a branch before a block comes from, which no run is known to have passed.
    fn on_the_way(&self, at: At, seen: &mut BTreeSet<At>) -> Option<FunctionId> {
        if self.reached.contains(&at) || !seen.insert(at) {
            return None;
        }
        let chain = self.chain(at);
        for (function, block) in chain.iter().rev().skip(1) {
            let condition = self.program.function(*function).blocks[block.index()].terminator.operand();
            let stub = condition.and_then(|condition| self.origins.of(*function, condition));
            if stub.is_some() {
                return stub;
            }
            if self.reached.contains(&(*function, *block)) {
                return None;
            }
        }
        // the function was never entered
        let calls = self.origins.calls(at.0).iter();
        calls.filter_map(|(caller, id)| self.block_of(*caller, *id)).find_map(|at| self.on_the_way(at, seen))
    }

    fn block_of(&self, function: FunctionId, id: model::InstrId) -> Option<At> {
        let blocks = &self.program.function(function).blocks;
        let index = blocks.iter().position(|block| block.instrs.contains(&id))?;
        Some((function, BlockId::new(index)))
    }
}
