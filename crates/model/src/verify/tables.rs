//! Rules between the program's tables: globals and relocations, records, decisions and conditions, statements, variables.

use super::Verifier;
use crate::{
    ConditionId, Decision, DecisionId, Global, GlobalId, LabelValues, Op, RecordId, Storage, SwitchId, Type,
};

pub(super) fn check(verifier: &mut Verifier<'_>) {
    let program = verifier.program;
    for (index, global) in program.globals.iter().enumerate() {
        check_global(verifier, GlobalId::new(index), global);
    }
    check_records(verifier);
    for (index, decision) in program.decisions.iter().enumerate() {
        check_decision(verifier, DecisionId::new(index), decision);
    }
    check_conditions(verifier);
    check_switches(verifier);
    check_statements(verifier);
    check_variables(verifier);
}

fn check_global(verifier: &mut Verifier<'_>, id: GlobalId, global: &Global) {
    if !global.bytes.is_empty() && global.bytes.len() as u64 != global.size {
        verifier.flag(format!("{id} has {} initial bytes but size {}", global.bytes.len(), global.size));
    }
    if !global.align.is_power_of_two() {
        verifier.flag(format!("alignment {} of {id} is no power of two", global.align));
    }
    let pointer_bytes = u64::from(verifier.program.pointer_bits / 8);
    for relocation in &global.relocations {
        if relocation.offset.checked_add(pointer_bytes).is_none_or(|end| end > global.size) {
            verifier.flag(format!("the relocation at {} of {id} leaves the global", relocation.offset));
        }
    }
}

fn check_records(verifier: &mut Verifier<'_>) {
    for (index, record) in verifier.program.records.iter().enumerate() {
        let id = RecordId::new(index);
        for (number, (offset, ty)) in record.leaves.iter().enumerate() {
            let Some(bytes) = leaf_bytes(*ty, verifier.program.pointer_bits) else {
                verifier.flag(format!("leaf {number} of {id} is {ty}, which is no scalar"));
                continue;
            };
            if offset.checked_add(bytes).is_none_or(|end| end > record.size) {
                verifier.flag(format!("leaf {number} of {id} leaves the record"));
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

fn check_decision(verifier: &mut Verifier<'_>, id: DecisionId, decision: &Decision) {
    for leaf in decision.shape.conditions() {
        let owner = verifier.program.condition(leaf).decision;
        if owner != id {
            verifier.flag(format!("{leaf} is a leaf of {id} but belongs to {owner}"));
        }
    }
}

fn check_conditions(verifier: &mut Verifier<'_>) {
    let program = verifier.program;
    let mut n_leaves = vec![0; program.conditions.len()];
    for decision in &program.decisions {
        for leaf in decision.shape.conditions() {
            n_leaves[leaf.index()] += 1;
        }
    }
    for (index, n_leaves) in n_leaves.into_iter().enumerate() {
        if n_leaves != 1 {
            let decision = program.conditions[index].decision;
            verifier.flag(format!("{} is {n_leaves} leaves of {decision}, not one", ConditionId::new(index)));
        }
    }
}

fn check_switches(verifier: &mut Verifier<'_>) {
    for (index, switch) in verifier.program.switches.iter().enumerate() {
        let id = SwitchId::new(index);
        let is_default = |values: LabelValues| matches!(values, LabelValues::Default);
        if switch.labels.iter().filter(|label| is_default(label.values)).count() > 1 {
            verifier.flag(format!("{id} has more than one default"));
        }
    }
}

fn check_statements(verifier: &mut Verifier<'_>) {
    for statement in &verifier.program.statements {
        let Some((block, position)) = statement.code else { continue };
        let function = verifier.program.function(statement.function);
        // The position after the last instruction is the terminator's.
        let exists = function.blocks.get(block.index());
        if exists.is_none_or(|block| position as usize > block.instrs.len()) {
            verifier.flag(format!(
                "a statement begins at {} {block} {position}: no such code",
                statement.function
            ));
        }
    }
}

fn check_variables(verifier: &mut Verifier<'_>) {
    for variable in &verifier.program.variables {
        let Storage::Stack(function, instr) = variable.storage else { continue };
        if !matches!(verifier.program.function(function).instr(instr).op, Op::Alloca { .. }) {
            verifier
                .flag(format!("variable {} lives in {function} {instr}, which is no alloca", variable.name));
        }
    }
}
