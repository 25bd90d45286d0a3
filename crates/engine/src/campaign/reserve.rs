//! Pins as candidates of last resort.
//!
//! Where a run is pinned, another value may lead elsewhere (another callee, another place written) or, more often, just
//! to the same path again. So pins are tried when nothing else is left, and only as long as they lead to new paths now
//! and then.

use std::collections::VecDeque;

use crate::pool::CandidateId;

/// Tries granted at the start, and for each try that led to a new path.
const TRIES: u64 = 256;

#[derive(Default)]
pub(super) struct Reserve {
    waiting: VecDeque<CandidateId>,
    n_tried: u64,
    n_fruitful: u64,
}

impl Reserve {
    pub(super) fn add(&mut self, candidate: CandidateId) {
        self.waiting.push_back(candidate);
    }

    /// The next pin to try, if trying is still worth it.
    pub(super) fn next(&mut self) -> Option<CandidateId> {
        if self.n_tried >= TRIES * (1 + self.n_fruitful) {
            return None;
        }
        let next = self.waiting.pop_front()?;
        self.n_tried += 1;
        Some(next)
    }

    /// Notes that a pin led to a new path.
    pub(super) fn was_fruitful(&mut self) {
        self.n_fruitful += 1;
    }

    /// How many were not tried.
    pub(super) fn n_waiting(&self) -> usize {
        self.waiting.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fruitless_pins_are_given_up() {
        let mut reserve = Reserve::default();
        (0..1000).map(CandidateId).for_each(|id| reserve.add(id));
        let mut n_tried = 0;
        while reserve.next().is_some() {
            n_tried += 1;
            if n_tried == 100 {
                reserve.was_fruitful();
            }
        }
        assert_eq!((n_tried, reserve.n_waiting()), (2 * TRIES, 1000 - 512));
    }
}
