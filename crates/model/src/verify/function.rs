//! Rules within one function whose ids are valid: placement, phis, dominance, marks, switches.

use std::collections::{BTreeMap, BTreeSet};

use super::dominance::Dominance;
use super::{Verifier, types};
use crate::{Block, BlockId, ConditionId, Decided, Function, InstrId, Op, Operand, SwitchCase, Terminator};

/// Where each instruction stands: its block and position there.
type Places = Vec<Option<(BlockId, usize)>>;

pub(super) fn check(verifier: &mut Verifier<'_>, function: &Function) {
    let places = places(verifier, function);
    let dominance = Dominance::of(function);
    if let Some(into_entry) = dominance.predecessors.first().and_then(|blocks| blocks.first()) {
        verifier.flag(format!("{into_entry} leads back to the entry"));
    }
    for (id, block) in function.blocks() {
        verifier.block = Some(id);
        let mut past_phis = false;
        for (position, &instr_id) in block.instrs.iter().enumerate() {
            verifier.instr = Some(instr_id);
            let instr = function.instr(instr_id);
            if let Op::Phi(incoming) = &instr.op {
                if past_phis {
                    verifier.flag("a phi follows an instruction that is none");
                }
                phi(verifier, incoming, &dominance, id, &places);
            } else {
                past_phis = true;
                for operand in instr.op.operands() {
                    use_of(verifier, operand, (id, position), &dominance, &places);
                }
            }
            types::check_instr(verifier, function, instr);
            mark(verifier, &instr.op);
        }
        verifier.instr = None;
        if let Some(operand) = block.terminator.operand() {
            use_of(verifier, operand, (id, block.instrs.len()), &dominance, &places);
        }
        types::check_terminator(verifier, function, &block.terminator);
        terminator(verifier, function, block);
    }
    verifier.block = None;
}

fn places(verifier: &mut Verifier<'_>, function: &Function) -> Places {
    let mut places = vec![None; function.instrs.len()];
    for (id, block) in function.blocks() {
        for (position, instr) in block.instrs.iter().enumerate() {
            if places[instr.index()].replace((id, position)).is_some() {
                verifier.flag(format!("{instr} stands in more than one place"));
            }
        }
    }
    places
}

fn phi(
    verifier: &mut Verifier<'_>,
    incoming: &[(BlockId, Operand)],
    dominance: &Dominance,
    block: BlockId,
    places: &Places,
) {
    let mut entries: BTreeMap<BlockId, Vec<Operand>> = BTreeMap::new();
    for (from, value) in incoming {
        entries.entry(*from).or_default().push(*value);
        // The value must be there when control leaves the predecessor.
        use_of(verifier, *value, (*from, usize::MAX), dominance, places);
    }
    let predecessors = &dominance.predecessors[block.index()];
    for predecessor in predecessors.iter().collect::<BTreeSet<_>>() {
        if !entries.contains_key(predecessor) {
            verifier.flag(format!("the phi has no value for predecessor {predecessor}"));
        }
    }
    for (from, values) in &entries {
        let n_edges = predecessors.iter().filter(|predecessor| *predecessor == from).count();
        if n_edges == 0 {
            verifier.flag(format!("the phi has a value for {from}, which is no predecessor"));
        } else if values.len() > n_edges {
            verifier.flag(format!("the phi has more values for {from} than there are edges"));
        }
        if values.iter().any(|value| *value != values[0]) {
            verifier.flag(format!("the phi has different values for {from}"));
        }
    }
}

fn use_of(
    verifier: &mut Verifier<'_>,
    operand: Operand,
    (block, position): (BlockId, usize),
    dominance: &Dominance,
    places: &Places,
) {
    let Operand::Result(used) = operand else { return };
    let defined = match places[used.index()] {
        None => false,
        Some(_) if !dominance.reachable(block) => true,
        Some((home, at)) if home == block => at < position,
        Some((home, _)) => dominance.dominates(home, block),
    };
    if !defined {
        verifier.flag(format!("{used} is used where it need not be defined"));
    }
}

fn mark(verifier: &mut Verifier<'_>, op: &Op) {
    let Op::Mark { condition, .. } = op else { return };
    let program = verifier.program;
    let decision_id = program.condition(*condition).decision;
    let decision = program.decision(decision_id);
    if Some(decision.function) != verifier.function {
        verifier.flag(format!("{condition} belongs to {decision_id} of {}", decision.function));
    }
}

fn terminator(verifier: &mut Verifier<'_>, function: &Function, block: &Block) {
    match &block.terminator {
        Terminator::Branch { decided: Some(Decided { condition, .. }), .. } => {
            if !block.instrs.iter().any(|instr| marks(function, *instr, *condition)) {
                verifier.flag(format!("the branch is decided by {condition}, which the block does not mark"));
            }
        }
        Terminator::Switch { bits, cases, .. } => switch_cases(verifier, *bits, cases),
        Terminator::Branch { decided: None, .. }
        | Terminator::Jump(_)
        | Terminator::IndirectJump { .. }
        | Terminator::Return(_)
        | Terminator::Unreachable => {}
    }
}

fn marks(function: &Function, instr: InstrId, wanted: ConditionId) -> bool {
    matches!(function.instr(instr).op, Op::Mark { condition, .. } if condition == wanted)
}

fn switch_cases(verifier: &mut Verifier<'_>, bits: u32, cases: &[SwitchCase]) {
    let mut values = BTreeSet::new();
    for case in cases {
        if bits < 128 && case.value >> bits != 0 {
            verifier.flag(format!("case {:#x} does not fit i{bits}", case.value));
        }
        if !values.insert(case.value) {
            verifier.flag(format!("case {:#x} comes twice", case.value));
        }
    }
}
