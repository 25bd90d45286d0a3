//! Does a definition of bytes in memory reach a use? A flag for each goal, set where a definition may touch them, cleared where
//! another store must.
//!
//! Method: objects and accesses are ranges of addresses; whether they overlap follows from the objects that addresses were
//! computed from, or is left to the solver. Code that was generated clears nothing: what it stores counts where it was called.

use model::{BinaryOp, InstrId, Predicate};
use proof::{FlowHome, FlowObject, FlowPlace};

use crate::encode::{Encoder, Run};
use crate::graph::ContextId;
use crate::objects::Object;
use crate::state::{Slot, State, Value};
use crate::terms::{Bits, Truth};

/// Bytes that an instruction reads or writes.
#[derive(Clone, Copy)]
pub(crate) struct Range<'m> {
    pub(crate) address: Bits<'m>,
    /// None where it is not known.
    pub(crate) n_bytes: Option<u64>,
}

impl<'m> Encoder<'_, 'm> {
    /// An instruction reads these bytes.
    pub(crate) fn flow_read(
        &mut self,
        run: &mut Run<'m>,
        state: &State<'m>,
        context: ContextId,
        id: InstrId,
        range: Range<'m>,
    ) {
        let place = FlowPlace { function: self.graph.context(context).function, instr: id };
        for flow in self.watch.memory.iter().filter(|flow| flow.uses.contains(&place)) {
            for owner in self.owners(context, flow.object.home) {
                let Some(flag) = self.flag(run, state, owner, flow.goal) else { continue };
                let touched = self.touched(owner, flow.object, range);
                let reaches = self.terms.and(flag, touched);
                let when = self.terms.and(state.path, reaches);
                if !self.terms.is_false(when) {
                    run.event(flow.goal, when);
                }
            }
        }
    }

    /// An instruction writes these bytes.
    pub(crate) fn flow_write(
        &mut self,
        run: &mut Run<'m>,
        state: &mut State<'m>,
        context: ContextId,
        id: InstrId,
        range: Range<'m>,
    ) {
        let function = self.graph.context(context).function;
        let (place, is_generated) =
            (FlowPlace { function, instr: id }, self.program.function(function).generated);
        for flow in &self.watch.memory {
            let is_definition = flow.definitions.contains(&place);
            if !is_definition && (is_generated || range.n_bytes.is_none()) {
                continue;
            }
            for owner in self.owners(context, flow.object.home) {
                let Some(flag) = self.flag(run, state, owner, flow.goal) else { continue };
                let touched = self.touched(owner, flow.object, range);
                let flag = if is_definition {
                    self.terms.or(flag, touched)
                } else {
                    let untouched = self.terms.not(touched);
                    self.terms.and(flag, untouched)
                };
                let bit = self.terms.bit(flag);
                state.values.insert(Slot::Defined(owner, flow.goal), Value::Bits(bit));
            }
        }
    }

    /// The activations whose object is meant; one of them stands for a global.
    fn owners(&self, context: ContextId, home: FlowHome) -> Vec<ContextId> {
        match home {
            FlowHome::Global(_) => vec![ContextId::ENTRY],
            FlowHome::Local(function, _) => {
                let enclosing = self.graph.enclosing(context).into_iter();
                enclosing.filter(|context| self.graph.context(*context).function == function).collect()
            }
        }
    }

    fn flag(
        &mut self,
        run: &mut Run<'m>,
        state: &State<'m>,
        owner: ContextId,
        goal: usize,
    ) -> Option<Truth<'m>> {
        match self.get(&mut run.symbols, state, Slot::Defined(owner, goal))? {
            Value::Bits(bit) => Some(self.terms.is_set(bit)),
            Value::Record(_) => None,
        }
    }

    /// Whether the bytes and the object have an address in common.
    fn touched(&mut self, owner: ContextId, object: FlowObject, range: Range<'m>) -> Truth<'m> {
        let base = match object.home {
            FlowHome::Global(global) => Some(self.objects.global(&mut self.terms, self.program, global)),
            FlowHome::Local(_, alloca) => self.objects.known(Object::Local(owner, alloca)),
        };
        let (Some(base), Some(n_bytes)) = (base, range.n_bytes) else {
            let any = self.terms.fresh(1);
            return self.terms.is_set(any);
        };
        if let Some(known) = self.is_known_to_touch(base, object, range.address, n_bytes) {
            return self.terms.truth(known);
        }
        let offset = self.terms.constant(base.width, object.offset.into());
        let start = self.terms.add(base, offset);
        let mut is_within = |a: Bits<'m>, b: Bits<'m>, size: u64| {
            let distance = self.terms.binary(BinaryOp::Sub, a, b);
            let size = self.terms.constant(distance.width, size.into());
            self.terms.compare(Predicate::Ult, distance, size)
        };
        let behind = is_within(range.address, start, object.size);
        let before = is_within(start, range.address, n_bytes);
        self.terms.or(behind, before)
    }

    /// The same where the address was computed from that of an object by a known amount.
    fn is_known_to_touch(
        &self,
        base: Bits<'m>,
        object: FlowObject,
        address: Bits<'m>,
        n_bytes: u64,
    ) -> Option<bool> {
        let ((own, _), (other, at)) = (self.terms.address(base)?, self.terms.address(address)?);
        let (first, end) = (i128::from(object.offset), i128::from(object.offset + object.size));
        let last = at + i128::from(n_bytes);
        if own == other {
            return Some(at < end && first < last);
        }
        let is_inside = self.objects.size(own).is_some()
            && at >= 0
            && self.objects.size(other).is_some_and(|size| last <= i128::from(size));
        is_inside.then_some(false)
    }
}
