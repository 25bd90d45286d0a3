//! Does an input make the program do something that C does not define? Asked of a native build with clang's sanitizers.
//!
//! Method: the sources with their harness, or the whole program, are built once with AddressSanitizer and
//! UndefinedBehaviorSanitizer, while the search runs; a build of the same comes from the cache. Inputs then run on it, many in one
//! start of the program, each in a process of its own. What comes of one is a [`Verdict`]. An error in an object that
//! the harness made is told apart: the function may be right and the object too small. Limits: invocations of programs with failing allocations are not run;
//! without a build nothing is known, and the caller says so.

mod enlarge;
mod guess;
mod probe;
mod vet;

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use engine::campaign::Sighting;
use engine::executor::{ExecutorError, Limits, NativeEnd, NativeRun};
use frontend::compilers::Group;
use frontend::witness::{SanitizerOutcome, SanitizerReport, Tool};
use model::input::Input;
use model::{SourceFile, Span, SpanId};
use rustix::process::Signal;

use crate::error::Error;
use crate::expected::native_run;
use crate::gather::absolute;
use crate::interrupt::Interrupt;
use crate::sanitized::Sanitized;
use crate::subject::Subject;
pub use vet::{
    Probing, adopt_clean, group_findings, keep_shown, look_for_errors, settle_alternatives, show_again,
    suspect_differing, unconfirmed, vet,
};

/// Inputs of one start of the program.
const AT_A_TIME: usize = 64;
/// How much longer a program may take with sanitizers.
const SLOWER: u32 = 4;
/// The longest that one input may take: hundreds are run.
const LONGEST: Duration = Duration::from_millis(500);
/// The file that inputs are given in.
const INPUTS: &str = "quarry-inputs";
/// Frames of a stack that tell errors apart.
const FRAMES: usize = 8;

/// What UndefinedBehaviorSanitizer reports that is as wrong as an invalid access. The rest has a meaning on every machine that
/// Quarry knows, and is told by `quarry confirm`.
const FATAL: [&str; 5] = [
    "out-of-bounds-index",
    "insufficient-object-size",
    "integer-divide-by-zero",
    "unreachable-call",
    "non-positive-vla-index",
];

/// What came of an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It came to its end, by returning or with an exit code, and nothing serious was reported; perhaps something else.
    Clean {
        end: CleanEnd,
        undefined: bool,
    },
    /// Something is wrong; `in_harness` when the object in question is one that the harness made.
    Wrong {
        sighting: Sighting,
        in_harness: bool,
    },
    TimedOut,
    /// An assumption about inputs does not hold.
    Rejected,
    /// It was not run, or not to an end.
    Unknown,
}

/// How an input that nothing is wrong with ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CleanEnd {
    Returned,
    Exited(i32),
}

/// In which processes inputs run.
#[derive(Clone, Copy)]
enum Processes {
    /// Each in one of its own.
    One,
    Shared,
}

/// A build with sanitizers that is under way.
pub struct Pending {
    receiver: Receiver<Result<Sanitized, Error>>,
}

impl Pending {
    /// Starts to build what a subject is; files go below `work`, which is absolute.
    pub fn start(subject: &Subject, work: PathBuf) -> Self {
        let (send, receiver) = sync_channel(1);
        let order = subject.sanitized_order(work);
        let group = Group::current();
        let build = move || drop(send.send(group.run(|| order.build())));
        // without a thread there is no sender, and no build
        let _ = std::thread::Builder::new().name("sanitizers".to_owned()).spawn(build);
        Self { receiver }
    }

    /// Waits for the build; nothing when interrupted.
    pub fn wait(self, interrupt: &Interrupt) -> Option<Result<Sanitized, Error>> {
        loop {
            match self.receiver.recv_timeout(Duration::from_millis(20)) {
                Ok(built) => return Some(built),
                Err(std::sync::mpsc::RecvTimeoutError::Timeout) if interrupt.is_requested() => return None,
                Err(std::sync::mpsc::RecvTimeoutError::Timeout) => {}
                Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => {
                    return Some(Err(Error::internal("no result of the build with sanitizers")));
                }
            }
        }
    }
}

/// Runs inputs on a build with sanitizers.
pub struct Checker<'a> {
    subject: &'a Subject,
    built: &'a Sanitized,
    work: PathBuf,
    limit: Duration,
    interrupt: &'a Interrupt,
    /// What was learned about objects of the harness.
    lessons: Arc<Mutex<enlarge::Lessons>>,
}

impl<'a> Checker<'a> {
    /// `limit` is the time of an ordinary execution.
    pub fn new(
        subject: &'a Subject,
        built: &'a Sanitized,
        work: PathBuf,
        limit: Duration,
        interrupt: &'a Interrupt,
    ) -> Self {
        let lessons = Arc::default();
        Self { subject, built, work, limit: (limit * SLOWER).min(LONGEST), interrupt, lessons }
    }

    /// The same, until another interrupt.
    pub fn until(&self, interrupt: &'a Interrupt) -> Self {
        let (work, lessons) = (self.work.clone(), Arc::clone(&self.lessons));
        Self { work, lessons, interrupt, ..*self }
    }

    fn lessons(&self) -> MutexGuard<'_, enlarge::Lessons> {
        self.lessons.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether nothing is known to be wrong with an input.
    pub fn accepts(&self, input: &Input) -> bool {
        let verdict = self.check(&[input]).ok().and_then(|mut verdicts| verdicts.pop());
        match verdict {
            Some(Verdict::Wrong { .. } | Verdict::Rejected) => false,
            Some(Verdict::Clean { .. } | Verdict::TimedOut | Verdict::Unknown) | None => true,
        }
    }

    /// Whether there is no time for more inputs.
    fn is_cut_off(&self) -> bool {
        self.interrupt.is_requested()
    }

    /// What comes of each input, in a process of its own.
    pub fn check(&self, inputs: &[&Input]) -> Result<Vec<Verdict>, Error> {
        self.check_in(inputs, Processes::One)
    }

    /// What seems to come of each input, of a function one after another in few processes: an earlier one may have changed
    /// the program's variables, so that what matters must be checked again.
    pub fn check_roughly(&self, inputs: &[&Input]) -> Result<Vec<Verdict>, Error> {
        self.check_in(inputs, Processes::Shared)
    }

    fn check_in(&self, inputs: &[&Input], processes: Processes) -> Result<Vec<Verdict>, Error> {
        let mut verdicts = Vec::new();
        if self.subject.function_under_test().is_none() {
            for input in inputs {
                verdicts.push(self.invocation(input)?);
            }
            return Ok(verdicts);
        }
        for batch in inputs.chunks(AT_A_TIME) {
            verdicts.extend(self.batch(batch, processes)?);
        }
        Ok(verdicts)
    }

    fn batch(&self, inputs: &[&Input], processes: Processes) -> Result<Vec<Verdict>, Error> {
        let milliseconds = self.limit.as_millis().to_string();
        let mut arguments = vec!["program".into(), INPUTS.into(), milliseconds.into()];
        match processes {
            Processes::One => {}
            Processes::Shared => arguments.push("together".into()),
        }
        let native = NativeRun {
            program: self.built.program.clone(),
            arguments,
            files: vec![(INPUTS.to_owned(), written(inputs))],
            limits: unlimited(),
            // inputs have processes of their own
            may_start: true,
            ..NativeRun::default()
        };
        let n_run = u32::try_from(inputs.len()).unwrap_or(u32::MAX);
        let Some((record, _)) = self.run(&native, self.limit * n_run.max(1) * 2)? else {
            return Ok(vec![Verdict::Unknown; inputs.len()]);
        };
        let outcomes = self.built.read_reports(|reader| reader.outcomes(&record));
        let outcomes = outcomes.map_err(|error| Error::caused(&error))?;
        let verdict = |number: usize| outcomes.get(&number).map_or(Verdict::Unknown, |it| self.verdict(it));
        Ok((1..=inputs.len()).map(verdict).collect())
    }

    /// A run of a whole program.
    fn invocation(&self, input: &Input) -> Result<Verdict, Error> {
        let program = self.built.program.clone();
        let Some(mut native) = native_run(self.subject, program, "1".to_owned(), input) else {
            return Ok(Verdict::Unknown);
        };
        native.limits = unlimited();
        let Some((record, end)) = self.run(&native, self.limit)? else { return Ok(Verdict::Unknown) };
        let reports = self.built.read_reports(|reader| reader.reports(&record));
        let reports = reports.map_err(|error| Error::caused(&error))?;
        let status = match end {
            NativeEnd::Exited(code) => Some(code << 8),
            NativeEnd::Signalled(signal) => Some(signal),
            NativeEnd::TimedOut => return Ok(Verdict::TimedOut),
        };
        Ok(self.verdict(&SanitizerOutcome { reports, status, returned: false, rejected: false }))
    }

    fn run(&self, native: &NativeRun, limit: Duration) -> Result<Option<(Vec<u8>, NativeEnd)>, Error> {
        if self.interrupt.is_requested() {
            return Ok(None);
        }
        match native.run(&self.work, limit, &self.interrupt.flag()) {
            Ok(result) => Ok(Some((result.record, result.end))),
            Err(ExecutorError::Interrupted) => Ok(None),
            Err(error) => Err(Error::caused(&error)),
        }
    }

    fn verdict(&self, outcome: &SanitizerOutcome) -> Verdict {
        if outcome.rejected {
            return Verdict::Rejected;
        }
        let is_fatal = |report: &&SanitizerReport| match report.tool {
            Tool::Address => true,
            Tool::Undefined => FATAL.contains(&report.kind.as_str()),
        };
        if let Some(report) = outcome.reports.iter().find(is_fatal) {
            let in_harness = is_of_harness(report);
            return Verdict::Wrong { sighting: self.sighting(report), in_harness };
        }
        let Some(status) = outcome.status else { return Verdict::Unknown };
        match (status & 0x7f, status >> 8 & 0xff) {
            (0, code) => {
                let end = if outcome.returned { CleanEnd::Returned } else { CleanEnd::Exited(code) };
                Verdict::Clean { end, undefined: !outcome.reports.is_empty() }
            }
            (signal, _) if is(signal, Signal::ALARM) || is(signal, Signal::XCPU) => Verdict::TimedOut,
            // nobody else ends it like this: there was no memory
            (signal, _) if is(signal, Signal::KILL) => Verdict::Unknown,
            (signal, _) => {
                let (kind, message) = ("signal".to_owned(), format!("killed by signal {signal}"));
                let sighting = Sighting { kind, message, place: None, stack: Vec::new() };
                Verdict::Wrong { sighting, in_harness: false }
            }
        }
    }

    /// A report with places of the source.
    fn sighting(&self, report: &SanitizerReport) -> Sighting {
        let frames = report.stack.iter().filter_map(|frame| {
            let span = self.span(&frame.file, frame.line, frame.column)?;
            Some((frame.function.clone(), span))
        });
        let stack: Vec<(String, SpanId)> = frames.take(FRAMES).collect();
        let place = match report.tool {
            Tool::Address => stack.first().map(|(_, span)| *span),
            Tool::Undefined => {
                report.place.as_ref().and_then(|(file, line, column)| self.span(file, *line, *column))
            }
        };
        Sighting { kind: report.kind.clone(), message: report.message.clone(), place, stack }
    }

    /// The token of the source that a native build calls this position: of a marked text, or of the source itself.
    fn span(&self, file: &Path, line: u32, column: u32) -> Option<SpanId> {
        if let Some(token) = self.subject.token_at(file, line) {
            return Some(token);
        }
        let program = self.subject.program();
        let real = file.canonicalize().ok()?;
        let is_meant = |known: &SourceFile| absolute(&known.path, self.subject) == real;
        let at = program.files.iter().position(is_meant)?;
        let on_line = |(_, span): &(usize, &Span)| span.at.file.index() == at && span.at.line == line;
        let spans = program.spans.iter().enumerate().filter(on_line);
        spans.min_by_key(|(_, span)| span.at.column.abs_diff(column)).map(|(index, _)| SpanId::new(index))
    }
}

fn is(number: i32, signal: Signal) -> bool {
    Signal::from_named_raw(number) == Some(signal)
}

/// Inputs as the program reads them: for each the number of its cells, then keys and values.
fn written(inputs: &[&Input]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for input in inputs {
        bytes.extend((input.values.len() as u64).to_ne_bytes());
        for (key, value) in &input.values {
            bytes.extend(key.0.to_ne_bytes());
            bytes.extend(value.to_ne_bytes());
        }
    }
    bytes
}

/// The sanitizer itself needs more addresses than there is memory.
fn unlimited() -> Limits {
    Limits { memory: 0, ..Limits::default() }
}

/// Whether the object that an access missed is one of the harness.
fn is_of_harness(report: &SanitizerReport) -> bool {
    report.allocated.first().is_some_and(|frame| {
        frame.function.starts_with("__quarry_") || frame.file.ends_with(frontend::build::HARNESS_FILE)
    })
}
