//! Inputs in the forms that people and files have them in: JSON that can be edited, and notation on one line.

pub mod invocation;
pub mod json;
pub mod notation;
