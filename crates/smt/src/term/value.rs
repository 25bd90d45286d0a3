//! What each operator computes, on bits held in a `u128`.
//!
//! The one definition of the operators' meaning: constant folding and evaluation both use it, and the conformance
//! suite compares it with the solvers over whole small domains.

use super::{BinaryOp, Extension, MAX_WIDTH, UnaryOp};

/// A bit-vector value; bits above `width` are zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Value {
    width: u32,
    bits: u128,
}

impl Value {
    /// The low `width` bits of `bits`.
    ///
    /// # Panics
    /// When the width is not in `1..=MAX_WIDTH`.
    pub fn new(width: u32, bits: u128) -> Value {
        assert!((1..=MAX_WIDTH).contains(&width), "bit-vector width {width} is outside 1..={MAX_WIDTH}");
        Value { width, bits: bits & mask(width) }
    }

    /// The number of bits.
    pub fn width(self) -> u32 {
        self.width
    }

    /// The bits as an unsigned number.
    pub fn bits(self) -> u128 {
        self.bits
    }

    /// The bits as a signed number.
    pub fn signed(self) -> i128 {
        to_signed(self.width, self.bits)
    }
}

/// All ones in the low `width` bits.
pub fn mask(width: u32) -> u128 {
    u128::MAX >> (MAX_WIDTH - width)
}

/// The sign bit of a `width`-bit value.
pub fn sign_bit(width: u32) -> u128 {
    1 << (width - 1)
}

/// Reads `bits` as a two's complement number of `width` bits.
pub fn to_signed(width: u32, bits: u128) -> i128 {
    let unused = MAX_WIDTH - width;
    ((bits << unused) as i128) >> unused
}

/// The result of a unary operator.
pub fn unary(op: UnaryOp, width: u32, operand: u128) -> u128 {
    let result = match op {
        UnaryOp::Not => !operand,
        UnaryOp::Neg => operand.wrapping_neg(),
    };
    result & mask(width)
}

/// The result of a binary operator on operands of `width` bits; for [`BinaryOp::Concat`] the width of the right one.
pub fn binary(op: BinaryOp, width: u32, left: u128, right: u128) -> u128 {
    let (signed_left, signed_right) = (to_signed(width, left), to_signed(width, right));
    match op {
        BinaryOp::Add => left.wrapping_add(right) & mask(width),
        BinaryOp::Mul => left.wrapping_mul(right) & mask(width),
        BinaryOp::Udiv => left.checked_div(right).unwrap_or(mask(width)),
        BinaryOp::Urem => left.checked_rem(right).unwrap_or(left),
        BinaryOp::Sdiv if right == 0 => {
            if signed_left < 0 {
                1
            } else {
                mask(width)
            }
        }
        BinaryOp::Sdiv => signed_left.wrapping_div(signed_right) as u128 & mask(width),
        BinaryOp::Srem if right == 0 => left,
        BinaryOp::Srem => signed_left.wrapping_rem(signed_right) as u128 & mask(width),
        BinaryOp::And => left & right,
        BinaryOp::Or => left | right,
        BinaryOp::Xor => left ^ right,
        BinaryOp::Shl if right >= u128::from(width) => 0,
        BinaryOp::Shl => (left << right) & mask(width),
        BinaryOp::Lshr if right >= u128::from(width) => 0,
        BinaryOp::Lshr => left >> right,
        BinaryOp::Ashr => (signed_left >> right.min(u128::from(MAX_WIDTH - 1))) as u128 & mask(width),
        BinaryOp::Concat => (left << width) | right,
        BinaryOp::Eq => u128::from(left == right),
        BinaryOp::Ult => u128::from(left < right),
        BinaryOp::Ule => u128::from(left <= right),
        BinaryOp::Slt => u128::from(signed_left < signed_right),
        BinaryOp::Sle => u128::from(signed_left <= signed_right),
    }
}

/// Bits `high` down to `low`.
pub fn extract(operand: u128, high: u32, low: u32) -> u128 {
    (operand >> low) & mask(high - low + 1)
}

/// A value of `from` bits made `to` bits wide.
pub fn extend(extension: Extension, from: u32, to: u32, operand: u128) -> u128 {
    match extension {
        Extension::Zero => operand,
        Extension::Sign => to_signed(from, operand) as u128 & mask(to),
    }
}
