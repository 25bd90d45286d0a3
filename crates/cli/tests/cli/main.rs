//! The `quarry` command on real programs: one test binary, so that shared parts are compiled once.

mod bad_input;
mod branches;
mod cache;
mod commands;
mod configuration;
mod confirm;
mod cover;
mod export;
mod goal_keys;
mod harm;
mod log;
mod many;
mod mcdc;
mod preconditions;
mod progress;
mod proofs;
mod reasons;
mod report;
mod resume;
mod rivals;
mod same_code;
mod sanitize;
mod stubs;
mod support;
mod testcomp;
mod tutorial;
