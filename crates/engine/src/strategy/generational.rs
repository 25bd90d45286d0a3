//! Generational search, after SAGE (Godefroid, Levin, Molnar): all candidates of a run belong to one generation, and the
//! runs that covered most are continued first.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{Strategy, View};
use crate::pool::{CandidateId, RunId};
use crate::rng::Rng;

/// New goals of the run; then older runs, then the beginning of the path.
type Rank = (usize, Reverse<RunId>, Reverse<CandidateId>);

#[derive(Default)]
pub(super) struct Generational {
    heap: BinaryHeap<Rank>,
}

impl Strategy for Generational {
    fn name(&self) -> &'static str {
        "generational"
    }

    fn add(&mut self, candidate: CandidateId, view: &View<'_>) {
        let run = view.pool.candidate(candidate).run;
        self.heap.push((view.pool.run(run).n_new_goals, Reverse(run), Reverse(candidate)));
    }

    fn next(&mut self, view: &View<'_>, _: &mut Rng) -> Option<CandidateId> {
        while let Some((_, _, Reverse(candidate))) = self.heap.pop() {
            if view.pool.is_open(candidate) {
                return Some(candidate);
            }
        }
        None
    }
}
