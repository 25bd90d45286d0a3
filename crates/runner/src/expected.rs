//! The expected results of each test, recorded on an uninstrumented build with the user's own flags.
//!
//! Method: each test runs twice on a native build, with different memory contents and addresses. What both runs agree on is
//! expected: how it ends, what it returns, what it changes, what it prints. What they do not agree on is left out and
//! listed. Limits: dependence on something that is the same in both runs, such as the date, is not noticed; allocations do
//! not fail natively, so tests with failing allocations have no expected results.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

use engine::executor::{ExecutorError, NativeEnd, NativeResult, NativeRun};
use model::input::Input;
use serde_json::{Map, Value, json};
use testwriter::{LeafKind, Observed, Recorder, Seen};

use crate::error::Error;
use crate::interrupt::Interrupt;
use crate::subject::Subject;
use crate::values::invocation::latin;
use crate::values::json::{float_from_json, float_to_json, json_number};
use report::record::Expected;

/// What fresh and freed memory is filled with in each of the two runs.
const FILLINGS: [&str; 2] = ["165", "60"];

/// What is expected of inputs, by number; those that could not be run are missing.
pub fn record(
    subject: &Subject,
    inputs: &[Input],
    work: &Path,
    limit: Duration,
    interrupt: &Interrupt,
) -> Result<BTreeMap<usize, Expected>, Error> {
    let mut expected = BTreeMap::new();
    if inputs.is_empty() || interrupt.is_requested() {
        return Ok(expected);
    }
    std::fs::create_dir_all(work)
        .map_err(|error| Error::internal(format!("cannot create {}: {error}", work.display())))?;
    let native = Native::build(subject, inputs, work)?;
    for (number, input) in inputs.iter().enumerate() {
        if interrupt.is_requested() {
            break;
        }
        let run = native_run(subject, native.program.clone(), number.to_string(), input);
        let Some(run) = run else { continue };
        let run = |filling: &str| {
            let mut run = run.clone();
            run.variables.extend(memory_filled_with(filling));
            run.run(work, limit, &interrupt.flag())
        };
        match (run(FILLINGS[0]), run(FILLINGS[1])) {
            (Ok(first), Ok(second)) => {
                expected.insert(number, native.expected(number, &first, &second));
            }
            (Err(ExecutorError::Interrupted), _) | (_, Err(ExecutorError::Interrupted)) => break,
            (Err(error), _) | (_, Err(error)) => return Err(Error::caused(&error)),
        }
    }
    Ok(expected)
}

/// Variables that say what fresh and freed memory holds.
fn memory_filled_with(filling: &str) -> [(OsString, OsString); 2] {
    // a cache of freed blocks would look like blocks in use
    [
        ("MALLOC_PERTURB_".into(), filling.into()),
        ("GLIBC_TUNABLES".into(), "glibc.malloc.tcache_count=0".into()),
    ]
}

/// What runs that are compared with expected results have in their environment.
pub fn fixed_memory() -> [(OsString, OsString); 2] {
    memory_filled_with(FILLINGS[0])
}

/// The first thing in which a run does not do what is expected: `result is 3, not 4`. What is not expected is not compared.
pub fn difference(expected: &Expected, result: &NativeResult, seen: &Observed) -> Option<String> {
    let end = end_of(result, seen);
    if end != expected.end {
        return Some(format!("it {end}, and should have {}", expected.end));
    }
    for (expression, value) in &expected.values {
        let now = seen.values.iter().find(|(leaf, _)| leaf.expression == *expression);
        let now = now.map(|(leaf, seen)| seen_to_json(leaf.kind, seen));
        if now.as_ref() != Some(value) {
            let now = now.map_or_else(|| "unchanged".to_owned(), |now| now.to_string());
            return Some(format!("{expression} is {now}, not {value}"));
        }
    }
    let printed = [
        ("stdout", &expected.stdout, &result.output.stdout),
        ("stderr", &expected.stderr, &result.output.stderr),
    ];
    let differs = |(_, expected, now): &(&str, &Option<String>, &Vec<u8>)| {
        expected.as_ref().is_some_and(|expected| *expected != latin(now))
    };
    printed.into_iter().find(differs).map(|(what, ..)| format!("{what} differs"))
}

/// Which of these inputs, the simplest first, shows most of what the function does: the first one, unless a later one
/// returns, changes or prints something else and more of that is not zero. From the third on they hold much that nothing
/// needs: they are taken only where the first two show nothing but zeros.
pub fn most_telling(recorded: &BTreeMap<usize, Expected>, inputs: Range<usize>) -> usize {
    let first = inputs.start;
    let Some(simplest) = recorded.get(&first) else { return first };
    let worth = |number: usize| {
        let other = recorded.get(&number).filter(|other| other.end == simplest.end && *other != simplest)?;
        let tells = other.values.values().filter(|value| is_telling(value)).count();
        let n_left_out = other.left_out.len();
        (n_left_out <= simplest.left_out.len()).then_some((tells, number))
    };
    let n_simplest = simplest.values.values().filter(|value| is_telling(value)).count();
    let mut best = (n_simplest, first);
    for number in inputs.skip(1) {
        if number > first + 1 && best.0 > 0 {
            break;
        }
        match worth(number) {
            // among equals the first variant: its values are small and different
            Some((tells, number)) if tells > best.0 || (tells == best.0 && best.1 == first) => {
                best = (tells, number)
            }
            Some(_) | None => {}
        }
    }
    best.1
}

/// Whether a wrong function is unlikely to give the same by chance.
fn is_telling(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(truth) => *truth,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(_) | Value::Array(_) => true,
        Value::Object(members) => {
            members.get(TEXT).and_then(Value::as_str).is_some_and(|text| !text.is_empty())
        }
    }
}

/// A native build that runs tests.
struct Native {
    program: PathBuf,
    /// Of a function.
    recorder: Option<Recorder>,
}

impl Native {
    fn build(subject: &Subject, inputs: &[Input], work: &Path) -> Result<Self, Error> {
        let program = work.join("native-program");
        let test = |(number, input): (usize, &Input)| testwriter::Test {
            name: number.to_string(),
            about: String::new(),
            input: input.clone(),
        };
        let tests: Vec<_> = inputs.iter().enumerate().map(test).collect();
        let Some(under_test) = subject.function_under_test() else {
            subject.build_program(&tests, &[], work, &program, &[])?;
            return Ok(Self { program, recorder: None });
        };
        let recorder = testwriter::recorder(&under_test, &tests);
        let file = work.join("recorder.c");
        std::fs::write(&file, &recorder.text)
            .map_err(|error| Error::internal(format!("cannot write {}: {error}", file.display())))?;
        subject.build_around(&[&file], &[], &program, &[testwriter::WRAPPED])?;
        Ok(Self { program, recorder: Some(recorder) })
    }

    fn expected(&self, number: usize, first: &NativeResult, second: &NativeResult) -> Expected {
        let read = |result: &NativeResult| {
            self.recorder
                .as_ref()
                .map_or_else(Observed::default, |recorder| recorder.read(number, &result.record))
        };
        let (seen, again) = (read(first), read(second));
        let mut expected = Expected { end: end_of(first, &seen), ..Expected::default() };
        if expected.end != end_of(second, &again) {
            expected.left_out.push("how it ends: two runs differ".to_owned());
            expected.end.clear();
            return expected;
        }
        for (leaf, value) in &seen.values {
            if again.values.contains(&(leaf.clone(), value.clone())) {
                expected.values.insert(leaf.expression.clone(), seen_to_json(leaf.kind, value));
            } else {
                expected.left_out.push(format!("{}: two runs differ", leaf.expression));
            }
        }
        let is_program = self.recorder.is_none();
        let is_tidy = seen.returned && !seen.leaves_memory && !again.leaves_memory;
        expected.freed = (is_tidy && seen.freed == again.freed).then(|| seen.freed.clone());
        expected.stdout = printed(
            "stdout",
            &first.output.stdout,
            &second.output.stdout,
            is_program,
            &mut expected.left_out,
        );
        expected.stderr = printed(
            "stderr",
            &first.output.stderr,
            &second.output.stderr,
            is_program,
            &mut expected.left_out,
        );
        if first.output.truncated {
            (expected.stdout, expected.stderr) = (None, None);
            expected.left_out.push("output: more than 64 KiB".to_owned());
        }
        expected
    }
}

/// How a test is run on a native build: a function's by a program that takes the test's name, a program's by what the test
/// gives it. `None` when it cannot be.
pub fn native_run(subject: &Subject, program: PathBuf, name: String, input: &Input) -> Option<NativeRun> {
    let Some(given) = subject.invocation_of(input) else {
        if !subject.shape().failing(input).is_empty() {
            return None;
        }
        let arguments = vec!["program".into(), name.into()];
        return Some(NativeRun { program, arguments, ..NativeRun::default() });
    };
    if !given.failing.is_empty() {
        return None;
    }
    let called = subject.program_name();
    let bytes = std::os::unix::ffi::OsStringExt::from_vec;
    let arguments = std::iter::once(called.into()).chain(given.arguments.into_iter().map(bytes)).collect();
    let set = given.variables.into_iter().filter_map(|(name, value)| Some((name.into(), bytes(value?))));
    let there = given.files.into_iter().filter_map(|(name, contents)| Some((name, contents?)));
    let (mut variables, files) = (set.collect::<Vec<_>>(), there.collect());
    if !subject.stubs().stubs.is_empty() {
        variables.push((testwriter::TEST_VARIABLE.into(), name.into()));
    }
    Some(NativeRun { program, arguments, variables, stdin: given.stdin, files, ..NativeRun::default() })
}

fn end_of(result: &NativeResult, seen: &Observed) -> String {
    match result.end {
        NativeEnd::Exited(_) if seen.returned => "returned".to_owned(),
        NativeEnd::Exited(code) => format!("exited with {code}"),
        NativeEnd::Signalled(signal) => format!("killed by signal {signal}"),
        NativeEnd::TimedOut => "timed out".to_owned(),
    }
}

/// What is printed, when that can be compared; of a function that prints nothing, nothing is said.
fn printed(
    what: &str,
    first: &[u8],
    second: &[u8],
    always: bool,
    left_out: &mut Vec<String>,
) -> Option<String> {
    if first.is_empty() && second.is_empty() && !always {
        return None;
    }
    if first != second {
        left_out.push(format!("{what}: two runs differ"));
        return None;
    }
    if first.contains(&0) {
        left_out.push(format!("{what}: it has zero bytes"));
        return None;
    }
    Some(latin(first))
}

const POINTS_INTO: &str = "points_into";
const OFFSET: &str = "offset";
const TEXT: &str = "text";
const NOT: &str = "not";

/// A value as the record of a test has it.
fn seen_to_json(kind: LeafKind, seen: &Seen) -> Value {
    match seen {
        Seen::Number(number) => json_number(*number),
        Seen::Truth(truth) => Value::Bool(*truth),
        Seen::Float(bits) => float_to_json(width(kind), *bits),
        Seen::Null => Value::Null,
        Seen::Inside { object, offset } => json!({ POINTS_INTO: object, OFFSET: offset }),
        Seen::Elsewhere => json!({ NOT: null }),
        Seen::Text(text) => json!({ TEXT: latin(text) }),
    }
}

/// What [`seen_to_json`] wrote; `None` for what it never writes.
pub fn seen_from_json(kind: LeafKind, value: &Value) -> Option<Seen> {
    let object = |value: &Map<String, Value>| {
        if let Some(text) = value.get(TEXT) {
            return Some(Seen::Text(bytes_of(text.as_str()?)?));
        }
        if value.contains_key(NOT) {
            return Some(Seen::Elsewhere);
        }
        let object = value.get(POINTS_INTO)?.as_str()?.to_owned();
        Some(Seen::Inside { object, offset: value.get(OFFSET)?.as_i64()? })
    };
    Some(match (kind, value) {
        (LeafKind::Float { bits }, value) => Seen::Float(float_from_json(bits, value, "").ok()?),
        (LeafKind::Pointer | LeafKind::Text, Value::Null) => Seen::Null,
        (LeafKind::Pointer | LeafKind::Text, Value::Object(members)) => object(members)?,
        (LeafKind::Truth, Value::Bool(truth)) => Seen::Truth(*truth),
        (LeafKind::Signed { .. } | LeafKind::Unsigned { .. }, Value::Number(number)) => {
            let wide = number.as_i64().map(i128::from).or(number.as_u64().map(i128::from));
            Seen::Number(wide?)
        }
        _ => return None,
    })
}

/// The bytes that characters below 256 stand for.
pub fn bytes_of(text: &str) -> Option<Vec<u8>> {
    text.chars().map(|c| u8::try_from(u32::from(c)).ok()).collect()
}

fn width(kind: LeafKind) -> u32 {
    match kind {
        LeafKind::Float { bits } => bits,
        LeafKind::Signed { .. }
        | LeafKind::Unsigned { .. }
        | LeafKind::Truth
        | LeafKind::Pointer
        | LeafKind::Text => 64,
    }
}

/// What is returned, in a word that fits into a name.
pub fn short_result(expected: &Expected) -> Option<String> {
    let text = match expected.values.get("result")? {
        Value::Null => "null".to_owned(),
        Value::Bool(truth) => truth.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.clone(),
        Value::Object(members) => match members.get(TEXT) {
            Some(Value::String(text)) => format!("\"{text}\""),
            Some(_) | None => return None,
        },
        Value::Array(_) => return None,
    };
    (text.len() <= 20).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(kind: LeafKind, seen: Seen, json: Value) {
        assert_eq!(seen_to_json(kind, &seen), json);
        assert_eq!(seen_from_json(kind, &json), Some(seen));
    }

    #[test]
    fn what_was_seen_is_read_back_from_its_record() {
        check(LeafKind::Signed { bits: 64 }, Seen::Number(i64::MIN.into()), json!(i64::MIN));
        check(LeafKind::Unsigned { bits: 64 }, Seen::Number(u64::MAX.into()), json!(u64::MAX));
        check(LeafKind::Truth, Seen::Truth(true), json!(true));
        check(LeafKind::Float { bits: 64 }, Seen::Float(0.1f64.to_bits()), json!(0.1));
        check(LeafKind::Float { bits: 32 }, Seen::Float(0x7fc0_0001), json!("nan:0x7fc00001"));
        check(LeafKind::Pointer, Seen::Null, json!(null));
        check(LeafKind::Pointer, Seen::Elsewhere, json!({"not": null}));
        check(LeafKind::Text, Seen::Text(b"a\xff".to_vec()), json!({"text": "aÿ"}));
        let inside = Seen::Inside { object: "s".to_owned(), offset: 3 };
        check(LeafKind::Text, inside, json!({"points_into": "s", "offset": 3}));
    }

    #[test]
    fn an_input_that_shows_more_is_taken_and_else_the_simplest() {
        let returning = |value: Value| {
            let values = [("result".to_owned(), value)].into_iter().collect();
            Expected { end: "returned".to_owned(), values, ..Expected::default() }
        };
        let check = |results: &[i32], expected: usize| {
            let recorded = results.iter().map(|result| returning(json!(result))).enumerate().collect();
            assert_eq!(most_telling(&recorded, 0..results.len()), expected, "{results:?}");
        };
        check(&[0, 0, 0], 0);
        check(&[0, 3, 0], 1);
        check(&[0, 0, 3], 2);
        check(&[1, 7, 9], 1);
        check(&[1, 1, 9], 0);
        check(&[1, 1, 0], 0);
        assert_eq!(most_telling(&BTreeMap::new(), 4..6), 4);
    }

    #[test]
    fn an_edited_record_that_makes_no_sense_is_no_value() {
        assert_eq!(seen_from_json(LeafKind::Truth, &json!(3)), None);
        assert_eq!(seen_from_json(LeafKind::Signed { bits: 32 }, &json!({"text": "x"})), None);
    }
}
