//! When does a run have a process of its own, and why?
//!
//! Where processes are reused, one runs input after input until it crashes, hangs or does something that is not undone; a
//! run that does so is repeated in its own process. If that happens again and again, starting a process to be reused costs more
//! than it saves: reuse then pauses for a while. Nothing here is timed. Limit: a whole program that
//! opens files for writing needs a process for each run that does.

use std::collections::BTreeMap;
use std::fmt;

use wire::NotUndone;

/// What the end of a process that was to be reused costs, in runs.
const COST: u32 = 6;
/// What successful runs can save up.
const MOST_SAVED: u32 = 48;
/// Runs for which reuse pauses at first, and at most.
const PAUSE: u32 = 64;
const LONGEST_PAUSE: u32 = 1 << 14;

/// Why a process was started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ProcessReason {
    /// There was none to be reused.
    First,
    /// The one before crashed.
    Crash,
    /// The one before took too long.
    Hang,
    /// The one before went away between two runs.
    Lost,
    /// What a run did in a process that is reused was to be seen in one of its own.
    Confirmation,
    /// A run did something that is not undone.
    NotUndone(NotUndone),
    /// Processes ended so often that reuse pauses.
    Pause,
    /// A run left another trace in a process of its own: no process is reused any more.
    Different,
}

impl fmt::Display for ProcessReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::First => "to be reused",
            Self::Crash => "after a crash",
            Self::Hang => "after a hang",
            Self::Lost => "after one went away",
            Self::Confirmation => "to confirm what may be kept",
            Self::Pause => "while reuse paused, because processes had to be started too often",
            Self::Different => "because an execution went differently in a process of its own",
            Self::NotUndone(what) => return write!(f, "because {}", NotUndoneText(*what)),
        })
    }
}

struct NotUndoneText(NotUndone);

impl fmt::Display for NotUndoneText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            NotUndone::File => "a file was opened or closed",
            NotUndone::Signal => "signals or timers were set",
            NotUndone::Thread => "a thread or process was requested",
            NotUndone::Mapping => "memory was mapped in a way that is not undone",
            NotUndone::Call(number) => return write!(f, "system call {number} is not undone"),
            NotUndone::TooLarge(kib) => return write!(f, "{kib} KiB of memory are too much to set back"),
            NotUndone::Regions => "memory lies in too many places",
            NotUndone::Shared => "memory is shared with other processes",
            NotUndone::Kernel => "the kernel lacks what reuse needs",
        })
    }
}

/// How many runs had a process that had run before, and how many processes were started for which reason.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProcessCounts {
    pub n_reused: u64,
    pub n_started: BTreeMap<ProcessReason, u64>,
}

impl ProcessCounts {
    /// Adds those of another worker or job.
    pub fn add(&mut self, other: Self) {
        self.n_reused += other.n_reused;
        for (reason, n) in other.n_started {
            *self.n_started.entry(reason).or_default() += n;
        }
    }

    pub(super) fn start(&mut self, reason: ProcessReason) {
        *self.n_started.entry(reason).or_default() += 1;
    }
}

/// Whether the next run may have a process that is reused.
#[derive(Debug)]
pub(super) struct Reuse {
    /// Why never.
    off: Option<ProcessReason>,
    /// Why the next process to be reused is started.
    next_start: ProcessReason,
    saved: u32,
    pause: u32,
    n_paused: u32,
}

impl Reuse {
    pub(super) fn new() -> Self {
        Self { off: None, next_start: ProcessReason::First, saved: MOST_SAVED, pause: PAUSE, n_paused: 0 }
    }

    /// Asked once before each run; otherwise the reason for a process of its own.
    pub(super) fn is_possible(&mut self) -> Result<(), ProcessReason> {
        if let Some(reason) = self.off {
            return Err(reason);
        }
        if self.n_paused > 0 {
            self.n_paused -= 1;
            return Err(ProcessReason::Pause);
        }
        Ok(())
    }

    pub(super) fn start_reason(&self) -> ProcessReason {
        self.next_start
    }

    /// The process is there for another run.
    pub(super) fn survived(&mut self) {
        self.saved = (self.saved + 1).min(MOST_SAVED);
        if self.saved == MOST_SAVED {
            self.pause = PAUSE;
        }
    }

    /// The process is gone.
    pub(super) fn ended(&mut self, reason: ProcessReason) {
        self.next_start = reason;
        match self.saved.checked_sub(COST) {
            Some(saved) => self.saved = saved,
            None => {
                self.n_paused = self.pause;
                self.pause = (2 * self.pause).min(LONGEST_PAUSE);
                self.saved = COST;
            }
        }
        if matches!(reason, ProcessReason::NotUndone(what) if what.is_final()) {
            self.stop(reason);
        }
    }

    /// No process is reused any more.
    pub(super) fn stop(&mut self, reason: ProcessReason) {
        self.off.get_or_insert(reason);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many of so many runs are in processes that are reused, when every nth ends its process.
    fn n_reused(n_runs: u32, every: u32) -> u32 {
        let mut reuse = Reuse::new();
        let mut n_reused = 0;
        for _ in 0..n_runs {
            if reuse.is_possible().is_ok() {
                n_reused += 1;
                if n_reused % every == 0 {
                    reuse.ended(ProcessReason::Crash);
                } else {
                    reuse.survived();
                }
            }
        }
        n_reused
    }

    #[test]
    fn processes_that_end_rarely_are_always_reused() {
        assert_eq!(n_reused(10_000, 100), 10_000);
        assert_eq!(n_reused(10_000, COST + 1), 10_000);
    }

    #[test]
    fn processes_that_always_end_are_soon_hardly_started() {
        assert!(n_reused(10_000, 1) < 30, "{}", n_reused(10_000, 1));
    }

    #[test]
    fn what_holds_for_every_run_ends_reuse() {
        let mut reuse = Reuse::new();
        let reason = ProcessReason::NotUndone(NotUndone::TooLarge(4096));
        reuse.ended(reason);
        assert_eq!(reuse.is_possible(), Err(reason));
    }
}
