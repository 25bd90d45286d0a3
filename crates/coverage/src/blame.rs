//! Which stub keeps a goal open?
//!
//! Method: a goal that was given up because nothing was left to try is looked at again. Its own condition, or a branch that
//! every way to it takes behind the last block that a covered goal shows to be reached, may come from what a stub does not
//! give (`analysis::origins`). Limits: only goals of the criteria asked for show what is reached; goals of data flow have no
//! place of their own.

use std::collections::{BTreeMap, BTreeSet};

use analysis::dominators::{Digraph, Dominators};
use analysis::origins::{Asked, Origins};
use model::{BlockId, FunctionId, Program};

use crate::{Coverage, GoalId, Reason, Status};

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
            let places = goal.demand.places(program).into_iter();
            places.for_each(|place| search.reach((place.function, place.block)));
        }
    }
    for (id, goal, status) in coverage.goals() {
        if *status != Status::Undecided(Reason::Saturated) {
            continue;
        }
        let stub = goal.demand.places(program).into_iter().find_map(|place| {
            let own = place.value.and_then(|value| search.origins.of(place.function, value));
            own.or_else(|| search.on_the_way((place.function, place.block), &mut BTreeSet::new()))
        });
        blamed.extend(stub.map(|stub| (id, stub)));
    }
    for (goal, stub) in blamed {
        coverage.blame(goal, stub);
    }
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
