//! Checked, typed access to the Bitwuzla 0.9.1 solver for bit-vector terms.
//!
//! Method: hand-written declarations of the part of the C interface Quarry uses, and thin wrappers over them: terms borrow
//! their [`TermManager`], every call that can fail returns a [`Result`], and no type is `Send`, because Bitwuzla allows one
//! thread per term manager. Limit: of arrays only reading; an internal error of Bitwuzla that is not an API error
//! (out of memory) ends the process.

mod error;
mod ffi;
mod solver;
mod term;

pub use error::{Error, Result};
pub use solver::{CheckResult, Solver, SolverOptions};
pub use term::{RoundingMode, Sort, Term, TermKind, TermManager};
