//! What is kept: the output directory, its journal, its suite and its records.

pub mod journal;
mod lock;
pub mod output;
pub mod recorder;
pub mod results;
pub mod resume;
pub mod run;
pub mod suite;
pub mod writer;
mod written;
