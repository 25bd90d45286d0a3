//! What floating-point nodes compute, on the bits of numbers of 32 or 64 bits.

/// Operations with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FloatOp {
    Add,
    Sub,
    Mul,
    Div,
    /// C's `fmod`.
    Rem,
    Eq,
    Lt,
    Le,
}

impl FloatOp {
    /// Whether the result is a truth value of width 1.
    pub fn is_compare(self) -> bool {
        matches!(self, Self::Eq | Self::Lt | Self::Le)
    }
}

/// Operations with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FloatUnary {
    /// A truth value of width 1.
    IsNan,
    Sqrt,
    /// To a whole number.
    Round(Rounding),
    /// Between the two formats.
    Convert,
    /// From an integer of any width.
    FromSigned,
    /// From an integer of any width.
    FromUnsigned,
    /// To an integer of 32 or 64 bits, the least one when there is none.
    ToSigned,
}

/// Which whole number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rounding {
    ToEven,
    Away,
    Up,
    Down,
    ToZero,
}

const FIRST: u8 = 64;

const BINARY: [FloatOp; 8] = [
    FloatOp::Add,
    FloatOp::Sub,
    FloatOp::Mul,
    FloatOp::Div,
    FloatOp::Rem,
    FloatOp::Eq,
    FloatOp::Lt,
    FloatOp::Le,
];

const ROUNDINGS: [Rounding; 5] =
    [Rounding::ToEven, Rounding::Away, Rounding::Up, Rounding::Down, Rounding::ToZero];

impl FloatOp {
    pub(crate) fn decode(op: u8) -> Option<Self> {
        BINARY.get(usize::from(op.checked_sub(FIRST)?)).copied()
    }
}

impl FloatUnary {
    pub(crate) fn decode(op: u8, aux: u16) -> Option<Self> {
        Some(match op {
            72 => Self::IsNan,
            73 => Self::Sqrt,
            74 => Self::Round(*ROUNDINGS.get(usize::from(aux))?),
            75 => Self::Convert,
            76 => Self::FromSigned,
            77 => Self::FromUnsigned,
            78 => Self::ToSigned,
            _ => return None,
        })
    }
}
