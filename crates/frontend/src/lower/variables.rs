//! The source's variables and where they live.
//!
//! Method: `llvm.dbg.declare` binds a variable to an `alloca`; the first ones in the entry block are the parameters, in
//! order, one for each. Globals carry their variables as metadata. Limit: a variable that lives in no memory of its own
//! (a pointer into another object, a constant) is left out.

use model::{GlobalId, Linkage, Storage, Variable, VariableKind};

use super::{
    context::{Context, linkage},
    function::Code,
    layout::layout_of,
};
use crate::llvm::{DebugNode, LLVMOpcode, Value};

impl<'m> Code<'_, 'm, '_> {
    pub(crate) fn declare_variables(&mut self) {
        let Some(subprogram) = self.function.subprogram() else {
            return;
        };
        let n_parameters = self.cx.ir.source_parameters(subprogram);
        let mut n_declared = 0;
        for (block_index, block) in self.function.blocks().into_iter().enumerate() {
            for (variable, place) in block.instructions().into_iter().filter_map(declared) {
                // Blocks inside the function have scopes of their own, so they never count as parameters.
                let outermost = block_index == 0 && variable.variable_scope() == Some(subprogram);
                let kind = if outermost && n_declared < n_parameters {
                    n_declared += 1;
                    VariableKind::Parameter(n_declared as u32 - 1)
                } else {
                    VariableKind::Local
                };
                self.declare(variable, place, kind);
            }
        }
    }

    fn declare(&mut self, variable: DebugNode<'m>, place: Value<'m>, kind: VariableKind) {
        let name = self.cx.ir.debug_name(variable);
        let span = self.cx.source.span(variable, variable.variable_line());
        if let (Some(name), Some(span), Some(instr)) = (name, span, self.alloca_at(place)) {
            let storage = Storage::Stack(self.id, instr);
            let layout = layout_of(self.cx.ir, variable);
            self.cx.variables.push(Variable { name, kind, span, storage, layout });
        }
    }
}

/// Variable and address of a `llvm.dbg.declare`.
fn declared(instruction: Value<'_>) -> Option<(DebugNode<'_>, Value<'_>)> {
    if instruction.opcode() != LLVMOpcode::LLVMCall {
        return None;
    }
    let (callee, arguments) = (instruction.callee(), instruction.call_arguments());
    if callee.as_function().is_none() || callee.name() != "llvm.dbg.declare" {
        return None;
    }
    let [place, variable, _] = arguments.as_slice() else {
        return None;
    };
    variable.as_metadata().zip(place.declared_value())
}

/// The variables that live in a global.
pub(crate) fn global_variables<'m>(cx: &mut Context<'m, '_>, global: Value<'m>, id: GlobalId) {
    for variable in global.debug_variables() {
        let local =
            variable.variable_scope().is_some_and(|scope| scope.is_subprogram() || scope.is_lexical_block());
        let hidden = local || linkage(global) == Linkage::Internal;
        let kind = if hidden { VariableKind::Static } else { VariableKind::Global };
        let span = cx.source.span(variable, variable.variable_line());
        if let Some((name, span)) = cx.ir.debug_name(variable).zip(span) {
            let (storage, layout) = (Storage::Global(id), layout_of(cx.ir, variable));
            cx.variables.push(Variable { name, kind, span, storage, layout });
        }
    }
}
