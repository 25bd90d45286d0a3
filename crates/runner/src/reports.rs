//! Writes the reports of an output directory: a page for people, and files for other tools.
//!
//! Method: everything is read from the output directory (`run.json`, `goals.jsonl`, the tests, `coverage/`); nothing is
//! built or executed.

use std::path::Path;
use std::time::UNIX_EPOCH;

use report::facts::FACTS_FILE;
use report::functions::{FunctionEntry, Functions, total};
use report::record::Summary;
use report::results::Part;
use report::tally_by_file::{by_file, together};
use report::timeline::{TIMELINE_FILE, Timeline};
use report::{PAGE_FILE, cobertura, index, junit, lcov, page, sarif};

use crate::error::Error;
use crate::explain::explain_open;
use crate::gather::gather;
use crate::measure::Settings;
use crate::store::output::{Output, RUN_FILE};
use crate::store::results;
use crate::store::run::Run;
use crate::store::suite::read_record;
use crate::subject::Subject;

const LCOV_FILE: &str = "report/lcov.info";
const COBERTURA_FILE: &str = "report/cobertura.xml";
const JUNIT_FILE: &str = "report/junit.xml";
const SARIF_FILE: &str = "report/results.sarif";

/// What may be chosen.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReportOptions {
    /// MC/DC records in `lcov.info`, which genhtml knows from version 2.2 on.
    pub lcov_mcdc: bool,
}

/// Writes the reports of an output directory again, of one function or of several.
pub fn write_again(root: &Path, options: &ReportOptions) -> Result<(), Error> {
    match results::functions(root)? {
        Some(Functions { functions, .. }) => write_several(root, &functions, options),
        None => write(root, options),
    }
}

/// Measures the suite in an output directory as it was written, keeps what is found, and reports it.
pub fn measure(
    output: &Output,
    subject: &Subject,
    settings: Settings<'_>,
    timeline: &Timeline,
) -> Result<(), Error> {
    let directory = output.root().join("coverage");
    std::fs::create_dir_all(&directory).map_err(|error| cannot_write(&directory, &error))?;
    let facts = gather(output.root(), subject, settings)?;
    output.write_lines(TIMELINE_FILE, [timeline].into_iter())?;
    output.write_lines(FACTS_FILE, [facts].into_iter())?;
    explain_open(output, subject, settings)?;
    write(output.root(), &ReportOptions::default())
}

/// Writes all reports into an output directory.
pub fn write(root: &Path, options: &ReportOptions) -> Result<(), Error> {
    let results = results::read(root)?;
    let tallies = by_file(&results.facts);
    let parts = [Part { directory: "", results: &results }];
    let directory = root.join("report");
    std::fs::create_dir_all(&directory).map_err(|error| cannot_write(&directory, &error))?;
    for (file, text) in [
        (PAGE_FILE, page::html(&results).map_err(no_json)?),
        (LCOV_FILE, lcov::tracefile(&tallies, options.lcov_mcdc)),
        (COBERTURA_FILE, cobertura::xml(&tallies, &results.run.directory, time_of(root))),
        (JUNIT_FILE, junit::xml(&parts)),
        (SARIF_FILE, sarif(root, &parts)?),
    ] {
        let file = root.join(file);
        std::fs::write(&file, text).map_err(|error| cannot_write(&file, &error))?;
    }
    Ok(())
}

fn sarif(root: &Path, parts: &[Part<'_>]) -> Result<String, Error> {
    serde_json::to_string_pretty(&sarif::log(root, parts)).map_err(no_json)
}

/// Writes the reports of several functions: each one's own, and those for all of them.
fn write_several(root: &Path, entries: &[FunctionEntry], options: &ReportOptions) -> Result<(), Error> {
    for directory in directories_with_results(entries) {
        write(&root.join(directory), options)?;
    }
    write_summary(root, entries, &total(entries, false, root))
}

/// Writes the reports for several functions together, from what is in their directories.
pub fn write_summary(root: &Path, entries: &[FunctionEntry], total: &Summary) -> Result<(), Error> {
    let directory = root.join("report");
    std::fs::create_dir_all(&directory).map_err(|error| cannot_write(&directory, &error))?;
    // records of the same file add up
    let read = |directory: &str| std::fs::read_to_string(root.join(directory).join(LCOV_FILE)).ok();
    let traces: String = directories_with_results(entries).filter_map(read).collect();
    let mut all = Vec::new();
    for directory in directories_with_results(entries) {
        // one that was cut short has no facts
        all.extend(results::read(&root.join(directory)).ok().map(|results| (directory, results)));
    }
    let parts: Vec<Part<'_>> = all.iter().map(|(directory, results)| Part { directory, results }).collect();
    let tallies = together(all.iter().flat_map(|(_, results)| by_file(&results.facts)));
    let run: Run = read_record(&root.join(RUN_FILE))?;
    for (file, text) in [
        (PAGE_FILE, index::html(entries, total, run.confirmation.as_ref())),
        (LCOV_FILE, traces),
        (COBERTURA_FILE, cobertura::xml(&tallies, &run.directory, time_of(root))),
        (JUNIT_FILE, junit::xml(&parts)),
        (SARIF_FILE, sarif(root, &parts)?),
    ] {
        let file = root.join(file);
        std::fs::write(&file, text).map_err(|error| cannot_write(&file, &error))?;
    }
    Ok(())
}

fn directories_with_results(entries: &[FunctionEntry]) -> impl Iterator<Item = &str> {
    entries.iter().filter(|entry| entry.result.is_some()).filter_map(|entry| entry.directory.as_deref())
}

/// When the run ended, in milliseconds since 1970: a report that is written again says the same.
fn time_of(root: &Path) -> u128 {
    let modified = std::fs::metadata(root.join(RUN_FILE)).and_then(|data| data.modified()).ok();
    modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok()).map_or(0, |time| time.as_millis())
}

fn no_json(error: serde_json::Error) -> Error {
    Error::internal(format!("cannot write a report as JSON: {error}"))
}

fn cannot_write(path: &Path, error: &std::io::Error) -> Error {
    Error::usage(format!("cannot write {}: {error}", path.display()))
}
