//! Predictive path search (coverage-driven DSE, section IV): the candidate that may cover most at once. Must-relevant
//! ones come before may-relevant ones; then more open goals within some levels behind the flip, then the shorter prefix.

use coverage::structure::{OutlookId, Relevance};

use super::ranked::Ranked;
use super::{Strategy, View};
use crate::pool::CandidateId;
use crate::rng::Rng;

pub(super) struct PredictivePathSearch {
    n_levels: u32,
    candidates: Ranked<(Relevance, usize)>,
}

impl PredictivePathSearch {
    pub(super) fn new(n_levels: u32) -> Self {
        Self { n_levels, candidates: Ranked::default() }
    }
}

impl PredictivePathSearch {
    /// The relevance of what would be picked next.
    pub(super) fn best(&mut self, view: &View<'_>) -> Option<Relevance> {
        let n_levels = self.n_levels;
        self.candidates.peek(view, |outlook| rank(outlook, n_levels, view)).map(|(relevance, _)| *relevance)
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

    fn next(&mut self, view: &View<'_>, _: &mut Rng) -> Option<CandidateId> {
        let n_levels = self.n_levels;
        self.candidates.pop(view, |outlook| rank(outlook, n_levels, view))
    }
}
