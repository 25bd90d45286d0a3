//! The program reduced to what a walk needs: per block the actions that log or change the frame, and the ending.

use crate::{
    Block, BlockId, Callee, ConditionId, Decided, Function, FunctionId, MemoryOp, Op, Operand, Program,
    Terminator,
};

/// A program prepared for walking.
#[derive(Clone, Debug)]
pub struct Script {
    functions: Vec<Vec<BlockScript>>,
}

/// Something in a block that the walk acts on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    Mark(ConditionId),
    Call(FunctionId),
    CallIndirect,
    CallExternal { returns: bool },
    Setjmp,
    Store,
}

/// An action and the instruction that is it: an index into the block's instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) at: u32,
    pub(super) action: Action,
}

#[derive(Clone, Debug)]
pub(super) struct BlockScript {
    pub(super) actions: Vec<Step>,
    pub(super) n_instrs: u32,
    pub(super) ending: Ending,
}

#[derive(Clone, Debug)]
pub(super) enum Ending {
    Jump(BlockId),
    Decided {
        then: BlockId,
        otherwise: BlockId,
        negated: bool,
    },
    Branch {
        then: BlockId,
        otherwise: BlockId,
    },
    /// The default comes last.
    Switch {
        targets: Vec<BlockId>,
    },
    IndirectJump {
        targets: Vec<BlockId>,
    },
    Return,
    Unreachable,
}

impl Script {
    /// Prepares `program`; with `stores`, runs log the addresses of stores through pointers.
    pub fn new(program: &Program, stores: bool) -> Self {
        let functions = program.functions.iter().map(|function| {
            let block = |block| BlockScript::new(program, function, block, stores);
            function.blocks.iter().map(block).collect()
        });
        Self { functions: functions.collect() }
    }

    pub(super) fn block(&self, function: FunctionId, block: BlockId) -> &BlockScript {
        &self.functions[function.index()][block.index()]
    }

    /// Whether the function has code to walk.
    pub(super) fn defines(&self, function: FunctionId) -> bool {
        self.functions.get(function.index()).is_some_and(|blocks| !blocks.is_empty())
    }
}

impl BlockScript {
    fn new(program: &Program, function: &Function, block: &Block, stores: bool) -> Self {
        let mut actions = Vec::new();
        for (at, &id) in (0..).zip(&block.instrs) {
            let action = match &function.instr(id).op {
                Op::Mark { condition, .. } => Some(Action::Mark(*condition)),
                Op::Call { callee, .. } => call(program, callee),
                Op::Store { address, .. } if stores && through_pointer(function, *address) => {
                    Some(Action::Store)
                }
                Op::Memory { op: MemoryOp::Copy | MemoryOp::Move | MemoryOp::Set, to, .. }
                    if stores && through_pointer(function, *to) =>
                {
                    Some(Action::Store)
                }
                // the rest computes without logging
                Op::Alloca { .. }
                | Op::Load { .. }
                | Op::Store { .. }
                | Op::Binary(..)
                | Op::Compare(..)
                | Op::FloatBinary(..)
                | Op::FloatNegate(_)
                | Op::FloatCompare(..)
                | Op::Cast(..)
                | Op::Address { .. }
                | Op::Select { .. }
                | Op::Phi(_)
                | Op::Extract { .. }
                | Op::Insert { .. }
                | Op::Memory { .. }
                | Op::Freeze(_)
                | Op::VaStart(_)
                | Op::VaCopy { .. }
                | Op::VaEnd(_)
                | Op::Opaque { .. } => None,
            };
            actions.extend(action.map(|action| Step { at, action }));
        }
        let n_instrs = u32::try_from(block.instrs.len()).expect("fewer than 2^32 instructions");
        Self { actions, n_instrs, ending: ending(&block.terminator) }
    }
}

fn call(program: &Program, callee: &Callee) -> Option<Action> {
    match callee {
        Callee::Indirect(_) => Some(Action::CallIndirect),
        Callee::Direct(id) => {
            let callee = program.function(*id);
            if callee.returns_twice {
                Some(Action::Setjmp)
            } else if callee.is_defined() {
                Some(Action::Call(*id))
            } else if callee.name.starts_with("llvm.") {
                None
            } else {
                Some(Action::CallExternal { returns: !callee.no_return })
            }
        }
    }
}

/// Whether a store's address is neither a variable's own nor at a fixed place in one.
fn through_pointer(function: &Function, address: Operand) -> bool {
    match address {
        Operand::Result(id) => {
            let op = &function.instr(id).op;
            if let Op::Address { base, indices, .. } = op
                && indices.is_empty()
            {
                return through_pointer(function, *base);
            }
            !matches!(op, Op::Alloca { .. })
        }
        Operand::Global { .. } => false,
        Operand::Parameter(_)
        | Operand::Int { .. }
        | Operand::Float { .. }
        | Operand::Null
        | Operand::Function(_)
        | Operand::Undefined(_) => true,
    }
}

fn ending(terminator: &Terminator) -> Ending {
    match terminator {
        Terminator::Jump(to) => Ending::Jump(*to),
        Terminator::Branch { then, otherwise, decided: Some(Decided { negated, .. }), .. } => {
            Ending::Decided { then: *then, otherwise: *otherwise, negated: *negated }
        }
        Terminator::Branch { then, otherwise, decided: None, .. } => {
            Ending::Branch { then: *then, otherwise: *otherwise }
        }
        Terminator::Switch { .. } => Ending::Switch { targets: terminator.successors() },
        Terminator::IndirectJump { targets, .. } => Ending::IndirectJump { targets: targets.clone() },
        Terminator::Return(_) => Ending::Return,
        Terminator::Unreachable => Ending::Unreachable,
    }
}
