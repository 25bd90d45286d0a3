//! Campaigns that are cut short lose nothing, and the same command goes on with them.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Resource, Rlimit, Signal, prlimit};
use serde_json::Value;

use crate::support::Bench;

/// Each rung is reached by way of the one below; the last one never.
fn ladder() -> String {
    let mut text = "int ladder(const unsigned char *s)\n{\n    unsigned h = 1;\n".to_owned();
    for rung in 0..48 {
        text.push_str(&format!(
            "    h = h * 31 + s[{rung}];\n    if ((s[{rung}] ^ (h >> 9 & 7)) != {})\n",
            65 + rung
        ));
        text.push_str(&format!("        return {rung};\n"));
    }
    text.push_str("    return h * 2 == 7;\n}\n");
    text
}

const LADDER: [&str; 7] = ["gen", "ladder.c", "--len", "s=48", "--criterion", "branch,decision", "--quiet"];

fn start(bench: &Bench, arguments: &[&str]) -> Child {
    let mut command = bench.command(&[&LADDER[..], arguments].concat());
    command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("quarry starts")
}

fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !holds() {
        assert!(Instant::now() < deadline, "{what} takes too long");
        sleep(Duration::from_millis(10));
    }
}

fn n_lines(bench: &Bench, file: &str) -> usize {
    fs::read_to_string(bench.path(file)).map_or(0, |text| text.lines().count())
}

/// Goals that the suite in the directory covers, as `quarry cover` measures it; every file must be readable.
fn measured(bench: &Bench) -> u64 {
    for directory in ["tests", "crashes", "hangs"] {
        for name in bench.list(&format!("quarry.out/{directory}")) {
            if name.ends_with(".json") {
                bench.json(&format!("quarry.out/{directory}/{name}"));
            }
        }
    }
    let goals = fs::read_to_string(bench.path("quarry.out/goals.jsonl")).expect("there");
    goals.lines().for_each(|line| drop(serde_json::from_str::<Value>(line).expect("a goal")));
    assert_eq!(bench.json("quarry.out/run.json")["state"], "running");
    let cover =
        ["cover", "ladder.c", "quarry.out", "--criterion", "branch,decision", "--message-format", "json"];
    bench.quarry(&cover).check(0, &[]).summary()["goals"]["covered"].as_u64().expect("a number")
}

#[test]
fn a_killed_campaign_is_gone_on_with() {
    let bench = Bench::new(&[("ladder.c", &ladder())]);
    let mut n_found = 0;
    for round in 1..=3 {
        let mut child = start(&bench, &["--budget", "60s"]);
        let n_before = n_lines(&bench, "quarry.out/journal.jsonl");
        wait_until("finding something", || {
            n_lines(&bench, "quarry.out/journal.jsonl") >= n_before + 2 + round
        });
        child.kill().expect("it is running");
        assert_eq!(child.wait().expect("it ends").signal(), Some(Signal::KILL.as_raw()));
        let n_now = measured(&bench);
        assert!(n_now >= n_found + 2, "round {round}: {n_now} goals after {n_found}");
        n_found = n_now;
    }
    let ran = bench.quarry(&[&LADDER[..], &["--max-executions", "0", "--message-format", "json"]].concat());
    let n_goals = ran.check(0, &[]).summary()["goals"]["covered"].as_u64().expect("a number");
    assert!(n_goals >= n_found, "{n_goals} of {n_found} were found again");
    let tests = bench.list("quarry.out/tests").into_iter().filter(|name| name.ends_with(".json"));
    let provenance = |name: String| bench.json(&format!("quarry.out/tests/{name}"))["provenance"].clone();
    let provenances: Vec<Value> = tests.map(provenance).collect();
    assert!(provenances.contains(&Value::from("solved")), "{provenances:?}");
    assert!(!provenances.contains(&Value::from("resumed")), "{provenances:?}");
    let run = bench.json("quarry.out/run.json");
    assert_eq!((&run["session"], &run["state"]), (&Value::from(4), &Value::from("finished")));
    assert!(!bench.path("quarry.out.old").exists());
}

#[test]
fn two_campaigns_in_one_directory_refuse_each_other() {
    let bench = Bench::new(&[("ladder.c", &ladder())]);
    let mut child = start(&bench, &["--budget", "60s"]);
    wait_until("the first search", || bench.path("quarry.out/run.json").exists());
    bench.quarry(&LADDER).check(2, &["another run of quarry (process ", "is using"]);
    bench.quarry(&[&LADDER[..], &["--fresh"]].concat()).check(2, &["another run of quarry"]);
    child.kill().expect("it is running");
    child.wait().expect("it ends");
    bench.quarry(&[&LADDER[..], &["--max-executions", "1"]].concat()).check(0, &[]);
}

#[test]
fn a_full_disk_keeps_what_was_found() {
    let bench = Bench::new(&[("ladder.c", &ladder())]);
    let child = start(&bench, &["--budget", "60s"]);
    wait_until("finding something", || n_lines(&bench, "quarry.out/journal.jsonl") >= 3);
    let nothing = Rlimit { current: Some(0), maximum: Some(0) };
    prlimit(Some(Pid::from_child(&child)), Resource::Fsize, nothing).expect("the limit is set");
    let output = child.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(74), "{said}");
    for part in ["cannot write", "File too large", "help: what was written stays"] {
        assert!(said.contains(part), "'{part}' is missing: {said}");
    }
    let n_found = measured(&bench);
    assert!(n_found >= 4, "{n_found}");
    let ran = bench.quarry(&[&LADDER[..], &["--max-executions", "0", "--message-format", "json"]].concat());
    assert!(ran.check(0, &[]).summary()["goals"]["covered"].as_u64() >= Some(n_found));
}

#[test]
fn a_finished_campaign_has_nothing_left_to_do() {
    let bench = Bench::new(&[("sign.c", "int sign(int x) { return x < 0 ? -1 : x > 0; }\n")]);
    bench.quarry(&["gen", "sign.c", "--quiet"]).check(0, &[]).shows(&["2 of 2 branches"]);
    let again = bench.quarry(&["gen", "sign.c", "--budget", "1s", "--quiet"]);
    again.check(0, &[]).shows(&["nothing left to do: every goal is covered, 2 of 2 (--fresh starts over)"]);
    let json =
        bench.quarry(&["gen", "sign.c", "--message-format", "json", "--quiet"]).check(0, &[]).summary();
    assert_eq!(json, bench.json("quarry.out/run.json")["result"]);
    let fresh = bench.quarry(&["gen", "sign.c", "--fresh", "--quiet"]);
    fresh.check(0, &[]).shows(&["2 of 2 branches covered by "]);
    assert!(bench.path("quarry.out.old/tests/test_001.json").exists(), "the last one is kept");
}

#[test]
fn another_program_or_another_question_starts_over() {
    let sign = "#include \"limit.h\"\nint sign(int x) { return x < LIMIT ? -1 : x > 0; }\n";
    let bench = Bench::new(&[("sign.c", sign), ("limit.h", "#define LIMIT 0\n")]);
    let generated = |arguments: &[&str]| bench.quarry(&[&["gen", "sign.c"], arguments].concat());
    generated(&[]).check(0, &[]);
    fs::write(bench.path("sign.c"), format!("/* a comment */{sign}")).expect("writable");
    generated(&[]).check(0, &[]).shows(&["nothing left to do"]);
    fs::write(bench.path("limit.h"), "#define LIMIT 10\n").expect("writable");
    generated(&[]).check(
        0,
        &["note: starting over: sign.c has changed (the earlier results will be kept in", "quarry.out.old)"],
    );
    generated(&["--criterion", "condition"]).check(0, &["--criterion was branch, now condition"]);
    generated(&["--criterion", "condition", "--", "-DX"]).check(0, &["flags is -DX"]);
}

#[test]
fn an_edited_test_is_executed_and_not_lost() {
    let lock = "int lock(unsigned x) { unsigned y = x * 2654435761u ^ x >> 7; if (y % 1000003 == 77) return 1; return 0; }\n";
    let bench = Bench::new(&[("lock.c", lock)]);
    bench.quarry(&["gen", "lock.c", "--max-executions", "1", "--quiet"]).check(0, &[]);
    let added = r#"{"schema": 1, "function": "lock", "input": {"x": 5}, "end": "returned", "covers": []}"#;
    fs::write(bench.path("quarry.out/tests/mine.json"), added).expect("writable");
    bench.quarry(&["gen", "lock.c", "--max-executions", "0", "--quiet"]).check(0, &[]);
    assert!(bench.path("quarry.out/tests/mine.json").exists());
    let journal = fs::read_to_string(bench.path("quarry.out/journal.jsonl")).expect("there");
    assert!(journal.contains(r#""provenance":"given","cells":"0:5""#), "{journal}");
}

#[test]
fn a_command_that_fails_leaves_an_earlier_suite_as_it_was() {
    let bench = Bench::new(&[("sign.c", "int sign(int x) { if (x < 0) return -1; return x > 0; }\n")]);
    bench.quarry(&["gen", "sign.c"]).check(0, &[]);
    fs::write(
        bench.path("quarry.out/tests/mine.json"),
        fs::read(bench.path("quarry.out/tests/test_001.json")).expect("there"),
    )
    .expect("writable");
    let files = || {
        let mut files = Vec::new();
        let mut left = vec![bench.path("")];
        while let Some(directory) = left.pop() {
            for entry in fs::read_dir(directory).expect("readable") {
                let path = entry.expect("readable").path();
                if path.is_dir() {
                    left.push(path);
                } else {
                    files.push((fs::read(&path).expect("readable"), path));
                }
            }
        }
        files.sort();
        files
    };
    let before = files();
    let wrong: [(&[&str], i32); 6] = [
        (&["--function", "nowhere"], 2),
        (&["--only", "elsewhere.c:3"], 2),
        (&["--criterion", "branhc"], 2),
        (&["--first-input", "missing.json"], 2),
        (&["--assume", "y > 0"], 2),
        (&["--", "-Dint=("], 20),
    ];
    for (options, code) in wrong {
        bench.quarry(&[&["gen", "sign.c"], options].concat()).check(code, &["error"]);
        assert!(files() == before, "{options:?} changed something");
    }
    // the hand-made test is part of a suite that is started over
    bench.quarry(&["gen", "sign.c", "--seed", "7"]).check(0, &["starting over"]);
    assert!(
        bench.path("quarry.out/tests/mine.json").exists()
            && bench.path("quarry.out.old/tests/mine.json").exists()
    );
}
