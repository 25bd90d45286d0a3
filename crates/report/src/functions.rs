//! Several functions: `functions.json`, the table, and the totals.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::record::{Counts, SCHEMA, Stop, Summary};
use crate::words::counted;

/// Name of the file that says what became of each function.
pub const FUNCTIONS_FILE: &str = "functions.json";

/// `functions.json`: what became of each function, and where its results are.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Functions {
    pub schema: u32,
    pub functions: Vec<FunctionEntry>,
}

/// A function, or a file that could not be read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FunctionEntry {
    /// Empty for a file that does not build.
    pub function: String,
    pub file: String,
    /// Its results, within the output directory.
    pub directory: Option<String>,
    /// Missing when its turn has not come, or nothing could be done.
    pub result: Option<Summary>,
    /// Why nothing could be done.
    pub reason: Option<String>,
    /// There was no time for it; the same command gives it a turn.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub waits: bool,
}

impl FunctionEntry {
    /// One line: `parse: 12 of 14 goals covered by 5 tests, time ran out`.
    pub fn sentence(&self) -> String {
        let name = if self.function.is_empty() { &self.file } else { &self.function };
        let Some(result) = &self.result else {
            let reason = self.reason.as_deref().unwrap_or("not started");
            return format!("{name}: {}", reason.lines().next().unwrap_or_default());
        };
        let mut text =
            format!("{name}: {} covered by {}", result.goals.share("goals"), counted(result.tests, "test"));
        if result.crashes > 0 {
            text.push_str(&format!(", {}", counted(result.crashes, "finding")));
        }
        format!("{text}, {}", result.stop.describe())
    }

    /// Whether more time could bring more.
    pub fn is_open(&self) -> bool {
        self.waits
            || self.reason.is_none() && self.result.as_ref().is_none_or(|result| result.stop.wants_time())
    }
}

/// What all functions come to, as if they were one; goals that several of them reach count for each.
pub fn total(entries: &[FunctionEntry], interrupted: bool, out: &Path) -> Summary {
    let mut total = Summary {
        schema: SCHEMA,
        goals: Counts::default(),
        per_criterion: BTreeMap::new(),
        tests: 0,
        executions: 0,
        queries: Default::default(),
        divergences: 0,
        failed_guesses: 0,
        crashes: 0,
        unchecked: 0,
        suspicions: 0,
        seconds: 0.0,
        stop: stop(entries, interrupted),
        differences: None,
        confirmation: None,
        out: out.to_owned(),
    };
    for result in entries.iter().filter_map(|entry| entry.result.as_ref()) {
        total.goals.add_all(result.goals);
        for (criterion, counts) in &result.per_criterion {
            total.per_criterion.entry(criterion.clone()).or_default().add_all(*counts);
        }
        total.tests += result.tests;
        total.executions += result.executions;
        total.queries.sat += result.queries.sat;
        total.queries.unsat += result.queries.unsat;
        total.queries.unknown += result.queries.unknown;
        total.divergences += result.divergences;
        total.failed_guesses += result.failed_guesses;
        total.crashes += result.crashes;
        total.suspicions += result.suspicions;
        total.unchecked += result.unchecked;
        if let Some(n) = result.differences {
            total.differences = Some(total.differences.unwrap_or(0) + n);
        }
        if let Some(counts) = result.confirmation {
            total.confirmation = Some(total.confirmation.unwrap_or_default().plus(counts));
        }
        total.seconds += result.seconds;
    }
    total.seconds = (total.seconds * 1000.0).round() / 1000.0;
    total
}

fn stop(entries: &[FunctionEntry], interrupted: bool) -> Stop {
    let stops: Vec<Stop> =
        entries.iter().filter_map(|entry| entry.result.as_ref()).map(|result| result.stop).collect();
    if interrupted {
        Stop::Interrupted
    } else if entries.iter().any(FunctionEntry::is_open) {
        Stop::Budget
    } else if stops.contains(&Stop::Failed) {
        Stop::Failed
    } else if stops.contains(&Stop::Executions) {
        Stop::Executions
    } else if stops.iter().all(|stop| *stop == Stop::Complete) {
        Stop::Complete
    } else {
        Stop::Exhausted
    }
}

/// The table for a person, a line per function.
pub fn table(entries: &[FunctionEntry]) -> String {
    let mut rows = vec![["function", "covered", "", "tests", "crashes", "seconds", "end"].map(str::to_owned)];
    rows.extend(entries.iter().map(row));
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..7).map(width).collect();
    let mut text = String::new();
    for row in &rows {
        let mut line = String::new();
        for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
            let gap = " ".repeat(width - cell.chars().count());
            // numbers stand at the right of their column
            let is_number = (1..6).contains(&column);
            line.push_str(&if is_number { format!("{gap}{cell}  ") } else { format!("{cell}{gap}  ") });
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

fn row(entry: &FunctionEntry) -> [String; 7] {
    let name = if entry.function.is_empty() { entry.file.clone() } else { entry.function.clone() };
    let Some(result) = &entry.result else {
        let reason = entry.reason.as_deref().unwrap_or("not started");
        // what is wrong, and the compiler's first word on it
        let words: Vec<&str> =
            reason.lines().map(str::trim).filter(|line| !line.is_empty()).take(2).collect();
        let none = String::new;
        return [name, none(), none(), none(), none(), none(), words.join(" ")];
    };
    [
        name,
        format!("{} of {}", result.goals.covered, result.goals.feasible()),
        format!("{:.0}%", result.goals.percentage()),
        result.tests.to_string(),
        if result.crashes == 0 { String::new() } else { result.crashes.to_string() },
        format!("{:.1}", result.seconds),
        result.stop.describe().to_owned(),
    ]
}

/// `12 functions: 80 of 90 goals covered (88.9%) by 40 tests`.
pub fn conclusion(entries: &[FunctionEntry], total: &Summary) -> String {
    let n_done = entries.iter().filter(|entry| entry.result.is_some()).count();
    let n_waiting = entries.iter().filter(|entry| entry.waits).count();
    let n_not = entries.iter().filter(|entry| entry.reason.is_some() && !entry.waits).count();
    let mut text = format!(
        "{}: {} covered ({:.1}%) by {}",
        counted(n_done, "function"),
        total.goals.share("goals"),
        total.goals.percentage(),
        counted(total.tests, "test"),
    );
    if n_waiting > 0 {
        text.push_str(&format!("; {n_waiting} had no turn"));
    }
    if n_not > 0 {
        text.push_str(&format!("; {n_not} could not be tested"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::confirmation::{Confirmation, SanitizerFinding};
    use super::super::record::SourcePosition;
    use super::*;

    fn entry(name: &str, covered: usize, stop: Stop) -> FunctionEntry {
        let goals = Counts { total: 4, covered, undecided: 4 - covered, ..Counts::default() };
        let result = Summary { goals, tests: 2, seconds: 0.5, stop, ..total(&[], false, Path::new("out")) };
        FunctionEntry {
            function: name.to_owned(),
            file: "a.c".to_owned(),
            directory: Some(name.to_owned()),
            result: Some(result),
            reason: None,
            waits: false,
        }
    }

    fn broken() -> FunctionEntry {
        FunctionEntry {
            function: String::new(),
            file: "b.c".to_owned(),
            directory: None,
            result: None,
            reason: Some("the program does not build:\n    b.c:1: no\nmore".to_owned()),
            waits: false,
        }
    }

    #[test]
    fn the_table_has_a_line_per_function() {
        let entries = [entry("parse", 4, Stop::Complete), entry("print_all", 3, Stop::Budget), broken()];
        assert_eq!(
            table(&entries),
            "\
function   covered        tests  crashes  seconds  end
parse       4 of 4  100%      2               0.5  everything covered
print_all   3 of 4   75%      2               0.5  time ran out
b.c                                                the program does not build: b.c:1: no
"
        );
        let total = total(&entries, false, Path::new("out"));
        assert_eq!((total.stop, total.goals.covered, total.tests), (Stop::Budget, 7, 4));
        assert_eq!(
            conclusion(&entries, &total),
            "2 functions: 7 of 8 goals covered (87.5%) by 4 tests; 1 could not be tested"
        );
    }

    #[test]
    fn the_page_leads_to_each_function_and_names_what_failed() {
        let mut bad = broken();
        bad.reason = Some("no <stdio.h>".to_owned());
        let entries = [entry("parse", 3, Stop::Budget), bad];
        let page = super::super::index::html(&entries, &total(&entries, false, Path::new("out")), None);
        assert!(page.contains("<a href=\"../parse/report/index.html\">parse</a>"), "{page}");
        assert!(
            page.contains("75.0 %</span> <small>3/4</small>") && page.contains("no &lt;stdio.h>"),
            "{page}"
        );
    }

    #[test]
    fn the_page_leads_to_what_sanitizers_found() {
        let place = Some(SourcePosition { file: "a.c".to_owned(), line: 3, column: 14 });
        let finding = SanitizerFinding {
            sanitizer: "undefined".to_owned(),
            kind: "shift".to_owned(),
            also: Vec::new(),
            place,
            message: "by 40 <too much>".to_owned(),
            test: "parse/tests/test_001.json".to_owned(),
            n_tests: 1,
        };
        let confirmation = Confirmation { findings: vec![finding], ..Confirmation::default() };
        let entries = [entry("parse", 4, Stop::Complete)];
        let whole = total(&entries, false, Path::new("out"));
        let page = super::super::index::html(&entries, &whole, Some(&confirmation));
        let found = "<span class=\"place\">a.c:3:14</span> shift: by 40 &lt;too much> \
                     <a class=\"chip\" href=\"../parse/report/index.html#finding\">parse/tests/test_001</a>";
        assert!(page.contains(found), "{page}");
    }

    #[test]
    fn all_are_done_when_each_is() {
        let stop_of = |entries: &[FunctionEntry]| total(entries, false, Path::new("out")).stop;
        assert_eq!(stop_of(&[entry("f", 4, Stop::Complete), broken()]), Stop::Complete);
        assert_eq!(
            stop_of(&[entry("f", 4, Stop::Complete), entry("g", 3, Stop::Exhausted)]),
            Stop::Exhausted
        );
        assert!(
            entry("f", 3, Stop::Budget).is_open()
                && !entry("f", 3, Stop::Exhausted).is_open()
                && !broken().is_open()
        );
    }
}
