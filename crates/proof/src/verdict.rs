//! What a checker says about a proof, and what a solver says about a query.

use std::fmt;

/// The checker's answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The claim holds. How many queries were decided.
    Accepted { n_queries: usize },
    /// The proof does not show the claim.
    Rejected(Rejection),
    /// Limits or missing solvers left it open: the proof does not count.
    Unknown(String),
    /// Two solvers contradict each other: one of them is wrong.
    Disagreement(String),
}

/// Where and why a proof was rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    /// The part of the proof or of the program: `claim`, `cut @ b3`, `@.%4 b2 %7`.
    pub at: String,
    pub why: String,
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.at, self.why)
    }
}

/// Answers to one query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// At least one solver says that there is no model, and none that there is one.
    Unsat,
    Sat,
    Unknown(String),
    /// Some say unsat and some sat; who says what.
    Disagreement(String),
}

/// Decides queries in SMT-LIB.
pub trait Decide {
    /// `script` declares, asserts and ends before `(check-sat)`.
    fn decide(&mut self, script: &str) -> Answer;

    /// Whether nobody waits for the verdict any more: the check then ends without one.
    fn is_over(&self) -> bool {
        false
    }
}
