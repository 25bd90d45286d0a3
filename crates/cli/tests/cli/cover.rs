//! `quarry cover` on suites that are whole, partial, foreign or broken.

use std::fs;
use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::support::{Bench, Ran};

const SIGN: &str = "int sign(int x)\n{\n    if (x < 0)\n        return -1;\n    return x > 0 && x < 9;\n}\n";
const SUM: &str = "\
int sum(const int *v, int n)
{
    int s = 0;
    for (int i = 0; i < n && i < 3; i++)
        s += v[i];
    if (s == 12345)
        __builtin_trap();
    return s;
}
int twice(int x) { return x == 21 ? 42 : 2 * x; }
";

/// A bench with a directory of tests.
fn with_suite(source: (&str, &str), tests: &[(&str, &str)]) -> Bench {
    let bench = Bench::new(&[source]);
    fs::create_dir(bench.path("suite")).expect("created");
    for (name, text) in tests {
        fs::write(bench.path("suite").join(name), text).expect("writable");
    }
    bench
}

#[test]
fn each_input_says_what_it_adds_and_goals_left_over_are_listed() {
    let bench = with_suite(
        ("sign.c", SIGN),
        &[("1.json", r#"{"x": -4}"#), ("2.json", r#"{"x": -5}"#), ("readme.txt", "no test")],
    );
    bench.quarry(&["cover", "sign.c", "suite", "--criterion", "decision"]).check(0, &[]).shows(&[
        "1.json  sign(x = -4)  returned: adds 1 goal\n    sign.c:3:9  (x < 0) is true\n",
        "2.json  sign(x = -5)  returned: covers 1 goal, adds none\n",
        "1 of 4 decision outcomes covered (25.0%) by 2 inputs",
        "not covered:\n    sign.c:3:9  (x < 0) is false\n    sign.c:5:12  (x > 0 && x < 9) is false\n",
    ]);
    assert_eq!(bench.list("."), ["sign.c", "suite"], "nothing is written");
}

#[test]
fn several_criteria_are_measured_at_once() {
    let bench = with_suite(("sign.c", SIGN), &[("1.json", r#"{"x": 7}"#)]);
    let ran = bench.quarry(&[
        "cover",
        "sign.c",
        "suite",
        "--criterion",
        "function,branch,condition",
        "--message-format",
        "json",
    ]);
    let summary = ran.check(0, &[]).summary();
    let counts = |total: u32, covered: u32| json!({"total": total, "covered": covered, "infeasible": 0, "infeasible_bounded": 0, "undecided": total - covered});
    assert_eq!(summary["goals"], counts(9, 5));
    assert_eq!(
        summary["per_criterion"],
        json!({"branch": counts(2, 1), "condition": counts(6, 3), "function": counts(1, 1)})
    );
    assert_eq!(summary["inputs"][0]["covers"], 5);
    assert_eq!(summary["inputs"][0]["adds"].as_array().expect("goals").len(), 5);
    assert_eq!(summary["uncovered"].as_array().expect("goals").len(), 4);
    assert_eq!((&summary["tests"], &summary["executions"]), (&json!(1), &json!(1)));
}

#[test]
fn function_and_lengths_come_from_the_run_beside_the_tests() {
    let bench = Bench::new(&[("sum.c", SUM)]);
    let generated = bench.quarry(&[
        "gen",
        "sum.c",
        "--function",
        "sum",
        "--len",
        "v=3",
        "--message-format",
        "json",
        "--quiet",
    ]);
    let generated = generated.check(0, &[]).summary();
    assert_eq!(generated["crashes"], 1);
    let whole = bench.quarry(&["cover", "sum.c", "quarry.out", "--message-format", "json"]);
    let whole = whole.check(0, &[]).summary();
    for field in ["goals", "per_criterion", "tests", "crashes"] {
        assert_eq!(whole[field], generated[field], "{field}");
    }
    assert_eq!(whole["function"], "sum");
    let tests_only = bench.quarry(&["cover", "sum.c", "quarry.out/tests", "--message-format", "json"]);
    assert_eq!(tests_only.check(0, &[]).summary()["crashes"], 0);
    // a suite moved away from its run.json needs to be told
    fs::rename(bench.path("quarry.out/tests"), bench.path("moved")).expect("moved");
    bench.quarry(&["cover", "sum.c", "moved"]).check(2, &["--function", "sum, twice"]);
    let told = ["cover", "sum.c", "moved", "--function", "sum", "--len", "v=3"];
    bench.quarry(&told).check(0, &[]).shows(&["branches covered"]);
}

#[test]
fn only_measures_a_part() {
    let bench = with_suite(("sign.c", SIGN), &[("1.json", r#"{"x": 7}"#)]);
    let part = ["cover", "sign.c", "suite", "--criterion", "decision", "--only", "sign.c:5"];
    bench.quarry(&part).check(0, &[]).shows(&["1 of 2 decision outcomes covered (50.0%) by 1 input\n"]);
    bench.quarry(&["cover", "sign.c", "suite", "--only", "sign.c:5"]).check(2, &["on the lines: 3"]);
}

#[test]
fn too_little_coverage_fails_when_asked() {
    let bench = with_suite(("sign.c", SIGN), &[("1.json", r#"{"x": 7}"#)]);
    bench.quarry(&["cover", "sign.c", "suite", "--fail-under", "51"]).check(10, &["less than 51%"]);
    bench.quarry(&["cover", "sign.c", "suite", "--fail-under", "50"]).check(0, &[]);
}

#[test]
fn inputs_that_cannot_be_measured_are_named_and_the_others_count() {
    let other = r#"{"schema": 1, "function": "twice", "input": {"x": 3}, "end": "returned", "covers": []}"#;
    let bench = with_suite(
        ("sign.c", SIGN),
        &[
            ("a.json", "{ \"x\": "),
            ("b.json", r#"[1, 2]"#),
            ("c.json", other),
            ("d.json", r#"{"y": 3}"#),
            ("e.json", r#"{"x": 99999999999}"#),
            ("f.json", ""),
            ("g.json", r#"{"x": -1}"#),
        ],
    );
    fs::create_dir(bench.path("suite/h.json")).expect("created");
    fs::write(bench.path("suite/i.json"), [0xff, 0xfe, 0x00]).expect("writable");
    let ran = bench.quarry(&["cover", "sign.c", "suite", "--message-format", "json"]);
    ran.check(
        1,
        &[
            "8 inputs could not be measured",
            "a.json  is not JSON",
            "b.json  is not an input for sign: the input is [1,2], expected an object",
            "c.json  is a test for twice, not for sign",
            "d.json  is not an input for sign: y does not exist; known are x",
            "e.json  is not an input for sign: x = 99999999999 does not fit",
            "f.json  is not JSON",
            "h.json  cannot be read",
            "i.json  cannot be read",
        ],
    );
    let summary = ran.summary();
    assert_eq!(
        summary["unmeasured"][2],
        json!({"file": "c.json", "why": "is a test for twice, not for sign"})
    );
    assert_eq!((&summary["goals"]["covered"], &summary["executions"]), (&json!(1), &json!(1)));
}

#[test]
fn crashes_and_hangs_count_up_to_their_end() {
    let source = "volatile int on = 1;\nint f(int x)\n{\n    if (x == 1)\n        __builtin_trap();\n    \
                  if (x == 2)\n        while (on) { }\n    return x;\n}\n";
    let bench = with_suite(("f.c", source), &[("crash.json", r#"{"x": 1}"#), ("hang.json", r#"{"x": 2}"#)]);
    let ran = bench.quarry(&["cover", "f.c", "suite", "--timeout", "300ms", "--message-format", "json"]);
    let summary = ran.check(0, &[]).summary();
    assert_eq!(
        (&summary["crashes"], &summary["hangs"], &summary["tests"]),
        (&json!(1), &json!(1), &json!(0))
    );
    // x == 1 both ways, x == 2, the loop entered
    assert_eq!(summary["goals"]["covered"], 4);
    assert_eq!(summary["inputs"][1]["end"], "timed out");
}

#[test]
fn a_long_execution_is_measured_to_its_end() {
    let source = "int f(int x)\n{\n    for (int i = 0; i < 6000000; i++)\n        x += i & 1;\n    \
                  if (x > 0)\n        return 1;\n    return 0;\n}\n";
    let bench = with_suite(("f.c", source), &[("1.json", r#"{"x": 1}"#)]);
    bench.quarry(&["cover", "f.c", "suite"]).check(0, &[]).shows(&["3 of 4 branches covered"]);
}

#[test]
fn a_directory_without_tests_is_a_mistake() {
    let bench = Bench::new(&[("sign.c", SIGN)]);
    fs::create_dir(bench.path("empty")).expect("created");
    bench.quarry(&["cover", "sign.c", "nowhere"]).check(2, &["nowhere", "help: "]);
    bench.quarry(&["cover", "sign.c", "empty"]).check(2, &["empty has no tests", "help: "]);
    bench.quarry(&["cover", "sign.c", "sign.c"]).check(2, &["sign.c is not a directory of tests"]);
    bench.quarry(&["cover", "sign.c"]).check(2, &["Usage: quarry cover [OPTIONS] <SRC>... <DIR>"]);
    bench.quarry(&["cover", "nowhere.c", "empty"]).check(2, &[]);
}

#[test]
fn a_run_record_of_somebody_else_is_not_used() {
    let bench = with_suite(("sign.c", SIGN), &[("1.json", r#"{"x": 7}"#)]);
    fs::write(bench.path("run.json"), "{\"function\": 3}").expect("writable");
    bench.quarry(&["cover", "sign.c", "suite"]).check(0, &["note: ", "run.json is not a record of Quarry"]);
}

#[test]
fn a_function_that_is_gone_is_named_with_where_it_came_from() {
    let bench = Bench::new(&[("sign.c", SIGN)]);
    bench.quarry(&["gen", "sign.c", "--quiet"]).check(0, &[]);
    fs::write(bench.path("sign.c"), SIGN.replace("sign", "signum")).expect("writable");
    bench.quarry(&["cover", "sign.c", "quarry.out"]).check(2, &["there is signum", "the suite's run.json"]);
}

#[test]
fn a_program_that_does_not_build_says_so() {
    let bench = with_suite(("broken.c", "int f(int x) { return x +; }\n"), &[("1.json", r#"{"x": 7}"#)]);
    bench.quarry(&["cover", "broken.c", "suite"]).check(20, &["broken.c:1:", "expected expression"]);
}

/// Runs a command and presses Ctrl-C as soon as some process calls itself by this name.
fn interrupted_once(bench: &Bench, arguments: &[&str], name: &str) -> Ran {
    let mut command = bench.command(arguments);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("quarry starts");
    let deadline = Instant::now() + Duration::from_secs(60);
    while !is_running(name) {
        assert!(child.try_wait().expect("alive").is_none(), "ended before it was interrupted");
        if Instant::now() > deadline {
            child.kill().expect("alive");
            panic!("no input is executed");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    kill_process(Pid::from_child(&child), Signal::INT).expect("it is running");
    child.wait_with_output().expect("it ends").into()
}

fn is_running(name: &str) -> bool {
    let processes = fs::read_dir("/proc").expect("there is /proc").flatten();
    let names = processes.filter_map(|process| fs::read_to_string(process.path().join("comm")).ok());
    names.into_iter().any(|comm| comm.trim_end() == name)
}

/// A name for a process that nobody else has, and C that takes it: all that a confined program can show of itself.
fn named(purpose: &str) -> (String, String) {
    let name = format!("{purpose}{}", std::process::id());
    let take = format!("prctl(PR_SET_NAME, \"{name}\")");
    (name, take)
}

#[test]
fn an_interrupted_measurement_tells_what_it_has() {
    let bench = with_suite(("spin.c", ""), &[("1.json", r#"{"x": 0}"#), ("2.json", r#"{"x": 1}"#)]);
    let (name, take_name) = named("spin");
    let spin = format!(
        "#include <sys/prctl.h>\nvolatile int on = 1;\n\
         int spin(int x) {{ if (x > 0) {{ {take_name}; while (on) {{ }} }} return 0; }}\n",
    );
    fs::write(bench.path("spin.c"), spin).expect("writable");
    let arguments = ["cover", "spin.c", "suite", "--timeout", "10m", "--message-format", "json"];
    let ran = interrupted_once(&bench, &arguments, &name);
    let summary = ran.check(130, &["1 of 2 inputs were measured"]).summary();
    assert_eq!(summary["stop"], "interrupted");
    assert_eq!((&summary["executions"], &summary["goals"]["covered"]), (&json!(1), &json!(1)));
}

#[test]
fn a_measurement_of_quick_inputs_is_interrupted_as_well() {
    let bench = with_suite(("sign.c", ""), &[]);
    let (name, take_name) = named("sign");
    let source = format!("#include <sys/prctl.h>\nint sign(int x) {{ {take_name}; return x; }}\n");
    fs::write(bench.path("sign.c"), source).expect("writable");
    for number in 0..20_000 {
        fs::write(bench.path(&format!("suite/{number}.json")), "{\"x\": 1}").expect("writable");
    }
    let child = interrupted_once(&bench, &["cover", "sign.c", "suite", "--criterion", "function"], &name);
    child.check(130, &["interrupted", "of 20000 inputs were measured"]);
}
