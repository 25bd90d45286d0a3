//! `quarry-dev cells`: what are the tests of a run, cell by cell?
//!
//! For programs that call a run's harness and implement its `__quarry_` functions themselves, as the comparison with other
//! tools does. A line for each test, crash and hang: its file, then key and value of each cell in hexadecimal. Limit: the
//! sources must not have changed since the run.

use std::fmt::Write;

use crate::arguments::{Cells, cache};
use quarry_cli::exit::{Exit, Failure};
use quarry_cli::say::say;
use runner::front::work_directory;
use runner::interrupt::Interrupt;
use runner::store::output::RUN_FILE;
use runner::store::suite::{Suite, read_input};
use runner::subject::Need;

/// Runs the command.
pub fn cells(arguments: &Cells) -> Result<Exit, Failure> {
    let suite = Suite::open(&arguments.run)?;
    let run = suite.run.as_ref().ok_or_else(|| {
        Failure::usage(format!(
            "{} is not an output directory: it has no {RUN_FILE}",
            arguments.run.display()
        ))
    })?;
    let work = work_directory()?;
    let subject = run.rebuild(work.path(), Need::Model, &Interrupt::default(), &cache()?)?;
    for file in &suite.files {
        let input = read_input(file, &subject)
            .map_err(|error| Failure::usage(format!("{} {error}", file.display())))?;
        let mut line = suite.name(file);
        for (key, value) in &input.values {
            let _ = write!(line, " {:x}:{value:x}", key.0);
        }
        say(line);
    }
    Ok(Exit::Done)
}
