//! Which inputs come of crossing tests, for a target?
//!
//! Method (Algorithm 2): the population are the tests that come to the target's function, or else near it; the fittest of many.
//! Each generation keeps the better half; the first of its better half is crossed with the first of the other, and so on, and children
//! are mutated now and then. All are run, which tells how fit they are, until the target is covered or the limit of generations is met.
//! Members of the first population are run again, to be measured for this target.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use analysis::approach::Approach;
use model::input::Input;
use model::invocation::InvocationShape;

use super::chromosome::{Chromosome, cross, mutate};
use super::fitness::{Reached, fitness};
use super::{Direction, KnownTest};
use crate::branch_distance::{NearestStep, OpenBranches};
use crate::campaign::Provenance;
use crate::campaign::source::{CampaignView, Proposal, RunNews};
use crate::campaign::sources::mutation::mutate::Vocabulary;
use crate::rng::Rng;

/// Members of a population, and how few are too few to be crossed.
const MOST_MEMBERS: usize = 32;
const FEWEST_MEMBERS: usize = 8;
/// One in so many children is not mutated.
const UNCHANGED: usize = 3;

/// A population for a target.
pub(super) struct Genetic {
    approach: Approach,
    watched: Arc<OpenBranches>,
    /// The fittest first, once all are known.
    population: Vec<Member>,
    /// Those that are to be run.
    left: VecDeque<Chromosome>,
    /// Those that were run in this generation.
    ran: Vec<Member>,
    /// Not evaluated yet.
    unmeasured: Vec<(Chromosome, Reached, BTreeMap<Direction, NearestStep>)>,
    n_generations: u32,
}

#[derive(Clone)]
struct Member {
    chromosome: Chromosome,
    fitness: f64,
}

impl Genetic {
    /// Nothing when no test comes near the target.
    pub(super) fn new<'t>(
        approach: Approach,
        tests: impl Iterator<Item = &'t KnownTest>,
        shape: Option<&InvocationShape>,
        vocabulary: &Vocabulary,
        view: &CampaignView<'_>,
        rng: &mut Rng,
    ) -> Option<Self> {
        let near = tests.filter_map(|test| Some((test.reached.level(&approach)?.0, test)));
        let mut near: Vec<(u32, &KnownTest)> = near.collect();
        near.sort_by_key(|(level, test)| (*level, test.run));
        // those of one level are as good as each other: take some of the first and some of the last
        near.truncate(MOST_MEMBERS);
        let chromosome =
            |test: &KnownTest| Chromosome::of(&view.pool.run(test.run).input, &test.cells, shape);
        let mut left: VecDeque<Chromosome> = near.into_iter().map(|(_, test)| chromosome(test)).collect();
        let n_tests = left.len();
        if n_tests == 0 {
            return None;
        }
        while left.len() < FEWEST_MEMBERS {
            let mut copy = left[rng.below(n_tests)].clone();
            mutate(&mut copy, &left[rng.below(n_tests)], vocabulary, rng);
            left.push_back(copy);
        }
        let graph = view.structure.icfg();
        let wanted = approach.stages.values().flat_map(|stage| &stage.wanted);
        let directions = wanted.map(|id| &graph.directions[id.index()]);
        let watched = directions.map(|direction| (direction.site, direction.choice)).collect();
        Some(Self {
            approach,
            watched: Arc::new(watched),
            population: Vec::new(),
            left,
            ran: Vec::new(),
            unmeasured: Vec::new(),
            n_generations: 0,
        })
    }

    /// The directions that runs are measured for.
    pub(super) fn watched(&self) -> Arc<OpenBranches> {
        Arc::clone(&self.watched)
    }

    /// Whether nothing more is to be done for the target.
    pub(super) fn is_over(&self, is_open: bool, limit: u32) -> bool {
        !is_open || (self.n_generations >= limit && self.left.is_empty())
    }

    /// The next input to run; nothing when the results of this generation are to be known first, or when it was the last.
    pub(super) fn next(
        &mut self,
        is_open: bool,
        limit: u32,
        shape: Option<&InvocationShape>,
        vocabulary: &Vocabulary,
        view: &CampaignView<'_>,
        rng: &mut Rng,
    ) -> Option<Proposal> {
        self.measure(view);
        if !is_open {
            return None;
        }
        if let Some(chromosome) = self.left.pop_front() {
            let mut input = chromosome.input(shape);
            if shape.is_none() {
                let mut values: Vec<_> = input.values.into_iter().collect();
                view.enums.prefer_in(&mut values, rng);
                input = Input { values: values.into_iter().collect() };
            }
            return Some(Proposal::Run { input, provenance: Provenance::Genetic, symbolic: true });
        }
        if !self.ran.is_empty() && self.n_generations < limit {
            self.breed(vocabulary, rng);
        } else if self.ran.is_empty() {
            // nothing came back: there is nothing to go on with
            self.n_generations = limit;
        }
        None
    }

    /// Makes the next generation of what was run.
    fn breed(&mut self, vocabulary: &Vocabulary, rng: &mut Rng) {
        self.n_generations += 1;
        self.population.append(&mut self.ran);
        self.population.sort_by(|a, b| a.fitness.total_cmp(&b.fitness));
        self.population.truncate(MOST_MEMBERS.max(FEWEST_MEMBERS));
        let n_members = self.population.len();
        let n_kept = n_members.div_ceil(2);
        self.population.truncate(n_kept);
        let (better, other) = self.population.split_at(n_kept / 2);
        for (one, two) in better.iter().zip(other) {
            for mut child in cross(&one.chromosome, &two.chromosome, rng) {
                if rng.below(UNCHANGED) > 0 {
                    let mate = &self.population[rng.below(n_kept)].chromosome;
                    mutate(&mut child, mate, vocabulary, rng);
                }
                self.left.push_back(child);
            }
        }
    }

    /// Hears of a run.
    pub(super) fn heard(&mut self, run: &RunNews<'_>, reached: &Reached, shape: Option<&InvocationShape>) {
        let chromosome = Chromosome::of(run.input, run.cells, shape);
        self.unmeasured.push((chromosome, reached.clone(), run.distances.clone()));
    }

    fn measure(&mut self, view: &CampaignView<'_>) {
        for (chromosome, reached, distances) in std::mem::take(&mut self.unmeasured) {
            if let Some(fitness) = fitness(&self.approach, &reached, &distances, view) {
                self.ran.push(Member { chromosome, fitness });
            }
        }
    }
}
