//! Makes a function's behaviour independent of what optimisation may assume.
//!
//! What runs is optimised, the model is not; both must take the same path also where C leaves the behaviour open.
//! Method: promises that clang derives from the language are dropped, undefined values become zero, shift amounts are
//! taken modulo the width as the machine does.

use crate::agreement::direct_callee;
use crate::llvm::{AttributePlace, Builder, LLVMOpcode, LLVMTypeKind, Value};

/// Promises about a function that logging breaks, or that would let a call be dropped or moved.
const BROKEN_BY_LOGGING: [&str; 4] = ["memory", "willreturn", "speculatable", "nosync"];

/// Prepares one function; declarations are left alone.
pub fn prepare(ir: &Builder<'_>, function: Value<'_>) {
    if function.is_declaration() || function.has_attribute(AttributePlace::Function, "naked") {
        return;
    }
    strip_function(function);
    for instruction in function.blocks().into_iter().flat_map(|block| block.instructions()) {
        define_operands(instruction);
        match instruction.opcode() {
            LLVMOpcode::LLVMCall => strip_call(instruction),
            LLVMOpcode::LLVMGetElementPtr => instruction.forget_bounds(),
            LLVMOpcode::LLVMShl | LLVMOpcode::LLVMLShr | LLVMOpcode::LLVMAShr => wrap_shift(ir, instruction),
            _ => {}
        }
    }
    gather_allocas(ir, function);
}

fn strip_function(function: Value<'_>) {
    for name in BROKEN_BY_LOGGING {
        function.remove_attribute(AttributePlace::Function, name);
    }
    if !looks_at_frames(function) {
        function.remove_attribute(AttributePlace::Function, "noinline"); // clang adds it at -O0
    }
    function.remove_attribute(AttributePlace::Result, "noundef");
    for index in 0..function.n_parameters() {
        function.remove_attribute(AttributePlace::Parameter(index), "noundef");
    }
}

/// Whether it asks for its return address or frame: inlining would change the answer.
fn looks_at_frames(function: Value<'_>) -> bool {
    let calls = function.blocks().into_iter().flat_map(|block| block.instructions()).filter(|i| i.is_call());
    calls.filter_map(direct_callee).any(|callee| {
        let name = callee.name();
        name.starts_with("llvm.returnaddress") || name.starts_with("llvm.frameaddress")
    })
}

fn strip_call(call: Value<'_>) {
    call.remove_call_attribute(AttributePlace::Result, "noundef");
    for (index, _) in (0..).zip(call.call_arguments()) {
        call.remove_call_attribute(AttributePlace::Parameter(index), "noundef");
    }
    if direct_callee(call).is_none_or(|callee| !callee.is_declaration()) {
        for name in BROKEN_BY_LOGGING {
            call.remove_call_attribute(AttributePlace::Function, name);
        }
    }
}

/// A variable read before it is written is zero, each time and everywhere.
fn define_operands(instruction: Value<'_>) {
    for (index, operand) in (0..).zip(instruction.operands()) {
        if operand.is_data() && operand.is_undefined() && is_scalar(operand) {
            instruction.set_operand(index, operand.ty().zero());
        }
    }
}

fn is_scalar(value: Value<'_>) -> bool {
    use LLVMTypeKind::*;
    matches!(
        value.ty().kind(),
        LLVMIntegerTypeKind
            | LLVMPointerTypeKind
            | LLVMFloatTypeKind
            | LLVMDoubleTypeKind
            | LLVMX86_FP80TypeKind
            | LLVMFP128TypeKind
            | LLVMHalfTypeKind
    )
}

fn wrap_shift(ir: &Builder<'_>, shift: Value<'_>) {
    let (ty, amount) = (shift.ty(), shift.operand(1));
    if !ty.is_integer() || !ty.bits().is_power_of_two() || ty.bits() > 64 {
        return;
    }
    if amount.integer().is_some_and(|amount| amount < u64::from(ty.bits())) {
        return;
    }
    ir.place_before(shift);
    shift.set_operand(1, ir.and(amount, ty.constant(u64::from(ty.bits()) - 1)));
}

/// Fixed-size allocas go to the top of the entry: code put before them and inlined would make them dynamic.
fn gather_allocas(ir: &Builder<'_>, function: Value<'_>) {
    let Some(entry) = function.blocks().first().copied() else { return };
    let instructions = entry.instructions();
    let Some(first) = instructions.iter().position(|instruction| !is_fixed_alloca(*instruction)) else {
        return;
    };
    for instruction in instructions[first..].iter().copied().filter(|i| is_fixed_alloca(*i)) {
        ir.place_before(instructions[first]);
        instruction.detach();
        ir.insert(instruction);
    }
}

/// An alloca whose size is known.
pub fn is_fixed_alloca(instruction: Value<'_>) -> bool {
    instruction.is_alloca() && instruction.operand(0).integer().is_some()
}
