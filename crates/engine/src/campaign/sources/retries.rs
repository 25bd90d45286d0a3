//! Which queries deserve a second attempt, and how much may a query cost?
//!
//! Method: little at first, so that hard queries do not keep the search from easy ones. A query that ran into its limit waits
//! until nothing else is left, and is then retried with a larger one. Limits count the solver's effort, not time: a busy
//! machine must not change the order of the search. Processor time only ends queries whose effort takes far longer than
//! usual.

use std::collections::VecDeque;
use std::time::Duration;

use smt::Limit;

use crate::campaign::source::{Answer, CampaignView, News, Occasion, Proposal, Source};
use crate::pool::CandidateId;
use crate::rng::Rng;

/// About a quarter of a second of Bitwuzla's work.
const FIRST: u64 = 4_000;
const FACTOR: u64 = 5;
/// The part of the processor time that a query has at first.
const FIRST_PART: u32 = 3;

/// Candidates whose queries ran into a limit.
pub(in crate::campaign) struct RetryQueue {
    limit: Limit,
    /// The limit in the end.
    most: Limit,
    /// To be retried with the next limit.
    later: VecDeque<CandidateId>,
    /// To be retried with this limit.
    now: VecDeque<CandidateId>,
    n_given_up: u64,
}

impl RetryQueue {
    /// A queue with limits up to this effort and processor time per query.
    pub(super) fn new(effort: u64, processor_time: Duration) -> Self {
        let most = Limit { time: Duration::MAX, effort: Some(effort), processor_time };
        let limit =
            Limit { effort: Some(FIRST.min(effort)), processor_time: processor_time / FIRST_PART, ..most };
        Self { limit, most, later: VecDeque::new(), now: VecDeque::new(), n_given_up: 0 }
    }

    /// What a query may cost now.
    pub(in crate::campaign) fn limit(&self) -> Limit {
        self.limit
    }

    /// Candidates that the solver did not decide with any limit.
    pub(in crate::campaign) fn n_given_up(&self) -> u64 {
        self.n_given_up
    }

    /// How many wait.
    pub(in crate::campaign) fn n_waiting(&self) -> usize {
        self.now.len() + self.later.len()
    }

    /// Takes in a candidate whose query was not answered.
    fn add(&mut self, candidate: CandidateId, timed_out: bool) {
        if timed_out && self.limit != self.most {
            self.later.push_back(candidate);
        } else {
            self.n_given_up += 1;
        }
    }

    /// The next candidate to retry, with a larger limit when all have had the present one.
    fn next(&mut self) -> Option<CandidateId> {
        if self.now.is_empty() && !self.later.is_empty() {
            let more = self.limit.effort.map(|effort| effort * FACTOR);
            self.limit =
                if more < self.most.effort { Limit { effort: more, ..self.limit } } else { self.most };
            std::mem::swap(&mut self.now, &mut self.later);
        }
        self.now.pop_front()
    }
}

impl Source for RetryQueue {
    fn propose(&mut self, _: Occasion, _: &CampaignView<'_>, _: &mut Rng) -> Answer {
        self.next().map_or(Answer::Pass, |candidate| Answer::Propose(Proposal::Flip(candidate)))
    }

    fn heard(&mut self, news: &News<'_>, _: &CampaignView<'_>) {
        match news {
            News::Unsolved { candidate, timed_out } => self.add(*candidate, *timed_out),
            News::Worked { .. }
            | News::Tried { .. }
            | News::Ran(_)
            | News::Read { .. }
            | News::Collected { .. } => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_grow_until_a_query_is_given_up() {
        let mut retries = RetryQueue::new(3 * FIRST * FACTOR, Duration::from_secs(6));
        let mut limits = vec![retries.limit()];
        retries.add(CandidateId(1), true);
        retries.add(CandidateId(2), true);
        assert_eq!(retries.next(), Some(CandidateId(1)));
        limits.push(retries.limit());
        retries.add(CandidateId(1), true);
        assert_eq!(retries.next(), Some(CandidateId(2)), "the same for all first");
        limits.push(retries.limit());
        assert_eq!(retries.next(), Some(CandidateId(1)));
        limits.push(retries.limit());
        assert_eq!(retries.n_given_up(), 0);
        retries.add(CandidateId(1), true);
        assert_eq!((retries.next(), retries.n_waiting(), retries.n_given_up()), (None, 0, 1));
        let seconds = |limit: &Limit| limit.processor_time.as_secs();
        let found: Vec<_> = limits.iter().map(|limit| (limit.effort, seconds(limit))).collect();
        let (first, second, last) = (FIRST, FIRST * FACTOR, 3 * FIRST * FACTOR);
        assert_eq!(found, [(Some(first), 2), (Some(second), 2), (Some(second), 2), (Some(last), 6)]);
        assert!(limits.iter().all(|limit| limit.time == Duration::MAX), "only the budget is time");
    }

    #[test]
    fn a_query_that_more_effort_cannot_answer_is_not_retried() {
        let mut retries = RetryQueue::new(3 * FIRST, Duration::from_secs(6));
        retries.add(CandidateId(1), false);
        assert_eq!((retries.next(), retries.n_given_up()), (None, 1));
    }
}
