//! Which of the tests that were there already is a new one most like, and what is different?
//!
//! Method: inputs are compared part by part: a program's arguments, lines of standard input and files, variables; a function's
//! parameters down to single values. The most alike is the one with the fewest bytes and parts that differ, the first of equals.
//! What is said is true of the two inputs, however the new one was found.

use std::collections::BTreeMap;

use model::input::Input;
use model::invocation::Invocation;
use report::record::Likeness;
use serde_json::Value;

use crate::existing::ExistingTest;
use crate::subject::Subject;
use crate::values::invocation::latin;
use crate::values::notation::quoted;

/// Differences that are told.
const SHOWN: usize = 3;
/// Characters of a value that are shown.
const LONGEST: usize = 48;

/// The tests that were there already, to be compared with.
pub struct Originals<'a> {
    subject: &'a Subject,
    tests: &'a [ExistingTest],
    parts: Vec<Parts>,
}

/// An input in parts, each under the words for it.
type Parts = BTreeMap<Part, Vec<u8>>;

/// A part of an input; in the order in which differences are told.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    /// From 1.
    Argument(usize),
    /// From 1; of standard input when there is no name.
    Line(Option<String>, usize),
    Missing(String),
    Variable(String),
    FailingAllocation(u64),
    /// By the path of its name.
    Value(String),
}

impl<'a> Originals<'a> {
    /// Those of a subject.
    pub fn of(subject: &'a Subject, tests: &'a [ExistingTest]) -> Self {
        let parts = tests.iter().map(|test| parts(subject, &test.input)).collect();
        Self { subject, tests, parts }
    }

    /// The place of the test that an input is most like.
    pub fn nearest(&self, input: &Input) -> Option<usize> {
        let new = parts(self.subject, input);
        (0..self.parts.len()).min_by_key(|place| (distance(&self.parts[*place], &new), *place))
    }

    /// What an input is like.
    pub fn likeness(&self, input: &Input) -> Option<Likeness> {
        let place = self.nearest(input)?;
        let differences = differences(&self.parts[place], &parts(self.subject, input));
        Some(Likeness { test: self.tests[place].name.clone(), differences })
    }
}

fn parts(subject: &Subject, input: &Input) -> Parts {
    match subject.invocation_of(input) {
        Some(invocation) => {
            let mut parts = of_invocation(&invocation);
            // results of calls are told by name
            let json = subject.to_json(input);
            let calls = json.as_object().into_iter().flatten().filter(|(name, _)| name.ends_with("()"));
            calls.for_each(|(name, value)| of_value(name, value, &mut parts));
            parts
        }
        None => {
            let mut parts = Parts::new();
            let json = subject.to_json(input);
            json.as_object()
                .into_iter()
                .flatten()
                .for_each(|(name, value)| of_value(name, value, &mut parts));
            parts
        }
    }
}

fn of_invocation(invocation: &Invocation) -> Parts {
    let mut parts = Parts::new();
    for (argument, number) in invocation.arguments.iter().zip(1..) {
        parts.insert(Part::Argument(number), argument.clone());
    }
    let mut lines = |name: Option<&String>, text: &[u8]| {
        for (line, number) in text.split_inclusive(|byte| *byte == b'\n').zip(1..) {
            parts.insert(Part::Line(name.cloned(), number), line.to_vec());
        }
    };
    lines(None, &invocation.stdin);
    for (name, contents) in &invocation.files {
        lines(Some(name), contents.as_deref().unwrap_or_default());
    }
    for (name, contents) in &invocation.files {
        if contents.is_none() {
            parts.insert(Part::Missing(name.clone()), Vec::new());
        }
    }
    for (name, value) in &invocation.variables {
        if let Some(value) = value {
            parts.insert(Part::Variable(name.clone()), value.clone());
        }
    }
    parts.extend(invocation.failing.iter().map(|number| (Part::FailingAllocation(*number), Vec::new())));
    parts
}

fn of_value(path: &str, value: &Value, parts: &mut Parts) {
    match value {
        Value::Object(members) if !members.is_empty() => {
            members.iter().for_each(|(name, value)| of_value(&format!("{path}.{name}"), value, parts));
        }
        Value::Array(values) if !values.is_empty() => {
            let elements = values.iter().zip(0_usize..);
            elements.for_each(|(value, index)| of_value(&format!("{path}[{index}]"), value, parts));
        }
        value => {
            parts.insert(Part::Value(path.to_owned()), value.to_string().into_bytes());
        }
    }
}

/// How different two inputs are: parts that one lacks, and bytes between the first and the last that differ.
fn distance(old: &Parts, new: &Parts) -> usize {
    let lacking = |one: &Parts, other: &Parts| -> usize {
        one.iter().filter(|(part, _)| !other.contains_key(part)).map(|(_, text)| 2 + text.len()).sum()
    };
    let changed = new.iter().filter_map(|(part, text)| Some((old.get(part)?, text)));
    let changed: usize = changed.map(|(before, now)| bytes_apart(before, now)).sum();
    lacking(old, new) + lacking(new, old) + changed
}

fn bytes_apart(before: &[u8], now: &[u8]) -> usize {
    if before == now {
        return 0;
    }
    let same_ahead = before.iter().zip(now).take_while(|(a, b)| a == b).count();
    let (before, now) = (&before[same_ahead..], &now[same_ahead..]);
    let same_behind = before.iter().rev().zip(now.iter().rev()).take_while(|(a, b)| a == b).count();
    1 + before.len().max(now.len()) - same_behind
}

/// What is different, a part each; of many the first ones.
fn differences(old: &Parts, new: &Parts) -> Vec<String> {
    let mut told = Vec::new();
    for (part, now) in new {
        match old.get(part) {
            Some(before) if before == now => {}
            Some(before) => told.push(format!(
                "{} is {} instead of {}",
                named(part),
                shown(part, now),
                shown(part, before)
            )),
            None => told.push(match part {
                Part::Missing(name) => format!("there is no {name}"),
                Part::FailingAllocation(number) => format!("allocation {number} fails"),
                Part::Argument(_) | Part::Line(..) | Part::Variable(_) | Part::Value(_) => {
                    format!("{} {} is added", named(part), shown(part, now))
                }
            }),
        }
    }
    let lacking = old.keys().filter(|part| !new.contains_key(part));
    told.extend(lacking.map(|part| match part {
        Part::Missing(name) => format!("there is {name}"),
        Part::FailingAllocation(number) => format!("allocation {number} succeeds"),
        Part::Argument(_) | Part::Line(..) | Part::Variable(_) | Part::Value(_) => {
            format!("{} is left out", named(part))
        }
    }));
    if told.is_empty() {
        told.push("nothing that a person would see".to_owned());
    }
    if told.len() > SHOWN + 1 {
        let n_more = told.len() - SHOWN;
        told.truncate(SHOWN);
        told.push(format!("{n_more} more differences"));
    }
    told
}

fn named(part: &Part) -> String {
    match part {
        Part::Argument(number) => format!("argument {number}"),
        Part::Line(None, number) => format!("line {number} of standard input"),
        Part::Line(Some(name), number) => format!("line {number} of {name}"),
        Part::Missing(name) | Part::Variable(name) | Part::Value(name) => name.clone(),
        Part::FailingAllocation(number) => format!("allocation {number}"),
    }
}

fn shown(part: &Part, text: &[u8]) -> String {
    if let Part::Value(_) = part {
        return String::from_utf8_lossy(text).chars().take(LONGEST).collect();
    }
    let cut = &text[..text.len().min(LONGEST)];
    let dots = if cut.len() < text.len() { "…" } else { "" };
    format!("{}{dots}", quoted(&latin(cut)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn invocation(arguments: &[&str], stdin: &str) -> Parts {
        of_invocation(&Invocation {
            arguments: arguments.iter().map(|argument| argument.as_bytes().to_vec()).collect(),
            stdin: stdin.as_bytes().to_vec(),
            ..Invocation::default()
        })
    }

    #[track_caller]
    fn check(old: &Parts, new: &Parts, expected: &[&str]) {
        assert_eq!(differences(old, new), expected);
    }

    #[test]
    fn differences_are_told_part_by_part() {
        let old = invocation(&["-x", "a"], "one\ntwo\n");
        check(&old, &invocation(&["-y", "a"], "one\ntwo\n"), &["argument 1 is \"-y\" instead of \"-x\""]);
        check(
            &old,
            &invocation(&["-x"], "one\n2\n"),
            &["line 2 of standard input is \"2\\n\" instead of \"two\\n\"", "argument 2 is left out"],
        );
        check(&old, &invocation(&["-x", "a", ""], "one\ntwo\n"), &["argument 3 \"\" is added"]);
        let mut value = Parts::new();
        of_value("p", &serde_json::json!({"x": 1, "v": [2, 3]}), &mut value);
        let mut other = value.clone();
        other.insert(Part::Value("p.v[1]".to_owned()), b"9".to_vec());
        check(&value, &other, &["p.v[1] is 9 instead of 3"]);
    }

    #[test]
    fn few_bytes_that_differ_are_nearer_than_many() {
        let old = invocation(&["-x"], "one two three\n");
        let near = distance(&old, &invocation(&["-x"], "one 2 three\n"));
        let far = distance(&old, &invocation(&["-x"], "completely different\n"));
        assert!(near < far && near > 0, "{near} {far}");
    }
}
