//! How much of its time has a run used?
//!
//! Method: processor time counts, and so does time that the run sleeps or waits. Time in which it could go on but another
//! process has the processor does not count, so that a program that is merely starved is no hang. The run is looked at a few
//! times per limit; runs that end sooner cost no look. Limits: whatever a run does, it has ended after [`WALL_FACTOR`] times
//! its limit by the wall clock; how long it slept is a sample.

use std::time::{Duration, Instant};

use rustix::process::Pid;

/// How many times its limit a run may take by the wall clock.
const WALL_FACTOR: u32 = 10;
/// When a run is looked at first.
const FIRST_LOOK: Duration = Duration::from_millis(10);

/// What a look at a run tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Look {
    /// Processor time so far.
    processor: Duration,
    /// Whether it sleeps or waits now.
    is_asleep: bool,
}

impl Look {
    /// Looks at a process; `None` when there is nothing to see, as after its end.
    pub(super) fn at(pid: Pid) -> Option<Self> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_pid())).ok()?;
        // behind the name, which may contain anything
        let state = stat.rsplit_once(") ")?.1.chars().next()?;
        Some(Self { processor: processor_time(pid)?, is_asleep: matches!(state, 'S' | 'T' | 't') })
    }
}

/// The processor time of a process, by a clock of its own, which rustix does not reach.
fn processor_time(pid: Pid) -> Option<Duration> {
    let mut clock = 0;
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: system calls that fill in what they are given.
    let failed = unsafe {
        libc::clock_getcpuclockid(pid.as_raw_pid(), &raw mut clock) != 0
            || libc::clock_gettime(clock, &raw mut time) != 0
    };
    let parts = || Some((u64::try_from(time.tv_sec).ok()?, u32::try_from(time.tv_nsec).ok()?));
    if failed { None } else { parts().map(|(seconds, nanos)| Duration::new(seconds, nanos)) }
}

/// Measures one run.
#[derive(Debug)]
pub(super) struct Stopwatch {
    limit: Duration,
    started: Instant,
    usage: Usage,
}

impl Stopwatch {
    /// For a run that starts now in a new process.
    pub(super) fn start(limit: Duration) -> Self {
        Self { limit, started: Instant::now(), usage: Usage::new() }
    }

    /// For a run that starts now in a process that has run before.
    pub(super) fn start_again(limit: Duration) -> Self {
        Self { limit, started: Instant::now(), usage: Usage::again() }
    }

    /// Time since the start by the wall clock.
    pub(super) fn wall(&self) -> Duration {
        self.started.elapsed()
    }

    /// Whether the run is no short one.
    pub(super) fn is_long(&self) -> bool {
        self.started.elapsed() >= FIRST_LOOK
    }

    /// How long the run may go on at least; zero when it must end.
    pub(super) fn left(&mut self, pid: Pid) -> Duration {
        let wall = self.started.elapsed();
        // nothing to see at the start
        if wall < FIRST_LOOK {
            return self.usage.left(wall, self.limit).min(self.usage.until_first_look());
        }
        self.usage.add(wall, Look::at(pid));
        self.usage.left(wall, self.limit)
    }
}

/// What was seen of a run.
#[derive(Debug)]
struct Usage {
    processor: Duration,
    /// What the process had used before the run. Of a process that has run before it is found at the first look, so that
    /// runs that end sooner need not ask: it was at most the time of this run less than then.
    processor_before: Option<Duration>,
    asleep: Duration,
    /// When it was looked at last.
    seen: Duration,
}

impl Usage {
    fn new() -> Self {
        let processor_before = Some(Duration::ZERO);
        Self { processor: Duration::ZERO, processor_before, asleep: Duration::ZERO, seen: Duration::ZERO }
    }

    fn again() -> Self {
        Self { processor_before: None, ..Self::new() }
    }

    /// A process that has run before is looked at soon, when it can have used little.
    fn until_first_look(&self) -> Duration {
        if self.processor_before.is_none() { FIRST_LOOK } else { Duration::MAX }
    }

    fn total(&self) -> Duration {
        self.processor.saturating_sub(self.processor_before.unwrap_or(self.processor)) + self.asleep
    }

    fn add(&mut self, wall: Duration, look: Option<Look>) {
        let passed = wall.saturating_sub(self.seen);
        self.seen = wall;
        let Some(look) = look else {
            // what cannot be measured uses its time
            self.asleep += passed;
            return;
        };
        if self.processor_before.is_none() {
            self.processor = look.processor.saturating_sub(wall);
            self.processor_before = Some(self.processor);
        }
        let worked = look.processor.saturating_sub(self.processor);
        self.processor = look.processor;
        if look.is_asleep {
            self.asleep += passed.saturating_sub(worked);
        }
    }

    fn left(&self, wall: Duration, limit: Duration) -> Duration {
        let wall_left = limit.saturating_mul(WALL_FACTOR).saturating_sub(wall);
        limit.saturating_sub(self.total()).min(wall_left)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_millis(200);

    fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    /// When a run must end that is looked at every 50 ms.
    fn end(look: impl Fn(u64) -> Option<Look>) -> u64 {
        end_of(Usage::new(), look)
    }

    fn end_of(mut usage: Usage, look: impl Fn(u64) -> Option<Look>) -> u64 {
        let ends = |wall: &u64| {
            usage.add(ms(*wall), look(*wall));
            usage.left(ms(*wall), LIMIT).is_zero()
        };
        (0..).step_by(50).find(ends).expect("every run ends")
    }

    #[test]
    fn a_starved_run_has_the_time_of_one_that_is_alone() {
        let with_share =
            |share: u64| end(move |wall| Some(Look { processor: ms(wall / share), is_asleep: false }));
        assert_eq!([with_share(1), with_share(2), with_share(8)], [200, 400, 1600]);
    }

    #[test]
    fn a_run_that_sleeps_uses_its_time() {
        assert_eq!(end(|_| Some(Look { processor: ms(3), is_asleep: true })), 200);
    }

    #[test]
    fn a_run_that_is_never_seen_uses_its_time() {
        assert_eq!(end(|_| None), 200);
    }

    #[test]
    fn what_a_process_used_before_does_not_count() {
        let look = |wall: u64| Some(Look { processor: ms(7000 + wall), is_asleep: false });
        assert_eq!(end_of(Usage::again(), look), 200);
        let starved = |wall: u64| Some(Look { processor: ms(7000 + wall / 4), is_asleep: false });
        assert_eq!(end_of(Usage::again(), starved), 800);
    }

    #[test]
    fn the_wall_clock_ends_a_run_that_never_gets_the_processor() {
        assert_eq!(end(|_| Some(Look { processor: ms(0), is_asleep: false })), 2000);
    }

    #[test]
    fn this_process_is_seen_to_work() {
        let pid = rustix::process::getpid();
        let before = Look::at(pid).expect("it is there");
        while Look::at(pid).is_some_and(|look| look.processor < before.processor + ms(5)) {}
        assert!(Pid::from_raw(i32::MAX).and_then(Look::at).is_none());
    }
}
