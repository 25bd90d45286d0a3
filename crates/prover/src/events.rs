//! Which goals does a step cover, and what must be remembered for those that a later step may cover?

use model::{FunctionId, InstrId};
use proof::{FlowHome, SwitchTarget};

use crate::encode::{Encoder, Run};
use crate::graph::{ContextId, Node};
use crate::state::{Slot, State, Value};
use crate::terms::{Bits, Truth};

impl<'m> Encoder<'_, 'm> {
    /// Nothing was evaluated or defined yet in a new activation.
    pub(crate) fn begin_activation(&mut self, state: &mut State<'m>, context: ContextId) {
        let (watch, zero) = (self.watch, self.terms.constant(1, 0));
        let function = self.graph.context(context).function;
        for decision in &watch.decisions {
            let decision = self.program.decision(*decision);
            if decision.function == function {
                for condition in decision.shape.conditions() {
                    state.values.insert(Slot::Evaluated(context, condition), Value::Bits(zero));
                }
            }
        }
        for flow in watch.flows.get(&function).into_iter().flatten() {
            state.values.insert(Slot::Defined(context, flow.goal), Value::Bits(zero));
        }
        for end in watch.ends.get(&function).into_iter().flatten() {
            state.values.insert(Slot::Defined(context, end.goal), Value::Bits(zero));
        }
        let is_own = |home: FlowHome| matches!(home, FlowHome::Local(of, _) if of == function);
        for flow in watch.memory.iter().filter(|flow| is_own(flow.object.home)) {
            state.values.insert(Slot::Defined(context, flow.goal), Value::Bits(zero));
        }
    }

    /// A block of the function begins.
    pub(crate) fn begin_block(&mut self, state: &mut State<'m>, function: FunctionId, node: Node) {
        let (watch, one) = (self.watch, self.terms.constant(1, 1));
        for end in watch.ends.get(&function).into_iter().flatten() {
            if end.returning.contains(&node.block) {
                state.values.insert(Slot::Defined(node.context, end.goal), Value::Bits(one));
            }
        }
    }

    /// The function returns.
    pub(crate) fn returned(
        &mut self,
        run: &mut Run<'m>,
        state: &State<'m>,
        function: FunctionId,
        context: ContextId,
    ) {
        let watch = self.watch;
        if !self.counts(context) {
            return;
        }
        for end in watch.ends.get(&function).into_iter().flatten() {
            let slot = Slot::Defined(context, end.goal);
            if let Some(Value::Bits(bit)) = self.get(&mut run.symbols, state, slot) {
                let has_begun = self.terms.is_set(bit);
                let has_not = self.terms.not(has_begun);
                let when = self.terms.and(state.path, has_not);
                if !self.terms.is_false(when) {
                    run.event(end.goal, when);
                }
            }
        }
    }

    pub(crate) fn reached(
        &mut self,
        run: &mut Run<'m>,
        function: FunctionId,
        node: Node,
        position: usize,
        state: &State<'m>,
    ) {
        if !self.counts(node.context) {
            return;
        }
        let watch = self.watch;
        for (wanted, goal) in watch.reach.get(&(function, node.block)).into_iter().flatten() {
            if *wanted as usize == position {
                run.event(*goal, state.path);
            }
        }
    }

    pub(crate) fn switched(
        &mut self,
        run: &mut Run<'m>,
        context: ContextId,
        switch: model::SwitchId,
        to: Option<SwitchTarget>,
        when: Truth<'m>,
    ) {
        if !self.counts(context) || self.terms.is_false(when) {
            return;
        }
        let watch = self.watch;
        for (wanted, goal) in watch.labels.get(&switch).into_iter().flatten() {
            // what no label is known for could be any
            if to.is_none_or(|to| to == *wanted) {
                run.event(*goal, when);
            }
        }
    }

    /// A condition has this value: records it, and notes the goals that are covered by it.
    pub(crate) fn mark(
        &mut self,
        run: &mut Run<'m>,
        state: &mut State<'m>,
        context: ContextId,
        condition: model::ConditionId,
        bit: Bits<'m>,
    ) {
        let watch = self.watch;
        let decision = self.program.condition(condition).decision;
        let value = self.terms.is_set(bit);
        if watch.decisions.contains(&decision) {
            let conditions = self.program.decision(decision).shape.conditions();
            if conditions.first() == Some(&condition) {
                let zero = self.terms.constant(1, 0);
                for &other in &conditions {
                    state.values.insert(Slot::Evaluated(context, other), Value::Bits(zero));
                }
            }
        }
        if self.counts(context) {
            for event in watch.marks.get(&condition).into_iter().flatten() {
                let has_value = if event.value { value } else { self.terms.not(value) };
                let mut any = self.terms.truth(false);
                for evaluated in &event.before {
                    let agrees = self.agrees(run, state, context, evaluated);
                    any = self.terms.or(any, agrees);
                }
                let here = self.terms.and(state.path, has_value);
                let when = self.terms.and(here, any);
                if !self.terms.is_false(when) {
                    run.event(event.goal, when);
                }
            }
        }
        if watch.decisions.contains(&decision) {
            let one = self.terms.constant(1, 1);
            state.values.insert(Slot::Evaluated(context, condition), Value::Bits(one));
            state.values.insert(Slot::Outcome(context, condition), Value::Bits(bit));
        }
    }

    /// Whether these conditions were evaluated so.
    fn agrees(
        &mut self,
        run: &mut Run<'m>,
        state: &State<'m>,
        context: ContextId,
        evaluated: &[(model::ConditionId, bool)],
    ) -> Truth<'m> {
        let mut agrees = self.terms.truth(true);
        for (condition, value) in evaluated {
            for (slot, wanted) in
                [(Slot::Evaluated(context, *condition), true), (Slot::Outcome(context, *condition), *value)]
            {
                if let Some(Value::Bits(bit)) = self.get(&mut run.symbols, state, slot) {
                    let is_set = self.terms.is_set(bit);
                    let as_wanted = if wanted { is_set } else { self.terms.not(is_set) };
                    agrees = self.terms.and(agrees, as_wanted);
                }
            }
        }
        agrees
    }

    pub(crate) fn definition(
        &mut self,
        state: &mut State<'m>,
        context: ContextId,
        local: InstrId,
        store: InstrId,
    ) {
        let watch = self.watch;
        let function = self.graph.context(context).function;
        for flow in watch.flows.get(&function).into_iter().flatten().filter(|flow| flow.local == local) {
            let is_definition = flow.definitions.contains(&store);
            let bit = self.terms.constant(1, u128::from(is_definition));
            state.values.insert(Slot::Defined(context, flow.goal), Value::Bits(bit));
        }
    }

    pub(crate) fn use_of(
        &mut self,
        run: &mut Run<'m>,
        state: &State<'m>,
        context: ContextId,
        local: InstrId,
        load: InstrId,
    ) {
        let (watch, function) = (self.watch, self.graph.context(context).function);
        if !self.counts(context) {
            return;
        }
        for flow in watch.flows.get(&function).into_iter().flatten() {
            if flow.local != local || !flow.uses.contains(&load) {
                continue;
            }
            if let Some(Value::Bits(bit)) =
                self.get(&mut run.symbols, state, Slot::Defined(context, flow.goal))
            {
                let reaches = self.terms.is_set(bit);
                let when = self.terms.and(state.path, reaches);
                if !self.terms.is_false(when) {
                    run.event(flow.goal, when);
                }
            }
        }
    }
}
