//! `quarry dev build`: the instrumented program with its own `main`, to compare with the native one.

use frontend::instrument;

use super::{Build, Mode, work_directory};
use crate::exit::{Exit, Failure};
use crate::pipeline::{self, Front, Start};

/// Runs the command.
pub fn build(arguments: &Build) -> Result<Exit, Failure> {
    let mode = match arguments.mode {
        Mode::Symbolic => instrument::Mode::Symbolic,
        Mode::Fast => instrument::Mode::Fast,
    };
    let work = work_directory()?;
    let front = Front::mark(&arguments.sources, work.path(), Start::Main)?;
    let built = front.build(None, &[mode])?;
    let binary = pipeline::binary(&built, mode);
    std::fs::copy(binary, &arguments.executable).map_err(|error| {
        Failure::usage(format!("cannot write {}: {error}", arguments.executable.display()))
    })?;
    eprintln!("{} gaps", built.lowered.program.gaps.len());
    Ok(Exit::Done)
}
