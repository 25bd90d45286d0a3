//! What counts as covered.
//!
//! A [`Criterion`] turns a program into [`Goal`]s; each goal states a [`Demand`] in a closed language. An
//! [`observe::Observer`] turns a walked run into [`observe::Observations`], facts about the original source;
//! [`Coverage`] compares the two. Only this crate marks a goal covered.

mod criterion;
mod goal;
pub mod observe;
mod scope;
mod status;
pub mod vector;

pub use criterion::{CRITERIA, Criterion, UnknownCriterion, criterion_named};
pub use goal::{Case, Demand, Goal, GoalId};
pub use scope::{Part, Scope};
pub use status::{Coverage, Reason, Status, TestId};
