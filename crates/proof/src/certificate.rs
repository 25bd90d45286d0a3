//! A proof as data: which calls are inlined, and a formula for each point that cuts the loops.

use std::sync::Arc;

use model::BlockId;

use crate::{Claim, Context, Formula};

/// A claim and the argument for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proof {
    pub claim: Claim,
    /// The inlined calls, each after the one that it is made in; the entry's own activation is not listed.
    pub contexts: Vec<Context>,
    pub cuts: Vec<Cut>,
    /// Vector numbers of evaluations that are shown to be impossible in place of the goal, if it is
    /// [`crate::Goal::Paired`]: one of them is in every pair that would cover it.
    pub halves: Option<Vec<u32>>,
    pub body: Body,
}

/// How the formulas make an argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// Every formula holds wherever control arrives at its cut, and no segment between cuts covers the goal.
    Inductive,
    /// The same for any so many segments one after the other: if all but the last do not cover the goal, and formulas hold
    /// where they end, so does the last; and so do the first ones of an activation.
    KInduction(u32),
    /// Segments from the entry and then from these cuts, by number, in this order, are all that an activation executes. No
    /// formula counts.
    Unrolled(Vec<u32>),
    /// Whenever control arrives at a cut with a list, its scalars have the values of one of the rows, and its formula holds in each of them. The formulas
    /// alone exclude the goal from all segments.
    Listed(Arc<Vec<Listing>>),
}

/// The states in which control arrives at a cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listing {
    /// By number.
    pub cut: u32,
    pub scalars: Vec<Formula>,
    /// A value for each scalar, or none where any is possible.
    pub rows: Vec<Vec<Option<u64>>>,
}

/// The start of a block in an activation, and what holds whenever control is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cut {
    pub context: Context,
    pub block: BlockId,
    pub formula: Formula,
}
