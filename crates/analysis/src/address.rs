//! Which variable is an address formed from, and at which offset?

use model::{FloatKind, Function, GlobalId, InstrId, Op, Operand, Program, Type};

/// Memory with a place in the text: an `alloca` or a global.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Base {
    Local(InstrId),
    Global(GlobalId),
}

/// An address formed from a base.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Address {
    pub(crate) base: Base,
    /// The constant part of the distance.
    pub(crate) offset: i64,
    /// The other part.
    pub(crate) index: Option<Index>,
}

/// Steps of a distance that are taken a number of times not known before the program runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Index {
    /// Bytes of the largest step.
    pub(crate) largest: u64,
    /// The distance is a multiple of this many bytes.
    pub(crate) common: u64,
}

impl Index {
    pub(crate) fn join(of: Option<Self>, scale: i64) -> Option<Self> {
        let step = scale.unsigned_abs();
        let step = Self { largest: step, common: step };
        Some(of.map_or(step, |of| of.and(step)))
    }

    /// Steps of both kinds.
    pub(crate) fn and(self, other: Self) -> Self {
        Self { largest: self.largest.max(other.largest), common: gcd(self.common, other.common) }
    }
}

pub(crate) fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// What an operand names when it is used as an address; `None` for a pointer that was computed otherwise.
pub(crate) fn address(function: &Function, operand: Operand) -> Option<Address> {
    match operand {
        Operand::Global { global, offset } => {
            Some(Address { base: Base::Global(global), offset, index: None })
        }
        Operand::Result(id) => match &function.instr(id).op {
            Op::Alloca { .. } => Some(Address { base: Base::Local(id), offset: 0, index: None }),
            Op::Address { base, offset, indices } => {
                let from = address(function, *base)?;
                let offset = from.offset.wrapping_add(*offset);
                let index = indices.iter().fold(from.index, |of, (_, _, scale)| Index::join(of, *scale));
                Some(Address { offset, index, ..from })
            }
            // one thread runs, so a thread's variable is the variable
            Op::Freeze(inner @ Operand::Global { .. }) => address(function, *inner),
            _ => None,
        },
        Operand::Parameter(_)
        | Operand::Int { .. }
        | Operand::Float { .. }
        | Operand::Null
        | Operand::Function(_)
        | Operand::Undefined(_) => None,
    }
}

/// Bytes that a load or store of this type touches.
pub(crate) fn size(program: &Program, ty: Type) -> u64 {
    match ty {
        Type::Void | Type::Opaque => 0,
        Type::Int(bits) => u64::from(bits.div_ceil(8)),
        Type::Ptr => u64::from(program.pointer_bits / 8),
        // padding belongs to the value: nothing else is there
        Type::Float(FloatKind::X87) => {
            if program.pointer_bits == 32 {
                12
            } else {
                16
            }
        }
        Type::Float(kind) => kind.bytes(),
        Type::Record(record) => program.record(record).size,
    }
}
