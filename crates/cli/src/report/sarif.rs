//! `results.sarif`: crashes, accesses outside of objects and hangs as static analysers report them (SARIF 2.1.0), each
//! with the files that reproduce it.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};

use super::directory::{Kept, Results};
use super::facts::{At, Cause};

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";
const ALL_CAUSES: [Cause; 7] = [
    Cause::OutOfBoundsRead,
    Cause::OutOfBoundsWrite,
    Cause::Signal,
    Cause::Abort,
    Cause::StackOverflow,
    Cause::OutOfMemory,
    Cause::Hang,
];

/// The log.
pub fn log(results: &Results) -> Value {
    let rule = |cause: &Cause| {
        json!({
            "id": cause.id(),
            "shortDescription": { "text": cause.describe() },
            "defaultConfiguration": { "level": level(*cause) },
        })
    };
    let rules: Vec<Value> = ALL_CAUSES.iter().map(rule).collect();
    let found: Vec<Value> = results.findings().filter_map(|kept| result(results, kept)).collect();
    json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": { "name": "Quarry", "version": results.run.quarry, "rules": rules } },
            "columnKind": "utf16CodeUnits",
            "originalUriBaseIds": {
                "SOURCES": { "uri": directory_uri(&results.run.directory) },
                "RUN": { "uri": directory_uri(&results.root) },
            },
            "results": found,
        }],
    })
}

fn result(results: &Results, kept: &Kept) -> Option<Value> {
    let facts = results.facts_of(kept)?;
    let cause = facts.cause?;
    let call = results.call(kept);
    let index = ALL_CAUSES.iter().position(|known| *known == cause);
    let mut files = vec![(kept.file.clone(), "the input, for quarry replay")];
    files.extend(kept.reproducer.iter().map(|program| (program.file.clone(), "a C program that does it")));
    let attachments: Vec<Value> = files
        .into_iter()
        .map(|(file, what)| {
            json!({
                "description": { "text": what },
                "artifactLocation": { "uri": uri(&file), "uriBaseId": "RUN" },
            })
        })
        .collect();
    let mut result = json!({
        "ruleId": cause.id(),
        "ruleIndex": index,
        "level": level(cause),
        "message": { "text": format!("{call}: {}", kept.record.end) },
        "attachments": attachments,
        "properties": { "test": kept.name, "function": results.run.function },
    });
    if let Some(at) = facts.place {
        let place = location(results, at);
        let key = format!("{}:{}:{}:{}", cause.id(), results.facts.files[at.file].path, at.line, at.column);
        result["locations"] = json!([place]);
        result["partialFingerprints"] = json!(BTreeMap::from([("quarryFinding/v1", key)]));
    }
    Some(result)
}

fn location(results: &Results, at: At) -> Value {
    let path = &results.facts.files[at.file].absolute;
    let artifact = match path.strip_prefix(&results.run.directory) {
        Ok(within) => json!({ "uri": uri(&within.display().to_string()), "uriBaseId": "SOURCES" }),
        Err(_) => json!({ "uri": format!("file://{}", uri(&path.display().to_string())) }),
    };
    json!({
        "physicalLocation": {
            "artifactLocation": artifact,
            "region": { "startLine": at.line, "startColumn": at.column },
        },
    })
}

fn level(cause: Cause) -> &'static str {
    match cause {
        Cause::OutOfBoundsRead
        | Cause::OutOfBoundsWrite
        | Cause::Signal
        | Cause::Abort
        | Cause::StackOverflow => "error",
        Cause::OutOfMemory | Cause::Hang => "warning",
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
