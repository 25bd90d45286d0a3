//! Quarry's own suites, read as tests that are there already; and the directory that an import leaves.
//!
//! Each imported test is executed once, so that its file says how it ends and what it covers. The directory is one that every
//! other command takes: `run.json` has the limits that the tests need.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use coverage::{Coverage, GoalId, TestId};
use engine::campaign::Provenance;
use frontend::instrument::Mode;
use model::input::Input;
use report::record::{self, Covered, GoalLine, SCHEMA};
use serde_json::Value;

use super::calls::{TestRuns, record};
use super::{Found, FoundTest, Given, LeftOut, Reading, file_stem, read as read_tests, resolve, stem, widen};
use crate::background::wait_for;
use crate::end_text::end_text;
use crate::error::Error;
use crate::existing::ExistingTest;
use crate::fingerprint::Fingerprint;
use crate::front;
use crate::measure::{MeasureError, Measurer, Settings};
use crate::reports;
use crate::scope::narrow;
use crate::session::Session;
use crate::spec::Spec;
use crate::store::output::{Claim, Output, RUN_FILE};
use crate::store::recorder::GOALS_FILE;
use crate::store::run::{Run, RunState};
use crate::store::suite::{Suite, read_record};
use crate::subject::{Need, Subject};
use report::timeline::Timeline;
use report::words::counted;

/// An import to be done.
#[derive(Clone, Debug)]
pub struct ImportOrder {
    pub spec: Spec,
    /// Where paths of the spec start.
    pub root: PathBuf,
    pub out: PathBuf,
    pub command: Vec<String>,
    /// Time for each execution.
    pub limit: Duration,
}

/// What was imported.
pub struct ImportedSuite {
    pub subject: Subject,
    pub root: PathBuf,
    pub tests: Vec<ImportedTest>,
    pub left_out: Vec<LeftOut>,
    pub notes: Vec<String>,
    pub coverage: Coverage,
    pub interrupted: bool,
}

/// A test that was imported.
#[derive(Clone, Debug)]
pub struct ImportedTest {
    pub name: String,
    pub origin: String,
    /// Its file in the output directory.
    pub file: String,
    pub input: Input,
    pub end: String,
    /// How many goals it covers, and how many of these no test before it does.
    pub covers: usize,
    pub adds: usize,
}

/// Reads an output directory, or a directory of tests.
pub(super) fn read(reading: &Reading<'_>, found: &mut Found) -> Result<(), Error> {
    let suite = Suite::open(reading.path)?;
    if let Some(run) = &suite.run {
        found.runs.push(run.spec.clone());
    }
    for file in &suite.files {
        read_tests_of(reading, file, found);
    }
    Ok(())
}

/// Whether a file has what a program is given, as JSON.
pub(super) fn is_invocation(file: &Path) -> bool {
    let is_json = file.extension().is_some_and(|extension| extension == "json");
    let value = super::read_bytes(file).ok().filter(|_| is_json);
    let value: Option<Value> = value.and_then(|text| serde_json::from_slice(&text).ok());
    let members = value.as_ref().and_then(Value::as_object);
    members.is_some_and(|members| {
        ["argv", "stdin", "files", "input"].iter().any(|name| members.contains_key(*name))
    })
}

/// Reads one file with JSON.
pub(super) fn read_file(reading: &Reading<'_>, found: &mut Found) -> Result<(), Error> {
    let run = reading.path.ancestors().skip(1).find(|directory| directory.join(RUN_FILE).is_file());
    if let Some(Ok(run)) = run.map(|directory| read_record::<Run>(&directory.join(RUN_FILE))) {
        found.runs.push(run.spec);
    }
    read_tests_of(reading, reading.path, found);
    Ok(())
}

/// The tests in a file: a record of a test, an input by parameter, or an array of either.
fn read_tests_of(reading: &Reading<'_>, file: &Path, found: &mut Found) {
    let text = super::read_bytes(file);
    let value: Result<Value, String> =
        text.and_then(|text| serde_json::from_slice(&text).map_err(|error| format!("is not JSON: {error}")));
    match value {
        Ok(Value::Array(values)) => {
            for (value, number) in values.into_iter().zip(1..) {
                let origin = format!("{}#{number}", reading.origin(file));
                found.tests.push(test(value, format!("{}_{number}", stem(file)), origin));
            }
        }
        Ok(value) => found.tests.push(test(value, stem(file), reading.origin(file))),
        Err(why) => found.left_out.push(reading.left_out(file, why)),
    }
}

fn test(value: Value, name: String, origin: String) -> FoundTest {
    // all tests of an export are one array, without a schema each
    let is_record = value.get("input").is_some_and(Value::is_object)
        && (value.get("schema").is_some() || value.get("name").is_some());
    if !is_record {
        return FoundTest { name, origin, given: Given::Json(value) };
    }
    let word = |key: &str| value.get(key).and_then(Value::as_str).filter(|word| !word.is_empty());
    let name = word("name").map_or(name, str::to_owned);
    // where it came from in the first place
    let origin = word("origin").map_or(origin, str::to_owned);
    FoundTest { name, origin, given: Given::Json(value["input"].clone()) }
}

/// Imports tests into an output directory.
pub fn import(order: ImportOrder, session: &mut Session<'_>) -> Result<ImportedSuite, Error> {
    let ImportOrder { mut spec, root, out, command, limit } = order;
    let criteria = spec.criteria.criteria()?;
    spec.sources = front::with_all_sources(&spec.sources, &root)?;
    let mut found = read_tests(&spec, &root)?;
    take_over(&mut spec, &found);
    widen(&mut spec, &mut found);
    let fingerprint = Fingerprint::of(&spec, &root, session.cache)?;
    let claim = Claim::new(&out)?;
    let output = claim.start_over()?;
    let asked = spec.clone();
    let to_build = (spec.clone(), root.clone(), output.work(), session.cache.clone());
    let subject = wait_for(session, "building", move || {
        Subject::build(&to_build.0, &to_build.1, &to_build.2, Need::Paths, &to_build.3)
    });
    session.watcher.clear();
    let subject = subject?;
    let runs =
        TestRuns { asked: &asked.tests, work: &output.work(), limit, interrupt: session.interrupt.flag() };
    if !found.sources.is_empty() {
        session.watcher.step("running the tests");
    }
    record(&mut found, &subject, &runs)?;
    session.watcher.clear();
    let resolved = resolve(&subject, &found);
    if resolved.tests.is_empty() {
        return Err(nothing(&resolved.left_out));
    }
    let program = subject.program();
    let scope = narrow(program, subject.scope()?, &criteria, &spec.criteria.only, &root)?;
    let coverage = Coverage::new(program, &scope, &criteria);
    // from here on the run says which function it is, however it was found
    if spec.subject.program.is_none() {
        spec.subject.function = Some(subject.function().to_owned());
    }
    let mut run = Run::new(spec, &root, command, fingerprint);
    run.built(subject.function(), subject.inputs());
    output.begin(&run)?;
    let mut importing = Importing {
        subject: &subject,
        output: &output,
        coverage,
        tests: Vec::new(),
        left_out: resolved.left_out,
        used: BTreeSet::new(),
        files: BTreeMap::new(),
    };
    let interrupted = importing.all(&resolved.tests, limit, session)?;
    let Importing { coverage, tests, left_out, files, .. } = importing;
    let file = |test: TestId| files.get(&test).cloned().unwrap_or_else(|| test.to_string());
    let lines = coverage.goals().map(|(id, ..)| GoalLine::decided(program, &coverage, id, file));
    output.write_lines(GOALS_FILE, lines)?;
    let inputs = tests.iter().map(|test| testwriter::Test {
        name: file_stem(&test.name),
        about: format!("{}: {}", test.name, test.origin),
        input: test.input.clone(),
    });
    output.write("tests/replay.c", &subject.replay(&inputs.collect::<Vec<_>>()))?;
    run.state = RunState::Finished;
    output.write_json(RUN_FILE, &run)?;
    if !interrupted {
        session.watcher.step("reporting");
        let work = output.work();
        let settings =
            Settings { mode: measuring_mode(&subject), work: &work, limit, interrupt: session.interrupt };
        reports::measure(&output, &subject, settings, &Timeline::default())?;
        session.watcher.clear();
    }
    let root = output.root().to_owned();
    drop(output);
    Ok(ImportedSuite { subject, root, tests, left_out, notes: found.notes, coverage, interrupted })
}

/// Takes over what runs said that wrote the tests, where nothing is asked now: the function, and how its inputs are built.
pub fn take_over(spec: &mut Spec, found: &Found) {
    let [run, ..] = found.runs.as_slice() else { return };
    if spec.subject.program.is_none() && spec.subject.function.is_none() {
        spec.subject.function.clone_from(&run.subject.function);
        spec.subject.program.clone_from(&run.subject.program);
    }
    if spec.subject.program.is_none() && spec.subject.function == run.subject.function {
        spec.inputs = run.inputs.clone().overridden_by(spec.inputs.clone());
    }
}

/// Why nothing is imported.
pub fn nothing(left_out: &[LeftOut]) -> Error {
    const SHOWN: usize = 5;
    let error = Error::usage(match left_out.len() {
        0 => "there are no tests to import".to_owned(),
        n => format!("none of {} can be imported", counted(n, "test")),
    });
    left_out
        .iter()
        .take(SHOWN)
        .fold(error, |error, LeftOut { origin, why, .. }| error.help(format!("{origin}: {why}")))
}

/// How tests are executed: without expressions, if that was built.
fn measuring_mode(subject: &Subject) -> Mode {
    subject.modes().find(|mode| *mode == Mode::Fast).unwrap_or(Mode::Symbolic)
}

struct Importing<'a> {
    subject: &'a Subject,
    output: &'a Output,
    coverage: Coverage,
    tests: Vec<ImportedTest>,
    left_out: Vec<LeftOut>,
    /// Names of files.
    used: BTreeSet<String>,
    /// The file of each test.
    files: BTreeMap<TestId, String>,
}

impl Importing<'_> {
    /// Executes and writes all; whether that was interrupted.
    fn all(
        &mut self,
        tests: &[ExistingTest],
        limit: Duration,
        session: &mut Session<'_>,
    ) -> Result<bool, Error> {
        let work = self.output.work();
        let settings =
            Settings { mode: measuring_mode(self.subject), work: &work, limit, interrupt: session.interrupt };
        let mut measurer = Measurer::new(self.subject, settings)?.for_goals(&self.coverage);
        for (number, test) in tests.iter().enumerate() {
            session.watcher.step(&format!("{number} of {}", counted(tests.len(), "test")));
            match measurer.measure(&test.input) {
                Ok(measured) => {
                    let id = TestId(u32::try_from(number + 1).unwrap_or(u32::MAX));
                    let satisfied = self.coverage.satisfied(&measured.observations);
                    let adds: Vec<GoalId> = self
                        .coverage
                        .cover(id, &measured.observations)
                        .goals
                        .into_iter()
                        .map(|(goal, _)| goal)
                        .collect();
                    let file =
                        self.write(test, end_text(self.subject.program(), measured.end), &satisfied, &adds)?;
                    self.files.insert(id, file);
                }
                Err(MeasureError::Interrupted) => {
                    session.watcher.clear();
                    return Ok(true);
                }
                Err(error) => {
                    let (name, origin) = (test.name.clone(), test.origin.clone());
                    self.left_out.push(LeftOut { name, origin, why: error.to_string() });
                }
            }
        }
        session.watcher.clear();
        Ok(false)
    }

    fn write(
        &mut self,
        test: &ExistingTest,
        end: String,
        satisfied: &[GoalId],
        adds: &[GoalId],
    ) -> Result<String, Error> {
        let ExistingTest { name, origin, input } = test;
        let mut stem = file_stem(name);
        while !self.used.insert(stem.clone()) {
            stem.push('_');
        }
        let file = format!("tests/{stem}.json");
        let program = self.subject.program();
        let covered = |id: &GoalId| Covered::from_goal(program, &self.coverage, *id, adds.contains(id));
        let record = record::Test {
            schema: SCHEMA,
            name: name.clone(),
            description: format!("{} {end}", self.subject.call(input)),
            function: self.subject.function().to_owned(),
            input: self.subject.to_json(input),
            provenance: Some(Provenance::Imported(0).word().to_owned()),
            origin: Some(origin.clone()),
            like: None,
            unchecked: false,
            end: end.clone(),
            expected: None,
            finding: None,
            covers: satisfied.iter().map(covered).collect(),
        };
        self.output.write_json(&file, &record)?;
        self.tests.push(ImportedTest {
            name: name.clone(),
            origin: origin.clone(),
            file: file.clone(),
            input: input.clone(),
            end,
            covers: satisfied.len(),
            adds: adds.len(),
        });
        Ok(file)
    }
}
