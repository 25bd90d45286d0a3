//! A suite in Test-Comp's exchange format: the texts of `metadata.xml` and of one XML file per test.
//!
//! A test is the list of values that `__VERIFIER_nondet_*` functions returned, in the order of all calls. Limit: the format
//! has only numbers and texts; a non-null pointer is written as 1, which no program can dereference.

use serde_json::Value;

use crate::xml::Document;

const METADATA: &str = "test-metadata PUBLIC \"+//IDN sosy-lab.org//DTD test-format test-metadata 1.1//EN\" \
    \"https://sosy-lab.org/test-format/test-metadata-1.1.dtd\"";
const TESTCASE: &str = "testcase PUBLIC \"+//IDN sosy-lab.org//DTD test-format testcase 1.1//EN\" \
    \"https://sosy-lab.org/test-format/testcase-1.1.dtd\"";
const PREFIX: &str = "__VERIFIER_nondet_";

/// What is said of a suite as a whole.
#[derive(Clone, Debug)]
pub struct Metadata<'a> {
    /// Quarry's version.
    pub producer: &'a str,
    /// The criterion, by the name that Quarry has for it.
    pub criterion: Option<&'a str>,
    pub program_file: String,
    pub program_hash: String,
    pub is_32_bit: bool,
    /// When the suite was written (RFC 3339).
    pub created: String,
}

/// The text of `metadata.xml`.
pub fn metadata(metadata: &Metadata<'_>) -> String {
    let architecture = if metadata.is_32_bit { "32bit" } else { "64bit" };
    let edges = match metadata.criterion {
        Some("statement") => "@BASICBLOCKENTRY",
        Some("condition") => "@CONDITIONEDGE",
        Some(_) | None => "@DECISIONEDGE",
    };
    let mut document = Document::dependent(METADATA);
    document.begin("test-metadata", &[]);
    for (name, content) in [
        ("sourcecodelang", "C"),
        ("producer", &format!("quarry {}", metadata.producer)),
        ("specification", &format!("COVER( init(main()), FQL(COVER EDGES({edges})) )")),
        ("programfile", &metadata.program_file),
        ("programhash", &metadata.program_hash),
        ("entryfunction", "main"),
        ("architecture", architecture),
        ("creationtime", &metadata.created),
    ] {
        document.text(name, &[], content);
    }
    document.finish()
}

/// One test, or what in it the format cannot express.
pub fn testcase(input: &Value) -> Result<String, String> {
    let mut document = Document::dependent(TESTCASE);
    document.begin("testcase", &[]);
    for (name, value) in input.as_object().into_iter().flatten() {
        let calls = value.as_array().map(Vec::as_slice).unwrap_or_default();
        let Some(sequence) = name.strip_prefix(PREFIX) else {
            if is_nothing(value) {
                continue; // no arguments, nothing to read, a stub that was not called
            }
            return Err(format!("{name} does not come from a {PREFIX}… function"));
        };
        // TestCov ends a run that asks for more than there is
        for call in calls.iter().filter(|call| *call != "end") {
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

fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(_) | Value::Number(_) => false,
        Value::String(text) => text.is_empty(),
        Value::Array(values) => values.is_empty(),
        Value::Object(members) => members.values().all(is_nothing),
    }
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
    }
}
