//! Exported tests build with gcc and clang without warnings, pass, and fail when the function changes.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use crate::support::{Bench, read_json};

/// Compiles the plain tests in `directory` with warnings as errors; the program.
fn build(directory: &Path, function: &str, compiler: &str) -> Output {
    Command::new(compiler)
        .args(["-Wall", "-Wextra", "-Werror", "-o", "tests"])
        .args([&format!("{function}_tests.c"), "quarry_support.c", "-lm"])
        .current_dir(directory)
        .output()
        .expect("the compiler starts")
}

fn run(directory: &Path) -> Output {
    Command::new(directory.join("tests")).current_dir(directory).output().expect("the tests start")
}

const SIGN: &str = "int sign(int x) { if (x < 0) return -1; return x > 0; }\n";

#[test]
fn tests_fail_when_the_function_changes() {
    let bench = Bench::new(&[("sign.c", SIGN)]);
    bench.quarry(&["gen", "sign.c", "--criterion", "condition", "--quiet", "--format", "c"]).check(0, &[]);
    let directory = bench.path("quarry.out/c");
    fs::write(bench.path("sign.c"), SIGN.replace("return -1", "return -2")).expect("writable");
    assert!(build(&directory, "sign", "gcc").status.success());
    let ran = run(&directory);
    assert!(!ran.status.success());
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert!(said.contains("result is -2, expected -1"), "{said}");
}

#[test]
fn a_test_that_does_not_pass_is_named_and_left_out() {
    let bench = Bench::new(&[("sign.c", SIGN)]);
    bench.quarry(&["gen", "sign.c", "--quiet"]).check(0, &[]);
    let file = bench.path("quarry.out/tests/test_001.json");
    let mut test = read_json(&file);
    test["expected"]["values"]["result"] = 77.into();
    fs::write(&file, test.to_string()).expect("writable");
    let ran = bench.quarry(&["export", "--format", "c", "-o", "tests"]);
    ran.check(1, &["left out: test_001", "expected 77"]).shows(&["1 test in tests"]);
}

#[test]
fn frameworks_that_are_installed_run_the_tests() {
    let bench = Bench::new(&[("sign.c", SIGN)]);
    bench.quarry(&["gen", "sign.c", "--quiet"]).check(0, &[]);
    for format in ["cmocka", "googletest", "unity"] {
        let ran = bench.quarry(&["export", "--format", format, "-o", format]);
        ran.check(0, &[]).shows(&["2 tests in"]);
        let lists = fs::read_to_string(bench.path(&format!("{format}/CMakeLists.txt"))).expect("written");
        assert!(lists.contains("add_test(NAME sign.${test}"), "{lists}");
        // without the framework the user is told that something else was run
        let installed = match format {
            "cmocka" => Path::new("/usr/include/cmocka.h").exists(),
            "googletest" => Path::new("/usr/include/gtest/gtest.h").exists(),
            _ => Path::new("/usr/include/unity/unity.c").exists(),
        };
        assert_eq!(ran.stderr.contains("as plain C instead"), !installed, "{}", ran.stderr);
    }
}

#[test]
fn results_that_differ_between_two_runs_are_left_out() {
    let text =
        "#include <stdlib.h>\nint *fresh(int n) { int *p = malloc(8); if (n > 0) *p = n; return p; }\n";
    let bench = Bench::new(&[("fresh.c", text)]);
    bench.quarry(&["gen", "fresh.c", "--quiet"]).check(0, &[]);
    let first = bench.json("quarry.out/tests/test_001.json");
    assert_eq!(first["expected"]["left_out"][0], "*result: two runs differ");
    let second = bench.json("quarry.out/tests/test_002.json");
    assert_eq!(second["expected"]["values"]["*result"], second["input"]["n"]);
}

#[test]
fn what_is_printed_and_changed_is_expected() {
    let text = "#include <stdio.h>\n#include <stdlib.h>\nstatic int n_calls;\nstruct pair { int a, b; };\n\
                const char *set(struct pair *p, int x)\n{\n    n_calls++;\n    if (!p) return \"none\";\n    \
                p->b = x > 3 ? 7 : 8;\n    printf(\"%d\\n\", p->b);\n    free(p);\n    return NULL;\n}\n";
    let bench = Bench::new(&[("set.c", text)]);
    bench.quarry(&["gen", "set.c", "--quiet", "--format", "c"]).check(0, &[]);
    let first = bench.json("quarry.out/tests/test_001.json");
    assert_eq!(first["input"]["p"], serde_json::Value::Null);
    assert_eq!(first["expected"]["values"], serde_json::json!({"n_calls": 1, "result": {"text": "none"}}));
    let second = bench.json("quarry.out/tests/test_002.json");
    // the object is freed, so nothing is said of it
    assert_eq!(second["expected"]["values"], serde_json::json!({"n_calls": 1, "result": null}));
    assert_eq!(second["expected"]["stdout"], "8\n");
    let directory = bench.path("quarry.out/c");
    assert!(build(&directory, "set", "gcc").status.success());
    let alone = Command::new(directory.join("tests")).arg("test_returns_null_when_x_gt_3").output();
    assert!(alone.expect("the tests start").status.success());
}

#[test]
fn suites_are_minimal_simple_and_the_same_each_time() {
    let text = "int find(const char *s, int level) { if (!s) return -1; if (s[0] == 'x' && level > 99) return 1; return 0; }\n";
    let bench = Bench::new(&[("find.c", text)]);
    let inputs = |out: &str| -> Vec<String> {
        let names = bench.list(&format!("{out}/tests")).into_iter().filter(|name| name.ends_with(".json"));
        names.map(|name| bench.json(&format!("{out}/tests/{name}"))["input"].to_string()).collect()
    };
    for out in ["a", "b"] {
        bench.quarry(&["gen", "find.c", "--quiet", "--seed", "7", "-o", out]).check(0, &[]);
    }
    assert_eq!(inputs("a"), inputs("b"));
    let expected =
        [r#"{"s":[],"level":0}"#, r#"{"s":null,"level":0}"#, r#"{"s":{"text":"x","size":1},"level":100}"#];
    assert_eq!(inputs("a"), expected);
    bench.quarry(&["gen", "find.c", "--quiet", "--seed", "7", "-o", "c", "--no-minimise"]).check(0, &[]);
    assert!(inputs("c").len() >= 3);
}

#[test]
fn assumptions_hold_of_simplified_inputs() {
    let bench = Bench::new(&[("twice.c", "int twice(int x, int y) { return x > 50 ? y : 2 * y; }\n")]);
    bench.quarry(&["gen", "twice.c", "--quiet", "--assume", "x != 0 && y > 10"]).check(0, &[]);
    for name in ["test_001", "test_002"] {
        let input = bench.json(&format!("quarry.out/tests/{name}.json"))["input"].clone();
        assert!(input["x"] != 0 && input["y"].as_i64().is_some_and(|y| (11..30).contains(&y)), "{input}");
    }
}

#[test]
fn a_verifier_is_found_by_a_path_from_the_current_directory() {
    let unbounded =
        "int f(unsigned n) { unsigned i = 0; while (i < n) i++; if (i > n) return 1; return 0; }\n";
    let bench = Bench::new(&[("f.c", unbounded), ("verify", "#!/bin/sh\necho VERIFICATION FAILED\n")]);
    let script = bench.path("verify");
    fs::set_permissions(&script, PermissionsExt::from_mode(0o755)).expect("writable");
    bench.quarry(&["gen", "f.c", "--quiet", "--no-prove", "--max-executions", "20"]).check(0, &[]);
    bench.quarry(&["export", "--format", "verifier", "--verifier", "./verify --all"]).check(0, &[]);
    let claims = fs::read_to_string(bench.path("quarry.out/verifier/claims.jsonl")).expect("readable");
    assert!(claims.contains("reachable"), "{claims}");
}
