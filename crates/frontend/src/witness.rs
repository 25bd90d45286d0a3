//! What clang's own tools measure on a native build that Quarry did not mark: coverage ([`measure`]) and the reports of
//! sanitizers ([`ReportReader`]).
//!
//! Method: the build gets flags and one C file more. That file writes what the tools noticed to the descriptor for records,
//! however the program ends, so that nothing has to be read from what the program prints or leaves in its directory.
//! llvm-profdata, llvm-cov and llvm-symbolizer of the same version as clang read it.

mod export;
mod sanitizers;
mod vectors;

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::compilers;
pub use export::{Branch, Measured, MeasuredPosition, Region};
pub use sanitizers::{
    ReportReader, SANITIZERS, SanitizerOutcome, SanitizerReport, StackFrame, Tool, stack_frames,
};
pub use vectors::{Evaluation, MeasuredDecision};

/// A native build that one of clang's tools observes.
#[derive(Clone, Copy, Debug)]
pub struct WatchedBuild {
    /// For every compile and for the link.
    pub flags: &'static [&'static str],
    /// C that is linked to it.
    pub source: &'static str,
}

/// Counts and MC/DC of clang.
pub const COVERAGE: WatchedBuild = WatchedBuild {
    flags: &[
        "-fprofile-instr-generate",
        "-fcoverage-mapping",
        "-fcoverage-mcdc",
        "-Wl,--wrap=_exit,--wrap=_Exit",
    ],
    source: include_str!("witness/keep_counts.c"),
};

/// C that runs a harness on inputs from a file.
pub(crate) const HARNESS_RUNNER: &str = include_str!("witness/run_harness.c");

/// The variable that says after how many milliseconds counts are written at the latest.
pub const TIME_VARIABLE: &str = "QUARRY_COUNTS_AFTER";

const PROFDATA: &str = "llvm-profdata-19";
const COV: &str = "llvm-cov-19";
const SYMBOLIZER: &str = "llvm-symbolizer-19";

/// Why a tool has no answer.
#[derive(Debug, thiserror::Error)]
pub enum WitnessError {
    #[error("cannot run {tool}")]
    NotRun {
        tool: &'static str,
        #[source]
        error: std::io::Error,
    },
    #[error("{tool} failed: {said}")]
    Failed { tool: &'static str, said: String },
    #[error("unexpected output of {tool}: {what}")]
    NotUnderstood { tool: &'static str, what: String },
    #[error("cannot write {}", file.display())]
    File {
        file: PathBuf,
        #[source]
        error: std::io::Error,
    },
}

/// What all runs of `program` did together that left these counts, at least one; files go to `work`, which exists.
pub fn measure(program: &Path, counts: &[Vec<u8>], work: &Path) -> Result<Measured, WitnessError> {
    let mut list = String::new();
    for (number, bytes) in counts.iter().enumerate() {
        let file = work.join(format!("{number}.profraw"));
        list.push_str(&format!("{}\n", file.display()));
        write(file, bytes)?;
    }
    let (files, merged) = (work.join("profiles.txt"), work.join("merged.profdata"));
    write(files.clone(), list.as_bytes())?;
    let mut merge = Command::new(PROFDATA);
    // counts of a run that was ended while it wrote them are no counts
    merge.args(["merge", "--failure-mode=all", "--input-files"]).arg(&files).arg("-o").arg(&merged);
    run(PROFDATA, &mut merge, "")?;
    let cov = |act: &str| {
        let mut command = Command::new(COV);
        command.arg(act).arg(program).arg("-instr-profile").arg(&merged);
        command
    };
    let exported = run(COV, cov("export").arg("-skip-expansions"), "")?;
    let (mut measured, with_decisions) = export::read(&exported)?;
    for (file, path) in with_decisions {
        let shown = run(COV, cov("show").args(["--show-mcdc", "--use-color=false"]).arg(path), "")?;
        measured.decisions.insert(file, vectors::read(&shown));
    }
    Ok(measured)
}

fn write(file: PathBuf, bytes: &[u8]) -> Result<(), WitnessError> {
    std::fs::write(&file, bytes).map_err(|error| WitnessError::File { file, error })
}

/// The output of a tool that reads `told`.
fn run(tool: &'static str, command: &mut Command, told: &str) -> Result<String, WitnessError> {
    let not_run = |error| WitnessError::NotRun { tool, error };
    let output = compilers::output_for(command, told.as_bytes()).map_err(not_run)?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        return Err(WitnessError::Failed { tool, said });
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
