//! `quarry mutate`: what counts as noticed, and what is said of the rest.

use std::fs;

use serde_json::{Value, json};

use crate::support::Bench;

/// Generates a suite and measures it.
fn mutated(source: &str, gen_more: &[&str], more: &[&str]) -> (Bench, Value) {
    let bench = Bench::new(&[("unit.c", source)]);
    let generate = ["gen", "unit.c", "--no-sanitize", "--max-executions", "200", "--quiet"];
    bench.quarry(&[&generate, gen_more].concat()).check(0, &[]);
    let ran = bench.quarry(&[&["mutate", "--quiet"], more].concat());
    let summary = ran.check(0, &[]).summary();
    (bench, summary)
}

fn listed(bench: &Bench) -> Vec<Value> {
    bench.json("quarry.out/mutants.json")["list"].as_array().expect("a list").clone()
}

fn state_of<'l>(list: &'l [Value], before: &str, after: &str) -> &'l str {
    let found = list.iter().find(|one| one["before"] == before && one["after"] == after);
    found.unwrap_or_else(|| panic!("no mutant {before} -> {after}: {list:?}"))["state"]
        .as_str()
        .expect("a state")
}

#[test]
fn a_mutant_of_the_same_code_is_equivalent_and_another_one_is_killed() {
    let (bench, summary) = mutated("int same(int x) { return x + 0; }\n", &[], &[]);
    assert_eq!(summary, json!({"mutants": 2, "killed": 1, "alive": 0, "equivalent": 1}));
    let list = listed(&bench);
    assert_eq!(state_of(&list, "x + 0", "x - 0"), "equivalent");
    assert_eq!(state_of(&list, "0", "1"), "killed");
}

#[test]
fn what_no_test_notices_is_listed_with_its_line() {
    let source = "int limit(int x)\n{\n    if (x > 100)\n        x = 100;\n    return x;\n}\n";
    let bench = Bench::new(&[("unit.c", source)]);
    bench.quarry(&["gen", "unit.c", "--no-sanitize", "--max-executions", "50", "--quiet"]).check(0, &[]);
    let ran = bench.quarry(&["mutate", "--quiet"]);
    // on the limit itself both give 100
    ran.check(0, &[]).shows(&["unit.c:3:11: x > 100 becomes x >= 100: ", "\nreport: ", "\n{\"mutants\":"]);
    let page = fs::read_to_string(bench.path("quarry.out/report/index.html")).expect("readable");
    assert!(page.contains("\"mutation\":{"), "the page has a section");
    let killed = listed(&bench).into_iter().find(|one| one["after"] == "0").expect("a condition");
    assert_eq!((&killed["state"], &killed["line"]), (&json!("killed"), &json!(3)), "{killed}");
    assert!(killed["shows"].as_str().is_some_and(|shows| shows.contains("result is")), "{killed}");
}

#[test]
fn hangs_crashes_and_macros_are_noticed() {
    let source = "\
#define NEXT(i) ((i) + 1)
int sum(const int *values, int n)
{
    int sum = 0;
    for (int i = 0; i < n; i = NEXT(i))
        sum += values[i];
    return sum;
}
";
    let (bench, _) = mutated(source, &["--len", "values=3", "--criterion", "branch,boundary"], &[]);
    let list = listed(&bench);
    let at_macro = list.iter().find(|one| one["after"] == "(i) - 1").expect("a mutant in the macro");
    assert_eq!((&at_macro["line"], &at_macro["state"]), (&json!(5), &json!("killed")), "{at_macro}");
    let stepped = list.iter().filter(|one| one["mutation"] == "constant" && one["after"] == "0");
    // without a step the loop has no end
    for one in stepped {
        assert!(one["shows"].as_str().is_some_and(|shows| shows.contains("timed out")), "{one}");
    }
}

#[test]
fn programs_are_judged_by_what_they_print_and_how_they_exit() {
    let source = "\
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    if (argc < 2)
        return 3;
    printf(\"%d\\n\", atoi(argv[1]) * 2);
    return 0;
}
";
    let (bench, summary) = mutated(source, &["--program"], &["-j", "2"]);
    let list = listed(&bench);
    assert_eq!(state_of(&list, "3", "4"), "killed");
    assert_eq!(state_of(&list, "0", "1"), "killed");
    let undecided = summary.get("undecided");
    assert!(undecided.is_none(), "{summary}");
}

#[test]
fn several_functions_add_up_and_a_threshold_fails() {
    let source = "int twice(int x) { return x * 2; }\nint more(int x) { return twice(x) + 1; }\n";
    let bench = Bench::new(&[("unit.c", source)]);
    bench.quarry(&["gen", "unit.c", "--no-sanitize", "--max-executions", "50", "--quiet"]).check(0, &[]);
    let ran = bench.quarry(&["mutate", "--quiet", "--message-format", "json", "--fail-under", "100"]);
    let summary = ran.check(ran.code.unwrap_or(-1), &[]).summary();
    // three in `twice`, which `more` calls, and three in `more`
    assert_eq!(summary["mutants"], 6, "{summary}");
    let all = summary["killed"] == summary["mutants"];
    assert_eq!(ran.code, Some(if all { 0 } else { 10 }), "{summary}");
    bench.quarry(&["mutate", "nowhere"]).check(2, &["not an output directory"]);
}

#[test]
fn a_budget_of_nothing_leaves_mutants_undecided() {
    let (_, summary) = mutated("int same(int x) { return x + 0; }\n", &[], &["--budget", "0s"]);
    assert_eq!(summary, json!({"mutants": 2, "killed": 0, "alive": 0, "equivalent": 0, "undecided": 2}));
}
