//! `results.sarif`: crashes, out-of-bounds accesses, hangs and sanitizer findings, in the format of static analysers (SARIF
//! 2.1.0), each with the files that reproduce it.
//!
//! Written as JSON directly: the crate of SARIF types generates its code from the schema at build time, with two dozen
//! further crates, for the handful of objects that are needed here. `scripts/check-report.py` checks the result.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::{Value, json};

use crate::confirmation::SanitizerFinding;
use crate::differences::{DIFFERENCES, DifferenceRecord};
use crate::facts::Cause;
use crate::record::{FrameRecord, SourcePosition};
use crate::results::{Kept, Part, Results};

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";
/// The rule of inputs on which two versions differ.
const DIFFERENCE: &str = "version-difference";
const ALL_CAUSES: [Cause; 11] = [
    Cause::OutOfBoundsRead,
    Cause::OutOfBoundsWrite,
    Cause::Signal,
    Cause::Abort,
    Cause::StackOverflow,
    Cause::OutOfMemory,
    Cause::Hang,
    Cause::UseAfterFree,
    Cause::InvalidFree,
    Cause::MemoryLeak,
    Cause::UndefinedBehaviour,
];

/// The log of an output directory; of several functions when there are several parts.
pub fn log(root: &Path, parts: &[Part<'_>]) -> Value {
    let of_causes = ALL_CAUSES.iter().map(|cause| rule(cause.id(), cause.describe(), level(*cause)));
    let mut rules: Vec<Value> = of_causes.collect();
    let mut found: Vec<Value> = Vec::new();
    for part in parts {
        found.extend(part.results.findings().filter_map(|kept| result(part, kept)));
    }
    if parts.iter().any(|part| part.results.differences.is_some()) {
        rules.push(rule(
            DIFFERENCE,
            "Two versions of the program behave differently on an input.",
            "warning",
        ));
        let index = rules.len() - 1;
        found.extend(parts.iter().flat_map(|part| differences(part, index)));
    }
    for (part, finding) in reports(parts) {
        let id = rule_id(finding);
        let index = rules.iter().position(|rule| rule["id"] == id.as_str()).unwrap_or_else(|| {
            let what = format!("What the {} sanitizer calls {}.", finding.sanitizer, finding.kind);
            rules.push(rule(&id, &what, "error"));
            rules.len() - 1
        });
        found.push(report(part, finding, &id, index));
    }
    let Some(run) = parts.first().map(|part| &part.results.run) else { return empty() };
    json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": { "name": "Quarry", "version": run.quarry, "rules": rules } },
            "columnKind": "utf16CodeUnits",
            "originalUriBaseIds": {
                "SOURCES": { "uri": directory_uri(&run.directory) },
                "RUN": { "uri": directory_uri(root) },
            },
            "results": found,
        }],
    })
}

/// Inputs on which the version before behaves differently, at the first place that changed in either version.
fn differences(part: &Part<'_>, index: usize) -> Vec<Value> {
    let results = part.results;
    let (new, old) = results.first_change();
    let at =
        |at: &SourcePosition| location(results, &results.run.directory.join(&at.file), at.line, at.column);
    let one = |(difference, number): (&DifferenceRecord, usize)| {
        let file = format!("{DIFFERENCES}/tests/test_{number:03}.json");
        let files = [(file.as_str(), "the input, and what comes of it now")];
        let text = format!("{}: {}", difference.call, difference.words());
        let mut result = json!({
            "ruleId": DIFFERENCE,
            "ruleIndex": index,
            "level": "warning",
            "message": { "text": text },
            "attachments": attachments(part, &files),
            "properties": { "function": results.run.function },
        });
        if let Some(new) = new {
            result["locations"] = json!([at(new)]);
        }
        if let Some(old) = old {
            let mut before = at(old);
            before["message"] = json!({ "text": "the version before" });
            result["relatedLocations"] = json!([before]);
        }
        result
    };
    let all = results.differences.iter().flat_map(|found| &found.differences);
    all.zip(1..).map(one).collect()
}

/// A log of nothing.
fn empty() -> Value {
    let driver = json!({ "name": "Quarry", "version": env!("CARGO_PKG_VERSION") });
    json!({ "$schema": SCHEMA, "version": "2.1.0", "runs": [{ "tool": { "driver": driver }, "results": [] }] })
}

fn rule(id: &str, what: &str, level: &str) -> Value {
    json!({
        "id": id,
        "shortDescription": { "text": what },
        "defaultConfiguration": { "level": level },
    })
}

fn rule_id(finding: &SanitizerFinding) -> String {
    format!("sanitizer-{}", finding.kind)
}

/// What sanitizers report, each kind and place once.
fn reports<'p>(parts: &'p [Part<'p>]) -> Vec<(&'p Part<'p>, &'p SanitizerFinding)> {
    let mut known = BTreeSet::new();
    let of_part = |part: &'p Part<'p>| {
        let findings = part.results.run.confirmation.iter().flat_map(|confirmation| &confirmation.findings);
        findings.map(move |finding| (part, finding))
    };
    let all = parts.iter().flat_map(of_part);
    all.filter(|(_, finding)| known.insert((finding.at(), &finding.kind))).collect()
}

fn result(part: &Part<'_>, kept: &Kept) -> Option<Value> {
    let results = part.results;
    let facts = results.facts_of(kept)?;
    let cause = facts.cause?;
    let finding = kept.record.finding.as_ref();
    if finding.is_some_and(|finding| finding.same_as.is_some()) {
        return None; // told already
    }
    let call = results.call(kept);
    let index = ALL_CAUSES.iter().position(|known| *known == cause);
    let mut files = vec![(kept.file.as_str(), "the input, for quarry replay")];
    files.extend(
        kept.reproducer.iter().map(|program| (program.file.as_str(), "a C program that reproduces it")),
    );
    let mut result = json!({
        "ruleId": cause.id(),
        "ruleIndex": index,
        "level": level(cause),
        "message": { "text": format!("{call}: {}", kept.record.end) },
        "stacks": stacks(results, kept),
        "attachments": attachments(part, &files),
        "properties": { "test": kept.name, "function": results.run.function },
    });
    if let Some(at) = facts.place {
        let file = &results.facts.files[at.file];
        let key = format!("{}:{}:{}:{}", cause.id(), file.path, at.line, at.column);
        result["locations"] = json!([location(results, &file.absolute, at.line, at.column)]);
        result["partialFingerprints"] = json!(BTreeMap::from([("quarryFinding/v1", key)]));
    }
    Some(result)
}

/// The calls that led to a finding.
fn stacks(results: &Results, kept: &Kept) -> Vec<Value> {
    let Some(finding) = kept.record.finding.as_ref().filter(|finding| !finding.stack.is_empty()) else {
        return Vec::new();
    };
    let frame = |frame: &FrameRecord| {
        let SourcePosition { file, line, column } = &frame.place;
        let known = results.facts.files.iter().find(|known| known.path == *file);
        let path = known.map_or_else(|| results.run.directory.join(file), |known| known.absolute.clone());
        let mut at = location(results, &path, *line, *column);
        at["message"] = json!({ "text": frame.function });
        json!({ "location": at })
    };
    let message = json!({ "text": format!("reproduce: {}", finding.reproduce) });
    vec![json!({ "message": message, "frames": finding.stack.iter().map(frame).collect::<Vec<_>>() })]
}

/// Something that a sanitizer noticed.
fn report(part: &Part<'_>, finding: &SanitizerFinding, id: &str, index: usize) -> Value {
    let results = part.results;
    let kept = results.tests.iter().find(|kept| kept.file == finding.test);
    let call = kept.map(|kept| results.call(kept)).unwrap_or_default();
    let mut files = vec![(finding.test.as_str(), "the input, for quarry replay")];
    let program = kept.and_then(|kept| kept.reproducer.as_ref()).map(|program| program.file.as_str());
    files.push((program.unwrap_or("tests/replay.c"), "a C program that reproduces it"));
    let mut result = json!({
        "ruleId": id,
        "ruleIndex": index,
        "level": "error",
        "message": { "text": format!("{call}: {}: {}", finding.kind, finding.message) },
        "attachments": attachments(part, &files),
        "properties": {
            "test": kept.map(|kept| kept.name.as_str()),
            "function": results.run.function,
            "inputs": finding.n_tests,
        },
    });
    if let Some(SourcePosition { file, line, column }) = &finding.place {
        let known = results.facts.files.iter().find(|known| known.path == *file);
        let path = known.map_or_else(|| results.run.directory.join(file), |known| known.absolute.clone());
        result["locations"] = json!([location(results, &path, *line, *column)]);
        let key = format!("{id}:{file}:{line}:{column}");
        result["partialFingerprints"] = json!(BTreeMap::from([("quarryFinding/v1", key)]));
    }
    result
}

/// Files of a part that reproduce something.
fn attachments(part: &Part<'_>, files: &[(&str, &str)]) -> Vec<Value> {
    let attachment = |(file, what): &(&str, &str)| {
        json!({
            "description": { "text": what },
            "artifactLocation": { "uri": uri(&part.within(file)), "uriBaseId": "RUN" },
        })
    };
    files.iter().map(attachment).collect()
}

fn location(results: &Results, path: &Path, line: u32, column: u32) -> Value {
    let artifact = match path.strip_prefix(&results.run.directory) {
        Ok(within) => json!({ "uri": uri(&within.display().to_string()), "uriBaseId": "SOURCES" }),
        Err(_) => json!({ "uri": format!("file://{}", uri(&path.display().to_string())) }),
    };
    json!({
        "physicalLocation": {
            "artifactLocation": artifact,
            "region": { "startLine": line, "startColumn": column },
        },
    })
}

fn level(cause: Cause) -> &'static str {
    match cause {
        Cause::OutOfBoundsRead
        | Cause::OutOfBoundsWrite
        | Cause::Signal
        | Cause::Abort
        | Cause::StackOverflow
        | Cause::UseAfterFree
        | Cause::InvalidFree
        | Cause::UndefinedBehaviour => "error",
        Cause::OutOfMemory | Cause::Hang | Cause::MemoryLeak => "warning",
    }
}

fn directory_uri(path: &Path) -> String {
    format!("file://{}/", uri(path.display().to_string().trim_end_matches('/')))
}

/// A path as part of a URI: everything but what is certain to mean itself by its number.
fn uri(path: &str) -> String {
    let mut text = String::new();
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'_' | b'-' | b'~' | b'+' => {
                text.push(char::from(byte));
            }
            byte => text.push_str(&format!("%{byte:02X}")),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_escaped_in_uris() {
        assert_eq!(uri("a b/ü.c"), "a%20b/%C3%BC.c");
        assert_eq!(directory_uri(Path::new("/x/y/")), "file:///x/y/");
    }
}
