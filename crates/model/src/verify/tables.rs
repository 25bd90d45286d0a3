//! Rules between the program's tables: globals and relocations, records, decisions and conditions, statements, variables.

use super::Report;
use crate::{
    ConditionId, Decision, DecisionId, Global, GlobalId, LabelValues, Op, RecordId, Storage, SwitchId, Type,
};

pub(super) fn check(report: &mut Report<'_>) {
    let program = report.program;
    for (index, global) in program.globals.iter().enumerate() {
        check_global(report, GlobalId::new(index), global);
    }
    check_records(report);
    for (index, decision) in program.decisions.iter().enumerate() {
        check_decision(report, DecisionId::new(index), decision);
    }
    check_conditions(report);
    check_switches(report);
    check_statements(report);
    check_variables(report);
}

fn check_global(report: &mut Report<'_>, id: GlobalId, global: &Global) {
    if !global.bytes.is_empty() && global.bytes.len() as u64 != global.size {
        report.flag(format!("{id} has {} initial bytes but size {}", global.bytes.len(), global.size));
    }
    if !global.align.is_power_of_two() {
        report.flag(format!("alignment {} of {id} is no power of two", global.align));
    }
    let pointer_bytes = u64::from(report.program.pointer_bits / 8);
    for relocation in &global.relocations {
        if relocation.offset.checked_add(pointer_bytes).is_none_or(|end| end > global.size) {
            report.flag(format!("the relocation at {} of {id} leaves the global", relocation.offset));
        }
    }
}

fn check_records(report: &mut Report<'_>) {
    for (index, record) in report.program.records.iter().enumerate() {
        let id = RecordId::new(index);
        for (number, (offset, ty)) in record.leaves.iter().enumerate() {
            let Some(bytes) = leaf_bytes(*ty, report.program.pointer_bits) else {
                report.flag(format!("leaf {number} of {id} is {ty}, which is no scalar"));
                continue;
            };
            if offset.checked_add(bytes).is_none_or(|end| end > record.size) {
                report.flag(format!("leaf {number} of {id} leaves the record"));
            }
        }
    }
}

fn leaf_bytes(ty: Type, pointer_bits: u32) -> Option<u64> {
    match ty {
        Type::Int(bits) => Some(u64::from(bits.div_ceil(8))),
        Type::Ptr => Some(u64::from(pointer_bits / 8)),
        Type::Float(kind) => Some(kind.bytes()),
        Type::Void | Type::Record(_) | Type::Opaque => None,
    }
}

fn check_decision(report: &mut Report<'_>, id: DecisionId, decision: &Decision) {
    for leaf in decision.shape.conditions() {
        let owner = report.program.condition(leaf).decision;
        if owner != id {
            report.flag(format!("{leaf} is a leaf of {id} but belongs to {owner}"));
        }
    }
}

fn check_conditions(report: &mut Report<'_>) {
    let program = report.program;
    let mut n_leaves = vec![0; program.conditions.len()];
    for decision in &program.decisions {
        for leaf in decision.shape.conditions() {
            n_leaves[leaf.index()] += 1;
        }
    }
    for (index, n_leaves) in n_leaves.into_iter().enumerate() {
        if n_leaves != 1 {
            let decision = program.conditions[index].decision;
            report.flag(format!("{} is {n_leaves} leaves of {decision}, not one", ConditionId::new(index)));
        }
    }
}

fn check_switches(report: &mut Report<'_>) {
    for (index, switch) in report.program.switches.iter().enumerate() {
        let id = SwitchId::new(index);
        let is_default = |values: LabelValues| matches!(values, LabelValues::Default);
        if switch.labels.iter().filter(|label| is_default(label.values)).count() > 1 {
            report.flag(format!("{id} has more than one default"));
        }
    }
}

fn check_statements(report: &mut Report<'_>) {
    for statement in &report.program.statements {
        let Some((block, position)) = statement.code else { continue };
        let function = report.program.function(statement.function);
        // The position after the last instruction is the terminator's.
        let exists = function.blocks.get(block.index());
        if exists.is_none_or(|block| position as usize > block.instrs.len()) {
            report.flag(format!(
                "a statement begins at {} {block} {position}: no such code",
                statement.function
            ));
        }
    }
}

fn check_variables(report: &mut Report<'_>) {
    for variable in &report.program.variables {
        let Storage::Stack(function, instr) = variable.storage else { continue };
        if !matches!(report.program.function(function).instr(instr).op, Op::Alloca { .. }) {
            report
                .flag(format!("variable {} lives in {function} {instr}, which is no alloca", variable.name));
        }
    }
}
