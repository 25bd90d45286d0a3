//! The tests of an earlier run as sources for a test framework, or in the format of another tool.
//!
//! Method: the function's types and inputs are read again from the sources in `run.json`; each test file provides input and
//! expected results, so an edited test is exported as edited. Tests of functions are compiled and run before anything is
//! written; those that fail are listed and left out. Limit: sources are written only for functions; tests of whole programs
//! are exported as data.

mod cmake;
mod json;
mod ktest;
mod loaded;
mod paths;
mod sources;
mod testcomp;
mod verifier;
mod verify;
mod zip;

use std::path::{Path, PathBuf};
use std::time::Duration;

use cache::Cache;
use testwriter::Framework;

use crate::error::Error;
use crate::interrupt::Interrupt;
use crate::spec::Spec;
use crate::store::output::RUN_FILE;
use crate::store::run::Run;
use crate::store::suite::read_record;

/// What tests can be written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportFormat {
    C,
    Unity,
    Cmocka,
    Googletest,
    Json,
    Ktest,
    Testcomp,
    /// Not the tests, but the open goals, as programs for a verifier.
    Verifier,
    /// The proofs, as witnesses that validators read.
    Witness,
}

/// How tests are exported.
#[derive(Clone, Debug)]
pub struct ExportOptions {
    pub format: ExportFormat,
    /// Where to, absolute.
    pub directory: PathBuf,
    /// Floating-point values between a result and what is expected.
    pub n_ulps: u64,
    pub unity_dir: Option<PathBuf>,
    /// The command of a verifier to be asked about open goals.
    pub verifier: Option<String>,
    /// For one test, or one answer of a verifier.
    pub limit: Duration,
    /// When to stop.
    pub interrupt: Interrupt,
    /// Where what is built is kept.
    pub cache: Cache,
}

impl ExportOptions {
    /// As `quarry gen --format` does it.
    pub fn usual(root: &Path, format: ExportFormat, interrupt: &Interrupt, cache: &Cache) -> Self {
        Self {
            format,
            directory: default_directory(root, format),
            n_ulps: 0,
            unity_dir: None,
            verifier: None,
            limit: Duration::from_secs(10),
            interrupt: interrupt.clone(),
            cache: cache.clone(),
        }
    }
}

/// What was exported.
#[derive(Clone, Debug, Default)]
pub struct Exported {
    /// Tests; open goals in the format for verifiers, proofs as witnesses.
    pub n_tests: usize,
    /// Names of tests that were left out, and why.
    pub left_out: Vec<(String, String)>,
    /// What else a user should know.
    pub notes: Vec<String>,
}

/// Where the tests of a run go when nobody says where.
pub fn default_directory(run: &Path, format: ExportFormat) -> PathBuf {
    run.join(match format {
        ExportFormat::C => "c",
        ExportFormat::Unity => "unity",
        ExportFormat::Cmocka => "cmocka",
        ExportFormat::Googletest => "googletest",
        ExportFormat::Json => "json",
        ExportFormat::Ktest => "ktest",
        ExportFormat::Testcomp => "testcomp",
        ExportFormat::Verifier => "verifier",
        ExportFormat::Witness => "witness",
    })
}

/// Writes the tests of the run in `root`.
pub fn write(root: &Path, options: &ExportOptions) -> Result<Exported, Error> {
    let file = root.join(RUN_FILE);
    if !file.is_file() {
        return Err(Error::usage(format!(
            "{} is not an output directory of quarry gen: it has no {RUN_FILE}",
            root.display()
        ))
        .help("name an output directory of quarry gen"));
    }
    let run: Run = read_record(&file)?;
    match options.format {
        ExportFormat::C => sources::write(root, &run, Framework::Plain, options),
        ExportFormat::Unity => sources::write(root, &run, Framework::Unity, options),
        ExportFormat::Cmocka => sources::write(root, &run, Framework::Cmocka, options),
        ExportFormat::Googletest => sources::write(root, &run, Framework::Googletest, options),
        ExportFormat::Json => json::write(root, &run, options),
        ExportFormat::Ktest => ktest::write(root, &run, options),
        ExportFormat::Testcomp => testcomp::write(root, &run, &options.directory),
        ExportFormat::Verifier => verifier::write(root, &run, options),
        ExportFormat::Witness => verifier::write_witnesses(root, &run, options),
    }
}

/// Fails when a run of these cannot be exported, before it is started.
pub fn check(format: ExportFormat, function: &str, n_sources: usize, program: bool) -> Result<(), Error> {
    match format {
        ExportFormat::Testcomp => testcomp::check(function, n_sources),
        ExportFormat::C | ExportFormat::Unity | ExportFormat::Cmocka | ExportFormat::Googletest
            if program =>
        {
            Err(sources::no_programs())
        }
        ExportFormat::Verifier | ExportFormat::Witness if program => Err(verifier::no_programs()),
        ExportFormat::C
        | ExportFormat::Unity
        | ExportFormat::Cmocka
        | ExportFormat::Googletest
        | ExportFormat::Json
        | ExportFormat::Ktest
        | ExportFormat::Verifier
        | ExportFormat::Witness => Ok(()),
    }
}

/// Restricts what is asked to what the format can say, before anything is done.
pub fn restrict(format: ExportFormat, spec: &mut Spec) -> Result<(), Error> {
    match (format, &mut spec.subject.program) {
        (ExportFormat::Testcomp, Some(program)) => testcomp::limit(program),
        (_, _) => Ok(()),
    }
}

/// Says which act on which file failed.
fn cannot(act: &str, path: &Path, error: &std::io::Error) -> Error {
    Error::usage(format!("cannot {act} {}: {error}", path.display()))
        .help("choose a writable directory with -o")
}

/// Writes files into a directory, which is made.
fn write_files(directory: &Path, files: &[(String, Vec<u8>)]) -> Result<(), Error> {
    std::fs::create_dir_all(directory).map_err(|error| cannot("create", directory, &error))?;
    for (name, bytes) in files {
        let path = directory.join(name);
        std::fs::write(&path, bytes).map_err(|error| cannot("write", &path, &error))?;
    }
    Ok(())
}
