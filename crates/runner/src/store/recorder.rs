//! Records what a campaign finds, as it finds it.
//!
//! Method: first a line of the journal, then the test's own file, each completely or not at all; `goals.jsonl` lags by
//! about a second. Files get unused numbers, so that nothing of an earlier run is overwritten before the campaign ends and
//! the suite is replaced as a whole. If something cannot be written, the campaign is asked to stop: it could not keep what
//! it finds.

use std::collections::BTreeSet;
use std::time::Duration;

use coverage::{Coverage, GoalId, TestId};
use engine::campaign::{Finding, Observer, Progress, Provenance, Test};
use engine::executor::End;
use model::Program;
use model::input::Input;

use super::journal::{Entry, JOURNAL_FILE, Journal, cells, seconds};
use super::output::{Output, cannot, test_number};
use super::resume::Recorded;
use super::suite::{INPUT_DIRECTORIES, tests_in};
use super::writer::test_record;
use crate::error::Error;
use crate::interrupt::Interrupt;
use crate::subject::Subject;
use report::record::{GoalLine, State};

/// How long the file of goals may be behind.
const BEHIND: Duration = Duration::from_secs(1);
/// Name of the file of goals.
pub const GOALS_FILE: &str = "goals.jsonl";

/// Hears what a campaign finds.
pub struct Recorder<'a> {
    output: &'a Output,
    subject: &'a Subject,
    /// The goals, to tell what a test covers.
    coverage: Coverage,
    journal: Journal,
    session: u32,
    /// Inputs that the journal has.
    known: BTreeSet<Input>,
    next_number: u32,
    lines: Vec<GoalLine>,
    /// When something changed in the goals that the file does not say yet.
    changed: Option<Duration>,
    failure: Option<Error>,
    /// Requested when something cannot be written.
    interrupt: &'a Interrupt,
}

impl<'a> Recorder<'a> {
    /// Goes on with what the directory has.
    pub fn new(
        output: &'a Output,
        subject: &'a Subject,
        coverage: Coverage,
        recorded: &Recorded,
        session: u32,
        interrupt: &'a Interrupt,
    ) -> Result<Self, Error> {
        let journal = Journal::open(output.root()).map_err(|error| cannot_journal(output, &error))?;
        let mut recorder = Self {
            output,
            subject,
            lines: lines(output, subject, &coverage),
            coverage,
            journal,
            session,
            known: recorded.inputs.iter().map(|(input, _)| input.clone()).collect(),
            next_number: 1 + last_number(output)?,
            changed: None,
            failure: None,
            interrupt,
        };
        for (directory, input, provenance) in &recorded.edited {
            recorder
                .append(directory, input, *provenance, None)
                .map_err(|error| cannot_journal(output, &error))?;
        }
        recorder.write_goals()?;
        Ok(recorder)
    }

    /// What could not be written, if anything.
    pub fn finish(self) -> Result<(), Error> {
        self.failure.map_or(Ok(()), Err)
    }

    fn append(
        &mut self,
        kind: &str,
        input: &Input,
        provenance: Provenance,
        progress: Option<&Progress>,
    ) -> std::io::Result<()> {
        let entry = Entry {
            session: self.session,
            seconds: progress.map_or(0.0, |progress| seconds(progress.elapsed)),
            executions: progress.map_or(0, |progress| progress.executions),
            covered: progress.map_or(0, |progress| progress.n_covered),
            goals: self.coverage.n_goals(),
            kind: kind.to_owned(),
            provenance: Some(provenance.word().to_owned()),
            cells: cells(input),
        };
        self.journal.append(&entry)
    }

    fn take(&mut self, directory: &'static str, test: &Test, progress: &Progress) {
        if self.failure.is_some() {
            return;
        }
        let is_new = self.known.insert(test.input.clone());
        let file = is_new.then(|| format!("{directory}/test_{:03}.json", self.next_number));
        if let Some(file) = &file {
            self.next_number += 1;
            if let Err(failure) = self.write(directory, file, test, progress) {
                let call = self.subject.call(&test.input);
                self.failure = Some(failure.help(format!("found last, and possibly not written: {call}")));
                self.interrupt.request();
                return;
            }
        }
        for goal in &test.covers {
            let line = &mut self.lines[goal.index()];
            if line.state != Some(State::Covered) || file.is_some() {
                (line.state, line.reason, line.why) = (Some(State::Covered), None, None);
                line.test = file.clone().or(line.test.take());
                self.changed.get_or_insert(progress.elapsed);
            }
        }
    }

    fn write(&mut self, directory: &str, file: &str, test: &Test, progress: &Progress) -> Result<(), Error> {
        self.append(directory, &test.input, test.provenance, Some(progress))
            .map_err(|error| cannot_journal(self.output, &error))?;
        self.output.write_json(file, &test_record(self.subject, &self.coverage, test))?;
        if directory != INPUT_DIRECTORIES[0] {
            let name = file.trim_start_matches(directory).trim_matches('/').trim_end_matches(".json");
            let (name, about, input) = (name.to_owned(), String::new(), test.input.clone());
            let reproducer = self.subject.replay(&[testwriter::Test { name, about, input }]);
            self.output.write(&file.replace(".json", ".c"), &reproducer)?;
        }
        Ok(())
    }

    fn write_goals(&self) -> Result<(), Error> {
        self.output.write_lines(GOALS_FILE, self.lines.iter()).map(drop)
    }
}

impl Observer for Recorder<'_> {
    fn worked(&mut self, progress: &Progress) {
        let is_due = self.changed.is_some_and(|changed| progress.elapsed >= changed + BEHIND);
        if is_due && self.failure.is_none() {
            self.changed = None;
            if let Err(failure) = self.write_goals() {
                self.failure = Some(failure);
                self.interrupt.request();
            }
        }
    }

    fn kept(&mut self, test: &Test, progress: &Progress) {
        self.take("tests", test, progress);
    }

    fn found(&mut self, finding: &Finding, progress: &Progress) {
        let directory = if finding.test.end == End::TimedOut { "hangs" } else { "crashes" };
        self.take(directory, &finding.test, progress);
    }

    fn decided(&mut self, goal: GoalId, coverage: &Coverage, progress: &Progress) {
        let name = |test: TestId| test.to_string();
        self.lines[goal.index()] = GoalLine::decided(self.subject.program(), coverage, goal, name);
        self.changed.get_or_insert(progress.elapsed);
    }
}

/// The goal that a line is about; a line without a key is believed if its number still demands the same.
pub fn goal_of(program: &Program, coverage: &Coverage, line: &GoalLine) -> Option<GoalId> {
    if !line.key.is_empty() {
        return coverage.with_key(&line.key);
    }
    let id = Some(GoalId(line.id)).filter(|id| id.index() < coverage.n_goals());
    id.filter(|id| coverage.goal(*id).describe(program) == line.demand)
}

fn earlier_lines(output: &Output) -> Vec<GoalLine> {
    let text = std::fs::read_to_string(output.root().join(GOALS_FILE)).unwrap_or_default();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// The goals as the last run knew them, or else as they are before the search.
fn lines(output: &Output, subject: &Subject, coverage: &Coverage) -> Vec<GoalLine> {
    let program = subject.program();
    let name = |test: TestId| test.to_string();
    let mut lines: Vec<GoalLine> =
        coverage.goals().map(|(id, ..)| GoalLine::decided(program, coverage, id, name)).collect();
    for earlier in earlier_lines(output) {
        if let Some(id) = goal_of(program, coverage, &earlier) {
            if earlier.state == Some(State::Infeasible) && coverage.is_open(id) {
                continue; // its proof does not count any more
            }
            let line = &mut lines[id.index()];
            let GoalLine { state, test, reason, why, evidence, search, .. } = earlier;
            (line.state, line.test, line.reason, line.why) = (state, test, reason, why);
            (line.evidence, line.search) = (evidence, search);
        }
    }
    lines
}

/// The greatest number of a test that is there.
fn last_number(output: &Output) -> Result<u32, Error> {
    let mut last = 0;
    for directory in INPUT_DIRECTORIES {
        for file in tests_in(&output.root().join(directory))? {
            let number = file.file_name().and_then(|name| name.to_str()).and_then(test_number);
            last = last.max(number.unwrap_or(0));
        }
    }
    Ok(last)
}

fn cannot_journal(output: &Output, error: &std::io::Error) -> Error {
    cannot("write", &output.root().join(JOURNAL_FILE), error)
}
