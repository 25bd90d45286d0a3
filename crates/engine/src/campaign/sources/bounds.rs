//! Can this access go out of bounds? Asked now and then, apart from the goals.
//!
//! No criterion asks for it, so it must not take the time of what was asked for: one query among many picks of the strategy,
//! and the rest when everything else is done. An access of the source that has been out of bounds is not asked about again.

use std::collections::{BTreeSet, VecDeque};

use model::SpanId;

use crate::campaign::source::{Answer, CampaignView, News, Occasion, Proposal, Source};
use crate::pool::{CandidateId, Turn};
use crate::rng::Rng;

/// Picks of the strategy between two queries.
const PICKS_BETWEEN: u32 = 16;

/// Queries for inputs with which an access goes out of bounds.
#[derive(Default)]
pub(in crate::campaign) struct BoundsQueries {
    waiting: VecDeque<(CandidateId, SpanId)>,
    /// Accesses that have been out of bounds.
    answered: BTreeSet<SpanId>,
    n_picks: u32,
}

impl BoundsQueries {
    pub(in crate::campaign) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    fn add(&mut self, candidate: CandidateId, access: SpanId) {
        self.waiting.push_back((candidate, access));
    }

    /// Notes that an access was out of bounds.
    fn answer(&mut self, access: SpanId) {
        self.answered.insert(access);
        self.waiting.retain(|(_, waiting)| *waiting != access);
    }

    /// A query, if it is time for one.
    fn due(&mut self) -> Option<CandidateId> {
        self.n_picks += 1;
        if self.n_picks.is_multiple_of(PICKS_BETWEEN) { self.next() } else { None }
    }

    fn next(&mut self) -> Option<CandidateId> {
        loop {
            let (candidate, access) = self.waiting.pop_front()?;
            if !self.answered.contains(&access) {
                return Some(candidate);
            }
        }
    }
}

impl Source for BoundsQueries {
    fn propose(&mut self, occasion: Occasion, _: &CampaignView<'_>, _: &mut Rng) -> Answer {
        let candidate = match occasion {
            Occasion::InTurn => self.due(),
            Occasion::LastResort => self.next(),
        };
        candidate.map_or(Answer::Pass, |candidate| Answer::Propose(Proposal::Flip(candidate)))
    }

    fn heard(&mut self, news: &News<'_>, view: &CampaignView<'_>) {
        match news {
            News::Ran(run) => {
                if let Some(outside) = run.outside {
                    self.answer(SpanId(outside.place));
                }
            }
            News::Collected { candidates, .. } => {
                for id in *candidates {
                    match view.pool.candidate(*id).turn {
                        Turn::Bounds { place, .. } => self.add(*id, place),
                        Turn::Step { .. } | Turn::Pin { .. } => {}
                    }
                }
            }
            News::Worked { .. } | News::Tried { .. } | News::Unsolved { .. } | News::Read { .. } => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answered_query_is_not_asked_again() {
        let mut queries = BoundsQueries::default();
        for (id, access) in [(1, 10), (2, 20), (3, 10)] {
            queries.add(CandidateId(id), SpanId(access));
        }
        assert_eq!(queries.next(), Some(CandidateId(1)));
        queries.answer(SpanId(10));
        queries.add(CandidateId(4), SpanId(10));
        assert_eq!(queries.next(), Some(CandidateId(2)));
        assert_eq!(queries.next(), None);
    }

    #[test]
    fn few_picks_are_bounds_queries() {
        let mut queries = BoundsQueries::default();
        (0..100).for_each(|id| queries.add(CandidateId(id), SpanId(id)));
        let n_asked = (0..160).filter(|_| queries.due().is_some()).count();
        assert_eq!(n_asked, 10);
    }
}
