//! A suite in Test-Comp's exchange format, also as a zip archive for TestCov.

use std::fs;
use std::path::Path;

use super::{cannot, zip};
use crate::error::Error;
use crate::store::run::Run;
use crate::store::suite::{read_record, tests_in};
use report::record::Test;
use report::testcomp::{self, Metadata, testcase};
use serde_json::Value;

/// Directories of tests that are exported. A run that does not end is cut: where a test has no more values, the competition ends the run and counts
/// what it passed.
const DIRECTORIES: [&str; 3] = ["tests", "crashes", HANGS];
const HANGS: &str = "hangs";

/// Values that a run is given that does not end.
const MOST_VALUES: usize = 5000;

/// Test-Comp knows programs of one file.
pub fn check(function: &str, n_sources: usize) -> Result<(), Error> {
    if function != "main" {
        return Err(Error::usage(format!(
            "a Test-Comp suite is for a program, not for the function {function}"
        ))
        .help("generate it with --function main"));
    }
    if n_sources != 1 {
        return Err(Error::usage(format!(
            "a Test-Comp suite is for a program of one file, and there are {n_sources}"
        )));
    }
    Ok(())
}

/// Writes the suite and its archive, `DIRECTORY.zip`.
pub fn write(root: &Path, run: &Run, directory: &Path) -> Result<usize, Error> {
    check(&run.function, run.spec.sources.files.len())?;
    fs::create_dir_all(directory).map_err(|error| cannot("create", directory, &error))?;
    let mut files = vec![("metadata.xml".to_owned(), metadata(run)?)];
    for name in DIRECTORIES {
        let tests = root.join(name);
        for file in if tests.is_dir() { tests_in(&tests)? } else { Vec::new() } {
            let mut test: Test = read_record(&file)?;
            if name == HANGS {
                cut(&mut test.input);
            }
            let text = testcase(&test.input)
                .map_err(|what| Error::usage(format!("cannot export {}: {what}", file.display())))?;
            files.push((format!("testcase-{}.xml", files.len()), text));
        }
    }
    for (name, text) in &files {
        let path = directory.join(name);
        fs::write(&path, text).map_err(|error| cannot("write", &path, &error))?;
    }
    let mut archive = directory.as_os_str().to_owned();
    archive.push(".zip");
    let archive = Path::new(&archive);
    let bytes = zip::stored(&files).map_err(|error| cannot("write", archive, &error.into()))?;
    fs::write(archive, bytes).map_err(|error| cannot("write", archive, &error))?;
    Ok(files.len() - 1)
}

/// Leaves so many values of each sequence.
fn cut(input: &mut Value) {
    for (_, values) in input.as_object_mut().into_iter().flatten() {
        if let Value::Array(values) = values {
            values.truncate(MOST_VALUES);
        }
    }
}

fn metadata(run: &Run) -> Result<String, Error> {
    let source = run.directory.join(&run.spec.sources.files[0]);
    let text = fs::read(&source)
        .map_err(|error| Error::usage(format!("cannot read {}: {error}", source.display())))?;
    let target = run.spec.sources.flags.iter().rfind(|flag| matches!(flag.as_str(), "-m32" | "-m64"));
    Ok(testcomp::metadata(&Metadata {
        producer: &run.quarry,
        criterion: run.spec.criteria.criterion.first().map(String::as_str),
        program_file: run.spec.sources.files[0].display().to_string(),
        program_hash: cache::sha256(&text),
        is_32_bit: target.is_some_and(|flag| flag == "-m32"),
        created: humantime::format_rfc3339_seconds(std::time::SystemTime::now()).to_string(),
    }))
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_suite_is_for_a_program_of_one_file() {
        assert!(super::check("main", 1).is_ok());
        assert!(super::check("f", 1).is_err());
        assert!(super::check("main", 2).is_err());
    }

    #[test]
    fn a_run_without_end_is_given_some_of_its_values() {
        let mut input = serde_json::json!({"__VERIFIER_nondet_int()": vec![1; 10_000]});
        super::cut(&mut input);
        assert_eq!(input["__VERIFIER_nondet_int()"].as_array().map(Vec::len), Some(super::MOST_VALUES));
    }
}
