//! Calls: marks, intrinsics with a meaning in the model, inline assembly, and everything else as calls.

use model::{Callee, ConditionId, GapKind, MemoryOp, Op, Operand, RelocationTarget, Type};

use super::{constant::symbolic_address, function::Code, instruction::is_data};
use crate::agreement::MARK;
use crate::llvm::{LLVMOpcode, Value};

/// Intrinsics that only inform the optimiser or the debugger.
const NOTES: [&str; 8] = [
    "llvm.dbg.",
    "llvm.lifetime.",
    "llvm.assume",
    "llvm.donothing",
    "llvm.experimental.noalias.scope.decl",
    "llvm.prefetch",
    "llvm.var.annotation",
    "llvm.pseudoprobe",
];

/// Whether the instruction has no effect that the model describes: notes for tools, and fences (one thread runs).
pub(crate) fn is_dropped(instruction: Value<'_>) -> bool {
    match instruction.opcode() {
        LLVMOpcode::LLVMFence => true,
        LLVMOpcode::LLVMCall => {
            let callee = instruction.callee();
            callee.as_function().is_some() && {
                let name = callee.name();
                name.starts_with("llvm.") && NOTES.iter().any(|note| name.starts_with(note))
            }
        }
        _ => false,
    }
}

impl<'m> Code<'_, 'm, '_> {
    pub(crate) fn call(&mut self, call: Value<'m>) {
        let (callee, arguments) = (call.callee(), call.call_arguments());
        if callee.is_inline_assembly() {
            return self.assembly(call, &arguments);
        }
        let ty = self.ty(call);
        let name = if callee.as_function().is_some() { callee.name() } else { String::new() };
        let op = if name == MARK {
            self.mark(&arguments)
        } else if name.starts_with("llvm.") {
            self.intrinsic(&name, &arguments)
        } else {
            None
        };
        let op = op.unwrap_or_else(|| self.plain_call(callee, &arguments));
        self.define(call, op, ty);
    }

    fn mark(&mut self, arguments: &[Value<'m>]) -> Option<Op> {
        let [id, value] = arguments else {
            return None;
        };
        let condition = u32::try_from(id.is_int().then(|| id.wide_integer())??).ok()?;
        Some(Op::Mark { condition: ConditionId(condition), value: self.operand(*value) })
    }

    /// Intrinsics with an operation of their own; the others are called by name.
    fn intrinsic(&mut self, name: &str, arguments: &[Value<'m>]) -> Option<Op> {
        let memory = [
            ("llvm.memcpy.", MemoryOp::Copy),
            ("llvm.memmove.", MemoryOp::Move),
            ("llvm.memset.", MemoryOp::Set),
        ];
        if let Some((_, op)) = memory.into_iter().find(|(prefix, _)| name.starts_with(prefix)) {
            let to = self.operand(arguments[0]);
            let from = self.operand(arguments[1]);
            return Some(Op::Memory { op, to, from, length: self.operand(arguments[2]) });
        }
        // With or without the suffix that names the pointer's address space.
        match name.strip_suffix(".p0").unwrap_or(name) {
            "llvm.va_start" => Some(Op::VaStart(self.operand(arguments[0]))),
            "llvm.va_end" => Some(Op::VaEnd(self.operand(arguments[0]))),
            "llvm.va_copy" | "llvm.va_copy.p0" => {
                let to = self.operand(arguments[0]);
                Some(Op::VaCopy { to, from: self.operand(arguments[1]) })
            }
            // One thread runs, so a thread's variable is the variable. A copy, not an offset: who logs stores cannot tell
            // what such an address belongs to.
            "llvm.threadlocal.address" => Some(Op::Freeze(self.operand(arguments[0]))),
            _ => None,
        }
    }

    fn plain_call(&mut self, callee: Value<'m>, arguments: &[Value<'m>]) -> Op {
        let callee = match symbolic_address(self.cx, callee) {
            Some((RelocationTarget::Function(function), 0)) => Callee::Direct(function),
            Some(_) | None => Callee::Indirect(self.operand(callee)),
        };
        let arguments = arguments.iter().map(|argument| self.argument(*argument)).collect();
        Op::Call { callee, arguments }
    }

    fn argument(&mut self, argument: Value<'m>) -> (Type, Operand) {
        if !is_data(argument) {
            return (Type::Opaque, Operand::Undefined(Type::Opaque));
        }
        let ty = self.ty(argument);
        (ty, self.operand(argument))
    }

    fn assembly(&mut self, call: Value<'m>, arguments: &[Value<'m>]) {
        self.gap(GapKind::InlineAssembly, call.callee().assembly_text());
        let operands = arguments.iter().map(|argument| self.operand(*argument)).collect();
        let ty = self.ty(call);
        self.define(call, Op::Opaque { what: "asm".into(), operands }, ty);
    }
}
