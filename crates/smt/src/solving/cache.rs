//! What do earlier queries say about later ones? All caches are bounded and evict the oldest entry first.

use std::collections::VecDeque;

use crate::assignment::Assignment;
use crate::solver::Verdict;
use crate::term::Term;
use crate::term::hash::FastMap;

const MAX_VERDICTS: usize = 16_384;
const MAX_MODELS: usize = 16;
const MAX_CORES: usize = 4_096;

/// Verdicts by the sorted terms of the query.
#[derive(Debug, Default)]
pub(super) struct ExactCache {
    verdicts: FastMap<Vec<Term>, Verdict>,
    by_age: VecDeque<Vec<Term>>,
}

/// The last different models.
#[derive(Debug, Default)]
pub(super) struct ModelCache {
    models: VecDeque<Assignment>,
}

/// Sets of terms that cannot hold together.
#[derive(Debug, Default)]
pub(super) struct CoreCache {
    /// Sorted cores, oldest first.
    cores: VecDeque<Vec<Term>>,
    /// Number of cores forgotten so far: the sequence number of the oldest.
    n_forgotten: u64,
    /// Sequence numbers of the cores by their greatest term, which is the one a query is least likely to contain.
    by_greatest: FastMap<Term, Vec<u64>>,
}

impl ExactCache {
    pub(super) fn get(&self, key: &[Term]) -> Option<&Verdict> {
        self.verdicts.get(key)
    }

    pub(super) fn insert(&mut self, key: Vec<Term>, verdict: Verdict) {
        if self.by_age.len() == MAX_VERDICTS
            && let Some(oldest) = self.by_age.pop_front()
        {
            self.verdicts.remove(&oldest);
        }
        if self.verdicts.insert(key.clone(), verdict).is_none() {
            self.by_age.push_back(key);
        }
    }
}

impl ModelCache {
    pub(super) fn insert(&mut self, model: Assignment) {
        // A model used again moves to the front.
        self.models.retain(|known| *known != model);
        if self.models.len() == MAX_MODELS {
            self.models.pop_front();
        }
        self.models.push_back(model);
    }

    pub(super) fn newest_first(&self) -> impl Iterator<Item = &Assignment> {
        self.models.iter().rev()
    }
}

impl CoreCache {
    pub(super) fn insert(&mut self, core: &[Term]) {
        let mut core = core.to_vec();
        core.sort_unstable();
        let Some(&greatest) = core.last() else { return };
        if self.subset_of(&core).is_some() {
            return;
        }
        if self.cores.len() == MAX_CORES {
            self.forget_oldest();
        }
        let sequence = self.n_forgotten + self.cores.len() as u64;
        self.by_greatest.entry(greatest).or_default().push(sequence);
        self.cores.push_back(core);
    }

    /// A known core that is part of these sorted terms.
    pub(super) fn subset_of(&self, sorted: &[Term]) -> Option<Vec<Term>> {
        let candidates = sorted.iter().filter_map(|term| self.by_greatest.get(term)).flatten();
        candidates
            .map(|sequence| &self.cores[(sequence - self.n_forgotten) as usize])
            .find(|core| core.iter().all(|term| sorted.binary_search(term).is_ok()))
            .cloned()
    }

    fn forget_oldest(&mut self) {
        if let Some(core) = self.cores.pop_front()
            && let Some(greatest) = core.last()
            && let Some(sequences) = self.by_greatest.get_mut(greatest)
        {
            let forgotten = self.n_forgotten;
            sequences.retain(|&sequence| sequence != forgotten);
            if sequences.is_empty() {
                self.by_greatest.remove(greatest);
            }
        }
        self.n_forgotten += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::term::TermStore;

    fn terms(n_terms: usize) -> Vec<Term> {
        let mut store = TermStore::new();
        (0..n_terms).map(|index| store.var(format!("x{index}"), 1)).collect()
    }

    #[test]
    fn a_core_answers_for_every_superset() {
        let terms = terms(5);
        let mut cores = CoreCache::default();
        cores.insert(&[terms[3], terms[1]]);
        assert_eq!(cores.subset_of(&terms), Some(vec![terms[1], terms[3]]));
        assert_eq!(cores.subset_of(&terms[..3]), None);
    }

    #[test]
    fn the_oldest_core_is_forgotten_first() {
        let terms = terms(MAX_CORES + 1);
        let mut cores = CoreCache::default();
        for &term in &terms {
            cores.insert(&[term]);
        }
        assert_eq!(cores.subset_of(&terms[..1]), None);
        assert_eq!(cores.subset_of(&terms[1..2]), Some(vec![terms[1]]));
        assert_eq!(cores.subset_of(&terms[MAX_CORES..]), Some(vec![terms[MAX_CORES]]));
    }

    #[test]
    fn the_oldest_verdict_is_forgotten_first() {
        let terms = terms(MAX_VERDICTS + 1);
        let mut cache = ExactCache::default();
        for &term in &terms {
            cache.insert(vec![term], Verdict::Unsat { core: vec![term] });
        }
        assert!(cache.get(&terms[..1]).is_none());
        assert!(cache.get(&terms[1..2]).is_some());
    }
}
