//! Options about inputs, which several commands share.

use std::path::PathBuf;

use clap::Args;

/// Default of `--malloc-failure` without a number.
const FAILING_ALLOCATIONS: &str = "256";

/// How inputs are built.
#[derive(Clone, Debug, Default, Args)]
pub struct InputArguments {
    /// Number of elements that a pointer parameter points to
    #[arg(long, value_name = "PARAM=N", value_parser = length)]
    pub len: Vec<(String, u64)>,
    /// Largest size that arrays and strings may grow to [default: 64]
    #[arg(long, value_name = "N")]
    pub max_len: Option<u64>,
    /// Longest chain of pointers, as in a list [default: 4]
    #[arg(long, value_name = "N")]
    pub max_depth: Option<u32>,
    /// Do not treat a number next to a pointer as its length
    #[arg(long)]
    pub no_couple: bool,
    /// Also make this global variable an input; may be repeated
    #[arg(long, value_name = "NAME")]
    pub global: Vec<String>,
    /// Also make all global variables of the function's file inputs
    #[arg(long)]
    pub globals: bool,
    /// Let any of the first N allocations of a run fail [default of N: 256]
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = FAILING_ALLOCATIONS,
          value_parser = clap::value_parser!(u32).range(1..=65536))]
    pub malloc_failure: Option<u32>,
    /// C file that checks inputs: quarry_precondition_FUNCTION, which calls quarry_assume
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
