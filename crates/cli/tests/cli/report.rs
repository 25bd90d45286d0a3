//! Reports: what is in them, that other tools read them, and that llvm-cov counts the same.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::support::{Bench, fixture, read_json};

const DOOR: &str = "int door(int key, int code, int forced)\n{\n    if ((key && code == 42) || forced > 9)\n        \
    return 1;\n    return 0;\n}\n";

fn reported(criterion: &str) -> Bench {
    let bench = Bench::new(&[("door.c", DOOR)]);
    let ran = bench.quarry(&["gen", "door.c", "--criterion", criterion, "--budget", "20s", "--quiet"]);
    ran.check(0, &[]).shows(&["report: ", "quarry.out/report/index.html"]);
    bench
}

fn text(bench: &Bench, file: &str) -> String {
    fs::read_to_string(bench.path(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// The data of a page.
fn page_data(bench: &Bench, file: &str) -> Value {
    let page = text(bench, file);
    let (_, rest) = page.split_once("id=\"data\">").expect("the page has data");
    let (data, _) = rest.split_once("</script>").expect("the data ends");
    serde_json::from_str(data).expect("the data is JSON")
}

#[test]
fn generating_leaves_a_page_that_holds_everything() {
    let bench = reported("mcdc,branch");
    let data = page_data(&bench, "quarry.out/report/index.html");
    assert_eq!(data["run"]["function"], "door");
    assert_eq!(data["files"][0]["parts"][0]["lines"][2], "    if ((key && code == 42) || forced > 9)");
    let n_goals = text(&bench, "quarry.out/goals.jsonl").lines().count();
    assert_eq!(data["goals"].as_array().map(Vec::len), Some(n_goals));
    let tests = bench.list("quarry.out/tests").into_iter().filter(|name| name.ends_with(".json"));
    assert_eq!(data["tests"].as_array().map(Vec::len), Some(tests.count()));
    let points = data["timeline"].as_array().expect("a timeline");
    assert_eq!(points.last().expect("an end")["covered"], data["run"]["result"]["goals"]["covered"]);
}

#[test]
fn def_use_pairs_come_with_both_ends_and_what_was_spent_on_them() {
    let source =
        "int f(int n)\n{\n    int sum = 0;\n    if (n == 77)\n        sum = n;\n    return sum;\n}\n";
    let bench = Bench::new(&[("f.c", source)]);
    let strategy = ["--criterion", "def-use", "--strategy", "cpgs", "--budget", "20s", "--quiet"];
    bench.quarry(&[&["gen", "f.c"][..], &strategy].concat()).check(0, &[]);
    let data = page_data(&bench, "quarry.out/report/index.html");
    let goals = data["goals"].as_array().expect("goals");
    let mut pairs: Vec<String> = goals
        .iter()
        .map(|goal| {
            let definition = &goal["definition"];
            assert_eq!(definition["file"], goal["file"], "{goal}");
            assert_eq!((&goal["state"], goal["test"].is_string()), (&Value::from("covered"), true), "{goal}");
            let variable = goal["variable"].as_str().expect("a variable");
            format!("{variable} {} {} {}", definition["line"], goal["line"], goal["use"])
        })
        .collect();
    pairs.sort();
    let expected = ["n 1 4 \"p-use\"", "n 1 5 \"c-use\"", "sum 3 6 \"c-use\"", "sum 5 6 \"c-use\""];
    assert_eq!(pairs, expected);
    // one run covers the others by the way, but what takes 77 is searched for
    assert!(goals.iter().any(|goal| goal["search"]["executions"].as_u64() > Some(0)), "{goals:#?}");
}

#[test]
fn facts_name_the_evaluations_and_the_pairs_that_show_a_condition() {
    let bench = reported("mcdc");
    let facts = bench.json("quarry.out/coverage/facts.json");
    let decision = &facts["decisions"][0];
    let vectors = decision["vectors"].as_array().expect("evaluations");
    for condition in decision["conditions"].as_array().expect("conditions") {
        let pair = &condition["pairs"][0];
        let half =
            |side: &str| &vectors[usize::try_from(pair[side].as_u64().expect("a pair")).expect("small")];
        assert_ne!(half("when_true")["outcome"], half("when_false")["outcome"], "{condition}");
        for obligation in condition["obligations"].as_array().expect("obligations") {
            assert!(obligation["shown_by"].as_array().is_some_and(|shown| !shown.is_empty()), "{condition}");
        }
    }
    assert_eq!(decision["conditions"][1]["text"], "code == 42");
    assert_eq!(decision["conditions"][1]["end"], serde_json::json!([3, 27]));
    // every evaluation is made by a test, and every test evaluates the decision once
    let hits = vectors.iter().flat_map(|vector| vector["hits"].as_array().expect("hits"));
    assert_eq!(hits.count(), facts["tests"].as_array().expect("tests").len());
}

#[test]
fn a_report_is_written_again_from_the_directory_alone() {
    let bench = reported("mcdc");
    fs::remove_file(bench.path("door.c")).expect("removed");
    let before = text(&bench, "quarry.out/report/index.html");
    fs::remove_dir_all(bench.path("quarry.out/report")).expect("removed");
    bench.quarry(&["report"]).check(0, &[]).shows(&["quarry.out/report/index.html"]);
    assert_eq!(text(&bench, "quarry.out/report/index.html"), before);
    assert!(!text(&bench, "quarry.out/report/lcov.info").contains("MCDC:"));
    bench.quarry(&["report", "quarry.out", "--lcov-mcdc"]).check(0, &[]);
    let lcov = text(&bench, "quarry.out/report/lcov.info");
    assert!(lcov.contains("MCDC:3,3,t,1,1,code == 42\n") && lcov.contains("\nMCF:6\n"), "{lcov}");
}

#[test]
fn what_is_no_finished_run_has_no_report() {
    let bench = Bench::new(&[("door.c", DOOR)]);
    bench.quarry(&["report", "."]).check(2, &["is not an output directory", "help: "]);
    bench.quarry(&["gen", "door.c", "--quiet"]).check(0, &[]);
    fs::remove_file(bench.path("quarry.out/coverage/facts.json")).expect("removed");
    bench.quarry(&["report"]).check(2, &["facts.json", "interrupted"]);
}

#[test]
fn a_source_that_ends_scripts_does_not_end_the_pages() {
    let source = "/* </script><script>alert(1)</script> <!-- */\nint f(int n) { return n > 3 && n < 9; }\n";
    let bench = Bench::new(&[("f.c", source)]);
    bench.quarry(&["gen", "f.c", "--quiet", "--criterion", "condition"]).check(0, &[]);
    let data = page_data(&bench, "quarry.out/report/index.html");
    assert_eq!(data["files"][0]["parts"][0]["lines"][0], source.lines().next().expect("a line"));
}

#[test]
fn findings_are_told_with_place_and_reproducer() {
    let bench = Bench::new(&[]);
    let fixture = fixture("memory/off_by_one.c");
    bench.quarry(&["gen", &fixture, "--function", "month_days", "--quiet", "-o", "out"]).check(0, &[]);
    let sarif = bench.json("out/report/results.sarif");
    let result = &sarif["runs"][0]["results"][0];
    assert_eq!(result["ruleId"], "out-of-bounds-read");
    let rule = usize::try_from(result["ruleIndex"].as_u64().expect("an index")).expect("small");
    assert_eq!(sarif["runs"][0]["tool"]["driver"]["rules"][rule]["id"], result["ruleId"]);
    let place = &result["locations"][0]["physicalLocation"];
    assert_eq!(place["region"]["startLine"], 15);
    assert!(place["artifactLocation"]["uri"].as_str().is_some_and(|uri| uri.ends_with("off_by_one.c")));
    for attachment in result["attachments"].as_array().expect("attachments") {
        let file = attachment["artifactLocation"]["uri"].as_str().expect("a file");
        assert!(bench.path("out").join(file).is_file(), "{file}");
    }
    let junit = text(&bench, "out/report/junit.xml");
    assert!(junit.contains("errors=\"1\"") && junit.contains("<error type=\"crash\""), "{junit}");
}

#[test]
fn genhtml_and_xmllint_accept_what_is_for_them() {
    let bench = reported("branch");
    let schemas = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/schemas");
    let report = bench.path("quarry.out/report");
    let mut genhtml = Command::new("genhtml");
    genhtml.args(["--branch-coverage", "-o"]).arg(bench.path("html")).arg(report.join("lcov.info"));
    let mut cobertura = Command::new("xmllint");
    cobertura.args(["--noout", "--nonet", "--dtdvalid"]);
    cobertura.arg(schemas.join("cobertura.dtd")).arg(report.join("cobertura.xml"));
    let mut junit = Command::new("xmllint");
    junit.args(["--noout", "--nonet", "--schema"]);
    junit.arg(schemas.join("junit.xsd")).arg(report.join("junit.xml"));
    for command in [&mut genhtml, &mut cobertura, &mut junit] {
        let output = command.output().expect("the tool is installed (scripts/setup.sh --tests)");
        let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert!(output.status.success(), "{command:?}\n{said}");
    }
}

#[test]
fn goals_are_covered_exactly_by_tests_that_count_something() {
    let bench = Bench::new(&[]);
    let fixture = fixture("branch/tokenizer.c");
    let subject = ["gen", &fixture, "--function", "count_tokens", "--len", "text=10"];
    let arguments = [&subject, ["--criterion", "statement", "--quiet", "-o", "out"].as_slice()].concat();
    bench.quarry(&arguments).check(0, &[]);
    let facts = bench.json("out/coverage/facts.json");
    let listed = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let tests = listed(&facts["tests"]);
    for (index, test) in tests.iter().enumerate() {
        let record = read_json(&bench.path("out").join(test["file"].as_str().expect("a file")));
        let mut covered: Vec<String> = listed(&record["covers"])
            .iter()
            .map(|goal| goal["at"].as_str().expect("a place").to_owned())
            .collect();
        let hit = |statement: &Value| listed(&statement["hits"]).iter().any(|hit| hit[0] == index);
        let place = |statement: Value| {
            let file = usize::try_from(statement["file"].as_u64().expect("a file")).expect("small");
            let path = facts["files"][file]["path"].as_str().expect("a path");
            format!("{path}:{}:{}", statement["line"], statement["column"])
        };
        let mut counted: Vec<String> =
            listed(&facts["statements"]).into_iter().filter(hit).map(place).collect();
        covered.sort();
        counted.sort();
        assert_eq!(covered, counted, "{test}");
    }
    assert!(!tests.is_empty());
}
