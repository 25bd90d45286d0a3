//! `--log FILE`: what Quarry does, step by step, for those who want to know where time goes or what went wrong; and the phases
//! of builds, for progress and `--timings`.
//!
//! Method: the libraries emit events and spans of tracing and know nothing of files; here a subscriber writes them, a line each,
//! when there is somebody to read them. A span is written when it ends, with the time it took.

use std::fs::File;
use std::sync::{LazyLock, Mutex};

use runner::phases::{Phases, PhasesOnly};
use tracing::level_filters::LevelFilter;
use tracing_subscriber::fmt::format::FmtSpan;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::{Layer, fmt, registry};

use crate::arguments::{LogArguments, LogLevel};
use crate::exit::Failure;

static PHASES: LazyLock<Phases> = LazyLock::new(Phases::default);

/// The phases of all builds of this process.
pub fn phases() -> &'static Phases {
    &PHASES
}

/// Begins to listen, once per process, and to write the log that is asked for.
pub fn begin(arguments: &LogArguments) -> Result<(), Failure> {
    let log = match &arguments.log {
        None => None,
        Some(path) => {
            let file = File::create(path).map_err(|error| {
                Failure::usage(format!("cannot write the log {}: {error}", path.display()))
                    .help("name a file in a directory that exists and can be written")
            })?;
            let lines = fmt::layer()
                .with_writer(Mutex::new(file))
                .with_ansi(false)
                .with_span_events(FmtSpan::CLOSE)
                // a full disk is noticed, and reported, where results are written
                .log_internal_errors(false);
            Some(lines.with_filter(filter(arguments.log_level)))
        }
    };
    let subscriber = registry().with(log).with(phases().clone().with_filter(PhasesOnly));
    tracing::subscriber::set_global_default(subscriber).map_err(Failure::internal)
}

fn filter(level: LogLevel) -> LevelFilter {
    match level {
        LogLevel::Error => LevelFilter::ERROR,
        LogLevel::Warn => LevelFilter::WARN,
        LogLevel::Info => LevelFilter::INFO,
        LogLevel::Debug => LevelFilter::DEBUG,
        LogLevel::Trace => LevelFilter::TRACE,
    }
}
