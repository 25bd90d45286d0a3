//! What lowering and instrumentation must agree on, because the log is walked through the model: which calls are marks, which
//! branches a mark decides, which function a call names, and which functions neither of them follows.
//!
//! Method: both read it off the code as clang wrote it, through the same functions.

mod refusal;

pub use refusal::{Refusal, refusal};

use crate::llvm::{LLVMOpcode, Value};

/// The marker function.
pub const MARK: &str = "__q";

/// The function that builds inputs and calls the function under test.
pub const HARNESS: &str = "__quarry_harness";

/// How names of the runtime and of generated code begin.
pub const RUNTIME_PREFIX: &str = "__quarry_";

/// `a && b` and friends nest a few negations at most.
const LONGEST_CHAIN: usize = 64;

/// The function a call names, through aliases; `None` for calls through pointers, ifuncs and inline assembly.
pub fn direct_callee(call: Value<'_>) -> Option<Value<'_>> {
    let mut callee = call.callee();
    while let Some(aliasee) = callee.aliasee() {
        callee = aliasee;
    }
    callee.as_function()
}

/// Whether an instruction is a call of the marker.
pub fn is_mark(instruction: Value<'_>) -> bool {
    instruction.is_call() && direct_callee(instruction).is_some_and(|callee| callee.name() == MARK)
}

/// The mark whose outcome decides a conditional branch, and whether it is negated on the way.
pub fn decided_by_mark(branch: Value<'_>) -> Option<(u32, bool)> {
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
