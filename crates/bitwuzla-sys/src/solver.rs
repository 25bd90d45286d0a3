//! One solver instance: assertions, checks, models and unsat cores.

use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;
use std::time::Duration;

use crate::error::{Result, checked};
use crate::ffi;
use crate::term::{Term, TermManager, returned_null};

/// What a solver shall be able to tell, and its limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SolverOptions {
    /// Values can be asked for after [`CheckResult::Sat`].
    pub models: bool,
    /// The assertions responsible can be asked for after [`CheckResult::Unsat`].
    pub unsat_cores: bool,
    /// The assumptions responsible can be asked for after [`CheckResult::Unsat`].
    pub unsat_assumptions: bool,
    /// Assertions and assumptions go to the solver as they are: what is simplified at first pays where one check is long, not
    /// where many that differ in a few assumptions follow each other.
    pub is_plain: bool,
    /// Time per check; `None` means no limit. Rounded up to whole milliseconds.
    pub time_limit: Option<Duration>,
    /// Memory in MiB above which a check gives up; `None` means no limit.
    pub memory_limit_mib: Option<u64>,
}

/// The answer to one check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckResult {
    /// There is a model.
    Sat,
    /// There is none.
    Unsat,
    /// A limit was reached or the terminator asked to stop.
    Unknown,
}

/// Asked now and then during a check whether to give up.
type Terminator<'m> = Box<dyn Fn() -> bool + 'm>;

/// A solver for terms of one [`TermManager`].
pub struct Solver<'m> {
    raw: NonNull<ffi::RawSolver>,
    /// The box gives the closure a fixed address; Bitwuzla keeps a pointer to it.
    terminator: Option<Box<Terminator<'m>>>,
    manager: &'m TermManager,
}

impl<'m> Solver<'m> {
    /// A solver without assertions.
    pub fn new(manager: &'m TermManager, options: &SolverOptions) -> Result<Solver<'m>> {
        let act = "make a solver";
        // SAFETY: no precondition; every call below gets the live options object, deleted once at the end.
        let raw_options = checked(act, || unsafe { ffi::bitwuzla_options_new() })?;
        let raw = checked(act, || unsafe {
            for (option, value) in options.settings() {
                ffi::bitwuzla_set_option(raw_options, option, value);
            }
            let solver = ffi::bitwuzla_new(manager.as_ptr(), raw_options);
            ffi::bitwuzla_options_delete(raw_options);
            solver
        })?;
        let raw = NonNull::new(raw).ok_or_else(|| returned_null(act))?;
        Ok(Solver { raw, terminator: None, manager })
    }

    /// The manager whose terms this solver understands.
    pub fn manager(&self) -> &'m TermManager {
        self.manager
    }

    /// Gives up a check soon after `terminator` answers true. A panic in it counts as true.
    pub fn set_terminator(&mut self, terminator: impl Fn() -> bool + 'm) -> Result<()> {
        let state: Box<Terminator<'m>> = Box::new(Box::new(terminator));
        let pointer = (&raw const *state).cast_mut().cast::<c_void>();
        // SAFETY: the solver is alive; `state` is kept in `self` until the solver is deleted or gets another one.
        checked("set a terminator", || unsafe {
            ffi::bitwuzla_set_termination_callback(self.raw.as_ptr(), call_terminator, pointer)
        })?;
        self.terminator = Some(state);
        Ok(())
    }

    /// Adds a boolean term to the assertions.
    pub fn assert(&mut self, term: Term<'m>) -> Result<()> {
        // SAFETY: solver and term are alive.
        checked("assert a term", || unsafe { ffi::bitwuzla_assert(self.raw.as_ptr(), term.raw.as_ptr()) })
    }

    /// Opens an assertion level.
    pub fn push(&mut self) -> Result<()> {
        // SAFETY: the solver is alive.
        checked("open an assertion level", || unsafe { ffi::bitwuzla_push(self.raw.as_ptr(), 1) })
    }

    /// Closes the innermost assertion level.
    pub fn pop(&mut self) -> Result<()> {
        // SAFETY: the solver is alive.
        checked("close an assertion level", || unsafe { ffi::bitwuzla_pop(self.raw.as_ptr(), 1) })
    }

    /// Decides the assertions.
    pub fn check(&mut self) -> Result<CheckResult> {
        // SAFETY: the solver is alive.
        checked("check the assertions", || unsafe { ffi::bitwuzla_check_sat(self.raw.as_ptr()) })
            .map(outcome_of)
    }

    /// Decides the assertions together with boolean `assumptions` that hold for this check only.
    pub fn check_assuming(&mut self, assumptions: &[Term<'m>]) -> Result<CheckResult> {
        let n_assumptions = u32::try_from(assumptions.len()).expect("fewer than 2^32 assumptions");
        let raw_assumptions = assumptions.as_ptr().cast_mut().cast();
        // SAFETY: solver and terms are alive, the length is the slice's; Bitwuzla only reads the array.
        checked("check the assumptions", || unsafe {
            ffi::bitwuzla_check_sat_assuming(self.raw.as_ptr(), n_assumptions, raw_assumptions)
        })
        .map(outcome_of)
    }

    /// The value of `term` in the model of the last check, which was [`CheckResult::Sat`].
    pub fn value(&mut self, term: Term<'m>) -> Result<u128> {
        let act = "get a value";
        // SAFETY: solver and term are alive.
        let value =
            checked(act, || unsafe { ffi::bitwuzla_get_value(self.raw.as_ptr(), term.raw.as_ptr()) })?;
        Term::from_raw(value).ok_or_else(|| returned_null(act))?.value()
    }

    /// The assertions that suffice for the last answer, which was [`CheckResult::Unsat`].
    pub fn unsat_core(&mut self) -> Result<Vec<Term<'m>>> {
        self.term_list("get an unsat core", ffi::bitwuzla_get_unsat_core)
    }

    /// The assumptions that suffice for the last answer, which was [`CheckResult::Unsat`].
    pub fn unsat_assumptions(&mut self) -> Result<Vec<Term<'m>>> {
        self.term_list("get unsat assumptions", ffi::bitwuzla_get_unsat_assumptions)
    }

    fn term_list(
        &mut self,
        act: &'static str,
        get: unsafe extern "C" fn(*mut ffi::RawSolver, *mut usize) -> *const *mut ffi::RawTerm,
    ) -> Result<Vec<Term<'m>>> {
        let mut n_terms = 0;
        // SAFETY: the solver is alive and `n_terms` is writable.
        let list = checked(act, || unsafe { get(self.raw.as_ptr(), &raw mut n_terms) })?;
        if list.is_null() {
            return Ok(Vec::new());
        }
        // SAFETY: the list has `n_terms` entries and lives until the next call; terms live as long as the manager.
        let list = unsafe { std::slice::from_raw_parts(list, n_terms) };
        list.iter().map(|&raw| Term::from_raw(raw).ok_or_else(|| returned_null(act))).collect()
    }
}

impl Drop for Solver<'_> {
    fn drop(&mut self) {
        // SAFETY: the solver is alive; its terminator is dropped after it.
        unsafe { ffi::bitwuzla_delete(self.raw.as_ptr()) }
    }
}

impl SolverOptions {
    fn settings(&self) -> Vec<(i32, u64)> {
        let mut settings = Vec::new();
        for (wanted, option) in [
            (self.models, ffi::OPT_PRODUCE_MODELS),
            (self.unsat_cores, ffi::OPT_PRODUCE_UNSAT_CORES),
            (self.unsat_assumptions, ffi::OPT_PRODUCE_UNSAT_ASSUMPTIONS),
        ] {
            if wanted {
                settings.push((option, 1));
            }
        }
        if self.is_plain {
            settings.push((ffi::OPT_PREPROCESS, 0));
        }
        if let Some(limit) = self.time_limit {
            let milliseconds = limit.as_nanos().div_ceil(1_000_000).max(1);
            settings.push((ffi::OPT_TIME_LIMIT_PER, u64::try_from(milliseconds).unwrap_or(u64::MAX)));
        }
        if let Some(limit) = self.memory_limit_mib {
            settings.push((ffi::OPT_MEMORY_LIMIT, limit));
        }
        settings
    }
}

fn outcome_of(result: i32) -> CheckResult {
    match result {
        ffi::RESULT_SAT => CheckResult::Sat,
        ffi::RESULT_UNSAT => CheckResult::Unsat,
        _ => CheckResult::Unknown,
    }
}

extern "C" fn call_terminator(state: *mut c_void) -> i32 {
    // SAFETY: `set_terminator` passed a pointer to a closure that lives as long as the solver.
    let terminator = unsafe { &*state.cast::<Terminator<'_>>() };
    // A panic must not unwind through C++.
    i32::from(catch_unwind(AssertUnwindSafe(terminator)).unwrap_or(true))
}
