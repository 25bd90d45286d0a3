//! Random path, after KLEE: walk down the tree of paths from its root; at each fork choose randomly among the branches that
//! still lead to a candidate. Short paths are favoured, and no subtree can starve the others.
//!
//! Method: a run contributes the stretch of tree behind the candidate it was made for: its forks in order, each with its
//! candidates; a candidate that was tried leads to the stretch of its run. Numbers of waiting candidates are kept per
//! stretch. Limit: a run that diverged still hangs where it was expected.

use std::collections::BTreeMap;

use super::{Strategy, View};
use crate::pool::{CandidateId, RunId};
use crate::rng::Rng;

#[derive(Default)]
pub(super) struct RandomPath {
    stretches: BTreeMap<RunId, Stretch>,
    /// The runs made for candidates that were tried.
    continuations: BTreeMap<CandidateId, RunId>,
    roots: Vec<RunId>,
}

/// The tree behind a run's origin.
struct Stretch {
    /// Where the stretch hangs.
    parent: Option<RunId>,
    forks: Vec<Fork>,
    /// Candidates waiting here and in all stretches that hang from this one.
    n_open: usize,
}

struct Fork {
    step: u32,
    branches: Vec<ForkBranch>,
}

#[derive(Clone, Copy)]
struct ForkBranch {
    candidate: CandidateId,
    tried: bool,
}

impl Strategy for RandomPath {
    fn name(&self) -> &'static str {
        "random-path"
    }

    fn add(&mut self, id: CandidateId, view: &View<'_>) {
        let candidate = view.pool.candidate(id);
        self.know(candidate.run, view);
        let stretch = self.stretches.get_mut(&candidate.run).expect("the run has just been made known");
        let branch = ForkBranch { candidate: id, tried: false };
        match stretch.forks.last_mut() {
            Some(fork) if fork.step == candidate.step => fork.branches.push(branch),
            _ => stretch.forks.push(Fork { step: candidate.step, branches: vec![branch] }),
        }
        self.count(candidate.run, |n_open| n_open + 1);
    }

    fn next(&mut self, view: &View<'_>, rng: &mut Rng) -> Option<CandidateId> {
        loop {
            let id = self.descend(rng)?;
            let candidate = view.pool.candidate(id);
            self.mark_tried(candidate.run, candidate.step, id);
            if view.pool.is_open(id) {
                return Some(id);
            }
        }
    }
}

impl RandomPath {
    fn know(&mut self, run: RunId, view: &View<'_>) {
        if self.stretches.contains_key(&run) {
            return;
        }
        // a candidate this strategy never heard of has no place in the tree
        let origin = view.pool.run(run).origin.filter(|origin| self.is_known(*origin, view));
        let parent = origin.map(|origin| view.pool.candidate(origin).run);
        match origin {
            Some(origin) => {
                self.continuations.insert(origin, run);
            }
            None => self.roots.push(run),
        }
        self.stretches.insert(run, Stretch { parent, forks: Vec::new(), n_open: 0 });
    }

    fn is_known(&self, id: CandidateId, view: &View<'_>) -> bool {
        let candidate = view.pool.candidate(id);
        self.stretches.get(&candidate.run).is_some_and(|stretch| {
            let fork = stretch.forks.binary_search_by_key(&candidate.step, |fork| fork.step);
            fork.is_ok_and(|fork| stretch.forks[fork].branches.iter().any(|branch| branch.candidate == id))
        })
    }

    /// Changes the number of waiting candidates in a stretch and all it hangs from.
    fn count(&mut self, run: RunId, change: impl Fn(usize) -> usize) {
        let mut at = Some(run);
        while let Some(run) = at {
            let stretch = self.stretches.get_mut(&run).expect("a stretch hangs from one that is known");
            stretch.n_open = change(stretch.n_open);
            at = stretch.parent;
        }
    }

    fn n_open(&self, branch: ForkBranch) -> usize {
        // another strategy may have tried it, so that a run hangs from it although it was not picked here
        let hanging = self.continuations.get(&branch.candidate).map_or(0, |run| self.stretches[run].n_open);
        usize::from(!branch.tried) + hanging
    }

    fn descend(&self, rng: &mut Rng) -> Option<CandidateId> {
        let roots: Vec<RunId> =
            self.roots.iter().copied().filter(|run| self.stretches[run].n_open > 0).collect();
        let mut run = *roots.get(rng.below(roots.len().max(1)))?;
        loop {
            let branch = self.leave(run, rng);
            if !branch.tried {
                return Some(branch.candidate);
            }
            run = self.continuations[&branch.candidate];
        }
    }

    /// Goes along a stretch that has something waiting and leaves it at some fork.
    fn leave(&self, run: RunId, rng: &mut Rng) -> ForkBranch {
        let stretch = &self.stretches[&run];
        let mut n_ahead = stretch.n_open;
        for fork in &stretch.forks {
            let alive: Vec<ForkBranch> =
                fork.branches.iter().copied().filter(|branch| self.n_open(*branch) > 0).collect();
            if alive.is_empty() {
                continue;
            }
            n_ahead -= alive.iter().map(|branch| self.n_open(*branch)).sum::<usize>();
            let n_branches = alive.len() + usize::from(n_ahead > 0);
            if let Some(branch) = alive.get(rng.below(n_branches)) {
                return *branch;
            }
        }
        unreachable!("what waits in a stretch waits at one of its forks")
    }

    fn mark_tried(&mut self, run: RunId, step: u32, id: CandidateId) {
        let stretch = self.stretches.get_mut(&run).expect("the candidate was added with its run");
        let fork = stretch.forks.binary_search_by_key(&step, |fork| fork.step);
        let fork = &mut stretch.forks[fork.expect("the candidate was added at its step")];
        let branch = fork.branches.iter_mut().find(|branch| branch.candidate == id);
        branch.expect("the candidate was added at its step").tried = true;
        self.count(run, |n_open| n_open - 1);
    }
}
