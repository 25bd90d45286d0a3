//! How inputs are built: as asked for on the command line, and as kept in `run.json`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::Args;
use frontend::harness;
use serde::{Deserialize, Serialize};

/// How many allocations may fail, when they may.
const FAILING_ALLOCATIONS: &str = "256";

/// Options about inputs that several commands have.
#[derive(Clone, Debug, Default, Args)]
pub struct InputArguments {
    /// Elements that a pointer parameter points to, no more and no less
    #[arg(long, value_name = "PARAM=N", value_parser = length)]
    pub len: Vec<(String, u64)>,
    /// Elements that arrays and strings may grow to [default: 64]
    #[arg(long, value_name = "N")]
    pub max_len: Option<u64>,
    /// Pointers that may lead one behind the other, as in a list [default: 4]
    #[arg(long, value_name = "N")]
    pub max_depth: Option<u32>,
    /// Do not take a number beside a pointer for its length
    #[arg(long)]
    pub no_couple: bool,
    /// Global variable that is an input too; may be repeated
    #[arg(long, value_name = "NAME")]
    pub global: Vec<String>,
    /// All global variables of the function's file are inputs too
    #[arg(long)]
    pub globals: bool,
    /// The first N allocations of a run may fail [default of N: 256]
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = FAILING_ALLOCATIONS,
          value_parser = clap::value_parser!(u32).range(1..=65536))]
    pub malloc_failure: Option<u32>,
    /// File with C that checks inputs: quarry_precondition_FUNCTION, with calls of quarry_assume
    #[arg(long, value_name = "FILE.h")]
    pub precondition: Option<PathBuf>,
}

/// The same in a record.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Inputs {
    #[serde(default)]
    pub len: BTreeMap<String, u64>,
    #[serde(default)]
    pub max_len: Option<u64>,
    #[serde(default)]
    pub max_depth: Option<u32>,
    #[serde(default)]
    pub no_couple: bool,
    #[serde(default)]
    pub globals: Vec<String>,
    #[serde(default)]
    pub all_globals: bool,
    #[serde(default)]
    pub precondition: Option<PathBuf>,
    /// How many allocations may fail.
    #[serde(default)]
    pub malloc_failure: Option<u32>,
}

impl From<&InputArguments> for Inputs {
    fn from(arguments: &InputArguments) -> Self {
        Self {
            len: arguments.len.iter().cloned().collect(),
            max_len: arguments.max_len,
            max_depth: arguments.max_depth,
            no_couple: arguments.no_couple,
            globals: arguments.global.clone(),
            all_globals: arguments.globals,
            precondition: arguments.precondition.clone(),
            malloc_failure: arguments.malloc_failure,
        }
    }
}

impl Inputs {
    /// These, with what `newer` says instead.
    #[must_use]
    pub fn overridden_by(mut self, newer: Self) -> Self {
        self.len.extend(newer.len);
        Self {
            len: self.len,
            max_len: newer.max_len.or(self.max_len),
            max_depth: newer.max_depth.or(self.max_depth),
            no_couple: newer.no_couple || self.no_couple,
            globals: if newer.globals.is_empty() { self.globals } else { newer.globals },
            all_globals: newer.all_globals || self.all_globals,
            precondition: newer.precondition.or(self.precondition),
            malloc_failure: newer.malloc_failure.or(self.malloc_failure),
        }
    }

    /// What the harness is asked for.
    pub fn options(&self, assumptions: &[String]) -> harness::Options {
        let default = harness::Options::default();
        harness::Options {
            lengths: self.len.clone(),
            assume: assumptions.to_vec(),
            globals: self.globals.clone(),
            all_globals: self.all_globals,
            max_length: self.max_len.unwrap_or(default.max_length),
            max_depth: self.max_depth.unwrap_or(default.max_depth),
            couple: !self.no_couple,
            precondition: self.precondition.clone(),
            failing_allocations: self.malloc_failure.unwrap_or(0).into(),
        }
    }
}

/// Reads `PARAM=N`.
fn length(text: &str) -> Result<(String, u64), String> {
    let expected = || format!("'{text}' is not of the form PARAM=N");
    let (name, number) = text.split_once('=').ok_or_else(expected)?;
    let number = number.trim().parse().map_err(|_| expected())?;
    if name.trim().is_empty() {
        return Err(expected());
    }
    Ok((name.trim().to_owned(), number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_name_a_parameter() {
        assert_eq!(length("v=6"), Ok(("v".to_owned(), 6)));
        assert!(length("v").is_err());
        assert!(length("=3").is_err());
        assert!(length("v=-1").is_err());
    }
}
