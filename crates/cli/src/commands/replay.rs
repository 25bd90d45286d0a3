//! `quarry replay`: do the tests of an earlier run still do what their files say?

use std::path::{Path, PathBuf};

use cache::Cache;
use engine::executor::Output;
use report::words::counted;
use runner::replay::{Rebuilt, Replayed, group};

use crate::arguments::Replay;
use crate::exit::{Exit, Failure};
use crate::interrupt::interrupt;
use crate::say::say;

/// Runs the command.
pub fn replay(arguments: &Replay, cache: &Cache) -> Result<Exit, Failure> {
    let mut all_good = true;
    for (root, tests) in group(&arguments.what)? {
        all_good &= replay_run(&root, &tests, arguments, cache)?;
    }
    Ok(if all_good { Exit::Done } else { Exit::No })
}

fn replay_run(root: &Path, tests: &[PathBuf], arguments: &Replay, cache: &Cache) -> Result<bool, Failure> {
    let interrupt = interrupt();
    let rebuilt = Rebuilt::new(root, &interrupt, cache)?;
    let mut replayer = rebuilt.replayer(arguments.timeout, &interrupt)?;
    let mut n_good = 0;
    for file in tests {
        let replayed = replayer.test(file)?;
        print(file.strip_prefix(root).unwrap_or(file), &replayed);
        n_good += usize::from(replayed.missing.is_empty());
    }
    say(format_args!("{n_good} of {} cover what they covered before", counted(tests.len(), "test")));
    Ok(n_good == tests.len())
}

fn print(name: &Path, replayed: &Replayed) {
    let Replayed { call, end, output, n_covered, shown, missing } = replayed;
    say(format_args!("{}  {call}  {end}", name.display()));
    match shown {
        Some(Ok(shown)) => say(format_args!("    {shown}")),
        Some(Err(error)) => say(format_args!("    not run with sanitizers: {}", error.message())),
        None => {}
    }
    print_output(output);
    say(format_args!("    covers {}", counted(*n_covered, "goal")));
    for goal in missing {
        say(format_args!("    no longer covered: {}  {}", goal.at, goal.demand));
    }
}

fn print_output(output: &Output) {
    for (name, bytes) in [("stdout", &output.stdout), ("stderr", &output.stderr)] {
        for line in String::from_utf8_lossy(bytes).lines() {
            say(format_args!("    {name}: {line}"));
        }
    }
    if output.truncated {
        say("    … further output omitted");
    }
}
