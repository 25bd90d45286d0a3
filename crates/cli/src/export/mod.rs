//! `quarry export`: the tests of an earlier run in a format of other tools.
//!
//! Method: everything needed is in `run.json` and in the test files, so nothing is built and an edited test is exported as
//! edited.

pub mod hash;
mod testcomp;
mod time;
mod zip;

use std::path::{Path, PathBuf};

use crate::arguments::{Export, ExportFormat};
use crate::exit::{Exit, Failure};
use crate::output::RUN_FILE;
use crate::report::human::counted;
use crate::report::record::Run;
use crate::say::say;
use crate::suite::read_record;

/// Runs the command.
pub fn export(arguments: &Export) -> Result<Exit, Failure> {
    let directory =
        arguments.out.clone().unwrap_or_else(|| default_directory(&arguments.run, arguments.format));
    let n_tests = write(&arguments.run, arguments.format, &directory)?;
    say(format_args!("{} in {}", counted(n_tests, "test"), directory.display()));
    Ok(Exit::Done)
}

/// Where the tests of a run go when nobody says where.
pub fn default_directory(run: &Path, format: ExportFormat) -> PathBuf {
    match format {
        ExportFormat::Testcomp => run.join("testcomp"),
    }
}

/// Writes the tests of the run in `root` to `directory`; returns how many there are.
pub fn write(root: &Path, format: ExportFormat, directory: &Path) -> Result<usize, Failure> {
    let file = root.join(RUN_FILE);
    if !file.is_file() {
        return Err(Failure::usage(format!(
            "{} is no result of a run: there is no {RUN_FILE}",
            root.display()
        ))
        .help("name an output directory of quarry gen"));
    }
    let run: Run = read_record(&file)?;
    match format {
        ExportFormat::Testcomp => testcomp::write(root, &run, directory),
    }
}

/// Fails when a run of these cannot be exported, before it is started.
pub fn check(format: ExportFormat, function: &str, n_sources: usize) -> Result<(), Failure> {
    match format {
        ExportFormat::Testcomp => testcomp::check(function, n_sources),
    }
}

/// Says which act on which file failed.
fn cannot(act: &str, path: &Path, error: &std::io::Error) -> Failure {
    Failure::usage(format!("cannot {act} {}: {error}", path.display()))
        .help("choose a directory that can be written with -o")
}
