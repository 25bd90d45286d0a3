//! Two versions of a program: what changed, what that may affect, and where they behave differently.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::support::{Bench, fixture};

/// What the comments of a new version say of its lines.
fn by_hand(file: &str) -> BTreeMap<u64, &'static str> {
    let text = fs::read_to_string(file).expect("a fixture");
    let word = |line: &str| {
        ["changed", "impacted"].into_iter().find(|word| line.trim_end().ends_with(&format!("// {word}")))
    };
    text.lines().zip(1..).filter_map(|(line, number)| Some((number, word(line)?))).collect()
}

#[test]
fn changes_and_impacts_are_those_written_down_by_hand() {
    let bench = Bench::new(&[]);
    let pairs = fs::read_dir(fixture("versions")).expect("fixtures");
    let mut n_pairs = 0;
    for pair in pairs {
        let pair = pair.expect("readable").path();
        let file = |name: &str| pair.join(name).display().to_string();
        let ran = bench.quarry(&["diff", &file("old.c"), &file("new.c"), "--message-format", "json"]);
        let found = ran.check(0, &[]).summary();
        let items = found["impacted"].as_array().expect("a list");
        let of_item = |item: &Value| {
            let word = if item["state"] == "impacted" { "impacted" } else { "changed" };
            assert!(!item["reason"].as_str().unwrap_or_default().is_empty(), "{item}");
            (item["line"].as_u64().expect("a line"), word)
        };
        let found: BTreeMap<u64, &str> = items.iter().map(of_item).collect();
        assert_eq!(found, by_hand(&file("new.c")), "{}", pair.display());
        n_pairs += 1;
    }
    assert!(n_pairs >= 12, "a pair for each kind of change");
}

const OLD: &str = "int grade(int points, int *out)\n{\n    *out = points;\n    if (points > 90)\n        return 2;\n    if (points > 50)\n        return 1;\n    return 0;\n}\nint other(int a)\n{\n    return a > 3;\n}\n";

#[test]
fn a_difference_between_two_constants_is_searched_and_pinned() {
    let new = OLD.replace("points > 50", "points >= 50");
    let bench = Bench::new(&[("old.c", OLD), ("new.c", &new)]);
    let since = ["gen", "new.c", "--function", "grade", "--since", "old.c", "--quiet"];
    let limits = ["--no-prove", "--max-executions", "200", "--message-format", "json"];
    let ran = bench.quarry(&[&since[..], &limits, &["--fail-on-difference"]].concat());
    let summary = ran.check(13, &[]).summary();
    assert_eq!(summary["differences"], 1, "{summary}");
    assert_eq!(summary["goals"]["total"], summary["goals"]["covered"]);
    assert_eq!(summary["goals"]["total"], 2, "the first branch is not concerned");
    let found = &bench.json("quarry.out/differences.json")["differences"][0];
    assert_eq!(found["input"]["points"], 50);
    assert_eq!((&found["what"][0]["old"], &found["what"][0]["new"]), (&"0".into(), &"1".into()));
    let pinned = bench.json("quarry.out/differences/tests/test_001.json");
    assert_eq!(pinned["expected"]["values"]["result"], 1);
    bench.quarry(&["export", "quarry.out/differences", "--format", "c"]).check(0, &[]);
    let exported = fs::read_to_string(bench.path("quarry.out/differences/c/grade_tests.c"));
    let exported = exported.unwrap_or_else(|_| panic!("{:?}", bench.list("quarry.out/differences/c")));
    assert!(exported.contains("result: 1, was 0"), "{exported}");
}

#[test]
fn a_refactoring_shows_no_difference_and_unchanged_functions_are_left_alone() {
    let new =
        OLD.replace("if (points > 50)\n        return 1;\n    return 0;", "return points > 50 ? 1 : 0;");
    let bench = Bench::new(&[("old.c", OLD), ("new.c", &new)]);
    let ran = bench.quarry(&[
        "gen",
        "new.c",
        "--since",
        "old.c",
        "--no-prove",
        "--max-executions",
        "100",
        "--message-format",
        "json",
    ]);
    let summary = ran.check(0, &[]).summary();
    assert_eq!(summary["differences"], 0, "{summary}");
    assert!(bench.path("quarry.out/grade").is_dir() && !bench.path("quarry.out/other").exists());
    let found = bench.json("quarry.out/grade/differences.json");
    assert!(found["search"]["executions"].as_u64().is_some_and(|n| n > 0), "{found}");
}

fn git(directory: &Path, arguments: &[&str]) {
    let mut git = Command::new("git");
    git.arg("-C").arg(directory).args(["-c", "user.name=A", "-c", "user.email=a@example.org"]);
    let output = git.args(arguments).output().expect("git starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_revision_is_compared_without_touching_the_tree() {
    let bench = Bench::new(&[("lib.c", OLD)]);
    let here = bench.path("");
    git(&here, &["init", "-q"]);
    git(&here, &["add", "lib.c"]);
    git(&here, &["commit", "-q", "-m", "old"]);
    fs::write(bench.path("lib.c"), OLD.replace("90", "95")).expect("writable");
    let before = bench.list("");
    let ran = bench.quarry(&["diff", "--git", "HEAD", "lib.c"]);
    ran.check(0, &[]).shows(&["revision HEAD → the files as they are", "+ 4:5  if (points > 95)"]);
    git(&here, &["commit", "-q", "-a", "-m", "new"]);
    let ran = bench.quarry(&["diff", "--git", "HEAD~1", "HEAD", "lib.c"]);
    ran.check(0, &[]).shows(&["functions: 1 changed, 1 unchanged"]);
    assert_eq!(bench.list(""), before);
}

#[test]
fn versions_that_cannot_be_compared_are_named() {
    let bench = Bench::new(&[
        ("old.c", OLD),
        ("broken.c", "int f( {\n"),
        ("unrelated.c", "int quite(int x)\n{\n    return x;\n}\n"),
    ]);
    let diff = |arguments: &[&str]| bench.quarry(&[&["diff"], arguments].concat());
    diff(&["old.c", "missing.c"]).check(2, &["missing.c does not exist"]);
    diff(&["old.c", "broken.c"]).check(20, &["broken.c: the program does not build"]);
    diff(&["old.c", "unrelated.c"]).check(2, &["have no function in common"]);
    diff(&["old.c", "."]).check(2, &["has no compile_commands.json"]);
    diff(&["--git", "HEAD", "old.c"]).check(2, &["is in no git repository"]);
    diff(&["old.c"]).check(2, &["give the old version and the new one"]);
    let ran = bench.quarry(&["gen", "old.c", "--since", "nothing", "--function", "grade"]);
    ran.check(2, &["nothing is neither a file nor a directory"]);
    assert_eq!(bench.list(""), ["broken.c", "old.c", "unrelated.c"]);
}

#[test]
fn mutants_are_goals_that_tests_are_searched_for() {
    let price = "static int rate(int n)\n{\n    if (n > 100)\n        return 3;\n    return 5;\n}\nint price(int n)\n{\n    if (n < 0)\n        return -1;\n    return n * rate(n);\n}\n";
    let bench = Bench::new(&[("price.c", price)]);
    let gen_with = |criterion: &str, out: &str| {
        let ran = bench.quarry(&[
            "gen",
            "price.c",
            "--function",
            "price",
            "--criterion",
            criterion,
            "--no-prove",
            "--max-executions",
            "100",
            "--message-format",
            "json",
            "-o",
            out,
        ]);
        ran.check(0, &[]).summary()
    };
    let branches = gen_with("branch", "branches");
    let mutants = gen_with("mutation", "mutants");
    let counts = &mutants["per_criterion"]["mutation"];
    let measured = bench.quarry(&["mutate", "branches", "--message-format", "json"]).check(0, &[]).summary();
    assert_eq!(counts["total"], measured["mutants"]);
    let n = |value: &Value| value.as_u64().expect("a number");
    assert!(n(&counts["covered"]) > n(&measured["killed"]), "{counts} {measured}");
    assert!(n(&mutants["tests"]) > n(&branches["tests"]));
    // what is killed is said by the tests that were written
    let again = bench.quarry(&["mutate", "mutants", "--message-format", "json"]).check(0, &[]).summary();
    assert_eq!(again["killed"], counts["covered"]);
    assert_eq!(n(&counts["undecided"]), 0, "each mutant here can be told apart: {counts}");
}
