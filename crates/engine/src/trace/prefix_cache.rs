//! How much of a path was walked before, with another run?
//!
//! Runs of one program often begin alike: it reads the same file, fills the same tables. Equal logs are equal paths, so a walk
//! can continue from a checkpoint of an earlier one as long as the logs agree. Method: while a long log is walked, the state
//! of the walk and of its recorder is kept at regular intervals; the next log is compared with the last one, byte by byte, up
//! to the furthest of these checkpoints. Limit: only checkpoints with few steps that depend on the input are kept; they are
//! cheap, and what runs share is mostly what no input decides.

use model::walk::Position;

use super::decode::Found;
use super::{Expectation, Recorder};

/// Entries between two checkpoints, at first.
const ENTRIES_BETWEEN: u64 = 1 << 13;
/// Checkpoints kept at most; when there are more, every other one is dropped.
const MAX_CHECKPOINTS: usize = 64;
/// Steps before a checkpoint, at most.
const MAX_STEPS: usize = 1 << 12;

/// Checkpoints of the last walk.
#[derive(Default)]
pub struct PrefixCache<'a> {
    /// The log, up to the last checkpoint.
    log: Vec<u8>,
    checkpoints: Vec<Checkpoint<'a>>,
    /// The interval is doubled so often.
    n_doublings: u32,
}

/// Where a walk stood.
#[derive(Clone)]
pub(super) struct Checkpoint<'a> {
    pub(super) n_bytes: usize,
    pub(super) position: Position,
    pub(super) recorder: Recorder<'a>,
    pub(super) found: Found,
}

impl<'a> PrefixCache<'a> {
    /// Forgets what does not fit the log, and gives the furthest checkpoint from which the walk can continue.
    pub(super) fn resume(&mut self, log: &[u8], expectation: Option<Expectation>) -> Option<Checkpoint<'a>> {
        let mut n_same = 0;
        let mut fits = |checkpoint: &Checkpoint<'_>| {
            let range = n_same..checkpoint.n_bytes;
            n_same = checkpoint.n_bytes;
            log.get(range.clone()).is_some_and(|bytes| bytes == &self.log[range])
        };
        let n_fitting = self.checkpoints.iter().take_while(|checkpoint| fits(checkpoint)).count();
        self.checkpoints.truncate(n_fitting);
        self.log.truncate(self.n_bytes());
        // what is expected must still be ahead, to be compared
        let is_ahead = |checkpoint: &&Checkpoint<'_>| {
            expectation
                .is_none_or(|expected| expected.n_outcomes > checkpoint.recorder.program_path.n_outcomes)
        };
        self.checkpoints.iter().rev().find(is_ahead).cloned()
    }

    fn n_bytes(&self) -> usize {
        self.checkpoints.last().map_or(0, |checkpoint| checkpoint.n_bytes)
    }

    /// Where a walk that has taken so many entries is to pause.
    pub(super) fn next_pause(&self, n_entries: u64) -> u64 {
        let interval = ENTRIES_BETWEEN << self.n_doublings;
        (n_entries / interval + 1) * interval
    }

    /// Keeps a checkpoint of the walk over `log`, if it is further than those known and not too far.
    pub(super) fn keep(&mut self, log: &[u8], checkpoint: &Checkpoint<'a>) {
        if checkpoint.n_bytes <= self.n_bytes() || checkpoint.recorder.steps.len() > MAX_STEPS {
            return;
        }
        if self.checkpoints.len() == MAX_CHECKPOINTS {
            let mut is_kept = false;
            self.checkpoints.retain(|_| {
                is_kept = !is_kept;
                !is_kept
            });
            self.n_doublings += 1;
        }
        self.log.truncate(self.n_bytes());
        self.log.extend_from_slice(&log[self.log.len()..checkpoint.n_bytes]);
        self.checkpoints.push(checkpoint.clone());
    }
}
