//! What do instructions do to locals and to memory?

use model::{BinaryOp, InstrId, MemoryOp, Op, Operand, Predicate, Type};

use crate::encode::{Encoder, Run};
use crate::flow::Range;
use crate::graph::ContextId;
use crate::state::{Slot, State, Value};
use crate::terms::Bits;

/// Bytes up to which copying and filling is followed.
const MAX_COPIED: u64 = 64;
/// The same where loops are unrolled.
const MAX_COPIED_UNROLLED: u64 = 1024;

impl<'m> Encoder<'_, 'm> {
    pub(crate) fn alloca(
        &mut self,
        state: &mut State<'m>,
        context: ContextId,
        id: InstrId,
    ) -> Option<Value<'m>> {
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
    pub(crate) fn promoted(&self, context: ContextId, address: Operand) -> Option<InstrId> {
        let Operand::Result(id) = address else { return None };
        let function = self.graph.context(context).function;
        self.locals[&function].promoted.contains_key(&id).then_some(id)
    }

    pub(crate) fn load(
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
        let n_bytes = self.width(ty).map(|width| u64::from(width.div_ceil(8)));
        self.flow_read(run, state, context, id, Range { address, n_bytes });
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
        self.note_cell(address, width, None);
        (width % 8 == 0).then(|| self.read(state.memory, address, width))
    }

    /// Notes that so many bits are loaded or stored there.
    fn note_cell(&mut self, address: Bits<'m>, width: u32, stored: Option<Bits<'m>>) {
        let Some(id) = self.terms.object(address) else { return };
        if let Some(size) = self.objects.size(id) {
            self.cells.note(&self.terms, (self.objects.object(id), size), address, width, stored);
        }
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of a store and where it happens")]
    pub(crate) fn store(
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
        let n_bytes = self.width(ty).map(|width| u64::from(width.div_ceil(8)));
        self.flow_write(run, state, context, id, Range { address, n_bytes });
        if run.unrolling.is_some() {
            self.stay_inside(state, address, ty);
        }
        match value {
            Some(Value::Bits(bits)) if bits.width % 8 == 0 => {
                self.note_cell(address, bits.width, Some(bits));
                state.memory = self.write(state.memory, address, bits);
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
                    state.memory = self.write(state.memory, at, *leaf);
                }
            }
            Some(Value::Bits(_)) | None => self.forget_memory(state),
        }
    }

    pub(crate) fn memory_op(
        &mut self,
        run: &mut Run<'m>,
        state: &mut State<'m>,
        context: ContextId,
        (id, op): (InstrId, MemoryOp),
        [to, from, length]: [Operand; 3],
    ) {
        if !self.watch.memory.is_empty() {
            let n_bytes = length.constant();
            if matches!(op, MemoryOp::Copy | MemoryOp::Move) {
                let address = self.bits(run, state, context, from, Type::Ptr);
                self.flow_read(run, state, context, id, Range { address, n_bytes });
            }
            let address = self.bits(run, state, context, to, Type::Ptr);
            self.flow_write(run, state, context, id, Range { address, n_bytes });
        }
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
            state.memory = self.write(state.memory, address, value);
        }
    }

    /// Leaves out runs that access null or leave the object that the address was computed from.
    pub(crate) fn stay_inside(&mut self, state: &mut State<'m>, address: Bits<'m>, ty: Type) {
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
}
