//! Inputs as people and files have them: as JSON that can be edited, and in C notation on one line.

pub mod invocation;
pub mod json;
pub mod notation;
