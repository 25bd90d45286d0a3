//! Questions to Bitwuzla with a limit on the effort of each and of all.
//!
//! Method: the solver asks at fixed points of its search whether to go on; counting them is a clock that runs alike
//! everywhere, so the same program gives the same proofs. What it does between two of them takes the longer the larger the
//! formula is, so they are weighed with the number of terms, and new terms are counted. Limit: the constants are from measurements; formulas differ by a
//! factor of ten, and with the largest ones the solver may not ask for seconds.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use bitwuzla_sys::{CheckResult, Solver, SolverOptions};

pub use crate::effort::Effort;
use crate::terms::{Bits, Terms, Truth};

/// What the solver does until it asks again whether to go on, in microseconds: at least, and for a thousand terms.
const MICROS_PER_CALL: u64 = 30;
const MICROS_PER_CALL_AND_THOUSAND: u64 = 1;
/// What a thousand terms take that the solver sees for the first time.
const MICROS_PER_THOUSAND: u64 = 2_000;
const MICROS_PER_UNIT: u64 = 100;
/// Effort that one question may cost.
const MAX_PER_QUESTION: u64 = 2_000;
/// What a question costs at least, and a solver.
const PER_QUESTION: u64 = 6;
const PER_SOLVER: u64 = 6;
/// Values of a model that are looked at in a unit of effort.
const VALUES_PER_UNIT: u64 = 100;

/// The answer to a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Possible,
    Impossible,
    Unknown,
}

/// A solver with facts that hold for all its questions.
pub(crate) struct Questions<'m> {
    solver: Solver<'m>,
    effort: Effort,
    spent: Rc<Cell<u64>>,
    limit: Rc<Cell<u64>>,
    /// Values that were looked at and not counted yet.
    n_values: u64,
    most: u64,
    /// Terms of all solvers, and how many solvers there are.
    n_terms: Rc<Cell<usize>>,
    n_solvers: usize,
    /// Terms that there were when it was asked last.
    n_seen: usize,
    /// Says when a question has taken too long, where time counts.
    is_overdue: Rc<RefCell<Box<dyn Fn() -> bool>>>,
}

const USABLE: &str = "the solver takes well-formed terms";

impl<'m> Questions<'m> {
    /// For questions of any kind; if they are `similar`, for many that differ in a few of their assumptions. So many solvers share the terms.
    pub(crate) fn new(
        terms: &Terms<'m>,
        n_solvers: usize,
        facts: &[Truth<'m>],
        effort: &Effort,
        similar: bool,
    ) -> Self {
        let options = SolverOptions {
            models: true,
            unsat_assumptions: true,
            is_plain: similar,
            ..SolverOptions::default()
        };
        let mut solver = Solver::new(terms.manager(), &options).expect(USABLE);
        let (spent, limit) = (Rc::new(Cell::new(0)), Rc::new(Cell::new(0)));
        let (counter, highest, stop) = (Rc::clone(&spent), Rc::clone(&limit), Rc::clone(&effort.stop));
        let is_overdue: Rc<RefCell<Box<dyn Fn() -> bool>>> = Rc::new(RefCell::new(Box::new(|| false)));
        let is_late = Rc::clone(&is_overdue);
        solver
            .set_terminator(move || {
                counter.set(counter.get() + 1);
                counter.get() > highest.get() || is_late.borrow()() || stop()
            })
            .expect(USABLE);
        for fact in facts {
            solver.assert(fact.term()).expect(USABLE);
        }
        effort.spend(PER_SOLVER);
        Self {
            solver,
            effort: effort.clone(),
            spent,
            limit,
            n_values: 0,
            most: MAX_PER_QUESTION,
            n_terms: terms.size(),
            n_solvers,
            n_seen: 0,
            is_overdue,
        }
    }

    /// A question may cost so many times the usual effort.
    pub(crate) fn with_patience(mut self, times: u64) -> Self {
        self.allow(times);
        self
    }

    /// The same, from now on.
    pub(crate) fn allow(&mut self, times: u64) {
        self.most = MAX_PER_QUESTION * times;
    }

    /// Takes this as a fact from now on.
    pub(crate) fn assert(&mut self, truth: Truth<'m>) {
        self.solver.assert(truth.term()).expect(USABLE);
    }

    /// Whether all of this can be true together.
    pub(crate) fn ask(&mut self, assumptions: &[Truth<'m>]) -> Answer {
        if self.effort.is_spent() {
            return Answer::Unknown;
        }
        self.spent.set(0);
        let thousands = (self.n_terms.get() / self.n_solvers / 1000) as u64;
        let micros_per_call = MICROS_PER_CALL + MICROS_PER_CALL_AND_THOUSAND * thousands;
        let most = self.most.min(self.effort.left());
        let limit = most.saturating_mul(MICROS_PER_UNIT) / micros_per_call;
        self.limit.set(match self.effort.stopwatch() {
            Some(stopwatch) => {
                *self.is_overdue.borrow_mut() = Box::new(move || stopwatch() > most);
                u64::MAX
            }
            None => limit,
        });
        let terms: Vec<_> = assumptions.iter().map(|truth| truth.term()).collect();
        let answer = self.solver.check_assuming(&terms);
        let n_new = (self.n_terms.get() - self.n_seen) as u64 / self.n_solvers as u64;
        self.n_seen = self.n_terms.get();
        let micros = self.spent.get() * micros_per_call + n_new * MICROS_PER_THOUSAND / 1000;
        self.effort.spend(PER_QUESTION + micros / MICROS_PER_UNIT);
        match answer {
            Ok(CheckResult::Sat) => Answer::Possible,
            Ok(CheckResult::Unsat) => Answer::Impossible,
            Ok(CheckResult::Unknown) | Err(_) => {
                let _ = self.effort.is_spent(); // which notes it
                Answer::Unknown
            }
        }
    }

    /// Whether the term is true in the model of what was possible.
    pub(crate) fn holds(&mut self, truth: Truth<'m>) -> bool {
        self.n_values += 1;
        if self.n_values.is_multiple_of(VALUES_PER_UNIT) {
            self.effort.spend(1);
        }
        self.solver.value(truth.term()).is_ok_and(|value| value == 1)
    }

    /// What the bits are in the model of what was possible.
    pub(crate) fn value(&mut self, bits: Bits<'m>) -> Option<u128> {
        self.solver.value(bits.term()).ok()
    }

    /// Which of the assumptions made it impossible.
    pub(crate) fn needed(&mut self, assumptions: &[Truth<'m>]) -> Vec<usize> {
        let Ok(core) = self.solver.unsat_assumptions() else { return (0..assumptions.len()).collect() };
        let is_needed = |at: &usize| core.contains(&assumptions[*at].term());
        (0..assumptions.len()).filter(is_needed).collect()
    }
}
