//! What is printed for people: a campaign, a measured suite.

pub mod campaign;
pub mod suite;
