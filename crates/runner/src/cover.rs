//! What does an existing suite cover?
//!
//! Method: the subject is built with the path log only; each input is executed once, in the order of the files, and its
//! path is walked. Inputs that cannot be read or executed are listed, and the others are still measured. Limit: a goal
//! counts for the first input that covers it, so what later ones add depends on the order.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use cache::Cache;
use coverage::{Coverage, GoalId, TestId};
use engine::campaign::Clock;
use engine::executor::End;
use frontend::instrument::Mode;
use model::input::Input;
use report::mcdc::{Seen, unseen};
use report::words::counted;
use serde::Serialize;

use crate::background::wait_for;
use crate::contradiction::Contradiction;
use crate::error::Error;
use crate::front;
use crate::kept_proofs;
use crate::measure::{MeasureError, Measurer, Settings};
use crate::scope::narrow;
use crate::session::{Session, Since};
use crate::spec::Spec;
use crate::store::run::Run;
use crate::store::suite::{Suite, read_input};
use crate::subject::{Need, Subject};

/// What is known of a suite.
pub struct MeasuredSuite {
    pub subject: Subject,
    /// The suite as it was named.
    pub directory: PathBuf,
    pub coverage: Coverage,
    pub inputs: Vec<MeasuredInput>,
    pub unmeasured: Vec<Unmeasured>,
    /// How decisions with MC/DC obligations were evaluated.
    pub seen: Seen,
    pub several_criteria: bool,
    /// Files of the suite, measured or not.
    pub n_files: usize,
    pub interrupted: bool,
    pub seconds: f64,
}

/// An input that was executed.
pub struct MeasuredInput {
    /// Name within the suite.
    pub file: String,
    pub input: Input,
    pub end: End,
    /// The path log ran out before the end.
    pub log_full: bool,
    /// How many goals its execution covers.
    pub covers: usize,
    /// Those that no input before it covers.
    pub adds: Vec<GoalId>,
}

/// An input that could not be read or executed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unmeasured {
    pub file: String,
    pub why: String,
}

/// Measures the suite in `directory`. What `spec` leaves open is as when the suite was made.
pub fn cover(
    spec: &Spec,
    root: &Path,
    directory: &Path,
    limit: Duration,
    session: &mut Session<'_>,
) -> Result<MeasuredSuite, Error> {
    let clock = Since::now(session.clock);
    let criteria = spec.criteria.criteria()?;
    let suite = Suite::open(&root.join(directory))?;
    if let Some(why) = &suite.unread {
        session.watcher.warn(&format!("the suite's run.json is ignored: {why}"));
    }
    let work = front::work_directory()?;
    let asked =
        (spec.clone(), root.to_owned(), suite.run.clone(), work.path().to_owned(), session.cache.clone());
    let subject = wait_for(session, "building", move || {
        let (spec, root, run, work, cache) = asked;
        build(&spec, &root, run.as_ref(), &work, &cache)
    });
    session.watcher.clear();
    let subject = subject?;
    let program = subject.program();
    let scope = narrow(program, subject.scope()?, &criteria, &spec.criteria.only, root)?;
    let mut coverage = Coverage::new(program, &scope, &criteria);
    if let Some(home) = &suite.home {
        kept_proofs::take_over(home, program, &mut coverage);
    }
    let (inputs, unmeasured) = (Vec::new(), Vec::new());
    let seen = unseen(program, coverage.goals().map(|(_, goal, _)| goal));
    let mut measuring = Measuring { inputs, unmeasured, seen, coverage, clean: BTreeSet::new() };
    let mode = subject.modes().find(|mode| *mode == Mode::Fast).unwrap_or(Mode::Symbolic);
    let settings = Settings { mode, work: work.path(), limit, interrupt: session.interrupt };
    let mut measurer = Measurer::new(&subject, settings)?.for_goals(&measuring.coverage);
    let mut interrupted = false;
    for (index, file) in suite.files.iter().enumerate() {
        session.watcher.step(&format!("{index} of {}", counted(suite.files.len(), "input")));
        if !measuring.take_in(&subject, &mut measurer, file, suite.name(file)) {
            interrupted = true;
            break;
        }
    }
    session.watcher.clear();
    drop(measurer);
    let Measuring { mut coverage, inputs, unmeasured, seen, clean } = measuring;
    coverage.note_clean(|goal| clean.contains(&goal));
    if let (Some(home), Some(found)) = (&suite.home, contradicted(&coverage, &suite, &inputs)) {
        let command = ["quarry cover".to_owned(), directory.display().to_string()];
        return Err(found.keep(home, subject.program(), &coverage, &command));
    }
    Ok(MeasuredSuite {
        subject,
        directory: directory.to_owned(),
        coverage,
        inputs,
        unmeasured,
        seen,
        several_criteria: criteria.len() > 1,
        n_files: suite.files.len(),
        interrupted,
        seconds: clock.elapsed().as_secs_f64(),
    })
}

/// A goal that an input covers although the run that made the suite proved it infeasible.
fn contradicted(coverage: &Coverage, suite: &Suite, inputs: &[MeasuredInput]) -> Option<Contradiction> {
    let noted = coverage.contradictions().first()?;
    let index = usize::try_from(noted.test.0).ok()?.checked_sub(1)?;
    let file = suite.files.iter().find(|file| suite.name(file) == inputs[index].file)?;
    let input = std::fs::read_to_string(file).unwrap_or_default();
    Some(Contradiction { goal: noted.goal, proof: noted.evidence.proof.clone(), input })
}

/// What is asked now, and where that says nothing, what the run was asked that made the suite.
fn merged(spec: &Spec, run: &Run) -> Spec {
    let mut merged = spec.clone();
    let asked = &mut merged.subject;
    if asked.function.is_none() {
        asked.function = Some(run.function.clone());
        asked.program = asked.program.take().or_else(|| run.spec.subject.program.clone());
    }
    if asked.function.as_ref() != Some(&run.function) {
        return merged;
    }
    // how inputs are built, and what stands in for missing functions, belongs to one function
    let recorded = |file: &PathBuf| run.directory.join(file);
    if asked.stubs.is_empty() {
        asked.stubs = run.spec.subject.stubs.iter().map(recorded).collect();
    }
    if asked.stub_writes.is_empty() {
        asked.stub_writes = run.spec.subject.stub_writes.clone();
    }
    let (mut inputs, _) = run.spec.inputs.for_function(&run.function);
    inputs.precondition = inputs.precondition.as_ref().map(recorded);
    merged.inputs = inputs.overridden_by(spec.inputs.clone());
    merged
}

fn build(spec: &Spec, root: &Path, run: Option<&Run>, work: &Path, cache: &Cache) -> Result<Subject, Error> {
    let run = run.filter(|run| !run.function.is_empty());
    let merged = run.map_or_else(|| spec.clone(), |run| merged(spec, run));
    // a source that is missing has nothing to do with the suite
    front::commands(&merged.sources, root)?;
    let built = Subject::build(&merged, root, work, Need::Paths, cache);
    built.map_err(|error| match error {
        Error::Usage(_) if run.is_some() => error.help(
            "function and lengths are from the suite's run.json unless --function and --len say others",
        ),
        error => error,
    })
}

struct Measuring {
    coverage: Coverage,
    inputs: Vec<MeasuredInput>,
    unmeasured: Vec<Unmeasured>,
    seen: Seen,
    /// Goals that inputs cover which end in order.
    clean: BTreeSet<GoalId>,
}

impl Measuring {
    /// Whether an input that was measured ended in order.
    fn is_orderly(&self, id: TestId) -> bool {
        let index = usize::try_from(id.0).map_or(usize::MAX, |number| number - 1);
        self.inputs.get(index).is_some_and(|input| input.end.is_orderly())
    }

    /// Measures the input in a file; false when interrupted.
    fn take_in(&mut self, subject: &Subject, measurer: &mut Measurer<'_>, file: &Path, name: String) -> bool {
        let input = match read_input(file, subject) {
            Ok(input) => input,
            Err(error) => {
                self.unmeasured.push(Unmeasured { file: name, why: error.to_string() });
                return true;
            }
        };
        match measurer.measure(&input) {
            Ok(measured) => {
                let id = TestId(u32::try_from(self.inputs.len() + 1).expect("fewer than 2^32 inputs"));
                let satisfied = self.coverage.satisfied(&measured.observations);
                let covers = satisfied.len();
                let covered = self.coverage.cover(id, &measured.observations).goals;
                let adds = covered.iter().map(|(goal, _)| *goal).collect();
                for (decision, vectors) in &mut self.seen {
                    let new = measured.observations.vectors(*decision);
                    vectors.extend(new.map(|(vector, outcome)| (vector.clone(), outcome)));
                }
                let (end, log_full) = (measured.end, measured.log_full);
                self.inputs.push(MeasuredInput { file: name, input, end, log_full, covers, adds });
                if end.is_orderly() {
                    self.clean.extend(satisfied);
                }
                // an earlier input may have shown the other half of what two cover together
                let in_order = covered.into_iter().filter(|(_, by)| self.is_orderly(*by));
                let in_order: Vec<GoalId> = in_order.map(|(goal, _)| goal).collect();
                self.clean.extend(in_order);
                true
            }
            Err(MeasureError::Interrupted) => false,
            Err(error @ (MeasureError::Rejected | MeasureError::Execute(_) | MeasureError::Trace(_))) => {
                self.unmeasured.push(Unmeasured { file: name, why: error.to_string() });
                true
            }
        }
    }
}
