//! What a run tells: records for programs, text for people. Only here do core types become JSON.

pub mod goals;
pub mod human;
pub mod invocation;
pub mod mcdc;
pub mod notation;
pub mod place;
pub mod record;
pub mod stubs;
pub mod suite;
pub mod value;
