//! Integer arithmetic on values of 1 to 128 bits, zero-extended.

use super::FaultKind;
use crate::{BinaryOp, Predicate};

/// The bits of a width.
pub fn mask(bits: u32) -> u128 {
    if bits == 0 { 0 } else { u128::MAX >> (128 - bits.min(128)) }
}

/// The number that zero-extended bits stand for.
pub fn signed(value: u128, bits: u32) -> i128 {
    let shift = 128 - bits;
    (value << shift) as i128 >> shift
}

fn signed_narrow(value: u64, bits: u32) -> i64 {
    let shift = 64 - bits;
    (value << shift) as i64 >> shift
}

/// The result of an operation, or why there is none.
#[inline]
pub fn binary(op: BinaryOp, bits: u32, left: u128, right: u128) -> Result<u128, FaultKind> {
    if bits <= 64 {
        let narrow = binary_narrow(op, bits, left as u64, right as u64)?;
        return Ok(u128::from(narrow & (u64::MAX >> (64 - bits))));
    }
    let wide = binary_wide(op, bits, left, right)?;
    Ok(wide & mask(bits))
}

#[inline]
fn binary_narrow(op: BinaryOp, bits: u32, left: u64, right: u64) -> Result<u64, FaultKind> {
    let both_signed = || (signed_narrow(left, bits), signed_narrow(right, bits));
    Ok(match op {
        BinaryOp::Add => left.wrapping_add(right),
        BinaryOp::Sub => left.wrapping_sub(right),
        BinaryOp::Mul => left.wrapping_mul(right),
        BinaryOp::Udiv => left.checked_div(right).ok_or(FaultKind::DivisionByZero)?,
        BinaryOp::Urem => left.checked_rem(right).ok_or(FaultKind::DivisionByZero)?,
        BinaryOp::Sdiv | BinaryOp::Srem => {
            let (left, right) = both_signed();
            if right == 0 {
                return Err(FaultKind::DivisionByZero);
            }
            if right == -1 && left == signed_narrow(1 << (bits - 1), bits) {
                return Err(FaultKind::DivisionOverflow);
            }
            (if op == BinaryOp::Sdiv { left / right } else { left % right }) as u64
        }
        BinaryOp::And => left & right,
        BinaryOp::Or => left | right,
        BinaryOp::Xor => left ^ right,
        BinaryOp::Shl => left << in_range(right.into(), bits)?,
        BinaryOp::Lshr => left >> in_range(right.into(), bits)?,
        BinaryOp::Ashr => (signed_narrow(left, bits) >> in_range(right.into(), bits)?) as u64,
    })
}

fn binary_wide(op: BinaryOp, bits: u32, left: u128, right: u128) -> Result<u128, FaultKind> {
    Ok(match op {
        BinaryOp::Add => left.wrapping_add(right),
        BinaryOp::Sub => left.wrapping_sub(right),
        BinaryOp::Mul => left.wrapping_mul(right),
        BinaryOp::Udiv => left.checked_div(right).ok_or(FaultKind::DivisionByZero)?,
        BinaryOp::Urem => left.checked_rem(right).ok_or(FaultKind::DivisionByZero)?,
        BinaryOp::Sdiv | BinaryOp::Srem => {
            let (left, right) = (signed(left, bits), signed(right, bits));
            if right == 0 {
                return Err(FaultKind::DivisionByZero);
            }
            if right == -1 && left == signed(1 << (bits - 1), bits) {
                return Err(FaultKind::DivisionOverflow);
            }
            (if op == BinaryOp::Sdiv { left / right } else { left % right }) as u128
        }
        BinaryOp::And => left & right,
        BinaryOp::Or => left | right,
        BinaryOp::Xor => left ^ right,
        BinaryOp::Shl => left << in_range(right, bits)?,
        BinaryOp::Lshr => left >> in_range(right, bits)?,
        BinaryOp::Ashr => (signed(left, bits) >> in_range(right, bits)?) as u128,
    })
}

fn in_range(amount: u128, bits: u32) -> Result<u32, FaultKind> {
    if amount < u128::from(bits) { Ok(amount as u32) } else { Err(FaultKind::Undefined) }
}

/// Whether the comparison holds.
#[inline]
pub fn compare(predicate: Predicate, bits: u32, left: u128, right: u128) -> bool {
    match predicate {
        Predicate::Eq => left == right,
        Predicate::Ne => left != right,
        Predicate::Ult => left < right,
        Predicate::Ule => left <= right,
        Predicate::Ugt => left > right,
        Predicate::Uge => left >= right,
        Predicate::Slt => signed(left, bits) < signed(right, bits),
        Predicate::Sle => signed(left, bits) <= signed(right, bits),
        Predicate::Sgt => signed(left, bits) > signed(right, bits),
        Predicate::Sge => signed(left, bits) >= signed(right, bits),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_pairs_of_five_bits_agree_with_plain_arithmetic() {
        for left in 0..32u128 {
            for right in 0..32u128 {
                let (a, b) = (signed(left, 5), signed(right, 5));
                assert_eq!(binary(BinaryOp::Add, 5, left, right), Ok((left + right) % 32));
                assert_eq!(binary(BinaryOp::Mul, 5, left, right), Ok((left * right) % 32));
                let quotient = binary(BinaryOp::Sdiv, 5, left, right);
                let expected = match (a, b) {
                    (_, 0) => Err(FaultKind::DivisionByZero),
                    (-16, -1) => Err(FaultKind::DivisionOverflow),
                    _ => Ok((a / b) as u128 & 31),
                };
                assert_eq!(quotient, expected);
                let shifted = binary(BinaryOp::Ashr, 5, left, right);
                let expected =
                    if right < 5 { Ok((a >> right) as u128 & 31) } else { Err(FaultKind::Undefined) };
                assert_eq!(shifted, expected);
                assert_eq!(compare(Predicate::Slt, 5, left, right), a < b);
                assert_eq!(compare(Predicate::Uge, 5, left, right), left >= right);
            }
        }
    }

    #[test]
    fn wide_and_narrow_arithmetic_agree() {
        let values = [0u64, 1, 2, 7, 63, 1 << 31, 1 << 63, u64::MAX];
        let operations =
            [BinaryOp::Add, BinaryOp::Sub, BinaryOp::Mul, BinaryOp::Udiv, BinaryOp::Srem, BinaryOp::Shl];
        for op in operations {
            for (left, right) in
                values.iter().flat_map(|left| values.iter().map(move |right| (*left, *right)))
            {
                let narrow = binary_narrow(op, 64, left, right);
                let wide = binary_wide(op, 64, left.into(), right.into()).map(|value| value as u64);
                assert_eq!(narrow, wide, "{op} {left} {right}");
            }
        }
    }
}
