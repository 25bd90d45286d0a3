//! Facts about the -O0 module that later passes would blur, kept as metadata.
//!
//! Which branches a mark decides and which calls were indirect is read off the code as clang wrote it. The log and the
//! model must agree on it, but promotion to registers may turn an indirect call into a direct one and separate a branch
//! from its mark. Method: metadata on the branch or call, which such passes keep.

use inkwell::module::Module;
use inkwell::values::{AsValueRef, InstructionValue};

use super::ir::{Ir, LLVMOpcode, Value};

/// The marker function.
pub const MARK: &str = "__q";
const DECIDED: &str = "quarry.decided";
const INDIRECT: &str = "quarry.indirect";
/// `a && b` and friends nest a few negations at most.
const LONGEST_CHAIN: usize = 64;

/// Attaches the metadata.
pub fn annotate(module: &Module<'_>) {
    let ir = Ir::new(module);
    let kinds = Kinds::new(&ir);
    let functions = ir.functions();
    for instruction in functions.iter().flat_map(|function| function.blocks()).flat_map(|b| b.instructions())
    {
        if instruction.opcode() == LLVMOpcode::LLVMBr && mark_deciding(instruction).is_some() {
            instruction.set_metadata(kinds.decided, ir.empty_node());
        }
        if instruction.is_call() && is_indirect(instruction) {
            instruction.set_metadata(kinds.indirect, ir.empty_node());
        }
    }
}

/// The mark whose outcome decides a conditional branch, and whether it is negated on the way.
pub fn decided_by_mark(branch: InstructionValue<'_>) -> Option<(u32, bool)> {
    mark_deciding(Value::of(branch.as_value_ref()))
}

/// The function a call names, through aliases; `None` for calls through pointers, ifuncs and inline assembly.
pub fn direct_callee_name(call: InstructionValue<'_>) -> Option<String> {
    direct_callee(Value::of(call.as_value_ref())).map(Value::name)
}

/// Numbers of the metadata kinds.
#[derive(Clone, Copy)]
pub(super) struct Kinds {
    pub decided: u32,
    pub indirect: u32,
}

impl Kinds {
    pub fn new(ir: &Ir) -> Self {
        Self { decided: ir.metadata_kind(DECIDED), indirect: ir.metadata_kind(INDIRECT) }
    }
}

pub(super) fn direct_callee(call: Value) -> Option<Value> {
    let mut callee = call.callee();
    while let Some(aliasee) = callee.aliasee() {
        callee = aliasee;
    }
    callee.as_function()
}

/// Whether an instruction is a call of the marker.
pub(super) fn is_mark(instruction: Value) -> bool {
    instruction.is_call() && direct_callee(instruction).is_some_and(|callee| callee.name() == MARK)
}

fn is_indirect(call: Value) -> bool {
    direct_callee(call).is_none() && !call.callee().is_inline_assembly()
}

fn mark_deciding(branch: Value) -> Option<(u32, bool)> {
    if branch.opcode() != LLVMOpcode::LLVMBr || !branch.is_conditional() {
        return None;
    }
    let (mut value, mut negated) = (branch.condition(), false);
    for _ in 0..LONGEST_CHAIN {
        if !value.is_instruction() || value.block() != branch.block() {
            return None;
        }
        if is_mark(value) {
            let id = value.operand(0).integer()?;
            return Some((u32::try_from(id).ok()?, negated));
        }
        if value.opcode() != LLVMOpcode::LLVMXor || value.operand(1).integer() != Some(1) {
            return None;
        }
        value = value.operand(0);
        negated = !negated;
    }
    None
}
