//! Terms of floating-point nodes; `None` where widths do not fit.

use smt::{FloatBinaryOp, FloatUnaryOp, Format, Term, TermStore};
use wire::{FloatOp, FloatUnary, Rounding};

pub(super) fn unary(store: &mut TermStore, op: FloatUnary, width: u32, operand: Term) -> Option<Term> {
    let format = Format::of_width(width);
    let op = match op {
        FloatUnary::IsNan => FloatUnaryOp::IsNan,
        FloatUnary::Sqrt => FloatUnaryOp::Sqrt,
        FloatUnary::Round(rounding) => FloatUnaryOp::Round(direction(rounding)),
        FloatUnary::Convert => FloatUnaryOp::Convert(format?),
        FloatUnary::FromSigned => FloatUnaryOp::FromSigned(format?),
        FloatUnary::FromUnsigned => FloatUnaryOp::FromUnsigned(format?),
        FloatUnary::ToSigned => FloatUnaryOp::ToSigned(width),
    };
    let operand_width = store.width(operand);
    let fits = op.takes(operand_width) && op.result_width(operand_width) == width;
    fits.then(|| store.float_unary(op, operand))
}

/// The operands have one width.
pub(super) fn binary(store: &mut TermStore, op: FloatOp, width: u32, a: Term, b: Term) -> Option<Term> {
    let operand_width = Format::of_width(store.width(a))?.width();
    let result = if op.is_compare() { 1 } else { operand_width };
    let op = match op {
        FloatOp::Add => FloatBinaryOp::Add,
        FloatOp::Sub => FloatBinaryOp::Sub,
        FloatOp::Mul => FloatBinaryOp::Mul,
        FloatOp::Div => FloatBinaryOp::Div,
        FloatOp::Rem => FloatBinaryOp::Rem,
        FloatOp::Eq => FloatBinaryOp::Eq,
        FloatOp::Lt => FloatBinaryOp::Lt,
        FloatOp::Le => FloatBinaryOp::Le,
    };
    (result == width).then(|| store.float_binary(op, a, b))
}

pub(super) fn fused(store: &mut TermStore, width: u32, operands: [Term; 3]) -> Option<Term> {
    let fits = Format::of_width(width).is_some() && operands.iter().all(|term| store.width(*term) == width);
    let [a, b, c] = operands;
    fits.then(|| store.float_fused(a, b, c))
}

fn direction(rounding: Rounding) -> smt::Rounding {
    match rounding {
        Rounding::ToEven => smt::Rounding::ToEven,
        Rounding::Away => smt::Rounding::Away,
        Rounding::Up => smt::Rounding::Up,
        Rounding::Down => smt::Rounding::Down,
        Rounding::ToZero => smt::Rounding::ToZero,
    }
}
