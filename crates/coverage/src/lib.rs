//! What counts as covered.
//!
//! A [`Criterion`] turns a program into [`Goal`]s; each goal states a [`Demand`] in a closed language. An
//! [`observe::Observer`] turns a walked run into [`observe::Observations`], facts about the original source;
//! [`Coverage`] compares the two. Only this crate marks a goal covered, or infeasible on the word of a proof.

mod concerned;
mod criteria;
mod criterion;
mod demand;
mod directions;
mod explain;
mod facts;
pub mod flow;
mod flow_goal;
mod goal;
mod key;
mod marking;
mod milestones;
pub mod observe;
mod pairs;
mod reason;
mod scope;
mod showing;
mod status;
pub mod structure;
pub mod tally;
mod test_id;
pub mod vector;

pub use concerned::is_concerned;
pub use criteria::{
    BOUNDARY, CRITERIA, Independence, MAX_VECTORS, UnknownCriterion, criterion_named, data_flow_criterion,
    mcdc,
};
pub use criterion::Criterion;
pub use demand::{Case, Demand, DemandPlace, EvaluationDemand};
pub use explain::{SearchEnd, explain, obstacles};
pub use facts::{Facts, Sequences, Way};
pub use goal::{Goal, GoalId};
pub use marking::Marking;
pub use pairs::only_difference;
pub use reason::{Barrier, Cause, Lost, Reason, Tried};
pub use scope::{Part, Scope};
pub use showing::{pairs_showing, showing};
pub use status::{Contradiction, Coverage, Covered, Evidence, Invariant, Status};
pub use test_id::TestId;
