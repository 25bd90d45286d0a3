//! Results of other tools about a run: the record in `run.json`, and the same as text.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::record::{ConfirmationCounts, SourcePosition, State};
use crate::words::{counted, goal_word, line};

/// Disagreements and findings shown before the rest is left to `run.json`.
const SHOWN: usize = 20;

/// What clang's tools say of a suite on a native build.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Confirmation {
    /// Goals that Quarry calls covered, by criterion.
    pub per_criterion: BTreeMap<String, Claims>,
    /// Covered goals that llvm-cov can see and does not count, and infeasible ones that it counts.
    pub disagreements: Vec<Disagreement>,
    /// What sanitizers report, once per place.
    pub findings: Vec<SanitizerFinding>,
    /// Inputs that could not be run natively, and why.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub not_run: BTreeMap<String, String>,
    /// Tools that could not be asked, and why.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub not_asked: BTreeMap<String, String>,
}

/// Goals that are called covered.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claims {
    pub claimed: usize,
    /// llvm-cov counts them.
    pub confirmed: usize,
    /// llvm-cov could, and does not.
    pub denied: usize,
    /// llvm-cov has nothing to say, by the reason.
    pub unseen: BTreeMap<String, usize>,
}

/// A goal that is called covered and not counted, or called infeasible and counted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Disagreement {
    pub goal: u32,
    pub criterion: String,
    /// `file.c:10:9`.
    pub at: String,
    pub demand: String,
    /// What it is called.
    #[serde(default = "covered", skip_serializing_if = "is_covered")]
    pub state: State,
    /// The inputs that cover it; none when it is called infeasible.
    pub tests: Vec<String>,
}

fn covered() -> State {
    State::Covered
}

fn is_covered(state: &State) -> bool {
    *state == State::Covered
}

/// Something that a sanitizer noticed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SanitizerFinding {
    pub sanitizer: String,
    pub kind: String,
    /// What else is reported there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<String>,
    #[serde(flatten)]
    pub place: Option<SourcePosition>,
    pub message: String,
    /// The first input that shows it.
    pub test: String,
    /// How many inputs show it.
    pub n_tests: usize,
}

impl Claims {
    fn n_unseen(&self) -> usize {
        self.unseen.values().sum()
    }

    fn add(&mut self, other: Self) {
        self.claimed += other.claimed;
        self.confirmed += other.confirmed;
        self.denied += other.denied;
        for (why, n) in other.unseen {
            *self.unseen.entry(why).or_default() += n;
        }
    }
}

impl Confirmation {
    /// What it comes to.
    pub fn counts(&self) -> ConfirmationCounts {
        let of_all = |n: fn(&Claims) -> usize| self.per_criterion.values().map(n).sum();
        ConfirmationCounts {
            confirmed: of_all(|claims| claims.confirmed),
            unseen: of_all(Claims::n_unseen),
            disagreements: self.disagreements.len(),
            findings: self.findings.len(),
        }
    }

    /// What is said of several functions, each by the name of its directory; what a sanitizer reports of code that several
    /// of them reach is told once.
    pub fn of_several<'c>(all: impl Iterator<Item = (&'c str, Self)>) -> Self {
        let mut whole = Self::default();
        for (directory, one) in all {
            let within = |file: String| format!("{directory}/{file}");
            for (criterion, claims) in one.per_criterion {
                whole.per_criterion.entry(criterion).or_default().add(claims);
            }
            whole.disagreements.extend(one.disagreements.into_iter().map(|disagreement| Disagreement {
                tests: disagreement.tests.into_iter().map(within).collect(),
                ..disagreement
            }));
            whole.not_run.extend(one.not_run.into_iter().map(|(file, why)| (within(file), why)));
            let tool = |(tool, why): (String, String)| (format!("{tool} of {directory}"), why);
            whole.not_asked.extend(one.not_asked.into_iter().map(tool));
            for finding in one.findings {
                take_finding(&mut whole.findings, SanitizerFinding { test: within(finding.test), ..finding });
            }
        }
        sort_findings(&mut whole.findings);
        whole
    }

    /// For a person.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for sentence in self.sentences() {
            line(&mut text, format_args!("{sentence}"));
        }
        self.disagreements(&mut text);
        self.findings(&mut text);
        for (file, why) in &self.not_run {
            line(&mut text, format_args!("note: {file} was not run natively: {why}"));
        }
        for (tool, why) in &self.not_asked {
            line(&mut text, format_args!("note: {tool} was not run: {why}"));
        }
        text
    }

    /// What llvm-cov makes of each criterion's goals.
    pub fn sentences(&self) -> Vec<String> {
        self.per_criterion.iter().map(|(criterion, claims)| claims.sentence(goal_word(criterion))).collect()
    }

    fn disagreements(&self, text: &mut String) {
        let (denied, reached): (Vec<&Disagreement>, Vec<&Disagreement>) =
            self.disagreements.iter().partition(|one| is_covered(&one.state));
        if !denied.is_empty() {
            let n = counted(denied.len(), "goal");
            line(text, format_args!("llvm-cov DISAGREES: it does not count {n} reported as covered:"));
        }
        for Disagreement { at, demand, tests, .. } in denied.iter().take(SHOWN) {
            line(text, format_args!("    {at}  {demand}  ({})", tests.join(", ")));
        }
        more(text, denied.len());
        if !reached.is_empty() {
            let n = counted(reached.len(), "goal");
            line(text, format_args!("llvm-cov DISAGREES: it counts {n} reported as infeasible:"));
        }
        for Disagreement { at, demand, .. } in reached.iter().take(SHOWN) {
            line(text, format_args!("    {at}  {demand}"));
        }
        more(text, reached.len());
    }

    fn findings(&self, text: &mut String) {
        if self.not_asked.contains_key(SANITIZERS) {
            return;
        }
        if self.findings.is_empty() {
            line(text, format_args!("sanitizers: nothing found"));
            return;
        }
        line(text, format_args!("sanitizers: {}", counted(self.findings.len(), "finding")));
        for finding in self.findings.iter().take(SHOWN) {
            let others = match finding.n_tests {
                0 | 1 => String::new(),
                n => format!(" and {}", counted(n - 1, "other")),
            };
            let also = if finding.also.is_empty() {
                String::new()
            } else {
                format!(" (also {})", finding.also.join(", "))
            };
            line(text, format_args!("    {}  {}: {}{also}", finding.at(), finding.kind, finding.message));
            line(text, format_args!("        shown by {}{others}", finding.test));
        }
        more(text, self.findings.len());
    }
}

/// Adds a finding to those known; one at the same place is the same, whatever else it is called.
pub fn take_finding(findings: &mut Vec<SanitizerFinding>, finding: SanitizerFinding) {
    let is_same = |known: &&mut SanitizerFinding| match (&known.place, &finding.place) {
        (None, None) => known.kind == finding.kind,
        (known, here) => known == here,
    };
    let Some(known) = findings.iter_mut().find(is_same) else {
        findings.push(finding);
        return;
    };
    if known.test != finding.test {
        known.n_tests += finding.n_tests;
    }
    for kind in std::iter::once(finding.kind).chain(finding.also) {
        if kind != known.kind && !known.also.contains(&kind) {
            known.also.push(kind);
        }
    }
}

/// By place.
pub fn sort_findings(findings: &mut [SanitizerFinding]) {
    findings.sort_by_key(|finding| {
        let place = finding.place.as_ref();
        place.map(|place| (place.file.clone(), place.line, place.column))
    });
}

/// Tools by the names that `not_asked` has.
pub const LLVM_COV: &str = "llvm-cov";
pub const SANITIZERS: &str = "sanitizers";

impl Claims {
    /// `llvm-cov counts 8 of the 9 branches reported as covered; 1 it cannot see (1 in a macro)`.
    fn sentence(&self, word: &str) -> String {
        let Self { claimed, confirmed, .. } = self;
        let mut text = format!("llvm-cov counts {confirmed} of the {claimed} {word} reported as covered");
        if !self.unseen.is_empty() {
            let reasons: Vec<String> = self.unseen.iter().map(|(why, n)| format!("{n} {why}")).collect();
            text.push_str(&format!("; {} it cannot see ({})", self.n_unseen(), reasons.join(", ")));
        }
        text
    }
}

impl SanitizerFinding {
    /// `file.c:10:9`, as far as it is known.
    pub fn at(&self) -> String {
        match &self.place {
            Some(SourcePosition { file, line, column }) => format!("{file}:{line}:{column}"),
            None => "?".to_owned(),
        }
    }
}

fn more(text: &mut String, n: usize) {
    if n > SHOWN {
        line(text, format_args!("    and {} more, see run.json", n - SHOWN));
    }
}
