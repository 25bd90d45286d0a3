//! `quarry export`: the tests of an earlier run as sources for a test framework, or in a format of other tools.

use std::path::{Path, PathBuf};

use cache::Cache;
use report::words::counted;
use runner::export::{self, ExportFormat, ExportOptions, default_directory};

use super::generate::tell_exported;
use crate::arguments::Export;
use crate::exit::{Exit, Failure};
use crate::interrupt::interrupt;
use crate::say::say;

/// Runs the command.
pub fn export(arguments: &Export, cache: Cache) -> Result<Exit, Failure> {
    let format = arguments.format.into();
    let directory = arguments.out.clone().unwrap_or_else(|| default_directory(&arguments.run, format));
    let options = ExportOptions {
        format,
        directory: absolute(&directory)?,
        n_ulps: arguments.ulp,
        unity_dir: arguments.unity_dir.as_deref().map(absolute).transpose()?,
        verifier: arguments.verifier.clone(),
        limit: arguments.timeout,
        interrupt: interrupt(),
        cache,
    };
    let exported = export::write(&absolute(&arguments.run)?, &options)?;
    tell_exported(Some(&exported));
    let what = match format {
        ExportFormat::Verifier => "open goal",
        ExportFormat::Witness => "infeasible goal",
        ExportFormat::C
        | ExportFormat::Unity
        | ExportFormat::Cmocka
        | ExportFormat::Googletest
        | ExportFormat::Json
        | ExportFormat::Ktest
        | ExportFormat::Testcomp => "test",
    };
    say(format_args!("{} in {}", counted(exported.n_tests, what), directory.display()));
    Ok(if exported.left_out.is_empty() { Exit::Done } else { Exit::No })
}

fn absolute(path: &Path) -> Result<PathBuf, Failure> {
    std::path::absolute(path)
        .map_err(|error| Failure::usage(format!("cannot find {}: {error}", path.display())))
}
