//! What `quarry-dev` prints is what the scripts of `bench/` read.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use cache::{Cache, DEFAULT_LIMIT};
use engine::campaign::SystemClock;
use runner::campaign::Order;
use runner::interrupt::Interrupt;
use runner::phases::Phases;
use runner::session::Session;
use runner::spec::{SourceSpec, Spec};
use runner::watcher::Nobody;
use serde_json::Value;

/// Runs `quarry-dev` in a directory.
fn quarry_dev(directory: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_quarry-dev"));
    command.args(arguments).current_dir(directory).env("QUARRY_CACHE", cache_directory());
    command.output().expect("quarry-dev starts")
}

/// What all tests share: the compiled runtime.
fn cache_directory() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache")
}

/// A loop, decisions of several conditions, and a branch that cannot be covered.
const COUNT: &str = "
int count(const int v[3], int wanted)
{
    int n = 0;

    for (int i = 0; i < 3; i++) {
        if (v[i] == 7)
            n++;
    }
    if (n == 3 && wanted == 5 && v[0] != 7)
        return 1; /* no input comes here: a search ends by its budget */
    return n == 2 && wanted > 5;
}
";

fn lines(arguments: &[&str]) -> Vec<Value> {
    let directory = tempfile::tempdir().expect("temporary directory");
    std::fs::write(directory.path().join("count.c"), COUNT).expect("writable");
    let command = [&["bench-strategies", "count.c", "--function", "count"], arguments].concat();
    let ran = quarry_dev(directory.path(), &command);
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    String::from_utf8_lossy(&ran.stdout)
        .lines()
        .map(|line| serde_json::from_str(line).expect("a line is JSON"))
        .collect()
}

#[test]
fn a_series_has_a_line_per_seed_and_its_curve_ends_at_what_was_covered() {
    let lines = lines(&["--run", "branch:pps:off:2:30", "--run", "mcdc:dfs:on:1:30"]);
    let campaigns: Vec<_> =
        lines.iter().map(|line| (line["criterion"].as_str(), line["seed"].as_u64())).collect();
    assert_eq!(campaigns, [(Some("branch"), Some(1)), (Some("branch"), Some(2)), (Some("mcdc"), Some(1))]);
    for line in &lines {
        let (last, decisions) = (last(&line["curve"]), last(&line["decision_curve"]));
        assert_eq!(last.1, line["n_covered"], "{line}");
        assert_eq!(decisions.1, line["n_decisions_covered"], "{line}");
        assert!(last.0.as_u64() <= line["executions"].as_u64(), "{line}");
    }
}

fn last(curve: &Value) -> (Value, Value) {
    let point = curve.as_array().and_then(|points| points.last()).expect("something was covered");
    (point[0].clone(), point[1].clone())
}

#[test]
fn filtering_is_switched_per_series() {
    let lines = lines(&["--run", "branch:dfs:off:1:30", "--run", "branch:dfs:on:1:30"]);
    let filtered: Vec<_> = lines.iter().map(|line| line["filtered"].as_u64().expect("a number")).collect();
    assert!(filtered[0] == 0 && filtered[1] > 0, "{filtered:?}");
}

#[test]
fn what_does_not_exist_is_skipped_and_named() {
    let lines = lines(&["--run", "branch:no-such-strategy:off:3:30", "--run", "branch:bfs:off:1:30"]);
    assert_eq!(lines[0]["skipped"], "no-such-strategy");
    assert_eq!(lines[1]["strategy"], "bfs");
}

#[test]
fn overhead_is_measured_on_the_same_executions() {
    let lines = lines(&["--overhead", "2", "--overhead-executions", "6"]);
    let line = &lines[0];
    assert_eq!(line["executions"], 6);
    for criterion in ["branch", "mcdc"] {
        assert_eq!(line[criterion].as_array().map(Vec::len), Some(2), "{line}");
    }
}

#[test]
fn cells_are_named_by_the_keys_of_the_harness() {
    let directory = tempfile::tempdir().expect("temporary directory");
    let root = directory.path();
    let text = "int pair(char first, short second) { return first == second; }";
    std::fs::write(root.join("pair.c"), text).expect("writable");
    let sources = SourceSpec { files: vec!["pair.c".into()], ..SourceSpec::default() };
    let order = Order {
        until: None,
        spec: Spec { sources, ..Spec::default() },
        root: root.to_owned(),
        out: root.join("quarry.out"),
        title: None,
        command: Vec::new(),
        fresh: false,
        searches: true,
        confirm: false,
        format: None,
    };
    let mut session = Session {
        interrupt: &Interrupt::default(),
        clock: &SystemClock::start(),
        watcher: &mut Nobody,
        phases: &Phases::default(),
        cache: &Cache::open(&cache_directory(), DEFAULT_LIMIT),
    };
    runner::generate(order, &mut session).expect("a suite");
    let test = r#"{"schema": 1, "function": "pair", "input": {"first": -1, "second": 258}, "end": "returned", "covers": []}"#;
    std::fs::write(root.join("quarry.out/tests/extra.json"), test).expect("writable");
    let ran = quarry_dev(root, &["cells", "quarry.out"]);
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let lines = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert!(lines.contains("tests/extra.json 0:ff 1:102\n"), "{lines}");
    assert_eq!(quarry_dev(root, &["cells", "nowhere"]).status.code(), Some(2));
}
