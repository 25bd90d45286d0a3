//! Numbers for Bitwuzla.

use bitwuzla_sys::{Error, RoundingMode, Term, TermKind, TermManager};

use crate::lower::{FloatStep, Lowered, Slot, Sort};
use crate::term::{FloatBinaryOp, Format, Rounding};

/// The term of a step; what is known of a constant made for it goes to `known`.
pub(super) fn translate<'m>(
    manager: &'m TermManager,
    lowered: &Lowered,
    step: FloatStep,
    terms: &[Term<'m>],
    known: &mut Vec<Term<'m>>,
) -> Result<Term<'m>, Error> {
    let at = |slot: Slot| terms[slot.index()];
    let rounded = |kind: TermKind, mode: RoundingMode, operands: &[Term<'m>]| {
        let arguments = [&[manager.rounding_mode(mode)?], operands].concat();
        manager.apply(kind, &arguments)
    };
    let converted = |kind: TermKind, format: Format, operand: Term<'m>| {
        let mode = manager.rounding_mode(RoundingMode::NearestEven)?;
        manager.apply_indexed(kind, &[mode, operand], &indices(format))
    };
    match step {
        FloatStep::FromBits(format, bits) => from_bits(manager, format, at(bits)),
        FloatStep::Bits(number) => {
            let Sort::Float(format) = lowered.sorts[number.index()] else {
                unreachable!("only numbers are asked for their bits")
            };
            bits_of(manager, format, at(number), known)
        }
        FloatStep::Any(format) => {
            manager.fresh_constant(manager.float_sort(format.exponent_bits(), format.significand_bits())?)
        }
        FloatStep::Negated(operand) => manager.apply(TermKind::FpNeg, &[at(operand)]),
        FloatStep::Absolute(operand) => manager.apply(TermKind::FpAbs, &[at(operand)]),
        FloatStep::Sqrt(operand) => rounded(TermKind::FpSqrt, RoundingMode::NearestEven, &[at(operand)]),
        FloatStep::Round(rounding, operand) => rounded(TermKind::FpRti, mode(rounding), &[at(operand)]),
        FloatStep::Convert(format, operand) => converted(TermKind::FpToFpFromFp, format, at(operand)),
        FloatStep::FromSigned(format, operand) => converted(TermKind::FpToFpFromSbv, format, at(operand)),
        FloatStep::FromUnsigned(format, operand) => converted(TermKind::FpToFpFromUbv, format, at(operand)),
        FloatStep::ToSigned(width, operand) => {
            let mode = manager.rounding_mode(RoundingMode::TowardZero)?;
            manager.apply_indexed(TermKind::FpToSbv, &[mode, at(operand)], &[u64::from(width)])
        }
        FloatStep::Arithmetic(op, left, right) => {
            rounded(kind(op), RoundingMode::NearestEven, &[at(left), at(right)])
        }
        FloatStep::Fused(a, b, c) => {
            rounded(TermKind::FpFma, RoundingMode::NearestEven, &[at(a), at(b), at(c)])
        }
        FloatStep::Compare(op, left, right) => manager.apply(kind(op), &[at(left), at(right)]),
        FloatStep::IsNan(operand) => manager.apply(TermKind::FpIsNan, &[at(operand)]),
        FloatStep::IsNegative(operand) => manager.apply(TermKind::FpIsNeg, &[at(operand)]),
    }
}

/// A constant for the bits of a number: they are those of the number, and of a NaN the default one's.
fn bits_of<'m>(
    manager: &'m TermManager,
    format: Format,
    number: Term<'m>,
    known: &mut Vec<Term<'m>>,
) -> Result<Term<'m>, Error> {
    let sort = manager.bit_vector_sort(format.width())?;
    let bits = manager.fresh_constant(sort)?;
    known.push(manager.apply(TermKind::Equal, &[from_bits(manager, format, bits)?, number])?);
    let default = manager.bit_vector_value(sort, format.default_nan())?;
    let is_number = manager.apply(TermKind::Not, &[manager.apply(TermKind::FpIsNan, &[number])?])?;
    let is_default = manager.apply(TermKind::Equal, &[bits, default])?;
    known.push(manager.apply(TermKind::Or, &[is_number, is_default])?);
    Ok(bits)
}

fn from_bits<'m>(manager: &'m TermManager, format: Format, bits: Term<'m>) -> Result<Term<'m>, Error> {
    manager.apply_indexed(TermKind::FpToFpFromBv, &[bits], &indices(format))
}

fn indices(format: Format) -> [u64; 2] {
    [u64::from(format.exponent_bits()), u64::from(format.significand_bits())]
}

fn mode(rounding: Rounding) -> RoundingMode {
    match rounding {
        Rounding::ToEven => RoundingMode::NearestEven,
        Rounding::Away => RoundingMode::NearestAway,
        Rounding::Up => RoundingMode::TowardPositive,
        Rounding::Down => RoundingMode::TowardNegative,
        Rounding::ToZero => RoundingMode::TowardZero,
    }
}

fn kind(op: FloatBinaryOp) -> TermKind {
    match op {
        FloatBinaryOp::Add => TermKind::FpAdd,
        FloatBinaryOp::Sub => TermKind::FpSub,
        FloatBinaryOp::Mul => TermKind::FpMul,
        FloatBinaryOp::Div => TermKind::FpDiv,
        FloatBinaryOp::Rem => unreachable!("lowered to other operators"),
        FloatBinaryOp::Eq => TermKind::FpEqual,
        FloatBinaryOp::Lt => TermKind::FpLt,
        FloatBinaryOp::Le => TermKind::FpLeq,
    }
}
