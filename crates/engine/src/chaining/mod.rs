//! Chaining: cover what depends on what happened before (Precise guidance to dynamic test generation).
//!
//! Where a branch asks about a value that earlier statements make, distance says nothing. [`chase::Chase`] follows event sequences
//! ([`analysis::chaining`]) for one branch direction at a time; [`plan`] says which outcomes of a run are to be changed next, all in one
//! query; [`record`] is what a path tells of definitions and of the branches that led to them. What executes and solves is the campaign.

mod aim;
mod chase;
mod fast_hash;
mod plan;
mod record;
mod region;
mod values;

pub(crate) use chase::{Chase, Records, Wish};
pub use chase::{Chased, Trail, TrailEnd};

use std::collections::BTreeMap;
use std::sync::Arc;

use analysis::dataflow::DataFlow;
use model::walk::{Choice, Site};

/// What came of all directions that event sequences were followed for.
#[derive(Clone, Debug, Default)]
pub struct Chases {
    /// What definitions are numbered by; nothing where no direction was a problem.
    pub flow: Option<Arc<DataFlow>>,
    pub by_direction: BTreeMap<(Site, Choice), Chased>,
}
pub(crate) use aim::Outlook;
pub(crate) use plan::{Levels, Lore, Problems, ProgramIndex, Stores};
pub(crate) use record::{Followed, Reader, Record, Recorder};
pub(crate) use values::Change;
