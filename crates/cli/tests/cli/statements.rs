//! Statement coverage beside llvm-cov's counts.

use std::fs;

use crate::fixture::Fixture;
use crate::fixtures::place_of;
use crate::llvm_cov::{Measured, Native, Place};
use crate::support::{Bench, read_json};

/// A statement is covered exactly when llvm-cov counts something where it stands. Looked at for every other test, which
/// leaves statements out. llvm-cov does not see that a call ended the run: such tests are looked at apart.
pub fn compare_statements(fixture: &Fixture, bench: &Bench, out: &str, native: &Native) -> Vec<String> {
    let suite = format!("{out}/tests");
    let names: Vec<String> = test_names(bench, &suite).into_iter().step_by(2).collect();
    let returns =
        |name: &String| read_json(&bench.path(&suite).join(format!("{name}.json")))["end"] == "returned";
    let (returning, ending): (Vec<_>, Vec<_>) = names.into_iter().partition(returns);
    let mut complaints = Vec::new();
    for (part, names) in [("returning", returning), ("ending", ending)] {
        if !names.is_empty() {
            take_part(bench, &suite, part, &names);
            let found = compare_part(fixture, bench, part, &native.measure(&fixture.path, &names));
            complaints.extend(found.into_iter().map(|complaint| format!("{part}: {complaint}")));
        }
    }
    complaints
}

fn compare_part(fixture: &Fixture, bench: &Bench, part: &str, measured: &Measured) -> Vec<String> {
    let goals = match fixture.measure(bench, &fixture.path, part, &["--criterion", "statement"]) {
        Ok(goals) => goals,
        Err(complaint) => return vec![complaint],
    };
    let text = fs::read_to_string(&fixture.path).expect("readable");
    let mut complaints = Vec::new();
    let mut n_compared = 0;
    for (goal, covered) in &goals {
        let place = place_of(goal).expect("statements have a place");
        // within the use of a macro there is one place for many statements
        if measured.branches.expanded.contains_key(&place) {
            continue;
        }
        let Some(count) = measured.count_at(counted(&text, place)) else { continue };
        n_compared += 1;
        let may_be_cut_off = part == "ending" && count > 0;
        if *covered != (count > 0) && !may_be_cut_off {
            complaints.push(format!("covered: {covered}, but llvm-cov counts {count}: {goal}"));
        }
    }
    if n_compared == 0 {
        complaints.push(format!("llvm-cov counts none of {} statements", goals.len()));
    }
    complaints
}

/// Names of the tests in a suite.
pub fn test_names(bench: &Bench, suite: &str) -> Vec<String> {
    let name = |file: String| file.strip_suffix(".json").map(str::to_owned);
    bench.list(suite).into_iter().filter_map(name).collect()
}

/// Copies these tests of a suite to a directory of their own.
pub fn take_part(bench: &Bench, suite: &str, part: &str, names: &[String]) {
    fs::create_dir(bench.path(part)).expect("created");
    for name in names {
        let file = format!("{name}.json");
        fs::copy(bench.path(suite).join(&file), bench.path(part).join(&file)).expect("copied");
    }
}

/// Where llvm-cov counts a statement: the `while` at the end of a `do` counts with its condition, not with what stands
/// around it.
fn counted(text: &str, (line, column): Place) -> Place {
    let rest = usize::try_from(line).ok().and_then(|line| text.lines().nth(line - 1));
    let rest = rest.and_then(|text| text.get(usize::try_from(column).ok()? - 1..)).unwrap_or_default();
    match rest.strip_prefix("while (") {
        Some(_) => (line, column + "while (".len() as u64),
        None => (line, column),
    }
}
