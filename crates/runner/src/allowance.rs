//! How much work may a task take whose result must be the same on every machine?
//!
//! Method: work is counted in units of effort, and times given by users and constants are converted to such units. A clock
//! ends the work only if it takes many times as long as the units suggest, for programs whose cost the count does not see;
//! the caller is told, because the work may end elsewhere the next time.

use std::time::Duration;

use engine::campaign::Clock;

/// How many times longer than promised the work may take.
const SAFETY_FACTOR: u32 = 10;

/// The effort that is usually spent in this time: a unit for a tenth of a millisecond.
pub fn effort_of(time: Duration) -> u64 {
    u64::try_from(time.as_micros() / 100).unwrap_or(u64::MAX)
}

/// Work that may be done.
pub struct Allowance<'a> {
    effort: u64,
    deadline: Duration,
    is_overdue: bool,
    clock: &'a dyn Clock,
}

impl<'a> Allowance<'a> {
    /// The work that is usually done in this time, from now on.
    pub fn new(time: Duration, clock: &'a dyn Clock) -> Self {
        let deadline = clock.elapsed().saturating_add(time.saturating_mul(SAFETY_FACTOR));
        Self { effort: effort_of(time), deadline, is_overdue: false, clock }
    }

    /// Whether there is nothing left after this effort.
    pub fn is_spent(&mut self, effort: u64) -> bool {
        if effort >= self.effort {
            return true;
        }
        self.is_overdue = self.clock.elapsed() >= self.deadline;
        self.is_overdue
    }

    /// Whether the clock ended the work.
    pub fn is_overdue(&self) -> bool {
        self.is_overdue
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// Jumps with every look at it.
    struct Jumping {
        now: Cell<Duration>,
        step: Duration,
    }

    impl Clock for Jumping {
        fn elapsed(&self) -> Duration {
            let now = self.now.get();
            self.now.set(now + self.step);
            now
        }
    }

    /// Units that may be spent one after another.
    fn n_units(time: Duration, step: Duration) -> u64 {
        let clock = Jumping { now: Cell::new(Duration::from_secs(7)), step };
        let mut allowance = Allowance::new(time, &clock);
        (0..).find(|spent| allowance.is_spent(*spent)).expect("it ends")
    }

    #[test]
    fn a_machine_that_is_nine_times_slower_does_as_much() {
        let time = Duration::from_millis(5);
        let unit = Duration::from_micros(100);
        assert_eq!([n_units(time, Duration::ZERO), n_units(time, unit), n_units(time, 9 * unit)], [50; 3]);
    }

    #[test]
    fn work_that_is_far_slower_than_promised_is_ended_by_the_clock() {
        let clock = Jumping { now: Cell::new(Duration::ZERO), step: Duration::from_secs(1) };
        let mut allowance = Allowance::new(Duration::from_millis(100), &clock);
        assert!(allowance.is_spent(0) && allowance.is_overdue());
    }
}
