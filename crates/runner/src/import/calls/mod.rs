//! Tests in C: which inputs do they call the function under test with?
//!
//! Method: the tests are built with the unit and run once, confined like all programs; a function in place of the one under test
//! notes what each call of a test is given ([`testwriter::capture_beside`]). Each distinct call becomes a test, named for the
//! function that makes it. Files with a `main` are programs of their own, to which the others belong; without any `main` all
//! are one program. Limits: a program runs in an empty directory; what a call finds in memory that is no input is not noted.

mod build;
mod notes;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use engine::executor::{ExecutorError, Limits, NativeEnd, NativeRun};
use frontend::witness::{StackFrame, stack_frames};
use report::words::counted;

use super::{Found, FoundTest, Given, LeftOut, Reading, distinguish, files_in, stem};
use crate::error::{Error, Explanation};
use crate::spec::TestsSpec;
use crate::subject::Subject;
use notes::{Call, Notes};

/// A file of a test program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestSource {
    /// As a person names it.
    pub origin: String,
    pub path: PathBuf,
    /// Whether it defines `main`.
    pub has_main: bool,
}

/// How test programs are run.
pub struct TestRuns<'a> {
    pub asked: &'a TestsSpec,
    /// Files are written below it.
    pub work: &'a Path,
    /// Time for each execution of the function; a program of tests has a multiple of it.
    pub limit: Duration,
    pub interrupt: Arc<AtomicBool>,
}

/// Calls that are kept of one program.
const MOST_CALLS: usize = 10_000;
/// How many executions of the function a program of tests may take the time of.
const EXECUTIONS: u32 = 12;
const EXTENSIONS: [&str; 5] = ["c", "cc", "cpp", "cxx", "C"];

/// Whether a file is C or C++, judging by its name.
pub(super) fn is_source(file: &Path) -> bool {
    file.extension().is_some_and(|extension| EXTENSIONS.iter().any(|known| extension == *known))
}

/// Finds the files of test programs.
pub(super) fn read(reading: &Reading<'_>, found: &mut Found) -> Result<(), Error> {
    let files = if reading.path.is_dir() { files_in(reading.path)? } else { vec![reading.path.to_owned()] };
    for path in files.into_iter().filter(|file| is_source(file)) {
        match std::fs::read_to_string(&path) {
            Ok(text) => {
                let (origin, has_main) = (reading.origin(&path), build::defines_main(&text));
                found.sources.push(TestSource { origin, path, has_main });
            }
            Err(error) => found.left_out.push(reading.left_out(&path, format!("cannot be read: {error}"))),
        }
    }
    Ok(())
}

/// Runs the test programs and adds what they call the function with to the tests.
pub fn record(found: &mut Found, subject: &Subject, runs: &TestRuns<'_>) -> Result<(), Error> {
    let sources = std::mem::take(&mut found.sources);
    if sources.is_empty() {
        return Ok(());
    }
    if subject.is_whole_program() {
        let why = "tests in C call a function: name it with --function";
        found.left_out.extend(sources.iter().map(|source| source.left_out(why)));
        return Ok(());
    }
    for (number, program) in programs(&sources).into_iter().enumerate() {
        let work = runs.work.join(format!("tests{number}"));
        record_program(found, subject, runs, &program, &work)?;
    }
    distinguish(&mut found.tests);
    Ok(())
}

/// Which files are linked to one program.
fn programs(sources: &[TestSource]) -> Vec<Vec<&TestSource>> {
    let (mains, parts): (Vec<_>, Vec<_>) = sources.iter().partition(|source| source.has_main);
    if mains.is_empty() {
        return vec![parts];
    }
    mains.into_iter().map(|main| std::iter::once(main).chain(parts.iter().copied()).collect()).collect()
}

impl TestSource {
    fn left_out(&self, why: &str) -> LeftOut {
        LeftOut { name: stem(&self.path), origin: self.origin.clone(), why: why.to_owned() }
    }
}

fn record_program(
    found: &mut Found,
    subject: &Subject,
    runs: &TestRuns<'_>,
    sources: &[&TestSource],
    work: &Path,
) -> Result<(), Error> {
    let first = sources.first().expect("a program has a file");
    let built = match build::build(subject, runs.asked, sources, work) {
        Ok(built) => built,
        Err(why) => {
            found.left_out.push(first.left_out(&why));
            return Ok(());
        }
    };
    let run = NativeRun {
        program: built.clone(),
        arguments: vec![first.path.file_stem().unwrap_or_default().to_owned()],
        variables: build::VARIABLES.iter().map(|(name, value)| (name.into(), value.into())).collect(),
        // the sanitizer reserves all addresses there are
        limits: Limits { memory: 0, ..Limits::default() },
        may_start: true,
        ..NativeRun::default()
    };
    let ran = match run.run(work, runs.limit * EXECUTIONS, &runs.interrupt) {
        Ok(ran) => ran,
        Err(ExecutorError::Interrupted) => {
            return Err(Error::Interrupted(Explanation::new(format!(
                "interrupted while {} ran",
                first.origin
            ))));
        }
        Err(error) => return Err(Error::caused(&error)),
    };
    let calls = notes::calls(&ran.record);
    let addresses: BTreeSet<u64> = calls.iter().flat_map(|call| &call.callers).copied().collect();
    let frames = stack_frames(&built, &addresses).map_err(|error| Error::caused(&error))?;
    let mut recorded =
        Recorded { found, sources, seen: BTreeSet::new(), n_repeated: 0, n_other_functions: 0 };
    for call in calls.iter().take(MOST_CALLS) {
        let callers: Vec<&StackFrame> =
            call.callers.iter().flat_map(|address| frames.get(address).into_iter().flatten()).collect();
        // a call that another unit of the program makes is no test's
        if callers.first().is_none_or(|frame| !subject.has_source(&frame.file)) {
            recorded.call(subject, call, &callers);
        }
    }
    recorded.summary(calls.len(), ran.end);
    Ok(())
}

/// What comes of the calls of one program.
struct Recorded<'a> {
    found: &'a mut Found,
    sources: &'a [&'a TestSource],
    /// Inputs, as text.
    seen: BTreeSet<String>,
    n_repeated: usize,
    n_other_functions: usize,
}

impl Recorded<'_> {
    fn call(&mut self, subject: &Subject, call: &Call, callers: &[&StackFrame]) {
        let first = self.sources[0];
        // a test may call the function by a helper: the outermost function of the tests' own files is the test
        let own =
            callers.iter().take_while(|frame| self.source_of(frame).is_some() && frame.function != "main");
        let frame = own.last().or(callers.first()).copied();
        let name = frame.map_or_else(|| stem(&first.path), |frame| test_name(&frame.function));
        let origin = frame.map_or_else(|| first.origin.clone(), |frame| self.origin(frame));
        let mut notes = Notes::new(subject.shape(), &call.numbers);
        match notes.input() {
            Ok(value) => {
                self.n_other_functions += notes.n_other_functions;
                if self.seen.insert(value.to_string()) {
                    self.found.tests.push(FoundTest { name, origin, given: Given::Json(value) });
                } else {
                    self.n_repeated += 1;
                }
            }
            Err(why) => self.found.left_out.push(LeftOut { name, origin, why }),
        }
    }

    /// `tests/test_stack.c:42`, with the path as it was given.
    fn origin(&self, frame: &StackFrame) -> String {
        let given = self.source_of(frame);
        let file = given.map_or_else(|| frame.file.display().to_string(), |source| source.origin.clone());
        format!("{file}:{}", frame.line)
    }

    fn source_of(&self, frame: &StackFrame) -> Option<&TestSource> {
        let is_it = |source: &&&TestSource| {
            source.path == frame.file || source.path.canonicalize().is_ok_and(|path| path == frame.file)
        };
        self.sources.iter().find(is_it).copied()
    }

    fn summary(&mut self, n_calls: usize, end: NativeEnd) {
        let first = self.sources[0];
        if n_calls == 0 {
            let ended = match end {
                NativeEnd::Exited(code) => format!("ends with exit code {code} and"),
                NativeEnd::Signalled(signal) => format!("is ended by signal {signal} and"),
                NativeEnd::TimedOut => "takes too long (more with --timeout) and".to_owned(),
            };
            self.found.left_out.push(first.left_out(&format!("it {ended} never calls the function")));
            return;
        }
        let mut note = |text: String| self.found.notes.push(format!("{}: {text}", first.origin));
        if self.n_repeated > 0 {
            note(format!("{} with the input of another left out", counted(self.n_repeated, "call")));
        }
        if self.n_other_functions > 0 {
            let n = counted(self.n_other_functions, "pointer");
            note(format!("{n} to functions of the tests: stubs that return 0 take their place"));
        }
        if n_calls > MOST_CALLS {
            note(format!("of {n_calls} calls the first {MOST_CALLS} were recorded"));
        }
        match end {
            NativeEnd::Exited(_) => {}
            NativeEnd::Signalled(signal) => {
                note(format!("it was ended by signal {signal}: later calls are missing"))
            }
            NativeEnd::TimedOut => {
                note("it took too long: later calls are missing (more time with --timeout)".to_owned())
            }
        }
    }
}

/// The name of a test by that of its function: `Stack_Push_Test::TestBody()` is `Stack_Push`.
fn test_name(function: &str) -> String {
    let plain = function.split('(').next().unwrap_or(function);
    let plain = plain.strip_suffix("::TestBody").unwrap_or(plain);
    let last = plain.rsplit("::").next().unwrap_or(plain);
    last.strip_suffix("_Test").unwrap_or(last).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(name: &str, has_main: bool) -> TestSource {
        TestSource { origin: name.to_owned(), path: PathBuf::from(name), has_main }
    }

    #[test]
    fn files_without_main_belong_to_every_program() {
        let sources = [source("a.c", true), source("help.c", false), source("b.c", true)];
        let names = |program: &Vec<&TestSource>| {
            program.iter().map(|source| source.origin.clone()).collect::<Vec<_>>().join(" ")
        };
        let all: Vec<String> = programs(&sources).iter().map(names).collect();
        assert_eq!(all, ["a.c help.c", "b.c help.c"]);
        assert_eq!(programs(&sources[1..2]).len(), 1);
    }

    #[test]
    fn a_test_is_named_for_its_function() {
        assert_eq!(test_name("test_push"), "test_push");
        assert_eq!(test_name("(anonymous namespace)::x"), "");
        assert_eq!(test_name("Stack_Push_Test::TestBody()"), "Stack_Push");
        assert_eq!(test_name("unit::Stack_Push_Test::TestBody()"), "Stack_Push");
    }
}
