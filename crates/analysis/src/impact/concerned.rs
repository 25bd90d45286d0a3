//! Which statements, conditions, switches and functions does an impact concern?
//!
//! Method: a statement by its instructions, a condition by the instruction that passes its value, a label by its `switch`, a function by
//! its calls. Limit: a statement without code is concerned only when it changed itself.

use std::collections::BTreeSet;

use model::{BlockId, ConditionId, DecisionId, FunctionId, Program, StatementId, SwitchId, Terminator};

use super::{Cause, Dependence, Impact};
use crate::Place;
use crate::versions::{Change, Comparison, ItemKind};

/// How far a change counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// What is different itself.
    Changed,
    /// That and what may behave differently because of it.
    Impacted,
}

/// What is concerned in the new version.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Concerned {
    pub statements: BTreeSet<StatementId>,
    pub conditions: BTreeSet<ConditionId>,
    pub decisions: BTreeSet<DecisionId>,
    pub switches: BTreeSet<SwitchId>,
    pub labels: BTreeSet<(SwitchId, u32)>,
    /// Functions whose entry is.
    pub entered: BTreeSet<FunctionId>,
    /// Functions whose end is.
    pub ended: BTreeSet<FunctionId>,
    pub places: BTreeSet<Place>,
}

impl Concerned {
    /// What an impact concerns.
    pub fn of(program: &Program, comparison: &Comparison, impact: &Impact, reach: Reach) -> Self {
        let mut found = Self::default();
        let counts = |place: Place| match (reach, impact.cause(place)) {
            (_, Some(Cause::Changed(_))) | (Reach::Impacted, Some(_)) => true,
            (Reach::Changed, Some(Cause::Depends { .. } | Cause::Depended { .. })) | (_, None) => false,
        };
        found.places = impact.places().map(|(place, _)| place).filter(|place| counts(*place)).collect();
        for function in &comparison.functions {
            let Some(id) = function.new else { continue };
            for item in &function.items {
                let Some(side) = &item.new else { continue };
                let is_changed = item.change != Change::Unchanged;
                let is_concerned = is_changed || side.places.iter().any(|place| counts(*place));
                match side.kind {
                    ItemKind::Statement(statement) if is_concerned => _ = found.statements.insert(statement),
                    ItemKind::Label(switch, number) if is_changed => {
                        _ = found.labels.insert((switch, number))
                    }
                    ItemKind::Statement(_) | ItemKind::Label(..) | ItemKind::Entry => {}
                }
                for (condition, place) in &side.marks {
                    // the other conditions of a different decision mask and are masked differently
                    if counts(*place) {
                        found.conditions.insert(*condition);
                        found.decisions.insert(program.condition(*condition).decision);
                    }
                }
            }
            if reach == Reach::Impacted {
                found.function(program, id, impact);
            }
            if function.old.is_none() || function.signature {
                found.entered.insert(id);
            }
        }
        found
    }

    fn function(&mut self, program: &Program, id: FunctionId, impact: &Impact) {
        for (block, code) in program.function(id).blocks() {
            let at = u32::try_from(code.instrs.len()).expect("fewer than 2^32 instructions");
            let end = Place { function: id, block, at };
            match &code.terminator {
                Terminator::Switch { source: Some(switch), .. } if impact.contains(end) => {
                    self.switches.insert(*switch);
                }
                Terminator::Branch { range: Some(range), .. } if impact.contains(end) => {
                    self.switches.insert(range.switch);
                }
                Terminator::Return(_) if impact.contains(end) => _ = self.ended.insert(id),
                Terminator::Switch { .. }
                | Terminator::Branch { .. }
                | Terminator::Return(_)
                | Terminator::Jump(_)
                | Terminator::IndirectJump { .. }
                | Terminator::Unreachable => {}
            }
        }
        let first = Place { function: id, block: BlockId(0), at: 0 };
        if matches!(impact.cause(first), Some(Cause::Depends { how: Dependence::Call, .. })) {
            self.entered.insert(id);
        }
    }
}
