//! Tests that were read, as inputs of a program that is built.

use model::input::Input;
use serde_json::Value;

use super::{Found, FoundTest, Given, LeftOut, layout, sequence};
use crate::existing::ExistingTest;
use crate::subject::Subject;

/// The tests that can be expressed, and the others.
#[derive(Clone, Debug, Default)]
pub struct Resolved {
    pub tests: Vec<ExistingTest>,
    pub left_out: Vec<LeftOut>,
}

/// Makes each test an input of the subject.
pub fn resolve(subject: &Subject, found: &Found) -> Resolved {
    let mut resolved = Resolved { tests: Vec::new(), left_out: found.left_out.clone() };
    for FoundTest { name, origin, given } in &found.tests {
        let (name, origin) = (name.clone(), origin.clone());
        match input(subject, given) {
            Ok(input) => resolved.tests.push(ExistingTest { name, origin, input }),
            Err(why) => resolved.left_out.push(LeftOut { name, origin, why }),
        }
    }
    resolved
}

/// What a test gives, or why it cannot be expressed.
fn input(subject: &Subject, given: &Given) -> Result<Input, String> {
    let is_program = subject.is_whole_program();
    let pointer_bytes = u64::from(subject.program().pointer_bits) / 8;
    let read = |value: &Value| subject.read_json(value).map_err(|error| error.to_string());
    let input = match given {
        Given::Json(value) => read(value)?,
        Given::Invocation(invocation) => subject.input_of(invocation)?,
        Given::Objects(test) if is_program => subject.input_of(&test.invocation()?)?,
        Given::Objects(test) => read(&layout::of_objects(subject.shape(), pointer_bytes, &test.objects)?)?,
        Given::Bytes(bytes) => read(&layout::of_bytes(subject.shape(), pointer_bytes, bytes)?)?,
        Given::Results(results) => sequence::input(subject.shape(), results)?,
    };
    Ok(input)
}
