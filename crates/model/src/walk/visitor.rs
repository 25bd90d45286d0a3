//! The input of a walk and what it reports.

use std::fmt;

use crate::{BlockId, ConditionId, FunctionId};

/// One logged fact, in program order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry<P> {
    /// A marked condition, or a branch no mark decides.
    Outcome { taken: bool, payload: P },
    /// A switch took this case of its list; the number of cases stands for default.
    Switch { case: u64, payload: P },
    /// An indirect call went to this function, or to uninstrumented code.
    Callee { function: Option<FunctionId> },
    /// Uninstrumented code entered this function.
    Callback { function: FunctionId },
    /// `setjmp` came back in this activation.
    Setjmp { activation: u64 },
    /// An address that is watched, and how many bytes there it is about; 0 when nobody knows.
    Address { address: u64, size: u64 },
    /// A computed goto took this successor.
    Jump { successor: u64 },
}

/// Where an outcome was decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Site {
    /// A condition of the source.
    Condition(ConditionId),
    /// A branch of the code that no condition decides.
    Branch(FunctionId, BlockId),
    /// A switch of the code.
    Switch(FunctionId, BlockId),
}

/// A call in the function that makes it: `function.block(block).instrs[at]` is the `Op::Call`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Call {
    pub function: FunctionId,
    pub block: BlockId,
    pub at: u32,
}

/// The way an outcome went, or could go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Choice {
    /// The outcome of a condition or branch.
    Outcome(bool),
    /// The case of a switch with this index in its list.
    Case(u32),
    /// No case of the switch.
    Default,
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Outcome(taken) => write!(f, "{taken}"),
            Self::Case(case) => write!(f, "case {case}"),
            Self::Default => f.write_str("default"),
        }
    }
}

/// What a walk tells.
///
/// A block is executed to its end when the next event of its activation is another block, or when the activation is left
/// without being told abandoned. Every activation is left, also those that the end of the run finds open.
pub trait Visitor<P> {
    /// A function was entered by this call; by none when it is the root or uninstrumented code called it.
    fn enter(&mut self, _function: FunctionId, _call: Option<Call>) {}
    /// The innermost function waits in this call, or at this instruction, while uninstrumented code enters another function.
    fn wait(&mut self, _call: Call) {}
    /// The innermost function returned, was left by `longjmp`, or was there when the run ended.
    fn leave(&mut self) {}
    /// A block of the innermost function was entered.
    fn block(&mut self, _function: FunctionId, _block: BlockId) {}
    /// The innermost function is in this block and does not execute the rest of it: `longjmp` went elsewhere, or the run
    /// ended. Instructions up to and including `instrs[at]` were begun (`at` is the number of instructions when the
    /// terminator was). In a function that waits, that is the call; where a run was cut off, the last instruction the log
    /// proves, 0 if it proves but the entry of the block. `leave` or `resume` follows immediately.
    fn abandon(&mut self, _function: FunctionId, _block: BlockId, _at: u32) {}
    /// `longjmp` came back to the innermost function, behind the `setjmp` that is `instrs[at]` of this block.
    fn resume(&mut self, _function: FunctionId, _block: BlockId, _at: u32) {}
    /// A condition or branch had this outcome.
    fn outcome(&mut self, _site: Site, _taken: bool, _payload: P) {}
    /// The switch that ends this block took this case.
    fn switch(&mut self, _function: FunctionId, _block: BlockId, _case: usize, _payload: P) {}
    /// The instruction that is `instrs[at]` of the present block of the innermost function is about so many bytes at this
    /// address (0 when nobody knows); several addresses of an instruction come in the order of [`super::Watch`].
    fn address(&mut self, _at: u32, _address: u64, _size: u64) {}
}

impl<P> Entry<P> {
    pub(super) fn describe(&self) -> String {
        match self {
            Self::Outcome { taken, .. } => format!("the outcome {taken}"),
            Self::Switch { case, .. } => format!("case {case} of a switch"),
            Self::Callee { function: Some(function) } => format!("a call of {function}"),
            Self::Callee { function: None } => "a call of uninstrumented code".to_owned(),
            Self::Callback { function } => format!("an entry into {function}"),
            Self::Setjmp { activation } => format!("setjmp of activation {activation}"),
            Self::Address { address, .. } => format!("the address {address:#x}"),
            Self::Jump { successor } => format!("a jump to successor {successor}"),
        }
    }
}
