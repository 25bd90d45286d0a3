//! Every id refers to something that exists, so that later checks may index freely.

use super::Verifier;
use crate::{
    BlockId, Callee, Function, InstrId, Op, Operand, RelocationTarget, SpanId, Storage, Terminator, Type,
};

pub(super) fn check_tables(verifier: &mut Verifier<'_>) {
    let program = verifier.program;
    if !matches!(program.pointer_bits, 32 | 64) {
        verifier.flag(format!("pointers have {} bits, not 32 or 64", program.pointer_bits));
    }
    for span in &program.spans {
        for position in [Some(span.at), span.spelled].into_iter().flatten() {
            verifier.in_range(position.file, position.file.index(), program.files.len());
        }
    }
    for ty in program.records.iter().flat_map(|record| &record.leaves).map(|(_, ty)| *ty) {
        of_type(verifier, ty);
    }
    for relocation in program.globals.iter().flat_map(|global| &global.relocations) {
        match relocation.target {
            RelocationTarget::Global(id) => verifier.in_range(id, id.index(), program.globals.len()),
            RelocationTarget::Function(id) => verifier.in_range(id, id.index(), program.functions.len()),
        }
    }
    if let Some(root) = program.root {
        verifier.in_range(root, root.index(), program.functions.len());
    }
    check_source_constructs(verifier);
}

fn check_source_constructs(verifier: &mut Verifier<'_>) {
    let program = verifier.program;
    let n_functions = program.functions.len();
    for decision in &program.decisions {
        verifier.in_range(decision.function, decision.function.index(), n_functions);
        span(verifier, Some(decision.span));
        for condition in decision.shape.conditions() {
            verifier.in_range(condition, condition.index(), program.conditions.len());
        }
    }
    for condition in &program.conditions {
        verifier.in_range(condition.decision, condition.decision.index(), program.decisions.len());
        span(verifier, Some(condition.span));
    }
    for switch in &program.switches {
        verifier.in_range(switch.function, switch.function.index(), n_functions);
        span(verifier, Some(switch.span));
        for label in &switch.labels {
            span(verifier, Some(label.span));
        }
    }
    for statement in &program.statements {
        verifier.in_range(statement.function, statement.function.index(), n_functions);
        span(verifier, Some(statement.span));
    }
    for variable in &program.variables {
        span(verifier, Some(variable.span));
        match variable.storage {
            Storage::Stack(function, instr) => {
                verifier.in_range(function, function.index(), n_functions);
                if let Some(function) = program.functions.get(function.index()) {
                    verifier.in_range(instr, instr.index(), function.instrs.len());
                }
            }
            Storage::Global(global) => verifier.in_range(global, global.index(), program.globals.len()),
        }
    }
    for gap in program.gaps.iter().chain(&program.sites) {
        span(verifier, gap.span);
        if let Some(function) = gap.function {
            verifier.in_range(function, function.index(), n_functions);
        }
    }
}

fn span(verifier: &mut Verifier<'_>, span: Option<SpanId>) {
    if let Some(id) = span {
        verifier.in_range(id, id.index(), verifier.program.spans.len());
    }
}

fn of_type(verifier: &mut Verifier<'_>, ty: Type) {
    match ty {
        Type::Record(id) => verifier.in_range(id, id.index(), verifier.program.records.len()),
        Type::Int(bits) if !(1..=128).contains(&bits) => verifier.flag(format!("no integer has {bits} bits")),
        Type::Int(_) | Type::Void | Type::Ptr | Type::Float(_) | Type::Opaque => {}
    }
}

pub(super) fn check_function(verifier: &mut Verifier<'_>, function: &Function) {
    span(verifier, function.span);
    for ty in function.parameters.iter().chain([&function.result]) {
        of_type(verifier, *ty);
    }
    for (index, instr) in function.instrs.iter().enumerate() {
        verifier.instr = Some(InstrId::new(index));
        span(verifier, instr.span);
        of_type(verifier, instr.ty);
        of_op(verifier, function, &instr.op);
    }
    verifier.instr = None;
    for (id, block) in function.blocks() {
        verifier.block = Some(id);
        span(verifier, block.span);
        for instr in &block.instrs {
            verifier.in_range(instr, instr.index(), function.instrs.len());
        }
        of_terminator(verifier, function, &block.terminator);
    }
    verifier.block = None;
}

fn of_op(verifier: &mut Verifier<'_>, function: &Function, op: &Op) {
    for operand in op.operands() {
        of_operand(verifier, function, operand);
    }
    match op {
        Op::Store { value_type: ty, .. } | Op::Compare(_, ty, ..) | Op::Cast(_, ty, _) => {
            of_type(verifier, *ty)
        }
        Op::Address { indices, .. } => {
            for (ty, _, _) in indices {
                of_type(verifier, *ty);
            }
        }
        Op::Phi(incoming) => {
            for (block, _) in incoming {
                target(verifier, function, *block);
            }
        }
        Op::Call { callee, arguments } => {
            for (ty, _) in arguments {
                of_type(verifier, *ty);
            }
            if let Callee::Direct(id) = callee {
                verifier.in_range(id, id.index(), verifier.program.functions.len());
            }
        }
        Op::Mark { condition, .. } => {
            verifier.in_range(condition, condition.index(), verifier.program.conditions.len());
        }
        Op::Extract { record_type, .. } => of_type(verifier, Type::Record(*record_type)),
        Op::Insert { value_type, .. } => of_type(verifier, *value_type),
        Op::Alloca { .. }
        | Op::Load { .. }
        | Op::Binary(..)
        | Op::FloatBinary(..)
        | Op::FloatNegate(_)
        | Op::FloatCompare(..)
        | Op::Select { .. }
        | Op::Memory { .. }
        | Op::Freeze(_)
        | Op::VaStart(_)
        | Op::VaCopy { .. }
        | Op::VaEnd(_)
        | Op::Opaque { .. } => {}
    }
}

fn of_operand(verifier: &mut Verifier<'_>, function: &Function, operand: Operand) {
    match operand {
        Operand::Result(id) => verifier.in_range(id, id.index(), function.instrs.len()),
        Operand::Parameter(number) => {
            verifier.in_range(format!("p{number}"), number as usize, function.parameters.len());
        }
        Operand::Int { bits, value } => {
            of_type(verifier, Type::Int(bits));
            if bits < 128 && value >> bits != 0 {
                verifier.flag(format!("{value:#x} does not fit i{bits}"));
            }
        }
        Operand::Global { global, .. } => {
            verifier.in_range(global, global.index(), verifier.program.globals.len())
        }
        Operand::Function(id) => verifier.in_range(id, id.index(), verifier.program.functions.len()),
        Operand::Undefined(ty) => of_type(verifier, ty),
        Operand::Float { .. } | Operand::Null => {}
    }
}

fn target(verifier: &mut Verifier<'_>, function: &Function, block: BlockId) {
    verifier.in_range(block, block.index(), function.blocks.len());
}

fn of_terminator(verifier: &mut Verifier<'_>, function: &Function, terminator: &Terminator) {
    let program = verifier.program;
    for block in terminator.successors() {
        target(verifier, function, block);
    }
    if let Some(operand) = terminator.operand() {
        of_operand(verifier, function, operand);
    }
    match terminator {
        Terminator::Branch { decided, range, .. } => {
            if let Some(decided) = decided {
                verifier.in_range(decided.condition, decided.condition.index(), program.conditions.len());
            }
            if let Some(range) = range {
                verifier.in_range(range.switch, range.switch.index(), program.switches.len());
                if let Some(switch) = program.switches.get(range.switch.index())
                    && range.label as usize >= switch.labels.len()
                {
                    verifier.flag(format!("{} has no label {}", range.switch, range.label));
                }
            }
        }
        Terminator::Switch { bits, source, .. } => {
            of_type(verifier, Type::Int(*bits));
            if let Some(source) = source {
                verifier.in_range(source, source.index(), program.switches.len());
            }
        }
        Terminator::Jump(_)
        | Terminator::IndirectJump { .. }
        | Terminator::Return(_)
        | Terminator::Unreachable => {}
    }
}
