//! KLEE's default: random path interleaved with the candidate nearest to something uncovered, by instructions.

use std::cmp::Reverse;

use coverage::structure::OutlookId;

use super::random_path::RandomPath;
use super::ranked::Ranked;
use super::{Strategy, View};
use crate::pool::CandidateId;
use crate::rng::Rng;

#[derive(Default)]
pub(super) struct RandomPathAndNearest {
    random_path: RandomPath,
    by_distance: Ranked<Reverse<u32>>,
    nearest_is_next: bool,
}

/// What cannot reach anything uncovered is furthest.
fn rank(outlook: OutlookId, view: &View<'_>) -> Reverse<u32> {
    Reverse(view.structure.distance(outlook).unwrap_or(u32::MAX))
}

impl Strategy for RandomPathAndNearest {
    fn name(&self) -> &'static str {
        "rp-md2u"
    }

    fn add(&mut self, candidate: CandidateId, view: &View<'_>) {
        self.random_path.add(candidate, view);
        self.by_distance.add(candidate, view, |outlook| rank(outlook, view));
    }

    fn next(&mut self, view: &View<'_>, rng: &mut Rng) -> Option<CandidateId> {
        self.nearest_is_next = !self.nearest_is_next;
        if self.nearest_is_next {
            self.by_distance.pop(view, |outlook| rank(outlook, view))
        } else {
            self.random_path.next(view, rng)
        }
    }
}
