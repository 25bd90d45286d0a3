//! `junit.xml`: a suite per function, in which tests pass; an input that crashes or hangs is an error, a test with a
//! sanitizer finding is a failure, and so is a difference to the version before if that was asked for.

use crate::confirmation::SanitizerFinding;
use crate::differences::{DIFFERENCES, DifferenceRecord};
use crate::results::{Kept, Kind, Part};
use crate::xml::Document;

/// The report of an output directory; of several functions when there are several parts.
pub fn xml(parts: &[Part<'_>]) -> String {
    let counts: Vec<[usize; 3]> = parts.iter().map(counts).collect();
    let total = |index: usize| counts.iter().map(|counts| counts[index]).sum::<usize>().to_string();
    let mut document = Document::new(None);
    document.begin(
        "testsuites",
        &[("name", "quarry"), ("tests", &total(0)), ("failures", &total(1)), ("errors", &total(2))],
    );
    for (part, [n_tests, n_failures, n_errors]) in parts.iter().zip(counts) {
        document.begin(
            "testsuite",
            &[
                ("name", &part.results.run.function),
                ("tests", &n_tests.to_string()),
                ("failures", &n_failures.to_string()),
                ("errors", &n_errors.to_string()),
                ("skipped", "0"),
            ],
        );
        for kept in &part.results.tests {
            case(&mut document, part, kept);
        }
        for (found, number) in differences(part).zip(1..) {
            difference(&mut document, part, found, number);
        }
        document.end();
    }
    document.finish()
}

/// Tests, failures and errors.
fn counts(part: &Part<'_>) -> [usize; 3] {
    let results = part.results;
    let is_failure = |kept: &&Kept| kept.kind == Kind::Test && reports(part, kept).next().is_some();
    let n_failures = results.tests.iter().filter(is_failure).count();
    let n_differences = differences(part).count();
    let n_tests = results.tests.len() + n_differences;
    [n_tests, n_failures + n_differences, results.findings().count()]
}

/// Differences to the version before, when they count as failures.
fn differences<'p>(part: &Part<'p>) -> impl Iterator<Item = &'p DifferenceRecord> {
    let results = part.results;
    let found = results.differences.iter().filter(|_| results.fails_on_difference());
    found.flat_map(|found| &found.differences)
}

fn difference(document: &mut Document, part: &Part<'_>, found: &DifferenceRecord, number: usize) {
    let name = format!("difference_{number:03}");
    document.begin("testcase", &[("classname", &part.results.run.function), ("name", &name)]);
    let file = part.within(&format!("{DIFFERENCES}/tests/test_{number:03}.json"));
    let text = format!("{}\n{}\nthe input is in {file}", found.call, found.words());
    document.text("failure", &[("type", "version-difference"), ("message", &found.words())], &text);
    document.end();
}

/// What sanitizers report first of this input.
fn reports<'p>(part: &Part<'p>, kept: &'p Kept) -> impl Iterator<Item = &'p SanitizerFinding> {
    let confirmation = part.results.run.confirmation.iter();
    let findings = confirmation.flat_map(|confirmation| &confirmation.findings);
    findings.filter(|finding| finding.test == kept.file)
}

fn case(document: &mut Document, part: &Part<'_>, kept: &Kept) {
    let results = part.results;
    document.begin("testcase", &[("classname", &results.run.function), ("name", &kept.name)]);
    let (end, file) = (&kept.record.end, part.within(&kept.file));
    match kept.kind {
        Kind::Test => {
            let reports: Vec<_> = reports(part, kept).collect();
            if let Some(first) = reports.first() {
                let lines = reports.iter().map(|one| format!("{}: {}: {}", one.at(), one.kind, one.message));
                let lines: Vec<String> = lines.chain([format!("reproduced by {file}")]).collect();
                let message = format!("{}: {}", first.at(), first.message);
                document.text("failure", &[("type", &first.kind), ("message", &message)], &lines.join("\n"));
            }
        }
        Kind::Crash | Kind::Hang => {
            let again = match &kept.reproducer {
                Some(reproducer) => format!("reproduced by {file} and {}", part.within(&reproducer.file)),
                None => format!("reproduced by {file}"),
            };
            document.text("error", &[("type", kept.kind.word()), ("message", end)], &again);
        }
    }
    let call = results.call(kept);
    document.text("system-out", &[], &format!("{call}\n{end}"));
    document.end();
}
