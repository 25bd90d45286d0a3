//! Suites on native builds with clang's coverage and sanitizers: what is confirmed, what is not, and what is found.

use std::fs;

use serde_json::{Value, json};

use crate::support::{Bench, read_json};

#[test]
fn vectors_are_those_that_llvm_cov_saw() {
    let door =
        "int door(int key, int code, int forced)\n{\n    return (key && !(code != 42)) || forced > 9;\n}\n";
    let bench = Bench::new(&[("door.c", door)]);
    for rule in ["masking", "unique-cause"] {
        let ran = bench.quarry(&[
            "gen",
            "door.c",
            "--quiet",
            "--confirm",
            "--criterion",
            "mcdc,multiple-condition",
            "--mcdc",
            rule,
        ]);
        ran.check(0, &[]).shows(&[
            "of the 5 condition vectors reported as covered\n",
            "of the 8 MC/DC obligations reported as covered\n",
        ]);
    }
}

#[test]
fn a_condition_that_begins_with_a_macro_is_told_from_what_the_macro_decides() {
    let next = "#define NEXT(p) (*(p) ? *(p)++ : 0)\n\
        int next(const char *p)\n{\n    if (!p || !*p)\n        return 0;\n    return NEXT(p) == 'a' ? 1 : 2;\n}\n";
    let bench = Bench::new(&[("next.c", next)]);
    let ran = bench.quarry(&["gen", "next.c", "--quiet", "--confirm", "--criterion", "branch,condition"]);
    ran.check(0, &[]).shows(&[
        "llvm-cov counts 5 of the 5 branches reported as covered\n",
        "llvm-cov counts 7 of the 7 condition outcomes reported as covered\n",
        "(NEXT(p) == 'a') is false",
    ]);
}

#[test]
fn conditions_of_a_macro_are_told_from_those_beside_it() {
    // llvm-cov lists those that the macro writes last, though they are evaluated first
    let skip = "struct buffer { const unsigned char *content; unsigned long length, offset; };\n\
        #define CAN_READ(b, i) ((b != 0) && ((b)->offset + (i) < (b)->length))\n#define AT(b) ((b)->content + (b)->offset)\n\
        int skip(struct buffer *b)\n{\n    if (CAN_READ(b, 0) && (AT(b)[0] <= 32))\n        return 1;\n    return 0;\n}\n";
    let bench = Bench::new(&[("skip.c", skip)]);
    let ran = bench.quarry(&["gen", "skip.c", "--quiet", "--confirm", "--criterion", "mcdc"]);
    ran.check(0, &[]).shows(&["llvm-cov counts 9 of the 9 MC/DC obligations reported as covered\n"]);
}

const NARROW: &str = "int narrow(int n)\n{\n    if (n > 5) {\n        if (n < 3)\n            return 2;\n        return 1;\n    }\n    return 0;\n}\n";

#[test]
fn a_goal_that_is_wrongly_called_covered_is_named_and_has_an_exit_code_of_its_own() {
    let bench = Bench::new(&[("narrow.c", NARROW)]);
    bench.quarry(&["gen", "narrow.c", "--quiet", "--no-prove"]).check(0, &[]);
    bench
        .quarry(&["confirm"])
        .check(0, &[])
        .shows(&["llvm-cov counts 3 of the 3 branches reported as covered\n"]);
    // nothing makes (n < 3) true there; claim that the first test does
    let goals = fs::read_to_string(bench.path("quarry.out/goals.jsonl")).expect("goals");
    let mut goals: Vec<Value> =
        goals.lines().map(|line| serde_json::from_str(line).expect("a goal")).collect();
    let open =
        goals.iter_mut().find(|goal| goal["state"] == "undecided").expect("a goal that cannot be covered");
    (open["state"], open["test"]) = (json!("covered"), json!("tests/test_001.json"));
    let id = open["id"].clone();
    let lines: Vec<String> = goals.iter().map(Value::to_string).collect();
    fs::write(bench.path("quarry.out/goals.jsonl"), lines.join("\n") + "\n").expect("writable");
    let file = bench.path("quarry.out/tests/test_001.json");
    let mut test = read_json(&file);
    let covers = test["covers"].as_array_mut().expect("covered goals");
    covers.push(json!({"goal": id, "criterion": "branch", "at": "", "demand": "", "new": true}));
    fs::write(&file, test.to_string()).expect("writable");

    let said = [
        "llvm-cov DISAGREES: it does not count 1 goal",
        "narrow.c:4:13  (n < 3) is true  (tests/test_001.json)",
    ];
    bench.quarry(&["confirm"]).check(12, &[]).shows(&said);
    let disagreement = &bench.json("quarry.out/run.json")["confirmation"]["disagreements"][0];
    assert_eq!((&disagreement["at"], &disagreement["goal"]), (&json!("narrow.c:4:13"), &id));
}

/// A shift beyond the type, an index beyond an array, and a helper that two functions reach.
const FAULTS: &str = "static int scale(int n, int by)\n{\n    return n << by;\n}\n\n\
    int grow(int n, int by)\n{\n    return by > 40 ? scale(1, by) : n;\n}\n\n\
    int widen(int by)\n{\n    return by == 77 ? scale(3, by) : 0;\n}\n";

#[test]
fn what_sanitizers_find_is_told_once_with_a_reproducer_in_all_reports() {
    let bench = Bench::new(&[("faults.c", FAULTS)]);
    let arguments = ["gen", "faults.c", "--function", "grow", "--quiet", "--confirm"];
    let place = "faults.c:3:14  invalid-shift-exponent: shift exponent";
    let ran = bench.quarry(&arguments);
    ran.check(0, &[]).shows(&["sanitizers: 1 finding\n", place, "        shown by tests/test_00"]);
    let finding = bench.json("quarry.out/run.json")["confirmation"]["findings"][0].clone();
    assert_eq!((&finding["line"], &finding["sanitizer"]), (&json!(3), &json!("undefined")));
    let test = finding["test"].as_str().expect("a test");
    assert!(bench.path("quarry.out").join(test).is_file());

    let sarif = bench.json("quarry.out/report/results.sarif");
    let result = &sarif["runs"][0]["results"][0];
    assert_eq!(result["ruleId"], "sanitizer-invalid-shift-exponent");
    assert_eq!(result["locations"][0]["physicalLocation"]["region"]["startLine"], 3);
    assert_eq!(result["attachments"][0]["artifactLocation"]["uri"], test);
    let junit = fs::read_to_string(bench.path("quarry.out/report/junit.xml")).expect("a report");
    assert!(junit.contains("failures=\"1\"") && junit.contains("type=\"invalid-shift-exponent\""), "{junit}");
    let page = fs::read_to_string(bench.path("quarry.out/report/index.html")).expect("a report");
    assert!(page.contains("\"kind\":\"invalid-shift-exponent\""));

    // the same again: nothing to search, and what is known is told; a finding counts as a crash when that is asked
    bench.quarry(&arguments).check(0, &[]).shows(&["nothing left to do", place]);
    bench.quarry(&[&arguments[..], &["--fail-on-crash"]].concat()).check(11, &[]);
    bench.quarry(&["confirm"]).check(1, &[]).shows(&[place]);
}

#[test]
fn of_several_functions_a_place_is_told_once() {
    let bench = Bench::new(&[("faults.c", FAULTS)]);
    let ran = bench.quarry(&["gen", "faults.c", "--quiet", "--confirm", "--budget", "20s"]);
    ran.check(0, &[]).shows(&[
        "reported as covered\n",
        "sanitizers: 1 finding\n",
        "shown by grow/tests/test_00",
        "and 1 other",
    ]);
    let run = bench.json("quarry.out/run.json");
    assert_eq!(run["confirmation"]["findings"].as_array().map(Vec::len), Some(1));
    assert_eq!(run["result"]["confirmation"]["disagreements"], 0);
    let sarif = bench.json("quarry.out/report/results.sarif");
    let results = sarif["runs"][0]["results"].as_array().expect("results");
    assert_eq!(results.len(), 1, "{sarif}");
    let file = results[0]["attachments"][0]["artifactLocation"]["uri"].as_str().expect("a file");
    assert!(bench.path("quarry.out").join(file).is_file(), "{file}");
    bench.quarry(&["confirm"]).check(1, &[]).shows(&["shown by grow/tests/test_00"]);
}

/// Reads behind what it owns only where a byte of its input says so, and ends in a way of its own.
const PROGRAM: &str = "#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>\n\n\
    int main(int argc, char **argv)\n{\n    int *cells = malloc(4 * sizeof *cells);\n    if (argc > 1 && argv[1][0] == 'x') {\n        \
    free(cells);\n        return cells[0] & 1;\n    }\n    if (argc > 2)\n        _exit(7);\n    free(cells);\n    \
    return getchar() == 'q' ? 3 : 0;\n}\n";

#[test]
fn programs_are_confirmed_too_however_they_end() {
    let bench = Bench::new(&[("tool.c", PROGRAM)]);
    let ran = bench.quarry(&[
        "gen",
        "tool.c",
        "--program",
        "--quiet",
        "--confirm",
        "--criterion",
        "statement,condition",
    ]);
    ran.check(0, &[]).shows(&[
        "of the 8 condition outcomes reported as covered\n",
        "tool.c:10:16  heap-use-after-free: read of 4 bytes",
    ]);
    let run = bench.json("quarry.out/run.json");
    for criterion in ["statement", "condition"] {
        let claims = &run["confirmation"]["per_criterion"][criterion];
        assert_eq!(claims["claimed"], claims["confirmed"], "{claims}");
    }
}

#[test]
fn a_source_that_changed_is_not_compared() {
    let bench = Bench::new(&[("narrow.c", NARROW)]);
    bench.quarry(&["gen", "narrow.c", "--quiet"]).check(0, &[]);
    fs::write(bench.path("narrow.c"), NARROW.replace("n > 5", "n > 6")).expect("writable");
    bench
        .quarry(&["confirm"])
        .check(2, &["the source has changed since the run", "help: run quarry gen again"]);
    bench.quarry(&["confirm", "."]).check(2, &["is not an output directory", "help: "]);
}
