//! Prepares a function for running: operands to slots and constants, phis to moves on edges.

use std::collections::BTreeMap;

use super::image::Prepared;
use super::integer::mask;
use super::step::{self, Call, Code, Edge, EdgeIndex, Rare, Slots, Source, Step, Switch};
use crate::{BlockId, Callee, CastOp, Function, Instr, InstrId, Op, Operand, Program, Terminator, Type};

/// A function over frame slots; `addresses` are those of the globals.
pub(super) fn prepare(
    program: &Program,
    prepared: &Prepared,
    addresses: &[u64],
    function: &Function,
) -> Code {
    Preparer {
        program,
        prepared,
        addresses,
        function,
        code: Code::default(),
        results: Vec::new(),
        constants: BTreeMap::new(),
        entries: Vec::new(),
    }
    .code()
}

/// How many slots a value of this type takes.
pub(super) fn n_slots(program: &Program, ty: Type) -> u32 {
    match ty {
        Type::Void => 0,
        Type::Int(_) | Type::Ptr | Type::Float(_) | Type::Opaque => 1,
        Type::Record(id) => program.record(id).leaves.len() as u32,
    }
}

/// Bits a scalar of this type has; all of them where it is no scalar.
pub(super) fn width(program: &Program, ty: Type) -> u32 {
    match ty {
        Type::Int(bits) => bits,
        Type::Ptr => program.pointer_bits,
        Type::Float(kind) => kind.bits(),
        Type::Void | Type::Record(_) | Type::Opaque => 128,
    }
}

struct Preparer<'a> {
    program: &'a Program,
    prepared: &'a Prepared,
    addresses: &'a [u64],
    function: &'a Function,
    code: Code,
    results: Vec<u32>,
    constants: BTreeMap<u128, u32>,
    /// Blocks of edges, whose first steps are known at the end.
    entries: Vec<usize>,
}

impl Preparer<'_> {
    fn code(mut self) -> Code {
        for &ty in &self.function.parameters {
            let slots = self.slots(ty);
            self.code.parameters.push(slots);
        }
        for instr in &self.function.instrs {
            let first = self.slots(instr.ty).first;
            self.results.push(first);
        }
        for (id, block) in self.function.blocks() {
            self.entries.push(self.code.steps.len());
            for &instr_id in &block.instrs {
                let instr = self.function.instr(instr_id);
                if !matches!(instr.op, Op::Phi(_)) {
                    let step = self.step(instr_id, instr);
                    self.code.steps.push(step);
                    self.code.origins.push((id, Some(instr_id)));
                }
            }
            let step = self.terminator(id, &block.terminator);
            self.code.steps.push(step);
            self.code.origins.push((id, None));
        }
        self.code.n_results = n_slots(self.program, self.function.result);
        for edge in &mut self.code.edges {
            edge.step = self.entries[edge.block.index()];
        }
        self.code
    }

    /// The next free slots of the frame.
    fn slots(&mut self, ty: Type) -> Slots {
        let (first, count) = (self.code.n_slots, n_slots(self.program, ty));
        self.code.n_slots += count;
        Slots { first, count, mask: mask(width(self.program, ty)) }
    }

    fn constant(&mut self, value: u128) -> Source {
        let next = self.code.constants.len() as u32;
        let index = *self.constants.entry(value).or_insert(next);
        if index == next {
            self.code.constants.push(value);
        }
        Source::Constant(index)
    }

    fn source(&mut self, operand: Operand) -> Source {
        let pointers = mask(self.program.pointer_bits);
        match operand {
            Operand::Result(id) => Source::Slot(self.results[id.index()]),
            Operand::Parameter(number) => Source::Slot(self.code.parameters[number as usize].first),
            Operand::Int { value, .. } => self.constant(value),
            Operand::Float { bits, .. } => self.constant(bits),
            Operand::Null => self.constant(0),
            Operand::Global { global, offset } => {
                let address = self.addresses[global.index()].wrapping_add_signed(offset);
                self.constant(u128::from(address) & pointers)
            }
            Operand::Function(id) => self.constant(self.prepared.address_of(id).into()),
            Operand::Undefined(Type::Record(id)) => {
                let first = self.code.constants.len() as u32;
                let n_leaves = self.program.record(id).leaves.len();
                self.code.constants.extend(std::iter::repeat_n(0, n_leaves.max(1)));
                Source::Constant(first)
            }
            Operand::Undefined(_) => self.constant(0),
        }
    }

    fn bytes(&self, ty: Type) -> u8 {
        width(self.program, ty).div_ceil(8) as u8
    }

    fn leaves(&self, ty: Type) -> Option<(u64, Vec<(u64, u8)>)> {
        let Type::Record(id) = ty else { return None };
        let record = self.program.record(id);
        let leaves = record.leaves.iter().map(|(offset, ty)| (*offset, self.bytes(*ty)));
        Some((record.size, leaves.collect()))
    }

    fn step(&mut self, id: InstrId, instr: &Instr) -> Step {
        let to = self.results[id.index()];
        let bits = |ty: Type| width(self.program, ty) as u8;
        match &instr.op {
            Op::Load { address, .. } => self.load(to, *address, instr.ty),
            Op::Store { address, value, value_type } => self.store(*address, *value, *value_type),
            Op::Binary(op, left, right) => {
                let (op, bits) = (*op, bits(instr.ty));
                Step::Binary { op, bits, to, left: self.source(*left), right: self.source(*right) }
            }
            Op::Compare(predicate, ty, left, right) => {
                let (predicate, bits) = (*predicate, bits(*ty));
                Step::Compare { predicate, bits, to, left: self.source(*left), right: self.source(*right) }
            }
            Op::Cast(op, from, value) => self.cast(to, *op, *from, instr.ty, *value),
            Op::Address { base, offset, indices } => self.address(to, *base, *offset, indices),
            Op::Call { callee, arguments } => self.call(to, instr.ty, *callee, arguments),
            Op::Mark { condition, value } => {
                Step::Mark { to, condition: *condition, value: self.source(*value) }
            }
            Op::Phi(_) => unreachable!("phis are moves on edges"),
            Op::Alloca { .. }
            | Op::FloatBinary(..)
            | Op::FloatNegate(_)
            | Op::FloatCompare(..)
            | Op::Select { .. }
            | Op::Extract { .. }
            | Op::Insert { .. }
            | Op::Memory { .. }
            | Op::Freeze(_)
            | Op::VaStart(_)
            | Op::VaCopy { .. }
            | Op::VaEnd(_)
            | Op::Opaque { .. } => rare(self.rare_step(to, instr)),
        }
    }

    fn rare_step(&mut self, to: u32, instr: &Instr) -> Rare {
        let count = n_slots(self.program, instr.ty);
        let kind = || match instr.ty {
            Type::Float(kind) => kind,
            ty => unreachable!("the verifier lets no {ty} be computed as floating point"),
        };
        match &instr.op {
            Op::Alloca { size, align, count } => {
                Rare::Alloca { to, size: *size, align: *align, count: self.source(*count) }
            }
            Op::FloatBinary(op, left, right) => {
                let (left, right) = (self.source(*left), self.source(*right));
                Rare::FloatBinary { op: *op, kind: kind(), to, left, right }
            }
            Op::FloatNegate(value) => Rare::FloatNegate { kind: kind(), to, value: self.source(*value) },
            Op::FloatCompare(predicate, kind, left, right) => {
                let (left, right) = (self.source(*left), self.source(*right));
                Rare::FloatCompare { predicate: *predicate, kind: *kind, to, left, right }
            }
            Op::Select { condition, then, otherwise } => {
                let (then, otherwise) = (self.source(*then), self.source(*otherwise));
                Rare::Select { to, condition: self.source(*condition), then, otherwise, count }
            }
            Op::Extract { record, leaf, .. } => {
                Rare::Copy { to, from: self.source(*record).plus(*leaf), count: 1 }
            }
            Op::Insert { record, leaf, value, .. } => {
                let (record, value) = (self.source(*record), self.source(*value));
                Rare::Insert { to, record, count, leaf: *leaf, value }
            }
            Op::Memory { op, to, from, length } => {
                let (to, from) = (self.source(*to), self.source(*from));
                Rare::Memory { op: *op, to, from, length: self.source(*length) }
            }
            Op::Freeze(value) => Rare::Copy { to, from: self.source(*value), count },
            Op::VaStart(_) => Rare::Unsupported("va_start".to_owned()),
            Op::VaCopy { .. } => Rare::Unsupported("va_copy".to_owned()),
            Op::VaEnd(_) => Rare::Unsupported("va_end".to_owned()),
            Op::Opaque { what, .. } => Rare::Unsupported(what.clone()),
            Op::Load { .. }
            | Op::Store { .. }
            | Op::Binary(..)
            | Op::Compare(..)
            | Op::Cast(..)
            | Op::Address { .. }
            | Op::Call { .. }
            | Op::Mark { .. }
            | Op::Phi(_) => unreachable!("a frequent step"),
        }
    }

    fn store(&mut self, address: Operand, value: Operand, ty: Type) -> Step {
        let (address, value) = (self.source(address), self.source(value));
        match self.leaves(ty) {
            Some((size, leaves)) => rare(Rare::StoreRecord { address, value, size, leaves }),
            None => Step::Store { address, value, bytes: self.bytes(ty) },
        }
    }

    fn load(&mut self, to: u32, address: Operand, ty: Type) -> Step {
        let address = self.source(address);
        if let Some((size, leaves)) = self.leaves(ty) {
            return rare(Rare::LoadRecord { to, address, size, leaves });
        }
        let (bytes, mask) = (self.bytes(ty), mask(width(self.program, ty)));
        match u64::try_from(mask) {
            Ok(mask) => Step::Load { to, address, bytes, mask },
            Err(_) => rare(Rare::LoadWide { to, address, bytes, mask }),
        }
    }

    fn cast(&mut self, to: u32, op: CastOp, from: Type, into: Type, value: Operand) -> Step {
        let value = self.source(value);
        let mask = mask(width(self.program, into));
        match op {
            CastOp::Trunc | CastOp::Zext | CastOp::PtrToInt | CastOp::IntToPtr | CastOp::Bitcast => {
                Step::Mask { to, value, mask }
            }
            CastOp::Sext => Step::SignExtend { to, value, from_bits: width(self.program, from) as u8, mask },
            CastOp::FloatTrunc
            | CastOp::FloatExtend
            | CastOp::FloatToUnsigned
            | CastOp::FloatToSigned
            | CastOp::UnsignedToFloat
            | CastOp::SignedToFloat => rare(Rare::FloatCast { op, from, into, to, value }),
        }
    }

    fn address(&mut self, to: u32, base: Operand, offset: i64, indices: &[(Type, Operand, i64)]) -> Step {
        let base = self.source(base);
        match indices {
            [] => Step::Offset { to, base, offset },
            [(ty, index, scale)] => {
                let (index, bits) = (self.source(*index), width(self.program, *ty) as u8);
                Step::Index { to, base, offset, index, bits, scale: *scale }
            }
            _ => {
                let indices = indices
                    .iter()
                    .map(|(ty, index, scale)| (width(self.program, *ty) as u8, self.source(*index), *scale));
                let indices = indices.collect();
                rare(Rare::IndexMany { to, base, offset, indices })
            }
        }
    }

    fn call(&mut self, to: u32, ty: Type, callee: Callee, arguments: &[(Type, Operand)]) -> Step {
        let callee = match callee {
            Callee::Direct(id) => step::Callee::Known(self.prepared.targets[id.index()]),
            Callee::Indirect(address) => step::Callee::Address(self.source(address)),
        };
        let arguments = arguments.iter().map(|(ty, argument)| (*ty, self.source(*argument))).collect();
        let mask = mask(width(self.program, ty));
        let result = Slots { first: to, count: n_slots(self.program, ty), mask };
        Step::Call(Box::new(Call { callee, arguments, result }))
    }

    fn terminator(&mut self, from: BlockId, terminator: &Terminator) -> Step {
        match terminator {
            Terminator::Jump(to) => Step::Jump(self.edge(from, *to)),
            Terminator::Branch { condition, then, otherwise, decided, .. } => Step::Branch {
                condition: self.source(*condition),
                then: self.edge(from, *then),
                otherwise: self.edge(from, *otherwise),
                decided: decided.is_some(),
            },
            Terminator::Switch { value, cases, default, .. } => {
                let mut sorted = Vec::new();
                for (position, case) in cases.iter().enumerate() {
                    sorted.push((case.value, position, self.edge(from, case.target)));
                }
                sorted.sort_unstable();
                let (value, default) = (self.source(*value), self.edge(from, *default));
                Step::Switch(Box::new(Switch { value, cases: sorted, default }))
            }
            Terminator::IndirectJump { .. } => rare(Rare::Unsupported("computed goto".to_owned())),
            Terminator::Return(value) => Step::Return(value.map(|value| self.source(value))),
            Terminator::Unreachable => rare(Rare::Unreachable),
        }
    }

    fn edge(&mut self, from: BlockId, to: BlockId) -> EdgeIndex {
        let mut moves = Vec::new();
        for &id in &self.function.block(to).instrs {
            let instr = self.function.instr(id);
            let Op::Phi(incoming) = &instr.op else { continue };
            let value = incoming.iter().find(|(block, _)| *block == from).map(|(_, value)| *value);
            let value = self.source(value.unwrap_or(Operand::Undefined(instr.ty)));
            for slot in 0..n_slots(self.program, instr.ty) {
                moves.push((self.results[id.index()] + slot, value.plus(slot)));
            }
        }
        self.code.edges.push(Edge { block: to, step: 0, moves });
        (self.code.edges.len() - 1) as EdgeIndex
    }
}

fn rare(step: Rare) -> Step {
    Step::Rare(Box::new(step))
}
