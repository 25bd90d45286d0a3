//! What is seen of a campaign while it goes.

use std::process::Command;

use serde_json::Value;

use crate::support::{Bench, Ran};

/// A goal that no input reaches: the search ends by its budget.
const ENDLESS: &str = "\
int hash(const unsigned char *bytes)
{
    unsigned h = 1;
    for (int i = 0; i < 64; i++)
        h = h * (bytes[i] & 1 ? 31 : 17) | 1;
    return h == 0 ? 1 : 0;
}
";

const GEN: [&str; 7] = ["gen", "hash.c", "--len", "bytes=64", "--budget", "2500ms", "--no-prove"];

/// What a terminal is told.
fn on_terminal(bench: &Bench, no_color: bool) -> String {
    let quarry = bench.command(&GEN);
    let line = std::iter::once(quarry.get_program()).chain(quarry.get_args());
    let line: Vec<_> = line.map(|word| word.to_str().expect("UTF-8")).collect();
    let mut script = Command::new("script");
    script.args(["-qec", &line.join(" "), "/dev/null"]).current_dir(bench.path("")).env("TERM", "xterm");
    if no_color {
        script.env("NO_COLOR", "1");
    } else {
        script.env_remove("NO_COLOR");
    }
    let ran: Ran = script.output().expect("script starts").into();
    ran.check(0, &[]);
    ran.stdout
}

#[test]
fn a_terminal_shows_lines_that_change_in_place() {
    let bench = Bench::new(&[("hash.c", ENDLESS)]);
    let told = on_terminal(&bench, false);
    assert!(told.contains("\r\x1b[2A"), "to the first of three lines: {told:?}");
    assert!(told.contains("5 of 6 goals covered\x1b[0m\x1b[33m, 1 open"), "{told:?}");
    assert!(told.contains("last new goal") && told.contains("executions ("), "{told:?}");
    let cleared = told.rfind("\r\x1b[2A\x1b[J").expect("the lines are taken away");
    assert!(told.find("test_001").is_some_and(|report| report > cleared), "before the report: {told:?}");
    let plain = on_terminal(&bench, true);
    assert!(plain.contains("5 of 6 goals covered, 1 open") && !plain.contains("\x1b[3"), "{plain:?}");
}

#[test]
fn programs_are_told_events_before_the_result() {
    let bench = Bench::new(&[("hash.c", ENDLESS)]);
    let ran = bench.quarry(&[&GEN[..], &["--message-format", "json"]].concat());
    ran.check(0, &[]);
    assert_eq!(ran.stderr, "", "everything is on stdout");
    let lines: Vec<Value> =
        ran.stdout.lines().map(|line| serde_json::from_str(line).expect("an object a line")).collect();
    let of = |event: &str| lines.iter().filter(|line| line["event"] == event).collect::<Vec<_>>();
    assert!(of("found").iter().any(|found| found["kind"] == "test" && found["new"].as_u64() > Some(0)));
    let progress = of("progress");
    let last = progress.last().expect("one a second");
    assert_eq!((&last["function"], &last["goals"]["undecided"]), (&Value::from("hash"), &Value::from(1)));
    for member in ["executions_per_second", "solver_percent", "seconds_since_new", "seconds_left"] {
        assert!(last[member].is_number(), "{member}: {last}");
    }
    assert!(ran.summary().get("event").is_none(), "the last line is the result");
    let quiet = bench.quarry(&[&GEN[..], &["--message-format", "json", "--quiet"]].concat());
    assert_eq!(quiet.check(0, &[]).stdout.lines().count(), 1, "the result alone");
}
