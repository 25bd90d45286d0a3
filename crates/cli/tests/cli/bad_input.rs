//! What users get wrong, and programs that misbehave: a clear message or result, and the documented exit code.

use std::time::{Duration, Instant};

use crate::support::Bench;

const SIGN: &str = "int sign(int x) { if (x < 0) return -1; return x > 0; }\n";

#[test]
fn a_missing_file_is_named() {
    Bench::new(&[]).quarry(&["gen", "nowhere.c"]).check(2, &["error: ", "nowhere.c"]);
}

#[test]
fn a_syntax_error_shows_what_clang_says() {
    let bench = Bench::new(&[("broken.c", "int f(int x) {\n  return x +;\n}\n")]);
    bench
        .quarry(&["gen", "broken.c", "--function", "f"])
        .check(20, &["error: ", "broken.c:2:", "expected expression", "help: "]);
    assert!(!bench.path("quarry.out/.work").exists(), "build files are removed");
}

#[test]
fn a_file_that_is_no_c_is_told_in_few_words() {
    let bench = Bench::new(&[]);
    // the head of a program for Linux, and behind it always the same noise
    let mut program = b"\x7fELF\x02\x01\x01\0".to_vec();
    let noise = std::iter::successors(Some(1_u32), |last| {
        Some(last.wrapping_mul(1_664_525).wrapping_add(1_013_904_223))
    });
    let bytes = noise.take(20_000).map(|number| number.to_be_bytes()[0] & 0x7f);
    program.extend(bytes.filter(|byte| *byte != b'#')); // a wrong directive would end it before the others are seen
    std::fs::write(bench.path("program.c"), program).expect("writable");
    let ran = bench.quarry(&["gen", "program.c"]);
    ran.check(20, &["program.c does not compile", "error: ", "no text", "more error", "help: "]);
    assert!(ran.stderr.len() < 6_000, "{} bytes", ran.stderr.len());
}

#[test]
fn a_missing_header_advises_flags() {
    let bench = Bench::new(&[("lost.c", "#include \"nowhere.h\"\nint f(int x) { return x; }\n")]);
    bench.quarry(&["gen", "lost.c", "--function", "f"]).check(20, &["nowhere.h", "help: ", "-I"]);
}

#[test]
fn an_unknown_function_lists_those_there_are() {
    let bench = Bench::new(&[("sign.c", SIGN)]);
    bench.quarry(&["gen", "sign.c", "--function", "sing"]).check(2, &["sing", "there is sign"]);
}

#[test]
fn without_a_function_the_only_one_is_taken() {
    let bench = Bench::new(&[("sign.c", SIGN)]);
    bench.quarry(&["gen", "sign.c"]).check(0, &[]).shows(&["2 of 2 branches covered"]);
}

#[test]
fn without_a_function_several_are_listed() {
    let bench = Bench::new(&[
        ("two.c", "int f(int x) { return x; }\nint g(int x) { return x; }\n"),
        ("f.json", "{}"),
    ]);
    bench.quarry(&["cover", "two.c", "."]).check(2, &["--function", "f", "g"]);
}

#[test]
fn a_wrong_flag_is_named() {
    let bench = Bench::new(&[("sign.c", SIGN)]);
    bench.quarry(&["gen", "sign.c", "--frobnicate"]).check(2, &["--frobnicate"]);
    bench.quarry(&["gen", "sign.c", "--budget", "soon"]).check(2, &["soon"]);
    bench.quarry(&["gen", "sign.c", "--len", "x"]).check(2, &["PARAM=N"]);
    bench.quarry(&["gen", "sign.c", "--len", "y=3"]).check(2, &["y"]);
}

#[test]
fn what_does_not_exist_is_named() {
    let bench = Bench::new(&[("sign.c", SIGN)]);
    bench.quarry(&["gen", "sign.c", "--strategy", "nonsense"]).check(2, &["'nonsense'", "dfs"]);
    bench.quarry(&["gen", "sign.c", "--program"]).check(2, &["no function main is defined in sign.c"]);
    bench.quarry(&["gen", "sign.c", "--max-args", "2"]).check(2, &["--program"]);
    bench
        .quarry(&["gen", "sign.c", "--program", "--file", "../x"])
        .check(2, &["'../x' is not a path inside the program's directory"]);
    bench.quarry(&["gen", "sign.c", "--criterion", "nonsense"]).check(2, &["'nonsense'", "branch"]);
}

#[test]
fn an_output_directory_that_cannot_be_written_is_named() {
    let bench = Bench::new(&[("sign.c", SIGN), ("file", "")]);
    bench.quarry(&["gen", "sign.c", "-o", "file/out"]).check(2, &["file/out", "help: ", "-o"]);
    bench.quarry(&["gen", "sign.c", "-o", "/proc/quarry.out"]).check(2, &["/proc/quarry.out", "-o"]);
}

#[test]
fn a_directory_of_somebody_else_is_not_moved() {
    let bench = Bench::new(&[("sign.c", SIGN)]);
    bench.quarry(&["gen", "sign.c", "-o", "."]).check(2, &["leaves it alone"]);
}

#[test]
fn an_empty_unit_has_no_function() {
    let bench = Bench::new(&[("empty.c", "")]);
    bench.quarry(&["gen", "empty.c"]).check(2, &["empty.c", "no function"]);
    bench.quarry(&["goals", "empty.c"]).check(0, &[]).shows(&["no function"]);
}

#[test]
fn a_function_that_never_returns_is_a_hang_and_ends_in_time() {
    let bench = Bench::new(&[(
        "spin.c",
        "volatile int on = 1;\nint spin(int x) { if (x == 5) return 1; while (on) { } return 0; }\n",
    )]);
    let started = Instant::now();
    let spin = ["gen", "spin.c", "--function", "spin", "--message-format", "json"];
    bench.quarry(&[&spin[..], &["--budget", "10s"]].concat()).check(0, &[]);
    assert!(started.elapsed() < Duration::from_secs(40), "took {:?}", started.elapsed());
    assert!(!bench.list("quarry.out/hangs").is_empty(), "the hang is kept");
    // counted, so that a busy machine sees the same: x == 5 both ways, the loop entered; only its end is out of reach
    let counted = bench.quarry(
        &[&spin[..], &["--max-executions", "3", "--no-prove", "--no-minimise", "-o", "counted"]].concat(),
    );
    counted.check(0, &[]);
    assert_eq!(counted.summary()["goals"]["covered"], 3);
}

#[test]
fn a_function_that_crashes_at_once_is_a_result() {
    let bench = Bench::new(&[("fault.c", "int fault(int x) { return *(volatile int *)0 + x; }\n")]);
    let arguments = ["gen", "fault.c", "--function", "fault", "--message-format", "json"];
    let ran = bench.quarry(&arguments);
    ran.check(0, &[]);
    assert_eq!(ran.summary()["crashes"], 1);
    let crashes = bench.list("quarry.out/crashes");
    assert!(crashes.iter().any(|name| name.ends_with(".json")), "{crashes:?}");
    let mut strict = arguments.to_vec();
    strict.push("--fail-on-crash");
    bench.quarry(&strict).check(11, &[]);
}

#[test]
fn a_crash_like_another_stays_only_for_what_nothing_else_covers() {
    let bench = Bench::new(&[("power.c", include_str!("../../../../fixtures/dataflow/power.c"))]);
    let arguments =
        ["gen", "power.c", "--criterion", "def-use", "--strategy", "cpgs", "--max-executions", "60"];
    let ran = bench.quarry(&[&arguments[..], &["--message-format", "json"]].concat());
    ran.check(0, &[]);
    assert_eq!(ran.summary()["goals"]["covered"], 17, "all but one by tests that end in order");
    assert_eq!(ran.summary()["crashes"], 1);
    // sanitizers show that both are the same
    let as_found = ["--message-format", "json", "--no-minimise", "--no-sanitize"];
    let kept = bench.quarry(&[&arguments[..], &as_found].concat());
    assert_eq!(kept.summary()["crashes"], 2, "the search kept a second for what it covered first");
}

#[test]
fn a_first_input_that_does_not_fit_is_explained() {
    let bench = Bench::new(&[("sign.c", SIGN), ("first.json", r#"{"y": 3}"#)]);
    bench
        .quarry(&["gen", "sign.c", "--first-input", "first.json"])
        .check(2, &["first.json", "y does not exist"]);
}

#[test]
fn a_solver_that_is_not_there_is_named() {
    let bench = Bench::new(&[("sign.c", SIGN)]);
    bench.quarry(&["gen", "sign.c", "--solver", "no-such-solver"]).check(2, &["no-such-solver"]);
}

#[test]
fn a_part_that_holds_no_goal_names_what_exists() {
    let bench = Bench::new(&[("sign.c", SIGN)]);
    for command in ["gen", "goals"] {
        let only = |place: &str, says: &[&str]| {
            bench.quarry(&[command, "sign.c", "--only", place]).check(2, says);
        };
        only("nowhere.c", &["'nowhere.c'", "files with goals are: sign.c"]);
        only("sign.c:2-9", &["--only sign.c:2-9", "are on the lines: 1"]);
        only("function=sing", &["'sing'", "functions with goals are: sign"]);
        only("sign.c:9-2", &["'9-2' is not a range"]);
        only("function=", &["file.c:10-80"]);
    }
}
