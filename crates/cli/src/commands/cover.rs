//! `quarry cover`: what does an existing suite cover?

use cache::Cache;
use engine::campaign::SystemClock;
use report::words::counted;
use runner::cover::MeasuredSuite;
use runner::session::Session;

use super::current_directory;
use crate::arguments::{Cover, MessageFormat};
use crate::exit::{Exit, Failure, below};
use crate::interrupt::interrupt;
use crate::log::phases;
use crate::progress::{Audience, ProgressView};
use crate::say::{say, show};
use crate::text::suite::SuiteText;

/// Runs the command.
pub fn cover(arguments: &Cover, cache: &Cache) -> Result<Exit, Failure> {
    let (spec, directory) = arguments.split();
    let interrupt = interrupt();
    let mut view = ProgressView::new(Audience::Person);
    let mut session = Session {
        interrupt: &interrupt,
        clock: &SystemClock::start(),
        watcher: &mut view,
        phases: phases(),
        cache,
    };
    let root = current_directory()?;
    let suite = runner::cover::cover(&spec, &root, &directory, arguments.timeout, &mut session)?;
    drop(view);
    let text = SuiteText::of(&suite);
    match arguments.message_format {
        MessageFormat::Human => show(text.text().as_bytes()),
        MessageFormat::Json => say(text.json()?),
    }
    Ok(exit_of(arguments, &suite, &text))
}

fn exit_of(arguments: &Cover, suite: &MeasuredSuite, text: &SuiteText<'_>) -> Exit {
    if suite.interrupted {
        let n_done = suite.inputs.len() + suite.unmeasured.len();
        eprintln!("interrupted; {n_done} of {} were measured", counted(suite.n_files, "input"));
        return Exit::Interrupted;
    }
    if !suite.unmeasured.is_empty() {
        eprintln!("error: {} could not be measured:", counted(suite.unmeasured.len(), "input"));
        for unmeasured in &suite.unmeasured {
            eprintln!("    {}  {}", unmeasured.file, unmeasured.why);
        }
    }
    let goals = text.counts().0;
    let goals = if arguments.accept_bounded { goals.accepting_bounded() } else { goals };
    if below(goals.percentage(), arguments.fail_under) {
        Exit::BelowFailUnder
    } else if suite.unmeasured.is_empty() {
        Exit::Done
    } else {
        Exit::No
    }
}
