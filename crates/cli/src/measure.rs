//! What does one input do? It is executed with path log only, and its path is walked.
//!
//! Method: the log is as short as in a search, because a run that never ends fills any log and following it takes time. An
//! execution that came to an end but filled the log is repeated with a long one.

use std::path::Path;
use std::time::Duration;

use coverage::observe::Observations;
use engine::executor::{End, Executor, ExecutorError, ExecutorOptions, ForkServer, Output};
use engine::trace::{TraceError, Tracer};
use frontend::instrument::Mode;
use model::input::Input;
use wire::Flags;

use crate::exit::{Failure, with_causes};
use crate::generate::SEARCH_LOG;
use crate::interrupt;
use crate::prepare::Prepared;

/// Executes inputs of a function built in [`Mode::Fast`].
pub struct Measurer<'p> {
    tracer: Tracer<'p>,
    server: ForkServer,
    /// With a long log; started when the first execution needs it.
    patient: Option<ForkServer>,
    options: ExecutorOptions,
    limit: Duration,
}

/// What came of an execution.
pub struct Measured {
    pub end: End,
    pub output: Output,
    /// The path log ran out: what came after is not known.
    pub log_full: bool,
    pub observations: Observations,
}

/// Why nothing came of it.
#[derive(Debug, thiserror::Error)]
pub enum MeasureError {
    #[error("interrupted")]
    Interrupted,
    #[error("is excluded by an assumption of the program: its execution counts for nothing")]
    Rejected,
    #[error("cannot be executed: {}", with_causes(.0))]
    Execute(ExecutorError),
    #[error("its execution is not understood: {}", with_causes(.0))]
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

impl<'p> Measurer<'p> {
    /// Gives each execution at most `limit`; its files go below `work`.
    pub fn new(prepared: &'p Prepared, work: &Path, limit: Duration) -> Result<Self, Failure> {
        let program = prepared.program();
        let binary = prepared.binary(Mode::Fast);
        let mut options = ExecutorOptions::new(binary, work.join("run"), program.pointer_bits);
        options.interrupt = interrupt::flag();
        let mut quick = options.clone();
        quick.layout.log_capacity = SEARCH_LOG;
        let server = ForkServer::new(quick).map_err(|error| Failure::internal(with_causes(&error)))?;
        options.directory = work.join("patient");
        Ok(Self { tracer: Tracer::new(program), server, patient: None, options, limit })
    }

    /// Executes `input`.
    pub fn measure(&mut self, input: &Input) -> Result<Measured, MeasureError> {
        // a quick execution does not notice by itself
        if interrupt::requested() {
            return Err(MeasureError::Interrupted);
        }
        let mut execution = self.server.execute(input, Flags::default(), self.limit)?;
        if execution.marks.log_full && execution.end != End::TimedOut {
            let patient = match &mut self.patient {
                Some(patient) => patient,
                None => self.patient.insert(ForkServer::new(self.options.clone())?),
            };
            execution = patient.execute(input, Flags::default(), self.limit)?;
        }
        if execution.marks.rejected {
            return Err(MeasureError::Rejected);
        }
        let trace = match self.tracer.trace(&execution, None, &interrupt::requested) {
            Ok(trace) => trace,
            Err(TraceError::Stopped) => return Err(MeasureError::Interrupted),
            Err(error @ (TraceError::Log(_) | TraceError::Walk(_) | TraceError::NoRoot)) => {
                return Err(MeasureError::Trace(error));
            }
        };
        Ok(Measured {
            end: execution.end,
            output: execution.output.clone(),
            log_full: execution.marks.log_full,
            observations: trace.observations,
        })
    }
}
