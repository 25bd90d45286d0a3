//! Every id names something that exists, so that later checks may index freely.

use super::Report;
use crate::{
    BlockId, Callee, Function, InstrId, Op, Operand, RelocationTarget, SpanId, Storage, Terminator, Type,
};

pub(super) fn check_tables(report: &mut Report<'_>) {
    let program = report.program;
    if !matches!(program.pointer_bits, 32 | 64) {
        report.flag(format!("pointers have {} bits, not 32 or 64", program.pointer_bits));
    }
    for span in &program.spans {
        for position in [Some(span.at), span.spelled].into_iter().flatten() {
            report.in_range(position.file, position.file.index(), program.files.len());
        }
    }
    for ty in program.records.iter().flat_map(|record| &record.leaves).map(|(_, ty)| *ty) {
        of_type(report, ty);
    }
    for relocation in program.globals.iter().flat_map(|global| &global.relocations) {
        match relocation.target {
            RelocationTarget::Global(id) => report.in_range(id, id.index(), program.globals.len()),
            RelocationTarget::Function(id) => report.in_range(id, id.index(), program.functions.len()),
        }
    }
    if let Some(root) = program.root {
        report.in_range(root, root.index(), program.functions.len());
    }
    check_source_constructs(report);
}

fn check_source_constructs(report: &mut Report<'_>) {
    let program = report.program;
    let n_functions = program.functions.len();
    for decision in &program.decisions {
        report.in_range(decision.function, decision.function.index(), n_functions);
        span(report, Some(decision.span));
        for condition in decision.shape.conditions() {
            report.in_range(condition, condition.index(), program.conditions.len());
        }
    }
    for condition in &program.conditions {
        report.in_range(condition.decision, condition.decision.index(), program.decisions.len());
        span(report, Some(condition.span));
    }
    for switch in &program.switches {
        report.in_range(switch.function, switch.function.index(), n_functions);
        span(report, Some(switch.span));
        for label in &switch.labels {
            span(report, Some(label.span));
        }
    }
    for statement in &program.statements {
        report.in_range(statement.function, statement.function.index(), n_functions);
        span(report, Some(statement.span));
    }
    for variable in &program.variables {
        span(report, Some(variable.span));
        match variable.storage {
            Storage::Stack(function, instr) => {
                report.in_range(function, function.index(), n_functions);
                if let Some(function) = program.functions.get(function.index()) {
                    report.in_range(instr, instr.index(), function.instrs.len());
                }
            }
            Storage::Global(global) => report.in_range(global, global.index(), program.globals.len()),
        }
    }
    for gap in &program.gaps {
        span(report, gap.span);
        if let Some(function) = gap.function {
            report.in_range(function, function.index(), n_functions);
        }
    }
}

fn span(report: &mut Report<'_>, span: Option<SpanId>) {
    if let Some(id) = span {
        report.in_range(id, id.index(), report.program.spans.len());
    }
}

fn of_type(report: &mut Report<'_>, ty: Type) {
    match ty {
        Type::Record(id) => report.in_range(id, id.index(), report.program.records.len()),
        Type::Int(bits) if !(1..=128).contains(&bits) => report.flag(format!("no integer has {bits} bits")),
        Type::Int(_) | Type::Void | Type::Ptr | Type::Float(_) | Type::Opaque => {}
    }
}

pub(super) fn check_function(report: &mut Report<'_>, function: &Function) {
    span(report, function.span);
    for ty in function.parameters.iter().chain([&function.result]) {
        of_type(report, *ty);
    }
    for (index, instr) in function.instrs.iter().enumerate() {
        report.instr = Some(InstrId::new(index));
        span(report, instr.span);
        of_type(report, instr.ty);
        of_op(report, function, &instr.op);
    }
    report.instr = None;
    for (id, block) in function.blocks() {
        report.block = Some(id);
        span(report, block.span);
        for instr in &block.instrs {
            report.in_range(instr, instr.index(), function.instrs.len());
        }
        of_terminator(report, function, &block.terminator);
    }
    report.block = None;
}

fn of_op(report: &mut Report<'_>, function: &Function, op: &Op) {
    for operand in op.operands() {
        of_operand(report, function, operand);
    }
    match op {
        Op::Store { value_type: ty, .. } | Op::Compare(_, ty, ..) | Op::Cast(_, ty, _) => {
            of_type(report, *ty)
        }
        Op::Address { indices, .. } => {
            for (ty, _, _) in indices {
                of_type(report, *ty);
            }
        }
        Op::Phi(incoming) => {
            for (block, _) in incoming {
                target(report, function, *block);
            }
        }
        Op::Call { callee, arguments } => {
            for (ty, _) in arguments {
                of_type(report, *ty);
            }
            if let Callee::Direct(id) = callee {
                report.in_range(id, id.index(), report.program.functions.len());
            }
        }
        Op::Mark { condition, .. } => {
            report.in_range(condition, condition.index(), report.program.conditions.len());
        }
        Op::Extract { record_type, .. } => of_type(report, Type::Record(*record_type)),
        Op::Insert { value_type, .. } => of_type(report, *value_type),
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

fn of_operand(report: &mut Report<'_>, function: &Function, operand: Operand) {
    match operand {
        Operand::Result(id) => report.in_range(id, id.index(), function.instrs.len()),
        Operand::Parameter(number) => {
            report.in_range(format!("p{number}"), number as usize, function.parameters.len());
        }
        Operand::Int { bits, value } => {
            of_type(report, Type::Int(bits));
            if bits < 128 && value >> bits != 0 {
                report.flag(format!("{value:#x} does not fit i{bits}"));
            }
        }
        Operand::Global { global, .. } => {
            report.in_range(global, global.index(), report.program.globals.len())
        }
        Operand::Function(id) => report.in_range(id, id.index(), report.program.functions.len()),
        Operand::Undefined(ty) => of_type(report, ty),
        Operand::Float { .. } | Operand::Null => {}
    }
}

fn target(report: &mut Report<'_>, function: &Function, block: BlockId) {
    report.in_range(block, block.index(), function.blocks.len());
}

fn of_terminator(report: &mut Report<'_>, function: &Function, terminator: &Terminator) {
    let program = report.program;
    for block in terminator.successors() {
        target(report, function, block);
    }
    if let Some(operand) = terminator.operand() {
        of_operand(report, function, operand);
    }
    match terminator {
        Terminator::Branch { decided, range, .. } => {
            if let Some(decided) = decided {
                report.in_range(decided.condition, decided.condition.index(), program.conditions.len());
            }
            if let Some(range) = range {
                report.in_range(range.switch, range.switch.index(), program.switches.len());
                if let Some(switch) = program.switches.get(range.switch.index())
                    && range.label as usize >= switch.labels.len()
                {
                    report.flag(format!("{} has no label {}", range.switch, range.label));
                }
            }
        }
        Terminator::Switch { bits, source, .. } => {
            of_type(report, Type::Int(*bits));
            if let Some(source) = source {
                report.in_range(source, source.index(), program.switches.len());
            }
        }
        Terminator::Jump(_)
        | Terminator::IndirectJump { .. }
        | Terminator::Return(_)
        | Terminator::Unreachable => {}
    }
}
