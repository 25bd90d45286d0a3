//! Finds proofs that goals cannot be covered.
//!
//! Method: the program is encoded as bit-vectors between points that cut its loops ([`prove`]); formulas at these points are
//! guessed and kept where they are inductive; a goal is infeasible when no segment between cuts can cover it. What is found
//! is a [`proof::Proof`], which counts only when the checker in `proof`, which shares no code with this crate, accepts it.
//! Limit: what cannot be proved this way is not decided; nothing here finds inputs.

mod attempt;
mod calls;
mod candidates;
mod demand;
mod encode;
mod formula;
mod graph;
mod houdini;
mod locals;
mod memory;
mod objects;
mod question;
mod state;
mod step;
mod system;
mod terms;
mod watch;

pub use attempt::{Engine, Task, prove};
pub use demand::goal_of;
pub use question::Effort;
