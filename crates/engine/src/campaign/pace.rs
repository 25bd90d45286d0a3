//! Has a job taken long?
//!
//! Counted are points of the solver's searches and executions, so that the answer does not depend on the machine.

use std::cell::Cell;

/// Steps after which a job is late, and again after each as many: about as long as a few jobs take that need no search.
const STEPS_PER_DELAY: u64 = 8;

/// Counts the steps of one job after another.
pub(super) struct Pace {
    n_steps: Cell<u64>,
    is_late: Box<dyn Fn()>,
}

impl Pace {
    /// A count that calls `is_late` every time a job is late.
    pub(super) fn new(is_late: impl Fn() + 'static) -> Self {
        Self { n_steps: Cell::new(0), is_late: Box::new(is_late) }
    }

    /// Another job begins, or the rest of one that took so many steps before.
    pub(super) fn begin(&self, n_steps: u64) {
        self.n_steps.set(n_steps);
    }

    pub(super) fn n_steps(&self) -> u64 {
        self.n_steps.get()
    }

    pub(super) fn step(&self) {
        let n_steps = self.n_steps.get() + 1;
        self.n_steps.set(n_steps);
        if n_steps.is_multiple_of(STEPS_PER_DELAY) {
            (self.is_late)();
        }
    }
}
