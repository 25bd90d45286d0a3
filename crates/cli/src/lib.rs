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
pub mod log;
mod progress;
pub mod say;
mod text;

use std::panic::{self, UnwindSafe};
use std::process::ExitCode;

use exit::{Exit, Failure};

/// What one worker's thread allocates another one frees, all the time, and libc's allocator makes them wait for each other.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Runs the command line of this process, in which no other thread may have been started.
pub fn main() -> ExitCode {
    name_libclang();
    run(|| {
        let given = defaults::command_line()?;
        log::begin(&given.line.log)?;
        commands::run(&given)
    })
}

/// Names the library of the compiler by the variable that is asked for it, unless the user does.
fn name_libclang() {
    const VARIABLE: &str = "LIBCLANG_PATH";
    if std::env::var_os(VARIABLE).is_none()
        && let Some(library) = runner::libclang()
    {
        // SAFETY: this is the first thing that the process does, and it has one thread.
        unsafe { std::env::set_var(VARIABLE, library) };
    }
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
