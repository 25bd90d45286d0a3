//! All tests in one JSON file: `suite.json`, with the same records as `tests/`.

use std::path::Path;

use serde_json::json;

use super::{Exported, Options, loaded, write_files};
use crate::exit::Failure;
use crate::pipeline::work_directory;
use crate::replay::rebuild;
use crate::report::record::{Run, SCHEMA};

/// Writes `suite.json`.
pub fn write(root: &Path, run: &Run, options: &Options) -> Result<Exported, Failure> {
    let work = work_directory()?;
    let prepared = rebuild(run, work.path(), &[])?;
    let tests = loaded::tests(root, &prepared, &work.path().join("expected"), options)?;
    let records: Vec<_> = tests.iter().map(|test| &test.record).collect();
    let suite = json!({
        "schema": SCHEMA, "quarry": run.quarry, "function": run.function, "sources": run.given, "flags": run.flags,
        "tests": records,
    });
    let mut text = serde_json::to_string_pretty(&suite)
        .map_err(|error| Failure::internal(format!("cannot write the suite as JSON: {error}")))?;
    text.push('\n');
    write_files(&options.directory, &[("suite.json".to_owned(), text.into_bytes())])?;
    Ok(Exported { n_tests: tests.len(), ..Exported::default() })
}
