//! The campaign and everything it acts with.
//!
//! An [`executor::Executor`] runs the program under test natively; [`trace`] follows the path it took; [`terms`] turns the
//! expressions it left into terms for the solver; a [`strategy::Strategy`] chooses which candidate to try next, guided
//! to def-use pairs by a [`target::Target`] if it wants; the [`campaign`] asks its sources of work, of which the strategy is
//! one, and acts; [`simplify`] makes what it found easier to read. Nothing in here prints; clock and randomness come from
//! outside.

pub mod branch_distance;
pub mod campaign;
mod chaining;
pub mod executor;
mod influence;
mod numeric;
pub mod pool;
pub mod rng;
pub mod self_check;
pub mod simplify;
pub mod strategy;
pub mod target;
pub mod terms;
pub mod trace;
mod values;

#[cfg(test)]
mod testing;
