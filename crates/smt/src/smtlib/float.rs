//! Numbers as SMT-LIB 2 text.

use super::{constant, push};
use crate::lower::{FloatStep, Lowered, Slot, Sort};
use crate::term::{FloatBinaryOp, Format, Rounding, Value};

pub(super) fn sort(format: Format) -> String {
    format!("(_ FloatingPoint {} {})", format.exponent_bits(), format.significand_bits())
}

/// What is known of a constant that was declared for a step.
pub(super) fn constrain(
    index: usize,
    step: FloatStep,
    lowered: &Lowered,
    names: &[String],
    text: &mut String,
) {
    let FloatStep::Bits(number) = step else { return };
    let Sort::Float(format) = lowered.sorts[number.index()] else {
        unreachable!("only numbers are asked for their bits")
    };
    let number = &names[number.index()];
    let nan = constant(Value::new(format.width(), format.default_nan()));
    push(text, format_args!("(assert (= ({} d{index}) {number}))\n", conversion(format)));
    push(text, format_args!("(assert (=> (fp.isNaN {number}) (= d{index} {nan})))\n"));
}

/// The application of a step's operator, without the outer parentheses.
pub(super) fn apply(step: FloatStep, names: &[String], text: &mut String) {
    let name = |slot: Slot| names[slot.index()].as_str();
    match step {
        FloatStep::Bits(_) | FloatStep::Any(_) => unreachable!("declared, not defined"),
        FloatStep::FromBits(format, bits) => {
            push(text, format_args!("{} {}", conversion(format), name(bits)))
        }
        FloatStep::Negated(operand) => push(text, format_args!("fp.neg {}", name(operand))),
        FloatStep::Absolute(operand) => push(text, format_args!("fp.abs {}", name(operand))),
        FloatStep::Sqrt(operand) => push(text, format_args!("fp.sqrt RNE {}", name(operand))),
        FloatStep::Round(rounding, operand) => {
            push(text, format_args!("fp.roundToIntegral {} {}", mode(rounding), name(operand)));
        }
        FloatStep::Convert(format, operand) | FloatStep::FromSigned(format, operand) => {
            push(text, format_args!("{} RNE {}", conversion(format), name(operand)));
        }
        FloatStep::FromUnsigned(format, operand) => {
            let (exponent, significand) = (format.exponent_bits(), format.significand_bits());
            push(text, format_args!("(_ to_fp_unsigned {exponent} {significand}) RNE {}", name(operand)));
        }
        FloatStep::ToSigned(width, operand) => {
            push(text, format_args!("(_ fp.to_sbv {width}) RTZ {}", name(operand)));
        }
        FloatStep::Arithmetic(op, left, right) => {
            push(text, format_args!("{} RNE {} {}", operator(op), name(left), name(right)));
        }
        FloatStep::Fused(a, b, c) => {
            push(text, format_args!("fp.fma RNE {} {} {}", name(a), name(b), name(c)));
        }
        FloatStep::Compare(op, left, right) => {
            push(text, format_args!("{} {} {}", operator(op), name(left), name(right)));
        }
        FloatStep::IsNan(operand) => push(text, format_args!("fp.isNaN {}", name(operand))),
        FloatStep::IsNegative(operand) => push(text, format_args!("fp.isNegative {}", name(operand))),
    }
}

fn conversion(format: Format) -> String {
    format!("(_ to_fp {} {})", format.exponent_bits(), format.significand_bits())
}

fn mode(rounding: Rounding) -> &'static str {
    match rounding {
        Rounding::ToEven => "RNE",
        Rounding::Away => "RNA",
        Rounding::Up => "RTP",
        Rounding::Down => "RTN",
        Rounding::ToZero => "RTZ",
    }
}

fn operator(op: FloatBinaryOp) -> &'static str {
    match op {
        FloatBinaryOp::Add => "fp.add",
        FloatBinaryOp::Sub => "fp.sub",
        FloatBinaryOp::Mul => "fp.mul",
        FloatBinaryOp::Div => "fp.div",
        FloatBinaryOp::Rem => unreachable!("lowered to other operators"),
        FloatBinaryOp::Eq => "fp.eq",
        FloatBinaryOp::Lt => "fp.lt",
        FloatBinaryOp::Le => "fp.leq",
    }
}
