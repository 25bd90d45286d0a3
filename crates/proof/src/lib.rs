//! Proofs that a goal cannot be covered: claims, proofs as data and text, and their checker.

mod certificate;
mod claim;
mod formula;
pub mod text;
mod verdict;

pub use certificate::{Body, Context, Cut, Proof};
pub use claim::{Assumption, Claim, Goal, ProgramHash, SwitchTarget};
pub use formula::{Formula, Operator};
pub use text::ProofParseError;
pub use verdict::{Answer, Decide, Rejection, Verdict};
