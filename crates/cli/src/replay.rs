//! `quarry replay`: do the tests of an earlier run still do what their files say?
//!
//! Method: the program is built again from `run.json`, with path log only; each input is executed and what it covers is
//! compared with its record by criterion, place and demand, so that goals may be renumbered. Limit: a source that changed
//! moves its goals, which then count as not covered.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use coverage::{Coverage, Scope};
use engine::executor::{Execution, Executor, ExecutorOptions, ForkServer, Output};
use engine::trace::Tracer;
use frontend::instrument::Mode;
use serde::de::DeserializeOwned;
use wire::Flags;

use crate::arguments::{Replay, SourceArguments};
use crate::exit::{Exit, Failure};
use crate::generate::{read_input, with_causes};
use crate::goals::{criteria, function_id};
use crate::interrupt;
use crate::output::RUN_FILE;
use crate::prepare::{Prepared, Wanted};
use crate::report::human::counted;
use crate::report::notation::notation;
use crate::report::record::{Covered, Run, Test};
use crate::say::say;

/// Runs the command.
pub fn replay(arguments: &Replay) -> Result<Exit, Failure> {
    let mut all_good = true;
    for (root, tests) in group(&arguments.what)? {
        all_good &= replay_run(&root, &tests, arguments)?;
    }
    Ok(if all_good { Exit::Done } else { Exit::No })
}

/// Test files by the output directory they belong to.
fn group(what: &[PathBuf]) -> Result<BTreeMap<PathBuf, Vec<PathBuf>>, Failure> {
    let mut groups: BTreeMap<PathBuf, Vec<PathBuf>> = BTreeMap::new();
    for path in what {
        let real = path
            .canonicalize()
            .map_err(|error| Failure::usage(format!("cannot find {}: {error}", path.display())))?;
        let (root, tests) = if real.is_dir() {
            (real.clone(), tests_in(&real.join("tests"))?)
        } else {
            let root = real.ancestors().find(|directory| directory.join(RUN_FILE).is_file());
            (root.unwrap_or(Path::new("/")).to_owned(), vec![real])
        };
        if !root.join(RUN_FILE).is_file() {
            return Err(Failure::usage(format!(
                "{} belongs to no run: there is no {RUN_FILE}",
                path.display()
            ))
            .help("name an output directory of quarry gen, or a test file within one"));
        }
        groups.entry(root).or_default().extend(tests);
    }
    Ok(groups)
}

fn tests_in(directory: &Path) -> Result<Vec<PathBuf>, Failure> {
    let unreadable = |error| Failure::usage(format!("cannot read {}: {error}", directory.display()));
    let mut tests = Vec::new();
    for entry in std::fs::read_dir(directory).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.extension().is_some_and(|extension| extension == "json") {
            tests.push(path);
        }
    }
    tests.sort();
    Ok(tests)
}

fn replay_run(root: &Path, tests: &[PathBuf], arguments: &Replay) -> Result<bool, Failure> {
    let run: Run = read(&root.join(RUN_FILE))?;
    // paths in the run's record, and in its goals, start here
    std::env::set_current_dir(&run.directory).map_err(|error| {
        Failure::usage(format!(
            "cannot go to {}, where the run was started: {error}",
            run.directory.display()
        ))
    })?;
    let work = tempfile::tempdir()
        .map_err(|error| Failure::internal(format!("cannot make a temporary directory: {error}")))?;
    let sources = SourceArguments { sources: run.given, build_dir: run.build_dir, flags: run.flags };
    let wanted = Wanted { function: Some(&run.function), lengths: run.len, assumptions: &run.assume };
    let prepared = Prepared::new(&sources, &wanted, work.path(), &[Mode::Fast])?;
    let program = prepared.program();
    let scope = Scope::reachable_from(program, function_id(program, prepared.function())?);
    let coverage = Coverage::new(program, &scope, &criteria(&run.criteria)?);
    let mut options =
        ExecutorOptions::new(prepared.binary(Mode::Fast), work.path().join("run"), program.pointer_bits);
    options.interrupt = interrupt::flag();
    let mut replayer = Replayer {
        prepared: &prepared,
        coverage,
        tracer: Tracer::new(program),
        server: ForkServer::new(options).map_err(|error| Failure::internal(with_causes(&error)))?,
        arguments,
    };
    let mut n_good = 0;
    for file in tests {
        n_good += usize::from(replayer.test(root, file)?);
    }
    say(format_args!("{n_good} of {} cover what they covered before", counted(tests.len(), "test")));
    Ok(n_good == tests.len())
}

struct Replayer<'a> {
    prepared: &'a Prepared,
    coverage: Coverage,
    tracer: Tracer<'a>,
    server: ForkServer,
    arguments: &'a Replay,
}

impl Replayer<'_> {
    /// Whether the test covers again what its record says.
    fn test(&mut self, root: &Path, file: &Path) -> Result<bool, Failure> {
        let record: Test = read(file)?;
        let input = read_input(file, self.prepared)?;
        let execution = self
            .server
            .execute(&input, Flags::default(), self.arguments.timeout)
            .map_err(|error| Failure::internal(with_causes(&error)))?;
        let name = file.strip_prefix(root).unwrap_or(file).display();
        let call = format!("{}({})", self.prepared.function(), notation(self.prepared.shape(), &input));
        say(format_args!("{name}  {call}  {}", execution.end));
        print_output(execution.output);
        let covered = covered(self.prepared, &self.tracer, &self.coverage, &execution)?;
        let seen: BTreeSet<_> = covered.iter().map(Covered::identity).collect();
        let missing: Vec<_> =
            record.covers.iter().filter(|covered| !seen.contains(&covered.identity())).collect();
        say(format_args!("    covers {}", counted(seen.len(), "goal")));
        for goal in &missing {
            say(format_args!("    not covered any more: {}  {}", goal.at, goal.demand));
        }
        Ok(missing.is_empty())
    }
}

fn covered(
    prepared: &Prepared,
    tracer: &Tracer<'_>,
    coverage: &Coverage,
    execution: &Execution<'_>,
) -> Result<Vec<Covered>, Failure> {
    let trace = tracer
        .trace(execution, None, &interrupt::requested)
        .map_err(|error| Failure::internal(with_causes(&error)))?;
    let satisfied = coverage.goals().filter(|(_, goal, _)| trace.observations.satisfy(goal.demand));
    Ok(satisfied.map(|(id, goal, _)| Covered::from_goal(prepared.program(), id, goal, false)).collect())
}

fn print_output(output: &Output) {
    for (name, bytes) in [("stdout", &output.stdout), ("stderr", &output.stderr)] {
        for line in String::from_utf8_lossy(bytes).lines() {
            say(format_args!("    {name}: {line}"));
        }
    }
    if output.truncated {
        say("    … more output is not shown");
    }
}

fn read<T: DeserializeOwned>(file: &Path) -> Result<T, Failure> {
    let text = std::fs::read_to_string(file)
        .map_err(|error| Failure::usage(format!("cannot read {}: {error}", file.display())))?;
    serde_json::from_str(&text)
        .map_err(|error| Failure::usage(format!("{} is no record of Quarry: {error}", file.display())))
}
