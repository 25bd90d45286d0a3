//! Suites on disk: which files of a directory are tests, which run they come from, and their inputs.

use std::path::{Path, PathBuf};

use model::input::Input;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::output::RUN_FILE;
use super::run::Run;
use crate::error::Error;
use crate::subject::Subject;
use crate::values::json::ValueError;

/// Where an output directory keeps inputs: the suite first, then what did not end in order.
pub const INPUT_DIRECTORIES: [&str; 3] = ["tests", "crashes", "hangs"];

/// The inputs below a directory.
#[derive(Debug)]
pub struct Suite {
    root: PathBuf,
    /// The output directory that they are part of, if they are.
    pub home: Option<PathBuf>,
    /// Test files, the tests of an output directory before its crashes and hangs.
    pub files: Vec<PathBuf>,
    /// The record of the run that made them.
    pub run: Option<Run>,
    /// Why that cannot be read, when it is there.
    pub unread: Option<String>,
}

/// Why a file holds no input for a function, in words that stand behind its name.
#[derive(Debug, thiserror::Error)]
pub enum InputError {
    #[error("cannot be read: {0}")]
    Read(std::io::Error),
    #[error("is not JSON: {0}")]
    Json(serde_json::Error),
    #[error("is a test for {found}, not for {wanted}")]
    OtherFunction { found: String, wanted: String },
    #[error("is not an input for {function}: {error}")]
    Value { function: String, error: ValueError },
}

impl Suite {
    /// The tests of an output directory, or of a directory that holds nothing else.
    pub fn open(directory: &Path) -> Result<Self, Error> {
        let root = directory.canonicalize().map_err(|error| {
            not_a_suite(format!("cannot find the directory of tests {}: {error}", directory.display()))
        })?;
        if !root.is_dir() {
            return Err(not_a_suite(format!("{} is not a directory of tests", directory.display())));
        }
        let is_output = root.join(INPUT_DIRECTORIES[0]).is_dir() || root.join(RUN_FILE).is_file();
        let mut files = Vec::new();
        if is_output {
            let directories = INPUT_DIRECTORIES.map(|name| root.join(name));
            for directory in directories.iter().filter(|directory| directory.is_dir()) {
                files.extend(tests_in(directory)?);
            }
        } else {
            files = tests_in(&root)?;
        }
        if files.is_empty() {
            return Err(not_a_suite(format!("{} has no tests: there is no .json file", directory.display())));
        }
        let home = if is_output { Some(root.as_path()) } else { root.parent() };
        let home = home.map(Path::to_owned);
        // what cannot be read is somebody else's and counts as missing
        let (run, unread) = match home.as_deref().and_then(run_in) {
            Some(Ok(run)) => (Some(run), None),
            Some(Err(error)) => (None, Some(error.message().to_owned())),
            None => (None, None),
        };
        let home = home.filter(|_| run.is_some());
        Ok(Self { root, home, files, run, unread })
    }

    /// A file's name within the suite.
    pub fn name(&self, file: &Path) -> String {
        file.strip_prefix(&self.root).unwrap_or(file).display().to_string()
    }
}

fn not_a_suite(message: String) -> Error {
    Error::usage(message).help(
        "the last argument is an output directory of quarry gen, or a directory of tests as in its tests/",
    )
}

/// The run's record, when there is one.
fn run_in(directory: &Path) -> Option<Result<Run, Error>> {
    let file = directory.join(RUN_FILE);
    if !file.is_file() {
        return None;
    }
    Some(read_record(&file))
}

/// The JSON files of a directory, sorted.
pub fn tests_in(directory: &Path) -> Result<Vec<PathBuf>, Error> {
    let unreadable = |error| Error::usage(format!("cannot read {}: {error}", directory.display()));
    let mut tests = Vec::new();
    for entry in std::fs::read_dir(directory).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.extension().is_some_and(|extension| extension == "json") {
            tests.push(path);
        }
    }
    tests.sort();
    Ok(tests)
}

/// A record that Quarry wrote.
pub fn read_record<T: DeserializeOwned>(file: &Path) -> Result<T, Error> {
    let text = std::fs::read_to_string(file)
        .map_err(|error| Error::usage(format!("cannot read {}: {error}", file.display())))?;
    serde_json::from_str(&text)
        .map_err(|error| Error::usage(format!("{} is not a record of Quarry: {error}", file.display())))
}

/// The input in a file of tests/, or one that only has the parameters.
pub fn read_input(file: &Path, subject: &Subject) -> Result<Input, InputError> {
    let text = std::fs::read_to_string(file).map_err(InputError::Read)?;
    let value: Value = serde_json::from_str(&text).map_err(InputError::Json)?;
    let is_record = value.get("schema").is_some() && value.get("input").is_some();
    let input = if is_record { &value["input"] } else { &value };
    let wanted = subject.function();
    match value.get("function").and_then(Value::as_str) {
        Some(found) if is_record && found != wanted => {
            let (found, wanted) = (found.to_owned(), wanted.to_owned());
            return Err(InputError::OtherFunction { found, wanted });
        }
        Some(_) | None => {}
    }
    subject.read_json(input).map_err(|error| InputError::Value { function: wanted.to_owned(), error })
}
