//! How much work may still be done.
//!
//! Method: work is counted in units, so that it is the same everywhere; or, where a user gave a time, a clock counts them: what a question
//! takes may be a tenth or the tenfold of what it counts as, and what others do on the machine counts, too.

use std::cell::Cell;
use std::rc::Rc;

/// How much may still be asked.
#[derive(Clone)]
pub struct Effort {
    /// What is left, or with a clock, when it says that nothing is.
    total: Rc<Cell<u64>>,
    /// Units since a certain moment.
    clock: Option<Rc<dyn Fn() -> u64>>,
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
        Self { total, clock: None, reserve: 0, stop: Rc::new(stop), ran_short }
    }

    /// As much as can be done while the clock counts so many units from now on.
    pub fn timed(limit: u64, clock: impl Fn() -> u64 + 'static, stop: impl Fn() -> bool + 'static) -> Self {
        let end = clock().saturating_add(limit);
        Self { clock: Some(Rc::new(clock)), ..Self::new(end, stop) }
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
        let gone = self.clock.as_ref().map_or(0, |clock| clock());
        self.total.get().saturating_sub(gone).saturating_sub(self.reserve)
    }

    /// A function that says how much was spent by the clock from now on; nothing without one.
    pub(crate) fn stopwatch(&self) -> Option<impl Fn() -> u64 + use<>> {
        let clock = Rc::clone(self.clock.as_ref()?);
        let begun = clock();
        Some(move || clock().saturating_sub(begun))
    }

    /// A part of what is left: one of so many. What is spent of it is spent of the whole.
    pub(crate) fn part(&self, parts: u64) -> Self {
        let left = self.left();
        Self { reserve: self.reserve + (left - left / parts), ..self.clone() }
    }

    /// A part of what is left: so many of so many parts, of which there is at least one.
    pub(crate) fn share(&self, of: usize, parts: usize) -> Self {
        let left = self.left();
        let wide = u128::from(left) * of as u128 / parts.max(1) as u128;
        let share = u64::try_from(wide).unwrap_or(u64::MAX);
        Self { reserve: self.reserve + left.saturating_sub(share), ..self.clone() }
    }

    /// All but a part of what is left: one of so many.
    pub(crate) fn keeping(&self, parts: u64) -> Self {
        Self { reserve: self.reserve + self.left() / parts, ..self.clone() }
    }

    pub(crate) fn spend(&self, units: u64) {
        if self.clock.is_none() {
            self.total.set(self.total.get().saturating_sub(units));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_counts_instead_of_the_work() {
        let time = Rc::new(Cell::new(70));
        let clock = Rc::clone(&time);
        let effort = Effort::timed(100, move || clock.get(), || false);
        effort.spend(1_000);
        assert_eq!((effort.left(), effort.part(4).left()), (100, 25));
        let part = effort.part(4);
        time.set(80);
        assert_eq!((effort.left(), part.left()), (90, 15));
        time.set(100);
        assert!(part.is_spent() && !effort.is_spent());
    }
}
