//! Pure functions of a [`model::Program`]: what follows from its text alone.

pub mod call_graph;
pub mod decision;
