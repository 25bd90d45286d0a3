//! Do tools that share no code with Quarry agree with its claims about a suite?
//!
//! Method: every input of the output directory is run again on two native builds of the uninstrumented source. One has the
//! sanitizers for addresses and undefined behaviour, whose findings are reported once per position. The other is clang's
//! own coverage: it must count each goal that is reported as covered and that llvm-cov can see ([`compare`]); if not, that
//! is a *disagreement*, unless every input that covers the goal may take another path natively. Limits: what llvm-cov has
//! no record of is counted separately, by reason; counts after a crash are those of a program that continued.

mod compare;
mod native;
mod places;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use cache::Cache;
use coverage::{Coverage, Goal};
use engine::executor::Limits;
use frontend::witness::{self, COVERAGE, Measured, ReportReader, SANITIZERS, Tool};
use model::input::Input;

use crate::error::Error;
use crate::gather::absolute;
use crate::interrupt::Interrupt;
use crate::reports;
use crate::scope::narrow;
use crate::store::output::{Claim, Output, RUN_FILE};
use crate::store::recorder::{GOALS_FILE, goal_of};
use crate::store::results::{self, goals};
use crate::store::run::Run;
use crate::store::suite::{INPUT_DIRECTORIES, read_input, read_record, tests_in};
use crate::subject::{Need, Subject};
use compare::Comparer;
use native::{Ran, Watched};
use report::confirmation::{
    self, Claims, Confirmation, Disagreement, SanitizerFinding, sort_findings, take_finding,
};
use report::functions::{FUNCTIONS_FILE, FunctionEntry, Functions, total};
use report::record::{GoalLine, SourcePosition, State, Test};

/// Inputs that hang get no longer than this.
const HANG_LIMIT: Duration = Duration::from_millis(500);
/// How much longer a program may take with sanitizers.
const SLOWER: u32 = 4;

/// An input of an output directory.
pub struct Kept {
    /// Within the directory: `tests/test_001.json`.
    file: String,
    record: Test,
    input: Input,
    hangs: bool,
}

/// Confirms what is in an output directory, of one function or of several, and writes its reports again.
pub fn confirm_claimed(
    claim: Claim,
    limit: Duration,
    interrupt: &Interrupt,
    cache: &Cache,
) -> Result<Confirmation, Error> {
    match results::functions(claim.root())? {
        Some(functions) => confirm_several(claim, functions, limit, interrupt, cache),
        None => confirm_directory(&claim.go_on()?, limit, interrupt, cache),
    }
}

/// Each function's directory, then what all of them come to.
fn confirm_several(
    claim: Claim,
    mut functions: Functions,
    limit: Duration,
    interrupt: &Interrupt,
    cache: &Cache,
) -> Result<Confirmation, Error> {
    let root = claim.root().to_owned();
    for entry in &mut functions.functions {
        let (Some(directory), Some(_)) = (&entry.directory, &entry.result) else { continue };
        if interrupt.is_requested() {
            break;
        }
        let output = Claim::new(&root.join(directory))?.go_on()?;
        confirm_directory(&output, limit, interrupt, cache)?;
        entry.result = read_record::<Run>(&output.root().join(RUN_FILE))?.result;
    }
    let output = claim.go_on()?;
    for directory in INPUT_DIRECTORIES.iter().chain(&["harness", "logs"]) {
        // each function has its own
        let _ = std::fs::remove_dir(root.join(directory));
    }
    let total = total(&functions.functions, false, &root);
    let mut run: Run = read_record(&root.join(RUN_FILE))?;
    let confirmation = of_several(&root, &functions.functions);
    (run.result, run.confirmation) = (Some(total.clone()), Some(confirmation.clone()));
    output.write_json(RUN_FILE, &run)?;
    output.write_json(FUNCTIONS_FILE, &functions)?;
    reports::write_summary(&root, &functions.functions, &total)?;
    Ok(confirmation)
}

/// What was said of each function, together.
pub fn of_several(root: &Path, entries: &[FunctionEntry]) -> Confirmation {
    let directories = entries.iter().filter_map(|entry| entry.directory.as_deref());
    Confirmation::of_several(directories.filter_map(|directory| {
        // one whose turn did not come has no record
        let run: Run = read_record(&root.join(directory).join(RUN_FILE)).ok()?;
        Some((directory, run.confirmation?))
    }))
}

/// Confirms what is in an output directory of one function, from its record alone, and writes its reports again.
fn confirm_directory(
    output: &Output,
    limit: Duration,
    interrupt: &Interrupt,
    cache: &Cache,
) -> Result<Confirmation, Error> {
    let root = output.root();
    let run: Run = read_record(&root.join(RUN_FILE))?;
    let work = output.work().join("confirm");
    let subject = run.rebuild(&work, Need::Model, interrupt, cache)?;
    let confirmation = confirm_run(output, &subject, limit, interrupt)?;
    reports::write(root, &reports::ReportOptions::default())?;
    Ok(confirmation)
}

/// Confirms what is in an output directory and adds that to its record.
pub fn confirm_run(
    output: &Output,
    subject: &Subject,
    limit: Duration,
    interrupt: &Interrupt,
) -> Result<Confirmation, Error> {
    let root = output.root();
    let mut run: Run = read_record(&root.join(RUN_FILE))?;
    let claims = Claimed::read(root, subject, &run)?;
    let work = output.work().join("confirm");
    let mut confirmation = Confirmation::default();
    let native = Native { subject, kept: &claims.kept, limit, interrupt };
    let sanitized = native.sanitized(&work.join("sanitizers"), &mut confirmation);
    let unsound = sanitized.unwrap_or_else(|failure| {
        let why = failure.message().to_owned();
        confirmation.not_asked.insert(confirmation::SANITIZERS.to_owned(), why);
        vec![false; claims.kept.len()]
    });
    let counted = native.counted(&work.join("coverage"), &mut confirmation);
    match counted {
        Ok(Some((measured, was_run))) => {
            let sound: Vec<bool> =
                was_run.iter().zip(&unsound).map(|(run, unsound)| *run && !unsound).collect();
            claims.compare(subject, &measured, &was_run, &sound, &mut confirmation);
        }
        Ok(None) => {
            let why = "no input could be run natively".to_owned();
            confirmation.not_asked.insert(confirmation::LLVM_COV.to_owned(), why);
        }
        Err(failure) => {
            let why = failure.message().to_owned();
            confirmation.not_asked.insert(confirmation::LLVM_COV.to_owned(), why);
        }
    }
    if let Some(result) = &mut run.result {
        result.confirmation = Some(confirmation.counts());
    }
    run.confirmation = Some(confirmation.clone());
    output.write_json(RUN_FILE, &run)?;
    Ok(confirmation)
}

/// The inputs of a suite, to be run on native builds.
#[derive(Clone, Copy)]
struct Native<'a> {
    subject: &'a Subject,
    kept: &'a [Kept],
    limit: Duration,
    interrupt: &'a Interrupt,
}

impl Native<'_> {
    /// Runs all inputs with sanitizers; says which of them have reports.
    fn sanitized(&self, work: &Path, confirmation: &mut Confirmation) -> Result<Vec<bool>, Error> {
        let Self { subject, kept, limit, interrupt } = *self;
        let watched = Watched::build(subject, kept, SANITIZERS, work, interrupt)?;
        // the sanitizer itself needs more addresses than there is memory
        let limits = Limits { memory: 0, ..Limits::default() };
        let mut reader = ReportReader::new(watched.program.clone());
        let mut findings = Vec::new();
        let mut reported = Vec::new();
        for (number, kept) in kept.iter().enumerate() {
            let limit = if kept.hangs { HANG_LIMIT } else { limit * SLOWER };
            let record = match watched.run(number, kept, limit, limits)? {
                Ran::To(result) => result.record,
                Ran::Not(_) => Vec::new(),
            };
            let reports = reader.reports(&record).map_err(|error| Error::caused(&error))?;
            reported.push(!reports.is_empty());
            for report in reports {
                let place = report.place.map(|(file, line, column)| SourcePosition {
                    file: named(subject, &file),
                    line,
                    column,
                });
                let sanitizer = match report.tool {
                    Tool::Address => "address",
                    Tool::Undefined => "undefined",
                };
                let finding = SanitizerFinding {
                    sanitizer: sanitizer.to_owned(),
                    kind: report.kind,
                    also: Vec::new(),
                    place,
                    message: report.message,
                    test: kept.file.clone(),
                    n_tests: 1,
                };
                take_finding(&mut findings, finding);
            }
        }
        sort_findings(&mut findings);
        confirmation.findings = findings;
        Ok(reported)
    }

    /// Runs all inputs with clang's counts; says which of them were run. `None` when there are no counts at all.
    fn counted(
        &self,
        work: &Path,
        confirmation: &mut Confirmation,
    ) -> Result<Option<(Measured, Vec<bool>)>, Error> {
        let Self { subject, kept, limit, interrupt } = *self;
        let watched = Watched::build(subject, kept, COVERAGE, work, interrupt)?;
        let (mut counts, mut was_run) = (Vec::new(), Vec::new());
        for (number, kept) in kept.iter().enumerate() {
            let limit = if kept.hangs { HANG_LIMIT } else { limit };
            let why = match watched.run(number, kept, limit, Limits::default())? {
                Ran::To(result) if result.record.is_empty() => Some("it left no counts".to_owned()),
                Ran::To(result) => {
                    counts.push(result.record);
                    None
                }
                Ran::Not(why) => Some(why),
            };
            was_run.push(why.is_none());
            confirmation.not_run.extend(why.map(|why| (kept.file.clone(), why)));
        }
        if counts.is_empty() {
            return Ok(None);
        }
        let measured =
            witness::measure(&watched.program, &counts, work).map_err(|error| Error::caused(&error))?;
        Ok(Some((measured, was_run)))
    }
}

/// A file as goals name it, if they do.
fn named(subject: &Subject, file: &Path) -> String {
    let name = file.display().to_string();
    let real = absolute(&name, subject);
    let known = subject.program().files.iter().find(|known| absolute(&known.path, subject) == real);
    known.map_or(name, |known| known.path.clone())
}

/// What a run says is covered, and by which inputs.
struct Claimed {
    kept: Vec<Kept>,
    /// Goals that are called covered.
    goals: Vec<(GoalLine, Goal)>,
    /// Goals that are called infeasible.
    infeasible: Vec<(GoalLine, Goal)>,
    /// By the number of a goal: the inputs that cover it.
    inputs: BTreeMap<u32, Vec<usize>>,
}

impl Claimed {
    fn read(root: &Path, subject: &Subject, run: &Run) -> Result<Self, Error> {
        let kept = kept(root, subject)?;
        let mut inputs: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for (number, kept) in kept.iter().enumerate() {
            for covered in &kept.record.covers {
                inputs.entry(covered.goal).or_default().push(number);
            }
        }
        let (program, criteria) = (subject.program(), run.spec.criteria.criteria()?);
        let scope = narrow(program, subject.scope()?, &criteria, &run.spec.criteria.only, subject.root())?;
        let coverage = Coverage::new(program, &scope, &criteria);
        let (mut claimed, mut infeasible) = (Vec::new(), Vec::new());
        for line in goals(&root.join(GOALS_FILE))? {
            let goal = goal_of(program, &coverage, &line).map(|id| coverage.goal(id));
            let goal = goal.ok_or_else(|| {
                Error::usage(format!(
                    "the source has changed since the run: it has no goal \"{}\"",
                    line.demand
                ))
                .help("run quarry gen again")
            })?;
            match line.state {
                Some(State::Covered) => claimed.push((line, goal.clone())),
                Some(State::Infeasible) => infeasible.push((line, goal.clone())),
                Some(State::Undecided) | None => {}
            }
        }
        Ok(Self { kept, goals: claimed, infeasible, inputs })
    }

    fn compare(
        &self,
        subject: &Subject,
        measured: &Measured,
        was_run: &[bool],
        sound: &[bool],
        confirmation: &mut Confirmation,
    ) {
        let real = |path: &str| absolute(path, subject);
        let comparer = Comparer::new(subject.program(), measured, real);
        for (line, goal) in &self.goals {
            let inputs = self.inputs.get(&line.id).map(Vec::as_slice).unwrap_or_default();
            let claims: &mut Claims = confirmation.per_criterion.entry(line.criterion.clone()).or_default();
            claims.claimed += 1;
            let why = match comparer.counts(goal.demand) {
                Ok(true) => {
                    claims.confirmed += 1;
                    continue;
                }
                Err(unseen) => unseen.name(),
                Ok(false) if comparer.returns_twice(goal.function) => "behind a longjmp",
                Ok(false) if !inputs.iter().any(|input| was_run[*input]) => "of inputs not run natively",
                Ok(false) if !inputs.iter().any(|input| sound[*input]) => {
                    "of inputs with undefined behaviour"
                }
                Ok(false) if !inputs.iter().any(|input| self.kept[*input].is_the_same_each_time()) => {
                    "of inputs that differ from run to run"
                }
                Ok(false) => {
                    claims.denied += 1;
                    let tests = inputs.iter().map(|input| self.kept[*input].file.clone()).collect();
                    confirmation.disagreements.push(disagreement(line, tests));
                    continue;
                }
            };
            *claims.unseen.entry(why.to_owned()).or_default() += 1;
        }
        // after undefined behaviour anything may be counted
        let is_sound = was_run.iter().zip(sound).all(|(run, sound)| *sound || !run);
        let reached = self.infeasible.iter().filter(|(_, goal)| {
            is_sound && !comparer.returns_twice(goal.function) && comparer.counts(goal.demand) == Ok(true)
        });
        confirmation.disagreements.extend(reached.map(|(line, _)| disagreement(line, Vec::new())));
    }
}

fn disagreement(line: &GoalLine, tests: Vec<String>) -> Disagreement {
    let at =
        line.place.as_ref().map(|SourcePosition { file, line, column }| format!("{file}:{line}:{column}"));
    Disagreement {
        goal: line.id,
        criterion: line.criterion.clone(),
        at: at.unwrap_or_else(|| "?".to_owned()),
        demand: line.demand.clone(),
        state: line.state.unwrap_or(State::Covered),
        tests,
    }
}

impl Kept {
    /// Whether two native runs came to the same.
    fn is_the_same_each_time(&self) -> bool {
        self.record.expected.as_ref().is_none_or(|expected| expected.left_out.is_empty())
    }
}

/// The inputs of a directory.
fn kept(root: &Path, subject: &Subject) -> Result<Vec<Kept>, Error> {
    let mut all = Vec::new();
    for directory in INPUT_DIRECTORIES {
        let path = root.join(directory);
        let files: Vec<PathBuf> = if path.is_dir() { tests_in(&path)? } else { Vec::new() };
        for file in files {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            all.push(Kept {
                record: read_record(&file)?,
                input: read_input(&file, subject)
                    .map_err(|error| Error::usage(format!("{} {error}", file.display())))?,
                file: format!("{directory}/{name}"),
                hangs: directory == "hangs",
            });
        }
    }
    Ok(all)
}
