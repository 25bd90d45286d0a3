//! What is attempted: goals, engines, and from where and with what a proof is looked for.

use std::collections::BTreeSet;

use model::input::Input;
use model::{FunctionId, Program};
use proof::Goal;

use crate::candidates::Richness;
use crate::graph::Inlining;

/// What is to be proved.
pub struct Task<'a> {
    pub program: &'a Program,
    pub goals: Vec<Goal>,
    /// The function that runs are made for.
    pub under_test: Option<FunctionId>,
    /// Inputs that were executed: counterexamples have their shapes.
    pub inputs: Vec<Input>,
    /// Goals, by number, for which an input was found that does not cover them: another one is of no more use.
    pub misled: BTreeSet<usize>,
    pub engine: Engine,
}

/// Which engines are used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Engine {
    /// All, one after the other.
    #[default]
    Auto,
    /// Nothing is known where loops are cut.
    LoopFree,
    /// Several iterations are looked at together.
    KInduction,
    /// Invariants of loops are guessed and checked.
    Houdini,
    /// Loops are unrolled until they end.
    Unrolled,
    /// Predicates are tracked that counterexamples call for.
    Cegar,
    /// What leads to a goal is excluded backwards from it.
    Pdr,
    /// The states that are reached are listed.
    States,
    /// Loops are unrolled to find inputs; nothing is proved.
    Bounded,
}

/// How proofs are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Method {
    LoopFree,
    KInduction,
    Houdini(Richness),
    Unrolled,
    Cegar,
    Pdr,
    States,
    /// Without invariants, with much effort for each question.
    Patience,
}

/// From where and with what a proof is attempted.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Plan {
    pub(crate) entry: FunctionId,
    pub(crate) inlining: Inlining,
    pub(crate) initial_globals: bool,
    pub(crate) is_allocated: bool,
}

pub(crate) fn inlining(towards: BTreeSet<FunctionId>, max_instrs: usize) -> Inlining {
    Inlining { towards, max_instrs, max_recursion: 0, has_stubs: false }
}

pub(crate) fn from(entry: FunctionId, inlining: Inlining) -> Plan {
    Plan { entry, inlining, initial_globals: false, is_allocated: false }
}
