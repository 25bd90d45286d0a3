//! Every fixture's feasible branches are covered, clang's own coverage tools agree, and a seed repeats its suite.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::fixture::{Fixture, check_each};
use crate::llvm_cov::{Measured, Native, Place, Sides, Tools};
use crate::statements::{compare_statements, test_names};
use crate::support::{Bench, read_json};
use serde_json::Value;

#[test]
fn fixtures_are_covered_and_llvm_cov_agrees() {
    check_each("fixtures/branch", check);
}

#[test]
fn what_depends_on_library_functions_is_covered_and_llvm_cov_agrees() {
    check_each("fixtures/library", check);
}

#[test]
fn what_depends_on_floating_point_numbers_is_covered_and_llvm_cov_agrees() {
    check_each("fixtures/float", check);
}

#[test]
fn every_kind_of_input_is_built_and_llvm_cov_agrees() {
    check_each("fixtures/inputs", check);
}

#[test]
fn programs_are_covered_and_llvm_cov_agrees() {
    check_each("fixtures/programs", check);
}

#[test]
fn what_kept_others_from_covering_is_covered() {
    check_each("fixtures/causes", check);
}

/// Functions and programs, with pointers, long, size_t, library functions, arguments and streams in them.
const ON_32_BITS: [&str; 7] = [
    "branch/struct_value.c",
    "branch/widths.c",
    "library/options.c",
    "library/header.c",
    "programs/calculator.c",
    "programs/csv.c",
    "causes/g8_library.c",
];

#[test]
fn fixtures_are_covered_on_32_bits() {
    for name in ON_32_BITS {
        let fixture = Fixture::named(&format!("fixtures/{name}"));
        let bench = Bench::new(&[]);
        // behind the fixture's own arguments, because these are the compiler's
        let summary = fixture.generate_for(&bench, &["--criterion", "branch"], "out", &["-m32"]);
        let counts = &summary.unwrap_or_else(|complaint| panic!("{name}: {complaint}"))["goals"];
        let expected = fixture.number("branches") - fixture.number("infeasible");
        assert_eq!(counts["covered"], expected, "{name}: {counts}");
        bench.quarry(&["replay", "out"]).check(0, &[]);
    }
}

#[test]
fn what_depends_on_addresses_is_covered_without_a_path_per_entry() {
    check_each("fixtures/memory", check);
}

#[test]
fn what_depends_on_functions_defined_nowhere_is_covered_and_llvm_cov_agrees() {
    check_each("fixtures/calls", check);
}

/// Everything that is wrong with a fixture.
fn check(fixture: &Fixture) -> Vec<String> {
    let bench = Bench::new(&[]);
    let (n_branches, n_infeasible) = (fixture.number("branches"), fixture.number("infeasible"));
    let summary = match fixture.generate(&bench, &["--criterion", "branch"], "first") {
        Ok(summary) => summary,
        Err(complaint) => return vec![complaint],
    };
    let mut complaints = compare_stated(fixture, &summary);
    let goals = read_goals(&bench.path("first/goals.jsonl"));
    let counts = &summary["goals"];
    let expected = n_branches - n_infeasible;
    if counts["total"] != n_branches || counts["covered"] != expected {
        let open = goals.iter().filter(|goal| goal["state"] != "covered").map(Value::to_string);
        let open: Vec<_> = open.collect();
        complaints.push(format!(
            "{} of {} covered, expected {expected} of {}; stop: {}\n{}",
            counts["covered"],
            counts["total"],
            n_branches,
            summary["stop"],
            open.join("\n")
        ));
    }
    let replayed = replayed(fixture, &bench, "first");
    complaints.extend(compare_branches(
        &bench,
        "first",
        &replayed.measure(&fixture.path, &test_names(&bench, "first/tests")),
    ));
    complaints.extend(compare_statements(fixture, &bench, "first", &replayed));
    complaints.extend(measure_again(fixture, &bench, "branch", "first", &summary));
    match fixture.generate(&bench, &["--criterion", "branch"], "second") {
        Ok(_) => complaints.extend(compare_suites(&bench)),
        Err(complaint) => complaints.push(complaint),
    }
    // llvm-cov counts conditions, not what they add up to: where they do, look at them one by one
    if goals.iter().any(has_several_conditions) {
        match fixture.generate(&bench, &["--criterion", "condition"], "conditions") {
            Ok(summary) => {
                let measured = self::replayed(fixture, &bench, "conditions")
                    .measure(&fixture.path, &test_names(&bench, "conditions/tests"));
                complaints.extend(compare_branches(&bench, "conditions", &measured));
                complaints.extend(measure_again(fixture, &bench, "condition", "conditions", &summary));
            }
            Err(complaint) => complaints.push(complaint),
        }
    }
    complaints
}

/// What a fixture says of the search itself: at most so many executions and divergences, exactly so many crashes.
fn compare_stated(fixture: &Fixture, summary: &Value) -> Vec<String> {
    let at_most = ["executions", "divergences"].into_iter().filter(|name| {
        let stated = fixture.number_if_stated(name);
        stated.is_some_and(|most| summary[*name].as_u64().is_none_or(|found| found > most))
    });
    let exactly = ["crashes"].into_iter().filter(|name| {
        fixture.number_if_stated(name).is_some_and(|stated| summary[*name].as_u64() != Some(stated))
    });
    let stated = |name: &str| fixture.number_if_stated(name).unwrap_or_default();
    at_most
        .chain(exactly)
        .map(|name| format!("{name}: {}, stated: {}", summary[name], stated(name)))
        .collect()
}

/// Measured as an existing suite, what was generated covers the same.
fn measure_again(
    fixture: &Fixture,
    bench: &Bench,
    criterion: &str,
    out: &str,
    summary: &Value,
) -> Option<String> {
    let source = fixture.path.display().to_string();
    let ran = bench.quarry(&["cover", &source, out, "--criterion", criterion, "--message-format", "json"]);
    if ran.code != Some(0) {
        return Some(format!("quarry cover: exit {:?}\n{}", ran.code, ran.stderr));
    }
    let measured = ran.summary();
    // an execution that was too slow on a busy machine is no hang the second time, but covers the same
    (measured["per_criterion"] != summary["per_criterion"])
        .then(|| format!("generated: {summary}\nmeasured: {measured}"))
}

fn read_goals(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).expect("goals were written");
    text.lines().map(|line| serde_json::from_str(line).expect("a goal per line")).collect()
}

/// The same seed, the same tests.
fn compare_suites(bench: &Bench) -> Vec<String> {
    let (first, second) = (bench.list("first/tests"), bench.list("second/tests"));
    if first != second {
        return vec![format!("the same seed gave {first:?} and {second:?}")];
    }
    let differs = |name: &&String| {
        fs::read(bench.path("first/tests").join(name)).ok()
            != fs::read(bench.path("second/tests").join(name)).ok()
    };
    first.iter().filter(differs).map(|name| format!("the same seed gave two versions of {name}")).collect()
}

/// The suite replayed natively.
pub fn replayed(fixture: &Fixture, bench: &Bench, out: &str) -> Native {
    let tests = format!("{out}/tests");
    let names = test_names(bench, &tests);
    let (replay, work) = (bench.path(&tests).join("replay.c"), bench.path(&format!("{out}.native")));
    if fixture.is_program() {
        Native::replay_program(&fixture.path, &replay, &names, &work)
    } else {
        Native::replay(&replay, &names, &work, Tools::Counts)
    }
}

/// Where llvm-cov has a record at a goal's place, both must say the same of it.
pub fn compare_branches(bench: &Bench, out: &str, measured: &Measured) -> Vec<String> {
    let goals = read_goals(&bench.path(&format!("{out}/goals.jsonl")));
    let tests = format!("{out}/tests");
    let branches = &measured.branches;
    let covered_in_suite = goals_of_suite(bench, &tests);
    let covered = |goal: &Value| covered_in_suite.contains(&goal["id"].as_u64().expect("goals have ids"));
    let mut complaints = Vec::new();
    let mut n_compared = 0;
    let mut in_macros: BTreeMap<Place, Vec<&Value>> = BTreeMap::new();
    for goal in &goals {
        let Some(place) = place_of(goal) else { continue };
        if !branches.written.contains_key(&place) {
            in_macros.entry(place).or_default().push(goal);
        } else if let Some(count) = count_of(goal, branches.written[&place]) {
            n_compared += 1;
            if covered(goal) != (count > 0) {
                complaints.push(format!("covered: {}, but llvm-cov counts {count}: {goal}", covered(goal)));
            }
        }
    }
    for (place, goals) in in_macros {
        let records = branches.expanded.get(&place).map(Vec::as_slice).unwrap_or_default();
        // within one use of a macro goals and records cannot be told apart, but they must be as many
        if goals.len() != 2 * records.len() || goals.iter().any(|goal| has_several_conditions(goal)) {
            continue;
        }
        n_compared += goals.len();
        let n_covered = goals.iter().filter(|goal| covered(goal)).count();
        let taken = |sides: &Sides| usize::from(sides.when_true > 0) + usize::from(sides.when_false > 0);
        let n_taken: usize = records.iter().map(taken).sum();
        if n_covered != n_taken {
            complaints.push(format!("{place:?}: {n_covered} goals are covered, llvm-cov counts {n_taken}"));
        }
    }
    if n_compared == 0 {
        complaints.push(format!("llvm-cov knows none of {} goals", goals.len()));
    }
    complaints
}

/// Ids of the goals that the tests that end in order cover; crashes and hangs are not part of the replayed suite.
fn goals_of_suite(bench: &Bench, tests: &str) -> Vec<u64> {
    let names = bench.list(tests).into_iter().filter(|name| name.ends_with(".json"));
    let covers = |name: String| read_json(&bench.path(tests).join(name))["covers"].clone();
    let ids = names.flat_map(|name| covers(name).as_array().cloned().unwrap_or_default());
    ids.filter_map(|covered| covered["goal"].as_u64()).collect()
}

/// How often llvm-cov saw what the goal demands; `None` where it has no record of its own for it.
fn count_of(goal: &Value, sides: Sides) -> Option<u64> {
    let demand = goal["demand"].as_str()?;
    if has_several_conditions(goal) {
        return None;
    }
    if demand.ends_with(" is true") || demand.contains(" goes to ") {
        Some(sides.when_true)
    } else if demand.ends_with(" is false") {
        Some(sides.when_false)
    } else {
        None
    }
}

pub fn place_of(goal: &Value) -> Option<Place> {
    Some((goal["line"].as_u64()?, goal["column"].as_u64()?))
}

/// Of a decision with several conditions llvm-cov only knows the conditions.
fn has_several_conditions(goal: &Value) -> bool {
    goal["demand"].as_str().is_some_and(|demand| demand.contains("&&") || demand.contains("||"))
}
