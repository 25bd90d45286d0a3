//! What may behave differently because of a change? Slices over control and data dependence (directed incremental symbolic
//! execution, after Person et al.; non-intrusive MC/DC, section IV.B).
//!
//! Method: every instruction of a changed, added or moved statement that the other version does not have starts a slice forwards over
//! the dependences of the new version ([`Dependences`]). What was removed starts one over those of the old version, which ends at the
//! first instructions that are there still: these no longer see a definition, or are no longer decided about, and go on in the new
//! version. Every instruction remembers what it was reached from ([`Impact::reason`]). The slice backwards from the changes is what decides
//! whether they are reached.
//!
//! Limits: those of the dependences; a changed function that does not come back is no change of what follows.

mod concerned;
mod graph;

use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};

use model::{ConditionId, FunctionId, Operand, Program, SpanId};

use crate::Place;
use crate::dataflow::ObjectId;
use crate::versions::{Change, Comparison, ItemKind, Side, is_written};
pub use concerned::{Concerned, Reach};
use graph::Reached;
pub use graph::{Dependence, Dependences};

/// Why something is impacted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    /// It is new or different itself.
    Changed(Change),
    /// It depends on something that is impacted, in the new version.
    Depends { on: Place, how: Dependence },
    /// It depended on something that was removed, in the old version.
    Depended { on: Place, how: Dependence },
}

/// What is impacted, and why.
#[derive(Clone, Debug, Default)]
pub struct Impact {
    causes: BTreeMap<Place, Cause>,
    /// Changed statements, by where they begin.
    changed: BTreeSet<SpanId>,
    changed_conditions: BTreeSet<ConditionId>,
    /// What decides whether the changes are reached, and what is computed there.
    leads: BTreeSet<Place>,
    /// Functions that are new, or called in another way.
    functions: BTreeSet<FunctionId>,
    /// The variables that dependences are about.
    names: BTreeMap<ObjectId, String>,
}

impl Impact {
    /// Whether an instruction may behave differently.
    pub fn contains(&self, place: Place) -> bool {
        self.causes.contains_key(&place)
    }

    /// Why it may.
    pub fn cause(&self, place: Place) -> Option<Cause> {
        self.causes.get(&place).copied()
    }

    /// All instructions that may, in order.
    pub fn places(&self) -> impl Iterator<Item = (Place, Cause)> + '_ {
        self.causes.iter().map(|(place, cause)| (*place, *cause))
    }

    /// Whether the statement that begins here is changed, added or moved.
    pub fn is_changed(&self, statement: SpanId) -> bool {
        self.changed.contains(&statement)
    }

    /// Whether the condition itself is.
    pub fn is_changed_condition(&self, condition: ConditionId) -> bool {
        self.changed_conditions.contains(&condition)
    }

    /// Whether the function is new or has another signature.
    pub fn is_changed_function(&self, function: FunctionId) -> bool {
        self.functions.contains(&function)
    }

    /// Whether an instruction has an influence on whether a change is reached, or on what it does.
    pub fn leads(&self, place: Place) -> bool {
        self.leads.contains(&place)
    }

    /// The variable that a dependence is about.
    pub fn name(&self, object: ObjectId) -> Option<&str> {
        self.names.get(&object).map(String::as_str)
    }

    /// Follows the dependences of the new version.
    fn spread(&mut self, dependences: &mut Dependences<'_>, mut open: VecDeque<Reached>, seen: &mut Seen) {
        open.retain(|reached| seen.insert(*reached));
        let mut found = Vec::new();
        while let Some(reached) = open.pop_front() {
            dependences.after(reached, &mut found);
            for (how, next) in found.drain(..) {
                if seen.insert(next) {
                    self.causes.entry(next.place).or_insert(Cause::Depends { on: reached.place, how });
                    open.push_back(next);
                }
            }
        }
    }

    /// Whether nothing is.
    pub fn is_empty(&self) -> bool {
        self.causes.is_empty() && self.functions.is_empty()
    }
}

/// The impact of the changes between two versions, in terms of the new one.
pub fn impact(old: &Program, new: &Program, comparison: &Comparison) -> Impact {
    let mut impact = Impact::default();
    if comparison.n_changed() == 0 {
        return impact;
    }
    let mut after = Dependences::of(new);
    let mut seeds = Vec::new();
    for function in &comparison.functions {
        if let (Some(id), true) = (function.new, function.old.is_none() || function.signature) {
            impact.functions.insert(id);
        }
        for item in &function.items {
            let Some(side) = &item.new else { continue };
            if item.change != Change::Unchanged {
                impact.changed.extend(side.span.filter(|_| side.kind != ItemKind::Entry));
                seeds.extend(seeds_of(side, item.old.as_ref(), item.change, comparison, &after));
            }
        }
    }
    for (place, change) in &seeds {
        impact.causes.entry(*place).or_insert(Cause::Changed(*change));
    }
    for item in comparison.functions.iter().flat_map(|function| &function.items) {
        let marks = item.new.iter().filter(|_| item.change != Change::Unchanged).flat_map(|side| &side.marks);
        let changed = marks.filter(|(_, place)| impact.causes.contains_key(place));
        impact.changed_conditions.extend(changed.map(|(condition, _)| *condition));
    }
    let whole = |place: Place| Reached { place, from: None, passes: false };
    let mut seen = Seen::of(new);
    let changed = seeds.iter().map(|(place, _)| whole(*place)).collect();
    impact.spread(&mut after, changed, &mut seen);
    // last: what the new version says itself is the better reason
    let mut orphans = VecDeque::new();
    for (place, cause) in removed(old, comparison) {
        impact.causes.entry(place).or_insert(cause);
        orphans.push_back(whole(place));
    }
    impact.spread(&mut after, orphans, &mut seen);
    for cause in impact.causes.values() {
        if let Cause::Depends { how: Dependence::Variable(object), .. } = cause {
            impact.names.entry(*object).or_insert_with(|| after.flow.object(*object).name.clone());
        }
    }
    impact.leads = leads(&mut after, seeds.iter().map(|(place, _)| *place));
    impact
}

/// What a slice has met, in code that a person wrote.
struct Seen {
    is_written: Vec<bool>,
    met: HashSet<Reached>,
}

impl Seen {
    fn of(program: &Program) -> Self {
        let ids = (0..program.functions.len()).map(FunctionId::new);
        Self { is_written: ids.map(|id| is_written(program, id)).collect(), met: HashSet::new() }
    }

    /// Whether it is new; what is met in all activations of a function is not new in one of them.
    fn insert(&mut self, reached: Reached) -> bool {
        let whole = Reached { from: None, ..reached };
        let active = Reached { passes: false, ..whole };
        self.is_written[reached.place.function.index()]
            && !self.met.contains(&whole)
            && !self.met.contains(&active)
            && self.met.insert(reached)
    }
}

/// Where a slice begins for a changed statement: what the other version does not have.
fn seeds_of(
    side: &Side,
    old: Option<&Side>,
    change: Change,
    comparison: &Comparison,
    dependences: &Dependences<'_>,
) -> Vec<(Place, Change)> {
    let is_kept = |place: &Place| change == Change::Changed && comparison.back.contains_key(place);
    let mut seeds: Vec<(Place, Change)> =
        side.places.iter().filter(|place| !is_kept(place)).map(|place| (*place, change)).collect();
    if let ItemKind::Label(switch, _) = side.kind {
        // the whole choice: values that go here went elsewhere
        seeds.extend(dependences.switch(switch).into_iter().map(|place| (place, change)));
    }
    let same_code = old.is_some_and(|old| old.places.len() == side.places.len()) && seeds.is_empty();
    if same_code {
        // the same code under other words: conditions combine differently, or a jump goes elsewhere
        seeds.extend(side.marks.iter().map(|(_, place)| (*place, change)));
    }
    if seeds.is_empty() {
        // a jump is the end of its block
        seeds.extend(dependences.jump(side).into_iter().map(|place| (place, change)));
    }
    seeds
}

/// Instructions that are there still and depended on something that is not.
fn removed(old: &Program, comparison: &Comparison) -> Vec<(Place, Cause)> {
    let mut gone: Vec<Place> = Vec::new();
    let mut before: Option<Dependences<'_>> = None;
    for function in comparison.functions.iter().filter(|function| function.is_changed()) {
        for item in function.items.iter().filter(|item| item.change != Change::Unchanged) {
            let Some(side) = &item.old else { continue };
            let is_moved = item.change == Change::Moved;
            gone.extend(side.places.iter().filter(|place| is_moved || !comparison.forth.contains_key(place)));
            if side.places.is_empty() || matches!(side.kind, ItemKind::Label(..)) {
                let before = before.get_or_insert_with(|| Dependences::of(old));
                gone.extend(before.jump(side));
                if let ItemKind::Label(switch, _) = side.kind {
                    gone.extend(before.switch(switch));
                }
            }
        }
    }
    if gone.is_empty() {
        return Vec::new();
    }
    let mut before = before.unwrap_or_else(|| Dependences::of(old));
    let mut open: VecDeque<Reached> =
        gone.iter().map(|place| Reached { place: *place, from: None, passes: false }).collect();
    let mut seen = Seen::of(old);
    open.iter().for_each(|reached| _ = seen.insert(*reached));
    let (mut found, mut next_ones) = (Vec::new(), Vec::new());
    while let Some(reached) = open.pop_front() {
        before.after(reached, &mut next_ones);
        for (how, next) in next_ones.drain(..) {
            // a function that is called less often does what it did
            let is_of_callee = matches!(how, Dependence::Call | Dependence::Argument);
            if is_of_callee || !seen.insert(next) {
                continue;
            }
            match comparison.forth.get(&next.place) {
                Some(place) => found.push((*place, Cause::Depended { on: reached.place, how })),
                None => open.push_back(next),
            }
        }
    }
    found.sort();
    found
}

/// What decides whether these places are reached, and what is computed there.
fn leads(dependences: &mut Dependences<'_>, from: impl Iterator<Item = Place>) -> BTreeSet<Place> {
    let mut before: BTreeMap<Place, Vec<Place>> = BTreeMap::new();
    for (_, pair) in dependences.flow.pairs() {
        let definition = &dependences.flow.definition(pair.definition).places;
        for use_ in &dependences.flow.use_(pair.use_).places {
            before.entry(*use_).or_default().extend(definition);
        }
    }
    let program = dependences.program();
    let mut open: Vec<Place> = from.collect();
    let mut seen: BTreeSet<Place> = open.iter().copied().collect();
    while let Some(place) = open.pop() {
        let function = program.function(place.function);
        let mut next: Vec<Place> = before.get(&place).cloned().unwrap_or_default();
        next.extend(dependences.choices_before(place));
        let operands = match place.op(program) {
            Some(op) => op.operands(),
            None => function.block(place.block).terminator.operand().into_iter().collect(),
        };
        let of_block = |instr| function.block(place.block).instrs.iter().position(|id| *id == instr);
        for operand in operands {
            if let Operand::Result(instr) = operand
                && let Some(at) = of_block(instr)
            {
                let at = u32::try_from(at).expect("fewer than 2^32 instructions");
                next.push(Place { at, ..place });
            }
        }
        if !function.generated {
            next.extend(
                dependences.calls_of(place.function).iter().filter(|call| is_written(program, call.function)),
            );
        }
        open.extend(next.into_iter().filter(|place| seen.insert(*place)));
    }
    seen
}

impl Dependences<'_> {
    /// The branch of a `switch`.
    fn switch(&self, wanted: model::SwitchId) -> Vec<Place> {
        let program = self.program();
        let function = program.switch(wanted).function;
        let is_it = |place: &Place| {
            let block = program.function(function).block(place.block);
            place.at as usize == block.instrs.len()
                && match &block.terminator {
                    model::Terminator::Switch { source, .. } => *source == Some(wanted),
                    model::Terminator::Branch { range, .. } => range.is_some_and(|of| of.switch == wanted),
                    model::Terminator::Jump(_)
                    | model::Terminator::IndirectJump { .. }
                    | model::Terminator::Return(_)
                    | model::Terminator::Unreachable => false,
                }
        };
        self.places(function).into_iter().filter(is_it).collect()
    }

    /// The branches that decide whether a statement that only jumps is executed: it decides about what follows with them.
    fn jump(&self, side: &Side) -> Vec<Place> {
        let ItemKind::Statement(statement) = side.kind else { return Vec::new() };
        let program = self.program();
        let of = program.statement(statement);
        let Some((block, _)) = of.code else { return Vec::new() };
        let into = |place: &Place| {
            let code = program.function(of.function).block(place.block);
            place.at as usize == code.instrs.len()
                && code.terminator.successors().contains(&block)
                && code.terminator.operand().is_some()
        };
        self.places(of.function).into_iter().filter(into).collect()
    }
}
