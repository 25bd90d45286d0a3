//! `quarry mutate`: which small changes of the code does a suite notice?

use std::io::{IsTerminal, Write};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use cache::Cache;
use report::PAGE_FILE;
use report::mutation::Mutation;
use runner::mutate::{MutateOrder, mutate_claimed};
use runner::store::output::Claim;
use serde::Serialize;

use super::check_output;
use crate::arguments::{MessageFormat, Mutate};
use crate::exit::{Exit, Failure};
use crate::interrupt::{interrupt, requested};
use crate::say::{say, show};

/// How often progress is written where there is no terminal.
const PAUSE: Duration = Duration::from_secs(5);

/// Runs the command.
pub fn mutate(arguments: &Mutate, cache: &Cache) -> Result<Exit, Failure> {
    let directory = &arguments.run;
    check_output(directory)?;
    let page = std::path::absolute(directory.join(PAGE_FILE)).unwrap_or_else(|_| directory.join(PAGE_FILE));
    let started = Instant::now();
    let budget = arguments.budget;
    let progress = Progress { is_quiet: arguments.quiet, last: Mutex::new(None) };
    let order = MutateOrder {
        lanes: arguments.jobs.map_or(1, std::num::NonZero::get),
        is_over: &|| budget.is_some_and(|budget| started.elapsed() >= budget),
        progress: &|name, n, of| progress.show(name, n, of),
        interrupt: &interrupt(),
        cache,
    };
    let mutation = mutate_claimed(Claim::new(directory)?, &order);
    progress.clear();
    let mutation = mutation?;
    if arguments.message_format == MessageFormat::Human {
        show(mutation.text().as_bytes());
        say(format_args!("report: {}", page.display()));
    }
    say(last_line(&mutation)?);
    Ok(exit_of(&mutation, arguments.fail_under))
}

/// The last line of stdout: one JSON object.
fn last_line(mutation: &Mutation) -> Result<String, Failure> {
    #[derive(Serialize)]
    struct Last {
        #[serde(flatten)]
        counts: report::mutation::MutationCounts,
    }
    serde_json::to_string(&Last { counts: mutation.counts })
        .map_err(|error| Failure::internal(format!("cannot write the result as JSON: {error}")))
}

fn exit_of(mutation: &Mutation, least: Option<f64>) -> Exit {
    if requested() {
        return Exit::Interrupted;
    }
    let percentage = mutation.counts.percentage();
    match least {
        Some(least) if percentage < least => {
            eprintln!("error: {percentage:.1}% of the mutants are killed, less than {least}%");
            Exit::BelowFailUnder
        }
        Some(_) | None => Exit::Done,
    }
}

/// One line on stderr, in place on a terminal.
struct Progress {
    is_quiet: bool,
    last: Mutex<Option<Instant>>,
}

impl Progress {
    fn show(&self, name: &str, n: usize, of: usize) {
        let is_terminal = std::io::stderr().is_terminal();
        let pause = if is_terminal { Duration::from_millis(100) } else { PAUSE };
        let Ok(mut last) = self.last.lock() else { return };
        if self.is_quiet || last.is_some_and(|last| last.elapsed() < pause) {
            return;
        }
        *last = Some(Instant::now());
        let text = match of {
            0 => format!("{name}: building mutants"),
            _ => format!("{name}: {n} of {of} mutants decided"),
        };
        let mut stderr = std::io::stderr().lock();
        // whoever does not listen need not
        let _ = if is_terminal { write!(stderr, "\r\x1b[K{text}") } else { writeln!(stderr, "{text}") };
    }

    fn clear(&self) {
        if !self.is_quiet && std::io::stderr().is_terminal() {
            eprint!("\r\x1b[K");
        }
    }
}
