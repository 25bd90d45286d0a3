//! The marked texts with their harness and stubs to an executable that clang's sanitizers observe and that takes inputs from a file.
//!
//! One build serves all inputs: nothing is compiled for a test. Reports name the marked texts, one token per line, so that
//! they can be placed as exactly as everything else. Limit: a program with a symbol that is defined nowhere does not link.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};

use cache::Cache;
use tracing::info_span;

use super::compile::{self, AppendedCode, run};
use super::{BuildError, directory};
use crate::clang::{ClangError, LENIENT, clang};
use crate::marks::Marks;
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
const FAILING: [&str; 2] =
    ["-DQUARRY_FAILING", "-Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=strdup,--wrap=strndup"];

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
    let objects = compiled.iter().map(|compiled| &compiled.file);
    let mut variables = String::new();
    for (number, (name, size)) in request.variables.iter().enumerate() {
        let _ = writeln!(
            variables,
            "__attribute__((weak, aligned(16))) char undefined_{number}[{}] __asm__(\"{name}\");",
            size.max(&LEAST)
        );
    }
    let mut files: Vec<PathBuf> = Vec::new();
    for (name, text) in [
        ("run_harness.c", HARNESS_RUNNER),
        ("note_reports.c", SANITIZERS.source),
        ("variables.c", &variables),
    ] {
        let file = work_dir.join(name);
        std::fs::write(&file, text).map_err(|error| BuildError::File {
            act: "write",
            file: file.clone(),
            error,
        })?;
        files.push(file);
    }
    let mut link = clang(&request.marks.root);
    link.args(request.target_flags).args(LENIENT).args(SANITIZERS.flags);
    // `inline` functions are in every unit that has them
    if request.fails_allocations {
        link.args(FAILING);
    }
    link.arg("-Wl,--allow-multiple-definition").args(files).args(objects);
    link.args(request.link_flags).arg("-o").arg(request.output);
    run(&mut link, request.output).map_err(|error| match error {
        ClangError::Rejected { file, diagnostics } => BuildError::Link { output: file, diagnostics },
        other => other.into(),
    })
}
