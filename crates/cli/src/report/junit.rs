//! `junit.xml`: every test passes, every input that crashes or hangs is an error.

use super::directory::{Kept, Kind, Results};
use super::xml::Document;

/// The report.
pub fn xml(results: &Results) -> String {
    let function = &results.run.function;
    let n_errors = results.findings().count().to_string();
    let counts = [
        ("name", function.as_str()),
        ("tests", &results.tests.len().to_string()),
        ("failures", "0"),
        ("errors", &n_errors),
        ("skipped", "0"),
    ];
    let mut document = Document::new(None);
    document.begin("testsuites", &[("name", "quarry"), counts[1], counts[2], counts[3]]);
    document.begin("testsuite", &counts);
    for kept in &results.tests {
        case(&mut document, results, kept);
    }
    document.finish()
}

fn case(document: &mut Document, results: &Results, kept: &Kept) {
    document.begin("testcase", &[("classname", &results.run.function), ("name", &kept.name)]);
    let end = &kept.record.end;
    match kept.kind {
        Kind::Test => {}
        Kind::Crash | Kind::Hang => {
            let again = match &kept.reproducer {
                Some(reproducer) => format!("reproduced by {} and {}", kept.file, reproducer.file),
                None => format!("reproduced by {}", kept.file),
            };
            document.text("error", &[("type", kept.kind.word()), ("message", end)], &again);
        }
    }
    let call = results.call(kept);
    document.text("system-out", &[], &format!("{call}\n{end}"));
    document.end();
}
