//! `quarry cover`: what does a suite that exists already cover?
//!
//! Method: the function is built with path log only; each input is executed once, in the order of the files, and its path is
//! walked. An input that cannot be read or executed is named and the others are measured all the same. Limit: a goal counts
//! for the first input that covers it, so what later ones add depends on the order.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use coverage::{Coverage, TestId};
use frontend::instrument::Mode;
use model::invocation::InvocationLimits;

use crate::arguments::{Cover, MessageFormat, SourceArguments, StubArguments};
use crate::exit::{Exit, Failure, below};
use crate::goals::criteria;
use crate::measure::{MeasureError, Measurer};
use crate::only::narrow;
use crate::pipeline::{self, work_directory};
use crate::prepare::{Prepared, Wanted};
use crate::progress::{Audience, ProgressView};
use crate::report::human::counted;
use crate::report::mcdc::unseen;
use crate::report::record::Run;
use crate::report::suite::{Input, Report, Unmeasured};
use crate::say::{say, show};
use crate::suite::{Suite, read_input};

/// Runs the command.
pub fn cover(arguments: &Cover) -> Result<Exit, Failure> {
    let started = Instant::now();
    let criteria = criteria(&arguments.criteria)?;
    let (sources, directory) = arguments.split();
    let suite = Suite::open(directory)?;
    let work = work_directory()?;
    let mut progress = ProgressView::new(Audience::Person);
    progress.step("building");
    let prepared = build(&sources, arguments, &suite, work.path());
    progress.clear();
    let prepared = prepared?;
    let program = prepared.program();
    let scope = narrow(program, prepared.scope()?, &criteria, &arguments.only)?;
    let coverage = Coverage::new(program, &scope, &criteria);
    let mut report = Report {
        prepared: &prepared,
        directory,
        inputs: Vec::new(),
        unmeasured: Vec::new(),
        seen: unseen(program, coverage.goals().map(|(_, goal, _)| goal)),
        coverage,
        several_criteria: criteria.len() > 1,
        interrupted: false,
        seconds: 0.0,
    };
    let mut measurer = Measurer::new(&prepared, work.path(), arguments.timeout)?.for_goals(&report.coverage);
    for (index, file) in suite.files.iter().enumerate() {
        progress.step(&format!("{index} of {}", counted(suite.files.len(), "input")));
        if !take_in(&mut report, &mut measurer, file, suite.name(file)) {
            report.interrupted = true;
            break;
        }
    }
    progress.clear();
    report.seconds = started.elapsed().as_secs_f64();
    match arguments.message_format {
        MessageFormat::Human => show(report.text().as_bytes()),
        MessageFormat::Json => say(report.json()?),
    }
    Ok(exit_of(arguments, &report, suite.files.len()))
}

/// What stands in for missing functions: as said now, else as when the suite was made.
fn stubs(arguments: &Cover, run: Option<&Run>) -> StubArguments {
    let StubArguments { files, writes } = &arguments.stubs;
    let (old_files, old_writes) = match run {
        Some(run) => {
            let recorded = |file: &PathBuf| run.directory.join(file);
            (run.stub_files.iter().map(recorded).collect(), run.stub_writes.clone())
        }
        None => (Vec::new(), BTreeMap::new()),
    };
    StubArguments {
        files: if files.is_empty() { old_files } else { files.clone() },
        writes: if writes.is_empty() { old_writes.into_iter().collect() } else { writes.clone() },
    }
}

fn build(
    sources: &SourceArguments,
    arguments: &Cover,
    suite: &Suite,
    work: &Path,
) -> Result<Prepared, Failure> {
    let run = suite.run.as_ref().filter(|run| !run.function.is_empty());
    let function = arguments.function.as_deref().or(run.map(|run| run.function.as_str()));
    // how inputs are built belongs to one function
    let recorded =
        run.filter(|run| function == Some(&run.function)).map(|run| run.inputs.clone()).unwrap_or_default();
    let inputs = recorded.overridden_by((&arguments.inputs).into());
    // what tests of a program were made with, unless this command says something else
    let recorded = run.and_then(|run| run.program.as_ref()).map(InvocationLimits::from);
    let program =
        arguments.program.limits(&arguments.inputs).or(recorded.filter(|_| arguments.function.is_none()));
    let stubs = stubs(arguments, run.filter(|run| function == Some(&run.function)));
    let wanted =
        Wanted { function, inputs, assumptions: &[], program: program.as_ref(), stubs: &stubs, config: None };
    // a source that is missing has nothing to do with the suite
    pipeline::commands(sources)?;
    Prepared::new(sources, &wanted, work, &[Mode::Fast]).map_err(|failure| {
        if run.is_some() && failure.exit() == Exit::Usage {
            failure.help(
                "function and lengths are from the suite's run.json unless --function and --len say others",
            )
        } else {
            failure
        }
    })
}

/// Measures the input in a file; false when interrupted.
fn take_in(report: &mut Report<'_>, measurer: &mut Measurer<'_>, file: &Path, name: String) -> bool {
    let input = match read_input(file, report.prepared) {
        Ok(input) => input,
        Err(error) => {
            report.unmeasured.push(Unmeasured { file: name, why: error.to_string() });
            return true;
        }
    };
    match measurer.measure(&input) {
        Ok(measured) => {
            let id = TestId(u32::try_from(report.inputs.len() + 1).expect("fewer than 2^32 inputs"));
            let covers = report.coverage.satisfied(&measured.observations).len();
            let covered = report.coverage.cover(id, &measured.observations);
            let adds = covered.goals.into_iter().map(|(goal, _)| goal).collect();
            for (decision, vectors) in &mut report.seen {
                let new = measured.observations.vectors(*decision);
                vectors.extend(new.map(|(vector, outcome)| (vector.clone(), outcome)));
            }
            let (end, log_full) = (measured.end, measured.log_full);
            report.inputs.push(Input { file: name, input, end, log_full, covers, adds });
            true
        }
        Err(MeasureError::Interrupted) => false,
        Err(error @ (MeasureError::Rejected | MeasureError::Execute(_) | MeasureError::Trace(_))) => {
            report.unmeasured.push(Unmeasured { file: name, why: error.to_string() });
            true
        }
    }
}

fn exit_of(arguments: &Cover, report: &Report<'_>, n_files: usize) -> Exit {
    if report.interrupted {
        let n_done = report.inputs.len() + report.unmeasured.len();
        eprintln!("interrupted; {n_done} of {} were measured", counted(n_files, "input"));
        return Exit::Interrupted;
    }
    if !report.unmeasured.is_empty() {
        eprintln!("error: {} could not be measured:", counted(report.unmeasured.len(), "input"));
        for unmeasured in &report.unmeasured {
            eprintln!("    {}  {}", unmeasured.file, unmeasured.why);
        }
    }
    if below(report.counts().0.percentage(), arguments.fail_under) {
        Exit::BelowFailUnder
    } else if report.unmeasured.is_empty() {
        Exit::Done
    } else {
        Exit::No
    }
}
