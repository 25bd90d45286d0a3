//! Which results are part of a condition? A use whose value is one is a p-use.
//!
//! Method: backwards from conditions, branches and switches through everything that computes, including addresses of loads
//! (`if (a[i] > 0)` also depends on `i`), but not through calls: the call itself uses its arguments.

use model::{Function, InstrId, Op, Operand};

/// By instruction: whether its result takes part in a condition.
pub(super) fn predicates(function: &Function) -> Vec<bool> {
    let mut takes_part = vec![false; function.instrs.len()];
    let mut open: Vec<InstrId> = Vec::new();
    let mut add = |operand: Operand, open: &mut Vec<InstrId>| {
        if let Operand::Result(id) = operand
            && !std::mem::replace(&mut takes_part[id.index()], true)
        {
            open.push(id);
        }
    };
    for block in &function.blocks {
        for id in &block.instrs {
            if let Op::Mark { value, .. } = &function.instr(*id).op {
                add(*value, &mut open);
            }
        }
        match &block.terminator {
            model::Terminator::Branch { condition: value, .. }
            | model::Terminator::Switch { value, .. }
            | model::Terminator::IndirectJump { address: value, .. } => add(*value, &mut open),
            model::Terminator::Jump(_) | model::Terminator::Return(_) | model::Terminator::Unreachable => {}
        }
    }
    while let Some(id) = open.pop() {
        match &function.instr(id).op {
            Op::Call { .. } | Op::Alloca { .. } => {}
            op => op.operands().into_iter().for_each(|operand| add(operand, &mut open)),
        }
    }
    takes_part
}
