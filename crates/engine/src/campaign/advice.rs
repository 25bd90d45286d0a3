//! What can somebody decide who looks at whole functions, and not at one path at a time?
//!
//! The campaign asks an [`Adviser`] about goals that the search leaves open ([`super::turns`] says when). It may prove that no
//! input covers a goal, or give inputs that should: these are run before anything else, like every other input.

use coverage::{Coverage, Evidence, GoalId};
use model::input::Input;

use super::Test;
use crate::pool::Refuted;

/// Decides goals by other means than search.
pub trait Adviser {
    /// Looks at what is open, with at most this effort (units of about a tenth of a millisecond).
    fn advise(&mut self, asked: &Asked<'_>) -> Advice;
}

/// What an adviser is asked.
#[derive(Clone, Copy)]
pub struct Asked<'a> {
    pub coverage: &'a Coverage,
    /// The tests kept so far.
    pub tests: &'a [Test],
    pub effort: u64,
}

/// What an adviser says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Advice {
    /// Goals that no input covers.
    pub infeasible: Vec<(GoalId, Evidence)>,
    /// Ways that no run goes.
    pub refuted: Vec<Refuted>,
    /// Inputs that should cover open goals.
    pub inputs: Vec<Input>,
    /// Goals that it gave up, for now, and why.
    pub gave_up: Vec<(GoalId, String)>,
    /// What it spent.
    pub effort: u64,
    /// More effort would not help, unless the search covers more.
    pub is_final: bool,
    /// Whether it found something that its next turn goes on from.
    pub is_under_way: bool,
    /// It cannot go on, and neither should the campaign.
    pub is_broken: bool,
}
