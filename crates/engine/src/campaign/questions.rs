//! Can this access go outside of its object? Asked once in a while, apart from the goals.
//!
//! Nobody asks for it by a criterion, so it must not take the time of what was asked for: one question among many picks,
//! and the rest when everything else is done. An access of the source that was seen to go outside is not asked about
//! again.

use std::collections::{BTreeSet, VecDeque};

use model::SpanId;

use crate::pool::CandidateId;

/// Picks of the strategy between two questions.
const PICKS_BETWEEN: u32 = 16;

#[derive(Default)]
pub(super) struct Questions {
    waiting: VecDeque<(CandidateId, SpanId)>,
    answered: BTreeSet<SpanId>,
    n_picks: u32,
}

impl Questions {
    pub(super) fn add(&mut self, candidate: CandidateId, place: SpanId) {
        self.waiting.push_back((candidate, place));
    }

    /// Notes that an access goes outside of its object.
    pub(super) fn answer(&mut self, place: SpanId) {
        self.answered.insert(place);
        self.waiting.retain(|(_, waiting)| *waiting != place);
    }

    /// A question, if it is time for one.
    pub(super) fn due(&mut self) -> Option<CandidateId> {
        self.n_picks += 1;
        if self.n_picks.is_multiple_of(PICKS_BETWEEN) { self.next() } else { None }
    }

    /// The next question.
    pub(super) fn next(&mut self) -> Option<CandidateId> {
        loop {
            let (candidate, place) = self.waiting.pop_front()?;
            if !self.answered.contains(&place) {
                return Some(candidate);
            }
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answered_question_is_not_asked_again() {
        let mut questions = Questions::default();
        for (id, place) in [(1, 10), (2, 20), (3, 10)] {
            questions.add(CandidateId(id), SpanId(place));
        }
        assert_eq!(questions.next(), Some(CandidateId(1)));
        questions.answer(SpanId(10));
        questions.add(CandidateId(4), SpanId(10));
        assert_eq!(questions.next(), Some(CandidateId(2)));
        assert_eq!(questions.next(), None);
    }

    #[test]
    fn few_picks_are_questions() {
        let mut questions = Questions::default();
        (0..100).for_each(|id| questions.add(CandidateId(id), SpanId(id)));
        let n_asked = (0..160).filter(|_| questions.due().is_some()).count();
        assert_eq!(n_asked, 10);
    }
}
