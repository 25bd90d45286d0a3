//! The language of invariants: booleans and bit-vectors over the state at a cut.
//!
//! Operators are those of SMT-LIB, with its meaning where C has none (division by zero, shifts by the width or more).

use model::{FunctionId, GlobalId, InstrId};

use crate::Context;

/// A term. Sorts are checked when a proof is checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Formula {
    Bool(bool),
    /// A constant of 1 to 128 bits, zero-extended.
    Bits {
        bits: u32,
        value: u128,
    },
    /// The value of a promoted local (see [`crate::check`]).
    Local {
        context: Context,
        alloca: InstrId,
    },
    /// What the entry's parameter was when the activation began.
    Parameter(u32),
    /// Bytes of memory at an address, the least significant first.
    Load {
        bits: u32,
        address: Box<Formula>,
    },
    /// The address of a global.
    Global(GlobalId),
    /// The address of a function.
    Function(FunctionId),
    /// The address of a local that is not promoted.
    Alloca {
        context: Context,
        alloca: InstrId,
    },
    Apply(Operator, Vec<Formula>),
}

impl Formula {
    /// An operator on operands.
    pub fn apply(operator: Operator, operands: impl Into<Vec<Formula>>) -> Self {
        Self::Apply(operator, operands.into())
    }
}

/// Operators, named as in SMT-LIB.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operator {
    Not,
    /// Of any number of operands; of none, true.
    And,
    /// Of any number of operands; of none, false.
    Or,
    Implies,
    Equal,
    Ite,
    BvNot,
    BvNeg,
    BvAdd,
    BvSub,
    BvMul,
    BvUdiv,
    BvUrem,
    BvSdiv,
    BvSrem,
    BvAnd,
    BvOr,
    BvXor,
    BvShl,
    BvLshr,
    BvAshr,
    BvUlt,
    BvUle,
    BvUgt,
    BvUge,
    BvSlt,
    BvSle,
    BvSgt,
    BvSge,
    Concat,
    /// Bits `low` to `high`, both included.
    Extract {
        high: u32,
        low: u32,
    },
    /// By this many bits.
    ZeroExtend(u32),
    /// By this many bits.
    SignExtend(u32),
}

impl Operator {
    /// The operators without numbers.
    pub const PLAIN: [Self; 30] = [
        Self::Not,
        Self::And,
        Self::Or,
        Self::Implies,
        Self::Equal,
        Self::Ite,
        Self::BvNot,
        Self::BvNeg,
        Self::BvAdd,
        Self::BvSub,
        Self::BvMul,
        Self::BvUdiv,
        Self::BvUrem,
        Self::BvSdiv,
        Self::BvSrem,
        Self::BvAnd,
        Self::BvOr,
        Self::BvXor,
        Self::BvShl,
        Self::BvLshr,
        Self::BvAshr,
        Self::BvUlt,
        Self::BvUle,
        Self::BvUgt,
        Self::BvUge,
        Self::BvSlt,
        Self::BvSle,
        Self::BvSgt,
        Self::BvSge,
        Self::Concat,
    ];

    /// SMT-LIB's name.
    pub fn word(self) -> &'static str {
        match self {
            Self::Not => "not",
            Self::And => "and",
            Self::Or => "or",
            Self::Implies => "=>",
            Self::Equal => "=",
            Self::Ite => "ite",
            Self::BvNot => "bvnot",
            Self::BvNeg => "bvneg",
            Self::BvAdd => "bvadd",
            Self::BvSub => "bvsub",
            Self::BvMul => "bvmul",
            Self::BvUdiv => "bvudiv",
            Self::BvUrem => "bvurem",
            Self::BvSdiv => "bvsdiv",
            Self::BvSrem => "bvsrem",
            Self::BvAnd => "bvand",
            Self::BvOr => "bvor",
            Self::BvXor => "bvxor",
            Self::BvShl => "bvshl",
            Self::BvLshr => "bvlshr",
            Self::BvAshr => "bvashr",
            Self::BvUlt => "bvult",
            Self::BvUle => "bvule",
            Self::BvUgt => "bvugt",
            Self::BvUge => "bvuge",
            Self::BvSlt => "bvslt",
            Self::BvSle => "bvsle",
            Self::BvSgt => "bvsgt",
            Self::BvSge => "bvsge",
            Self::Concat => "concat",
            Self::Extract { .. } => "extract",
            Self::ZeroExtend(_) => "zero_extend",
            Self::SignExtend(_) => "sign_extend",
        }
    }
}
