//! What a build yields is plain data: it survives being written and read, and it may move between threads.

#[path = "support/marking.rs"]
#[expect(dead_code, reason = "other tests mark fixtures of this crate")]
mod marking;

use std::path::Path;

use frontend::build::{self, Built, Request, build};
use frontend::harness::{Harness, find, generate};
use frontend::instrument::{Libraries, Mode};
use frontend::marks::Marks;
use frontend::sources::{CompileCommand, Sources};
use frontend::stubs;
use model::invocation::{InvocationLimits, InvocationShape};
use model::stub::Stubs;
use serde::Serialize;
use serde::de::DeserializeOwned;

#[track_caller]
fn check<T: Serialize + DeserializeOwned + PartialEq>(what: &T) {
    let text = serde_json::to_string(what).expect("plain data can be written");
    let read: T = serde_json::from_str(&text).expect("what was written can be read");
    assert!(read == *what, "{text}");
}

/// A function of a fixture, built with its harness and stubs.
fn check_build(fixture: &str, function: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures").join(fixture);
    let (marks, directory) = marking::mark_file(&file, &[], true);
    let key = find(&marks, function).expect("the function is defined");
    let harness = generate(&marks, &key, &Default::default()).expect("a harness");
    let cache = test_cache();
    let libraries = Libraries {
        root: directory.path(),
        target_flags: &[],
        link_flags: &[],
        work_dir: directory.path(),
        cache: &cache,
    };
    let stubs = stubs::generate(&marks, None, key.unit, &libraries, &Default::default(), harness.next_key)
        .expect("stubs");
    let request = Request {
        marks: &marks,
        units: None,
        harness: Some(build::AppendedCode { unit: key.unit, text: &harness.text }),
        stubs: &stubs.texts,
        work_dir: Path::new("work"),
        cache: &cache,
        link_flags: &[],
        modes: &[Mode::Fast, Mode::Symbolic],
        watch: |_| model::walk::Watch::default(),
        free_of_input: |_| Default::default(),
    };
    let built = build(&request).expect("a program that builds");
    check(&marks);
    check(&harness);
    check(&stubs);
    check(&built);
    let sources = Sources { files: vec![file], ..Sources::below(directory.path()) };
    check(&sources.commands().expect("a readable file"));
}

#[test]
fn a_function_that_needs_stubs_survives_being_stored() {
    check_build("calls/objects.c", "greet");
}

#[test]
fn a_function_with_callbacks_survives_being_stored() {
    check_build("inputs/callback_table.c", "dispatch");
}

#[test]
fn a_function_with_a_switch_survives_being_stored() {
    check_build("branch/case_ranges.c", "classify_code");
}

#[test]
fn the_shape_of_an_invocation_survives_being_stored() {
    let limits = InvocationLimits {
        arguments: 2,
        length: 4,
        stdin: 8,
        files: vec![("settings".to_owned(), 9)],
        variables: vec!["HOME".to_owned()],
        allocations: 3,
    };
    check(&InvocationShape::new(&limits));
}

#[test]
fn what_a_build_yields_may_move_between_threads() {
    fn is_send<T: Send + Sync + 'static>() {}
    is_send::<Marks>();
    is_send::<Harness>();
    is_send::<Stubs>();
    is_send::<Built>();
    is_send::<CompileCommand>();
}

/// What all tests share: the compiled runtime.
fn test_cache() -> cache::Cache {
    cache::Cache::open(&Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache"), cache::DEFAULT_LIMIT)
}
