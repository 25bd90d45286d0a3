//! Predictive path search and fitness-guided search in turn (coverage-driven DSE, section V): the former covers much at
//! once, the latter reaches what is hard.
//!
//! Method: as long as something must-relevant waits, predictive path search picks. Otherwise fitness picks, and keeps
//! picking while it comes nearer; when it did not, predictive path search has its turn.

use coverage::structure::Relevance;

use super::fitness::Fitness;
use super::pps::PredictivePathSearch;
use super::{Strategy, View};
use crate::pool::{CandidateId, RunId};
use crate::rng::Rng;

pub(super) struct PredictiveAndFitness {
    pps: PredictivePathSearch,
    fitness: Fitness,
    fitness_is_next: bool,
}

impl PredictiveAndFitness {
    pub(super) fn new(n_levels: u32) -> Self {
        let (pps, fitness) = (PredictivePathSearch::new(n_levels), Fitness::default());
        Self { pps, fitness, fitness_is_next: true }
    }
}

impl Strategy for PredictiveAndFitness {
    fn name(&self) -> &'static str {
        "pps+fitness"
    }

    fn wants_branch_distances(&self) -> bool {
        true
    }

    fn add(&mut self, candidate: CandidateId, view: &View<'_>) {
        self.pps.add(candidate, view);
        self.fitness.add(candidate, view);
    }

    fn ran(&mut self, run: RunId, view: &View<'_>) {
        self.fitness.ran(run, view);
    }

    fn cost(&mut self, candidate: CandidateId, effort: u64) {
        self.pps.cost(candidate, effort);
    }

    fn refused(&mut self, candidate: CandidateId) {
        self.pps.refused(candidate);
        self.fitness.refused(candidate);
    }

    fn next(&mut self, view: &View<'_>, rng: &mut Rng) -> Option<CandidateId> {
        if self.pps.best(view) == Some(Relevance::Must) {
            return self.pps.next(view, rng);
        }
        if self.fitness_is_next || self.fitness.improved() {
            self.fitness_is_next = false;
            if let Some(candidate) = self.fitness.guided(view, rng) {
                self.pps.picked(candidate, view);
                return Some(candidate);
            }
        }
        self.fitness_is_next = true;
        self.pps.next(view, rng)
    }
}
