//! Breadth first: the candidate nearest to the start of the program, older ones first.

use std::collections::BTreeSet;

use super::{Strategy, View};
use crate::pool::CandidateId;
use crate::rng::Rng;

#[derive(Default)]
pub(super) struct BreadthFirst {
    by_depth: BTreeSet<(u32, CandidateId)>,
}

impl Strategy for BreadthFirst {
    fn name(&self) -> &'static str {
        "bfs"
    }

    fn add(&mut self, candidate: CandidateId, view: &View<'_>) {
        self.by_depth.insert((view.pool.candidate(candidate).step, candidate));
    }

    fn next(&mut self, view: &View<'_>, _: &mut Rng) -> Option<CandidateId> {
        while let Some((_, candidate)) = self.by_depth.pop_first() {
            if view.pool.is_open(candidate) {
                return Some(candidate);
            }
        }
        None
    }
}
