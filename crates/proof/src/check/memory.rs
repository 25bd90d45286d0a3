//! Instructions on memory and on integers.

use model::{BinaryOp, BlockId, CastOp, Function, GlobalId, InstrId, MemoryOp, Op, Operand, Predicate, Type};

use super::execute::{MAX_COPY, Segment};
use super::inline::{Inlined, Point};
use super::locals::scalar_bits;
use super::state::{LocalValue, State};
use super::terms::{Sort, Term};
use super::world::{FIRST_ADDRESS, MAX_LOCAL, World};
use crate::Operator;

/// How many address computations are looked through for a constant.
const MAX_ROOT: usize = 8;

/// The size of a local that exists from the beginning of its activation to its end; others may be given back before.
fn fixed_size(code: &Function, id: InstrId) -> Option<u64> {
    let Op::Alloca { size, count, .. } = &code.instr(id).op else { return None };
    let size = size.checked_mul(count.constant()?)?;
    let is_fixed = (1..=MAX_LOCAL).contains(&size) && code.block(BlockId(0)).instrs.contains(&id);
    is_fixed.then_some(size)
}

/// Notes that a local exists at its address while `running` runs, apart from the others that do.
pub(super) fn place(
    inlined: &Inlined<'_>,
    world: &mut World<'_>,
    state: &mut State,
    key: (usize, InstrId),
    running: usize,
) {
    let size = |(activation, id): (usize, InstrId)| fixed_size(inlined.activations[activation].code, id);
    let Some(own) = size(key) else { return };
    let beside = state.placed.iter().filter(|(of, _)| inlined.encloses(*of, running));
    let apart = beside.filter_map(|other| Some((state.addresses[other], size(*other)?))).collect();
    world.place_local(state.addresses[&key], own, apart);
    state.placed.insert(key);
}

impl Segment<'_, '_> {
    pub(super) fn alloca(&mut self, point: Point, state: &mut State, id: InstrId) -> Vec<Term> {
        let key = (point.activation, id);
        if let Some(local) = state.locals.get(&key) {
            let bits = self.world.terms.bits(local.value);
            let value = self.world.terms.fresh(Sort::Bits(bits));
            state.locals.insert(key, LocalValue { value, stored: self.world.terms.truth(false) });
            return vec![self.world.terms.address(0)]; // nothing but loads and stores of the local sees it
        }
        let address = self.world.terms.fresh(Sort::Bits(self.world.terms.pointer_bits));
        state.addresses.insert(key, address);
        state.placed.remove(&key);
        place(&self.plan.inlined, self.world, state, key, point.activation);
        self.scramble(state, key);
        vec![address]
    }

    /// Makes what a local in memory holds arbitrary. Of a large one nothing is done: its own address is arbitrary, and so
    /// is what lies there.
    fn scramble(&mut self, state: &mut State, key: (usize, InstrId)) {
        let code = self.plan.inlined.activations[key.0].code;
        let size = fixed_size(code, key.1).filter(|size| *size <= MAX_COPY).unwrap_or(0);
        self.fill(state, state.addresses[&key], size);
    }

    /// Makes so many bytes arbitrary.
    pub(super) fn fill(&mut self, state: &mut State, address: Term, n_bytes: u64) {
        for offset in 0..n_bytes {
            let byte = self.world.terms.fresh(Sort::Bits(8));
            let address = self.world.moved(address, offset as i64);
            state.memory = self.world.terms.store(state.memory, address, byte);
        }
    }

    /// The locals of an activation that ends are gone.
    pub(super) fn bury(&mut self, state: &mut State, activation: usize) {
        let gone: Vec<(usize, InstrId)> =
            state.placed.iter().copied().filter(|(of, _)| *of == activation).collect();
        for key in gone {
            self.scramble(state, key);
            state.placed.remove(&key);
        }
    }

    pub(super) fn load(&mut self, state: &State, activation: usize, operand: Operand, ty: Type) -> Vec<Term> {
        let address = self.pointer(state, activation, operand);
        let constant = self
            .root(activation, operand, MAX_ROOT)
            .filter(|id| self.world.program.global(*id).constant && self.world.is_initialised(*id));
        let mut values = Vec::new();
        for (offset, ty) in self.parts(ty) {
            let Some(bits) = scalar_bits(ty, self.world.terms.pointer_bits) else { continue };
            let address = self.world.moved(address, offset as i64);
            let held = self.world.load(state.memory, address, bits);
            values.push(match constant {
                Some(global) => self.load_constant(global, address, bits, held),
                None => held,
            });
        }
        values
    }

    /// What a constant holds, which no store changes; `other` where the address is outside of it.
    fn load_constant(&mut self, id: GlobalId, address: Term, bits: u32, other: Term) -> Term {
        let size = self.world.program.global(id).size;
        let Some(last) = size.checked_sub(u64::from(bits.div_ceil(8))) else { return other };
        let base = self.world.global(id);
        let held = self.world.load(self.world.constants, address, bits);
        let terms = &mut self.world.terms;
        let offset = terms.apply(Operator::BvSub, &[address, base]);
        let last = terms.address(last);
        let inside = terms.apply(Operator::BvUle, &[offset, last]);
        terms.ite(inside, held, other)
    }

    /// The global that an address is computed from.
    fn root(&self, activation: usize, operand: Operand, depth: usize) -> Option<GlobalId> {
        match operand {
            Operand::Global { global, .. } => Some(global),
            Operand::Result(id) if depth > 0 => {
                match self.plan.inlined.activations[activation].code.instr(id).op {
                    Op::Address { base, .. } | Op::Freeze(base) => self.root(activation, base, depth - 1),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn parts(&self, ty: Type) -> Vec<(u64, Type)> {
        match ty {
            Type::Record(record) => self.world.program.record(record).leaves.clone(),
            Type::Void | Type::Int(_) | Type::Ptr | Type::Float(_) | Type::Opaque => vec![(0, ty)],
        }
    }

    /// Bytes of a scalar; none for records, of which a store may leave out what lies between the scalars.
    pub(super) fn extent(&self, ty: Type) -> Option<u64> {
        match ty {
            Type::Record(_) => None,
            Type::Void | Type::Int(_) | Type::Ptr | Type::Float(_) | Type::Opaque => {
                scalar_bits(ty, self.world.terms.pointer_bits).map(|bits| u64::from(bits.div_ceil(8)))
            }
        }
    }

    /// Stores a value, or the run ends because no object is there.
    pub(super) fn store(&mut self, state: &mut State, address: Term, ty: Type, value: &[Term]) {
        self.must_exist(state, address);
        for ((offset, _), part) in self.parts(ty).into_iter().zip(value) {
            let address = self.world.moved(address, offset as i64);
            state.memory = self.world.store(state.memory, address, *part);
        }
    }

    fn must_exist(&mut self, state: &mut State, address: Term) {
        let first = self.world.terms.address(FIRST_ADDRESS);
        let exists = self.world.terms.apply(Operator::BvUge, &[address, first]);
        state.reached = self.world.terms.and(&[state.reached, exists]);
    }

    pub(super) fn copy(
        &mut self,
        state: &mut State,
        activation: usize,
        op: MemoryOp,
        to: Operand,
        from: Operand,
        length: Operand,
    ) {
        let Some(length) = length.constant().filter(|length| *length <= MAX_COPY) else {
            state.memory = self.world.fresh_memory(false);
            return;
        };
        let target = self.pointer(state, activation, to);
        let bytes: Vec<Term> = match op {
            MemoryOp::Set => vec![self.scalar(state, activation, from, 8); length as usize],
            MemoryOp::Copy | MemoryOp::Move => {
                (0..length).map(|offset| self.load_byte(state, activation, from, offset)).collect()
            }
        };
        let mut memory = state.memory;
        for (offset, byte) in bytes.into_iter().enumerate() {
            let address = self.world.moved(target, offset as i64);
            memory = self.world.terms.store(memory, address, byte);
        }
        if op == MemoryOp::Copy && length > 0 {
            memory = self.unless_overlapping(state, activation, (target, from), length, memory);
        }
        state.memory = memory;
    }

    fn load_byte(&mut self, state: &State, activation: usize, from: Operand, offset: u64) -> Term {
        let address = self.pointer(state, activation, from);
        let address = self.world.moved(address, offset as i64);
        let held = self.world.load(state.memory, address, 8);
        match self.root(activation, from, MAX_ROOT) {
            Some(id) if self.world.program.global(id).constant && self.world.is_initialised(id) => {
                self.load_constant(id, address, 8, held)
            }
            Some(_) | None => held,
        }
    }

    /// What `memcpy` does to memory: anything when the two overlap in part.
    fn unless_overlapping(
        &mut self,
        state: &State,
        activation: usize,
        (to, from): (Term, Operand),
        length: u64,
        copied: Term,
    ) -> Term {
        let from = self.pointer(state, activation, from);
        let any = self.world.fresh_memory(false);
        let terms = &mut self.world.terms;
        let length = terms.address(length);
        let mut far = |a: Term, b: Term| {
            let distance = terms.apply(Operator::BvSub, &[a, b]);
            terms.apply(Operator::BvUge, &[distance, length])
        };
        let (forwards, backwards) = (far(to, from), far(from, to));
        let (same, apart) = (terms.equal(to, from), terms.and(&[forwards, backwards]));
        let defined = terms.or(&[same, apart]);
        terms.ite(defined, copied, any)
    }

    pub(super) fn binary(&mut self, op: BinaryOp, bits: u32, left: Term, right: Term) -> Term {
        let operator = match op {
            BinaryOp::Add => Operator::BvAdd,
            BinaryOp::Sub => Operator::BvSub,
            BinaryOp::Mul => Operator::BvMul,
            BinaryOp::Udiv => Operator::BvUdiv,
            BinaryOp::Sdiv => Operator::BvSdiv,
            BinaryOp::Urem => Operator::BvUrem,
            BinaryOp::Srem => Operator::BvSrem,
            BinaryOp::And => Operator::BvAnd,
            BinaryOp::Or => Operator::BvOr,
            BinaryOp::Xor => Operator::BvXor,
            BinaryOp::Shl => Operator::BvShl,
            BinaryOp::Lshr => Operator::BvLshr,
            BinaryOp::Ashr => Operator::BvAshr,
        };
        let terms = &mut self.world.terms;
        let result = terms.apply(operator, &[left, right]);
        let defined = match op {
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => {
                return result;
            }
            BinaryOp::Shl | BinaryOp::Lshr | BinaryOp::Ashr => {
                // in at least 8 bits, because narrow integers do not hold their own width
                let width = terms.constant(bits.max(8), u128::from(bits));
                let amount = terms.resize(right, bits.max(8));
                terms.apply(Operator::BvUlt, &[amount, width])
            }
            BinaryOp::Udiv | BinaryOp::Urem | BinaryOp::Sdiv | BinaryOp::Srem => {
                let zero = terms.constant(bits, 0);
                let by_zero = terms.equal(right, zero);
                let least = terms.constant(bits, 1 << (bits - 1));
                let minus_one = terms.constant(bits, u128::MAX);
                let (is_least, by_minus_one) = (terms.equal(left, least), terms.equal(right, minus_one));
                let overflows = terms.and(&[is_least, by_minus_one]);
                let is_signed = matches!(op, BinaryOp::Sdiv | BinaryOp::Srem);
                let undefined = if is_signed { terms.or(&[by_zero, overflows]) } else { by_zero };
                terms.not(undefined)
            }
        };
        let any = terms.fresh(Sort::Bits(bits));
        terms.ite(defined, result, any)
    }

    pub(super) fn compare(&mut self, predicate: Predicate, left: Term, right: Term) -> Term {
        let operator = match predicate {
            Predicate::Eq | Predicate::Ne => Operator::Equal,
            Predicate::Ult => Operator::BvUlt,
            Predicate::Ule => Operator::BvUle,
            Predicate::Ugt => Operator::BvUgt,
            Predicate::Uge => Operator::BvUge,
            Predicate::Slt => Operator::BvSlt,
            Predicate::Sle => Operator::BvSle,
            Predicate::Sgt => Operator::BvSgt,
            Predicate::Sge => Operator::BvSge,
        };
        let terms = &mut self.world.terms;
        let holds = terms.apply(operator, &[left, right]);
        let holds = if predicate == Predicate::Ne { terms.not(holds) } else { holds };
        terms.bit(holds)
    }

    pub(super) fn cast(
        &mut self,
        state: &State,
        activation: usize,
        op: CastOp,
        (from, to): (Type, Type),
        value: Operand,
    ) -> Vec<Term> {
        let pointer_bits = self.world.terms.pointer_bits;
        let (Some(from_bits), Some(bits)) = (scalar_bits(from, pointer_bits), scalar_bits(to, pointer_bits))
        else {
            // only a value of the same type is the same bits
            return if from == to {
                self.operand(state, activation, value, to)
            } else {
                self.world.fresh(to)
            };
        };
        let value = self.scalar(state, activation, value, from_bits);
        let terms = &mut self.world.terms;
        vec![match op {
            CastOp::Trunc | CastOp::Zext | CastOp::PtrToInt | CastOp::IntToPtr => terms.resize(value, bits),
            CastOp::Sext if bits > from_bits => terms.apply(Operator::SignExtend(bits - from_bits), &[value]),
            CastOp::Bitcast if bits == from_bits => value,
            CastOp::Sext
            | CastOp::Bitcast
            | CastOp::FloatTrunc
            | CastOp::FloatExtend
            | CastOp::FloatToUnsigned
            | CastOp::FloatToSigned
            | CastOp::UnsignedToFloat
            | CastOp::SignedToFloat => terms.fresh(Sort::Bits(bits)),
        }]
    }
}
