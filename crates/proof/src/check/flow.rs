//! Does a definition of bytes in memory reach a use? A flag, set where a definition may touch them, cleared where another
//! store must.
//!
//! Method: objects and accesses are ranges of addresses, and whether they overlap is a term. Code that was generated (models of
//! library functions, stubs) clears nothing: what it stores counts where it was called. Calls that are not inlined clear
//! nothing either; those that may lead to a definition or a use must be inlined.

use std::collections::BTreeSet;

use model::{FunctionId, InstrId, Op, Program};

use super::execute::Segment;
use super::inline::Point;
use super::state::State;
use super::terms::{Sort, Term};
use super::{Checked, rejected};
use crate::{FlowHome, FlowObject, FlowPlace, Operator};

/// What is watched.
pub(crate) struct Flow {
    pub(crate) object: FlowObject,
    pub(crate) definitions: BTreeSet<FlowPlace>,
    pub(crate) uses: BTreeSet<FlowPlace>,
}

/// Bytes that an instruction reads or writes.
#[derive(Clone, Copy)]
pub(super) struct Range {
    pub(super) address: Term,
    /// None where it is not known.
    pub(super) n_bytes: Option<u64>,
}

impl Flow {
    pub(crate) fn of(
        program: &Program,
        object: FlowObject,
        definitions: &BTreeSet<FlowPlace>,
        uses: &BTreeSet<FlowPlace>,
    ) -> Checked<Self> {
        let op = |place: &FlowPlace| {
            let code = program.functions.get(place.function.index())?;
            code.instrs.get(place.instr.index()).map(|instr| &instr.op)
        };
        let defines = |place: &FlowPlace| matches!(op(place), Some(Op::Store { .. } | Op::Memory { .. }));
        let is_used = |place: &FlowPlace| matches!(op(place), Some(Op::Load { .. } | Op::Memory { .. }));
        if !definitions.iter().all(defines) || !uses.iter().all(is_used) {
            return rejected("goal", "the ends are no loads, stores and copies");
        }
        let exists = match object.home {
            FlowHome::Global(global) => global.index() < program.globals.len(),
            FlowHome::Local(function, alloca) => {
                let code = program.functions.get(function.index());
                let instr = code.and_then(|code| code.instrs.get(alloca.index()));
                instr.is_some_and(|instr| matches!(instr.op, Op::Alloca { .. })) && !object.is_initial
            }
        };
        if !exists || object.size == 0 || object.offset.checked_add(object.size).is_none() {
            return rejected("goal", "there is no such object");
        }
        Ok(Self { object, definitions: definitions.clone(), uses: uses.clone() })
    }

    /// The functions in which something counts.
    pub(crate) fn functions(&self) -> BTreeSet<FunctionId> {
        let places = self.definitions.iter().chain(&self.uses);
        let home = match self.object.home {
            FlowHome::Local(function, _) => Some(function),
            FlowHome::Global(_) => None,
        };
        places.map(|place| place.function).chain(home).collect()
    }
}

impl Segment<'_, '_> {
    /// An instruction reads these bytes.
    pub(super) fn flow_read(&mut self, point: Point, state: &State, id: InstrId, range: Range) {
        let Some(flow) = self.plan.monitor.flow() else { return };
        let function = self.plan.inlined.activations[point.activation].function;
        if !flow.uses.contains(&FlowPlace { function, instr: id }) {
            return;
        }
        let object = flow.object;
        for (activation, flag) in state.flags.clone() {
            let touched = self.touched(state, activation, object, range);
            let under = self.world.terms.and(&[state.reached, flag, touched]);
            self.cover(Some(under), point, Some(id));
        }
    }

    /// An instruction writes these bytes.
    pub(super) fn flow_write(&mut self, point: Point, state: &mut State, id: InstrId, range: Range) {
        let Some(flow) = self.plan.monitor.flow() else { return };
        let function = self.plan.inlined.activations[point.activation].function;
        let is_definition = flow.definitions.contains(&FlowPlace { function, instr: id });
        if !is_definition && self.world.program.function(function).generated {
            return;
        }
        let object = flow.object;
        for (activation, flag) in state.flags.clone() {
            let touched = self.touched(state, activation, object, range);
            let flag = if is_definition {
                self.world.terms.or(&[flag, touched])
            } else {
                // bytes of an unknown number may be none
                let untouched = match range.n_bytes {
                    Some(_) => self.world.terms.not(touched),
                    None => self.world.terms.truth(true),
                };
                self.world.terms.and(&[flag, untouched])
            };
            state.flags.insert(activation, flag);
        }
    }

    /// Whether the bytes and the object of the activation have an address in common.
    fn touched(&mut self, state: &State, activation: usize, object: FlowObject, range: Range) -> Term {
        let base = match object.home {
            FlowHome::Global(global) => self.world.global(global),
            FlowHome::Local(_, alloca) => match state.addresses.get(&(activation, alloca)) {
                Some(address) => *address,
                None => return self.world.terms.fresh(Sort::Bool),
            },
        };
        let Some(n_bytes) = range.n_bytes else { return self.world.terms.fresh(Sort::Bool) };
        let start = self.world.moved(base, object.offset as i64);
        let terms = &mut self.world.terms;
        let mut is_within = |a: Term, b: Term, size: u64| {
            let distance = terms.apply(Operator::BvSub, &[a, b]);
            let size = terms.address(size);
            terms.apply(Operator::BvUlt, &[distance, size])
        };
        let (behind, before) =
            (is_within(range.address, start, object.size), is_within(start, range.address, n_bytes));
        self.world.terms.or(&[behind, before])
    }
}
