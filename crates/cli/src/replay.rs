//! `quarry replay`: do the tests of an earlier run still do what their files say?
//!
//! Method: the program is built again from `run.json`; each input is executed and what it covers is compared with its
//! record by criterion, place and demand, so that goals may be renumbered. Expressions are made, because accesses outside
//! of objects are noticed by them. Limit: a source that changed
//! moves its goals, which then count as not covered.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use coverage::Coverage;
use coverage::observe::Observations;
use engine::executor::Output;
use frontend::instrument::Mode;
use model::invocation::InvocationLimits;

use crate::arguments::{CriteriaArguments, Replay, SourceArguments, StubArguments};
use crate::exit::{Exit, Failure, with_causes};
use crate::goals::criteria;
use crate::measure::Measurer;
use crate::output::RUN_FILE;
use crate::pipeline::work_directory;
use crate::prepare::{Prepared, Wanted};
use crate::report::human::counted;
use crate::report::place::end_text;
use crate::report::record::{Covered, Run, Test};
use crate::say::say;
use crate::suite::{read_input, read_record, tests_in};

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

fn replay_run(root: &Path, tests: &[PathBuf], arguments: &Replay) -> Result<bool, Failure> {
    let run: Run = read_record(&root.join(RUN_FILE))?;
    let work = work_directory()?;
    let prepared = rebuild(&run, work.path(), &[Mode::Symbolic])?;
    let (mcdc, dataflow_elements) = (run.mcdc, run.dataflow_elements);
    let asked = CriteriaArguments { criterion: run.criteria, mcdc, dataflow_elements };
    let coverage = Coverage::new(prepared.program(), &prepared.scope()?, &criteria(&asked)?);
    let measurer = Measurer::in_mode(&prepared, Mode::Symbolic, work.path(), arguments.timeout)?;
    let measurer = measurer.for_goals(&coverage);
    let mut replayer = Replayer { prepared: &prepared, coverage, measurer };
    let mut n_good = 0;
    for file in tests {
        n_good += usize::from(replayer.test(root, file)?);
    }
    say(format_args!("{n_good} of {} cover what they covered before", counted(tests.len(), "test")));
    Ok(n_good == tests.len())
}

/// Builds the function of an earlier run again, from the directory where that run was started.
pub fn rebuild(run: &Run, work: &Path, modes: &[Mode]) -> Result<Prepared, Failure> {
    // paths in the run's record, and in its goals, start here
    std::env::set_current_dir(&run.directory).map_err(|error| {
        Failure::usage(format!(
            "cannot go to {}, where the run was started: {error}",
            run.directory.display()
        ))
    })?;
    let (sources, build_dir, flags) = (run.given.clone(), run.build_dir.clone(), run.flags.clone());
    let sources = SourceArguments { sources, build_dir, flags };
    let program = run.program.as_ref().map(InvocationLimits::from);
    let stubs = StubArguments {
        files: run.stub_files.clone(),
        writes: run.stub_writes.clone().into_iter().collect(),
    };
    let wanted = Wanted {
        function: Some(&run.function),
        inputs: run.inputs.clone(),
        assumptions: &run.assume,
        program: program.as_ref(),
        stubs: &stubs,
        config: None,
    };
    Prepared::new(&sources, &wanted, work, modes)
}

struct Replayer<'a> {
    prepared: &'a Prepared,
    coverage: Coverage,
    measurer: Measurer<'a>,
}

impl Replayer<'_> {
    /// Whether the test covers again what its record says.
    fn test(&mut self, root: &Path, file: &Path) -> Result<bool, Failure> {
        let record: Test = read_record(file)?;
        let input = read_input(file, self.prepared)
            .map_err(|error| Failure::usage(format!("{} {error}", file.display())))?;
        let name = file.strip_prefix(root).unwrap_or(file).display();
        let measured = self
            .measurer
            .measure(&input)
            .map_err(|error| Failure::internal(format!("{name}: {}", with_causes(&error))))?;
        let call = self.prepared.call(&input);
        say(format_args!("{name}  {call}  {}", end_text(self.prepared.program(), measured.end)));
        print_output(&measured.output);
        let covered = self.covered(&measured.observations);
        let seen: BTreeSet<_> = covered.iter().map(Covered::identity).collect();
        let missing: Vec<_> =
            record.covers.iter().filter(|covered| !seen.contains(&covered.identity())).collect();
        say(format_args!("    covers {}", counted(seen.len(), "goal")));
        for goal in &missing {
            say(format_args!("    not covered any more: {}  {}", goal.at, goal.demand));
        }
        Ok(missing.is_empty())
    }

    fn covered(&self, observations: &Observations) -> Vec<Covered> {
        let satisfied = self.coverage.goals().filter(|(_, goal, _)| observations.do_their_part(goal.demand));
        satisfied.map(|(id, goal, _)| Covered::from_goal(self.prepared.program(), id, goal, false)).collect()
    }
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
