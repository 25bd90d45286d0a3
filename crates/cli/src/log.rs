//! `--log FILE`: what Quarry does, step by step, for those who want to know where time goes or what went wrong.
//!
//! Method: the libraries emit events and spans of tracing and know nothing of files; here a subscriber writes them, a line each,
//! when there is somebody to read them. A span is written when it ends, with the time it took.

use std::fs::File;
use std::sync::Mutex;

use tracing::level_filters::LevelFilter;
use tracing_subscriber::fmt::format::FmtSpan;

use crate::arguments::{LogArguments, LogLevel};
use crate::exit::Failure;

/// Begins the log that is asked for, once per process.
pub fn begin(arguments: &LogArguments) -> Result<(), Failure> {
    let Some(path) = &arguments.log else { return Ok(()) };
    let file = File::create(path).map_err(|error| {
        Failure::usage(format!("cannot write the log {}: {error}", path.display()))
            .help("name a file in a directory that exists and can be written")
    })?;
    let subscriber = tracing_subscriber::fmt()
        .with_writer(Mutex::new(file))
        .with_ansi(false)
        .with_max_level(filter(arguments.log_level))
        .with_span_events(FmtSpan::CLOSE)
        // a full disk is noticed, and reported, where results are written
        .log_internal_errors(false)
        .finish();
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
