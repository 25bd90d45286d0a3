//! What does an instruction that is no call compute?
//!
//! What C does not define gives an unknown value; where inputs are looked for, such runs are left out.

use model::{BinaryOp, CastOp, FloatPredicate, InstrId, Op, Operand, Predicate, Type};

use crate::encode::{Encoder, Run};
use crate::graph::ContextId;
use crate::state::{Slot, State, Value};
use crate::terms::{Bits, Truth, ones};

impl<'m> Encoder<'_, 'm> {
    /// The value of an operand; none for a type without values.
    pub(crate) fn operand(
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
    pub(crate) fn instr(
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
                self.memory_op(run, state, context, (id, *op), [*to, *from, *length]);
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

    pub(crate) fn resize(&mut self, value: Bits<'m>, width: u32, signed: bool) -> Bits<'m> {
        if value.width >= width {
            self.terms.extract(value, 0, width)
        } else if signed {
            self.terms.sign_extend(value, width)
        } else {
            self.terms.zero_extend(value, width)
        }
    }

    pub(crate) fn cast(
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
}
