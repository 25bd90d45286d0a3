//! How much is a query worth?
//!
//! Method: little at first, so that hard queries do not keep the search from easy ones; what was not answered waits until
//! nothing else is left, and is then asked again with more. Limits count the solver's effort, not time: a busy machine must
//! not change the order of the search. Processor time only ends queries whose effort takes far longer than usual.

use std::collections::VecDeque;
use std::time::Duration;

use smt::Limit;

use crate::pool::CandidateId;

/// About a quarter of a second of Bitwuzla's work.
const FIRST: u64 = 4_000;
const FACTOR: u64 = 5;
/// The part of the processor time that a query has at first.
const FIRST_PART: u32 = 3;

pub(super) struct Patience {
    limit: Limit,
    /// The limit in the end.
    most: Limit,
    /// To be asked again with the next limit.
    later: VecDeque<CandidateId>,
    /// To be asked again with this limit.
    now: VecDeque<CandidateId>,
}

impl Patience {
    /// Patience up to this effort and processor time per query.
    pub(super) fn new(effort: u64, processor_time: Duration) -> Self {
        let most = Limit { time: Duration::MAX, effort: Some(effort), processor_time };
        let limit =
            Limit { effort: Some(FIRST.min(effort)), processor_time: processor_time / FIRST_PART, ..most };
        Self { limit, most, later: VecDeque::new(), now: VecDeque::new() }
    }

    /// What a query may cost now.
    pub(super) fn limit(&self) -> Limit {
        self.limit
    }

    /// Notes that a query ran into its limit; false when it has had all there is.
    pub(super) fn postpone(&mut self, candidate: CandidateId) -> bool {
        let has_more = self.limit != self.most;
        if has_more {
            self.later.push_back(candidate);
        }
        has_more
    }

    /// The next candidate to ask again, with more when all have had the same.
    pub(super) fn again(&mut self) -> Option<CandidateId> {
        if self.now.is_empty() && !self.later.is_empty() {
            let more = self.limit.effort.map(|effort| effort * FACTOR);
            self.limit =
                if more < self.most.effort { Limit { effort: more, ..self.limit } } else { self.most };
            std::mem::swap(&mut self.now, &mut self.later);
        }
        self.now.pop_front()
    }

    /// How many wait.
    pub(super) fn n_waiting(&self) -> usize {
        self.now.len() + self.later.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patience_grows_to_its_limit_and_ends() {
        let mut patience = Patience::new(3 * FIRST * FACTOR, Duration::from_secs(6));
        let mut limits = vec![patience.limit()];
        assert!(patience.postpone(CandidateId(1)) && patience.postpone(CandidateId(2)));
        assert_eq!(patience.again(), Some(CandidateId(1)));
        limits.push(patience.limit());
        assert!(patience.postpone(CandidateId(1)));
        assert_eq!(patience.again(), Some(CandidateId(2)), "the same for all first");
        limits.push(patience.limit());
        assert_eq!(patience.again(), Some(CandidateId(1)));
        limits.push(patience.limit());
        assert!(!patience.postpone(CandidateId(1)));
        assert_eq!((patience.again(), patience.n_waiting()), (None, 0));
        let seconds = |limit: &Limit| limit.processor_time.as_secs();
        let found: Vec<_> = limits.iter().map(|limit| (limit.effort, seconds(limit))).collect();
        let (first, second, last) = (FIRST, FIRST * FACTOR, 3 * FIRST * FACTOR);
        assert_eq!(found, [(Some(first), 2), (Some(second), 2), (Some(second), 2), (Some(last), 6)]);
        assert!(limits.iter().all(|limit| limit.time == Duration::MAX), "only the budget is time");
    }
}
