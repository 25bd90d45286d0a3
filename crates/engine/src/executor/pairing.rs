//! On which processor does a run go on?
//!
//! Waking a process on another processor takes longer than a small function runs. So a process that is reused is kept on the
//! processor of the thread that asks it to run, and that thread stays there while it waits: each goes on where the other stops.
//! Before and after, the thread is free to move, and the process follows with the next run. A run that takes long is let go.
//! Threads that work together keep off each other's processors: the kernel moves a thread only when it has waited for long, which
//! is longer than a run takes. Limit: where the kernel refuses, or there is one processor, nothing is done.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity};

/// Where a thread of several that work together runs, and where the others do.
#[derive(Clone, Debug)]
pub struct Seat {
    /// By thread: its processor, when it was last seen.
    taken: Arc<[AtomicUsize]>,
    own: usize,
}

/// A processor that there is not.
const NOWHERE: usize = usize::MAX;

impl Seat {
    /// For each of so many threads.
    pub fn among(n_threads: usize) -> Vec<Self> {
        let taken: Arc<[AtomicUsize]> = (0..n_threads).map(|_| AtomicUsize::new(NOWHERE)).collect();
        (0..n_threads).map(|own| Self { taken: Arc::clone(&taken), own }).collect()
    }

    /// For a thread that works with no other.
    pub fn alone() -> Self {
        Self { taken: Arc::new([AtomicUsize::new(NOWHERE)]), own: 0 }
    }

    /// The processor to use for a thread that is `here`: this one, unless another of the threads has it and one of `all` is free.
    fn choose(&self, here: usize, all: &CpuSet) -> usize {
        let is_taken = |processor: usize| {
            let others = self.taken.iter().enumerate().filter(|(thread, _)| *thread != self.own);
            others.into_iter().any(|(_, taken)| taken.load(Ordering::Relaxed) == processor)
        };
        let mut free =
            (0..CpuSet::MAX_CPU).filter(|processor| all.is_set(*processor) && !is_taken(*processor));
        let chosen = if is_taken(here) { free.next().unwrap_or(here) } else { here };
        self.taken[self.own].store(chosen, Ordering::Relaxed);
        chosen
    }
}

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
    pub(super) fn begin(&mut self, process: Pid, seat: &Seat) {
        if let Processors::Unknown = self.processors {
            let all = sched_getaffinity(None).ok().filter(|all| all.count() > 1);
            self.processors = all.map_or(Processors::One, Processors::Several);
        }
        let Processors::Several(all) = &self.processors else { return };
        let here = seat.choose(sched_getcpu(), all);
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
        let (before, seat) = (own(), Seat::alone());
        let mut pairing = Pairing::default();
        let this = rustix::thread::gettid();
        pairing.begin(this, &seat);
        if before.count() > 1 {
            assert_eq!(own().count(), 1);
        }
        pairing.let_go(this);
        assert_eq!(own(), before);
        pairing.begin(this, &seat);
        pairing.end();
        assert_eq!(own(), before);
    }
    #[test]
    fn threads_that_work_together_take_different_processors_as_long_as_there_are_some() {
        let mut all = CpuSet::new();
        [1, 4].into_iter().for_each(|processor| all.set(processor));
        let seats = Seat::among(3);
        assert_eq!(seats[0].choose(4, &all), 4);
        assert_eq!(seats[1].choose(4, &all), 1, "the other is taken");
        assert_eq!(seats[2].choose(4, &all), 4, "both are");
        assert_eq!(seats[0].choose(1, &all), 1, "there is none that is free");
        assert_eq!(Seat::alone().choose(4, &all), 4);
    }
}
