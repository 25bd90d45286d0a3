//! Which locals are promoted: variables of the state, not of memory; and which results outlive their block?

use std::collections::{BTreeMap, BTreeSet, HashMap};

use model::{Function, InstrId, Op, Operand, Program, Type};

/// What is known of a function before it is executed.
pub(crate) struct Locals {
    /// Results of `alloca` whose address is used for loads and stores of one type alone, with that type.
    pub(crate) promoted: BTreeMap<InstrId, Type>,
    /// Results that are used outside of the block that makes them.
    pub(crate) lasting: BTreeSet<InstrId>,
}

impl Locals {
    pub(crate) fn of(program: &Program, function: &Function) -> Self {
        Self { promoted: promoted(program, function), lasting: lasting(function) }
    }
}

fn promoted(program: &Program, function: &Function) -> BTreeMap<InstrId, Type> {
    let mut types: BTreeMap<InstrId, Option<Type>> = BTreeMap::new();
    let mut sizes: HashMap<InstrId, u64> = HashMap::new();
    for (index, instr) in function.instrs.iter().enumerate() {
        if let Op::Alloca { size, count, .. } = &instr.op
            && count.constant() == Some(1)
        {
            types.insert(InstrId::new(index), None);
            sizes.insert(InstrId::new(index), *size);
        }
    }
    let mut other_uses: BTreeSet<InstrId> = BTreeSet::new();
    let mut access = |address: Operand, ty: Type, others: &mut BTreeSet<InstrId>| {
        if let Operand::Result(alloca) = address
            && let Some(known) = types.get_mut(&alloca)
        {
            let fits = bytes(program, ty).is_some_and(|bytes| bytes <= sizes[&alloca]);
            if !fits || known.is_some_and(|known| known != ty) {
                others.insert(alloca);
            }
            *known = Some(ty);
        }
    };
    for instr in &function.instrs {
        match &instr.op {
            Op::Load { address, .. } => access(*address, instr.ty, &mut other_uses),
            Op::Store { address, value, value_type } => {
                access(*address, *value_type, &mut other_uses);
                other_uses.extend(result(*value));
            }
            op => other_uses.extend(op.operands().into_iter().filter_map(result)),
        }
    }
    let terminators = function.blocks.iter().filter_map(|block| block.terminator.operand());
    other_uses.extend(terminators.filter_map(result));
    let kept = types.into_iter().filter(|(alloca, _)| !other_uses.contains(alloca));
    kept.filter_map(|(alloca, ty)| Some((alloca, ty?))).collect()
}

/// Bytes that hold a scalar; none for other types.
pub(crate) fn bytes(program: &Program, ty: Type) -> Option<u64> {
    match ty {
        Type::Int(bits) => Some(u64::from(bits.div_ceil(8))),
        Type::Ptr => Some(u64::from(program.pointer_bits / 8)),
        Type::Float(kind) => Some(kind.bytes()),
        Type::Void | Type::Record(_) | Type::Opaque => None,
    }
}

fn result(operand: Operand) -> Option<InstrId> {
    if let Operand::Result(id) = operand { Some(id) } else { None }
}

fn lasting(function: &Function) -> BTreeSet<InstrId> {
    let mut home = HashMap::new();
    for (id, block) in function.blocks() {
        home.extend(block.instrs.iter().map(|instr| (*instr, id)));
    }
    let mut lasting = BTreeSet::new();
    for (id, block) in function.blocks() {
        for instr in &block.instrs {
            let op = &function.instr(*instr).op;
            // a choice by the block that control comes from reads at the end of that block
            let is_phi = matches!(op, Op::Phi(_));
            let outside = |used: &InstrId| is_phi || home.get(used) != Some(&id);
            lasting.extend(op.operands().into_iter().filter_map(result).filter(outside));
        }
        lasting
            .extend(block.terminator.operand().and_then(result).filter(|used| home.get(used) != Some(&id)));
    }
    lasting
}
