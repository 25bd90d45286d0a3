//! CREST's CFG-directed search: from the present path, the flip that is nearest to something uncovered.
//!
//! Method: a run that covers something new, or comes nearer, becomes the present path. A flip that did neither makes its
//! branch less attractive. When the path has nothing left, or too many flips in a row led nowhere, the search starts again
//! from a random path. Limit: CREST restarts from a random input, here a path that was taken is continued.

use std::collections::{BTreeMap, BTreeSet};

use super::{Strategy, View};
use crate::pool::{CandidateId, RunId};
use crate::rng::Rng;
use crate::trace::Choice;
use model::walk::Site;

/// Flips in a row that may lead nowhere.
const MAX_FAILURES: u32 = 16;

#[derive(Default)]
pub(super) struct CfgDirected {
    /// The candidates of each run that may be open.
    by_run: BTreeMap<RunId, Vec<CandidateId>>,
    present: Option<RunId>,
    /// How near the present path's best flip was.
    nearest: u32,
    n_failures: u32,
    /// How often a branch was tried without success.
    n_failures_of: BTreeMap<(Site, Choice), u32>,
    /// Picks whose runs have not been heard of.
    tried: BTreeSet<CandidateId>,
}

impl Strategy for CfgDirected {
    fn name(&self) -> &'static str {
        "cfg-directed"
    }

    fn ran(&mut self, run: RunId, view: &View<'_>) {
        let progressed = view.pool.run(run).n_new_goals > 0 || self.present.is_none();
        let tried = view.pool.run(run).origin.filter(|origin| self.tried.remove(origin));
        if progressed {
            self.continue_from(run);
        } else if tried.is_some() && self.distance_of(run, view) < self.nearest {
            self.present = Some(run);
        } else {
            self.n_failures += 1;
            if let Some(branch) = tried.and_then(|tried| view.pool.candidate(tried).branch()) {
                *self.n_failures_of.entry(branch).or_default() += 1;
            }
        }
    }

    fn add(&mut self, candidate: CandidateId, view: &View<'_>) {
        self.by_run.entry(view.pool.candidate(candidate).run).or_default().push(candidate);
    }

    fn refused(&mut self, candidate: CandidateId) {
        self.tried.remove(&candidate);
    }

    fn next(&mut self, view: &View<'_>, rng: &mut Rng) -> Option<CandidateId> {
        loop {
            if self.n_failures > MAX_FAILURES {
                self.restart(rng);
            }
            let present = match self.present {
                Some(present) if self.by_run.contains_key(&present) => present,
                Some(_) | None => {
                    self.restart(rng);
                    self.present?
                }
            };
            match self.best_of(present, view) {
                Some((distance, candidate)) => {
                    self.nearest = distance;
                    self.tried.insert(candidate);
                    return Some(candidate);
                }
                None => {
                    self.by_run.remove(&present);
                }
            }
        }
    }
}

impl CfgDirected {
    fn continue_from(&mut self, run: RunId) {
        self.present = Some(run);
        self.n_failures = 0;
    }

    fn restart(&mut self, rng: &mut Rng) {
        self.n_failures = 0;
        self.nearest = u32::MAX;
        let at = rng.below(self.by_run.len().max(1));
        self.present = self.by_run.keys().nth(at).copied();
    }

    /// Takes out the nearest open candidate of a run, branches tried without success counting as further; the earliest of equals.
    fn best_of(&mut self, run: RunId, view: &View<'_>) -> Option<(u32, CandidateId)> {
        let candidates = self.by_run.get_mut(&run)?;
        candidates.retain(|candidate| view.pool.is_open(*candidate));
        let n_failures_of = &self.n_failures_of;
        let attraction = |candidate: &CandidateId| {
            let n_failed = view
                .pool
                .candidate(*candidate)
                .branch()
                .and_then(|branch| n_failures_of.get(&branch))
                .copied();
            let distance = u64::from(distance(*candidate, view));
            (distance + 1) * u64::from(1 + n_failed.unwrap_or(0))
        };
        let (at, _) =
            candidates.iter().enumerate().min_by_key(|(at, candidate)| (attraction(candidate), *at))?;
        let candidate = candidates.remove(at);
        Some((distance(candidate, view), candidate))
    }

    /// How near the best flip of a run is.
    fn distance_of(&self, run: RunId, view: &View<'_>) -> u32 {
        let candidates = self.by_run.get(&run).into_iter().flatten();
        candidates.map(|candidate| distance(*candidate, view)).min().unwrap_or(u32::MAX)
    }
}

fn distance(candidate: CandidateId, view: &View<'_>) -> u32 {
    view.structure.distance(view.pool.candidate(candidate).outlook).unwrap_or(u32::MAX)
}
