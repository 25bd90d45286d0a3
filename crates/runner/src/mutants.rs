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
use engine::executor::{ExecutorError, NativeEnd, NativeResult};
use frontend::build::BuildError;
use frontend::mutate::{self, ALL, DIFFERS, Mutant, REACHED, VARIABLE};
use model::input::Input;
use report::record::Expected;
use testwriter::{Observed, Recorder};

use crate::error::Error;
use crate::expected::{self, both_memories, difference, native_run};
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
    /// The path of each file of each unit, as goals name it.
    paths: Vec<Vec<String>>,
}

/// What a test did without a mutant.
#[derive(Clone, Debug)]
pub struct Reached {
    pub mutants: BTreeSet<u32>,
    /// Those of them that make a difference where they are reached, or may.
    pub differing: BTreeSet<u32>,
    /// The processor time that a mutant may use.
    pub limit: Duration,
}

/// What an input does, for a first look.
#[derive(Clone, Debug)]
pub struct Survey {
    /// All that a test could compare, as text.
    pub output: String,
    /// The mutants that make a difference where it reaches them, or may.
    pub differing: BTreeSet<u32>,
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
        let paths = units.iter().map(|unit| subject.paths_of_mutants(unit)).collect();
        Ok(Self { subject, inputs, program, work: work.to_owned(), recorder, units, paths })
    }

    /// All mutants, in the order of their numbers, each with the path of its file.
    pub fn mutants(&self) -> impl Iterator<Item = (&str, &Mutant)> {
        self.units.iter().zip(&self.paths).flat_map(|(unit, paths)| {
            unit.unit.mutants.iter().map(|mutant| (paths[mutant.at.file.index()].as_str(), mutant))
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
            let (mutants, differing) = self.noted(&all.result.record);
            return Ok(Some(Reached { mutants, differing, limit }));
        }
        Ok(None)
    }

    /// What is to be expected of a test without a mutant, as two runs show; nothing when they differ in how they end, or when it does not end in order.
    pub fn expect(
        &self,
        test: (usize, &Input),
        lane: usize,
        interrupt: &Interrupt,
    ) -> Result<Option<(Expected, Duration)>, Error> {
        for limit in LIMITS {
            let Some(first) = self.run_input(test, "0", 0, limit, lane, interrupt)? else { return Ok(None) };
            if first.result.end == NativeEnd::TimedOut {
                continue;
            }
            let Some(second) = self.run_input(test, "0", 1, limit * 2, lane, interrupt)? else {
                return Ok(None);
            };
            let expected = expected::expected(self.recorder.as_ref(), test.0, &first.result, &second.result);
            let is_orderly = matches!(first.result.end, NativeEnd::Exited(_)) && !expected.end.is_empty();
            return Ok(is_orderly.then_some((expected, limit * SLOWER)));
        }
        Ok(None)
    }

    /// What an input does without a mutant, and which mutants it could notice; nothing when it does not end in order.
    pub fn survey(
        &self,
        test: (usize, &Input),
        lane: usize,
        interrupt: &Interrupt,
    ) -> Result<Option<Survey>, Error> {
        for limit in LIMITS {
            let Some(run) = self.run_input(test, ALL, 0, limit, lane, interrupt)? else { return Ok(None) };
            let output = &run.result.output;
            match run.result.end {
                NativeEnd::TimedOut => {}
                NativeEnd::Signalled(_) => return Ok(None),
                NativeEnd::Exited(code) => {
                    let values = &run.observed.values;
                    let output = format!("{code} {:?} {:?} {values:?}", output.stdout, output.stderr);
                    return Ok(Some(Survey { output, differing: self.noted(&run.result.record).1 }));
                }
            }
        }
        Ok(None)
    }

    /// Whether an input notices a mutant.
    pub fn notices(
        &self,
        test: (usize, &Input),
        mutant: u32,
        (expected, limit): (&Expected, Duration),
        lane: usize,
        interrupt: &Interrupt,
    ) -> Result<bool, Error> {
        let run = self.run_input(test, &mutant.to_string(), 0, limit, lane, interrupt)?;
        Ok(run.is_some_and(|run| difference(expected, &run.result, &run.observed).is_some()))
    }

    /// The mutants that a record says are reached, and those of them that may make a difference there.
    fn noted(&self, record: &[u8]) -> (BTreeSet<u32>, BTreeSet<u32>) {
        let record = String::from_utf8_lossy(record);
        let named = |word: &str| -> BTreeSet<u32> {
            record.lines().filter_map(|line| line.strip_prefix(word)?.parse().ok()).collect()
        };
        let (reached, mut differing) = (named(REACHED), named(DIFFERS));
        let unnoted = self.mutants().filter(|(_, mutant)| !mutant.is_noted).map(|(_, mutant)| mutant.number);
        differing.extend(unnoted.filter(|number| reached.contains(number)));
        (reached, differing)
    }

    /// Whether inputs can be run that it was not built with.
    pub fn takes_any_input(&self) -> bool {
        self.recorder.is_none() && self.subject.stubs().stubs.is_empty()
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
        self.run_input((test, &self.inputs[test]), mutant, 0, limit, lane, interrupt)
    }

    fn run_input(
        &self,
        (test, input): (usize, &Input),
        mutant: &str,
        memory: usize,
        limit: Duration,
        lane: usize,
        interrupt: &Interrupt,
    ) -> Result<Option<MutantRun>, Error> {
        let run = native_run(self.subject, self.program.clone(), test.to_string(), input);
        let Some(mut run) = run else { return Ok(None) };
        run.variables.extend(both_memories()[memory].clone());
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
