//! A proof as data: which calls are inlined, and a formula for each point that cuts the loops.

use model::BlockId;

use crate::{Claim, Context, Formula};

/// A claim and the argument for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proof {
    pub claim: Claim,
    /// The inlined calls, each after the one that it is made in; the entry's own activation is not listed.
    pub contexts: Vec<Context>,
    pub cuts: Vec<Cut>,
    pub body: Body,
}

/// How the formulas make an argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// Every formula holds wherever control arrives at its cut, and no segment between cuts covers the goal.
    Inductive,
    /// The same for the evaluations with these vector numbers instead of the goal, which is [`crate::Goal::Paired`]: one
    /// of them is in every pair that would cover it.
    Halves(Vec<u32>),
}

/// The start of a block in an activation, and what holds whenever control is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cut {
    pub context: Context,
    pub block: BlockId,
    pub formula: Formula,
}
