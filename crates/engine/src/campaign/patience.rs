//! How long is a query worth waiting for?
//!
//! Method: little at first, so that hard queries do not keep the search from easy ones; what was not answered waits until
//! nothing else is left, and is then asked again with more time, up to the user's limit.

use std::collections::VecDeque;
use std::time::Duration;

use crate::pool::CandidateId;

const FIRST: Duration = Duration::from_millis(250);
const FACTOR: u32 = 5;

pub(super) struct Patience {
    limit: Duration,
    longest: Duration,
    /// To be asked again with the next limit.
    later: VecDeque<CandidateId>,
    /// To be asked again with this limit.
    now: VecDeque<CandidateId>,
}

impl Patience {
    /// Patience up to `longest` per query.
    pub(super) fn new(longest: Duration) -> Self {
        Self { limit: FIRST.min(longest), longest, later: VecDeque::new(), now: VecDeque::new() }
    }

    /// Time for a query now.
    pub(super) fn limit(&self) -> Duration {
        self.limit
    }

    /// Notes that a query ran out of time; false when it has had all the time there is.
    pub(super) fn postpone(&mut self, candidate: CandidateId) -> bool {
        let has_more = self.limit < self.longest;
        if has_more {
            self.later.push_back(candidate);
        }
        has_more
    }

    /// The next candidate to ask again, with more time when all have had the same.
    pub(super) fn again(&mut self) -> Option<CandidateId> {
        if self.now.is_empty() && !self.later.is_empty() {
            self.limit = (self.limit * FACTOR).min(self.longest);
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
        assert_eq!(patience.again(), Some(CandidateId(2)), "the same time for all first");
        limits.push(patience.limit());
        assert_eq!(patience.again(), Some(CandidateId(1)));
        limits.push(patience.limit());
        assert!(!patience.postpone(CandidateId(1)));
        assert_eq!((patience.again(), patience.n_waiting()), (None, 0));
        assert_eq!(limits, [250, 1250, 1250, 5000].map(Duration::from_millis));
    }
}
