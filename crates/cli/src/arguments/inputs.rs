//! Options about inputs that several commands have.

use std::path::PathBuf;

use clap::Args;

/// How many allocations may fail, when they may.
const FAILING_ALLOCATIONS: &str = "256";

/// How inputs are built.
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
