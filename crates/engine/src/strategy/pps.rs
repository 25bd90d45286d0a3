//! Predictive path search (coverage-driven DSE, section IV): the candidate that may cover most at once. Must-relevant
//! ones come before may-relevant ones; then more open goals within some levels behind the flip, then the shorter prefix.
//! While several picks are under way, what is must-relevant by the branch that one of them takes waits for it: it would most likely
//! cover the same.

use std::collections::BTreeMap;

use coverage::structure::{OutlookId, Relevance};
use model::walk::{Choice, Site};

use super::ranked::Ranked;
use super::{Strategy, View};
use crate::pool::CandidateId;
use crate::rng::Rng;

pub(super) struct PredictivePathSearch {
    n_levels: u32,
    candidates: Ranked<(Relevance, usize)>,
    /// The branches that picks take that have not been worked off.
    under_way: BTreeMap<CandidateId, (Site, Choice)>,
}

impl PredictivePathSearch {
    pub(super) fn new(n_levels: u32) -> Self {
        Self { n_levels, candidates: Ranked::default(), under_way: BTreeMap::new() }
    }

    /// Whether anything is left.
    pub(super) fn has_open(&mut self, view: &View<'_>) -> bool {
        let n_levels = self.n_levels;
        self.candidates.peek(view, |outlook| rank(outlook, n_levels, view)).is_some()
    }

    /// The relevance of what would be picked next.
    pub(super) fn best(&mut self, view: &View<'_>) -> Option<Relevance> {
        self.find(view).map(|((relevance, _), _)| relevance)
    }

    /// Notes that a candidate was picked, also by somebody else; until [`Strategy::cost`] tells of it.
    pub(super) fn picked(&mut self, candidate: CandidateId, view: &View<'_>) {
        if let Some(branch) = view.pool.candidate(candidate).branch() {
            self.under_way.insert(candidate, branch);
        }
    }

    /// The best that need not wait for a pick that is under way.
    fn find(&mut self, view: &View<'_>) -> Option<((Relevance, usize), CandidateId)> {
        let (n_levels, under_way) = (self.n_levels, &self.under_way);
        let is_welcome = |(relevance, _): &(Relevance, usize), candidate: CandidateId| {
            let branch = view.pool.candidate(candidate).branch();
            *relevance != Relevance::Must || !under_way.values().any(|taken| Some(*taken) == branch)
        };
        self.candidates.find(view, |outlook| rank(outlook, n_levels, view), is_welcome)
    }
}

fn rank(outlook: OutlookId, n_levels: u32, view: &View<'_>) -> (Relevance, usize) {
    let View { coverage, structure, .. } = view;
    (structure.relevance(outlook, coverage), structure.potential(outlook, n_levels, coverage))
}

impl Strategy for PredictivePathSearch {
    fn name(&self) -> &'static str {
        "pps"
    }

    fn add(&mut self, candidate: CandidateId, view: &View<'_>) {
        let n_levels = self.n_levels;
        self.candidates.add(candidate, view, |outlook| rank(outlook, n_levels, view));
    }

    fn cost(&mut self, candidate: CandidateId, _effort: u64) {
        self.under_way.remove(&candidate);
    }

    fn refused(&mut self, candidate: CandidateId) {
        self.under_way.remove(&candidate);
    }

    fn next(&mut self, view: &View<'_>, _: &mut Rng) -> Option<CandidateId> {
        let n_levels = self.n_levels;
        let candidate = match self.find(view) {
            Some((_, candidate)) => {
                self.candidates.take(candidate, view);
                candidate
            }
            None => self.candidates.pop(view, |outlook| rank(outlook, n_levels, view))?,
        };
        self.picked(candidate, view);
        Some(candidate)
    }
}
