//! Which mutants of the code under test does a suite notice?
//!
//! Method: the tests of an output directory run on every mutant they reach ([`crate::mutants`]) until one of them fails; what none of them
//! notices is compared with the source as optimised code. Mutants are shared out among lanes; which test kills a mutant does not depend on their number.
//! Limit: a mutant is called equivalent only where it compiles to the same code.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use cache::Cache;
use report::functions::Functions;
use report::mutation::{MUTANTS_FILE, MutantLine, MutantState, Mutation};
use report::record::{Expected, SourcePosition, Test};

use crate::error::Error;
use crate::expected::difference;
use crate::interrupt::Interrupt;
use crate::mutants::{MutantProgram, Reached};
use crate::reports;
use crate::scope::narrow;
use crate::store::output::{Claim, Output, RUN_FILE};
use crate::store::results;
use crate::store::run::Run;
use crate::store::suite::{read_input, read_record, tests_in};
use crate::subject::{Need, Subject};

/// What is asked, and who listens.
pub struct MutateOrder<'a> {
    /// Runs at a time.
    pub lanes: usize,
    /// Whether the budget is spent.
    pub is_over: &'a (dyn Fn() -> bool + Sync),
    /// Told of the function, and how many mutants of how many are decided.
    pub progress: &'a (dyn Fn(&str, usize, usize) + Sync),
    pub interrupt: &'a Interrupt,
    pub cache: &'a Cache,
}

/// Measures what is in an output directory, of one function or of several, and writes its reports again.
pub fn mutate_claimed(claim: Claim, order: &MutateOrder<'_>) -> Result<Mutation, Error> {
    match results::functions(claim.root())? {
        Some(functions) => mutate_several(claim, &functions, order),
        None => mutate_directory(&claim.go_on()?, order),
    }
}

fn mutate_several(claim: Claim, functions: &Functions, order: &MutateOrder<'_>) -> Result<Mutation, Error> {
    let root = claim.root().to_owned();
    let mut all = Vec::new();
    for entry in &functions.functions {
        let (Some(directory), Some(_)) = (&entry.directory, &entry.result) else { continue };
        if order.interrupt.is_requested() {
            break;
        }
        let output = Claim::new(&root.join(directory))?.go_on()?;
        all.push((directory.clone(), mutate_directory(&output, order)?));
    }
    let mutation = Mutation::of_several(all.into_iter());
    let output = claim.go_on()?;
    output.write_json(MUTANTS_FILE, &mutation)?;
    for directory in crate::store::suite::INPUT_DIRECTORIES.iter().chain(&["harness", "logs"]) {
        // each function has its own
        let _ = std::fs::remove_dir(root.join(directory));
    }
    Ok(mutation)
}

/// Measures the suite of one function or program.
fn mutate_directory(output: &Output, order: &MutateOrder<'_>) -> Result<Mutation, Error> {
    let root = output.root();
    let run: Run = read_record(&root.join(RUN_FILE))?;
    let work = output.work().join("mutate");
    let subject = run.rebuild(&work, Need::Model, order.interrupt, order.cache)?;
    let criteria = run.spec.criteria.criteria()?;
    let scope = subject.scope()?;
    let scope = narrow(subject.program(), scope, &criteria, &run.spec.criteria.only, subject.root())?;
    let tests = kept(root, &subject)?;
    let inputs = tests.iter().map(|test| test.input.clone()).collect();
    (order.progress)(subject.function(), 0, 0);
    let program = MutantProgram::build(&subject, &scope, inputs, &work)?;
    let mutation =
        Measuring { program: &program, tests: &tests, order, name: subject.function() }.measure()?;
    output.write_json(MUTANTS_FILE, &mutation)?;
    reports::write(root, &reports::ReportOptions::default())?;
    Ok(mutation)
}

/// A test that expects something.
pub struct Kept {
    /// Within the directory: `tests/test_001.json`.
    pub file: String,
    pub input: model::input::Input,
    pub expected: Option<Expected>,
}

/// Which mutants of a program these tests notice.
pub fn measure(
    program: &MutantProgram<'_>,
    tests: &[Kept],
    order: &MutateOrder<'_>,
    name: &str,
) -> Result<Mutation, Error> {
    Measuring { program, tests, order, name }.measure()
}

fn kept(root: &Path, subject: &Subject) -> Result<Vec<Kept>, Error> {
    let read = |file: PathBuf| {
        let record: Test = read_record(&file)?;
        let input = read_input(&file, subject)
            .map_err(|error| Error::usage(format!("{} {error}", file.display())))?;
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let expected = record.expected.filter(|expected| !expected.end.is_empty());
        Ok(Kept { file: format!("tests/{name}"), input, expected })
    };
    tests_in(&root.join("tests"))?.into_iter().map(read).collect()
}

struct Measuring<'a> {
    program: &'a MutantProgram<'a>,
    tests: &'a [Kept],
    order: &'a MutateOrder<'a>,
    name: &'a str,
}

/// What is known of a mutant.
#[derive(Clone, Debug)]
enum Verdict {
    Killed { test: usize, shows: String },
    Alive,
    Undecided,
}

impl Measuring<'_> {
    fn measure(&self) -> Result<Mutation, Error> {
        let mut mutants: Vec<MutantLine> =
            self.program.mutants().map(|(file, mutant)| unmeasured(file, mutant)).collect();
        let (reached, left_out) = self.reached()?;
        for mutant in &mut mutants {
            let reaches = |reached: &&Option<Reached>| {
                reached.as_ref().is_some_and(|reached| reached.mutants.contains(&mutant.id))
            };
            mutant.reached = reached.iter().filter(reaches).count();
        }
        let verdicts = self.verdicts(&mutants, &reached)?;
        for (mutant, verdict) in mutants.iter_mut().zip(verdicts) {
            match verdict {
                Verdict::Killed { test, shows } => {
                    mutant.state = MutantState::Killed;
                    mutant.test = Some(self.tests[test].file.clone());
                    mutant.shows = Some(shows);
                }
                Verdict::Alive => mutant.state = MutantState::Alive,
                Verdict::Undecided => mutant.state = MutantState::Undecided,
            }
        }
        let alive = mutants.iter().filter(|mutant| mutant.state == MutantState::Alive);
        let alive: BTreeSet<u32> = alive.map(|mutant| mutant.id).collect();
        let is_enough = || self.is_over();
        let equivalent =
            self.program.equivalent(&alive, &is_enough).map_err(|error| Error::caused(&error))?;
        for mutant in mutants.iter_mut().filter(|mutant| equivalent.contains(&mutant.id)) {
            mutant.state = MutantState::Equivalent;
        }
        let n_tests = reached.iter().flatten().count();
        Ok(Mutation::new(mutants, n_tests, left_out))
    }

    fn is_over(&self) -> bool {
        self.order.interrupt.is_requested() || (self.order.is_over)()
    }

    /// What each test reaches, and why some tests are left out.
    fn reached(&self) -> Result<(Vec<Option<Reached>>, Vec<String>), Error> {
        let (mut all, mut left_out) = (Vec::new(), Vec::new());
        for (number, test) in self.tests.iter().enumerate() {
            let (reached, why) = match &test.expected {
                None => (None, "it has no expected results"),
                Some(_) if self.is_over() => (None, "there was no time to run it"),
                Some(expected) => (
                    self.program.reached(number, expected, 0, self.order.interrupt)?,
                    "without a mutant it does not do what it expects",
                ),
            };
            if reached.is_none() {
                left_out.push(format!("{}: not run: {why}", test.file));
            }
            all.push(reached);
        }
        Ok((all, left_out))
    }

    fn verdicts(&self, mutants: &[MutantLine], reached: &[Option<Reached>]) -> Result<Vec<Verdict>, Error> {
        let (next, n_decided) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let verdicts: Mutex<Vec<Verdict>> = Mutex::new(vec![Verdict::Undecided; mutants.len()]);
        let failure: Mutex<Option<Error>> = Mutex::new(None);
        let lane = |lane: usize| {
            while let Some((number, mutant)) = {
                let number = next.fetch_add(1, Ordering::Relaxed);
                mutants.get(number).map(|mutant| (number, mutant))
            } {
                if self.is_over() {
                    return;
                }
                match self.verdict(mutant.id, reached, lane) {
                    Ok(verdict) => {
                        verdicts.lock().expect("no lane panics")[number] = verdict;
                        let n = n_decided.fetch_add(1, Ordering::Relaxed) + 1;
                        (self.order.progress)(self.name, n, mutants.len());
                    }
                    Err(error) => {
                        failure.lock().expect("no lane panics").get_or_insert(error);
                        return;
                    }
                }
            }
        };
        thread::scope(|scope| {
            for number in 0..self.order.lanes.max(1) {
                let lane = &lane;
                scope.spawn(move || lane(number));
            }
        });
        match failure.into_inner().expect("no lane panics") {
            Some(error) => Err(error),
            None => Ok(verdicts.into_inner().expect("no lane panics")),
        }
    }

    /// Runs the tests that reach a mutant until one notices it.
    fn verdict(&self, mutant: u32, reached: &[Option<Reached>], lane: usize) -> Result<Verdict, Error> {
        for (test, reached) in reached.iter().enumerate() {
            let Some(reached) = reached.as_ref().filter(|reached| reached.mutants.contains(&mutant)) else {
                continue;
            };
            let Some(expected) = &self.tests[test].expected else { continue };
            if self.is_over() {
                return Ok(Verdict::Undecided);
            }
            let run = self.program.run(test, mutant, reached.limit, lane, self.order.interrupt)?;
            let Some(run) = run else { return Ok(Verdict::Undecided) };
            if let Some(shows) = difference(expected, &run.result, &run.observed) {
                return Ok(Verdict::Killed { test, shows });
            }
        }
        Ok(Verdict::Alive)
    }
}

fn unmeasured(file: String, mutant: &frontend::mutate::Mutant) -> MutantLine {
    MutantLine {
        id: mutant.number,
        function: mutant.function.clone(),
        place: SourcePosition { file, line: mutant.at.line, column: mutant.at.column },
        mutation: mutant.mutation.name().to_owned(),
        before: mutant.before.clone(),
        after: mutant.after.clone(),
        state: MutantState::Undecided,
        test: None,
        shows: None,
        reached: 0,
    }
}
