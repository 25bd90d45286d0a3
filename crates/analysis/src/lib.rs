//! Static analyses: plain functions of a `&Program`.

mod address;
pub mod approach;
pub mod call_graph;
pub mod call_stack;
pub mod chaining;
pub mod cut_points;
pub mod dataflow;
pub mod decision;
pub mod dictionary;
pub mod distance;
pub mod dominators;
pub mod icfg;
mod ids;
pub mod impact;
mod input_flow;
mod library;
pub mod loops;
mod objects;
pub mod origins;
mod place;
pub mod points_to;
#[cfg(test)]
mod random;
pub mod versions;
mod watch;

pub use input_flow::free_of_input;
pub use place::Place;
pub use watch::watch;
