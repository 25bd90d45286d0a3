//! Single and double precision arithmetic on bits, by the machine's own operations.
//!
//! Limit: the machine decides which NaN an operation returns, as in LLVM.

use super::integer::{mask, signed};
use super::{FaultKind, memory::Stop};
use crate::{CastOp, FloatBinaryOp, FloatKind, FloatPredicate, Type};

/// A format that the interpreter computes in.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Number {
    Single(f32),
    Double(f64),
}

fn decode(kind: FloatKind, bits: u128) -> Result<Number, Stop> {
    match kind {
        FloatKind::Single => Ok(Number::Single(f32::from_bits(bits as u32))),
        FloatKind::Double => Ok(Number::Double(f64::from_bits(bits as u64))),
        FloatKind::Half | FloatKind::X87 | FloatKind::Quad => {
            Err(Stop::Unsupported(format!("arithmetic in {kind}").into()))
        }
    }
}

fn encode(number: Number) -> u128 {
    match number {
        Number::Single(value) => value.to_bits().into(),
        Number::Double(value) => value.to_bits().into(),
    }
}

/// The value as the widest format, exactly.
pub(super) fn as_double(kind: FloatKind, bits: u128) -> Result<f64, Stop> {
    Ok(match decode(kind, bits)? {
        Number::Single(value) => value.into(),
        Number::Double(value) => value,
    })
}

pub(super) fn binary(op: FloatBinaryOp, kind: FloatKind, left: u128, right: u128) -> Result<u128, Stop> {
    macro_rules! apply {
        ($left:expr, $right:expr) => {
            match op {
                FloatBinaryOp::Add => $left + $right,
                FloatBinaryOp::Sub => $left - $right,
                FloatBinaryOp::Mul => $left * $right,
                FloatBinaryOp::Div => $left / $right,
                FloatBinaryOp::Rem => $left % $right,
            }
        };
    }
    Ok(encode(match (decode(kind, left)?, decode(kind, right)?) {
        (Number::Single(left), Number::Single(right)) => Number::Single(apply!(left, right)),
        (Number::Double(left), Number::Double(right)) => Number::Double(apply!(left, right)),
        (Number::Single(_), Number::Double(_)) | (Number::Double(_), Number::Single(_)) => {
            unreachable!("both were decoded with one format")
        }
    }))
}

/// Flips the sign bit, also of a NaN.
pub(super) fn negate(kind: FloatKind, bits: u128) -> u128 {
    bits ^ 1 << (kind.bits() - 1)
}

pub(super) fn compare(
    predicate: FloatPredicate,
    kind: FloatKind,
    left: u128,
    right: u128,
) -> Result<bool, Stop> {
    use std::cmp::Ordering::{Equal, Greater, Less};
    // Widening is exact, so one comparison serves both formats.
    let order = as_double(kind, left)?.partial_cmp(&as_double(kind, right)?);
    Ok(match predicate {
        FloatPredicate::False => false,
        FloatPredicate::Oeq => order == Some(Equal),
        FloatPredicate::Ogt => order == Some(Greater),
        FloatPredicate::Oge => matches!(order, Some(Greater | Equal)),
        FloatPredicate::Olt => order == Some(Less),
        FloatPredicate::Ole => matches!(order, Some(Less | Equal)),
        FloatPredicate::One => matches!(order, Some(Less | Greater)),
        FloatPredicate::Ord => order.is_some(),
        FloatPredicate::Uno => order.is_none(),
        FloatPredicate::Ueq => matches!(order, None | Some(Equal)),
        FloatPredicate::Ugt => matches!(order, None | Some(Greater)),
        FloatPredicate::Uge => matches!(order, None | Some(Greater | Equal)),
        FloatPredicate::Ult => matches!(order, None | Some(Less)),
        FloatPredicate::Ule => matches!(order, None | Some(Less | Equal)),
        FloatPredicate::Une => order != Some(Equal),
        FloatPredicate::True => true,
    })
}

/// A conversion that has floating point on one side at least.
pub(super) fn cast(op: CastOp, from: Type, into: Type, bits: u128) -> Result<u128, Stop> {
    match (op, from, into) {
        (CastOp::FloatTrunc | CastOp::FloatExtend, Type::Float(from), Type::Float(into)) => {
            let value = as_double(from, bits)?;
            match into {
                FloatKind::Single => Ok((value as f32).to_bits().into()),
                FloatKind::Double => Ok(value.to_bits().into()),
                FloatKind::Half | FloatKind::X87 | FloatKind::Quad => {
                    Err(Stop::Unsupported(format!("conversion to {into}").into()))
                }
            }
        }
        (CastOp::FloatToUnsigned, Type::Float(kind), Type::Int(width)) => {
            to_unsigned(as_double(kind, bits)?, width).map_err(Stop::Fault)
        }
        (CastOp::FloatToSigned, Type::Float(kind), Type::Int(width)) => {
            to_signed(as_double(kind, bits)?, width).map_err(Stop::Fault)
        }
        (CastOp::UnsignedToFloat, Type::Int(_), Type::Float(kind)) => {
            from_integer(kind, bits as f32, bits as f64)
        }
        (CastOp::SignedToFloat, Type::Int(width), Type::Float(kind)) => {
            let value = signed(bits, width);
            from_integer(kind, value as f32, value as f64)
        }
        _ => Err(Stop::Unsupported(format!("{op} from {from} to {into}").into())),
    }
}

/// Both candidates, because rounding twice is not rounding once.
fn from_integer(kind: FloatKind, single: f32, double: f64) -> Result<u128, Stop> {
    match kind {
        FloatKind::Single => Ok(single.to_bits().into()),
        FloatKind::Double => Ok(double.to_bits().into()),
        FloatKind::Half | FloatKind::X87 | FloatKind::Quad => {
            Err(Stop::Unsupported(format!("conversion to {kind}").into()))
        }
    }
}

fn to_unsigned(value: f64, width: u32) -> Result<u128, FaultKind> {
    let truncated = value.trunc();
    let fits = truncated >= 0.0 && truncated < power_of_two(width);
    if fits { Ok(truncated as u128) } else { Err(FaultKind::Undefined) }
}

fn to_signed(value: f64, width: u32) -> Result<u128, FaultKind> {
    let truncated = value.trunc();
    let bound = power_of_two(width - 1);
    let fits = truncated >= -bound && truncated < bound;
    if fits { Ok(truncated as i128 as u128 & mask(width)) } else { Err(FaultKind::Undefined) }
}

fn power_of_two(exponent: u32) -> f64 {
    f64::from(exponent).exp2()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_outside_the_integer_type_are_undefined() {
        assert_eq!(to_signed(-128.9, 8), Ok(0x80));
        assert_eq!(to_signed(-129.0, 8), Err(FaultKind::Undefined));
        assert_eq!(to_signed(127.99, 8), Ok(127));
        assert_eq!(to_signed(128.0, 8), Err(FaultKind::Undefined));
        assert_eq!(to_signed(f64::NAN, 64), Err(FaultKind::Undefined));
        assert_eq!(to_signed(9.3e18, 64), Err(FaultKind::Undefined));
        assert_eq!(to_unsigned(-0.9, 32), Ok(0));
        assert_eq!(to_unsigned(-1.0, 32), Err(FaultKind::Undefined));
        assert_eq!(to_unsigned(1.8e19, 64), Ok(18_000_000_000_000_000_000));
        assert_eq!(to_unsigned(f64::INFINITY, 128), Err(FaultKind::Undefined));
        assert_eq!(to_signed(127f64.exp2(), 128), Err(FaultKind::Undefined));
    }

    #[test]
    fn comparisons_with_nan_are_false_when_ordered_and_true_when_not() {
        let (nan, one) = (f64::NAN.to_bits().into(), 1f64.to_bits().into());
        for (predicate, expected) in [
            (FloatPredicate::Oeq, false),
            (FloatPredicate::One, false),
            (FloatPredicate::Ole, false),
            (FloatPredicate::Ord, false),
            (FloatPredicate::Une, true),
            (FloatPredicate::Ueq, true),
            (FloatPredicate::Uge, true),
            (FloatPredicate::Uno, true),
        ] {
            assert_eq!(compare(predicate, FloatKind::Double, nan, one).ok(), Some(expected), "{predicate}");
        }
    }
}
