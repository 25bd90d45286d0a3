//! `cobertura.xml`: lines and branches in Cobertura's format (`coverage-04.dtd`), which most CI servers read.

use std::path::Path;

use crate::facts::FunctionFacts;
use crate::tally_by_file::{FileTally, Share};
use crate::xml::Document;

const DOCTYPE: &str = "coverage SYSTEM \"http://cobertura.sourceforge.net/xml/coverage-04.dtd\"";

/// The report; files below `directory` are named from there. `milliseconds` is when the run ended, since 1970.
pub fn xml(tallies: &[FileTally<'_>], directory: &Path, milliseconds: u128) -> String {
    let (lines, branches) = shares(tallies);
    let mut document = Document::new(Some(DOCTYPE));
    let number = |n: usize| n.to_string();
    document.begin(
        "coverage",
        &[
            ("line-rate", &rate(lines)),
            ("branch-rate", &rate(branches)),
            ("lines-covered", &number(lines.hit)),
            ("lines-valid", &number(lines.all)),
            ("branches-covered", &number(branches.hit)),
            ("branches-valid", &number(branches.all)),
            ("complexity", "0"),
            ("version", env!("CARGO_PKG_VERSION")),
            ("timestamp", &milliseconds.to_string()),
        ],
    );
    document.begin("sources", &[]);
    document.text("source", &[], &directory.display().to_string());
    document.end();
    document.begin("packages", &[]);
    let rates = [("line-rate", rate(lines)), ("branch-rate", rate(branches))];
    document.begin(
        "package",
        &[("name", "."), (rates[0].0, &rates[0].1), (rates[1].0, &rates[1].1), ("complexity", "0")],
    );
    document.begin("classes", &[]);
    for tally in tallies {
        class(&mut document, tally, directory);
    }
    document.finish()
}

fn shares(tallies: &[FileTally<'_>]) -> (Share, Share) {
    let add = |a: Share, b: Share| Share { hit: a.hit + b.hit, all: a.all + b.all };
    let none = (Share::default(), Share::default());
    tallies.iter().fold(none, |(lines, branches), tally| {
        (add(lines, tally.line_share(0, u32::MAX)), add(branches, tally.branch_share(0, u32::MAX)))
    })
}

fn class(document: &mut Document, tally: &FileTally<'_>, directory: &Path) {
    let path = &tally.file.absolute;
    let file = path.strip_prefix(directory).unwrap_or(path).display().to_string();
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let (lines, branches) = (tally.line_share(0, u32::MAX), tally.branch_share(0, u32::MAX));
    document.begin(
        "class",
        &[
            ("name", &name),
            ("filename", &file),
            ("line-rate", &rate(lines)),
            ("branch-rate", &rate(branches)),
            ("complexity", "0"),
        ],
    );
    document.begin("methods", &[]);
    for function in &tally.functions {
        method(document, tally, function);
    }
    document.end();
    write_lines(document, tally, 0, u32::MAX);
    document.end();
}

fn method(document: &mut Document, tally: &FileTally<'_>, function: &FunctionFacts) {
    let (first, last) = (function.at.line, function.last_line);
    document.begin(
        "method",
        &[
            ("name", &function.name),
            ("signature", ""),
            ("line-rate", &rate(tally.line_share(first, last))),
            ("branch-rate", &rate(tally.branch_share(first, last))),
            ("complexity", "0"),
        ],
    );
    write_lines(document, tally, first, last);
    document.end();
}

fn write_lines(document: &mut Document, tally: &FileTally<'_>, first: u32, last: u32) {
    document.begin("lines", &[]);
    for (line, n) in tally.lines.range(first..=last) {
        let (number, hits) = (line.to_string(), n.to_string());
        let groups = tally.branches.get(line).map(Vec::as_slice).unwrap_or_default();
        if groups.is_empty() {
            document.empty("line", &[("number", &number), ("hits", &hits), ("branch", "false")]);
            continue;
        }
        let all = words(Share::of(groups.iter().flatten().copied()));
        let coverage = format!("{} ({})", all.0, all.1);
        document.begin(
            "line",
            &[("number", &number), ("hits", &hits), ("branch", "true"), ("condition-coverage", &coverage)],
        );
        document.begin("conditions", &[]);
        for (index, counts) in groups.iter().enumerate() {
            let kind = if counts.len() == 2 { "jump" } else { "switch" };
            let covered = words(Share::of(counts.iter().copied())).0;
            let index = index.to_string();
            document.empty("condition", &[("number", &index), ("type", kind), ("coverage", &covered)]);
        }
        document.end();
        document.end();
    }
    document.end();
}

fn rate(share: Share) -> String {
    format!("{:.4}", share.rate())
}

/// `50%` and `1/2`.
fn words(share: Share) -> (String, String) {
    (format!("{:.0}%", (share.rate() * 100.0).floor()), format!("{}/{}", share.hit, share.all))
}
