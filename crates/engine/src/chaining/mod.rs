//! Chaining: cover what depends on what happened before (Precise guidance to dynamic test generation).
//!
//! Where a branch asks about a value that earlier statements make, distance says nothing. [`chase::Chase`] follows event sequences
//! ([`analysis::chaining`]) for one branch direction at a time; [`plan`] says which outcomes of a run are to be changed next, all in one
//! query; [`record`] is what a path tells of definitions and of the branches that led to them. What executes and solves is the campaign.

mod chase;
mod plan;
mod record;
mod region;
mod values;

pub(crate) use chase::{Chase, Ended, Records, Wish};
pub(crate) use plan::{Levels, Lore, Problems, Stores};
pub(crate) use record::{Followed, Reader, Record, Recorder};
pub(crate) use values::Change;
