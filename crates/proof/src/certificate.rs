//! A proof as data: which calls are inlined, and a formula for each point that cuts the loops.

use std::fmt;

use model::{BlockId, InstrId};

use crate::{Claim, Formula};

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

/// An activation: the call instructions that lead to it from the entry's activation, which is `@`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Context(pub Vec<InstrId>);

impl Context {
    /// The activation of the entry.
    pub fn entry() -> Self {
        Self::default()
    }

    /// The activation that this call makes in this one.
    pub fn call(&self, call: InstrId) -> Self {
        Self(self.0.iter().copied().chain([call]).collect())
    }

    /// The activation that made this one, and the call in it.
    pub fn caller(&self) -> Option<(Self, InstrId)> {
        let (call, before) = self.0.split_last()?;
        Some((Self(before.to_vec()), *call))
    }

    /// Whether this activation still exists while `other` runs: it is the same or made the calls that led there.
    pub fn encloses(&self, other: &Self) -> bool {
        other.0.starts_with(&self.0)
    }
}

/// `@.%14.%3`.
impl fmt::Display for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("@")?;
        self.0.iter().try_for_each(|call| write!(f, ".{call}"))
    }
}

/// The start of a block in an activation, and what holds whenever control is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cut {
    pub context: Context,
    pub block: BlockId,
    pub formula: Formula,
}
