//! Where does control go: blocks, calls into inlined activations and back, edges?

use model::{Callee, FunctionId, InstrId, Op, Operand, Terminator, Type};
use proof::SwitchTarget;

use crate::encode::{Encoder, Run};
use crate::graph::{ContextId, Node};
use crate::harness::Called;
use crate::state::{Slot, State, Value};

impl<'m> Encoder<'_, 'm> {
    /// Executes from the node to the end of its block, or to the next inlined call.
    pub(crate) fn node(&mut self, run: &mut Run<'m>, node: Node, mut state: State<'m>) {
        let function_id = self.graph.context(node.context).function;
        let function = self.program.function(function_id);
        let block = function.block(node.block);
        if node.position == 0 {
            self.begin_block(&mut state, function_id, node);
        }
        for (position, &id) in block.instrs.iter().enumerate().skip(node.position) {
            self.reached(run, function_id, node, position, &state);
            let instr = function.instr(id);
            match &instr.op {
                Op::Phi(_) => {} // chosen on the edge
                Op::Call { callee, arguments } => {
                    if let Some(inlined) = self.graph.callee(node.context, id) {
                        self.enter(run, state, node.context, inlined, arguments);
                        return;
                    }
                    if let Callee::Direct(callee) = callee
                        && self.program.function(*callee).no_return
                    {
                        return;
                    }
                    let value = if run.unrolling.is_some() {
                        match self.call_outside(run, &mut state, node.context, *callee, arguments) {
                            Called::Returns(value) => value,
                            Called::Ends => return,
                        }
                    } else {
                        self.call_unknown(run, &mut state, node.context, *callee, arguments)
                    };
                    self.define(&mut state, node.context, id, value, instr.ty);
                }
                _ => {
                    let value = self.instr(run, &mut state, node.context, id);
                    self.define(&mut state, node.context, id, value, instr.ty);
                }
            }
        }
        self.reached(run, function_id, node, block.instrs.len(), &state);
        self.terminate(run, node, function_id, state);
    }

    /// Keeps the result of an instruction; an unknown one if it has none.
    fn define(
        &mut self,
        state: &mut State<'m>,
        context: ContextId,
        id: InstrId,
        value: Option<Value<'m>>,
        ty: Type,
    ) {
        if let Some(value) = value.or_else(|| self.unknown(ty)) {
            state.values.insert(Slot::Result(context, id), value);
        }
    }

    pub(crate) fn forget_memory(&mut self, state: &mut State<'m>) {
        state.memory = self.memories.unknown(&mut self.terms, self.program.pointer_bits, false);
    }

    fn enter(
        &mut self,
        run: &mut Run<'m>,
        mut state: State<'m>,
        context: ContextId,
        callee: ContextId,
        arguments: &[(Type, Operand)],
    ) {
        let parameters = self.graph.function(callee).parameters.clone();
        for (number, ty) in parameters.into_iter().enumerate() {
            let given = arguments.get(number).filter(|(given, _)| *given == ty);
            let value = match given {
                Some((ty, operand)) => self.operand(run, &state, context, *operand, *ty),
                // called as if it were another type
                None => self.unknown(ty),
            };
            if let Some(value) = value {
                state.values.insert(Slot::Parameter(callee, number as u32), value);
            }
        }
        self.begin_activation(&mut state, callee);
        let node = Node { context: callee, block: model::BlockId(0), position: 0 };
        self.go(run, node, state);
    }

    fn terminate(&mut self, run: &mut Run<'m>, node: Node, function: FunctionId, mut state: State<'m>) {
        let context = node.context;
        let terminator = &self.program.function(function).block(node.block).terminator;
        match terminator {
            Terminator::Jump(to) => self.edge(run, node, *to, state),
            Terminator::Branch { condition, then, otherwise, range, .. } => {
                let bit = self.bits(run, &state, context, *condition, Type::Int(1));
                let taken = self.terms.is_set(bit);
                let not_taken = self.terms.not(taken);
                for (is_taken, when, to) in [(true, taken, *then), (false, not_taken, *otherwise)] {
                    let mut next = state.clone();
                    next.path = self.terms.and(state.path, when);
                    if let Some(range) = range {
                        let to_range_test = self.leads_to_range_test(function, to, range.switch);
                        if is_taken {
                            let label = SwitchTarget::Label(range.label);
                            self.switched(run, context, range.switch, Some(label), next.path);
                        } else if !to_range_test {
                            let default = self.default_of(range.switch);
                            self.switched(run, context, range.switch, Some(default), next.path);
                        }
                    }
                    self.edge(run, node, to, next);
                }
            }
            Terminator::Switch { value, bits, cases, default, source } => {
                let value = self.bits(run, &state, context, *value, Type::Int(*bits));
                let mut rest = state.path;
                for case in cases {
                    let constant = self.terms.constant(*bits, case.value);
                    let hit = self.terms.equal(value, constant);
                    let mut next = state.clone();
                    next.path = self.terms.and(rest, hit);
                    let missed = self.terms.not(hit);
                    rest = self.terms.and(rest, missed);
                    if let Some(source) = source {
                        let label = self.label_of(*source, case.value, *bits);
                        self.switched(run, context, *source, label, next.path);
                    }
                    self.edge(run, node, case.target, next);
                }
                state.path = rest;
                if let Some(source) = source
                    && !self.leads_to_range_test(function, *default, *source)
                {
                    let label = self.default_of(*source);
                    self.switched(run, context, *source, Some(label), rest);
                }
                self.edge(run, node, *default, state);
            }
            Terminator::IndirectJump { targets, .. } => {
                let which = self.terms.fresh(32);
                for (number, to) in targets.iter().enumerate() {
                    let constant = self.terms.constant(32, number as u128);
                    let hit = self.terms.equal(which, constant);
                    let mut next = state.clone();
                    next.path = self.terms.and(state.path, hit);
                    self.edge(run, node, *to, next);
                }
            }
            Terminator::Return(value) => {
                self.returned(run, &state, function, context);
                let Some((caller, call)) = self.graph.context(context).caller else { return };
                let ty = self.program.function(function).result;
                let result = value.and_then(|value| self.operand(run, &state, context, value, ty));
                let call_block = self.graph.function(caller).block(call.block);
                let id = call_block.instrs[call.position];
                let expected = self.graph.function(caller).instr(id).ty;
                state.leave_context(context);
                self.define(&mut state, caller, id, result.filter(|_| expected == ty), expected);
                self.go(run, Node { position: call.position + 1, ..call }, state);
            }
            Terminator::Unreachable => {}
        }
    }

    fn edge(&mut self, run: &mut Run<'m>, from: Node, to: model::BlockId, mut state: State<'m>) {
        if self.terms.is_false(state.path) {
            return;
        }
        let function_id = self.graph.context(from.context).function;
        let function = self.program.function(function_id);
        let mut chosen = Vec::new();
        for &id in &function.block(to).instrs {
            let Op::Phi(edges) = &function.instr(id).op else { continue };
            let ty = function.instr(id).ty;
            let operand = edges.iter().find(|(block, _)| *block == from.block).map(|(_, value)| *value);
            let value = match operand {
                Some(operand) => self.operand(run, &state, from.context, operand, ty),
                None => self.unknown(ty),
            };
            chosen.extend(value.map(|value| (Slot::Result(from.context, id), value)));
        }
        state.leave_block(from.context, &self.locals[&function_id].lasting);
        state.values.extend(chosen);
        self.go(run, Node { context: from.context, block: to, position: 0 }, state);
    }

    fn leads_to_range_test(
        &self,
        function: FunctionId,
        block: model::BlockId,
        switch: model::SwitchId,
    ) -> bool {
        let terminator = &self.program.function(function).block(block).terminator;
        matches!(terminator, Terminator::Branch { range: Some(test), .. } if test.switch == switch)
    }

    fn default_of(&self, switch: model::SwitchId) -> SwitchTarget {
        let labels = &self.program.switch(switch).labels;
        let default = labels.iter().position(|label| label.values == model::LabelValues::Default);
        default.map_or(SwitchTarget::ImplicitDefault, |index| SwitchTarget::Label(index as u32))
    }

    fn label_of(&self, switch: model::SwitchId, value: u128, bits: u32) -> Option<SwitchTarget> {
        let unsigned = i128::try_from(value).unwrap_or(i128::MAX);
        let signed = crate::terms::signed(value, bits);
        let matches = |label: &model::Label| match label.values {
            model::LabelValues::Range { low, high } => {
                (low..=high).contains(&unsigned) || (low..=high).contains(&signed)
            }
            model::LabelValues::Default => false,
        };
        let found = self.program.switch(switch).labels.iter().position(matches);
        found.map(|index| SwitchTarget::Label(index as u32))
    }
}
