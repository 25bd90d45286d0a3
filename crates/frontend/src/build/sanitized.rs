//! The marked texts with their harness and stubs to an executable that clang's sanitizers observe and that takes inputs from a file.
//!
//! One build serves all inputs: nothing is compiled for a test. Reports name the marked texts, one token per line, so that
//! they can be placed as exactly as everything else. Limit: a program with a symbol that is defined nowhere does not link.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};

use cache::{Cache, Entry};
use tracing::info_span;

use super::compile::{self, AppendedCode, CompiledUnit, run};
use super::{BuildError, directory};
use crate::clang::{ClangError, LENIENT, clang};
use crate::marks::Marks;
use crate::tools;
use crate::witness::{HARNESS_RUNNER, SANITIZERS};

/// What to build.
#[derive(Clone, Copy, Debug)]
pub struct SanitizedRequest<'a> {
    pub marks: &'a Marks,
    /// The units that the program consists of; all when none are named.
    pub units: Option<&'a BTreeSet<usize>>,
    /// Where units that nothing is added to are kept.
    pub cache: &'a Cache,
    pub harness: AppendedCode<'a>,
    /// Code that stands in for functions defined nowhere, by unit.
    pub stubs: &'a BTreeMap<usize, String>,
    /// Variables that are defined nowhere, with their sizes.
    pub variables: &'a [(String, u64)],
    pub link_flags: &'a [String],
    /// Whether inputs make allocations fail.
    pub fails_allocations: bool,
    /// Flags that choose the machine.
    pub target_flags: &'a [String],
    /// Where intermediate files go; absolute.
    pub work_dir: &'a Path,
    pub output: &'a Path,
}

/// Bytes of a variable whose size is not known.
const LEAST: u64 = 16;

/// Lets inputs make allocations fail.
const FAILING: &str = "-DQUARRY_FAILING";
const FAILING_LINK: &str = "-Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=strdup,--wrap=strndup";

/// The kind of entry that has code of ours for such programs, and its file.
const PART: &str = "sanitizer-part";
const OBJECT: &str = "part.o";

/// Builds it.
pub fn build_sanitized(request: &SanitizedRequest<'_>) -> Result<(), BuildError> {
    let _span = info_span!("sanitizers").entered();
    let work_dir = directory(request.work_dir)?;
    let units = compile::Units {
        marks: request.marks,
        chosen: request.units,
        harness: Some(request.harness),
        stubs: request.stubs,
        cache: request.cache,
    };
    let compiled = compile::units(&units, &work_dir, compile::SANITIZED)?;
    let flags = part_flags(request);
    let parts = [("run_harness.c", HARNESS_RUNNER), ("note_reports.c", SANITIZERS.source)];
    let parts = parts.into_iter().map(|(name, text)| part(name, text, &flags, request));
    let parts = parts.collect::<Result<Vec<Entry>, _>>()?;
    let mut variables = String::new();
    for (number, (name, size)) in request.variables.iter().enumerate() {
        let _ = writeln!(
            variables,
            "__attribute__((weak, aligned(16))) char undefined_{number}[{}] __asm__(\"{name}\");",
            size.max(&LEAST)
        );
    }
    let mut link = clang(&request.marks.root);
    link.args(&flags);
    if request.fails_allocations {
        link.arg(FAILING_LINK);
    }
    // `inline` functions are in every unit that has them
    link.arg("-Wl,--allow-multiple-definition");
    link.args(parts.iter().map(|part| part.file(OBJECT)));
    if !variables.is_empty() {
        link.arg(written(&work_dir.join("variables.c"), &variables)?);
    }
    link.args(compiled.iter().map(CompiledUnit::file)).args(request.link_flags);
    link.arg("-o").arg(request.output);
    run(&mut link, request.output).map_err(|error| match error {
        ClangError::Rejected { file, diagnostics } => BuildError::Link { output: file, diagnostics },
        other => other.into(),
    })
}

/// Flags for all code besides the units'.
fn part_flags<'a>(request: &'a SanitizedRequest<'_>) -> Vec<&'a str> {
    let target = request.target_flags.iter().map(String::as_str);
    let failing = request.fails_allocations.then_some(FAILING);
    target.chain(LENIENT.iter().copied()).chain(SANITIZERS.flags.iter().copied()).chain(failing).collect()
}

/// Code of ours that every such program has, compiled once.
fn part(name: &str, text: &str, flags: &[&str], request: &SanitizedRequest<'_>) -> Result<Entry, BuildError> {
    let key = tools::key().part("text", text).parts("flags", flags);
    request.cache.get_or_make(PART, &key, |directory| {
        let source = written(&directory.join(name), text)?;
        let mut command = clang(directory);
        command.args(flags).arg("-c").arg(&source).arg("-o").arg(directory.join(OBJECT));
        Ok(run(&mut command, &source)?)
    })
}

fn written(file: &Path, text: &str) -> Result<PathBuf, BuildError> {
    std::fs::write(file, text).map_err(|error| BuildError::File {
        act: "write",
        file: file.to_owned(),
        error,
    })?;
    Ok(file.to_owned())
}
