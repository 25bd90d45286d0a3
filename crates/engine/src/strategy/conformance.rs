//! What every strategy must do, checked on a tree of paths small enough to try all of.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use coverage::Marking;
use coverage::observe::Observations;
use model::ConditionId;
use model::input::{Input, Key};
use model::walk::{Site, WalkEnd};

use super::*;
use crate::pool::{Judge, Run};
use crate::testing::{To, branch_goals, program};
use crate::trace::{Choice, Expectation, PathHash, PathStep, Trace};

const DEPTH: u32 = 6;

/// A program that tests the bits of its input one by one.
struct Tree<'a> {
    program: &'a Program,
    pool: Pool,
    coverage: Coverage,
    structure: Structure<'a>,
}

/// Conditions one after the other, whatever their outcomes.
fn chain() -> Program {
    program((1..=DEPTH).map(|next| To::If(next, next)).chain([To::Return]).collect())
}

impl<'a> Tree<'a> {
    fn new(marking: &'a Marking<'a>) -> Self {
        let coverage = branch_goals(marking.program());
        let structure = Structure::new(marking, &coverage);
        Self { program: marking.program(), pool: Pool::new(1000, 1000, true), coverage, structure }
    }

    fn run(&mut self, strategy: &mut dyn Strategy, bits: u32, origin: Option<CandidateId>) {
        let mut path = PathHash::EMPTY;
        let mut steps = Vec::new();
        for position in 0..DEPTH {
            let site = Site::Condition(ConditionId(position));
            let taken = Choice::Outcome(bits >> position & 1 == 1);
            let (node, position) = (wire::NodeId(1), u64::from(position));
            let (n_notes, prefix, context, begun) = (0, path, 0, None);
            let (program_path, objects) = (Expectation::NONE, PathHash::EMPTY);
            steps.push(PathStep {
                site,
                taken,
                node,
                n_notes,
                position,
                prefix,
                program_path,
                objects,
                context,
                begun,
                head: None,
            });
            path = path.then(site, taken);
        }
        let observations = Observations::default();
        let (n_outcomes, end) = (u64::from(DEPTH), WalkEnd::Returned);
        let trace = Trace {
            unfollowed: Vec::new(),
            steps,
            notes: Vec::new(),
            pins: Vec::new(),
            accesses: Vec::new(),
            contexts: Vec::new(),
            begun: Vec::new(),
            n_outcomes,
            end,
            observations,
            as_expected: true,
        };
        let input = Arc::new(Input { values: [(Key(0), u64::from(bits))].into() });
        let run =
            Run { input, origin, n_new_goals: bits as usize % 3, distances: BTreeMap::new(), path: None };
        let (program, coverage) = (self.program, &self.coverage);
        let mut judge = Judge { program, coverage, structure: &mut self.structure };
        let new = self.pool.add_run(&mut judge, run, &trace);
        new.into_iter().for_each(|candidate| strategy.add(candidate, &self.view()));
        strategy.ran(self.pool.newest_run(), &self.view());
    }

    fn view(&self) -> View<'_> {
        let Self { program, pool, coverage, structure } = self;
        View { program, coverage, structure, pool, target: None }
    }

    /// The bits of the run that a candidate leads to, the rest random.
    fn follow(&self, id: CandidateId, rng: &mut Rng) -> u32 {
        let candidate = self.pool.candidate(id);
        let parent = self.pool.run(candidate.run).input.values[&Key(0)] as u32;
        let kept = parent & ((1 << candidate.step) - 1);
        let flipped = !parent & 1 << candidate.step;
        let rest = rng.bits() as u32 & !((2 << candidate.step) - 1) & ((1 << DEPTH) - 1);
        kept | flipped | rest
    }
}

/// Explores the whole tree; returns the picks and the bits run, in order.
fn explore(name: &str, seed: u64, n_ahead: usize, dropped: u32) -> (Vec<CandidateId>, Vec<u32>) {
    let mut strategy = strategy_named(name, &StrategyOptions::default()).expect("known");
    let program = chain();
    let marking = Marking::new(&program);
    let mut tree = Tree::new(&marking);
    let mut rng = Rng::new(seed);
    let mut rest = Rng::new(99);
    let (mut picks, mut runs) = (Vec::new(), vec![0]);
    tree.run(strategy.as_mut(), 0, None);
    if dropped > 0 {
        tree.pool.take(CandidateId(dropped));
    }
    loop {
        let mut round = Vec::new();
        while round.len() < n_ahead
            && let Some(id) = strategy.next(&tree.view(), &mut rng)
        {
            assert!(tree.pool.take(id), "{name} picks what was tried or dropped: {id}");
            round.push(id);
        }
        if round.is_empty() {
            return (picks, runs);
        }
        for id in round {
            let bits = tree.follow(id, &mut rest);
            tree.run(strategy.as_mut(), bits, Some(id));
            picks.push(id);
            runs.push(bits);
        }
    }
}

fn choosing() -> impl Iterator<Item = &'static str> {
    STRATEGIES
        .into_iter()
        .filter(|name| strategy_named(name, &StrategyOptions::default()).expect("known").uses_candidates())
}

#[test]
fn every_strategy_tries_everything_once_and_then_ends() {
    for name in choosing() {
        for n_ahead in [1, 3] {
            let (picks, runs) = explore(name, 5, n_ahead, 0);
            let distinct: BTreeSet<_> = picks.iter().collect();
            assert_eq!(distinct.len(), picks.len(), "{name} repeats itself");
            let leaves: BTreeSet<_> = runs.iter().collect();
            assert_eq!(leaves.len(), 1 << DEPTH, "{name} misses paths");
            assert_eq!(runs.len(), 1 << DEPTH, "{name} runs a path twice");
        }
    }
}

#[test]
fn every_strategy_repeats_itself_for_a_seed() {
    for name in choosing() {
        assert_eq!(explore(name, 5, 2, 0), explore(name, 5, 2, 0), "{name}");
    }
    assert_ne!(explore("random-path", 5, 1, 0), explore("random-path", 6, 1, 0));
}

#[test]
fn every_strategy_leaves_dropped_candidates_alone() {
    for name in choosing() {
        let (picks, _) = explore(name, 5, 1, 2);
        assert!(!picks.contains(&CandidateId(2)), "{name}");
        assert!(!picks.is_empty(), "{name}");
    }
}

#[test]
fn every_strategy_has_nothing_to_pick_from_an_empty_pool() {
    for name in STRATEGIES {
        let mut strategy = strategy_named(name, &StrategyOptions::default()).expect("known");
        let (program, mut rng) = (chain(), Rng::new(0));
        let marking = Marking::new(&program);
        let pick = strategy.next(&Tree::new(&marking).view(), &mut rng);
        assert_eq!(pick, None, "{name}");
    }
}

#[test]
fn depth_first_goes_deep_and_breadth_first_stays_shallow() {
    let first = |name: &str| explore(name, 0, 1, 0).1[1];
    assert_eq!(first("dfs"), 1 << (DEPTH - 1), "the deepest bit flips first");
    assert_eq!(first("bfs") & 1, 1, "the first bit flips first");
}

/// The branches that the first picks take.
fn first_branches(name: &str, n_picks: usize) -> Vec<(Site, Choice)> {
    let mut strategy = strategy_named(name, &StrategyOptions::default()).expect("known");
    let program = chain();
    let marking = Marking::new(&program);
    let mut tree = Tree::new(&marking);
    let (mut rng, mut rest) = (Rng::new(5), Rng::new(99));
    tree.run(strategy.as_mut(), 0, None);
    let mut pick = || {
        let id = strategy.next(&tree.view(), &mut rng)?;
        tree.pool.take(id);
        let bits = tree.follow(id, &mut rest);
        tree.run(strategy.as_mut(), bits, Some(id));
        tree.pool.candidate(id).branch()
    };
    (0..n_picks).map_while(|_| pick()).collect()
}

#[test]
fn every_second_pick_of_cut_point_search_is_a_branch_that_was_tried_least() {
    let distinct = |branches: &[(Site, Choice)]| branches.iter().copied().collect::<BTreeSet<_>>().len();
    let branches = first_branches("cpgs", 2 * DEPTH as usize);
    for n_picks in (2..branches.len()).step_by(2).take_while(|n_picks| n_picks / 2 < DEPTH as usize) {
        assert!(distinct(&branches[..n_picks]) > n_picks / 2, "{branches:?}");
    }
    assert!(distinct(&branches) >= DEPTH as usize, "{branches:?}");
    assert!(distinct(&first_branches("sdgs", DEPTH as usize)) < DEPTH as usize, "the baseline has no memory");
}

#[test]
fn an_unknown_strategy_is_named_with_the_known_ones() {
    let error = strategy_named("dsf", &StrategyOptions::default()).err().expect("unknown");
    let known = format!("there is no strategy 'dsf'; known are {}", STRATEGIES.join(", "));
    assert_eq!(error.to_string(), known);
}
