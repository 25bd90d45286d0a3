//! The HTML page: one file that needs no network. Its data is an embedded JSON object, its views are built by scripts.
//!
//! Limit: for a file with very many lines only those near the functions of the run are shown.

use serde::Serialize;
use serde_json::Value;

use crate::differences::DifferencesRecord;
use crate::explanation::Explanation;
use crate::facts::{At, DecisionFacts, FunctionFacts, StatementFacts, SwitchFacts};
use crate::mutation::Mutation;
use crate::record::{FindingRecord, GoalLine};
use crate::results::{Kept, ReportedRun, Reproducer, Results};
use crate::timeline::Point;
use crate::versions::VersionsRecord;

const HTML: &str = include_str!("html/page.html");
pub(crate) const CSS: &str = include_str!("html/page.css");
/// One script, in parts that build on those before.
const SCRIPTS: [&str; 10] = [
    include_str!("html/core.js"),
    include_str!("html/list.js"),
    include_str!("html/overview.js"),
    include_str!("html/pairs.js"),
    include_str!("html/arcs.js"),
    include_str!("html/source.js"),
    include_str!("html/decisions.js"),
    include_str!("html/records.js"),
    include_str!("html/versions.js"),
    include_str!("html/main.js"),
];

/// A file with more lines is shown in part.
const MANY_LINES: usize = 6000;
/// Lines shown before and behind a function then.
const AROUND: usize = 12;
/// A reproducer with more bytes is left to its file.
const LONG_REPRODUCER: usize = 64 << 10;

/// The page of a run.
pub fn html(results: &Results) -> Result<String, serde_json::Error> {
    let data = serde_json::to_string(&data(results))?;
    let title = format!("{} · Quarry", results.run.function);
    let mut page = HTML.to_owned();
    for (place, text) in [
        ("{{title}}", escaped(&title)),
        ("{{style}}", CSS.to_owned()),
        ("{{script}}", SCRIPTS.concat()),
        // last: nothing in it is a place to fill
        ("{{data}}", in_script(&data)),
    ] {
        page = page.replacen(place, &text, 1);
    }
    Ok(page)
}

/// JSON that ends no script and opens no comment.
fn in_script(json: &str) -> String {
    json.replace('<', "\\u003c").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
}

/// Text as HTML has it, also between double quotes.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;")
}

#[derive(Serialize)]
struct Data<'a> {
    run: &'a ReportedRun,
    goals: &'a [GoalLine],
    tests: Vec<TestData<'a>>,
    files: Vec<FileData<'a>>,
    functions: &'a [FunctionFacts],
    statements: &'a [StatementFacts],
    decisions: &'a [DecisionFacts],
    switches: &'a [SwitchFacts],
    timeline: &'a [Point],
    explanations: &'a [Explanation],
    #[serde(skip_serializing_if = "Option::is_none")]
    versions: Option<&'a VersionsRecord>,
    #[serde(skip_serializing_if = "Option::is_none")]
    differences: Option<&'a DifferencesRecord>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mutation: Option<&'a Mutation>,
}

#[derive(Serialize)]
struct TestData<'a> {
    kind: &'static str,
    name: &'a str,
    file: &'a str,
    call: &'a str,
    end: &'a str,
    provenance: Option<&'a str>,
    unchecked: bool,
    place: Option<At>,
    input: &'a Value,
    /// Everything it covers.
    covers: Vec<u32>,
    /// What it was the first to cover.
    new: Vec<u32>,
    reproducer: Option<ReproducerData<'a>>,
    /// What a native run showed.
    finding: Option<&'a FindingRecord>,
    unmeasured: Option<&'a str>,
}

#[derive(Serialize)]
struct ReproducerData<'a> {
    file: &'a str,
    text: Option<&'a str>,
}

#[derive(Serialize)]
struct FileData<'a> {
    path: &'a str,
    parts: Vec<PartData<'a>>,
}

/// Lines of a file that follow each other.
#[derive(Serialize)]
struct PartData<'a> {
    first: usize,
    lines: Vec<&'a str>,
}

fn data(results: &Results) -> Data<'_> {
    let facts = &results.facts;
    Data {
        run: &results.run,
        goals: &results.goals,
        tests: results.tests.iter().map(|kept| test(results, kept)).collect(),
        files: (0..facts.files.len()).map(|file| file_data(results, file)).collect(),
        functions: &facts.functions,
        statements: &facts.statements,
        decisions: &facts.decisions,
        switches: &facts.switches,
        timeline: &results.timeline.points,
        versions: results.versions.as_ref(),
        differences: results.differences.as_ref(),
        explanations: &results.explanations,
        mutation: results.mutation.as_ref(),
    }
}

fn test<'a>(results: &'a Results, kept: &'a Kept) -> TestData<'a> {
    let facts = results.facts_of(kept);
    let covers = &kept.record.covers;
    TestData {
        kind: kept.kind.word(),
        name: &kept.name,
        file: &kept.file,
        call: results.call(kept),
        end: &kept.record.end,
        provenance: kept.record.provenance.as_deref(),
        unchecked: kept.record.unchecked,
        place: facts.and_then(|facts| facts.place),
        input: &kept.record.input,
        covers: covers.iter().map(|covered| covered.goal).collect(),
        new: covers.iter().filter(|covered| covered.new).map(|covered| covered.goal).collect(),
        reproducer: kept.reproducer.as_ref().map(|Reproducer { file, text }| ReproducerData {
            file,
            text: Some(text.as_str()).filter(|text| text.len() <= LONG_REPRODUCER),
        }),
        finding: kept.record.finding.as_ref(),
        unmeasured: facts.and_then(|facts| facts.unmeasured.as_deref()),
    }
}

fn file_data(results: &Results, file: usize) -> FileData<'_> {
    let facts = &results.facts.files[file];
    let lines: Vec<&str> = facts.text.as_deref().unwrap_or_default().lines().collect();
    let mut is_shown = vec![lines.len() <= MANY_LINES; lines.len()];
    for function in results.facts.functions.iter().filter(|function| function.at.file == file) {
        let first = (function.at.line as usize).saturating_sub(AROUND + 1);
        let last = (function.last_line as usize + AROUND).min(lines.len());
        is_shown.get_mut(first..last).into_iter().for_each(|part| part.fill(true));
    }
    let mut parts: Vec<PartData<'_>> = Vec::new();
    for (index, line) in lines.iter().enumerate().filter(|(index, _)| is_shown[*index]) {
        match parts.last_mut() {
            Some(part) if part.first + part.lines.len() == index + 1 => part.lines.push(line),
            Some(_) | None => parts.push(PartData { first: index + 1, lines: vec![line] }),
        }
    }
    FileData { path: &facts.path, parts }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_cannot_end_its_script() {
        let json = serde_json::to_string("</script><!-- \u{2028}").expect("a string");
        let safe = in_script(&json);
        assert!(!safe.contains('<') && !safe.contains('\u{2028}'), "{safe}");
        assert_eq!(serde_json::from_str::<String>(&safe).expect("still JSON"), "</script><!-- \u{2028}");
    }

    #[test]
    fn the_page_asks_for_nothing_from_the_network() {
        for text in SCRIPTS.iter().chain([&HTML, &CSS]) {
            assert!(!text.contains("http:") && !text.contains("https:") && !text.contains("@import"));
        }
    }
}
