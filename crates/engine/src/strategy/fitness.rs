//! Fitness-guided search, after Fitnex (Xie, Tillmann, de Halleux, Schulte): one branch that is hard to take at a time.
//!
//! Method: a run's fitness for a target branch is how near it came to taking it. The gain of a branch is what flips to it have
//! improved on average. For each target in turn, the strategy picks among the fittest runs the candidate with the best
//! fitness of its run less the gain of its branch; a flip to the target itself comes first. Limit: a target that only concrete values decide
//! has no fitness.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use model::walk::{Choice, Site};

use super::{Strategy, View};
use crate::branch_distance::NearestStep;
use crate::pool::{CandidateId, RunId};
use crate::rng::Rng;

/// The fittest runs whose candidates are compared for a target.
const MAX_RUNS: usize = 16;

type Branch = (Site, Choice);

/// What flips to branches have improved for one target; looked up for every candidate, never listed.
type Gains = HashMap<Branch, Gain>;

#[derive(Default)]
pub(super) struct Fitness {
    /// The candidates of each run that may be open.
    by_run: BTreeMap<RunId, Vec<CandidateId>>,
    /// Runs by how near they came to a target; those without an open candidate are taken out when they are met.
    by_fitness: BTreeMap<Branch, BTreeSet<(u64, RunId)>>,
    gains: BTreeMap<Branch, Gains>,
    /// How often each target had its turn.
    turns: BTreeMap<Branch, u64>,
    /// The last pick and the fitness that its run should better.
    tried: Option<(CandidateId, Branch, u64)>,
    improved: bool,
    /// The version of the structure that the targets are of.
    version: u64,
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

    fn add(&mut self, candidate: CandidateId, view: &View<'_>) {
        let id = view.pool.candidate(candidate).run;
        let candidates = self.by_run.entry(id).or_default();
        if candidates.is_empty() {
            // it may have been taken out
            for (branch, nearest) in &view.pool.run(id).distances {
                if let Some(runs) = self.by_fitness.get_mut(branch) {
                    runs.insert((nearest.distance, id));
                }
            }
        }
        candidates.push(candidate);
    }

    fn ran(&mut self, id: RunId, view: &View<'_>) {
        let run = view.pool.run(id);
        for (branch, nearest) in &run.distances {
            self.by_fitness.entry(*branch).or_default().insert((nearest.distance, id));
        }
        let Some(origin) = run.origin else { return };
        let candidate = view.pool.candidate(origin);
        if let Some(branch) = candidate.branch() {
            let parent = &view.pool.run(candidate.run).distances;
            for (target, before) in parent {
                // a target that the new run does not come to is no gain
                let after = run
                    .distances
                    .get(target)
                    .map_or(before.distance as f64 * 2.0, |after| after.distance as f64);
                let gain = self.gains.entry(*target).or_default().entry(branch).or_default();
                gain.sum += before.distance as f64 - after;
                gain.n_flips += 1.0;
            }
        }
        if let Some((tried, target, fitness)) = self.tried
            && tried == origin
        {
            let reached = run.distances.get(&target).map(|nearest| nearest.distance);
            self.improved = run.n_new_goals > 0 || reached.is_some_and(|reached| reached < fitness);
        }
    }

    fn next(&mut self, view: &View<'_>, rng: &mut Rng) -> Option<CandidateId> {
        self.guided(view, rng).or_else(|| self.any(view))
    }
}

impl Fitness {
    /// Whether the last pick brought its target nearer.
    pub(super) fn improved(&self) -> bool {
        self.improved
    }

    /// The best candidate for the target whose turn it is.
    pub(super) fn guided(&mut self, view: &View<'_>, rng: &mut Rng) -> Option<CandidateId> {
        if self.version != view.structure.version() {
            self.version = view.structure.version();
            let wanted = view.structure.targets(view.coverage);
            self.by_fitness.retain(|branch, _| wanted.contains(branch));
        }
        let mut targets: Vec<Branch> = self.by_fitness.keys().copied().collect();
        // staying with a target that comes nearer, else the one that had the fewest turns
        let staying = self.tried.filter(|_| self.improved).map(|(_, target, _)| target);
        targets.sort_by_key(|branch| {
            (Some(*branch) != staying, self.turns.get(branch).copied().unwrap_or(0), *branch)
        });
        self.improved = false;
        for target in targets {
            if let Some((candidate, fitness)) = self.best_for(target, view, rng) {
                *self.turns.entry(target).or_default() += 1;
                self.tried = Some((candidate, target, fitness));
                return Some(candidate);
            }
        }
        None
    }

    fn best_for(&mut self, target: Branch, view: &View<'_>, rng: &mut Rng) -> Option<(CandidateId, u64)> {
        let mut best: Option<(f64, Vec<CandidateId>, u64)> = None;
        let mut n_runs = 0;
        let gains = self.gains.entry(target).or_default();
        let runs = self.by_fitness.get_mut(&target)?;
        let mut exhausted = Vec::new();
        for &(fitness, run) in runs.iter() {
            let Some(candidates) = self.by_run.get_mut(&run) else {
                exhausted.push((fitness, run));
                continue;
            };
            candidates.retain(|candidate| view.pool.is_open(*candidate));
            if candidates.is_empty() {
                self.by_run.remove(&run);
                exhausted.push((fitness, run));
                continue;
            }
            let nearest = view.pool.run(run).distances[&target];
            for candidate in candidates.iter().copied() {
                let Some(score) = score(candidate, target, nearest, gains, view) else { continue };
                match &mut best {
                    Some((least, equals, _)) if *least == score => equals.push(candidate),
                    Some((least, ..)) if *least < score => {}
                    Some(_) | None => best = Some((score, vec![candidate], fitness)),
                }
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
        let (_, equals, fitness) = best?;
        Some((equals[rng.below(equals.len())], fitness))
    }

    /// What is left when no target can be measured: the oldest candidate.
    fn any(&mut self, view: &View<'_>) -> Option<CandidateId> {
        while let Some(mut first) = self.by_run.first_entry() {
            first.get_mut().retain(|candidate| view.pool.is_open(*candidate));
            if first.get().is_empty() {
                first.remove();
            } else {
                return Some(first.get_mut().remove(0));
            }
        }
        None
    }
}

/// The less, the better; `None` when flipping this cannot change what happens at the target.
fn score(
    id: CandidateId,
    target: Branch,
    nearest: NearestStep,
    gains: &Gains,
    view: &View<'_>,
) -> Option<f64> {
    let candidate = view.pool.candidate(id);
    let branch = candidate.branch()?;
    if branch == target {
        return Some(f64::NEG_INFINITY);
    }
    if candidate.step >= nearest.step {
        return None;
    }
    let gain = gains.get(&branch).copied().unwrap_or_default().mean();
    Some(nearest.distance as f64 - gain)
}
