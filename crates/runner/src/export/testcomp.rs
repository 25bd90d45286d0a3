//! A suite in Test-Comp's exchange format: `metadata.xml`, one XML file per test, and a zip archive of them for TestCov.
//!
//! A test is the list of values that `__VERIFIER_nondet_*` functions returned, in the order of all calls. Limit: the format
//! has only numbers and texts; a non-null pointer is written as 1, which no program can dereference.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::{cannot, zip};
use crate::error::Error;
use crate::hash;
use crate::store::run::Run;
use crate::store::suite::{read_record, tests_in};
use report::record::Test;
use report::xml::Document;

const METADATA: &str = "test-metadata PUBLIC \"+//IDN sosy-lab.org//DTD test-format test-metadata 1.1//EN\" \
    \"https://sosy-lab.org/test-format/test-metadata-1.1.dtd\"";
const TESTCASE: &str = "testcase PUBLIC \"+//IDN sosy-lab.org//DTD test-format testcase 1.1//EN\" \
    \"https://sosy-lab.org/test-format/testcase-1.1.dtd\"";
const PREFIX: &str = "__VERIFIER_nondet_";

/// Directories of tests that are exported; a run that does not end gives nothing that could be measured.
const DIRECTORIES: [&str; 2] = ["tests", "crashes"];

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
            let test: Test = read_record(&file)?;
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

fn metadata(run: &Run) -> Result<String, Error> {
    let source = run.directory.join(&run.spec.sources.files[0]);
    let text = fs::read(&source)
        .map_err(|error| Error::usage(format!("cannot read {}: {error}", source.display())))?;
    let is_32 = run.spec.sources.flags.iter().rfind(|flag| matches!(flag.as_str(), "-m32" | "-m64"));
    let architecture = if is_32.is_some_and(|flag| flag == "-m32") { "32bit" } else { "64bit" };
    let edges = match run.spec.criteria.criterion.first().map(String::as_str) {
        Some("statement") => "@BASICBLOCKENTRY",
        Some("condition") => "@CONDITIONEDGE",
        Some(_) | None => "@DECISIONEDGE",
    };
    let created = humantime::format_rfc3339_seconds(std::time::SystemTime::now());
    let mut document = Document::dependent(METADATA);
    document.begin("test-metadata", &[]);
    for (name, content) in [
        ("sourcecodelang", "C".to_owned()),
        ("producer", format!("quarry {}", run.quarry)),
        ("specification", format!("COVER( init(main()), FQL(COVER EDGES({edges})) )")),
        ("programfile", run.spec.sources.files[0].display().to_string()),
        ("programhash", hash::sha256(&text)),
        ("entryfunction", "main".to_owned()),
        ("architecture", architecture.to_owned()),
        ("creationtime", created.to_string()),
    ] {
        document.text(name, &[], &content);
    }
    Ok(document.finish())
}

/// One test, or what in it the format cannot express.
fn testcase(input: &Value) -> Result<String, String> {
    let mut document = Document::dependent(TESTCASE);
    document.begin("testcase", &[]);
    for (name, value) in input.as_object().into_iter().flatten() {
        let calls = value.as_array().map(Vec::as_slice).unwrap_or_default();
        let Some(sequence) = name.strip_prefix(PREFIX) else {
            if calls.is_empty() && value.is_array() {
                continue; // a stub that was not called
            }
            return Err(format!("{name} does not come from a {PREFIX}… function"));
        };
        for call in calls {
            // in a sequence of several functions each value names its own
            let (function, value) = match call.as_object().and_then(|members| members.iter().next()) {
                Some((function, value)) if sequence == "*()" => (function.as_str(), value),
                Some(_) | None => (sequence.trim_end_matches("()"), call),
            };
            document.text("input", &[("type", function)], &written(value));
        }
    }
    Ok(document.finish())
}

/// A value as TestCov reads it.
fn written(value: &Value) -> String {
    match value {
        Value::Null => "0".to_owned(),
        Value::Bool(truth) => u8::from(*truth).to_string(),
        Value::Number(number) => number.to_string(),
        // the bits of a NaN are nothing that a text can say
        Value::String(text) if text.starts_with("nan:") => "nan".to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(_) | Value::Object(_) => "1".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(input: Value, expected: &[&str]) {
        let text = testcase(&input).expect("it can be written");
        let lines: Vec<&str> = text.lines().filter(|line| line.contains("<input")).map(str::trim).collect();
        assert_eq!(lines, expected);
    }

    #[test]
    fn values_stand_in_the_order_of_calls() {
        check(
            json!({"__VERIFIER_nondet_*()": [{"int": -3}, {"bool": true}, {"double": "nan:0x7ff8000000000001"}]}),
            &[
                "<input type=\"int\">-3</input>",
                "<input type=\"bool\">1</input>",
                "<input type=\"double\">nan</input>",
            ],
        );
        check(
            json!({"__VERIFIER_nondet_pointer()": [null, {}], "helper()": []}),
            &["<input type=\"pointer\">0</input>", "<input type=\"pointer\">1</input>"],
        );
    }

    #[test]
    fn what_the_format_lacks_is_named() {
        assert_eq!(
            testcase(&json!({"argc": 3})).expect_err("a parameter"),
            "argc does not come from a __VERIFIER_nondet_… function"
        );
        assert!(super::check("f", 1).is_err());
        assert!(super::check("main", 2).is_err());
    }
}
