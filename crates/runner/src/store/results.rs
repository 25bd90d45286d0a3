//! Reads an output directory for reports.

use std::path::Path;

use report::differences::DIFFERENCES_FILE;
use report::explanation::EXPLANATIONS_FILE;
use report::facts::FACTS_FILE;
use report::functions::{FUNCTIONS_FILE, Functions};
use report::mutation::MUTANTS_FILE;
use report::record::GoalLine;
use report::results::{Kept, Kind, Reproducer, Results};
use report::timeline::TIMELINE_FILE;
use report::versions::VERSIONS_FILE;
use serde::de::DeserializeOwned;

use super::output::RUN_FILE;
use super::recorder::GOALS_FILE;
use super::suite::{INPUT_DIRECTORIES, read_record, tests_in};
use crate::error::Error;

/// Everything in a directory that `quarry gen` wrote.
pub fn read(root: &Path) -> Result<Results, Error> {
    let mut tests = Vec::new();
    for (directory, kind) in INPUT_DIRECTORIES.into_iter().zip([Kind::Test, Kind::Crash, Kind::Hang]) {
        let path = root.join(directory);
        for file in if path.is_dir() { tests_in(&path)? } else { Vec::new() } {
            tests.push(kept(&file, directory, kind)?);
        }
    }
    Ok(Results {
        run: read_record(&root.join(RUN_FILE))?,
        goals: goals(&root.join(GOALS_FILE))?,
        tests,
        facts: read_record(&root.join(FACTS_FILE)).map_err(cut_short)?,
        versions: read_record(&root.join(VERSIONS_FILE)).ok(),
        differences: read_record(&root.join(DIFFERENCES_FILE)).ok(),
        mutation: read_record(&root.join(MUTANTS_FILE)).ok(),
        timeline: read_record(&root.join(TIMELINE_FILE)).map_err(cut_short)?,
        explanations: lines(&root.join(EXPLANATIONS_FILE))?,
    })
}

fn kept(file: &Path, directory: &str, kind: Kind) -> Result<Kept, Error> {
    let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let program = file.with_extension("c");
    let reproducer = std::fs::read_to_string(&program)
        .ok()
        .map(|text| Reproducer { file: format!("{directory}/{name}.c"), text });
    Ok(Kept {
        kind,
        file: format!("{directory}/{name}.json"),
        record: read_record(file)?,
        reproducer: reproducer.filter(|_| kind != Kind::Test),
        name,
    })
}

/// What a directory says of several functions; `None` when it is that of one.
pub fn functions(root: &Path) -> Result<Option<Functions>, Error> {
    let path = root.join(FUNCTIONS_FILE);
    let Ok(text) = std::fs::read_to_string(&path) else { return Ok(None) };
    serde_json::from_str(&text)
        .map(Some)
        .map_err(|error| Error::usage(format!("{} was not written by quarry gen: {error}", path.display())))
}

/// The lines of `goals.jsonl`.
pub fn goals(file: &Path) -> Result<Vec<GoalLine>, Error> {
    let text = std::fs::read_to_string(file)
        .map_err(|error| cut_short(Error::usage(format!("cannot read {}: {error}", file.display()))))?;
    let line = |(number, line): (usize, &str)| {
        serde_json::from_str(line).map_err(|error| {
            Error::usage(format!("{}:{}: not a goal of Quarry: {error}", file.display(), number + 1))
        })
    };
    text.lines().enumerate().map(line).collect()
}

/// The records of a file with one on each line; none when there is no such file.
pub fn lines<T: DeserializeOwned>(file: &Path) -> Result<Vec<T>, Error> {
    let Ok(text) = std::fs::read_to_string(file) else { return Ok(Vec::new()) };
    let line = |line: &str| {
        serde_json::from_str(line).map_err(|error| {
            Error::usage(format!("{} was not written by quarry gen: {error}", file.display()))
        })
    };
    text.lines().map(line).collect()
}

fn cut_short(error: Error) -> Error {
    error.help("the run was interrupted, or is from an older version: run quarry gen again")
}
