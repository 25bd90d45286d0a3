//! `quarry merge`: several runs of the same campaign as one.

use std::path::PathBuf;

use cache::Cache;
use engine::campaign::SystemClock;
use runner::session::Session;

use super::generate::{Ending, audience, tell};
use super::{check_output, current_directory};
use crate::arguments::Merge;
use crate::exit::{Exit, Failure};
use crate::interrupt::interrupt;
use crate::log::phases;
use crate::progress::ProgressView;

/// Runs the command.
pub fn merge(arguments: &Merge, cache: &Cache) -> Result<Exit, Failure> {
    let here = current_directory()?;
    arguments.runs.iter().try_for_each(|directory| check_output(directory))?;
    let runs: Vec<PathBuf> = arguments.runs.iter().map(|directory| here.join(directory)).collect();
    let interrupt = interrupt();
    let mut view = ProgressView::new(audience(arguments.quiet, arguments.message_format));
    let mut session = Session {
        interrupt: &interrupt,
        clock: &SystemClock::start(),
        watcher: &mut view,
        phases: phases(),
        cache,
    };
    let command: Vec<String> = std::env::args().collect();
    let merged = runner::merge::merge(&runs, &here.join(&arguments.out), &command, &mut session)?;
    drop(view);
    let ending = Ending {
        message_format: arguments.message_format,
        timings: false,
        confirm: false,
        fail_under: None,
        accept_bounded: false,
        fail_on_crash: false,
        fail_on_difference: false,
    };
    tell(&ending, merged)
}
