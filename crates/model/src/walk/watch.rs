//! Which addresses does a run log on request?

use std::collections::BTreeMap;

use crate::{FunctionId, GlobalId, InstrId};

/// The addresses that are watched. Code that runs has a hook for each, whoever asks; the log has them only when asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Watch {
    /// Where these lie is logged when the root is entered, in this order.
    pub globals: Vec<GlobalId>,
    /// By instruction, in the order of the log.
    pub instrs: BTreeMap<(FunctionId, InstrId), Vec<Watched>>,
}

/// What of an instruction is watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Watched {
    /// The memory that an `alloca` made.
    Variable,
    /// Where a load, or a copy of memory, reads.
    From,
    /// Where a store, or a copy of memory, writes.
    To,
    /// The pointer that is this argument of a call; how far the callee goes is not known.
    Argument(u32),
    /// The same of a structure passed by value: so many bytes are read.
    Copied(u32, u64),
}

impl Watch {
    /// What is watched of an instruction.
    pub fn of(&self, function: FunctionId, instr: InstrId) -> &[Watched] {
        self.instrs.get(&(function, instr)).map_or(&[], Vec::as_slice)
    }
}
