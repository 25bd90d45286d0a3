//! How much memory may a campaign have, and who gets how much of it?
//!
//! Half of the machine's unless said otherwise. Each worker has an arena for expressions and a program under test beside it;
//! what is held of runs and the pool of candidates are bounded by number, so that the same seed gives the same campaign. What
//! numbers do not bound is measured now and then, but not when executions are counted: then nothing may depend on the moment.

use std::num::NonZeroUsize;

use engine::campaign::{CampaignOptions, MemoryGauge};
use engine::executor::ExecutorOptions;
use wire::{Layout, NODE_SIZE};

/// What a candidate takes, with all that is noted of it.
const CANDIDATE_SIZE: u64 = 160;
/// Parts of the whole.
const ARENAS: u64 = 4;
const PROGRAMS: u64 = 4;
const HELD: u64 = 8;
const CANDIDATES: u64 = 8;
/// Less is too little for anything.
pub const LEAST: u64 = 128 << 20;

/// What may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryPlan {
    whole: u64,
    n_workers: u64,
}

impl MemoryPlan {
    /// This much for so many workers; half of the machine's when it is not said.
    pub fn new(asked: Option<u64>, jobs: NonZeroUsize) -> Self {
        Self { whole: whole(asked).max(LEAST), n_workers: jobs.get() as u64 }
    }

    /// What each of several campaigns may use that run at the same time.
    pub fn share(asked: Option<u64>, n_campaigns: NonZeroUsize) -> u64 {
        whole(asked) / n_campaigns.get() as u64
    }

    /// Bounds what a campaign keeps.
    pub fn bound(&self, options: &mut CampaignOptions) {
        let number = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
        options.max_bytes_held = options.max_bytes_held.min(number(self.whole / HELD));
        options.max_candidates = options.max_candidates.min(number(self.whole / CANDIDATES / CANDIDATE_SIZE));
        options.max_memory = Some(self.whole - self.whole / PROGRAMS);
    }

    /// Bounds what one worker's executions take.
    pub fn bound_executor(&self, options: &mut ExecutorOptions) {
        let n_nodes = self.whole / ARENAS / self.n_workers / NODE_SIZE as u64;
        let Layout { node_capacity, .. } = &mut options.layout;
        *node_capacity = u32::try_from(n_nodes).unwrap_or(u32::MAX).min(*node_capacity);
        options.limits.memory = options.limits.memory.min(self.whole / PROGRAMS / self.n_workers);
    }
}

fn whole(asked: Option<u64>) -> u64 {
    asked.or_else(|| machine().map(|all| all / 2)).unwrap_or(u64::MAX >> 8)
}

/// Bytes of memory that the machine has.
fn machine() -> Option<u64> {
    entry("/proc/meminfo", "MemTotal:")
}

/// A number of bytes in a file of the system.
fn entry(file: &str, name: &str) -> Option<u64> {
    let text = std::fs::read_to_string(file).ok()?;
    let line = text.lines().find(|line| line.starts_with(name))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes << 10)
}

/// What this process has in memory, as the system counts it.
pub struct SystemMemory;

impl MemoryGauge for SystemMemory {
    fn used(&self) -> u64 {
        entry("/proc/self/status", "VmRSS:").unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_add_up_to_the_whole_and_shrink_with_it() {
        let jobs = NonZeroUsize::new(2).expect("two");
        let plan = MemoryPlan::new(Some(1 << 30), jobs);
        let mut options = CampaignOptions::default();
        plan.bound(&mut options);
        let mut executor = ExecutorOptions::new("program", "run", 64);
        plan.bound_executor(&mut executor);
        let arenas = 2 * u64::from(executor.layout.node_capacity) * NODE_SIZE as u64;
        let programs = 2 * executor.limits.memory;
        let candidates = options.max_candidates as u64 * CANDIDATE_SIZE;
        let whole = arenas + programs + candidates + options.max_bytes_held as u64;
        assert!(whole <= 1 << 30 && whole > 1 << 29, "{whole}");
        assert!(SystemMemory.used() > 1 << 20);
        assert_eq!(MemoryPlan::new(Some(1), jobs), MemoryPlan::new(Some(LEAST), jobs), "there is a least");
    }
}
