//! Fitness-guided search, after Fitnex (Xie, Tillmann, de Halleux, Schulte): one branch that is hard to take at a time.
//!
//! Method: a run's fitness for a target branch is how near it came to taking it. The gain of a branch is what flips to it have
//! improved on average. For each target in turn, the strategy picks among the fittest runs the candidate with the best
//! fitness of its run less the gain of its branch; a flip to the target itself comes first. Limit: a target that only concrete values decide
//! has no fitness.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{BuildHasherDefault, Hasher};

use model::walk::{Choice, Site};

use super::{Strategy, View};
use crate::pool::{CandidateId, RunId};
use crate::rng::Rng;

/// The fittest runs whose candidates are compared for a target.
const MAX_RUNS: usize = 16;

type Branch = (Site, Choice);
/// Branches are numbered as they are met: every pick compares many of them.
type BranchNumber = u32;

#[derive(Default)]
pub(super) struct Fitness {
    numbers: BTreeMap<Branch, BranchNumber>,
    /// By run: its candidates that may be open.
    by_run: Vec<OfRun>,
    /// Before this run, none has any.
    first_open: usize,
    /// Runs by how near they came to a target, and at which step; those without an open candidate are taken out when they
    /// are met.
    by_fitness: BTreeMap<Branch, BTreeMap<(u64, RunId), u32>>,
    /// What flips to branches have improved for targets; looked up for every candidate, never listed.
    gains: HashMap<TargetAndFlip, Gain, BuildHasherDefault<Mixing>>,
    /// How often each target had its turn.
    turns: BTreeMap<Branch, u64>,
    /// The target of each pick, and the fitness that its run should better. Several picks may be under way.
    tried: BTreeMap<CandidateId, (Branch, u64)>,
    /// The target that came nearer since the last pick.
    nearer: Option<Branch>,
    /// What may be a target, and the version of the structure that says so.
    wanted: BTreeSet<Branch>,
    version: u64,
    means: Means,
}

/// The mean gains of flips for the present target, each looked up once per pick.
#[derive(Default)]
struct Means {
    /// By branch: the pick for which it was looked up, and what was found.
    known: Vec<(u64, f64)>,
    pick: u64,
}

impl Means {
    /// Another pick begins.
    fn clear(&mut self) {
        self.pick += 1;
    }

    fn of(&mut self, flip: BranchNumber, find: impl FnOnce() -> f64) -> f64 {
        let flip = flip as usize;
        if self.known.len() <= flip {
            self.known.resize(flip + 1, (0, 0.0));
        }
        let (pick, mean) = &mut self.known[flip];
        if *pick != self.pick {
            (*pick, *mean) = (self.pick, find());
        }
        *mean
    }
}

/// The candidates of a run.
#[derive(Default)]
struct OfRun {
    candidates: Vec<Open>,
    /// The branches that they flip to, each with its first step.
    branches: Vec<(BranchNumber, u32)>,
    /// How many were open in the pool when those were last looked for.
    n_open: Option<usize>,
}

impl OfRun {
    /// The branches that its open candidates flip to. Only those are among its candidates from now on.
    fn branches(&mut self, run: RunId, view: &View<'_>) -> &[(BranchNumber, u32)] {
        let n_open = Some(view.pool.n_open_of(run));
        if self.n_open != n_open {
            self.n_open = n_open;
            self.candidates.retain(|open| view.pool.is_open(open.id));
            self.branches.clear();
            self.branches.extend(self.candidates.iter().map(|open| (open.branch, open.step)));
            self.branches.sort_unstable();
            self.branches.dedup_by_key(|(branch, _)| *branch);
        }
        &self.branches
    }
}

/// A candidate as picks look at it.
struct Open {
    id: CandidateId,
    step: u32,
    branch: BranchNumber,
}

/// A target and the branch of a flip.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct TargetAndFlip(u64);

impl TargetAndFlip {
    fn new(target: BranchNumber, flip: BranchNumber) -> Self {
        Self(u64::from(target) << 32 | u64::from(flip))
    }
}

/// Spreads small numbers over all bits.
#[derive(Default)]
struct Mixing(u64);

impl Hasher for Mixing {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    fn write_u64(&mut self, number: u64) {
        let mixed = (self.0 ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ mixed >> 32;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// What flips to a branch have improved.
#[derive(Clone, Copy, Default)]
struct Gain {
    sum: f64,
    n_flips: f64,
}

impl Gain {
    fn mean(self) -> f64 {
        if self.n_flips > 0.0 { self.sum / self.n_flips } else { 0.0 }
    }
}

impl Strategy for Fitness {
    fn name(&self) -> &'static str {
        "fitness"
    }

    fn wants_branch_distances(&self) -> bool {
        true
    }

    fn add(&mut self, id: CandidateId, view: &View<'_>) {
        let candidate = view.pool.candidate(id);
        let Some(branch) = candidate.branch().map(|branch| self.number(branch)) else { return };
        let run = candidate.run.0 as usize;
        if self.by_run.len() <= run {
            self.by_run.resize_with(run + 1, OfRun::default);
        }
        self.first_open = self.first_open.min(run);
        self.by_run[run].candidates.push(Open { id, step: candidate.step, branch });
    }

    fn ran(&mut self, id: RunId, view: &View<'_>) {
        self.look_for_targets(view);
        let run = view.pool.run(id);
        for (branch, nearest) in &run.distances {
            // meanwhile another run may have covered what made it a target
            if self.wanted.contains(branch) {
                self.by_fitness.entry(*branch).or_default().insert((nearest.distance, id), nearest.step);
            }
        }
        let Some(origin) = run.origin else { return };
        let candidate = view.pool.candidate(origin);
        if let Some(branch) = candidate.branch() {
            let flip = self.number(branch);
            let parent = &view.pool.run(candidate.run).distances;
            for (target, before) in parent {
                // a target that the new run does not come to is no gain
                let after = run
                    .distances
                    .get(target)
                    .map_or(before.distance as f64 * 2.0, |after| after.distance as f64);
                let target = self.number(*target);
                let gain = self.gains.entry(TargetAndFlip::new(target, flip)).or_default();
                gain.sum += before.distance as f64 - after;
                gain.n_flips += 1.0;
            }
        }
        if let Some((target, fitness)) = self.tried.remove(&origin) {
            let reached = run.distances.get(&target).map(|nearest| nearest.distance);
            if run.n_new_goals > 0 || reached.is_some_and(|reached| reached < fitness) {
                self.nearer = Some(target);
            }
        }
    }

    fn refused(&mut self, candidate: CandidateId) {
        self.tried.remove(&candidate);
    }

    fn next(&mut self, view: &View<'_>, rng: &mut Rng) -> Option<CandidateId> {
        self.guided(view, rng).or_else(|| self.any(view))
    }
}

impl Fitness {
    /// Whether a pick brought its target nearer since the last one.
    pub(super) fn improved(&self) -> bool {
        self.nearer.is_some()
    }

    /// The best candidate for the target whose turn it is.
    pub(super) fn guided(&mut self, view: &View<'_>, rng: &mut Rng) -> Option<CandidateId> {
        self.look_for_targets(view);
        // staying with a target that comes nearer, else the one that had the fewest turns
        let staying = self.nearer.take();
        let n_turns = |branch: &Branch| self.turns.get(branch).copied().unwrap_or(0);
        let place = |branch: &Branch| (Some(*branch) != staying, n_turns(branch), *branch);
        let mut targets: Vec<(bool, u64, Branch)> = self.by_fitness.keys().map(place).collect();
        targets.sort_unstable();
        for (_, _, target) in targets {
            if let Some((candidate, fitness)) = self.best_for(target, view, rng) {
                *self.turns.entry(target).or_default() += 1;
                self.tried.insert(candidate, (target, fitness));
                return Some(candidate);
            }
        }
        None
    }

    /// Finds out what may be a target when more has been covered.
    fn look_for_targets(&mut self, view: &View<'_>) {
        if self.version != view.structure.version() {
            self.version = view.structure.version();
            self.wanted = view.structure.targets(view.coverage);
            self.by_fitness.retain(|branch, _| self.wanted.contains(branch));
        }
    }

    fn number(&mut self, branch: Branch) -> BranchNumber {
        let next = BranchNumber::try_from(self.numbers.len()).expect("fewer than 2^32 branches");
        *self.numbers.entry(branch).or_insert(next)
    }

    fn best_for(&mut self, target: Branch, view: &View<'_>, rng: &mut Rng) -> Option<(CandidateId, u64)> {
        let number = self.number(target);
        let runs = self.by_fitness.get_mut(&target)?;
        self.means.clear();
        let mut scores = Scores { target: number, gains: &self.gains, means: &mut self.means };
        // first by branch, because a run has many candidates for few of them
        let mut best = Best { score: f64::INFINITY, runs: Vec::new() };
        let mut exhausted = Vec::new();
        let mut n_runs = 0;
        for (&(fitness, run), &nearest_step) in runs.iter() {
            let of_run = self.by_run.get_mut(run.0 as usize);
            let branches = of_run.map_or(&[][..], |of_run| of_run.branches(run, view));
            if branches.is_empty() {
                exhausted.push((fitness, run));
                continue;
            }
            let fit = Fit { fitness, run, nearest_step };
            let of_branches = branches.iter().filter_map(|(flip, step)| scores.of(&fit, *flip, *step));
            if let Some(score) = of_branches.min_by(f64::total_cmp) {
                best.take(fit, score);
            }
            n_runs += 1;
            if n_runs == MAX_RUNS {
                break;
            }
        }
        // or every pick would pass all of them again
        for entry in exhausted {
            runs.remove(&entry);
        }
        let fitness = best.runs.first()?.fitness;
        let mut equals = Vec::new();
        for fit in &best.runs {
            let candidates = self.by_run[fit.run.0 as usize].candidates.iter();
            let is_best = |open: &&Open| scores.of(fit, open.branch, open.step) == Some(best.score);
            equals.extend(candidates.filter(is_best).map(|open| open.id));
        }
        Some((equals[rng.below(equals.len())], fitness))
    }

    /// What is left when no target can be measured: the oldest candidate.
    fn any(&mut self, view: &View<'_>) -> Option<CandidateId> {
        while let Some(of_run) = self.by_run.get_mut(self.first_open) {
            let run = RunId(u32::try_from(self.first_open).expect("fewer than 2^32 runs"));
            if !of_run.branches(run, view).is_empty() {
                of_run.n_open = None;
                return Some(of_run.candidates.remove(0).id);
            }
            self.first_open += 1;
        }
        None
    }
}

/// A run, how near it came to the target, and at which step.
struct Fit {
    fitness: u64,
    run: RunId,
    nearest_step: u32,
}

/// Scores candidates for a target.
struct Scores<'a> {
    target: BranchNumber,
    gains: &'a HashMap<TargetAndFlip, Gain, BuildHasherDefault<Mixing>>,
    means: &'a mut Means,
}

impl Scores<'_> {
    /// The score of a flip at a step of a run: the less the better.
    fn of(&mut self, run: &Fit, flip: BranchNumber, step: u32) -> Option<f64> {
        if flip == self.target {
            return Some(f64::NEG_INFINITY);
        }
        // flipping a later step cannot change what happens at the target
        if step >= run.nearest_step {
            return None;
        }
        let gain = || self.gains.get(&TargetAndFlip::new(self.target, flip)).copied().unwrap_or_default();
        Some(run.fitness as f64 - self.means.of(flip, || gain().mean()))
    }
}

/// The runs with the best score.
struct Best {
    score: f64,
    runs: Vec<Fit>,
}

impl Best {
    fn take(&mut self, run: Fit, score: f64) {
        if self.runs.is_empty() || score < self.score {
            self.score = score;
            self.runs.clear();
            self.runs.push(run);
        } else if score == self.score {
            self.runs.push(run);
        }
    }
}
