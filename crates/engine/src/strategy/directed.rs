//! For few goals among much code that counts as covered: first the nearest one, then the default.
//!
//! Method: CREST's CFG-directed search, which flips what is nearest to something uncovered, as long as it leads to new goals now and then. When
//! it does not, [`super::auto`] has a turn until something new is covered. Both see every candidate. Limit: what counts as a while is a
//! number of picks.

use super::auto::Auto;
use super::cfg_directed::CfgDirected;
use super::{Strategy, View};
use crate::pool::{CandidateId, RunId};
use crate::rng::Rng;

/// Directed picks in a row that may lead to nothing new.
const MAX_FRUITLESS: u32 = 24;

pub(super) struct Directed {
    near: CfgDirected,
    auto: Auto,
    n_fruitless: u32,
}

impl Directed {
    pub(super) fn new(n_levels: u32) -> Self {
        Self { near: CfgDirected::default(), auto: Auto::new(n_levels), n_fruitless: 0 }
    }
}

impl Strategy for Directed {
    fn name(&self) -> &'static str {
        "directed"
    }

    fn wants_branch_distances(&self) -> bool {
        self.auto.wants_branch_distances()
    }

    fn allows_mutation(&self) -> bool {
        self.auto.allows_mutation()
    }

    fn add(&mut self, candidate: CandidateId, view: &View<'_>) {
        self.near.add(candidate, view);
        self.auto.add(candidate, view);
    }

    fn ran(&mut self, run: RunId, view: &View<'_>) {
        self.near.ran(run, view);
        self.auto.ran(run, view);
        if view.pool.run(run).n_new_goals > 0 {
            self.n_fruitless = 0;
        }
    }

    fn cost(&mut self, candidate: CandidateId, effort: u64) {
        self.near.cost(candidate, effort);
        self.auto.cost(candidate, effort);
    }

    fn refused(&mut self, candidate: CandidateId) {
        self.near.refused(candidate);
        self.auto.refused(candidate);
    }

    fn next(&mut self, view: &View<'_>, rng: &mut Rng) -> Option<CandidateId> {
        if self.n_fruitless < MAX_FRUITLESS
            && let Some(candidate) = self.near.next(view, rng)
        {
            self.n_fruitless += 1;
            return Some(candidate);
        }
        self.auto.next(view, rng)
    }
}
