//! The layer between the command line and the engine: what is asked ([`spec`]), what is built ([`subject`]), what is kept
//! ([`store`]), and the campaigns that lead from one to the next ([`campaign`], [`generate()`]).
//!
//! Nothing here prints, exits, or reads the current directory: callers pass a [`session::Session`] with a watcher, a clock,
//! an interrupt and a cache, and get an [`error::Error`] that says who can fix it.

mod allowance;
mod argument;
pub mod background;
mod build_key;
pub mod campaign;
mod chains;
pub mod confirm;
mod contradiction;
pub mod cover;
pub mod end_text;
pub mod error;
pub mod existing;
pub mod expected;
pub mod explain;
pub mod export;
pub mod fingerprint;
mod finishing;
mod first_invocations;
pub mod front;
pub mod gather;
pub mod generate;
pub mod import;
pub mod interrupt;
mod kept_proofs;
mod likeness;
pub mod measure;
mod memory;
pub mod merge;
pub mod minimise;
pub mod mutants;
pub mod mutate;
mod naming;
pub mod phases;
pub mod prove;
pub mod prove_all;
pub mod recheck;
pub mod replay;
pub mod reports;
pub mod sanitized;
pub mod scope;
mod seen_values;
pub mod session;
pub mod several;
pub mod solvers;
pub mod soundness;
pub mod spec;
pub mod store;
mod stored;
pub mod stubs;
pub mod subject;
mod timeline;
pub mod values;
pub mod versions;
pub mod watcher;

pub use frontend::tools::libclang;
pub use generate::generate;
