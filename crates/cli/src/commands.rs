//! The commands, one module each: arguments in, exit code out.

mod cache;
mod check_proof;
mod confirm;
mod cover;
mod diff;
pub mod doctor;
mod explain;
mod export;
mod generate;
mod goals;
mod import;
mod init;
mod manual;
mod merge;
mod mutate;
mod replay;
mod report;

use std::path::{Path, PathBuf};

use runner::store::output::RUN_FILE;

use crate::arguments::Command;
use crate::defaults::Given;
use crate::exit::{Exit, Failure};

/// Runs a command.
pub fn run(given: &Given) -> Result<Exit, Failure> {
    let cache = || cache::chosen(given.line.cache);
    match &given.line.command {
        Command::Gen(arguments) => generate::generate(arguments, &given.options, &cache()?),
        Command::Goals(arguments) => goals::goals(arguments, &cache()?),
        Command::Cover(arguments) => cover::cover(arguments, &cache()?),
        Command::Diff(arguments) => diff::diff(arguments, &cache()?),
        Command::Import(arguments) => import::import(arguments, &cache()?),
        Command::Augment(arguments) => generate::augment(arguments, &given.options, &cache()?),
        Command::Replay(arguments) => replay::replay(arguments, &cache()?),
        Command::Explain(arguments) => explain::explain(arguments, &cache()?),
        Command::Confirm(arguments) => confirm::confirm(arguments, &cache()?),
        Command::Mutate(arguments) => mutate::mutate(arguments, &cache()?),
        Command::CheckProof(arguments) => check_proof::check_proof(arguments, &cache()?),
        Command::Export(arguments) => export::export(arguments, cache()?),
        Command::Report(arguments) => report::report(arguments),
        Command::Merge(arguments) => merge::merge(arguments, &cache()?),
        Command::Cache(command) => cache::cache(command.act, given.line.cache),
        Command::Init(arguments) => init::init(arguments),
        Command::Completions(arguments) => Ok(manual::completions(arguments)),
        Command::Man(arguments) => manual::pages(arguments),
        Command::Doctor => Ok(doctor::doctor()),
    }
}

/// Where paths of the command line start.
fn current_directory() -> Result<PathBuf, Failure> {
    std::env::current_dir()
        .map_err(|error| Failure::usage(format!("cannot find the current directory: {error}")))
}

/// Fails when a directory is none that `quarry gen` wrote.
fn check_output(directory: &Path) -> Result<(), Failure> {
    if directory.join(RUN_FILE).is_file() {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "{} is not an output directory of quarry gen: it has no {RUN_FILE}",
        directory.display()
    ))
    .help("name the directory that quarry gen wrote (quarry.out, or the one given with -o)"))
}
