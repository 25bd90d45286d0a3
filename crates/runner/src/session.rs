//! What a caller passes to long-running work: an interrupt, a clock, a watcher, the phases of builds, and a cache.

use std::time::Duration;

use cache::Cache;
use engine::campaign::Clock;

use crate::interrupt::Interrupt;
use crate::phases::Phases;
use crate::watcher::Watcher;

/// Given by the caller for as long as the work takes.
pub struct Session<'a> {
    pub interrupt: &'a Interrupt,
    pub clock: &'a (dyn Clock + Sync),
    pub watcher: &'a mut dyn Watcher,
    pub phases: &'a Phases,
    /// Where what is built is kept.
    pub cache: &'a Cache,
}

/// A clock that counts from the moment it was made.
pub struct Since<'a> {
    clock: &'a (dyn Clock + Sync),
    start: Duration,
}

impl<'a> Since<'a> {
    /// From now on.
    pub fn now(clock: &'a (dyn Clock + Sync)) -> Self {
        Self { clock, start: clock.elapsed() }
    }
}

impl Clock for Since<'_> {
    fn elapsed(&self) -> Duration {
        self.clock.elapsed().saturating_sub(self.start)
    }
}
