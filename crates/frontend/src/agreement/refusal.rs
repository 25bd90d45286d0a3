//! Which functions are left as they are, and why: their paths are not logged, so the model must not have their code.

use model::GapKind;

use crate::llvm::{AttributePlace, LLVMOpcode, Value};

/// Why a function is not instrumented.
pub struct Refusal<'m> {
    pub kind: GapKind,
    pub what: &'static str,
    /// The instruction at fault, when it is one.
    pub at: Option<Value<'m>>,
}

/// Why instrumentation leaves a defined function as it is.
pub fn refusal(function: Value<'_>) -> Option<Refusal<'_>> {
    if function.has_attribute(AttributePlace::Function, "naked") {
        return Some(Refusal { kind: GapKind::InlineAssembly, what: "naked function", at: None });
    }
    let mut instructions = function.blocks().into_iter().flat_map(|block| block.instructions());
    let refused = instructions.find_map(|instruction| {
        let (kind, what) = refused_instruction(instruction.opcode())?;
        Some(Refusal { kind, what, at: Some(instruction) })
    });
    let differ =
        || Refusal { kind: GapKind::Instruction, what: "computed gotos with different targets", at: None };
    refused.or_else(|| (!jumps_share_targets(function)).then(differ))
}

fn refused_instruction(opcode: LLVMOpcode) -> Option<(GapKind, &'static str)> {
    use LLVMOpcode::*;
    match opcode {
        LLVMCallBr => Some((GapKind::InlineAssembly, "asm goto")),
        LLVMInvoke | LLVMResume | LLVMLandingPad | LLVMCleanupRet | LLVMCatchRet | LLVMCatchPad
        | LLVMCleanupPad | LLVMCatchSwitch => Some((GapKind::Exception, "exception handling")),
        _ => None,
    }
}

/// clang makes one computed goto per function; others must have the same list for their targets to know their index.
fn jumps_share_targets(function: Value<'_>) -> bool {
    let blocks = function.blocks();
    let is_jump = |i: &Value<'_>| i.opcode() == LLVMOpcode::LLVMIndirectBr;
    let jumping = blocks.iter().filter(|block| block.instructions().last().is_some_and(is_jump));
    let lists: Vec<_> = jumping.map(|block| block.successors()).collect();
    lists.windows(2).all(|pair| pair[0] == pair[1])
}
