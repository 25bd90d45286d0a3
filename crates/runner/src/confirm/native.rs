//! Tests on a native build instrumented by one of clang's tools, in the same sandbox as every execution.

use std::path::{Path, PathBuf};
use std::time::Duration;

use engine::executor::{ExecutorError, Limits, NativeResult};
use frontend::witness::{TIME_VARIABLE, WatchedBuild};

use super::Kept;
use crate::error::Error;
use crate::expected::native_run;
use crate::interrupt::Interrupt;
use crate::subject::Subject;

/// A program that runs tests.
pub struct Watched<'a> {
    subject: &'a Subject,
    pub program: PathBuf,
    work: &'a Path,
    interrupt: &'a Interrupt,
}

/// What came of a test.
pub enum Ran {
    /// How it ended, and what the tool noted.
    To(NativeResult),
    /// Why it was not run.
    Not(String),
}

impl<'a> Watched<'a> {
    /// Builds the tests of `kept`; files go to `work`, which is made.
    pub fn build(
        subject: &'a Subject,
        kept: &[Kept],
        watch: WatchedBuild,
        work: &'a Path,
        interrupt: &'a Interrupt,
    ) -> Result<Self, Error> {
        let cannot =
            |path: &Path, error| Error::internal(format!("cannot write {}: {error}", path.display()));
        std::fs::create_dir_all(work).map_err(|error| cannot(work, error))?;
        let (program, watcher) = (work.join("watched-program"), work.join("watcher.c"));
        std::fs::write(&watcher, watch.source).map_err(|error| cannot(&watcher, error))?;
        let test = |(number, kept): (usize, &Kept)| testwriter::Test {
            name: (number + 1).to_string(),
            about: String::new(),
            input: kept.input.clone(),
        };
        let tests: Vec<_> = kept.iter().enumerate().map(test).collect();
        if subject.function_under_test().is_none() {
            subject.build_program(&tests, &[&watcher], work, &program, watch.flags)?;
            return Ok(Self { subject, program, work, interrupt });
        }
        let file = work.join("replay.c");
        std::fs::write(&file, subject.replay(&tests)).map_err(|error| cannot(&file, error))?;
        subject.build_around(&[&file], &[&watcher], &program, watch.flags)?;
        Ok(Self { subject, program, work, interrupt })
    }

    /// Runs the test with this number.
    pub fn run(&self, number: usize, kept: &Kept, limit: Duration, limits: Limits) -> Result<Ran, Error> {
        // the replay program counts from 1
        let argument = (number + 1).to_string();
        let Some(mut run) = native_run(self.subject, self.program.clone(), argument, &kept.input) else {
            return Ok(Ran::Not("it makes allocations fail, which do not fail natively".to_owned()));
        };
        run.limits = limits;
        let time = limit.mul_f64(0.8).as_millis().to_string();
        run.variables.push((TIME_VARIABLE.into(), time.into()));
        match run.run(&self.work.join("runs"), limit, &self.interrupt.flag()) {
            Ok(result) => Ok(Ran::To(result)),
            Err(ExecutorError::Interrupted) => Ok(Ran::Not("interrupted".to_owned())),
            Err(error) => Err(Error::caused(&error)),
        }
    }
}
