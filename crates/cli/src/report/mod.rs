//! What a run tells: records for programs, text for people. Only here do core types become JSON.

pub mod cobertura;
pub mod directory;
pub mod extent;
pub mod facts;
pub mod functions;
pub mod gather;
pub mod goals;
pub mod human;
pub mod index;
pub mod invocation;
pub mod junit;
pub mod lcov;
pub mod mcdc;
pub mod naming;
pub mod notation;
pub mod obligations;
pub mod page;
pub mod place;
pub mod record;
pub mod sarif;
pub mod stubs;
pub mod suite;
pub mod tally_by_file;
pub mod timeline;
pub mod value;
pub mod xml;
