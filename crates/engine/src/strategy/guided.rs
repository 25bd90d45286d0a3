//! Search that is led to one def-use pair at a time (data flow testing by DSE and model checking, section III).
//!
//! `cpgs`, cut-point-guided search: the candidate whose path has passed most cut points of the pair, then the one from which
//! the next is nearest. `sdgs`, shortest-distance-guided search: the same with the definition and the use alone. Candidates
//! from which the pair cannot be covered wait for another one. Without a pair, for goals of other criteria, the candidate is
//! picked that is nearest to something open.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use super::{Pick, Strategy, View};
use crate::pool::CandidateId;
use crate::rng::Rng;
use crate::target::{Guidance, Rank};

pub(super) struct Guided {
    guidance: Guidance,
    /// All that may be open.
    candidates: BTreeSet<CandidateId>,
    /// Those that may cover the present pair; among equals the shorter path, then the older.
    heap: BinaryHeap<(Rank, Reverse<(u32, CandidateId)>)>,
}

impl Guided {
    pub(super) fn new(guidance: Guidance) -> Self {
        Self { guidance, candidates: BTreeSet::new(), heap: BinaryHeap::new() }
    }

    fn push(&mut self, candidate: CandidateId, view: &View<'_>) {
        let rank = match view.target {
            Some(target) => target.rank(candidate, view.pool, view.structure),
            None => {
                let distance = view.structure.distance(view.pool.candidate(candidate).outlook);
                Some((0, Reverse(distance.unwrap_or(u32::MAX))))
            }
        };
        let step = view.pool.candidate(candidate).step;
        self.heap.extend(rank.map(|rank| (rank, Reverse((step, candidate)))));
    }
}

impl Strategy for Guided {
    fn name(&self) -> &'static str {
        match self.guidance {
            Guidance::CutPoints => "cpgs",
            Guidance::Ends => "sdgs",
        }
    }

    fn guidance(&self) -> Option<Guidance> {
        Some(self.guidance)
    }

    fn aim(&mut self, view: &View<'_>) {
        self.heap.clear();
        self.candidates.retain(|candidate| view.pool.is_open(*candidate));
        for candidate in self.candidates.clone() {
            self.push(candidate, view);
        }
    }

    fn add(&mut self, candidate: CandidateId, view: &View<'_>) {
        self.candidates.insert(candidate);
        self.push(candidate, view);
    }

    fn next(&mut self, view: &View<'_>, _: &mut Rng) -> Option<Pick> {
        while let Some((_, Reverse((_, candidate)))) = self.heap.pop() {
            if self.candidates.remove(&candidate) && view.pool.is_open(candidate) {
                return Some(Pick::Flip(candidate));
            }
        }
        None
    }
}
