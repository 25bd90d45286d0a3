//! The mutants of the code under test, built once and run natively: which tests reach which mutant, and which notice it?
//!
//! Method: one program has all mutants ([`frontend::mutate`]); a variable of the environment selects one. A test notices a mutant when the run does not show what the
//! test expects: its end, what it returns, changes and prints. Runs are confined and limited as all native runs are. The limit of processor time
//! is a multiple of what the test needs without a mutant. Limits: what tests do not expect is not noticed, although another test framework may
//! compare it; allocations do not fail.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use coverage::Scope;
use engine::executor::{ExecutorError, NativeResult};
use frontend::build::BuildError;
use frontend::mutate::{self, ALL, Mutant, REACHED, VARIABLE};
use model::input::Input;
use report::record::Expected;
use testwriter::{Observed, Recorder};

use crate::error::Error;
use crate::expected::{difference, fixed_memory, native_run};
use crate::interrupt::Interrupt;
use crate::subject::Subject;
use crate::subject::mutated::Mutated;

/// The limits of processor time that a test is tried with, until one is enough.
const LIMITS: [Duration; 6] = [
    Duration::from_millis(20),
    Duration::from_millis(60),
    Duration::from_millis(200),
    Duration::from_millis(600),
    Duration::from_secs(2),
    Duration::from_secs(10),
];
/// How much longer a mutant may take than its test.
const SLOWER: u32 = 4;

/// A program with all mutants, and the tests it can run.
pub struct MutantProgram<'a> {
    subject: &'a Subject,
    inputs: Vec<Input>,
    program: PathBuf,
    work: PathBuf,
    /// Of a function.
    recorder: Option<Recorder>,
    units: Vec<Mutated>,
}

/// What a test did without a mutant.
#[derive(Clone, Debug)]
pub struct Reached {
    pub mutants: BTreeSet<u32>,
    /// The processor time that a mutant may use.
    pub limit: Duration,
}

/// What came of a run.
#[derive(Clone, Debug)]
pub struct MutantRun {
    pub result: NativeResult,
    pub observed: Observed,
}

impl<'a> MutantProgram<'a> {
    /// Builds the mutants of the functions in `scope`, with these tests; files go to `work`.
    pub fn build(
        subject: &'a Subject,
        scope: &Scope,
        inputs: Vec<Input>,
        work: &Path,
    ) -> Result<Self, Error> {
        let cannot =
            |path: &Path, error| Error::internal(format!("cannot write {}: {error}", path.display()));
        std::fs::create_dir_all(work).map_err(|error| cannot(work, error))?;
        let program = work.join("mutants-program");
        let test = |(number, input): (usize, &Input)| testwriter::Test {
            name: number.to_string(),
            about: String::new(),
            input: input.clone(),
        };
        let tests: Vec<_> = inputs.iter().enumerate().map(test).collect();
        let recorder =
            subject.function_under_test().map(|under_test| testwriter::recorder(&under_test, &tests));
        let file = work.join("tests.c");
        let text =
            recorder.as_ref().map(|recorder| recorder.text.clone()).or_else(|| subject.stubbed_main(&tests));
        if let Some(text) = &text {
            std::fs::write(&file, text).map_err(|error| cannot(&file, error))?;
        }
        let extra: &[&str] = if recorder.is_some() { &[testwriter::WRAPPED] } else { &[] };
        let file = text.is_some().then_some(file.as_path());
        let units = subject.build_mutated(scope, file, work, &program, extra)?;
        Ok(Self { subject, inputs, program, work: work.to_owned(), recorder, units })
    }

    /// All mutants, in the order of their numbers, each with the path of its file.
    pub fn mutants(&self) -> impl Iterator<Item = (String, &Mutant)> {
        self.units.iter().flat_map(|unit| {
            unit.unit.mutants.iter().map(|mutant| (self.subject.path_of_mutant(unit, mutant), mutant))
        })
    }

    /// Runs a test without a mutant: what it reaches; nothing when it cannot be run natively or does not do what it should.
    pub fn reached(
        &self,
        test: usize,
        expected: &Expected,
        lane: usize,
        interrupt: &Interrupt,
    ) -> Result<Option<Reached>, Error> {
        for limit in LIMITS {
            let Some(run) = self.run_with(test, "0", limit, lane, interrupt)? else { return Ok(None) };
            if difference(expected, &run.result, &run.observed).is_some() {
                continue; // too slow for this limit, perhaps
            }
            let limit = limit * SLOWER;
            let Some(all) = self.run_with(test, ALL, limit, lane, interrupt)? else { return Ok(None) };
            let record = String::from_utf8_lossy(&all.result.record);
            let numbers = record.lines().filter_map(|line| line.strip_prefix(REACHED)?.parse().ok());
            return Ok(Some(Reached { mutants: numbers.collect(), limit }));
        }
        Ok(None)
    }

    /// Runs a test on a mutant; nothing when it cannot be run natively. Runs at a time must have `lane`s of their own.
    pub fn run(
        &self,
        test: usize,
        mutant: u32,
        limit: Duration,
        lane: usize,
        interrupt: &Interrupt,
    ) -> Result<Option<MutantRun>, Error> {
        self.run_with(test, &mutant.to_string(), limit, lane, interrupt)
    }

    fn run_with(
        &self,
        test: usize,
        mutant: &str,
        limit: Duration,
        lane: usize,
        interrupt: &Interrupt,
    ) -> Result<Option<MutantRun>, Error> {
        let run = native_run(self.subject, self.program.clone(), test.to_string(), &self.inputs[test]);
        let Some(mut run) = run else { return Ok(None) };
        run.variables.extend(fixed_memory());
        run.variables.push((VARIABLE.into(), mutant.into()));
        match run.run(&self.work.join(format!("lane{lane}")), limit, &interrupt.flag()) {
            Ok(result) => {
                let read = |recorder: &Recorder| recorder.read(test, &result.record);
                let observed = self.recorder.as_ref().map_or_else(Observed::default, read);
                Ok(Some(MutantRun { result, observed }))
            }
            Err(ExecutorError::Interrupted) => Ok(None),
            Err(error) => Err(Error::caused(&error)),
        }
    }

    /// Which of these mutants compile to the same code as the source; `is_enough` ends the search for them.
    pub fn equivalent(
        &self,
        numbers: &BTreeSet<u32>,
        is_enough: &dyn Fn() -> bool,
    ) -> Result<BTreeSet<u32>, BuildError> {
        let mut same = BTreeSet::new();
        for Mutated { command, text, unit } in &self.units {
            let asked: Vec<&Mutant> =
                unit.mutants.iter().filter(|mutant| numbers.contains(&mutant.number)).collect();
            if asked.is_empty() {
                continue;
            }
            let verdicts = mutate::equivalent(command, text, &asked, &self.work, is_enough)?;
            let shown = asked.iter().zip(verdicts).filter(|(_, same)| *same);
            same.extend(shown.map(|(mutant, _)| mutant.number));
        }
        Ok(same)
    }
}
