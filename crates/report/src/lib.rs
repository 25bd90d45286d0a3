//! From the records of a run to text: a page for people, and files for other tools.
//!
//! Data in, text out: nothing here reads a file, builds or executes. The records are what Quarry writes as JSON
//! ([`record`], [`facts`], [`explanation`], [`confirmation`], [`functions`], [`timeline`]); `results` holds all of one run.

pub mod cobertura;
pub mod confirmation;
pub mod cut_points;
pub mod dictionary;
pub mod differences;
pub mod explanation;
pub mod facts;
pub mod functions;
pub mod goals;
pub mod index;
pub mod junit;
pub mod ktest;
pub mod lcov;
pub mod mcdc;
pub mod mutation;
pub mod page;
pub mod place;
pub mod record;
pub mod results;
pub mod sarif;
pub mod tally_by_file;
pub mod testcomp;
pub mod timeline;
pub mod versions;
pub mod words;
mod xml;

/// Where the page is, within an output directory.
pub const PAGE_FILE: &str = "report/index.html";
