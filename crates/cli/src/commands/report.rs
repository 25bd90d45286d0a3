//! `quarry report`: the results of a run as a page for people and as files for other tools.

use ::report::PAGE_FILE;
use runner::reports::{ReportOptions, write_again};

use super::check_output;
use crate::arguments::Report;
use crate::exit::{Exit, Failure};
use crate::say::say;

/// Runs the command.
pub fn report(arguments: &Report) -> Result<Exit, Failure> {
    check_output(&arguments.run)?;
    let root = arguments
        .run
        .canonicalize()
        .map_err(|error| Failure::usage(format!("cannot find {}: {error}", arguments.run.display())))?;
    write_again(&root, &ReportOptions { lcov_mcdc: arguments.lcov_mcdc })?;
    say(arguments.run.join(PAGE_FILE).display());
    Ok(Exit::Done)
}
