//! The `quarry` command on real programs: one test binary, so that shared parts are compiled once.

mod bad_input;
mod commands;
mod cover;
mod fixtures;
mod llvm_cov;
mod mcdc;
mod strategies;
mod support;
