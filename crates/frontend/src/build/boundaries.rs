//! Notes beside comparisons how near their sides are: equal, the left one a step below the right one, a step above.
//!
//! Method: each note is a mark whose value nothing uses, so the program decides nothing by it, and everything that works for conditions (the log,
//! expressions, flips, proofs) works for boundaries. A step is 1 for integers, within their type, and one unit in the last place for `float`
//! and `double`. Limit: comparisons that clang folds, and those of other numbers, have no notes.

use std::collections::BTreeMap;

use inkwell::llvm_sys::LLVMIntPredicate::{LLVMIntSLT, LLVMIntULT};
use inkwell::llvm_sys::LLVMRealPredicate::{LLVMRealOEQ, LLVMRealORD};
use inkwell::module::Module;

use crate::agreement::{MARK, is_mark};
use crate::llvm::{Builder, Ir, LLVMOpcode, Value};
use crate::marks::{Boundaries, Marks};

/// Adds the notes to a module whose conditions have the numbers of the program.
pub(super) fn note(module: &Module<'_>, marks: &Marks) {
    if marks.boundaries.is_empty() {
        return;
    }
    let by_condition: BTreeMap<u64, &Boundaries> =
        marks.boundaries.iter().map(|boundaries| (u64::from(boundaries.of.0), boundaries)).collect();
    let ir = Ir::of(module);
    let Some(marker) = ir.function_named(MARK) else { return };
    let marked: Vec<Value<'_>> = marker.users().into_iter().filter(|user| is_mark(*user)).collect();
    let builder = Builder::new(module);
    for mark in marked {
        let boundaries = mark.operand(0).integer().and_then(|id| by_condition.get(&id));
        let Some((boundaries, compared)) = boundaries.zip(comparison(mark.operand(1))) else { continue };
        builder.place_before(mark);
        let (left, right) = (compared.operand(0), compared.operand(1));
        let near = if compared.opcode() == LLVMOpcode::LLVMICmp {
            integers(&builder, boundaries.signed, left, right)
        } else {
            floats(&builder, left, right)
        };
        let first = u64::from(boundaries.first.0);
        for (holds, number) in near.into_iter().flatten().zip(first..) {
            builder.call(marker, &[ir.int(32).constant(number), holds]);
        }
    }
}

/// The comparison whose truth is marked, through what turns truth values into numbers and back.
fn comparison(mut value: Value<'_>) -> Option<Value<'_>> {
    while value.is_instruction() {
        match value.opcode() {
            LLVMOpcode::LLVMICmp if is_test_of_truth(value) => value = value.operand(0).operand(0),
            LLVMOpcode::LLVMICmp if value.operand(0).ty().is_integer() => return Some(value),
            LLVMOpcode::LLVMFCmp => return Some(value),
            LLVMOpcode::LLVMZExt | LLVMOpcode::LLVMTrunc => value = value.operand(0),
            _ => return None,
        }
    }
    None
}

/// Whether a number that was a truth value is compared with zero.
fn is_test_of_truth(compare: Value<'_>) -> bool {
    let (tested, zero) = (compare.operand(0), compare.operand(1));
    let is_extended = tested.is_instruction() && tested.opcode() == LLVMOpcode::LLVMZExt;
    is_extended && tested.operand(0).ty().int_bits() == Some(1) && zero.is_zero()
}

type Notes<'m> = Option<[Value<'m>; 3]>;

fn integers<'m>(builder: &Builder<'m>, signed: bool, left: Value<'m>, right: Value<'m>) -> Notes<'m> {
    let less = if signed { LLVMIntSLT } else { LLVMIntULT };
    // less, and by one: no step leads over the ends of the type
    let step = |a, b| {
        let is_one = builder.equal(builder.sub(b, a), a_one(b));
        builder.and(builder.compare(less, a, b), is_one)
    };
    Some([builder.equal(left, right), step(left, right), step(right, left)])
}

fn a_one(like: Value<'_>) -> Value<'_> {
    like.ty().constant(1)
}

fn floats<'m>(builder: &Builder<'m>, left: Value<'m>, right: Value<'m>) -> Notes<'m> {
    let bits = match left.ty().text().as_str() {
        "float" => 32,
        "double" => 64,
        _ => return None,
    };
    // the bits of numbers without sign have their order; those of numbers with one the reverse
    let rank = |number: Value<'m>| {
        let bits = builder.as_int(number, bits);
        let (ty, zero) = (bits.ty(), bits.ty().zero());
        let is_negative = builder.compare(LLVMIntSLT, bits, zero);
        let lowest = ty.constant(1u64 << (ty.bits() - 1));
        builder.select(is_negative, builder.sub(lowest, bits), bits)
    };
    let (below, above) = (rank(left), rank(right));
    let are_numbers = builder.compare_floats(LLVMRealORD, left, right);
    let step = |a, b| builder.and(are_numbers, builder.equal(builder.sub(b, a), a_one(b)));
    Some([builder.compare_floats(LLVMRealOEQ, left, right), step(below, above), step(above, below)])
}
