//! The tests of a run, read for export: input, name, and expected results.

use std::collections::BTreeMap;
use std::path::Path;

use model::input::Input;
use testwriter::{Checked, Ending, Expectation, free_name, leaves};

use super::ExportOptions;
use crate::error::Error;
use crate::expected::{bytes_of, record, seen_from_json};
use crate::store::suite::{read_input, read_record, tests_in};
use crate::subject::Subject;
use report::record::{Expected, Test};

/// A test as its file has it.
pub struct Loaded {
    /// The file's name without `.json`.
    pub file: String,
    pub record: Test,
    pub input: Input,
}

/// The tests in `tests/`; those without expected results get them now.
pub fn tests(
    root: &Path,
    subject: &Subject,
    work: &Path,
    options: &ExportOptions,
) -> Result<Vec<Loaded>, Error> {
    let mut tests = Vec::new();
    for path in tests_in(&root.join("tests"))? {
        let record: Test = read_record(&path)?;
        let input = read_input(&path, subject)
            .map_err(|error| Error::usage(format!("{} {error}", path.display())))?;
        let file = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        tests.push(Loaded { file, record, input });
    }
    let missing: Vec<usize> =
        (0..tests.len()).filter(|index| tests[*index].record.expected.is_none()).collect();
    let inputs: Vec<Input> = missing.iter().map(|index| tests[*index].input.clone()).collect();
    let mut recorded: BTreeMap<usize, Expected> =
        record(subject, &inputs, work, options.limit, &options.interrupt)?;
    for (number, index) in missing.into_iter().enumerate() {
        tests[index].record.expected = recorded.remove(&number);
    }
    Ok(tests)
}

impl Loaded {
    /// What it is called in messages.
    pub fn title(&self) -> String {
        if self.record.name.is_empty() {
            self.file.clone()
        } else {
            format!("{} ({})", self.file, self.record.name)
        }
    }

    /// The test with what is expected of it, or why it cannot be compared.
    pub fn checked(&self, subject: &Subject) -> Result<Checked, String> {
        let under_test = subject.function_under_test().ok_or("it is a test of a whole program")?;
        if self.record.unchecked {
            return Err("it was not checked with sanitizers in time: run the same `quarry gen` again, with a larger --budget".to_owned());
        }
        let expected = self.record.expected.as_ref().ok_or("it has no expected results")?;
        let ending = match expected.end.as_str() {
            "returned" => Ending::Returned,
            "" => return Err("it ends differently each time".to_owned()),
            end => match end.strip_prefix("exited with ").and_then(|code| code.parse().ok()) {
                Some(code) => Ending::Exited(code),
                None => return Err(format!("natively it {end}")),
            },
        };
        let leaves = leaves(&under_test, &self.input);
        let mut left_out = expected.left_out.clone();
        let mut values = Vec::new();
        for (expression, value) in &expected.values {
            let leaf = leaves.iter().find(|leaf| leaf.expression == *expression);
            match leaf.and_then(|leaf| seen_from_json(leaf.kind, value)) {
                Some(seen) => values.push((expression.clone(), seen)),
                None => left_out.push(format!("{expression}: the test has none, or no {value}")),
            }
        }
        let printed = |text: &Option<String>| text.as_deref().and_then(bytes_of);
        let name = if self.record.name.is_empty() { &self.file } else { &self.record.name };
        Ok(Checked {
            name: free_name(&under_test, &format!("test_{}", identifier(name).trim_start_matches("test_"))),
            about: self.record.description.clone(),
            input: self.input.clone(),
            expected: Expectation {
                ending,
                values,
                stdout: printed(&expected.stdout),
                stderr: printed(&expected.stderr),
                left_out,
                freed: expected.freed.clone(),
            },
        })
    }
}

/// A name that was given outside of C as a part of an identifier.
fn identifier(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}
