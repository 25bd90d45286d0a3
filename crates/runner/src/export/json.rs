//! All tests in one JSON file: `suite.json`, with the same records as `tests/`.

use std::path::Path;

use serde_json::json;

use super::{ExportOptions, Exported, loaded, write_files};
use crate::error::Error;
use crate::front::work_directory;
use crate::store::run::Run;
use crate::subject::Need;
use report::record::SCHEMA;

/// Writes `suite.json`.
pub fn write(root: &Path, run: &Run, options: &ExportOptions) -> Result<Exported, Error> {
    let work = work_directory()?;
    let subject = run.rebuild(work.path(), Need::Model, &options.interrupt, &options.cache)?;
    let tests = loaded::tests(root, &subject, &work.path().join("expected"), options)?;
    let records: Vec<_> = tests.iter().map(|test| &test.record).collect();
    let suite = json!({
        "schema": SCHEMA, "quarry": run.quarry, "function": run.function, "sources": run.spec.sources.files, "flags": run.spec.sources.flags,
        "tests": records,
    });
    let mut text = serde_json::to_string_pretty(&suite)
        .map_err(|error| Error::internal(format!("cannot write the suite as JSON: {error}")))?;
    text.push('\n');
    write_files(&options.directory, &[("suite.json".to_owned(), text.into_bytes())])?;
    Ok(Exported { n_tests: tests.len(), ..Exported::default() })
}
