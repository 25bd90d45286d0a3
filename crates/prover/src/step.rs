//! What one instruction does to the symbolic state.

use model::{
    BinaryOp, Callee, CastOp, FloatPredicate, FunctionId, InstrId, MemoryOp, Op, Operand, Predicate,
    Terminator, Type,
};
use proof::SwitchTarget;

use crate::encode::{Encoder, Run};
use crate::graph::{ContextId, Node};
use crate::harness::Called;
use crate::state::{Slot, State, Value};
use crate::terms::{Bits, Truth, ones};

/// Bytes up to which copying and filling is followed.
const MAX_COPIED: u64 = 64;
/// The same where loops are unrolled.
const MAX_COPIED_UNROLLED: u64 = 1024;

impl<'m> Encoder<'_, 'm> {
    /// Executes from the node to the end of its block, or to the next inlined call.
    pub(crate) fn node(&mut self, run: &mut Run<'m>, node: Node, mut state: State<'m>) {
        let function_id = self.graph.context(node.context).function;
        let function = self.program.function(function_id);
        let block = function.block(node.block);
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
                        self.forget_memory(&mut state);
                        None
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

    /// Leaves out runs that access null or leave the object that the address was computed from.
    fn stay_inside(&mut self, state: &mut State<'m>, address: Bits<'m>, ty: Type) {
        if self.terms.value(address) == Some(0) {
            state.path = self.terms.truth(false);
        }
        let Some(object) = self.terms.object(address) else { return };
        let (Some(size), Some(width)) = (self.objects.size(object), self.width(ty)) else { return };
        let last = i128::from(size) - i128::from(width.div_ceil(8));
        let is_inside = match self.terms.address(address) {
            Some((_, offset)) => self.terms.truth((0..=last).contains(&offset)),
            None if last < 0 => self.terms.truth(false),
            None => {
                let base = self.objects.base(object);
                let offset = self.terms.binary(BinaryOp::Sub, address, base);
                let last = self.terms.constant(address.width, last as u128);
                self.terms.compare(Predicate::Ule, offset, last)
            }
        };
        state.path = self.terms.and(state.path, is_inside);
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

    fn reached(
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

    fn forget_memory(&mut self, state: &mut State<'m>) {
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

    /// Nothing was evaluated or defined yet in a new activation.
    fn begin_activation(&mut self, state: &mut State<'m>, context: ContextId) {
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

    fn switched(
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

    /// The value of an operand; none for a type without values.
    fn operand(
        &mut self,
        run: &mut Run<'m>,
        state: &State<'m>,
        context: ContextId,
        operand: Operand,
        ty: Type,
    ) -> Option<Value<'m>> {
        let value = match operand {
            Operand::Result(id) => {
                let function = self.graph.context(context).function;
                let is_promoted = self.locals[&function].promoted.contains_key(&id);
                debug_assert!(!is_promoted, "a promoted local's address is never used");
                self.get(&mut run.symbols, state, Slot::Result(context, id))
            }
            Operand::Parameter(number) => self.get(&mut run.symbols, state, Slot::Parameter(context, number)),
            Operand::Int { bits, value } => Some(Value::Bits(self.terms.constant(bits, value))),
            Operand::Float { kind, bits } => Some(Value::Bits(self.terms.constant(kind.bits(), bits))),
            Operand::Null => Some(Value::Bits(self.terms.constant(self.program.pointer_bits, 0))),
            Operand::Global { global, offset } => {
                let base = self.objects.global(&mut self.terms, self.program, global);
                let offset = self.terms.constant(base.width, offset as u128);
                Some(Value::Bits(self.terms.add(base, offset)))
            }
            Operand::Function(function) => {
                Some(Value::Bits(self.objects.function(&mut self.terms, self.program, function)))
            }
            Operand::Undefined(ty) => self.unknown(ty),
        };
        let fits = |value: &Value<'m>| match value {
            Value::Bits(bits) => self.width(ty) == Some(bits.width),
            Value::Record(_) => matches!(ty, Type::Record(_)),
        };
        match value.filter(fits) {
            Some(value) => Some(value),
            None => self.unknown(ty),
        }
    }

    /// A scalar operand.
    pub(crate) fn bits(
        &mut self,
        run: &mut Run<'m>,
        state: &State<'m>,
        context: ContextId,
        operand: Operand,
        ty: Type,
    ) -> Bits<'m> {
        match self.operand(run, state, context, operand, ty) {
            Some(Value::Bits(bits)) => bits,
            Some(Value::Record(_)) | None => {
                let width = self.width(ty).unwrap_or(8);
                self.terms.fresh(width)
            }
        }
    }

    /// Executes an instruction that is no call; its value, if anything is known of it.
    fn instr(
        &mut self,
        run: &mut Run<'m>,
        state: &mut State<'m>,
        context: ContextId,
        id: InstrId,
    ) -> Option<Value<'m>> {
        let function_id = self.graph.context(context).function;
        let instr = self.program.function(function_id).instr(id);
        let ty = instr.ty;
        match &instr.op {
            Op::Alloca { .. } => self.alloca(state, context, id),
            Op::Load { address, volatile } => {
                let value = self.load(run, state, context, id, *address, ty);
                value.filter(|_| !volatile)
            }
            Op::Store { address, value, value_type } => {
                self.store(run, state, context, id, *address, *value, *value_type);
                None
            }
            Op::Binary(op, a, b) => {
                let (a, b) = (self.bits(run, state, context, *a, ty), self.bits(run, state, context, *b, ty));
                if run.unrolling.is_some() {
                    // what C does not define is no test
                    let defined = self.is_defined(*op, a, b);
                    state.path = self.terms.and(state.path, defined);
                }
                Some(Value::Bits(self.arithmetic(*op, a, b)))
            }
            Op::Compare(predicate, of, a, b) => {
                let (a, b) =
                    (self.bits(run, state, context, *a, *of), self.bits(run, state, context, *b, *of));
                let truth = self.terms.compare(*predicate, a, b);
                Some(Value::Bits(self.terms.bit(truth)))
            }
            Op::FloatCompare(predicate, ..) => match predicate {
                FloatPredicate::False => Some(Value::Bits(self.terms.constant(1, 0))),
                FloatPredicate::True => Some(Value::Bits(self.terms.constant(1, 1))),
                _ => {
                    run.approximate("comparison of floating-point numbers");
                    None
                }
            },
            Op::FloatBinary(..) | Op::FloatNegate(_) => {
                run.approximate("floating-point arithmetic");
                None
            }
            Op::Cast(op, from, value) => self.cast(run, state, context, (*op, *from, ty), *value),
            Op::Address { base, offset, indices } => {
                let width = self.program.pointer_bits;
                let mut address = self.bits(run, state, context, *base, Type::Ptr);
                let offset = self.terms.constant(width, *offset as u128);
                address = self.terms.add(address, offset);
                for (ty, index, scale) in indices {
                    let index = self.bits(run, state, context, *index, *ty);
                    let index = self.resize(index, width, true);
                    let scale = self.terms.constant(width, *scale as u128);
                    let moved = self.scaled(index, scale);
                    address = self.terms.add(address, moved);
                }
                Some(Value::Bits(address))
            }
            Op::Select { condition, then, otherwise } => {
                let condition = self.bits(run, state, context, *condition, Type::Int(1));
                let condition = self.terms.is_set(condition);
                let then = self.operand(run, state, context, *then, ty)?;
                let otherwise = self.operand(run, state, context, *otherwise, ty)?;
                Some(self.choose(condition, &then, &otherwise))
            }
            Op::Mark { condition, value } => {
                let value = self.bits(run, state, context, *value, Type::Int(1));
                self.mark(run, state, context, *condition, value);
                Some(Value::Bits(value))
            }
            Op::Extract { record, record_type, leaf } => {
                match self.operand(run, state, context, *record, Type::Record(*record_type))? {
                    Value::Record(leaves) => leaves.get(*leaf as usize).copied().map(Value::Bits),
                    Value::Bits(_) => None,
                }
            }
            Op::Insert { record, leaf, value, value_type } => {
                let Value::Record(leaves) = self.operand(run, state, context, *record, ty)? else {
                    return None;
                };
                let value = self.bits(run, state, context, *value, *value_type);
                let mut leaves = leaves.to_vec();
                let slot = leaves.get_mut(*leaf as usize).filter(|slot| slot.width == value.width)?;
                *slot = value;
                Some(Value::Record(leaves.into()))
            }
            Op::Memory { op, to, from, length } => {
                self.memory_op(run, state, context, *op, [*to, *from, *length]);
                None
            }
            Op::Freeze(value) => self.operand(run, state, context, *value, ty),
            Op::VaStart(_) | Op::VaCopy { .. } | Op::VaEnd(_) | Op::Opaque { .. } => {
                self.forget_memory(state);
                None
            }
            Op::Phi(_) | Op::Call { .. } => unreachable!("executed elsewhere"),
        }
    }

    fn alloca(&mut self, state: &mut State<'m>, context: ContextId, id: InstrId) -> Option<Value<'m>> {
        let function_id = self.graph.context(context).function;
        let function = self.program.function(function_id);
        if let Some(ty) = self.locals[&function_id].promoted.get(&id).copied() {
            let value = self.unknown(ty).expect("promoted locals are scalars");
            state.values.insert(Slot::Local(context, id), value);
            return None;
        }
        // one that is executed again is another object each time
        let is_first = function.block(model::BlockId(0)).instrs.contains(&id);
        let op = &function.instr(id).op;
        let has_size = matches!(op, Op::Alloca { count, .. } if count.constant().is_some());
        if !is_first || !has_size {
            return None;
        }
        Some(Value::Bits(self.objects.local(&mut self.terms, self.program, context, (id, op))))
    }

    /// The promoted local that an address is, if it is one.
    fn promoted(&self, context: ContextId, address: Operand) -> Option<InstrId> {
        let Operand::Result(id) = address else { return None };
        let function = self.graph.context(context).function;
        self.locals[&function].promoted.contains_key(&id).then_some(id)
    }

    fn load(
        &mut self,
        run: &mut Run<'m>,
        state: &mut State<'m>,
        context: ContextId,
        id: InstrId,
        address: Operand,
        ty: Type,
    ) -> Option<Value<'m>> {
        if let Some(local) = self.promoted(context, address) {
            self.use_of(run, state, context, local, id);
            return self.get(&mut run.symbols, state, Slot::Local(context, local));
        }
        let address = self.bits(run, state, context, address, Type::Ptr);
        if run.unrolling.is_some() {
            self.stay_inside(state, address, ty);
        }
        match ty {
            Type::Record(record) => {
                let mut leaves = Vec::new();
                for (offset, ty) in self.program.record(record).leaves.clone() {
                    let offset = self.terms.constant(address.width, offset.into());
                    let at = self.terms.add(address, offset);
                    leaves.push(self.load_scalar(state, at, ty)?);
                }
                Some(Value::Record(leaves.into()))
            }
            Type::Int(_) | Type::Ptr | Type::Float(_) => {
                self.load_scalar(state, address, ty).map(Value::Bits)
            }
            Type::Void | Type::Opaque => None,
        }
    }

    /// A scalar of whole bytes; nothing is known of others.
    fn load_scalar(&mut self, state: &State<'m>, address: Bits<'m>, ty: Type) -> Option<Bits<'m>> {
        let width = self.width(ty)?;
        (width % 8 == 0).then(|| self.read(state.memory, address, width))
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of a store and where it happens")]
    fn store(
        &mut self,
        run: &mut Run<'m>,
        state: &mut State<'m>,
        context: ContextId,
        id: InstrId,
        address: Operand,
        value: Operand,
        ty: Type,
    ) {
        let value = self.operand(run, state, context, value, ty);
        if let Some(local) = self.promoted(context, address) {
            self.definition(state, context, local, id);
            let value = value.or_else(|| self.unknown(ty)).expect("promoted locals are scalars");
            state.values.insert(Slot::Local(context, local), value);
            return;
        }
        let address = self.bits(run, state, context, address, Type::Ptr);
        if run.unrolling.is_some() {
            self.stay_inside(state, address, ty);
        }
        match value {
            Some(Value::Bits(bits)) if bits.width % 8 == 0 => {
                state.memory = self.memories.store(state.memory, address, bits);
            }
            Some(Value::Record(leaves)) => {
                let Type::Record(record) = ty else { unreachable!("a record has a record's type") };
                let offsets: Vec<u64> =
                    self.program.record(record).leaves.iter().map(|(offset, _)| *offset).collect();
                if leaves.iter().any(|leaf| leaf.width % 8 != 0) {
                    return self.forget_memory(state);
                }
                for (offset, leaf) in offsets.into_iter().zip(leaves.iter()) {
                    let offset = self.terms.constant(address.width, offset.into());
                    let at = self.terms.add(address, offset);
                    state.memory = self.memories.store(state.memory, at, *leaf);
                }
            }
            Some(Value::Bits(_)) | None => self.forget_memory(state),
        }
    }

    fn memory_op(
        &mut self,
        run: &mut Run<'m>,
        state: &mut State<'m>,
        context: ContextId,
        op: MemoryOp,
        [to, from, length]: [Operand; 3],
    ) {
        let is_unrolled = run.unrolling.is_some();
        let longest = if is_unrolled { MAX_COPIED_UNROLLED } else { MAX_COPIED };
        let known = length.constant().or_else(|| {
            let length = self.bits(run, state, context, length, Type::Int(64));
            self.terms.value(length).and_then(|length| u64::try_from(length).ok())
        });
        let Some(length) = known.filter(|length| *length <= longest) else {
            run.approximate("copy of many bytes, or of an unknown number");
            if !is_unrolled {
                self.forget_memory(state);
            }
            return;
        };
        let to = self.bits(run, state, context, to, Type::Ptr);
        let source = match op {
            MemoryOp::Copy | MemoryOp::Move => self.bits(run, state, context, from, Type::Ptr),
            MemoryOp::Set => self.bits(run, state, context, from, Type::Int(8)),
        };
        let mut written = Vec::new();
        for at in 0..length {
            let offset = self.terms.constant(to.width, at.into());
            let value = match op {
                MemoryOp::Copy | MemoryOp::Move => {
                    let address = self.terms.add(source, offset);
                    self.read(state.memory, address, 8)
                }
                MemoryOp::Set => source,
            };
            written.push((self.terms.add(to, offset), value));
        }
        for (address, value) in written {
            state.memory = self.memories.store(state.memory, address, value);
        }
    }

    /// Whether C gives the operation a result.
    fn is_defined(&mut self, op: BinaryOp, a: Bits<'m>, b: Bits<'m>) -> Truth<'m> {
        let width = a.width;
        match op {
            BinaryOp::Shl | BinaryOp::Lshr | BinaryOp::Ashr => {
                let limit = self.terms.constant(width, width.into());
                self.terms.compare(Predicate::Ult, b, limit)
            }
            BinaryOp::Udiv | BinaryOp::Urem => {
                let zero = self.terms.constant(width, 0);
                self.terms.compare(Predicate::Ne, b, zero)
            }
            BinaryOp::Sdiv | BinaryOp::Srem => {
                let zero = self.terms.constant(width, 0);
                let divides = self.terms.compare(Predicate::Ne, b, zero);
                let (lowest, minus_one) =
                    (self.terms.constant(width, 1 << (width - 1)), self.terms.constant(width, ones(width)));
                let (fits, other) = (
                    self.terms.compare(Predicate::Ne, a, lowest),
                    self.terms.compare(Predicate::Ne, b, minus_one),
                );
                let fits = self.terms.or(fits, other);
                self.terms.and(divides, fits)
            }
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => {
                self.terms.truth(true)
            }
        }
    }

    /// Arithmetic, with an unknown result where C gives none.
    fn arithmetic(&mut self, op: BinaryOp, a: Bits<'m>, b: Bits<'m>) -> Bits<'m> {
        let width = a.width;
        let defined = self.is_defined(op, a, b);
        if self.terms.is_false(defined) {
            return self.terms.fresh(width);
        }
        let value = self.terms.binary(op, a, b);
        if self.terms.is_true(defined) {
            return value;
        }
        let unknown = self.terms.fresh(width);
        self.terms.choose(defined, value, unknown)
    }

    fn scaled(&mut self, index: Bits<'m>, scale: Bits<'m>) -> Bits<'m> {
        if self.terms.value(scale) == Some(1) {
            return index;
        }
        self.terms.binary(BinaryOp::Mul, index, scale)
    }

    fn resize(&mut self, value: Bits<'m>, width: u32, signed: bool) -> Bits<'m> {
        if value.width >= width {
            self.terms.extract(value, 0, width)
        } else if signed {
            self.terms.sign_extend(value, width)
        } else {
            self.terms.zero_extend(value, width)
        }
    }

    fn cast(
        &mut self,
        run: &mut Run<'m>,
        state: &State<'m>,
        context: ContextId,
        (op, from, to): (CastOp, Type, Type),
        value: Operand,
    ) -> Option<Value<'m>> {
        let width = self.width(to)?;
        self.width(from)?;
        let value = self.bits(run, state, context, value, from);
        match op {
            CastOp::Trunc | CastOp::Zext | CastOp::PtrToInt | CastOp::IntToPtr => {
                Some(Value::Bits(self.resize(value, width, false)))
            }
            CastOp::Sext => Some(Value::Bits(self.resize(value, width, true))),
            CastOp::Bitcast if value.width == width => Some(Value::Bits(value)),
            CastOp::Bitcast
            | CastOp::FloatTrunc
            | CastOp::FloatExtend
            | CastOp::FloatToUnsigned
            | CastOp::FloatToSigned
            | CastOp::UnsignedToFloat
            | CastOp::SignedToFloat => None,
        }
    }

    /// A condition has this value: records it, and notes the goals that are covered by it.
    fn mark(
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

    fn definition(&mut self, state: &mut State<'m>, context: ContextId, local: InstrId, store: InstrId) {
        let watch = self.watch;
        let function = self.graph.context(context).function;
        for flow in watch.flows.get(&function).into_iter().flatten().filter(|flow| flow.local == local) {
            let is_definition = flow.definitions.contains(&store);
            let bit = self.terms.constant(1, u128::from(is_definition));
            state.values.insert(Slot::Defined(context, flow.goal), Value::Bits(bit));
        }
    }

    fn use_of(
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
