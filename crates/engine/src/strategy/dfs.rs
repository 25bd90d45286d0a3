//! Depth first: the newest and deepest candidate, so that neighbouring paths follow each other.

use super::{Strategy, View};
use crate::pool::CandidateId;
use crate::rng::Rng;

#[derive(Default)]
pub(super) struct DepthFirst {
    stack: Vec<CandidateId>,
}

impl Strategy for DepthFirst {
    fn name(&self) -> &'static str {
        "dfs"
    }

    fn add(&mut self, candidate: CandidateId, _: &View<'_>) {
        self.stack.push(candidate);
    }

    fn next(&mut self, view: &View<'_>, _: &mut Rng) -> Option<CandidateId> {
        while let Some(candidate) = self.stack.pop() {
            if view.pool.is_open(candidate) {
                return Some(candidate);
            }
        }
        None
    }
}
