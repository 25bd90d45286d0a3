//! Executors and campaigns on C programs that are really built and run.

mod build;
mod campaigns;
mod chaining;
mod confine;
mod dataflow;
mod ends;
mod guidance;
mod input_flow;
mod reuse;
mod traces;
mod tries;
