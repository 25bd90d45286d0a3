//! Questions to Bitwuzla with a limit on the effort of each and of all.
//!
//! Method: the solver asks at fixed points of its search whether to go on; counting them is a clock that runs alike
//! everywhere, so the same program gives the same proofs.

use std::cell::Cell;
use std::rc::Rc;

use bitwuzla_sys::{CheckResult, Solver, SolverOptions, TermManager};

use crate::terms::{Bits, Truth};

/// How often the solver asks whether to go on, in a unit of effort: where it simplifies at first, and where questions are similar.
const PER_UNIT: u64 = 10;
const PER_UNIT_OF_SIMILAR: u64 = 80;
/// Effort that one question may cost.
const MAX_PER_QUESTION: u64 = 2_000;
/// What a question costs at least.
const PER_QUESTION: u64 = 6;

/// How much may still be asked.
#[derive(Clone)]
pub struct Effort {
    total: Rc<Cell<u64>>,
    /// What must be left of the total.
    reserve: u64,
    /// Whether somebody wants to stop.
    stop: Rc<dyn Fn() -> bool>,
}

impl Effort {
    /// So much effort, in units of about a tenth of a millisecond, unless `stop` says to end before.
    pub fn new(limit: u64, stop: impl Fn() -> bool + 'static) -> Self {
        Self { total: Rc::new(Cell::new(limit)), reserve: 0, stop: Rc::new(stop) }
    }

    /// Whether nothing is left.
    pub fn is_spent(&self) -> bool {
        self.left() == 0 || (self.stop)()
    }

    /// What is left.
    pub fn left(&self) -> u64 {
        self.total.get().saturating_sub(self.reserve)
    }

    /// A part of what is left: one of so many. What is spent of it is spent of the whole.
    pub(crate) fn part(&self, parts: u64) -> Self {
        Self { reserve: self.reserve + (self.left() - self.left() / parts), ..self.clone() }
    }

    /// All but a part of what is left: one of so many.
    pub(crate) fn keeping(&self, parts: u64) -> Self {
        Self { reserve: self.reserve + self.left() / parts, ..self.clone() }
    }

    pub(crate) fn spend(&self, units: u64) {
        self.total.set(self.total.get().saturating_sub(units));
    }
}

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
    most: u64,
    per_unit: u64,
}

const USABLE: &str = "the solver takes well-formed terms";

impl<'m> Questions<'m> {
    /// For questions of any kind; if they are `similar`, for many that differ in a few of their assumptions.
    pub(crate) fn new(manager: &'m TermManager, facts: &[Truth<'m>], effort: &Effort, similar: bool) -> Self {
        let options = SolverOptions {
            models: true,
            unsat_assumptions: true,
            is_plain: similar,
            ..SolverOptions::default()
        };
        let mut solver = Solver::new(manager, &options).expect(USABLE);
        let (spent, limit) = (Rc::new(Cell::new(0)), Rc::new(Cell::new(0)));
        let (counter, highest, stop) = (Rc::clone(&spent), Rc::clone(&limit), Rc::clone(&effort.stop));
        solver
            .set_terminator(move || {
                counter.set(counter.get() + 1);
                counter.get() > highest.get() || stop()
            })
            .expect(USABLE);
        for fact in facts {
            solver.assert(fact.term()).expect(USABLE);
        }
        Self {
            solver,
            effort: effort.clone(),
            spent,
            limit,
            most: MAX_PER_QUESTION,
            per_unit: if similar { PER_UNIT_OF_SIMILAR } else { PER_UNIT },
        }
    }

    /// A question may cost so many times the usual effort.
    pub(crate) fn with_patience(self, times: u64) -> Self {
        Self { most: MAX_PER_QUESTION * times, ..self }
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
        self.limit.set(self.most.min(self.effort.left()).saturating_mul(self.per_unit));
        let terms: Vec<_> = assumptions.iter().map(|truth| truth.term()).collect();
        let answer = self.solver.check_assuming(&terms);
        self.effort.spend(PER_QUESTION + self.spent.get() / self.per_unit);
        match answer {
            Ok(CheckResult::Sat) => Answer::Possible,
            Ok(CheckResult::Unsat) => Answer::Impossible,
            Ok(CheckResult::Unknown) | Err(_) => Answer::Unknown,
        }
    }

    /// Whether the term is true in the model of what was possible.
    pub(crate) fn holds(&mut self, truth: Truth<'m>) -> bool {
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
