//! The program reduced to what a walk needs: per block the actions that log or change the frame, and how it ends.

use super::Watch;
use crate::{
    Block, BlockId, Callee, ConditionId, Decided, Function, FunctionId, InstrId, Op, Program, Terminator,
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
    Address,
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
    /// Prepares `program`, for runs that log the addresses of `watch` if there is one.
    pub fn new(program: &Program, watch: Option<&Watch>) -> Self {
        let functions = program.functions.iter().zip((0..).map(FunctionId)).map(|(function, id)| {
            let block = |(number, block): (usize, &Block)| {
                let globals = watch.filter(|_| number == 0 && program.root == Some(id));
                let n_globals = globals.map_or(0, |watch| watch.globals.len());
                let watched = |instr| watch.map_or(0, |watch| watch.of(id, instr).len());
                BlockScript::new(program, function, block, n_globals, &watched)
            };
            function.blocks.iter().enumerate().map(block).collect()
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
    /// `n_globals` addresses are logged first, and as many for each instruction as `watched` says.
    fn new(
        program: &Program,
        function: &Function,
        block: &Block,
        n_globals: usize,
        watched: &dyn Fn(InstrId) -> usize,
    ) -> Self {
        let mut actions = vec![Step { at: 0, action: Action::Address }; n_globals];
        for (at, &id) in (0..).zip(&block.instrs) {
            // an address is logged before anything is done with it
            actions.extend((0..watched(id)).map(|_| Step { at, action: Action::Address }));
            let action = match &function.instr(id).op {
                Op::Mark { condition, .. } => Some(Action::Mark(*condition)),
                Op::Call { callee, .. } => call(program, callee),
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
