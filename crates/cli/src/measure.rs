//! What does one input do? It is executed with path log only, and its path is walked.

use std::path::Path;
use std::time::Duration;

use coverage::observe::Observations;
use engine::executor::{End, Executor, ExecutorError, ExecutorOptions, ForkServer, Output};
use engine::trace::{TraceError, Tracer};
use frontend::instrument::Mode;
use model::input::Input;
use wire::Flags;

use crate::exit::{Failure, with_causes};
use crate::interrupt;
use crate::prepare::Prepared;

/// Executes inputs of a function built in [`Mode::Fast`].
pub struct Measurer<'p> {
    tracer: Tracer<'p>,
    server: ForkServer,
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
    #[error("cannot be executed: {}", with_causes(.0))]
    Execute(ExecutorError),
    #[error("its execution is not understood: {}", with_causes(.0))]
    Trace(TraceError),
}

impl<'p> Measurer<'p> {
    /// Gives each execution at most `limit`; its files go below `work`.
    pub fn new(prepared: &'p Prepared, work: &Path, limit: Duration) -> Result<Self, Failure> {
        let program = prepared.program();
        let binary = prepared.binary(Mode::Fast);
        let mut options = ExecutorOptions::new(binary, work.join("run"), program.pointer_bits);
        options.interrupt = interrupt::flag();
        let server = ForkServer::new(options).map_err(|error| Failure::internal(with_causes(&error)))?;
        Ok(Self { tracer: Tracer::new(program), server, limit })
    }

    /// Executes `input` once.
    pub fn measure(&mut self, input: &Input) -> Result<Measured, MeasureError> {
        // a quick execution does not notice by itself
        if interrupt::requested() {
            return Err(MeasureError::Interrupted);
        }
        let execution = match self.server.execute(input, Flags::default(), self.limit) {
            Ok(execution) => execution,
            Err(ExecutorError::Interrupted) => return Err(MeasureError::Interrupted),
            Err(error) => return Err(MeasureError::Execute(error)),
        };
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
