//! All records of one run, as input of the reports.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::confirmation::Confirmation;
use crate::differences::DifferencesRecord;
use crate::explanation::Explanation;
use crate::facts::{Facts, TestFacts};
use crate::mutation::Mutation;
use crate::record::{GoalLine, SourcePosition, Test};
use crate::timeline::Timeline;
use crate::versions::VersionsRecord;

/// Everything a run left behind.
#[derive(Debug)]
pub struct Results {
    pub run: ReportedRun,
    pub goals: Vec<GoalLine>,
    /// The suite, then inputs that crash, then inputs that hang.
    pub tests: Vec<Kept>,
    pub facts: Facts,
    pub timeline: Timeline,
    /// What changed since the version before, and where that one behaves differently, when one was named.
    pub versions: Option<VersionsRecord>,
    pub differences: Option<DifferencesRecord>,
    /// Of goals that are open; none when that was not asked.
    pub explanations: Vec<Explanation>,
    /// What became of mutants, when it was asked.
    pub mutation: Option<Mutation>,
}

/// `run.json`, of which reports name this; the page shows more of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ReportedRun {
    pub quarry: String,
    /// Where paths start.
    pub directory: PathBuf,
    pub function: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirmation: Option<Confirmation>,
    #[serde(flatten)]
    pub others: Map<String, Value>,
}

/// One of the functions that a report is of.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    /// Its directory within the output directory; empty when that is its own.
    pub directory: &'a str,
    pub results: &'a Results,
}

impl Part<'_> {
    /// The path of one of its files in the output directory.
    pub fn within(&self, file: &str) -> String {
        if self.directory.is_empty() { file.to_owned() } else { format!("{}/{file}", self.directory) }
    }
}

/// A test, or an input that crashes or hangs.
#[derive(Debug)]
pub struct Kept {
    pub kind: Kind,
    pub name: String,
    /// Within the output directory.
    pub file: String,
    pub record: Test,
    /// A C program that does the same, for what does not end in order.
    pub reproducer: Option<Reproducer>,
}

/// A C program.
#[derive(Debug)]
pub struct Reproducer {
    /// Within the output directory.
    pub file: String,
    pub text: String,
}

/// Where an input is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Test,
    Crash,
    Hang,
}

impl Kind {
    /// One word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Test => "test",
            Self::Crash => "crash",
            Self::Hang => "hang",
        }
    }
}

impl Results {
    /// What is known of a test's execution.
    pub fn facts_of(&self, kept: &Kept) -> Option<&TestFacts> {
        self.facts.tests.iter().find(|facts| facts.file == kept.file)
    }

    /// The call that a test makes, on one line.
    pub fn call(&self, kept: &Kept) -> &str {
        self.facts_of(kept).map(|facts| facts.call.as_str()).unwrap_or_default()
    }

    /// Whether a difference to the version before counts as a failure.
    pub fn fails_on_difference(&self) -> bool {
        self.run
            .others
            .get("budget")
            .and_then(|budget| budget.get("fail-on-difference"))
            .is_some_and(|asked| asked == true)
    }

    /// The first place that changed: in the new version, and in the old one.
    pub fn first_change(&self) -> (Option<&SourcePosition>, Option<&SourcePosition>) {
        let changes = self.versions.iter().flat_map(|versions| &versions.changes);
        let items: Vec<_> = changes.flat_map(|change| &change.items).collect();
        let new = items.iter().find_map(|item| item.new.as_ref());
        let old = items.iter().find_map(|item| item.old.as_ref());
        (new.map(|item| &item.at), old.map(|item| &item.at))
    }

    /// Inputs that crash or hang.
    pub fn findings(&self) -> impl Iterator<Item = &Kept> {
        self.tests.iter().filter(|kept| kept.kind != Kind::Test)
    }
}
