//! The `quarry` command: arguments, commands, reports, exit codes. The only part of Quarry that prints or serialises.
//!
//! Data goes to stdout, progress and failures to stderr. What a user can mend is a [`exit::Failure`] with advice; a panic
//! is a bug of Quarry and ends with the exit code for internal errors.

mod allowance;
mod arguments;
mod asked;
mod config;
mod confirm;
mod cover;
mod defaults;
mod dev;
mod doctor;
mod exit;
mod expected;
mod export;
mod generate;
mod goals;
mod init;
mod inputs;
mod interrupt;
mod journal;
mod lock;
mod manual;
mod many;
mod measure;
mod minimise;
mod only;
mod output;
mod pipeline;
mod prepare;
mod progress;
mod recorder;
mod replay;
mod report;
mod reports;
mod results;
mod resume;
mod say;
mod solvers;
mod suite;
mod task;

use std::panic;
use std::process::ExitCode;

use arguments::Command;
use exit::{Exit, Failure};

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    interrupt::install();
    let exit = match panic::catch_unwind(|| defaults::command_line().and_then(|line| run(&line.command))) {
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

fn run(command: &Command) -> Result<Exit, Failure> {
    match command {
        Command::Gen(arguments) => generate::generate(arguments),
        Command::Goals(arguments) => goals::goals(arguments),
        Command::Cover(arguments) => cover::cover(arguments),
        Command::Replay(arguments) => replay::replay(arguments),
        Command::Confirm(arguments) => confirm::confirm(arguments),
        Command::Export(arguments) => export::export(arguments),
        Command::Report(arguments) => reports::report(arguments),
        Command::Init(arguments) => init::init(arguments),
        Command::Completions(arguments) => Ok(manual::completions(arguments)),
        Command::Man(arguments) => manual::pages(arguments),
        Command::Doctor => Ok(doctor::doctor()),
        Command::Dev(arguments) => dev::run(arguments),
    }
}
