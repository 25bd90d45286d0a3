//! Everything a campaign writes to the output directory.

use std::collections::BTreeMap;
use std::path::Path;

use coverage::{Coverage, GoalId, TestId};
use engine::campaign::{BudgetKind, CampaignResult, Finding, StopReason, Test, Trouble};
use model::input::Input;
use model::{Program, SpanId};

use super::output::{Output, RUN_FILE};
use super::recorder::GOALS_FILE;
use super::run::Run;
use crate::end_text::{end_text, sighting_text};
use crate::error::Error;
use crate::existing::ExistingTest;
use crate::expected::short_result;
use crate::naming::{self, Name};
use crate::stubs;
use crate::subject::Subject;
use report::mutation::{MUTATION, Mutation};
pub use report::record::Stop;
use report::record::{
    self, Covered, Expected, FindingRecord, FrameRecord, GoalLine, Likeness, Queries, SCHEMA, SearchRecord,
    SourcePosition, Summary,
};

/// Where inputs are kept that looked like findings.
pub const SUSPICIONS: &str = "suspicions";

/// The tests that were there already, and what new ones are like.
#[derive(Clone, Copy, Debug)]
pub struct Originals<'a> {
    pub tests: &'a [ExistingTest],
    pub likenesses: &'a BTreeMap<TestId, Likeness>,
}

/// What else was found, beside goals of the search.
#[derive(Clone, Copy, Debug, Default)]
pub struct Besides<'a> {
    /// Inputs on which the version before differs.
    pub n_differences: Option<usize>,
    /// What became of mutants, when each is a goal.
    pub mutation: Option<&'a Mutation>,
}

impl Besides<'_> {
    fn added_to(&self, mut summary: Summary) -> Summary {
        summary.differences = self.n_differences;
        if let Some(mutation) = self.mutation {
            let counts = mutation.goals();
            summary.goals.add_all(counts);
            summary.per_criterion.insert(MUTATION.to_owned(), counts);
        }
        summary
    }
}

/// Writes goals, tests, findings and the run's record; returns what the run comes to.
pub fn write(
    output: &Output,
    subject: &Subject,
    result: &CampaignResult,
    originals: Originals<'_>,
    expected: &BTreeMap<TestId, Expected>,
    besides: &Besides<'_>,
    mut run: Run,
) -> Result<Summary, Error> {
    let returned = |test: &Test| expected.get(&test.id).and_then(short_result);
    let names = naming::names(subject, result, originals.tests, returned);
    let writer = Writer { output, subject, result, originals, names, expected };
    output.stage()?;
    writer.tests()?;
    writer.findings("crashes", &result.crashes)?;
    writer.findings("hangs", &result.hangs)?;
    output.commit()?;
    writer.suspicions()?;
    writer.goals()?;
    writer.troubles()?;
    let summary = besides.added_to(summary(output, result));
    run.result = Some(summary.clone());
    run.stubs = stubs::records(subject, result);
    run.gaps = record::gaps(subject.program(), &result.facts);
    output.write_json(RUN_FILE, &run)?;
    Ok(summary)
}

struct Writer<'a> {
    output: &'a Output,
    subject: &'a Subject,
    result: &'a CampaignResult,
    originals: Originals<'a>,
    names: BTreeMap<TestId, Name>,
    expected: &'a BTreeMap<TestId, Expected>,
}

impl Writer<'_> {
    fn program(&self) -> &Program {
        self.subject.program()
    }

    fn goals(&self) -> Result<(), Error> {
        let files = self.files();
        let coverage = &self.result.coverage;
        let lines = coverage.goals().map(|(id, ..)| {
            let file = |test: TestId| files.get(&test).cloned().unwrap_or_else(|| test.to_string());
            let search = self.result.searches.get(&id);
            let search =
                search.map(|search| SearchRecord { seconds: search.seconds, executions: search.executions });
            GoalLine { search, ..GoalLine::decided(self.program(), coverage, id, file) }
        });
        self.output.write_lines(GOALS_FILE, lines).map(drop)
    }

    /// The file of each test, relative to the output directory.
    fn files(&self) -> BTreeMap<TestId, String> {
        let in_directory = |directory: &'static str| move |test: &Test| (test.id, file_name(directory, test));
        let tests = self.result.tests.iter().map(in_directory("tests"));
        let crashes = self.result.crashes.iter().map(|finding| &finding.test).map(in_directory("crashes"));
        let hangs = self.result.hangs.iter().map(|finding| &finding.test).map(in_directory("hangs"));
        let suspicions = self.result.suspicions.iter().map(|finding| &finding.test);
        tests.chain(crashes).chain(hangs).chain(suspicions.map(in_directory(SUSPICIONS))).collect()
    }

    fn tests(&self) -> Result<(), Error> {
        for test in &self.result.tests {
            self.output.write_json(&file_name("tests", test), &self.record(test))?;
        }
        let checked = self.result.tests.iter().filter(|test| !test.is_unchecked);
        let tests: Vec<_> = checked.map(|test| self.replayed(test)).collect();
        if let Some(allocations) = self.subject.replay_allocations() {
            self.output.write("tests/failing_allocations.c", allocations)?;
        }
        self.output.write("tests/replay.c", &self.subject.replay(&tests)).map(drop)
    }

    fn findings(&self, directory: &'static str, findings: &[Finding]) -> Result<(), Error> {
        for finding in findings {
            let test = &finding.test;
            self.output.write_json(&file_name(directory, test), &self.finding(directory, finding))?;
            let reproducer = self.subject.replay(&[self.replayed(test)]);
            self.output.write(&format!("{directory}/{}.c", test.id), &reproducer)?;
        }
        Ok(())
    }

    /// What no native run showed, apart from the suite; those of an earlier run of the same campaign go.
    fn suspicions(&self) -> Result<(), Error> {
        // what cannot be removed is written over or stays, and counts nowhere
        let _ = std::fs::remove_dir_all(self.output.root().join(SUSPICIONS));
        if self.result.suspicions.is_empty() {
            return Ok(());
        }
        let directory = self.output.root().join(SUSPICIONS);
        std::fs::create_dir_all(&directory)
            .map_err(|error| Error::internal(format!("cannot create {}: {error}", directory.display())))?;
        self.findings(SUSPICIONS, &self.result.suspicions)
    }

    /// The record of a finding.
    fn finding(&self, directory: &str, finding: &Finding) -> record::Test {
        let test = &finding.test;
        let record = self.record(test);
        let Some(sighting) = &finding.sighting else { return record };
        let end = if test.end.is_orderly() { sighting_text(self.program(), sighting) } else { record.end };
        let program = self.program();
        let frame = |(function, span): &(String, SpanId)| FrameRecord {
            function: function.clone(),
            place: SourcePosition::of(program, *span),
        };
        let path = self.output.root().join(file_name(directory, test));
        let finding = FindingRecord {
            kind: sighting.kind.clone(),
            message: sighting.message.clone(),
            place: sighting.place.map(|span| SourcePosition::of(program, span)),
            stack: sighting.stack.iter().map(frame).collect(),
            same_as: finding.repeats.map(|first| format!("{directory}/{first}.json")),
            reproduce: reproduce(&path),
        };
        record::Test { end, finding: Some(finding), ..record }
    }

    fn replayed(&self, test: &Test) -> testwriter::Test<Input> {
        let Name { name, description } = &self.names[&test.id];
        let about = format!("{name}: {description}");
        testwriter::Test { name: test.id.to_string(), about, input: test.input.clone() }
    }

    fn record(&self, test: &Test) -> record::Test {
        record::Test {
            name: self.names[&test.id].name.clone(),
            description: self.names[&test.id].description.clone(),
            expected: self.expected.get(&test.id).cloned(),
            like: self.originals.likenesses.get(&test.id).cloned(),
            origin: naming::existing(self.originals.tests, test).map(|existing| existing.origin.clone()),
            ..test_record(self.subject, &self.result.coverage, test)
        }
    }

    /// Runs that Quarry did not understand, and expressions that failed the self-check.
    fn troubles(&self) -> Result<(), Error> {
        let mut lines = Vec::new();
        for trouble in &self.result.troubles {
            let (input, error) = match trouble {
                Trouble::Trace { input, error } => (input, error.to_string()),
                Trouble::Expressions { input, error } => (input, error.to_string()),
                Trouble::Refuted { input } => (input, "a proof excludes the path of this run".to_owned()),
            };
            lines.push(format!("{error}\n    input: {}\n", self.subject.to_json(input)));
        }
        for mismatch in &self.result.mismatches {
            lines.push(format!(
                "self-check: {mismatch}\n    input: {}\n",
                self.subject.to_json(&mismatch.input)
            ));
        }
        if lines.is_empty() {
            return Ok(());
        }
        self.output.write("logs/troubles.txt", &lines.concat()).map(drop)
    }
}

/// A test as its file tells it.
pub fn test_record(subject: &Subject, coverage: &Coverage, test: &Test) -> record::Test {
    let covered =
        |id: &GoalId| Covered::from_goal(subject.program(), coverage, *id, test.covers.contains(id));
    record::Test {
        schema: SCHEMA,
        name: String::new(),
        description: String::new(),
        function: subject.function().to_owned(),
        input: subject.to_json(&test.input),
        provenance: Some(test.provenance.word().to_owned()),
        origin: None,
        like: None,
        unchecked: test.is_unchecked,
        end: end_text(subject.program(), test.end),
        expected: None,
        finding: None,
        covers: test.satisfies.iter().map(covered).collect(),
    }
}

/// A test as the text of its file.
pub fn test_text(subject: &Subject, coverage: &Coverage, test: &Test) -> String {
    serde_json::to_string_pretty(&test_record(subject, coverage, test)).expect("a record is plain data")
}

/// The command that shows a finding again.
pub fn reproduce(file: &Path) -> String {
    format!("quarry replay {}", quoted(&file.display().to_string()))
}

/// A word that a shell reads as it is.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=:@%,".contains(c);
    if word.chars().all(is_plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

fn file_name(directory: &str, test: &Test) -> String {
    format!("{directory}/{}.json", test.id)
}

fn summary(output: &Output, result: &CampaignResult) -> Summary {
    let (goals, per_criterion) = record::counts(&result.coverage);
    let engine::campaign::Queries { sat, unsat, unknown } = result.queries;
    Summary {
        schema: SCHEMA,
        goals,
        per_criterion,
        tests: result.tests.len(),
        unchecked: result.n_unchecked(),
        executions: result.executions,
        queries: Queries { sat, unsat, unknown },
        divergences: result.divergences,
        failed_guesses: result.failed_guesses,
        crashes: result.crashes.iter().filter(|finding| finding.is_distinct()).count(),
        suspicions: result.suspicions.len(),
        seconds: (result.seconds * 1000.0).round() / 1000.0,
        stop: stop_of(&result.stop),
        differences: None,
        confirmation: None,
        out: output.root().to_owned(),
    }
}

/// Why a campaign ended, as records keep it: without the error.
pub fn stop_of(reason: &StopReason) -> Stop {
    match reason {
        StopReason::Complete => Stop::Complete,
        StopReason::Exhausted => Stop::Exhausted,
        StopReason::Budget(BudgetKind::Time) => Stop::Budget,
        StopReason::Budget(BudgetKind::Executions) => Stop::Executions,
        StopReason::Interrupted => Stop::Interrupted,
        StopReason::Failed(_) => Stop::Failed,
    }
}
