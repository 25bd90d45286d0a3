//! Places in the code, finer than blocks.

use std::fmt;

use model::{BlockId, Function, FunctionId, Op, Program, SpanId};

/// One instruction: `instrs[at]` of a block, or the block's terminator when `at` is the number of its instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    pub function: FunctionId,
    pub block: BlockId,
    pub at: u32,
}

impl Place {
    /// Where a function begins.
    pub fn entry(function: FunctionId) -> Self {
        Self { function, block: BlockId(0), at: 0 }
    }

    /// The instruction there; `None` at a terminator.
    pub fn op(self, program: &Program) -> Option<&Op> {
        let function: &Function = program.function(self.function);
        let id = function.block(self.block).instrs.get(self.at as usize)?;
        Some(&function.instr(*id).op)
    }

    /// Where in the source it is: the instruction's own position, or that of the next in its block that has one.
    pub fn span(self, program: &Program) -> Option<SpanId> {
        let function = program.function(self.function);
        let block = function.block(self.block);
        let instrs = block.instrs.iter().skip(self.at as usize);
        instrs.map(|id| function.instr(*id)).find_map(|instr| instr.span).or(block.span)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.function, self.block, self.at)
    }
}
