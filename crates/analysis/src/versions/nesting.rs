//! Which statements came under another branch although nothing in them changed?
//!
//! Method: the branch directions that a statement depends on are compared between the versions, as far as the branches themselves
//! are unchanged. A difference that a changed jump or `return` on such a branch explains is left to the analysis of
//! impact. Limit: a statement that moved within the branches that decide about it is found by its place in the order instead.

use std::collections::{BTreeMap, BTreeSet};

use model::{FunctionId, Program, StatementKind, Terminator};

use super::Change;
use super::align::Alignment;
use super::items::{FunctionItems, ItemKind};
use crate::Place;
use crate::dominators::{Digraph, Dominators};

/// A branch of a function, named alike in both versions, and how it goes: the item in the new version, the number of the branching
/// code in it, the outcome.
type Way = (usize, usize, u32);

/// Marks what other branches decide about now as moved.
pub(super) fn find_moved(
    old: &Program,
    new: &Program,
    ids: (FunctionId, FunctionId),
    items: (&FunctionItems, &FunctionItems),
    alignment: &mut Alignment,
) {
    if alignment.items.iter().all(|aligned| aligned.change == Change::Unchanged) && !jumps(items.0) {
        // the order of the items is all there is to their nesting, but for where blocks end
        if same_shape(old.function(ids.0), new.function(ids.1)) {
            return;
        }
    }
    let olds: BTreeMap<usize, usize> = alignment
        .items
        .iter()
        .filter(|aligned| aligned.change == Change::Unchanged)
        .filter_map(|aligned| Some((aligned.old?, aligned.new?)))
        .collect();
    let same: BTreeMap<usize, usize> = olds.values().map(|item| (*item, *item)).collect();
    let before = dependences(old, ids.0, items.0, &olds);
    let after = dependences(new, ids.1, items.1, &same);
    let mut excused = excused(items, alignment, &before, &after, (old, new));
    let labels = alignment.items.iter().filter(|aligned| aligned.change != Change::Unchanged);
    for aligned in labels {
        excused.extend(aligned.old.and_then(|item| switch_of(old, ids.0, items.0, item, &olds)));
        excused.extend(aligned.new.and_then(|item| switch_of(new, ids.1, items.1, item, &same)));
    }
    let none = BTreeSet::new();
    for aligned in alignment.items.iter_mut().filter(|aligned| aligned.change == Change::Unchanged) {
        let (Some(a), Some(b)) = (aligned.old, aligned.new) else { continue };
        if items.1.items[b].kind == ItemKind::Entry {
            continue;
        }
        let (was, is) = (before.get(&a).unwrap_or(&none), after.get(&b).unwrap_or(&none));
        let differs =
            was.symmetric_difference(is).any(|(item, number, _)| !excused.contains(&(*item, *number)));
        if differs {
            aligned.change = Change::Moved;
        }
    }
}

/// Whether blocks lead to blocks in the same way.
fn same_shape(old: &model::Function, new: &model::Function) -> bool {
    let steps = |function: &model::Function| -> Vec<_> {
        function.blocks.iter().map(|block| block.terminator.successors()).collect()
    };
    steps(old) == steps(new)
}

fn jumps(items: &FunctionItems) -> bool {
    items.items.iter().any(|item| item.code.is_empty() && matches!(item.kind, ItemKind::Statement(_)))
}

/// The branches on which a jump or `return` changed.
fn excused(
    items: (&FunctionItems, &FunctionItems),
    alignment: &Alignment,
    before: &BTreeMap<usize, BTreeSet<Way>>,
    after: &BTreeMap<usize, BTreeSet<Way>>,
    programs: (&Program, &Program),
) -> BTreeSet<(usize, usize)> {
    let mut excused = BTreeSet::new();
    for aligned in alignment.items.iter().filter(|aligned| aligned.change != Change::Unchanged) {
        let sides = [(aligned.old, items.0, before, programs.0), (aligned.new, items.1, after, programs.1)];
        for (item, items, dependences, program) in sides {
            let Some(item) = item.filter(|item| leaves(program, items, *item)) else { continue };
            let ways = dependences.get(&item).into_iter().flatten();
            excused.extend(ways.map(|(item, number, _)| (*item, *number)));
        }
    }
    excused
}

/// Whether control may go elsewhere than to the next statement: a `return`, a jump, a branch, a call.
fn leaves(program: &Program, items: &FunctionItems, item: usize) -> bool {
    let item = &items.items[item];
    match item.kind {
        ItemKind::Entry => false,
        ItemKind::Label(..) => true,
        ItemKind::Statement(id) => {
            let calls = || {
                item.code.iter().any(|code| matches!(code.place.op(program), Some(model::Op::Call { .. })))
            };
            let of = program.statement(id);
            of.kind == StatementKind::Return || item.code.is_empty() || !item.decisions.is_empty() || calls()
        }
    }
}

/// The branch that a label belongs to.
fn switch_of(
    program: &Program,
    id: FunctionId,
    items: &FunctionItems,
    item: usize,
    named: &BTreeMap<usize, usize>,
) -> Option<(usize, usize)> {
    let ItemKind::Label(wanted, _) = items.items[item].kind else { return None };
    let is_it = |terminator: &Terminator| match terminator {
        Terminator::Switch { source, .. } => *source == Some(wanted),
        Terminator::Branch { range, .. } => range.is_some_and(|range| range.switch == wanted),
        Terminator::Jump(_)
        | Terminator::IndirectJump { .. }
        | Terminator::Return(_)
        | Terminator::Unreachable => false,
    };
    let (block, code) = program.function(id).blocks().find(|(_, code)| is_it(&code.terminator))?;
    let at = u32::try_from(code.instrs.len()).expect("fewer than 2^32 instructions");
    let place = Place { function: id, block, at };
    let item = *items.of_place.get(&place)?;
    let number = items.items[item].code.iter().position(|code| code.place == place)?;
    Some((*named.get(&item)?, number))
}

/// By item: the branches among `named` that it depends on.
fn dependences(
    program: &Program,
    id: FunctionId,
    items: &FunctionItems,
    named: &BTreeMap<usize, usize>,
) -> BTreeMap<usize, BTreeSet<Way>> {
    let function = program.function(id);
    let n_blocks = function.blocks.len();
    let end = u32::try_from(n_blocks).expect("fewer than 2^32 blocks");
    let mut backwards = Vec::new();
    for (block, code) in function.blocks() {
        let successors = code.terminator.successors();
        backwards.extend(successors.iter().map(|to| (to.0, block.0)));
        if successors.is_empty() {
            backwards.push((end, block.0));
        }
    }
    let passed = Dominators::of(&Digraph::new(n_blocks + 1, &backwards), end);
    let chain =
        |block: u32| -> BTreeSet<u32> { passed.chain(block).unwrap_or_default().into_iter().collect() };
    // by block: the ways of all branches that decide whether it is executed
    let mut on: BTreeMap<u32, BTreeSet<Way>> = BTreeMap::new();
    for (block, code) in function.blocks() {
        let at = u32::try_from(code.instrs.len()).expect("fewer than 2^32 instructions");
        let place = Place { function: id, block, at };
        let Some(&item) = items.of_place.get(&place) else { continue };
        let Some(&name) = named.get(&item) else { continue };
        let Some(number) = items.items[item].code.iter().position(|code| code.place == place) else {
            continue;
        };
        let mut always = chain(block.0);
        always.remove(&block.0);
        for (to, outcome) in outcomes(&code.terminator) {
            for led in chain(to).difference(&always).filter(|led| **led != end) {
                on.entry(*led).or_default().insert((name, number, outcome));
            }
        }
    }
    let mut of_item: BTreeMap<usize, BTreeSet<Way>> = BTreeMap::new();
    for (place, item) in &items.of_place {
        if items.first_place(*item).is_none_or(|first| first.block == place.block) {
            of_item.entry(*item).or_default().extend(on.get(&place.block.0).into_iter().flatten());
        }
    }
    of_item
}

/// Where a terminator leads, and by which outcome; cases by their values.
fn outcomes(terminator: &Terminator) -> Vec<(u32, u32)> {
    match terminator {
        Terminator::Branch { then, otherwise, .. } => vec![(then.0, 1), (otherwise.0, 0)],
        Terminator::Switch { cases, default, .. } => {
            let case = |case: &model::SwitchCase| (case.target.0, (case.value as u32).wrapping_add(1));
            cases.iter().map(case).chain([(default.0, 0)]).collect()
        }
        Terminator::IndirectJump { targets, .. } => targets.iter().map(|to| to.0).zip(0..).collect(),
        Terminator::Jump(_) | Terminator::Return(_) | Terminator::Unreachable => Vec::new(),
    }
}
