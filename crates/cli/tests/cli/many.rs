//! Several functions in one run.

use std::fs;

use serde_json::Value;

use crate::support::Bench;

const ONE: &str = "int first(int a, int b) { if (a > b && b > 0) return 1; return 0; }\n\
                   int other(int c);\nint second(int c) { return other(c) == 3 ? 1 : 2; }\n";
const TWO: &str = "static int hidden(int c) { return c > 0; }\nint other(int c) { return hidden(c) ? 3 : c < -5 ? 1 : 2; }\n";

#[test]
fn each_function_has_its_turn_and_a_file_that_does_not_build_its_reason() {
    let bench = Bench::new(&[("one.c", ONE), ("two.c", TWO), ("bad.c", "int bad(int c) { return c + ; }\n")]);
    let command = ["gen", "one.c", "two.c", "bad.c", "--budget", "300s", "--quiet"];
    let ran = bench.quarry(&command);
    ran.check(0, &[]).shows(&[
        "first   ",
        "everything covered",
        "the program does not build: bad.c",
        "3 functions: 12 of 12 goals covered (100.0%)",
        "1 could not be tested",
    ]);
    assert_eq!(
        bench.list("quarry.out"),
        ["first", "functions.json", "other", "report", "run.json", "second"]
    );
    let listed = bench.json("quarry.out/functions.json");
    let names: Vec<&str> = listed["functions"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|entry| entry["function"].as_str())
        .collect();
    assert_eq!(names, ["first", "second", "other", ""]);
    assert_eq!(listed["functions"][1]["directory"], "second");
    assert_eq!(listed["functions"][1]["result"]["goals"]["covered"], 6, "what other decides counts, too");
    assert_eq!(bench.json("quarry.out/run.json")["result"]["goals"]["covered"], 12);
    bench.quarry(&["replay", "quarry.out/second"]).check(0, &[]);
    bench.quarry(&command).check(0, &[]).shows(&["nothing left to do"]);
}

#[test]
fn files_for_other_tools_are_of_all_functions_together() {
    let bench = Bench::new(&[("one.c", ONE), ("two.c", TWO)]);
    bench.quarry(&["gen", "one.c", "two.c", "--budget", "300s", "--quiet"]).check(0, &[]);
    let text = |file: &str| fs::read_to_string(bench.path("quarry.out").join(file)).expect("a report");
    let check = || {
        let cobertura = text("report/cobertura.xml");
        assert_eq!(cobertura.matches("<class ").count(), 2, "a file is there once\n{cobertura}");
        assert_eq!(cobertura.matches("<method name=\"hidden\"").count(), 1, "{cobertura}");
        // what other decides is executed by its own tests and by those of second
        let hits = |report: &str, line: u32| {
            let record = report.split(&format!("<line number=\"{line}\" hits=\"")).nth(1).expect("the line");
            record.split('"').next().and_then(|n| n.parse::<u64>().ok()).expect("a number")
        };
        let of = |function: &str| {
            let report = text(&format!("{function}/report/cobertura.xml"));
            let of_file = report.split("filename=\"two.c\"").nth(1).expect("the file").to_owned();
            hits(&of_file, 2)
        };
        let of_file = cobertura.split("filename=\"two.c\"").nth(1).expect("the file");
        assert_eq!(hits(of_file, 2), of("second") + of("other"));
        let junit = text("report/junit.xml");
        assert_eq!(junit.matches("<testsuite ").count(), 3, "{junit}");
        let n_tests = bench.json("quarry.out/run.json")["result"]["tests"].as_u64().expect("tests");
        assert!(junit.contains(&format!("<testsuites name=\"quarry\" tests=\"{n_tests}\"")), "{junit}");
        assert_eq!(
            bench.json("quarry.out/report/results.sarif")["runs"][0]["results"],
            serde_json::json!([])
        );
    };
    check();
    fs::remove_dir_all(bench.path("quarry.out/report")).expect("removed");
    bench.quarry(&["report"]).check(0, &[]);
    check();
}

#[test]
fn programs_that_do_not_fit_together_are_built_file_by_file() {
    let main = |name: &str| {
        format!(
            "int {name}(int x) {{ return x > 7; }}\nint shared(int x) {{ return x < 3 ? 1 : 0; }}\nint main(void) {{ return {name}(1); }}\n"
        )
    };
    let bench = Bench::new(&[("a.c", &main("alpha")), ("b.c", &main("beta"))]);
    let database: Vec<Value> = ["a.c", "b.c"]
        .iter()
        .map(|file| serde_json::json!({"directory": bench.path(""), "file": file, "command": format!("cc -c {file}")}))
        .collect();
    fs::create_dir(bench.path("build")).expect("created");
    fs::write(bench.path("build/compile_commands.json"), Value::from(database).to_string())
        .expect("writable");
    let ran =
        bench.quarry(&["gen", "-p", "build", "--budget", "300s", "--quiet", "--message-format", "json"]);
    let summary = ran.check(0, &[]).summary();
    assert_eq!((&summary["goals"]["covered"], &summary["stop"]), (&Value::from(4), &Value::from("complete")));
    let listed = bench.json("quarry.out/functions.json");
    let entries = listed["functions"].as_array().expect("a list");
    assert_eq!(entries.len(), 4);
    assert!(entries.iter().all(|entry| entry["reason"].is_null()), "{listed}");
}

#[test]
fn programs_of_one_project_share_its_other_files() {
    let main = |name: &str| {
        format!(
            "int other(int c);\nint {name}(int x) {{ return other(x) == 3; }}\nint main(void) {{ return {name}(1); }}\n"
        )
    };
    let files = [("one.c", ONE), ("two.c", TWO), ("alpha.c", &main("alpha")), ("beta.c", &main("beta"))];
    let bench = Bench::new(&files);
    let names = files.map(|(name, _)| name);
    let command = [&["gen"], &names[..], &["--budget", "300s", "--quiet"]].concat();
    bench.quarry(&command).check(0, &[]).shows(&["5 functions: 20 of 20 goals covered (100.0%)"]);
    let spec = |function: &str| {
        bench.json(&format!("quarry.out/{function}/run.json"))["spec"]["sources"]["files"].clone()
    };
    assert_eq!(spec("alpha"), serde_json::json!(["two.c", "alpha.c"]), "what it needs, and no other main");
    assert_eq!(spec("second"), serde_json::json!(["one.c", "two.c"]), "no main");
    assert_eq!(spec("other"), serde_json::json!(["two.c"]), "nothing else is needed");
    bench.quarry(&["replay", "quarry.out/alpha"]).check(0, &[]);
}

#[test]
fn a_main_that_a_header_defines_makes_a_program_of_its_own() {
    let header = "void run_tests(void);\nint main(void) { run_tests(); return 0; }\n";
    let test = |name: &str| {
        format!(
            "#include \"test.h\"\nint other(int c);\nint {name}(int x) {{ return other(x) > 1; }}\nvoid run_tests(void) {{ {name}(1); }}\n"
        )
    };
    let seed = ("seed.c", "int seed = 3;\n");
    let user = ("user.c", "extern int seed;\nint uses(int x) { return x > seed ? 1 : 0; }\n");
    let bench = Bench::new(&[
        ("test.h", header),
        ("two.c", TWO),
        ("alpha.c", &test("alpha")),
        ("beta.c", &test("beta")),
        seed,
        user,
    ]);
    let command = ["gen", "two.c", "alpha.c", "beta.c", "seed.c", "user.c", "--budget", "300s"];
    let ran = bench.quarry(&command);
    ran.check(0, &[]).shows(&["6 functions: ", "(100.0%)"]);
    assert!(!ran.stderr.contains("does not build"), "{}", ran.stderr);
    let spec = |function: &str| {
        bench.json(&format!("quarry.out/{function}/run.json"))["spec"]["sources"]["files"].clone()
    };
    assert_eq!(spec("alpha"), serde_json::json!(["two.c", "alpha.c"]));
    assert_eq!(spec("uses"), serde_json::json!(["seed.c", "user.c"]), "variables count, too");
}

#[test]
fn one_function_at_a_time_gives_what_two_give() {
    let suite = |jobs: &str| {
        let bench = Bench::new(&[("one.c", ONE), ("two.c", TWO)]);
        let command =
            ["gen", "one.c", "two.c", "--max-executions", "200", "--budget", "300s", "--quiet", "-j", jobs];
        bench.quarry(&command).check(0, &[]);
        let tests = |function: &str| {
            let files = bench.list(&format!("quarry.out/{function}/tests"));
            let read = |file: &String| {
                fs::read_to_string(bench.path(&format!("quarry.out/{function}/tests/{file}")))
                    .expect("a test")
            };
            // the others name the directory
            let inputs = files.iter().filter(|file| file.ends_with(".json"));
            inputs.map(|file| (file.clone(), read(file))).collect::<Vec<_>>()
        };
        ["first", "second", "other"].map(tests)
    };
    assert_eq!(suite("1"), suite("2"));
}

#[test]
fn a_budget_that_is_too_small_for_all_says_what_would_do() {
    let functions = |n: usize| {
        (0..n).map(|i| format!("int f{i}(int x) {{ return x > {i} ? 1 : 0; }}\n")).collect::<String>()
    };
    let bench = Bench::new(&[("many.c", &functions(400))]);
    let ran = bench.quarry(&["gen", "many.c", "--budget", "6s", "--message-format", "json"]);
    let summary = ran.check(0, &[]).summary();
    assert_eq!(summary["stop"], "budget");
    let listed = bench.json("quarry.out/functions.json");
    let entries = listed["functions"].as_array().expect("a list");
    let has_turn = |entry: &&Value| entry["reason"].is_null();
    let told = |entry: &&Value| {
        let reason = entry["reason"].as_str().unwrap_or_default();
        reason.starts_with("the budget ended before its turn: a function takes")
            && reason.contains("--budget ")
            || reason == "the budget ended while building"
    };
    let (n_turns, n_told) = (entries.iter().filter(has_turn).count(), entries.iter().filter(told).count());
    assert_eq!(n_turns + n_told, 400, "{listed}");
    assert!(n_told > 0, "{listed}");
    let executed = |entry: &Value| entry["result"]["executions"].as_u64().is_some_and(|n| n > 0);
    assert!(entries.iter().filter(has_turn).all(executed), "a turn without an execution is no result");
}

#[test]
fn nothing_that_builds_is_a_failure() {
    let bench = Bench::new(&[("a.c", "int a(int c) { return ; + }\n"), ("b.c", "int b(\n")]);
    bench.quarry(&["gen", "a.c", "b.c", "--quiet"]).check(20, &["the program does not build"]);
}
