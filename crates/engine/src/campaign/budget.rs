//! Time and numbers that a campaign may spend.

use std::time::{Duration, Instant};

/// What a campaign may spend; `None` is no bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    pub time: Option<Duration>,
    /// Executions of new inputs.
    pub executions: Option<u64>,
}

/// Measures how long a campaign has taken.
pub trait Clock {
    /// Time since the start.
    fn elapsed(&self) -> Duration;
}

/// Measures how much memory is in use.
pub trait MemoryGauge: Sync {
    /// Bytes of this process that are in memory.
    fn used(&self) -> u64;
}

/// The machine's clock.
#[derive(Clone, Copy, Debug)]
pub struct SystemClock {
    start: Instant,
}

impl SystemClock {
    /// A clock that starts now.
    pub fn start() -> Self {
        Self { start: Instant::now() }
    }
}

impl Clock for SystemClock {
    fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }
}
