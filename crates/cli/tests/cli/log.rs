//! `--log FILE`: what a run says of its steps, and that nobody is told who did not ask.

use std::fs;

use crate::support::Bench;

const SOURCE: &str = "int f(int a, int b) { if (a * b == 1517 && a > b && b > 1) return 1; return 0; }\n";
const GENERATE: [&str; 6] = ["gen", "f.c", "--function", "f", "--max-executions", "20"];

/// The log of a run with these options; empty when there is none.
fn log(options: &[&str]) -> String {
    let bench = Bench::new(&[("f.c", SOURCE)]);
    bench.quarry(&[&GENERATE[..], options].concat()).check(0, &[]);
    fs::read_to_string(bench.path("steps.log")).unwrap_or_default()
}

#[test]
fn every_step_is_logged_with_its_time() {
    let steps = log(&["--log", "steps.log"]);
    for step in ["preprocess", "mark", "compile", "link", "lower", "instrument", "campaign"] {
        let is_step = |line: &&str| line.contains(step) && line.contains("close time.busy=");
        let line = steps.lines().find(is_step).unwrap_or_else(|| panic!("no {step} in\n{steps}"));
        assert!(line.starts_with("20") && line.contains(" INFO "), "{line}");
    }
    assert!(steps.contains("search ends"), "{steps}");
    assert!(!steps.contains(" DEBUG ") && !steps.contains(" TRACE "), "{steps}");
}

#[test]
fn timings_list_the_phases_of_the_build() {
    let bench = Bench::new(&[("f.c", SOURCE)]);
    let phases = ["\n  compile ", "\n  instrument ", "\n  mark ", "\n  preprocess "];
    bench.quarry(&[&GENERATE[..], &["--timings"]].concat()).check(0, &phases);
}

#[test]
fn levels_add_jobs_queries_and_executions() {
    let has =
        |text: &str, parts: &[&str]| text.lines().any(|line| parts.iter().all(|part| line.contains(part)));
    let debug = log(&["--log", "steps.log", "--log-level", "debug"]);
    assert!(has(&debug, &["DEBUG", "query", "verdict=sat", "time="]), "{debug}");
    assert!(has(&debug, &["DEBUG", "job done", "n_covered="]), "{debug}");
    assert!(!has(&debug, &["TRACE"]), "{debug}");
    let trace = log(&["--log", "steps.log", "--log-level", "trace"]);
    assert!(has(&trace, &["TRACE", "execution", "end=returned"]), "{trace}");
}

#[test]
fn a_log_that_cannot_be_written_is_a_usage_error() {
    let bench = Bench::new(&[("f.c", SOURCE)]);
    let ran = bench.quarry(&[&GENERATE[..], &["--log", "nowhere/steps.log"]].concat());
    ran.check(2, &["cannot write the log nowhere/steps.log", "help: name a file"]);
    assert!(!bench.path("quarry.out").exists());
}

#[test]
fn variables_name_file_and_level() {
    let bench = Bench::new(&[("f.c", SOURCE)]);
    let mut command = bench.command(&["goals", "f.c", "--function", "f"]);
    let output = command.env("QUARRY_LOG", "steps.log").env("QUARRY_LOG_LEVEL", "debug").output();
    assert!(output.expect("it runs").status.success());
    assert!(fs::read_to_string(bench.path("steps.log")).expect("a log").contains("preprocess"));
}
