//! Facts about the -O0 module that later passes would blur, kept as metadata.
//!
//! Which branches a mark decides and which calls were indirect is read off the code as clang wrote it. The log and the
//! model must agree on it, but promotion to registers may turn an indirect call into a direct one and separate a branch
//! from its mark. Method: metadata on the branch or call, which such passes keep.

use inkwell::module::Module;

use crate::agreement::{decided_by_mark, direct_callee};
use crate::llvm::{Builder, LLVMOpcode, Value};

const DECIDED: &str = "quarry.decided";
const INDIRECT: &str = "quarry.indirect";

/// Attaches the metadata.
pub fn annotate(module: &Module<'_>) {
    let ir = Builder::new(module);
    let kinds = Kinds::new(&ir);
    let functions = ir.functions();
    for instruction in functions.iter().flat_map(|function| function.blocks()).flat_map(|b| b.instructions())
    {
        if instruction.opcode() == LLVMOpcode::LLVMBr && decided_by_mark(instruction).is_some() {
            instruction.set_metadata(kinds.decided, ir.empty_node());
        }
        if instruction.is_call() && is_indirect(instruction) {
            instruction.set_metadata(kinds.indirect, ir.empty_node());
        }
    }
}

/// Numbers of the metadata kinds.
#[derive(Clone, Copy)]
pub(super) struct Kinds {
    pub decided: u32,
    pub indirect: u32,
}

impl Kinds {
    pub fn new(ir: &Builder<'_>) -> Self {
        Self { decided: ir.metadata_kind(DECIDED), indirect: ir.metadata_kind(INDIRECT) }
    }
}

fn is_indirect(call: Value<'_>) -> bool {
    direct_callee(call).is_none() && !call.callee().is_inline_assembly()
}
