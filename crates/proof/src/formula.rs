//! The language of invariants: booleans and bit-vectors over the state at a cut.
//!
//! Operators are those of SMT-LIB, with its meaning where C has none (division by zero, shifts by the width or more).

use model::{FunctionId, GlobalId, InstrId};

use crate::Context;

/// A term. Sorts are checked when a proof is checked.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
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
    /// Whether a definition of the goal's def-use pair reaches this point, in an activation in which the goal counts.
    Flag(Context),
    Apply(Operator, Vec<Formula>),
}

impl Formula {
    /// An operator on operands.
    pub fn apply(operator: Operator, operands: impl Into<Vec<Formula>>) -> Self {
        Self::Apply(operator, operands.into())
    }
}

macro_rules! operators {
    ($($(#[$doc:meta])* $variant:ident = $word:literal,)*) => {
        /// Operators, named as in SMT-LIB.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Operator {
            $($(#[$doc])* $variant,)*
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
            pub const PLAIN: &[Self] = &[$(Self::$variant),*];

            /// SMT-LIB's name.
            pub fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)*
                    Self::Extract { .. } => "extract",
                    Self::ZeroExtend(_) => "zero_extend",
                    Self::SignExtend(_) => "sign_extend",
                }
            }
        }
    };
}

operators! {
    Not = "not",
    /// Of any number of operands; of none, true.
    And = "and",
    /// Of any number of operands; of none, false.
    Or = "or",
    Implies = "=>",
    Equal = "=",
    Ite = "ite",
    BvNot = "bvnot",
    BvNeg = "bvneg",
    BvAdd = "bvadd",
    BvSub = "bvsub",
    BvMul = "bvmul",
    BvUdiv = "bvudiv",
    BvUrem = "bvurem",
    BvSdiv = "bvsdiv",
    BvSrem = "bvsrem",
    BvAnd = "bvand",
    BvOr = "bvor",
    BvXor = "bvxor",
    BvShl = "bvshl",
    BvLshr = "bvlshr",
    BvAshr = "bvashr",
    BvUlt = "bvult",
    BvUle = "bvule",
    BvUgt = "bvugt",
    BvUge = "bvuge",
    BvSlt = "bvslt",
    BvSle = "bvsle",
    BvSgt = "bvsgt",
    BvSge = "bvsge",
    Concat = "concat",
}
