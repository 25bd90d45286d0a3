//! On which processor does a run go on?
//!
//! Waking a process on another processor takes longer than a small function runs. So a process that is reused is kept on the
//! processor of the thread that asks it to run, and that thread stays there while it waits: each goes on where the other stops.
//! Before and after, the thread is free to move, and the process follows with the next run. A run that takes long is let go.
//! Limit: where the kernel refuses, or there is one processor, nothing is done.

use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity};

/// Keeps a thread and the process that it waits for together.
#[derive(Debug, Default)]
pub(super) struct Pairing {
    processors: Processors,
    /// Where the process is kept.
    of_process: Option<usize>,
    /// Whether the thread is kept somewhere.
    is_bound: bool,
}

/// Where the thread may run.
#[derive(Debug, Default)]
enum Processors {
    /// Not asked yet.
    #[default]
    Unknown,
    /// There is no choice.
    One,
    Several(CpuSet),
}

impl Pairing {
    /// Called by the thread before it asks the process to run.
    pub(super) fn begin(&mut self, process: Pid) {
        if let Processors::Unknown = self.processors {
            let all = sched_getaffinity(None).ok().filter(|all| all.count() > 1);
            self.processors = all.map_or(Processors::One, Processors::Several);
        }
        let Processors::Several(_) = self.processors else { return };
        let here = sched_getcpu();
        self.is_bound = bind(None, here);
        if self.is_bound && self.of_process != Some(here) {
            self.of_process = bind(Some(process), here).then_some(here);
        }
    }

    /// The run is over: the thread may move.
    pub(super) fn end(&mut self) {
        if let (Processors::Several(all), true) = (&self.processors, self.is_bound) {
            // it may run where it could before
            let _ = sched_setaffinity(None, all);
        }
        self.is_bound = false;
    }

    /// The run takes long: both may move.
    pub(super) fn let_go(&mut self, process: Pid) {
        self.end();
        if let (Processors::Several(all), Some(_)) = (&self.processors, self.of_process.take()) {
            // one that has ended is no matter
            let _ = sched_setaffinity(Some(process), all);
        }
    }

    /// There is another process.
    pub(super) fn forget(&mut self) {
        self.of_process = None;
    }
}

/// Keeps a thread, or this one, on a processor; whether that was possible.
fn bind(thread: Option<Pid>, processor: usize) -> bool {
    let mut only = CpuSet::new();
    if processor >= CpuSet::MAX_CPU {
        return false;
    }
    only.set(processor);
    sched_setaffinity(thread, &only).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_is_free_again_after_the_run() {
        let own = || sched_getaffinity(None).expect("it is known");
        let before = own();
        let mut pairing = Pairing::default();
        let this = rustix::thread::gettid();
        pairing.begin(this);
        if before.count() > 1 {
            assert_eq!(own().count(), 1);
        }
        pairing.let_go(this);
        assert_eq!(own(), before);
        pairing.begin(this);
        pairing.end();
        assert_eq!(own(), before);
    }
}
