//! The `quarry` command: arguments, configuration, commands, exit codes. The only part of Quarry that prints.
//!
//! Data goes to stdout, progress and failures to stderr. An error that a user can fix is a [`exit::Failure`] with advice; a
//! panic is a bug in Quarry and ends with the exit code for internal errors.

pub mod arguments;
mod commands;
mod config;
mod defaults;
pub mod exit;
pub mod interrupt;
mod log;
mod progress;
pub mod say;
mod text;

use std::panic::{self, UnwindSafe};
use std::process::ExitCode;

use exit::{Exit, Failure};

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    run(|| {
        let given = defaults::command_line()?;
        log::begin(&given.line.log)?;
        commands::run(&given)
    })
}

/// Runs a command to its end: Ctrl-C is heard, failures are printed, a panic is an internal error.
pub fn run(command: impl FnOnce() -> Result<Exit, Failure> + UnwindSafe) -> ExitCode {
    interrupt::install();
    let exit = match panic::catch_unwind(command) {
        Ok(Ok(exit)) => exit,
        // what Ctrl-C does to a compiler looks like a failed build
        Ok(Err(failure)) if interrupt::requested() && failure.exit() != Exit::Unwritten => Exit::Interrupted,
        Ok(Err(failure)) => {
            eprintln!("{failure}");
            failure.exit()
        }
        Err(_) => {
            eprintln!("error: Quarry failed; this is a bug (see the message above)");
            Exit::Internal
        }
    };
    exit.into()
}
