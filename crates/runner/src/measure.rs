//! What does one input do? It is executed with the path log only, and its path is walked.
//!
//! Method: the log is as short as in a search, because a run that never ends fills any log and following it takes time. An
//! execution that ended but filled the log is repeated with a long one.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use coverage::Coverage;
use coverage::observe::Observations;
use coverage::tally::Tally;
use engine::executor::{End, Execution, Executor, ExecutorError, ExecutorOptions, ForkServer, Output};
use engine::trace::{TraceError, Tracer};
use frontend::instrument::Mode;
use model::input::{Input, Key};
use model::walk::WalkEnd;
use wire::Flags;

use crate::allowance;
use crate::error::{Error, with_causes};
use crate::interrupt::Interrupt;
use crate::subject::Subject;

/// Bytes of path log per run. A run that fills it, such as one that never returns, must still be walked in well under the
/// time it took, or the search stands still.
pub const SEARCH_LOG: u64 = 1 << 22;

/// How inputs are executed.
#[derive(Clone, Copy, Debug)]
pub struct Settings<'a> {
    /// The binary: what the subject was built for.
    pub mode: Mode,
    /// Where executions leave their files.
    pub work: &'a Path,
    /// Time for each.
    pub limit: Duration,
    /// When to stop.
    pub interrupt: &'a Interrupt,
}

/// What an execution takes by itself, in [units of effort](Measurer::effort), and how many bytes of its path log are walked
/// for one unit.
const EXECUTION_EFFORT: u64 = 4;
const WALKED_PER_EFFORT: u64 = 1 << 13;

/// Executes inputs of a function.
pub struct Measurer<'p> {
    tracer: Tracer<'p>,
    servers: Servers,
    limit: Duration,
}

struct Servers {
    quick: ForkServer,
    /// With a long log; started when the first execution needs it.
    patient: Option<ForkServer>,
    options: ExecutorOptions,
    flags: Flags,
    /// Of all executions so far.
    effort: u64,
    interrupt: Interrupt,
    /// Whether one process has many executions.
    reuses: bool,
}

/// What came of an execution.
pub struct Measured {
    pub end: End,
    pub output: Output,
    /// The path log ran out: what came after is not known.
    pub log_full: bool,
    pub observations: Observations,
    /// The input as it was used: sizes and counts beyond their limits cut down, nothing that was not asked for.
    pub used: Input,
    /// Where its path ended.
    pub walk_end: WalkEnd,
}

/// What an execution did, and how often.
pub struct Counted {
    pub end: End,
    /// Where its path ends.
    pub walk_end: WalkEnd,
    pub tally: Tally,
}

/// Why nothing came of it.
#[derive(Debug, thiserror::Error)]
pub enum MeasureError {
    #[error("interrupted")]
    Interrupted,
    #[error("violates an assumption of the program: its execution does not count")]
    Rejected,
    #[error("cannot be executed: {}", with_causes(.0))]
    Execute(ExecutorError),
    #[error("its execution cannot be interpreted: {}", with_causes(.0))]
    Trace(TraceError),
}

impl From<ExecutorError> for MeasureError {
    fn from(error: ExecutorError) -> Self {
        match error {
            ExecutorError::Interrupted => Self::Interrupted,
            error => Self::Execute(error),
        }
    }
}

impl From<TraceError> for MeasureError {
    fn from(error: TraceError) -> Self {
        match error {
            TraceError::Stopped => Self::Interrupted,
            error @ (TraceError::Log(_) | TraceError::Walk(_) | TraceError::NoRoot) => Self::Trace(error),
        }
    }
}

impl<'p> Measurer<'p> {
    /// For a subject built in the mode that `settings` name.
    pub fn new(subject: &'p Subject, settings: Settings<'_>) -> Result<Self, Error> {
        let Settings { mode, work, limit, interrupt } = settings;
        let program = subject.program();
        let mut options =
            ExecutorOptions::new(subject.binary(mode), work.join("measure"), program.pointer_bits);
        options.interrupt = interrupt.flag();
        let mut short = options.clone();
        short.layout.log_capacity = SEARCH_LOG;
        let quick = ForkServer::new(short).map_err(|error| Error::caused(&error))?;
        options.directory = work.join("patient");
        // only executions that know their inputs notice accesses outside of objects
        let flags = Flags { symbolic: mode == Mode::Symbolic, ..Flags::default() };
        let interrupt = interrupt.clone();
        let servers = Servers { quick, patient: None, options, flags, effort: 0, interrupt, reuses: false };
        Ok(Self { tracer: Tracer::new(program), servers, limit })
    }

    /// The same, for what the goals of `coverage` ask about.
    #[must_use]
    pub fn for_goals(self, coverage: &Coverage) -> Self {
        let tracer = Tracer::for_goals(self.tracer.program(), coverage);
        let flags = tracer.flags(self.servers.flags.symbolic);
        let servers = Servers { flags, ..self.servers };
        Self { tracer, servers, ..self }
    }

    /// Lets one process have many executions from now on, or no more. Before anything is kept for what an execution did, it is
    /// to be [confirmed](Self::confirm).
    pub fn set_reuse(&mut self, reuses: bool) {
        self.servers.reuses = reuses;
        self.servers.quick.set_reuse(reuses);
    }

    /// Gives each execution from now on at most `limit`.
    pub fn set_limit(&mut self, limit: Duration) {
        self.limit = limit;
    }

    /// What all executions took so far, roughly in tenths of a millisecond but counted: the same executions take the same on
    /// every machine.
    pub fn effort(&self) -> u64 {
        self.servers.effort
    }

    /// Executes `input`.
    pub fn measure(&mut self, input: &Input) -> Result<Measured, MeasureError> {
        self.measure_in(input, false)
    }

    /// Executes `input` in a process of its own, if executions before this one may have shared theirs.
    pub fn confirm(&mut self, input: &Input) -> Option<Result<Measured, MeasureError>> {
        self.servers.reuses.then(|| self.measure_in(input, true))
    }

    fn measure_in(&mut self, input: &Input, alone: bool) -> Result<Measured, MeasureError> {
        let interrupt = self.servers.interrupt.clone();
        let execution = self.servers.execute(input, self.limit, alone)?;
        let trace = self.tracer.trace(&execution, None, &|| interrupt.is_requested())?;
        let used = used(input, &execution);
        Ok(Measured {
            used,
            end: execution.end,
            output: execution.output.clone(),
            log_full: execution.marks.log_full,
            observations: trace.observations,
            walk_end: trace.end,
        })
    }

    /// Executes `input` and counts what it does.
    pub fn tally(&mut self, input: &Input) -> Result<Counted, MeasureError> {
        let interrupt = self.servers.interrupt.clone();
        let execution = self.servers.execute(input, self.limit, false)?;
        let (tally, walk_end) = self.tracer.tally(&execution, &|| interrupt.is_requested())?;
        Ok(Counted { end: execution.end, walk_end, tally })
    }
}

impl Servers {
    fn execute(
        &mut self,
        input: &Input,
        limit: Duration,
        alone: bool,
    ) -> Result<Execution<'_>, MeasureError> {
        // a quick execution does not notice by itself
        if self.interrupt.is_requested() {
            return Err(MeasureError::Interrupted);
        }
        let execution = if alone {
            self.quick.execute_alone(input, self.flags, limit)?
        } else {
            self.quick.execute(input, self.flags, limit)?
        };
        let needs_patience = execution.marks.log_full && execution.end != End::TimedOut;
        let execution = if needs_patience {
            if self.patient.is_none() {
                self.patient = Some(ForkServer::new(self.options.clone())?);
            }
            let patient = self.patient.as_mut().expect("started when there was none");
            patient.execute(input, self.flags, limit)?
        } else {
            self.quick.newest().expect("it was executed just now")
        };
        self.effort += effort(&execution, limit);
        if execution.marks.rejected {
            return Err(MeasureError::Rejected);
        }
        Ok(execution)
    }
}

/// What an execution took. How far an endless one came depends on the machine, so that it counts as its limit.
fn effort(execution: &Execution<'_>, limit: Duration) -> u64 {
    if execution.end == End::TimedOut {
        allowance::effort_of(limit)
    } else {
        EXECUTION_EFFORT + execution.log.len() as u64 / WALKED_PER_EFFORT
    }
}

fn used(input: &Input, execution: &Execution<'_>) -> Input {
    let mut used = input.clone();
    let cells: BTreeMap<Key, u64> = execution.cells.iter().map(|cell| (Key(cell.key), cell.value)).collect();
    if !execution.marks.cells_full {
        used.values.retain(|key, _| !key.is_part() || cells.contains_key(key));
    }
    used.values.extend(cells);
    used
}
