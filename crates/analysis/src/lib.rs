//! What follows from the program's text alone: plain functions of a `&Program`.

pub mod call_graph;
pub mod call_stack;
pub mod cut_points;
pub mod dataflow;
pub mod decision;
pub mod distance;
pub mod dominators;
pub mod icfg;
pub mod origins;
mod place;

pub use place::Place;
