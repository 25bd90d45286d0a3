//! The interface between Quarry and SMT solvers.

mod bitwuzla;
mod process;
mod remembering;

use std::fmt;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::assignment::Assignment;
use crate::term::{Term, TermStore};

pub use bitwuzla::BitwuzlaSolver;
pub use process::ProcessSolver;
pub use remembering::{Memory, RememberingSolver};

/// Decides conjunctions of terms of width 1. Every call is a fresh query; answers are not yet checked.
pub trait Solver {
    /// How reports name the solver.
    fn name(&self) -> &str;

    /// Decides whether all assertions can hold together, within about `limit`.
    fn check(&mut self, store: &TermStore, assertions: &[Term], limit: Limit) -> Verdict;

    /// What the last call took, roughly in tenths of a millisecond but counted, so that it is the same on every machine;
    /// `None` when the solver does not count.
    fn effort(&self) -> Option<u64> {
        None
    }

    /// Calls `step` at fixed points of every search from now on: equally often for the same query on every machine. A solver
    /// that does not count never does.
    fn on_step(&mut self, _step: Rc<dyn Fn()>) {}
}

/// How much a query may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    /// Wall-clock time.
    pub time: Duration,
    /// Steps of the search, where the solver counts them; the same query takes the same number on every machine, so
    /// that giving up by effort keeps results repeatable.
    pub effort: Option<u64>,
    /// The solver's processor time: ends a query whose steps take far longer than usual.
    pub processor_time: Duration,
}

impl From<Duration> for Limit {
    fn from(time: Duration) -> Limit {
        Limit { time, effort: None, processor_time: Duration::MAX }
    }
}

/// The answer to a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// These values make all assertions hold.
    Sat(Assignment),
    /// No values do.
    Unsat {
        /// Assertions that cannot hold together, a subset of those asked about.
        core: Vec<Term>,
    },
    /// Not decided.
    Unknown(UnknownReason),
}

/// In a word, without values and cores.
impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sat(_) => f.write_str("sat"),
            Self::Unsat { .. } => f.write_str("unsat"),
            Self::Unknown(reason) => write!(f, "unknown ({reason:?})"),
        }
    }
}

/// Why a query was not decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UnknownReason {
    /// The limit of time or effort was reached.
    Timeout,
    /// The limit of processor time was reached before that of effort: on another machine it may not be.
    Overdue,
    /// Somebody asked to stop.
    Cancelled,
    /// The solver cannot handle something in the query.
    Unsupported(String),
    /// The solver failed.
    SolverError(String),
    /// The solver's model does not satisfy the query.
    WrongModel,
}

/// Asks solvers to stop, from any thread.
#[derive(Debug, Clone, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Not cancelled.
    pub fn new() -> Cancel {
        Cancel::default()
    }

    /// Ends the running query soon and all later ones at once.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether somebody asked to stop.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl From<Arc<AtomicBool>> for Cancel {
    fn from(flag: Arc<AtomicBool>) -> Cancel {
        Cancel(flag)
    }
}
