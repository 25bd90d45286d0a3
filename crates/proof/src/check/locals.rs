//! Which locals of a function are promoted to values of the state, and which have certainly been stored to?

use std::collections::{BTreeMap, BTreeSet};

use model::{BlockId, Function, InstrId, Op, Operand, Type};

/// The locals of one function.
pub(crate) struct Locals {
    /// Promoted locals with the type of their loads and stores.
    pub(crate) promoted: BTreeMap<InstrId, Type>,
    /// By block: the promoted locals that were stored to, and the other locals whose `alloca` was executed, on every way
    /// to the start of the block.
    settled: Vec<BTreeSet<InstrId>>,
}

impl Locals {
    pub(crate) fn of(function: &Function, pointer_bits: u32) -> Self {
        let promoted = promoted(function, pointer_bits);
        let settled = settled(function, &promoted);
        Self { promoted, settled }
    }

    /// What is settled before the instruction at this position of the block.
    pub(crate) fn settled_at(
        &self,
        function: &Function,
        block: BlockId,
        position: usize,
    ) -> BTreeSet<InstrId> {
        let mut known = self.settled[block.index()].clone();
        for id in &function.block(block).instrs[..position] {
            step(function, &self.promoted, *id, &mut known);
        }
        known
    }
}

/// A local is promoted when its `alloca` of one element is used only as the address of loads and stores of one scalar
/// type that fits.
fn promoted(function: &Function, pointer_bits: u32) -> BTreeMap<InstrId, Type> {
    let mut types: BTreeMap<InstrId, Type> = BTreeMap::new();
    let mut refused = BTreeSet::new();
    for instr in &function.instrs {
        let access = match &instr.op {
            Op::Load { address: Operand::Result(local), .. } => Some((*local, instr.ty)),
            Op::Store { address: Operand::Result(local), value_type, .. } => Some((*local, *value_type)),
            _ => None,
        };
        if let Some((local, ty)) = access
            && *types.entry(local).or_insert(ty) != ty
        {
            refused.insert(local);
        }
        // the operands other than the address of an access
        let others = match &instr.op {
            Op::Load { .. } => Vec::new(),
            Op::Store { value, .. } => vec![*value],
            op => op.operands(),
        };
        refused.extend(others.into_iter().filter_map(result));
    }
    refused.extend(function.blocks.iter().filter_map(|block| block.terminator.operand()).filter_map(result));
    types.retain(|local, ty| {
        let Op::Alloca { size, count, .. } = &function.instr(*local).op else { return false };
        let fits = scalar_bits(*ty, pointer_bits).is_some_and(|bits| u64::from(bits.div_ceil(8)) <= *size);
        fits && count.constant() == Some(1) && !refused.contains(local)
    });
    types
}

fn result(operand: Operand) -> Option<InstrId> {
    if let Operand::Result(id) = operand { Some(id) } else { None }
}

/// Width of a scalar in bits.
pub(crate) fn scalar_bits(ty: Type, pointer_bits: u32) -> Option<u32> {
    match ty {
        Type::Int(bits) => Some(bits),
        Type::Ptr => Some(pointer_bits),
        Type::Float(kind) => Some(kind.bits()),
        Type::Void | Type::Record(_) | Type::Opaque => None,
    }
}

fn step(function: &Function, promoted: &BTreeMap<InstrId, Type>, id: InstrId, known: &mut BTreeSet<InstrId>) {
    match function.instr(id).op {
        Op::Alloca { .. } if promoted.contains_key(&id) => {
            known.remove(&id);
        }
        Op::Alloca { .. } => {
            known.insert(id);
        }
        Op::Store { address: Operand::Result(local), .. } if promoted.contains_key(&local) => {
            known.insert(local);
        }
        _ => {}
    }
}

/// Forwards from the entry until nothing changes; where ways join, what all of them settled.
fn settled(function: &Function, promoted: &BTreeMap<InstrId, Type>) -> Vec<BTreeSet<InstrId>> {
    let mut before: Vec<Option<BTreeSet<InstrId>>> = vec![None; function.blocks.len()];
    if let Some(entry) = before.first_mut() {
        *entry = Some(BTreeSet::new());
    }
    let mut open: BTreeSet<BlockId> = BTreeSet::from([BlockId(0)]);
    while let Some(id) = open.pop_first() {
        let Some(block) = function.blocks.get(id.index()) else { continue };
        let mut known = before[id.index()].clone().unwrap_or_default();
        for instr in &block.instrs {
            step(function, promoted, *instr, &mut known);
        }
        for next in block.terminator.successors() {
            let old = &mut before[next.index()];
            let new = match &*old {
                Some(old) => old.intersection(&known).copied().collect(),
                None => known.clone(),
            };
            if old.as_ref() != Some(&new) {
                *old = Some(new);
                open.insert(next);
            }
        }
    }
    before.into_iter().map(Option::unwrap_or_default).collect()
}
