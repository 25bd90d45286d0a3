//! Which conditions of the tests' paths are negated for a target?
//!
//! Method (Algorithm 3): in each test that reaches the target's sibling, the last condition that goes there, and those before
//! it up to a limit, the last first. What another test, or an earlier target, had negated already with the same conditions before it
//! is left out.

use std::collections::VecDeque;

use super::Direction;
use crate::campaign::source::{CampaignView, Proposal};
use crate::pool::{CandidateId, RunId, Turn};

/// The negations for a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Concolic {
    left: VecDeque<CandidateId>,
}

impl Concolic {
    pub(super) fn new(
        target: Direction,
        limit: u32,
        runs: impl Iterator<Item = RunId>,
        view: &CampaignView<'_>,
    ) -> Self {
        let step = |id: &CandidateId| view.pool.candidate(*id).step;
        let mut left = VecDeque::new();
        for run in runs {
            let flips = view.pool.flips(run);
            let is_target = |id: &&CandidateId| view.pool.candidate(**id).branch() == Some(target);
            let Some(last) = flips.iter().rev().find(is_target).map(step) else { continue };
            let is_near = |id: &&CandidateId| step(id) <= last && last - step(id) < limit;
            // at the step itself the target alone is meant
            let is_meant = |id: &&CandidateId| step(id) < last || is_target(id);
            left.extend(flips.iter().rev().filter(is_near).filter(is_meant));
        }
        Self { left }
    }

    /// The next negation that was not tried and may reach something open.
    pub(super) fn next(&mut self, view: &CampaignView<'_>) -> Option<Proposal> {
        let is_step = |id: &CandidateId| matches!(view.pool.candidate(*id).turn, Turn::Step { .. });
        let is_left = |id: &CandidateId| is_step(id) && view.pool.is_open(*id) && view.admits(*id);
        while let Some(candidate) = self.left.pop_front() {
            if is_left(&candidate) {
                return Some(Proposal::Flip(candidate));
            }
        }
        None
    }
}
