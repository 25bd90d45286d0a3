//! The default: what measurement shows best (docs/measurements.md).
//!
//! Method: something must-relevant goes first, by predictive path search. When that led nowhere for a while, or there is
//! nothing of the kind, strategies that are good at different kinds of code have turns: predictive path search,
//! fitness-guided search (which keeps its turn while it comes nearer) and generational search. The next turn belongs to the
//! one that cost least since anything new was covered, so that one whose flips are hard to solve does not keep the others
//! from theirs. Where solving is slow, mutation gets its share of the effort. When nothing new was covered for some runs, event
//! sequences have a turn of a few runs, which goes on while it helps; one that does not makes the next come later, and all of them together
//! are a small part of all runs.

use std::collections::BTreeMap;

use coverage::structure::Relevance;

use super::fitness::Fitness;
use super::generational::Generational;
use super::pps::PredictivePathSearch;
use super::{Chains, Helped, Strategy, View};
use crate::pool::{CandidateId, RunId};
use crate::rng::Rng;

/// What must-relevant picks may cost without leading to anything new: a loop offers the same flip in each of its iterations,
/// and often it is possible in none.
const MAX_FRUITLESS_COST: u64 = 4096;
/// What a pick costs besides solving.
const COST_OF_PICK: u64 = 4;

/// Runs without anything new before event sequences have a turn, at first and at most, and the runs that a turn has.
const PATIENCE: u32 = 12;
const MOST_PATIENCE: u32 = 48;
const RUNS_PER_TURN: u32 = 8;
/// All runs, and those since anything new was covered, for one of event sequences that covered nothing new.
const RUNS_PER_FRUITLESS: u32 = 20;
const STALLED_PER_FRUITLESS: u32 = 8;
/// Runs that came nearer to what event sequences are followed for count as one that did not help.
const NEARER_PER_FRUITLESS: u32 = 4;

pub(super) struct Auto {
    chaining: Turns,
    pps: PredictivePathSearch,
    fitness: Fitness,
    generational: Generational,
    /// What each has cost since anything new was covered; ties go to the first.
    costs: [(u64, Part); 3],
    /// Whose picks have not been worked off.
    picked: BTreeMap<CandidateId, Part>,
}

/// The turns of event sequences.
#[derive(Debug)]
struct Turns {
    /// Runs since anything new was covered or the last turn ended, and how many it takes.
    n_waited: u32,
    patience: u32,
    /// Runs left in the present turn.
    left: u32,
    n_runs: u32,
    /// Runs since anything new was covered.
    n_stalled: u32,
    n_fruitless: u32,
    n_nearer: u32,
}

impl Turns {
    fn new() -> Self {
        Self {
            n_waited: 0,
            patience: PATIENCE,
            left: 0,
            n_runs: 0,
            n_stalled: 0,
            n_fruitless: 0,
            n_nearer: 0,
        }
    }

    fn ran(&mut self, covers_new: bool) {
        self.n_runs += 1;
        self.n_waited = if covers_new { 0 } else { self.n_waited + 1 };
        self.n_stalled = if covers_new { 0 } else { self.n_stalled + 1 };
    }

    fn has_turn(&mut self) -> bool {
        let may_begin = self.n_waited >= self.patience
            && self.n_fruitless
                <= RUNS_PER_TURN + self.n_runs / RUNS_PER_FRUITLESS + self.n_stalled / STALLED_PER_FRUITLESS;
        if self.left == 0 && may_begin {
            self.left = RUNS_PER_TURN;
        }
        self.left > 0
    }

    fn had(&mut self, helped: Helped) {
        match helped {
            Helped::Covered => {
                (self.left, self.patience, self.n_fruitless) = (RUNS_PER_TURN, PATIENCE, 0);
                return;
            }
            Helped::CameNearer => {
                self.n_nearer += 1;
                if !self.n_nearer.is_multiple_of(NEARER_PER_FRUITLESS) {
                    return;
                }
            }
            Helped::No => {}
        }
        self.n_fruitless += 1;
        self.left = self.left.saturating_sub(1);
        if self.left == 0 {
            (self.n_waited, self.patience) = (0, (2 * self.patience).min(MOST_PATIENCE));
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Fitness,
    Generational,
    Predictive,
}

const FREE: [(u64, Part); 3] = [(0, Part::Fitness), (0, Part::Generational), (0, Part::Predictive)];

impl Auto {
    pub(super) fn new(n_levels: u32) -> Self {
        let (pps, fitness) = (PredictivePathSearch::new(n_levels), Fitness::default());
        let (generational, picked) = (Generational::default(), BTreeMap::new());
        Self { chaining: Turns::new(), pps, fitness, generational, costs: FREE, picked }
    }

    fn cost_of(&self, part: Part) -> u64 {
        self.costs.iter().filter(|(_, known)| *known == part).map(|(cost, _)| *cost).sum()
    }

    /// The parts, the one whose turn it is first.
    fn turns(&self) -> [Part; 3] {
        let mut turns = self.costs;
        turns.sort_by_key(|(cost, part)| (*part != Part::Fitness || !self.fitness.improved(), *cost));
        turns.map(|(_, part)| part)
    }

    fn pick(&mut self, part: Part, view: &View<'_>, rng: &mut Rng) -> Option<CandidateId> {
        let candidate = match part {
            Part::Fitness => self.fitness.guided(view, rng),
            Part::Generational => self.generational.next(view, rng),
            Part::Predictive => self.pps.next(view, rng),
        }?;
        self.picked.insert(candidate, part);
        self.pps.picked(candidate, view);
        // at once: the next pick may come before this one is worked off
        self.charge(part, COST_OF_PICK);
        Some(candidate)
    }

    fn charge(&mut self, part: Part, effort: u64) {
        for (cost, known) in &mut self.costs {
            if *known == part {
                *cost += effort;
            }
        }
    }
}

impl Strategy for Auto {
    fn name(&self) -> &'static str {
        "auto"
    }

    fn wants_branch_distances(&self) -> bool {
        true
    }

    fn allows_mutation(&self) -> bool {
        true
    }

    fn chains(&self) -> Chains {
        Chains::InSmallPrograms
    }

    fn gives_way(&mut self, _: &View<'_>) -> bool {
        self.chaining.has_turn()
    }

    fn gave_way(&mut self, helped: Helped) {
        self.chaining.had(helped);
    }

    fn add(&mut self, candidate: CandidateId, view: &View<'_>) {
        self.pps.add(candidate, view);
        self.fitness.add(candidate, view);
        self.generational.add(candidate, view);
    }

    fn ran(&mut self, run: RunId, view: &View<'_>) {
        self.fitness.ran(run, view);
        self.chaining.ran(view.pool.run(run).n_new_goals > 0);
        if view.pool.run(run).n_new_goals > 0 {
            self.costs = FREE;
        }
    }

    fn cost(&mut self, candidate: CandidateId, effort: u64) {
        self.pps.cost(candidate, effort);
        if let Some(part) = self.picked.remove(&candidate) {
            self.charge(part, effort);
        }
    }

    fn refused(&mut self, candidate: CandidateId) {
        self.pps.refused(candidate);
        self.fitness.refused(candidate);
        let part = self.picked.remove(&candidate);
        for (cost, _) in self.costs.iter_mut().filter(|(_, known)| Some(*known) == part) {
            *cost = cost.saturating_sub(COST_OF_PICK);
        }
    }

    fn next(&mut self, view: &View<'_>, rng: &mut Rng) -> Option<CandidateId> {
        if !self.pps.has_open(view) {
            return None;
        }
        let has_must = self.pps.best(view) == Some(Relevance::Must);
        if has_must && self.cost_of(Part::Predictive) < MAX_FRUITLESS_COST {
            return self.pick(Part::Predictive, view, rng);
        }
        self.turns().into_iter().find_map(|part| self.pick(part, view, rng))
    }
}
