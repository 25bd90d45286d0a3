//! Finds proofs that goals cannot be covered, and inputs that cover them.
//!
//! Method: the program is encoded as bit-vectors between points that cut its loops ([`prove`]); formulas at these points are
//! guessed and kept where they are inductive; a goal is infeasible when no segment between cuts can cover it. What is found
//! is a [`proof::Proof`], which counts only when the checker in `proof`, which shares no code with this crate, accepts it.
//! Inputs come from unrolled loops, and count only when their execution covers the goal. Limit: what neither gives is not
//! decided.

mod access;
mod attempt;
mod bounded;
mod calls;
mod candidates;
mod cegar;
mod cells;
mod claims;
mod demand;
mod domains;
mod effort;
mod encode;
mod events;
mod flow;
mod formula;
mod frames;
mod graph;
mod halves;
mod harness;
mod houdini;
mod known;
mod locals;
mod loop_free;
mod memory;
mod nodes;
mod objects;
mod operation;
mod outside;
mod pdr;
mod plan;
mod plans;
mod predicates;
mod question;
mod reached;
mod refuted;
mod simulation;
mod stages;
mod state;
mod states;
mod step;
mod system;
mod terms;
mod uncalled;
mod unroll;
mod unrolling;
mod unwinding;
mod watch;
mod wto;

pub use attempt::{Outcome, prove};
pub use bounded::Counterexample;
pub use claims::{begins_program, decides};
pub use demand::goal_of;
pub use known::Known;
pub use plan::{Engine, Task};
pub use question::Effort;
pub use refuted::{Refutation, refutations};
