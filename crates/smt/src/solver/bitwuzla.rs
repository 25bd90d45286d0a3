//! Bitwuzla in this process.
//!
//! Method: a fresh solver per query (unrelated queries in one solver slow each other down), fed from the lowered
//! assertions in one pass. Limit: time and effort are looked at during search, not while terms are translated and simplified;
//! a query with too many terms for its effort is given up at once.

mod float;

use std::cell::Cell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use bitwuzla_sys::{CheckResult, Error, SolverOptions, TermKind, TermManager};
use rustix::time::{ClockId, clock_gettime};

use super::{Cancel, Limit, Solver, UnknownReason, Verdict};
use crate::assignment::Assignment;
use crate::lower::{Lowered, Slot, Step, lower};
use crate::term::hash::FastMap;
use crate::term::{BinaryOp, Extension, Term, TermStore, UnaryOp};

/// What a call costs at least, in tenths of a millisecond.
const EFFORT_OF_CALL: u64 = 10;
/// Lowered terms that cost as much as one tenth of a millisecond, most of it while they are simplified and made into bits.
const TERMS_PER_EFFORT: u64 = 2;
/// Terms that may be translated for each unit of a limited effort: it is not looked at before the search begins.
const TERMS_PER_LIMIT: u64 = 2;

/// Solves in process with Bitwuzla. Bound to its thread.
#[derive(Default)]
pub struct BitwuzlaSolver {
    manager: TermManager,
    cancel: Cancel,
    /// Of the last call.
    effort: u64,
    /// Hears of every step of a search.
    on_step: Option<Rc<dyn Fn()>>,
}

impl BitwuzlaSolver {
    /// A solver that nobody cancels.
    pub fn new() -> BitwuzlaSolver {
        BitwuzlaSolver::default()
    }

    /// A solver that stops when `cancel` asks to.
    pub fn with_cancel(cancel: Cancel) -> BitwuzlaSolver {
        BitwuzlaSolver { cancel, ..BitwuzlaSolver::default() }
    }

    /// The version of the library linked in.
    pub fn version() -> String {
        TermManager::version()
    }
}

impl Solver for BitwuzlaSolver {
    fn name(&self) -> &str {
        "bitwuzla"
    }

    fn check(&mut self, store: &TermStore, assertions: &[Term], limit: Limit) -> Verdict {
        let clocks = Clocks::start(&limit);
        if self.cancel.is_cancelled() {
            return Verdict::Unknown(UnknownReason::Cancelled);
        }
        let lowered = lower(store, assertions);
        let n_terms = lowered.steps.len() as u64;
        if limit.effort.is_some_and(|effort| n_terms > effort * TERMS_PER_LIMIT) {
            self.effort = EFFORT_OF_CALL;
            return Verdict::Unknown(UnknownReason::Timeout);
        }
        let spent = Rc::new(Cell::new(0));
        let (counter, on_step) = (Rc::clone(&spent), self.on_step.as_deref());
        let count = move || {
            counter.set(counter.get() + 1);
            on_step.inspect(|on_step| on_step());
        };
        let (effort, cancel) = (limit.effort, &self.cancel);
        let answer = query(&self.manager, &lowered, assertions, cancel, &clocks, (effort, &spent, count));
        self.effort = EFFORT_OF_CALL + n_terms / TERMS_PER_EFFORT + spent.get() / 2;
        let cleared = self.manager.clear();
        match answer.and_then(|verdict| cleared.map(|()| verdict)) {
            Ok(verdict) => verdict,
            Err(error) => Verdict::Unknown(UnknownReason::SolverError(error.to_string())),
        }
    }

    fn effort(&self) -> Option<u64> {
        Some(self.effort)
    }

    fn on_step(&mut self, step: Rc<dyn Fn()>) {
        self.on_step = Some(step);
    }
}

/// The limits of one query that are time.
#[derive(Clone, Copy)]
struct Clocks {
    deadline: Option<Instant>,
    /// By this thread's processor time.
    processor_deadline: Option<Duration>,
}

impl Clocks {
    fn start(limit: &Limit) -> Self {
        Self {
            deadline: Instant::now().checked_add(limit.time),
            processor_deadline: processor_time().checked_add(limit.processor_time),
        }
    }

    fn is_over(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    fn is_overdue(&self) -> bool {
        self.processor_deadline.is_some_and(|deadline| processor_time() >= deadline)
    }
}

fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    // never negative
    Duration::new(time.tv_sec.cast_unsigned(), u32::try_from(time.tv_nsec).unwrap_or(0))
}

fn query(
    manager: &TermManager,
    lowered: &Lowered,
    assertions: &[Term],
    cancel: &Cancel,
    &clocks: &Clocks,
    (effort, spent, count): (Option<u64>, &Rc<Cell<u64>>, impl Fn()),
) -> Result<Verdict, Error> {
    let mut known = Vec::new();
    let terms = translate(manager, lowered, &mut known)?;
    let options = SolverOptions { models: true, unsat_cores: true, ..SolverOptions::default() };
    let mut solver = bitwuzla_sys::Solver::new(manager, &options)?;
    // The search asks at fixed points whether to go on: a clock that runs alike everywhere.
    let is_spent = |spent: &Cell<u64>| effort.is_some_and(|effort| spent.get() >= effort);
    solver.set_terminator(move || {
        count();
        is_spent(spent) || cancel.is_cancelled() || clocks.is_over() || clocks.is_overdue()
    })?;
    for term in known {
        solver.assert(term)?;
    }
    for slot in &lowered.assertions {
        solver.assert(terms[slot.index()])?;
    }
    match solver.check()? {
        CheckResult::Sat => {
            let mut model = Assignment::new();
            for &(var, slot) in &lowered.vars {
                model.set(var, solver.value(terms[slot.index()])?);
            }
            Ok(Verdict::Sat(model))
        }
        CheckResult::Unsat => {
            let core = solver.unsat_core()?;
            let named = lowered.assertions.iter().map(|slot| terms[slot.index()]).zip(assertions.iter());
            let core =
                named.filter(|(term, _)| core.contains(term)).map(|(_, &assertion)| assertion).collect();
            Ok(Verdict::Unsat { core })
        }
        CheckResult::Unknown if cancel.is_cancelled() => Ok(Verdict::Unknown(UnknownReason::Cancelled)),
        CheckResult::Unknown if is_spent(spent) || clocks.is_over() => {
            Ok(Verdict::Unknown(UnknownReason::Timeout))
        }
        CheckResult::Unknown if clocks.is_overdue() => Ok(Verdict::Unknown(UnknownReason::Overdue)),
        CheckResult::Unknown => {
            Ok(Verdict::Unknown(UnknownReason::SolverError("gave up before the time limit".to_owned())))
        }
    }
}

/// The terms of all steps; what is known of constants made on the way goes to `known`.
fn translate<'m>(
    manager: &'m TermManager,
    lowered: &Lowered,
    known: &mut Vec<bitwuzla_sys::Term<'m>>,
) -> Result<Vec<bitwuzla_sys::Term<'m>>, Error> {
    let mut terms: Vec<bitwuzla_sys::Term<'m>> = Vec::with_capacity(lowered.steps.len());
    let mut sorts = FastMap::default();
    for (step, &width) in lowered.steps.iter().zip(&lowered.widths) {
        let at = |slot: Slot| terms[slot.index()];
        let mut sort = || match sorts.get(&width) {
            Some(&sort) => Ok(sort),
            None => manager.bit_vector_sort(width).inspect(|&sort| {
                sorts.insert(width, sort);
            }),
        };
        let term = match *step {
            Step::Bool(value) => manager.bool_value(value),
            Step::BitVector(value) => manager.bit_vector_value(sort()?, value.bits()),
            Step::Variable(_) => manager.fresh_constant(sort()?),
            Step::BoolNot(operand) => manager.apply(TermKind::Not, &[at(operand)]),
            Step::BoolAnd(left, right) => manager.apply(TermKind::And, &[at(left), at(right)]),
            Step::BoolOr(left, right) => manager.apply(TermKind::Or, &[at(left), at(right)]),
            Step::Equal(left, right) => manager.apply(TermKind::Equal, &[at(left), at(right)]),
            Step::Unary(UnaryOp::Not, operand) => manager.apply(TermKind::BvNot, &[at(operand)]),
            Step::Unary(UnaryOp::Neg, operand) => manager.apply(TermKind::BvNeg, &[at(operand)]),
            Step::Compare(op, left, right) | Step::Binary(op, left, right) => {
                manager.apply(kind(op), &[at(left), at(right)])
            }
            Step::Extract { operand, high, low } => {
                manager.apply_indexed(TermKind::BvExtract, &[at(operand)], &[u64::from(high), u64::from(low)])
            }
            Step::Extend { extension, operand, n_bits } => {
                let kind = match extension {
                    Extension::Zero => TermKind::BvZeroExtend,
                    Extension::Sign => TermKind::BvSignExtend,
                };
                manager.apply_indexed(kind, &[at(operand)], &[u64::from(n_bits)])
            }
            Step::Ite(condition, then, otherwise) => {
                manager.apply(TermKind::Ite, &[at(condition), at(then), at(otherwise)])
            }
            Step::Float(step) => float::translate(manager, lowered, step, &terms, known),
        }?;
        terms.push(term);
    }
    Ok(terms)
}

fn kind(op: BinaryOp) -> TermKind {
    match op {
        BinaryOp::Add => TermKind::BvAdd,
        BinaryOp::Mul => TermKind::BvMul,
        BinaryOp::Udiv => TermKind::BvUdiv,
        BinaryOp::Sdiv => TermKind::BvSdiv,
        BinaryOp::Urem => TermKind::BvUrem,
        BinaryOp::Srem => TermKind::BvSrem,
        BinaryOp::And => TermKind::BvAnd,
        BinaryOp::Or => TermKind::BvOr,
        BinaryOp::Xor => TermKind::BvXor,
        BinaryOp::Shl => TermKind::BvShl,
        BinaryOp::Lshr => TermKind::BvLshr,
        BinaryOp::Ashr => TermKind::BvAshr,
        BinaryOp::Concat => TermKind::BvConcat,
        BinaryOp::Eq => TermKind::Equal,
        BinaryOp::Ult => TermKind::BvUlt,
        BinaryOp::Ule => TermKind::BvUle,
        BinaryOp::Slt => TermKind::BvSlt,
        BinaryOp::Sle => TermKind::BvSle,
    }
}
