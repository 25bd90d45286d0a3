//! `--criterion boundary`: what its goals mean, checked on the inputs of its suite.

use std::fs;

use serde_json::Value;

use crate::support::{Bench, read_json};

const AGE: &str = "int may(int age, int limit) { return age >= limit ? 1 : 0; }\n";
const SIZE: &str = "int fits(unsigned size) { if (size > 4294967294u) return 1; return 0; }\n";
const HEAT: &str = "int hot(double heat) { if (heat > 36.6) return 1; return 0; }\n";

/// The parameter of each test of a suite, with all boundaries covered.
fn inputs(source: &str, function: &str, parameters: &[&str]) -> Vec<Vec<Value>> {
    let bench = Bench::new(&[("unit.c", source)]);
    let ran = bench.quarry(&[
        "gen",
        "unit.c",
        "--function",
        function,
        "--criterion",
        "boundary",
        "--no-sanitize",
        "--quiet",
        "--message-format",
        "json",
    ]);
    assert_eq!(ran.check(0, &[]).summary()["goals"]["undecided"], 0, "{}", ran.stdout);
    let tests = fs::read_dir(bench.path("quarry.out/tests")).expect("tests were written");
    let tests = tests.map(|entry| entry.expect("readable").path());
    let tests = tests.filter(|path| path.extension().is_some_and(|extension| extension == "json"));
    tests
        .map(|path| read_json(&path)["input"].clone())
        .map(|input| parameters.iter().map(|name| input[*name].clone()).collect())
        .collect()
}

#[test]
fn both_neighbours_of_equality_are_tested() {
    let mut distances: Vec<i64> = inputs(AGE, "may", &["age", "limit"])
        .iter()
        .map(|input| input[0].as_i64().expect("a number") - input[1].as_i64().expect("a number"))
        .collect();
    distances.sort_unstable();
    assert_eq!(distances, [-1, 0, 1]);
}

#[test]
fn a_step_does_not_lead_over_the_end_of_a_type() {
    let mut sizes: Vec<u64> =
        inputs(SIZE, "fits", &["size"]).iter().map(|input| input[0].as_u64().expect("a number")).collect();
    sizes.sort_unstable();
    assert_eq!(sizes, [4_294_967_293, 4_294_967_294, 4_294_967_295]);
}

#[test]
fn neighbours_of_a_floating_point_number_are_one_unit_in_the_last_place_away() {
    let mut heats: Vec<f64> =
        inputs(HEAT, "hot", &["heat"]).iter().map(|input| input[0].as_f64().expect("a number")).collect();
    heats.sort_unstable_by(f64::total_cmp);
    assert_eq!(heats, [36.6_f64.next_down(), 36.6, 36.6_f64.next_up()]);
}

#[test]
fn goals_name_the_comparison_and_how_near_its_sides_come() {
    let bench = Bench::new(&[("unit.c", AGE)]);
    bench.quarry(&["goals", "unit.c", "--criterion", "boundary"]).check(0, &[]).shows(&[
        "1:38    boundary  age == limit  [met goal0]",
        "1:38    boundary  age one below limit  [met goal1]",
        "1:38    boundary  age one above limit  [met goal2]",
        "3 goals for boundary",
    ]);
    // without the criterion nothing is noted
    let ran = bench.quarry(&["goals", "unit.c", "--criterion", "branch,condition"]);
    assert!(!ran.check(0, &[]).stdout.contains("boundary"), "{}", ran.stdout);
}
