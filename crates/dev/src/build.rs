//! `quarry-dev build`: the instrumented program with its own `main`, to compare with the native one.

use frontend::instrument;

use crate::arguments::{Build, Mode, cache, here, sources};
use quarry_cli::exit::{Exit, Failure};
use runner::front::work_directory;
use runner::front::{self, Front, Start};

/// Runs the command.
pub fn build(arguments: &Build) -> Result<Exit, Failure> {
    let mode = match arguments.mode {
        Mode::Symbolic => instrument::Mode::Symbolic,
        Mode::Fast => instrument::Mode::Fast,
    };
    let work = work_directory()?;
    let front = Front::mark(&sources(&arguments.sources), &here()?, work.path(), Start::Main, &cache()?)?;
    let built = front.build(None, &[mode])?;
    let binary = front::binary(&built, mode);
    std::fs::copy(binary, &arguments.executable).map_err(|error| {
        Failure::usage(format!("cannot write {}: {error}", arguments.executable.display()))
    })?;
    eprintln!("{} gaps", built.lowered.program.gaps.len());
    Ok(Exit::Done)
}
