//! Chaining: what a run that follows a candidate covers for certain goes first, by predictive path search; then event sequences are
//! followed for what runs reach and do not pass ([`crate::chaining`]); what else there is to flip comes when none is left.

use coverage::structure::Relevance;

use super::pps::PredictivePathSearch;
use super::{Chains, Helped, Strategy, View};
use crate::pool::CandidateId;
use crate::rng::Rng;

/// Must-relevant picks in a row that may cover nothing new: a loop offers the same flip in each of its iterations.
const MOST_FRUITLESS: u32 = 4;

pub(super) struct Chaining {
    pps: PredictivePathSearch,
    n_fruitless: u32,
}

impl Chaining {
    pub(super) fn new(n_levels: u32) -> Self {
        Self { pps: PredictivePathSearch::new(n_levels), n_fruitless: 0 }
    }
}

impl Strategy for Chaining {
    fn name(&self) -> &'static str {
        "chaining"
    }

    fn chains(&self) -> Chains {
        Chains::Always
    }

    fn wants_branch_distances(&self) -> bool {
        true
    }

    fn gives_way(&mut self, view: &View<'_>) -> bool {
        self.pps.best(view) != Some(Relevance::Must) || self.n_fruitless >= MOST_FRUITLESS
    }

    fn ends_when_saturated(&self) -> bool {
        true
    }

    fn gave_way(&mut self, helped: Helped) {
        if helped == Helped::Covered {
            self.n_fruitless = 0;
        }
    }

    fn add(&mut self, candidate: CandidateId, view: &View<'_>) {
        self.pps.add(candidate, view);
    }

    fn cost(&mut self, candidate: CandidateId, effort: u64) {
        self.pps.cost(candidate, effort);
    }

    fn ran(&mut self, run: crate::pool::RunId, view: &View<'_>) {
        let run = view.pool.run(run);
        if run.n_new_goals > 0 {
            self.n_fruitless = 0;
        } else if run.origin.is_some() {
            self.n_fruitless += 1;
        }
    }

    fn refused(&mut self, candidate: CandidateId) {
        self.pps.refused(candidate);
    }

    fn next(&mut self, view: &View<'_>, rng: &mut Rng) -> Option<CandidateId> {
        self.pps.next(view, rng)
    }
}
