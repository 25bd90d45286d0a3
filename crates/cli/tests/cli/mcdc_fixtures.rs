//! The MC/DC fixtures are covered by both rules as far as they can be, and clang's own MC/DC agrees, condition by condition.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use crate::fixture::{Fixture, check_each};
use crate::fixtures::place_of;
use crate::llvm_cov::{Measured, Native, Place, Sides, Tools};
use crate::statements::{take_part, test_names};
use crate::support::Bench;

const UNIQUE_CAUSE: [&str; 4] = ["--criterion", "mcdc", "--mcdc", "unique-cause"];
const MASKING: [&str; 2] = ["--criterion", "mcdc"];

#[test]
fn mcdc_fixtures_are_covered_and_llvm_cov_agrees() {
    check_each("fixtures/mcdc", check);
}

fn check(fixture: &Fixture) -> Vec<String> {
    let bench = Bench::new(&[]);
    let n_infeasible = fixture.number("infeasible");
    let n_without_pair = fixture.number_if_stated("unique-cause-infeasible").unwrap_or(n_infeasible);
    let mut complaints = Vec::new();
    complaints.extend(check_counts(fixture, &bench, &MASKING, "masking", n_infeasible));
    complaints.extend(check_counts(fixture, &bench, &UNIQUE_CAUSE, "pairs", n_without_pair));
    if complaints.is_empty() {
        complaints.extend(compare_with_llvm_cov(fixture, &bench, "pairs"));
    }
    complaints
}

fn check_counts(
    fixture: &Fixture,
    bench: &Bench,
    criterion: &[&str],
    out: &str,
    n_infeasible: u64,
) -> Option<String> {
    let summary = match fixture.generate(bench, criterion, out) {
        Ok(summary) => summary,
        Err(complaint) => return Some(complaint),
    };
    let counts = &summary["goals"];
    let total = fixture.number("mcdc");
    let wrong = counts["total"] != total || counts["covered"] != total - n_infeasible;
    wrong.then(|| format!("{out}: {counts}, expected {} of {total}", total - n_infeasible))
}

/// Compares on the text without macros, where a position names one place, by the whole suite and by every other test.
fn compare_with_llvm_cov(fixture: &Fixture, bench: &Bench, out: &str) -> Vec<String> {
    let tests = format!("{out}/tests");
    let source = without_macros(fixture, bench);
    let text = fs::read_to_string(&source).expect("readable");
    let replay = fs::read_to_string(bench.path(&tests).join("replay.c")).expect("readable");
    let included = fixture.path.display().to_string();
    let replay = replay.replacen(&included, &source.display().to_string(), 2);
    fs::write(bench.path("replay.c"), replay).expect("writable");
    let native = Native::replay(
        &bench.path("replay.c"),
        &test_names(bench, &tests),
        &bench.path("native"),
        Tools::Mcdc,
    );
    let names = test_names(bench, &tests);
    let half: Vec<String> = names.iter().step_by(2).cloned().collect();
    let mut complaints = Vec::new();
    for (part, names) in [("whole", &names), ("half", &half)] {
        take_part(bench, &tests, part, names);
        let measured = native.measure(&source, names);
        let told = fixture.measure(bench, &source, part, &UNIQUE_CAUSE);
        let masking = fixture.measure(bench, &source, part, &MASKING);
        match (told, masking) {
            (Ok(pairs), Ok(masking)) => {
                let pairs = Conditions::new(&text, &pairs);
                let found = compare(&text, &measured, &pairs, fixture.number("seen-by-clang"));
                complaints.extend(found.into_iter().map(|complaint| format!("{part}: {complaint}")));
                complaints.extend(pairs.beyond(&Conditions::new(&text, &masking)));
            }
            (Err(complaint), _) | (_, Err(complaint)) => complaints.push(complaint),
        }
    }
    complaints
}

fn without_macros(fixture: &Fixture, bench: &Bench) -> PathBuf {
    let source = bench.path("source.c");
    let mut clang = Command::new("clang-19");
    clang.args(["-E", "-P", "-Xclang", "-fkeep-system-includes"]).arg(&fixture.path).arg("-o").arg(&source);
    assert!(clang.status().expect("clang is installed").success(), "{clang:?}");
    source
}

/// Which values of each condition are covered, by where its operand begins.
struct Conditions {
    by_place: BTreeMap<Place, [bool; 2]>,
    /// The decision each is of.
    decisions: BTreeMap<Place, String>,
}

impl Conditions {
    fn new(text: &str, goals: &[(Value, bool)]) -> Self {
        let mut by_place: BTreeMap<Place, [bool; 2]> = BTreeMap::new();
        let mut decisions = BTreeMap::new();
        for (goal, covered) in goals {
            let demand = goal["demand"].as_str().unwrap_or_default();
            let split = |value: &str| Some(demand.split_once(&format!(" being {value} decides "))?.1);
            let (value, decision) = match (split("true"), split("false")) {
                (Some(decision), _) => (true, decision),
                (None, Some(decision)) => (false, decision),
                // entry and exit points
                (None, None) => continue,
            };
            let place = operand(text, place_of(goal).expect("conditions have a place"));
            by_place.entry(place).or_default()[usize::from(value)] = *covered;
            decisions.insert(place, words(decision));
        }
        Self { by_place, decisions }
    }

    /// Complains of what is covered here and not there.
    fn beyond(&self, other: &Self) -> Vec<String> {
        let lacks = |(place, here): (&Place, &[bool; 2])| {
            let there = other.by_place.get(place).copied().unwrap_or_default();
            let missing = (0..2).any(|value| here[value] && !there[value]);
            missing.then(|| format!("{place:?}: covered by unique cause {here:?}, by masking {there:?}"))
        };
        self.by_place.iter().filter_map(lacks).collect()
    }
}

/// Where clang sees the same conditions, it must find a pair for the same ones.
fn compare(text: &str, measured: &Measured, ours: &Conditions, n_expected: u64) -> Vec<String> {
    let mut complaints = Vec::new();
    let mut n_compared = 0;
    for record in &measured.decisions {
        let inside = measured.branches.written.range(record.begin..record.end);
        let theirs: Vec<(Place, Sides)> =
            inside.map(|(place, sides)| (operand(text, *place), *sides)).collect();
        let whole = words(between(text, record.begin, record.end));
        let of_whole = |place: &Place| ours.decisions.get(place) == Some(&whole);
        let inside = ours.by_place.range(record.begin..record.end);
        let here: Vec<Place> = inside.map(|(place, _)| *place).filter(of_whole).collect();
        if !same_conditions(&theirs, &here) {
            continue;
        }
        n_compared += 1;
        for ((place, _), covered) in theirs.iter().zip(&record.covered) {
            let shown = ours.by_place.get(place).copied().unwrap_or_default();
            if shown != [*covered; 2] {
                complaints.push(format!("{place:?}: shown {shown:?}, llvm-cov finds a pair: {covered}"));
            }
        }
    }
    if n_compared != n_expected {
        complaints.push(format!("{n_compared} decisions compared, expected {n_expected}"));
    }
    complaints
}

/// Whether clang sees the conditions that are here, besides constants, which have no counts.
fn same_conditions(theirs: &[(Place, Sides)], here: &[Place]) -> bool {
    let is_constant = |place: &Place, sides: &Sides| *sides == Sides::default() && !here.contains(place);
    let varying = theirs.iter().filter(|(place, sides)| !is_constant(place, sides));
    varying.map(|(place, _)| place).eq(here) && !here.is_empty()
}

/// An expression without what makes no difference to which one it is.
fn words(expression: &str) -> String {
    expression.chars().filter(|c| !c.is_whitespace() && !matches!(c, '(' | ')' | '!')).collect()
}

fn between(text: &str, begin: Place, end: Place) -> &str {
    let offset = |(line, column): Place| {
        let lines = text.split_inclusive('\n').take(index(line));
        lines.map(str::len).sum::<usize>() + index(column)
    };
    &text[offset(begin)..offset(end)]
}

fn index(number: u64) -> usize {
    usize::try_from(number).expect("a small number") - 1
}

/// Where the operand begins behind negations and parentheses, as a condition does that is not one itself.
fn operand(text: &str, (line, column): Place) -> Place {
    let rest = text.lines().nth(index(line)).and_then(|text| text.get(index(column)..)).unwrap_or_default();
    let skipped = rest.len() - rest.trim_start_matches(['!', '(', ' ']).len();
    (line, column + skipped as u64)
}
