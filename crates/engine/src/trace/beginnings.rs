//! How much of a path was walked before, with another run?
//!
//! Runs of one program often begin alike: it reads the same file, fills the same tables. Equal logs are equal paths, so a walk
//! can go on where an earlier one stood when the logs still agreed. Method: while a long log is walked, the state of the walk
//! and of its recorder is kept every so many entries; the next log is compared with the last one, byte by byte, up to the
//! furthest of these places. Limit: only places with few steps that depend on the input are kept; they are cheap, and what
//! runs share is mostly what no input decides.

use model::walk::Position;

use super::decode::Found;
use super::{Expectation, Recorder};

/// Entries between two places that are kept, at first.
const ENTRIES_BETWEEN: u64 = 1 << 13;
/// Places kept at most; when there are more, every other one is let go.
const MAX_PLACES: usize = 64;
/// Steps before a place that is kept, at most.
const MAX_STEPS: usize = 1 << 12;

/// What the last walk kept.
#[derive(Default)]
pub struct Beginnings<'a> {
    /// The log, up to the last place.
    log: Vec<u8>,
    places: Vec<Place<'a>>,
    /// The interval is doubled so often.
    n_doublings: u32,
}

/// Where a walk stood.
#[derive(Clone)]
pub(super) struct Place<'a> {
    pub(super) n_bytes: usize,
    pub(super) position: Position,
    pub(super) recorder: Recorder<'a>,
    pub(super) found: Found,
}

impl<'a> Beginnings<'a> {
    /// Forgets what does not fit the log, and gives the furthest place from which it can be walked on.
    pub(super) fn resume(&mut self, log: &[u8], expectation: Option<Expectation>) -> Option<Place<'a>> {
        let mut n_same = 0;
        let mut fits = |place: &Place<'_>| {
            let range = n_same..place.n_bytes;
            n_same = place.n_bytes;
            log.get(range.clone()).is_some_and(|bytes| bytes == &self.log[range])
        };
        let n_fitting = self.places.iter().take_while(|place| fits(place)).count();
        self.places.truncate(n_fitting);
        self.log.truncate(self.n_bytes());
        // what is expected must still be ahead, to be compared
        let is_ahead = |place: &&Place<'_>| {
            expectation.is_none_or(|expected| expected.n_outcomes > place.recorder.course.n_outcomes)
        };
        self.places.iter().rev().find(is_ahead).cloned()
    }

    fn n_bytes(&self) -> usize {
        self.places.last().map_or(0, |place| place.n_bytes)
    }

    /// Where a walk that has taken so many entries is to pause.
    pub(super) fn next_pause(&self, n_entries: u64) -> u64 {
        let interval = ENTRIES_BETWEEN << self.n_doublings;
        (n_entries / interval + 1) * interval
    }

    /// Keeps a place of the walk over `log`, if it is further than those known and not too far.
    pub(super) fn keep(&mut self, log: &[u8], place: &Place<'a>) {
        if place.n_bytes <= self.n_bytes() || place.recorder.steps.len() > MAX_STEPS {
            return;
        }
        if self.places.len() == MAX_PLACES {
            let mut is_kept = false;
            self.places.retain(|_| {
                is_kept = !is_kept;
                !is_kept
            });
            self.n_doublings += 1;
        }
        self.log.truncate(self.n_bytes());
        self.log.extend_from_slice(&log[self.log.len()..place.n_bytes]);
        self.places.push(place.clone());
    }
}
