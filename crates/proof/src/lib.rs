//! Proofs that a goal cannot be covered: claims, proofs as data and text, and their checker.

mod certificate;
mod check;
mod claim;
mod formula;
mod solvers;
pub mod text;
mod verdict;

pub use certificate::{Body, Context, Cut, Proof};
pub use check::{Checker, check};
pub use claim::{Assumption, Claim, Goal, ProgramHash, SwitchTarget};
pub use formula::{Formula, Operator};
pub use solvers::{SolverProgram, Solvers};
pub use text::ProofParseError;
pub use verdict::{Answer, Decide, Rejection, Verdict};
