//! What the commands leave behind and print, on real runs.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::{Bench, Ran};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

const TRIANGLE: &str = "\
enum kind { NONE, EQUILATERAL, ISOSCELES, SCALENE };
enum kind triangle(int a, int b, int c)
{
    if (a <= 0 || b <= 0 || c <= 0)
        return NONE;
    if (a == b && b == c)
        return EQUILATERAL;
    return a == b || b == c || a == c ? ISOSCELES : SCALENE;
}
";

/// A loop whose paths have no end, and a goal that no input reaches.
const ENDLESS: &str = "\
int hash(const unsigned char *bytes)
{
    unsigned h = 1;
    for (int i = 0; i < 64; i++) {
        if (bytes[i] & 1)
            h = h * 31 + bytes[i];
        else
            h = h * 17 ^ bytes[i];
        h |= 1;
    }
    if (h == 0)
        return 1;
    return 0;
}
";

#[test]
fn the_suite_is_printed_for_a_person() {
    let bench = Bench::new(&[("triangle.c", TRIANGLE)]);
    let ran = bench.quarry(&["gen", "triangle.c", "--function", "triangle"]);
    ran.check(0, &[]).shows(&[
        "test_001  triangle(a = ",
        "returned  [zero]",
        "returned  [solved]",
        "triangle.c:4:9  (a <= 0 || b <= 0 || c <= 0) is true",
        "6 of 6 branches covered by ",
        "results: ",
    ]);
}

#[test]
fn the_last_line_is_the_documented_object() {
    let bench = Bench::new(&[("triangle.c", TRIANGLE)]);
    let ran = bench.quarry(&[
        "gen",
        "triangle.c",
        "--message-format",
        "json",
        "--criterion",
        "branch,condition",
        "--quiet",
    ]);
    ran.check(0, &[]);
    let summary = ran.summary();
    let keys: Vec<_> = summary.as_object().expect("an object").keys().map(String::as_str).collect();
    let documented = [
        "schema",
        "goals",
        "per_criterion",
        "tests",
        "executions",
        "queries",
        "divergences",
        "crashes",
        "seconds",
        "stop",
        "out",
    ];
    assert_eq!(keys, documented);
    assert_eq!(summary["schema"], 1);
    assert_eq!(
        summary["per_criterion"]["branch"],
        json!({"total": 6, "covered": 6, "infeasible": 0, "infeasible_bounded": 0, "undecided": 0})
    );
    assert_eq!(summary["per_criterion"]["condition"]["total"], 16);
    assert_eq!(summary["stop"], "complete");
    assert!(ran.stderr.is_empty(), "quiet: {}", ran.stderr);
}

#[test]
fn the_output_directory_has_its_documented_parts() {
    let bench = Bench::new(&[("triangle.c", TRIANGLE)]);
    bench.quarry(&["gen", "triangle.c", "-o", "out"]).check(0, &[]);
    assert_eq!(
        bench.list("out"),
        [
            "coverage",
            "crashes",
            "goals.jsonl",
            "hangs",
            "harness",
            "journal.jsonl",
            "logs",
            "report",
            "run.json",
            "tests"
        ]
    );
    assert_eq!(bench.list("out/harness"), ["harness.c"]);
    assert_eq!(bench.list("."), ["out", "triangle.c"], "nothing is written elsewhere");
    let run = bench.json("out/run.json");
    assert_eq!(run["function"], "triangle");
    assert_eq!(run["result"]["stop"], "complete");
    let test = bench.json("out/tests/test_001.json");
    assert!(test["input"]["a"].is_i64(), "{test}");
    assert_eq!(test["end"], "returned");
    let goals = fs::read_to_string(bench.path("out/goals.jsonl")).expect("written");
    let first: Value = serde_json::from_str(goals.lines().next().expect("a goal")).expect("JSON");
    assert_eq!(
        (&first["file"], &first["line"], &first["column"]),
        (&json!("triangle.c"), &json!(4), &json!(9))
    );
    assert_eq!(first["state"], "covered");
}

#[test]
fn the_same_seed_gives_the_same_tests() {
    let bench = Bench::new(&[("triangle.c", TRIANGLE)]);
    for strategy in ["dfs", "bfs", "random-path", "random-input", "generational"] {
        let suite = |out: &str| {
            let ran = bench.quarry(&[
                "gen",
                "triangle.c",
                "--strategy",
                strategy,
                "--seed",
                "7",
                "--max-executions",
                "40",
                "-o",
                out,
            ]);
            ran.check(0, &[]);
            let names = bench.list(&format!("{out}/tests"));
            let read = |name: &String| fs::read(bench.path(out).join("tests").join(name)).expect("readable");
            names.iter().map(|name| (name.clone(), read(name))).collect::<Vec<_>>()
        };
        assert!(suite("one") == suite("two"), "{strategy} does not repeat");
    }
}

#[test]
fn an_interrupted_run_keeps_what_it_found() {
    let bench = Bench::new(&[("hash.c", ENDLESS)]);
    let mut command =
        bench.command(&["gen", "hash.c", "--len", "bytes=64", "--no-prove", "--message-format", "json"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("quarry starts");
    let deadline = Instant::now() + Duration::from_secs(60);
    // the harness is written when the search is about to start
    while !bench.path("quarry.out/harness/harness.c").exists() {
        assert!(Instant::now() < deadline, "the search does not start");
        assert!(child.try_wait().expect("alive").is_none(), "ended before it was interrupted");
        std::thread::sleep(Duration::from_millis(50));
    }
    std::thread::sleep(Duration::from_millis(1500));
    kill_process(Pid::from_child(&child), Signal::INT).expect("it is running");
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.signal(), None);
    let ran = Ran::from(output);
    ran.check(130, &["interrupted"]);
    assert_eq!(ran.summary()["stop"], "interrupted");
    assert!(bench.list("quarry.out/tests").iter().any(|name| name == "test_001.json"), "tests are kept");
    assert_eq!(bench.json("quarry.out/run.json")["result"]["stop"], "interrupted");
    assert!(!bench.path("quarry.out/.work").exists(), "build files are removed");
    // there was no time to check them
    assert_eq!(ran.summary()["unchecked"], ran.summary()["tests"]);
    assert_eq!(bench.json("quarry.out/tests/test_001.json")["unchecked"], true);
    let replay = bench.path("quarry.out/tests/replay.c");
    let replayed = || std::fs::read_to_string(&replay).expect("it is written").contains("test_001");
    assert!(!replayed(), "tests that were not checked are left out");
    let export = bench.quarry(&["export", "--format", "c", "-o", "exported"]);
    export.check(1, &["test_001", "not checked with sanitizers"]);
    let resumed =
        ["gen", "hash.c", "--len", "bytes=64", "--no-prove", "--message-format", "json", "--budget", "8s"];
    let resumed = bench.quarry(&resumed);
    resumed.check(0, &[]);
    assert_eq!(resumed.summary()["unchecked"], serde_json::Value::Null);
    assert!(replayed());
}

/// A command with a compiler that never ends when its words match a pattern of the shell; it leaves its number in `started`.
fn with_endless_compiler(bench: &Bench, pattern: &str, arguments: &[&str]) -> Command {
    let slow = format!(
        "#!/bin/sh\ncase \"$*\" in {pattern}) echo $$ > started; exec sleep 100;; esac\n\
         PATH=$USUAL_PATH exec clang-19 \"$@\"\n"
    );
    let directory = bench.path("slow");
    fs::create_dir_all(&directory).expect("a new directory");
    fs::write(directory.join("clang-19"), slow).expect("writable");
    fs::set_permissions(directory.join("clang-19"), fs::Permissions::from_mode(0o755)).expect("ours");
    let usual = std::env::var("PATH").expect("a path");
    let mut command = bench.command(arguments);
    command.env("PATH", format!("{}:{usual}", directory.display())).env("USUAL_PATH", usual);
    command
}

/// Interrupts a build as soon as something holds; it must end soon.
#[track_caller]
fn check_interrupted<T>(bench: &Bench, mut command: Command, when: impl Fn() -> Option<T>) -> T {
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("quarry starts");
    let deadline = Instant::now() + Duration::from_secs(60);
    let found = loop {
        match when() {
            Some(found) => break found,
            None => assert!(Instant::now() < deadline, "the phase does not begin"),
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let interrupted = Instant::now();
    kill_process(Pid::from_child(&child), Signal::INT).expect("it is running");
    let output = child.wait_with_output().expect("it ends");
    // a second, and what a busy machine adds
    assert!(interrupted.elapsed() < Duration::from_secs(5), "{:?}", interrupted.elapsed());
    Ran::from(output).check(130, &[]);
    assert!(!bench.path("quarry.out/.work").exists(), "build files are removed");
    found
}

/// The process that an endless compiler is, as soon as it runs.
fn endless_compiler(bench: &Bench) -> Option<i32> {
    fs::read_to_string(bench.path("started")).ok()?.trim().parse().ok()
}

#[track_caller]
fn check_gone(compiler: i32) {
    let stat = || fs::read_to_string(format!("/proc/{compiler}/stat")).unwrap_or_default();
    // it has the pid until somebody, here init, has seen that it ended
    let is_gone = |stat: &str| stat.is_empty() || stat.contains(") Z");
    // on a busy machine, one that was told to end waits for a processor
    let deadline = Instant::now() + Duration::from_secs(5);
    while !is_gone(&stat()) {
        assert!(Instant::now() < deadline, "the compiler is gone, not {}", stat());
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_build_that_is_interrupted_ends_at_once_and_its_compiler_with_it() {
    // looking for changes, preprocessing, compiling
    for pattern in ["*-E*triangle.c*", "*-dump-tokens*triangle.c*", "*-emit-llvm*triangle*"] {
        let bench = Bench::new(&[("triangle.c", TRIANGLE)]).with_own_cache();
        let arguments = ["gen", "triangle.c", "--function", "triangle", "--quiet"];
        let command = with_endless_compiler(&bench, pattern, &arguments);
        check_gone(check_interrupted(&bench, command, || endless_compiler(&bench)));
    }
}

#[test]
fn every_command_that_builds_again_hears_the_first_interrupt() {
    let bench = Bench::new(&[("triangle.c", TRIANGLE)]).with_own_cache();
    bench.quarry(&["gen", "triangle.c", "--function", "triangle", "--no-sanitize"]).check(0, &[]);
    let commands: [&[&str]; 7] = [
        &["goals", "triangle.c", "--no-cache"],
        &["cover", "triangle.c", "quarry.out", "--no-cache"],
        &["replay", "quarry.out", "--no-cache"],
        &["confirm", "quarry.out", "--no-cache"],
        &["check-proof", "quarry.out", "--no-cache"],
        &["explain", "quarry.out", "triangle.c:4", "--no-cache"],
        &["export", "quarry.out", "--format", "c", "-o", "exported", "--no-cache"],
    ];
    for arguments in commands {
        let command = with_endless_compiler(&bench, "*-E*triangle.c*", arguments);
        let _ = fs::remove_file(bench.path("started"));
        check_gone(check_interrupted(&bench, command, || endless_compiler(&bench)));
    }
    bench.quarry(&["replay", "quarry.out"]).check(0, &[]);
}

#[test]
fn a_build_that_is_interrupted_while_code_is_made_ends_at_once() {
    let branches: String = (0..4000).map(|n| format!("    if (a > {n} && b != {n}) s += {n};\n")).collect();
    let text = format!("int many(int a, int b)\n{{\n    int s = 0;\n{branches}    return s;\n}}\n");
    // instrumenting, and generating code
    for phase_before in ["lower", "optimise"] {
        let bench = Bench::new(&[("many.c", &text)]).with_own_cache();
        let command = bench.command(&["gen", "many.c", "--quiet", "--log", "steps.log"]);
        let log = || fs::read_to_string(bench.path("steps.log")).unwrap_or_default();
        let is_closed = |log: &str, phase: &str| {
            let ends = format!("{phase}: frontend");
            log.lines().any(|line| line.contains(&ends) && line.contains("close"))
        };
        let log =
            check_interrupted(&bench, command, || Some(log()).filter(|log| is_closed(log, phase_before)));
        assert!(!is_closed(&log, "link program"), "its phases are over: {log}");
    }
}

#[test]
fn too_little_coverage_fails_when_asked() {
    let bench = Bench::new(&[("hash.c", ENDLESS)]);
    // what no input covers lowers no percentage
    let arguments =
        ["gen", "hash.c", "--len", "bytes=64", "--no-prove", "--max-executions", "20", "--fail-under"];
    bench.quarry(&[&arguments[..], &["90"]].concat()).check(10, &["less than 90%"]);
    bench.quarry(&[&arguments[..], &["50"]].concat()).check(0, &[]);
}

#[test]
fn replay_covers_what_was_covered_and_notices_a_changed_program() {
    let bench = Bench::new(&[("triangle.c", TRIANGLE)]);
    bench.quarry(&["gen", "triangle.c", "--function", "triangle"]).check(0, &[]);
    bench.quarry(&["replay"]).check(0, &[]).shows(&["tests/test_001.json  triangle(a = ", "returned"]);
    bench.quarry(&["replay", "quarry.out/tests/test_001.json"]).check(0, &[]).shows(&["1 of 1 test"]);
    fs::write(bench.path("triangle.c"), TRIANGLE.replace("c <= 0)", "c <= 0 || 1 < c)")).expect("writable");
    bench.quarry(&["replay", "quarry.out"]).check(1, &[]).shows(&["no longer covered"]);
    bench.quarry(&["replay", "nowhere"]).check(2, &["nowhere"]);
}

#[test]
fn an_edited_test_is_a_first_input() {
    let bench = Bench::new(&[
        (
            "lock.c",
            "int lock(unsigned x) { unsigned y = x * 2654435761u ^ x >> 7; if (y % 1000003 == 77) return 1; return 0; }\n",
        ),
        ("first.json", r#"{"x": 5}"#),
    ]);
    bench
        .quarry(&["gen", "lock.c", "--first-input", "first.json", "--max-executions", "1", "--no-minimise"])
        .check(0, &[])
        .shows(&["lock(x = 5)"]);
}

#[test]
fn assumptions_keep_inputs_out() {
    let bench = Bench::new(&[("sign.c", "int sign(int x) { if (x < 0) return -1; return x > 100; }\n")]);
    let ran = bench.quarry(&["gen", "sign.c", "--assume", "x >= 0", "--message-format", "json"]);
    ran.check(0, &[]);
    assert_eq!(ran.summary()["goals"]["covered"], 1);
}

#[test]
fn a_solver_process_serves_as_well() {
    let bench = Bench::new(&[("triangle.c", TRIANGLE)]);
    let ran = bench.quarry(&["gen", "triangle.c", "--solver", "z3", "--message-format", "json"]);
    ran.check(0, &[]);
    assert_eq!(ran.summary()["goals"]["covered"], 6);
}

#[test]
fn two_workers_cover_the_same() {
    let bench = Bench::new(&[("triangle.c", TRIANGLE)]);
    let ran = bench.quarry(&["gen", "triangle.c", "-j", "2", "--self-check", "--message-format", "json"]);
    ran.check(0, &[]);
    assert_eq!(ran.summary()["goals"]["covered"], 6);
}

#[test]
fn goals_list_decisions_conditions_and_branches() {
    let bench = Bench::new(&[("triangle.c", TRIANGLE)]);
    bench.quarry(&["goals", "triangle.c"]).check(0, &[]).shows(&[
        "triangle  triangle.c:2:11",
        "4:9     if        a <= 0 || b <= 0 || c <= 0  [true goal1, false goal0]",
        "4:19    condition b <= 0",
        "?:",
        "6 goals for branch",
    ]);
    let ran = bench.quarry(&["goals", "triangle.c", "--criterion", "condition", "--message-format", "json"]);
    ran.check(0, &[]);
    assert_eq!(ran.summary()["total"], 16);
    assert_eq!(ran.summary()["goals"][0]["demand"], "(a <= 0) is false");
}

#[test]
fn pairs_are_listed_with_the_lines_that_every_path_passes() {
    // the paper's example has these cut points (its section III)
    let power = include_str!("../../../../fixtures/dataflow/power.c");
    let bench = Bench::new(&[("power.c", power)]);
    let arguments = ["goals", "power.c", "--function", "power", "--criterion", "def-use"];
    bench.quarry(&arguments).check(0, &[]).shows(&[
        "17:26   flow      res defined at 8:9 is used (c-use)",
        "                    cut points 4, 8, 9, 13, 14, 17",
    ]);
    let listed = bench.quarry(&[&arguments[..], &["--message-format", "json"]].concat());
    let goals = listed.check(0, &[]).summary()["goals"].clone();
    let is_pair = |goal: &&Value| {
        (goal["variable"] == "res" && goal["definition"]["line"] == 8 && goal["line"] == 17)
            && goal["use"] == "c-use"
    };
    let pair = goals.as_array().and_then(|goals| goals.iter().find(is_pair)).expect("a goal");
    let points = pair["cut_points"].as_array().expect("a list").iter();
    assert_eq!(points.map(|at| at["line"].clone()).collect::<Vec<_>>(), [4, 8, 9, 13, 14, 17]);
}

#[test]
fn doctor_finds_what_the_tests_need() {
    Bench::new(&[]).quarry(&["doctor"]).check(0, &[]).shows(&["clang-19", "Bitwuzla", "everything"]);
}

#[test]
fn only_the_goals_of_the_parts_named_count() {
    let two = "static int low(int x) { return x < 0 ? -x : x; }\n\
               int both(int x)\n{\n    if (low(x) > 9 &&\n        x % 2)\n        return 1;\n    return x == 7 ? 2 : 3;\n}\n";
    let bench = Bench::new(&[("two.c", two)]);
    for (only, n_goals) in [
        (&["two.c:4"][..], 2),
        (&["two.c:1-6"], 4),
        (&["./two.c:5-7"], 2),
        (&["two.c"], 6),
        (&["function=low"], 2),
        (&["function=low", "two.c:7"], 4),
        (&["function=low", "two.c:1"], 2),
    ] {
        let mut arguments = vec!["two.c", "--function", "both", "--message-format", "json"];
        arguments.extend(only.iter().flat_map(|place| ["--only", *place]));
        let listed = bench.quarry(&[&["goals"], &arguments[..]].concat());
        assert_eq!(listed.check(0, &[]).summary()["total"], n_goals, "{only:?}");
        let generated = bench.quarry(&[&["gen"], &arguments[..]].concat());
        let summary = generated.check(0, &[]).summary();
        assert_eq!(summary["goals"]["covered"], n_goals, "{only:?}");
        assert_eq!(summary["stop"], "complete", "{only:?}");
    }
    assert_eq!(bench.json("quarry.out/run.json")["only"], json!(["function=low", "two.c:1"]));
    let conditions = ["goals", "two.c", "--criterion", "condition", "--only", "two.c:5"];
    let listed = bench.quarry(&conditions);
    listed
        .check(0, &[])
        .shows(&["5:9     condition x % 2  [true goal1, false goal0]", "2 goals for condition"]);
    assert!(!listed.stdout.contains("x == 7"), "{}", listed.stdout);
}

#[test]
fn numbers_of_x87_are_a_gap_with_a_place() {
    let bench = Bench::new(&[("area.c", "double area(double r)\n{\n    return r > 1.0 ? r * r : 0.0;\n}\n")]);
    let ran = bench.quarry(&["gen", "area.c", "--function", "area", "--budget", "10s", "--", "-m32"]);
    ran.check(0, &[]).shows(&["2 of 2 branches", "area.c:3:", "floating point: computed with SSE2"]);
}

#[test]
fn an_earlier_campaign_runs_again_with_options_on_top() {
    let bench = Bench::new(&[("triangle.c", TRIANGLE)]);
    let first = ["gen", "triangle.c", "--function", "triangle", "--seed", "5", "--quiet", "-o", "first"];
    bench.quarry(&first).check(0, &[]);
    let again = ["gen", "--from", "first", "--criterion", "condition", "--quiet", "-o", "again"];
    bench.quarry(&again).check(0, &[]).shows(&["condition outcomes covered"]);
    let (first, again) = (bench.json("first/run.json"), bench.json("again/run.json"));
    assert_eq!(again["spec"]["criteria"]["criterion"], serde_json::json!(["condition"]));
    assert_eq!(again["spec"]["search"], first["spec"]["search"], "the rest is as it was");
    // the same campaign in another checkout
    fs::create_dir(bench.path("other")).expect("created");
    fs::copy(bench.path("triangle.c"), bench.path("other/triangle.c")).expect("copied");
    bench.quarry(&["gen", "--from", "first", "-C", "other", "--quiet", "-o", "there"]).check(0, &[]);
    assert_eq!(bench.json("there/run.json")["spec"], first["spec"]);
    assert_eq!(bench.json("there/tests/test_002.json"), bench.json("first/tests/test_002.json"));
    bench.quarry(&["gen", "--from", "nowhere"]).check(2, &["nowhere"]);
    bench.quarry(&["gen"]).check(2, &["give at least one C file"]);
}

#[test]
fn runs_with_different_seeds_are_merged() {
    let bench = Bench::new(&[("triangle.c", TRIANGLE)]);
    let limits = ["--strategy", "random-input", "--max-executions", "3", "--quiet"];
    for (seed, out) in [("1", "one"), ("2", "two")] {
        let arguments = ["gen", "triangle.c", "--function", "triangle", "--seed", seed, "-o", out];
        bench.quarry(&[&arguments[..], &limits].concat()).check(0, &[]);
    }
    let merged = bench.quarry(&["merge", "one", "two", "--message-format", "json", "--quiet"]);
    let summary = merged.check(0, &[]).summary();
    let covered = |out: &str| bench.json(&format!("{out}/run.json"))["result"]["goals"]["covered"].as_u64();
    assert!(summary["goals"]["covered"].as_u64() >= covered("one").max(covered("two")), "{summary}");
    bench.quarry(&["replay", "quarry.merged"]).check(0, &[]);
    bench.quarry(&["merge", "one", "two"]).check(2, &["has results already"]);
    bench.quarry(&["merge", "one"]).check(2, &[]);
}
