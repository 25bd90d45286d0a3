//! On which inputs do two versions of a program behave differently? Answered by native runs of both.
//!
//! Method: the old version is built like the new one, each input is carried over by its JSON form, and what native builds of both
//! return, change and print is compared, as expected results of tests are ([`crate::expected`]). What two runs of one version do not agree on
//! is not compared. Limits: versions whose function has other parameters are not compared, nor are inputs that the old version
//! cannot be given.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use cache::Cache;
use model::input::Input;
use report::differences::{DifferenceRecord, DifferencesRecord, DifferentValue};
use report::record::{Expected, SCHEMA};
use serde_json::Value;

use super::Version;
use crate::error::Error;
use crate::expected;
use crate::interrupt::Interrupt;
use crate::spec::Spec;
use crate::subject::{Need, Subject};
use crate::values::json::ValueError;

/// An input of the new version, and the file of its test if it has one.
pub struct Candidate {
    pub input: Input,
    pub test: Option<String>,
}

/// The version before, built for the same function.
pub fn old_subject(
    spec: &Spec,
    old: &Version,
    function: Option<&str>,
    work: &Path,
    cache: &Cache,
) -> Result<Subject, Error> {
    let mut spec = spec.clone();
    spec.sources = old.sources.clone();
    spec.criteria.since = None;
    spec.criteria.only = Vec::new();
    if spec.subject.program.is_none() {
        spec.subject.function = function.map(str::to_owned);
    }
    Subject::build(&spec, &old.root, work, Need::Model, cache)
}

/// Why the two cannot be given the same inputs, if that is so.
pub fn incomparable(old: &Subject, new: &Subject) -> Option<String> {
    let (Some(before), Some(after)) = (old.function_under_test(), new.function_under_test()) else {
        return None;
    };
    let kinds = |of: &testwriter::FunctionUnderTest<'_>| of.function.parameters.len();
    if kinds(&before) == kinds(&after) {
        return None;
    }
    Some(format!(
        "{} takes {} in the old version and {} now",
        new.function(),
        report::words::counted(kinds(&before), "parameter"),
        kinds(&after)
    ))
}

/// Runs all candidates on both versions; files go below `work`.
pub fn compare(
    old: &Subject,
    new: &Subject,
    candidates: &[Candidate],
    work: &Path,
    limit: Duration,
    interrupt: &Interrupt,
) -> Result<DifferencesRecord, Error> {
    let mut record = DifferencesRecord { schema: SCHEMA, ..DifferencesRecord::default() };
    if let Some(why) = incomparable(old, new) {
        record.not_compared.push(why);
        return Ok(record);
    }
    let (mut inputs, mut carried, mut numbers, mut reasons) =
        (Vec::new(), Vec::new(), Vec::new(), BTreeSet::new());
    for (number, candidate) in candidates.iter().enumerate() {
        match carried_over(old, by_position(old, new, new.to_json(&candidate.input))) {
            Ok(input) => {
                inputs.push(candidate.input.clone());
                carried.push(input);
                numbers.push(number);
            }
            Err(error) => _ = reasons.insert(format!("the old version cannot be given an input: {error}")),
        }
    }
    record.not_compared.extend(reasons);
    let after = expected::record(new, &inputs, &work.join("new"), limit, interrupt)?;
    let before = expected::record(old, &carried, &work.join("old"), limit, interrupt)?;
    let mut seen = BTreeSet::new();
    for (number, (after, before)) in
        after.iter().filter_map(|(number, after)| Some((*number, (after, before.get(number)?))))
    {
        record.compared += 1;
        let what = different(before, after);
        let input = new.to_json(&inputs[number]);
        if !what.is_empty() && seen.insert(input.to_string()) {
            record.differences.push(DifferenceRecord {
                test: candidates[numbers[number]].test.clone(),
                call: new.call(&inputs[number]),
                what,
                input,
                old: before.clone(),
                new: after.clone(),
            });
        }
    }
    // the smallest first
    record.differences.sort_by_cached_key(|difference| {
        let text = difference.input.to_string();
        (text.len(), text)
    });
    Ok(record)
}

/// Members that the old version does not have are left out, this many at most.
const MOST_LEFT_OUT: usize = 1000;

/// An input of the new version as one of the old.
fn carried_over(old: &Subject, mut input: Value) -> Result<Input, ValueError> {
    for _ in 0..MOST_LEFT_OUT {
        match old.read_json(&input) {
            Err(ValueError::Unknown { at, .. }) if remove(&mut input, &at) => {}
            read => return read,
        }
    }
    old.read_json(&input)
}

/// Takes away what a path such as `list.items[2].unit` names.
fn remove(value: &mut Value, path: &str) -> bool {
    let Some((parent, name)) = path.rsplit_once('.') else { return false };
    let mut inside = value;
    for part in parent.split('.') {
        let (member, indices) = part.split_once('[').map_or((part, ""), |(member, rest)| (member, rest));
        let Some(next) = inside.get_mut(member) else { return false };
        inside = next;
        for index in indices.split(['[', ']']).filter_map(|index| index.parse::<usize>().ok()) {
            let Some(next) = inside.get_mut(index) else { return false };
            inside = next;
        }
    }
    inside.as_object_mut().is_some_and(|members| members.remove(name).is_some())
}

/// An input with the names that the parameters have in the old version.
fn by_position(old: &Subject, new: &Subject, input: Value) -> Value {
    let (Some(before), Some(after)) = (old.function_under_test(), new.function_under_test()) else {
        return input;
    };
    let Value::Object(members) = input else { return input };
    let names = after.function.parameter_names().into_iter().zip(before.function.parameter_names());
    let names: BTreeMap<String, String> = names.collect();
    let renamed = members.into_iter().map(|(name, value)| (names.get(&name).cloned().unwrap_or(name), value));
    Value::Object(renamed.collect())
}

/// What is not the same; nothing of what one of them is not sure of.
fn different(old: &Expected, new: &Expected) -> Vec<DifferentValue> {
    let mut found = Vec::new();
    let mut differ = |what: &str, old: String, new: String| {
        found.push(DifferentValue { what: what.to_owned(), old, new });
    };
    if old.end.is_empty() || new.end.is_empty() {
        return found;
    }
    if old.end != new.end {
        differ("end", old.end.clone(), new.end.clone());
        return found;
    }
    let is_sure = |what: &str| {
        let is_about = |line: &String| line.strip_prefix(what).is_some_and(|rest| rest.starts_with(": "));
        !old.left_out.iter().chain(&new.left_out).any(is_about)
    };
    let names: Vec<&String> =
        new.values.keys().chain(old.values.keys().filter(|name| !new.values.contains_key(*name))).collect();
    for name in names {
        let (before, after) = (old.values.get(name), new.values.get(name));
        if before != after && is_sure(name) {
            let word = |value: Option<&Value>| value.map_or_else(|| "unchanged".to_owned(), Value::to_string);
            differ(name, word(before), word(after));
        }
    }
    for (what, before, after) in [("stdout", &old.stdout, &new.stdout), ("stderr", &old.stderr, &new.stderr)]
    {
        if before != after && is_sure(what) && is_sure("output") {
            let word = |text: &Option<String>| format!("{:?}", text.as_deref().unwrap_or_default());
            differ(what, word(before), word(after));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn returned(result: i32) -> Expected {
        let values = [("result".to_owned(), json!(result))].into_iter().collect();
        Expected { end: "returned".to_owned(), values, ..Expected::default() }
    }

    #[test]
    fn what_either_version_is_not_sure_of_is_no_difference() {
        let (old, mut new) = (returned(1), returned(2));
        assert_eq!(different(&old, &new).len(), 1);
        assert!(different(&old, &old).is_empty());
        new.left_out.push("result: two runs differ".to_owned());
        assert!(different(&old, &new).is_empty());
        let crash = Expected { end: "killed by signal 11".to_owned(), ..Expected::default() };
        let found = different(&old, &crash);
        assert_eq!((found.len(), found[0].what.as_str()), (1, "end"));
        assert!(different(&old, &Expected::default()).is_empty(), "it ends differently each time");
    }

    #[test]
    fn what_a_path_names_is_taken_away() {
        let mut value = json!({"p": [{"a": 1, "u": {"b": 2, "c": 3}}]});
        assert!(remove(&mut value, "p[0].u.b"));
        assert_eq!(value, json!({"p": [{"a": 1, "u": {"c": 3}}]}));
        assert!(!remove(&mut value, "p[1].a") && !remove(&mut value, "q.a") && !remove(&mut value, "p"));
    }

    #[test]
    fn a_value_that_one_version_leaves_alone_differs() {
        let old = Expected { end: "returned".to_owned(), ..Expected::default() };
        assert_eq!(different(&old, &returned(3))[0].old, "unchanged");
    }
}
