//! How much work may still be done, counted so that it is the same everywhere.

use std::cell::Cell;
use std::rc::Rc;

/// How much may still be asked.
#[derive(Clone)]
pub struct Effort {
    total: Rc<Cell<u64>>,
    /// What must be left of the total.
    reserve: u64,
    /// Whether somebody wants to stop.
    pub(crate) stop: Rc<dyn Fn() -> bool>,
    /// Whether something was left out because nothing was left.
    ran_short: Rc<Cell<bool>>,
}

impl Effort {
    /// So much effort, in units of about a tenth of a millisecond, unless `stop` says to end before.
    pub fn new(limit: u64, stop: impl Fn() -> bool + 'static) -> Self {
        let (total, ran_short) = (Rc::new(Cell::new(limit)), Rc::default());
        Self { total, reserve: 0, stop: Rc::new(stop), ran_short }
    }

    /// Whether nothing is left.
    pub fn is_spent(&self) -> bool {
        let is_spent = self.left() == 0 || (self.stop)();
        self.ran_short.set(self.ran_short.get() || is_spent);
        is_spent
    }

    /// The same effort, which notes by itself whether it was enough.
    pub(crate) fn watched(&self) -> Self {
        Self { ran_short: Rc::default(), ..self.clone() }
    }

    /// Notes that it was too little.
    pub(crate) fn fall_short(&self) {
        self.ran_short.set(true);
    }

    /// Whether more effort might have led to more.
    pub(crate) fn ran_short(&self) -> bool {
        self.ran_short.get()
    }

    /// What is left.
    pub fn left(&self) -> u64 {
        self.total.get().saturating_sub(self.reserve)
    }

    /// A part of what is left: one of so many. What is spent of it is spent of the whole.
    pub(crate) fn part(&self, parts: u64) -> Self {
        Self { reserve: self.reserve + (self.left() - self.left() / parts), ..self.clone() }
    }

    /// A part of what is left: so many of so many parts, of which there is at least one.
    pub(crate) fn share(&self, of: usize, parts: usize) -> Self {
        let wide = u128::from(self.left()) * of as u128 / parts.max(1) as u128;
        let share = u64::try_from(wide).unwrap_or(u64::MAX);
        Self { reserve: self.reserve + self.left().saturating_sub(share), ..self.clone() }
    }

    /// All but a part of what is left: one of so many.
    pub(crate) fn keeping(&self, parts: u64) -> Self {
        Self { reserve: self.reserve + self.left() / parts, ..self.clone() }
    }

    pub(crate) fn spend(&self, units: u64) {
        self.total.set(self.total.get().saturating_sub(units));
    }
}
