//! The default: what measurement shows best (docs/measurements.md).
//!
//! Method: something must-relevant goes first, by predictive path search. Otherwise the strategies that are good at
//! different kinds of code have turns: fitness-guided search, which keeps its turn while it comes nearer, generational
//! search, and predictive path search. Where the solver is slow, chance has its share.

use coverage::structure::Relevance;

use super::fitness::Fitness;
use super::generational::Generational;
use super::pps::PredictivePathSearch;
use super::{Pick, Strategy, View};
use crate::pool::{CandidateId, RunId};
use crate::rng::Rng;

pub(super) struct Auto {
    pps: PredictivePathSearch,
    fitness: Fitness,
    generational: Generational,
    turn: Turn,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    Fitness,
    Generational,
    Predictive,
}

impl Auto {
    pub(super) fn new(n_levels: u32) -> Self {
        let pps = PredictivePathSearch::new(n_levels);
        Self { pps, fitness: Fitness::default(), generational: Generational::default(), turn: Turn::Fitness }
    }
}

impl Strategy for Auto {
    fn name(&self) -> &'static str {
        "auto"
    }

    fn wants_nearness(&self) -> bool {
        true
    }

    fn takes_chances(&self) -> bool {
        true
    }

    fn add(&mut self, candidate: CandidateId, view: &View<'_>) {
        self.pps.add(candidate, view);
        self.fitness.add(candidate, view);
        self.generational.add(candidate, view);
    }

    fn ran(&mut self, run: RunId, view: &View<'_>) {
        self.fitness.ran(run, view);
    }

    fn next(&mut self, view: &View<'_>, rng: &mut Rng) -> Option<Pick> {
        if self.pps.best(view)? == Relevance::Must {
            return self.pps.next(view, rng);
        }
        if self.turn == Turn::Fitness || self.fitness.improved() {
            self.turn = Turn::Generational;
            if let Some(candidate) = self.fitness.guided(view, rng) {
                return Some(Pick::Flip(candidate));
            }
        }
        let (picked, turn) = match self.turn {
            Turn::Fitness | Turn::Generational => (self.generational.next(view, rng), Turn::Predictive),
            Turn::Predictive => (self.pps.next(view, rng), Turn::Fitness),
        };
        self.turn = turn;
        picked
    }
}
