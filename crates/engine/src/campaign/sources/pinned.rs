//! Do other values at pins lead to other paths?
//!
//! Where a run is pinned to a value, another value may lead elsewhere (another callee, another place written) or, more
//! often, just to the same path again. So the alternatives are tried when nothing else is left, and only as long as they
//! lead to new paths now and then.

use std::collections::VecDeque;

use crate::campaign::source::{Answer, CampaignView, News, Occasion, Proposal, Source};
use crate::pool::{CandidateId, RunId, Turn};
use crate::rng::Rng;

/// Tries granted at the start, and for each try that led to a new path.
const TRIES: u64 = 256;

/// Candidates for other values where runs were pinned.
#[derive(Default)]
pub(in crate::campaign) struct PinnedAlternatives {
    waiting: VecDeque<CandidateId>,
    n_tried: u64,
    n_fruitful: u64,
}

impl PinnedAlternatives {
    /// How many were not tried.
    #[cfg(test)]
    fn n_waiting(&self) -> usize {
        self.waiting.len()
    }

    /// How many tries it has in all.
    pub(super) fn allowance(&self) -> u64 {
        TRIES * (1 + self.n_fruitful)
    }

    /// The next pin to try, if trying is still worth it.
    fn next(&mut self) -> Option<CandidateId> {
        if self.n_tried >= self.allowance() {
            return None;
        }
        let next = self.waiting.pop_front()?;
        self.n_tried += 1;
        Some(next)
    }

    fn collect(&mut self, run: RunId, candidates: &[CandidateId], view: &CampaignView<'_>) {
        let turn = |id: CandidateId| view.pool.candidate(id).turn;
        let mut is_new_path = false;
        for id in candidates {
            match turn(*id) {
                Turn::Pin { .. } => self.waiting.push_back(*id),
                Turn::Step { .. } => is_new_path = true,
                Turn::Bounds { .. } => {}
            }
        }
        let was_pin = view.pool.run(run).origin.is_some_and(|id| matches!(turn(id), Turn::Pin { .. }));
        self.n_fruitful += u64::from(was_pin && is_new_path);
    }
}

impl Source for PinnedAlternatives {
    fn propose(&mut self, _: Occasion, _: &CampaignView<'_>, _: &mut Rng) -> Answer {
        self.next().map_or(Answer::Pass, |candidate| Answer::Propose(Proposal::Flip(candidate)))
    }

    fn heard(&mut self, news: &News<'_>, view: &CampaignView<'_>) {
        match news {
            News::Collected { run, candidates } => self.collect(*run, candidates, view),
            News::Worked { .. }
            | News::Tried { .. }
            | News::Unsolved { .. }
            | News::Ran(_)
            | News::Read { .. } => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fruitless_pins_are_given_up() {
        let mut pinned = PinnedAlternatives::default();
        pinned.waiting.extend((0..1000).map(CandidateId));
        let mut n_tried = 0;
        while pinned.next().is_some() {
            n_tried += 1;
            if n_tried == 100 {
                pinned.n_fruitful += 1;
            }
        }
        assert_eq!((n_tried, pinned.n_waiting()), (2 * TRIES, 1000 - 512));
    }
}
