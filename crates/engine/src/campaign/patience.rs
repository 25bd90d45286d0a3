//! How much is a query worth?
//!
//! Method: little at first, so that hard queries do not keep the search from easy ones; what was not answered waits until
//! nothing else is left, and is then asked again with more, up to the user's limit of time. The first limits count the
//! solver's effort, not time: a busy machine must not change the order of the search.

use std::collections::VecDeque;
use std::time::Duration;

use smt::Limit;

use crate::pool::CandidateId;

/// About a quarter of a second of Bitwuzla's work.
const FIRST: u64 = 4_000;
const FACTOR: u64 = 5;
/// Above this only time limits a query.
const LAST: u64 = FIRST * FACTOR;

pub(super) struct Patience {
    limit: Limit,
    /// To be asked again with the next limit.
    later: VecDeque<CandidateId>,
    /// To be asked again with this limit.
    now: VecDeque<CandidateId>,
}

impl Patience {
    /// Patience up to `longest` per query.
    pub(super) fn new(longest: Duration) -> Self {
        let limit = Limit { time: longest, effort: Some(FIRST) };
        Self { limit, later: VecDeque::new(), now: VecDeque::new() }
    }

    /// What a query may cost now.
    pub(super) fn limit(&self) -> Limit {
        self.limit
    }

    /// Notes that a query ran into its limit; false when it has had all there is.
    pub(super) fn postpone(&mut self, candidate: CandidateId) -> bool {
        let has_more = self.limit.effort.is_some();
        if has_more {
            self.later.push_back(candidate);
        }
        has_more
    }

    /// The next candidate to ask again, with more when all have had the same.
    pub(super) fn again(&mut self) -> Option<CandidateId> {
        if self.now.is_empty() && !self.later.is_empty() {
            self.limit.effort =
                self.limit.effort.map(|effort| effort * FACTOR).filter(|effort| *effort <= LAST);
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
        let mut patience = Patience::new(Duration::from_secs(5));
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
        let efforts: Vec<Option<u64>> = limits.iter().map(|limit| limit.effort).collect();
        assert_eq!(efforts, [Some(FIRST), Some(LAST), Some(LAST), None]);
    }
}
