//! How much must a program be given so that it can be given what its tests give?
//!
//! Method: every limit is raised to the largest that a test needs, and files and variables are added by name. If tests name
//! many different files, these get common names, the first of each test `input1`, the second `input2`: what a test calls its
//! file seldom matters, and the search varies each file that there is.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use model::invocation::{Invocation, MAX_FILES, MAX_VARIABLES};
use serde_json::Value;

use super::{Found, FoundTest, Given};
use crate::spec::{ProgramSpec, Spec};
use crate::values::invocation;

/// Different files that keep their own names.
const MOST_OWN_NAMES: usize = 6;

/// Raises the limits of a program to what its tests need, and notes what was raised.
pub fn widen(spec: &mut Spec, found: &mut Found) {
    let Some(program) = &mut spec.subject.program else { return };
    let before = program.clone();
    for run in &found.runs {
        if let Some(known) = &run.subject.program {
            widen_to(program, known);
        }
    }
    for test in &found.tests {
        if let Some(invocation) = invocation_of(test) {
            give_room(program, &invocation);
        }
    }
    program.files.truncate(MAX_FILES - 1);
    program.env.truncate(MAX_VARIABLES);
    if let Some(note) = told(&before, program) {
        found.notes.push(note);
    }
}

/// What a program is given by a test, as far as that can be said without the program.
fn invocation_of(test: &FoundTest) -> Option<Invocation> {
    match &test.given {
        Given::Invocation(invocation) => Some(invocation.clone()),
        Given::Objects(test) => test.invocation().ok(),
        Given::Json(value) => {
            let calls: Vec<&str> =
                value.as_object()?.keys().map(String::as_str).filter(|name| name.ends_with("()")).collect();
            invocation::from_json(value, &calls).ok().map(|(invocation, _): (_, Value)| invocation)
        }
        Given::Bytes(_) | Given::Results(_) => None,
    }
}

fn widen_to(program: &mut ProgramSpec, known: &ProgramSpec) {
    program.max_args = program.max_args.max(known.max_args);
    program.arg_len = program.arg_len.max(known.arg_len);
    program.stdin_size = program.stdin_size.max(known.stdin_size);
    known.files.iter().for_each(|(name, size)| add_file(program, name, *size));
    known.env.iter().for_each(|name| add_variable(program, name));
    program.failing_allocations = program.failing_allocations.max(known.failing_allocations);
}

fn give_room(program: &mut ProgramSpec, invocation: &Invocation) {
    let n_arguments = invocation.arguments.len() as u64;
    if n_arguments > program.arguments() {
        program.max_args = Some(n_arguments);
    }
    let values = invocation.variables.iter().filter_map(|(_, value)| value.as_ref());
    for text in invocation.arguments.iter().chain(values) {
        program.arg_len = program.arg_len.max(text.len() as u64);
    }
    program.stdin_size = program.stdin_size.max(invocation.stdin.len() as u64);
    for (name, contents) in &invocation.files {
        add_file(program, name, contents.as_ref().map_or(0, Vec::len) as u64);
    }
    invocation.variables.iter().for_each(|(name, _)| add_variable(program, name));
    let most = invocation.failing.iter().copied().max().unwrap_or(0);
    program.failing_allocations = program.failing_allocations.max(most);
}

fn add_file(program: &mut ProgramSpec, name: &str, size: u64) {
    /// Bytes of a file that the search may give, however small those of the tests are.
    const ROOM: u64 = 64;
    match program.files.iter_mut().find(|(known, _)| known == name) {
        Some((_, most)) => *most = (*most).max(size),
        None => program.files.push((name.to_owned(), size.max(ROOM))),
    }
}

fn add_variable(program: &mut ProgramSpec, name: &str) {
    if !program.env.iter().any(|known| known == name) {
        program.env.push(name.to_owned());
    }
}

/// What was raised, as options.
fn told(before: &ProgramSpec, now: &ProgramSpec) -> Option<String> {
    let mut options = Vec::new();
    if before.max_args != now.max_args {
        options.push(format!("--max-args {}", now.arguments()));
    }
    if before.arg_len != now.arg_len {
        options.push(format!("--arg-len {}", now.arg_len));
    }
    if before.stdin_size != now.stdin_size {
        options.push(format!("--stdin-size {}", now.stdin_size));
    }
    for file in now.files.iter().filter(|file| !before.files.contains(file)) {
        options.push(format!("--file {}={}", file.0, file.1));
    }
    for name in now.env.iter().filter(|name| !before.env.contains(name)) {
        options.push(format!("--env {name}"));
    }
    (!options.is_empty()).then(|| format!("the tests need {}", options.join(" ")))
}

/// Lets tests that name many different files name the same ones.
pub(super) fn share_files(found: &mut Found) {
    let invocations = found.tests.iter().filter_map(|test| match &test.given {
        Given::Invocation(invocation) => Some(invocation),
        _ => None,
    });
    let names: BTreeSet<String> =
        invocations.flat_map(|invocation| invocation.files.iter().map(|(name, _)| name.clone())).collect();
    if names.len() <= MOST_OWN_NAMES {
        return;
    }
    let extensions: BTreeSet<String> = names.iter().map(|name| extension(name)).collect();
    // as many kinds of files as there is room for
    let keeps_extension = extensions.len() <= MOST_OWN_NAMES;
    for test in &mut found.tests {
        if let Given::Invocation(invocation) = &mut test.given {
            rename_files(invocation, keeps_extension);
        }
    }
    found.notes.push(format!(
        "the tests name {} files, which are called input1, input2, … in all of them",
        names.len()
    ));
}

fn extension(name: &str) -> String {
    Path::new(name).extension().map(|it| format!(".{}", it.to_string_lossy())).unwrap_or_default()
}

fn rename_files(invocation: &mut Invocation, keeps_extension: bool) {
    let mut renamed: BTreeMap<String, String> = BTreeMap::new();
    for ((name, _), number) in invocation.files.iter_mut().zip(1..) {
        let extension = if keeps_extension { extension(name) } else { String::new() };
        let new = format!("input{number}{extension}");
        renamed.insert(std::mem::replace(name, new.clone()), new);
    }
    for argument in &mut invocation.arguments {
        let Ok(text) = std::str::from_utf8(argument) else { continue };
        let (option, name) = match text.split_once('=') {
            Some((option, value)) if option.starts_with('-') => (format!("{option}="), value),
            _ => (String::new(), text),
        };
        if let Some(new) = renamed.get(name) {
            *argument = format!("{option}{new}").into_bytes();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program() -> ProgramSpec {
        ProgramSpec {
            max_args: None,
            arg_len: 16,
            stdin_size: 8,
            files: Vec::new(),
            env: Vec::new(),
            failing_allocations: 0,
        }
    }

    fn test(arguments: &[&str], files: &[(&str, &str)]) -> FoundTest {
        let file = |(name, contents): &(&str, &str)| ((*name).to_owned(), Some(contents.as_bytes().to_vec()));
        let invocation = Invocation {
            arguments: arguments.iter().map(|argument| argument.as_bytes().to_vec()).collect(),
            files: files.iter().map(file).collect(),
            ..Invocation::default()
        };
        FoundTest { name: String::new(), origin: String::new(), given: Given::Invocation(invocation) }
    }

    #[test]
    fn limits_are_raised_to_what_tests_need() {
        let mut spec = Spec::default();
        spec.subject.program = Some(program());
        let long = "x".repeat(20);
        let mut found =
            Found { tests: vec![test(&["a", &long, "c", "d", "e"], &[("f", "12")])], ..Found::default() };
        widen(&mut spec, &mut found);
        assert_eq!(found.notes, ["the tests need --max-args 5 --arg-len 20 --file f=64"]);
        widen(&mut spec, &mut found);
        assert_eq!(found.notes.len(), 1, "nothing is raised twice");
    }

    #[test]
    fn many_files_get_common_names() {
        let names: Vec<String> = (0..8).map(|number| format!("t{number}.csv")).collect();
        let tests = names.iter().map(|name| test(&["-x", &format!("--in={name}"), name], &[(name, "a")]));
        let mut found = Found { tests: tests.collect(), ..Found::default() };
        share_files(&mut found);
        let expected = test(&["-x", "--in=input1.csv", "input1.csv"], &[("input1.csv", "a")]);
        assert!(found.tests.iter().all(|test| *test == expected), "{:?}", found.tests);
    }
}
