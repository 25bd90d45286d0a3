//! `quarry gen`: a suite for a function or a program.

use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Instant;

use engine::campaign::{CampaignResult, StopReason};
use engine::strategy::{STRATEGIES, Strategy, StrategyOptions, strategy_named};
use frontend::instrument::Mode;

use crate::arguments::{Gen, MessageFormat};
use crate::asked::Asked;
use crate::config::Config;
use crate::confirm::confirm_claimed;
use crate::exit::{Exit, Failure, below, with_causes};
use crate::export;
use crate::goals::criteria;
use crate::interrupt;
use crate::many::{self, Subjects};
use crate::only::Where;
use crate::output::{Claim, Output, RUN_FILE};
use crate::pipeline::{self, Front};
use crate::prepare::{Prepared, Wanted};
use crate::progress::{Audience, ProgressView};
use crate::report::confirmation::Confirmation;
use crate::report::record::{Counts, ProgramRecord, Run, RunState, SCHEMA, Summary};
use crate::reports::PAGE_FILE;
use crate::results;
use crate::resume::{self, Way};
use crate::say::{say, show};
use crate::solvers::SolverChoice;
use crate::suite::read_record;
use crate::task::{Task, execution_limit};

/// Strategies of the stable command line that are not built yet.
const PLANNED_STRATEGIES: [&str; 1] = ["chaining"];

/// One campaign to run.
pub struct Order<'a> {
    pub arguments: &'a Gen,
    pub config: &'a Config,
    /// The sources, if they are marked already.
    pub front: Option<Rc<Front>>,
    /// What the person who waits is told it is about; the function's name when empty.
    pub title: String,
    /// Whether what came of it is printed.
    pub tells: bool,
}

/// What became of an order.
pub struct Ended {
    pub exit: Exit,
    /// Missing when there is nothing new to tell.
    pub summary: Option<Summary>,
}

/// A directory to work in, or why there is nothing to do.
pub enum Entry {
    Work(Box<(Output, Run)>),
    Done(PathBuf, Box<Summary>),
}

/// Runs the command.
pub fn generate(arguments: &Gen) -> Result<Exit, Failure> {
    // what the command line alone says is checked before anything is done
    criteria(&arguments.criteria)?;
    strategy(arguments)?;
    SolverChoice::parse(&arguments.solver)?;
    let arguments = &Gen { sources: pipeline::with_all_sources(&arguments.sources)?, ..arguments.clone() };
    let config = &Config::load(arguments.config.as_deref())?;
    let asked = Asked::of(arguments, config)?;
    let (output, run) = match enter(arguments, asked)? {
        Entry::Done(root, summary) => return done(arguments, &root, &summary),
        Entry::Work(entered) => *entered,
    };
    let mut progress = ProgressView::new(audience(arguments));
    let mut order = Order { arguments, config, front: None, title: String::new(), tells: true };
    if arguments.function.is_none() && !arguments.program.program {
        progress.step("reading");
        match many::subjects(arguments, &output)? {
            Subjects::One(front) => order.front = Some(front),
            Subjects::Several(several) => return many::generate(&order, several, &output, run, progress),
        }
    }
    search(&order, &output, run, &mut progress).map(|ended| ended.exit)
}

/// Takes possession of the output directory.
pub fn enter(arguments: &Gen, asked: Asked) -> Result<Entry, Failure> {
    let claim = Claim::new(&arguments.out)?;
    let (way, why) = resume::way(&claim, &asked, arguments.fresh);
    if let Some(why) = why {
        eprintln!("note: {why} (the earlier results are kept in {}.old)", claim.root().display());
    }
    let mut run = record_of(arguments, asked)?;
    let output = match way {
        Way::Begin => claim.begin(&run)?,
        Way::Done(mut summary) => {
            let root = claim.root().to_owned();
            if arguments.confirm && summary.confirmation.is_none() {
                let confirmation = confirm_claimed(claim, execution_limit(arguments))?;
                summary.confirmation = Some(confirmation.counts());
            }
            return Ok(Entry::Done(root, summary));
        }
        Way::GoOn(earlier) => {
            run.session = earlier.session + 1;
            claim.go_on()?
        }
    };
    Ok(Entry::Work(Box::new((output, run))))
}

/// Builds, searches, and leaves everything in the output directory.
pub fn search(
    order: &Order<'_>,
    output: &Output,
    mut run: Run,
    progress: &mut ProgressView,
) -> Result<Ended, Failure> {
    let started = Instant::now();
    let arguments = order.arguments;
    let criteria = criteria(&arguments.criteria)?;
    let strategy = strategy(arguments)?;
    let solver = SolverChoice::parse(&arguments.solver)?;
    progress.begin(if order.title.is_empty() { &run.function } else { &order.title });
    progress.step("building");
    let symbolic = strategy.uses_candidates() || arguments.self_check;
    let mode = if symbolic { Mode::Symbolic } else { Mode::Fast };
    let prepared = prepare(order, output, mode)?;
    prepared.function().clone_into(&mut run.function);
    if order.title.is_empty() {
        progress.begin(&run.function);
    }
    let (inputs, assumptions) = prepared.preconditions();
    (run.inputs, run.assume) = (inputs.clone(), assumptions.to_vec());
    run.state = RunState::Running;
    output.write_json(RUN_FILE, &run)?;
    output.write("harness/harness.c", &prepared.harness())?;
    if let Some(format) = arguments.format {
        export::check(
            format,
            prepared.function(),
            arguments.sources.sources.len(),
            arguments.program.program,
        )?;
    }
    let built = started.elapsed();
    if interrupt::requested() {
        return Ok(Ended { exit: Exit::Interrupted, summary: None });
    }

    let task =
        Task { arguments, output, prepared: &prepared, mode, session: run.session, tells: order.tells };
    let (mut result, timeline) = task.campaign(&criteria, strategy, &solver, progress)?;
    progress.clear();
    if result.n_recorded_left > 0 {
        // what is there is more than what this run knows
        let root = output.root().display();
        eprintln!("interrupted before the search began; what was found earlier is in {root}");
        return Ok(Ended { exit: Exit::Interrupted, summary: None });
    }
    run.state = RunState::Finished;
    let expected = task.finish(&mut result, progress)?;
    progress.clear();
    let mut summary = results::write(output, &prepared, &result, &expected, run)?;
    let confirmation = if arguments.confirm { task.confirm(progress) } else { None };
    summary.confirmation = confirmation.as_ref().map(Confirmation::counts);
    if let Err(failure) = task.report(&timeline) {
        // what was found is written all the same
        eprintln!("note: there is no report: {}", failure.message());
    }
    write_format(arguments, output.root())?;
    if order.tells {
        task.print(&result, &summary, confirmation.as_ref())?;
    }
    if arguments.timings {
        print_timings(built.as_secs_f64(), &result);
    }
    Ok(Ended { exit: exit_of(order, &result, &summary), summary: Some(summary) })
}

fn audience(arguments: &Gen) -> Audience {
    match (arguments.quiet, arguments.message_format) {
        (true, _) => Audience::Nobody,
        (false, MessageFormat::Human) => Audience::Person,
        (false, MessageFormat::Json) => Audience::Program,
    }
}

/// Tells of a campaign that has nothing left to do.
fn done(arguments: &Gen, root: &Path, summary: &Summary) -> Result<Exit, Failure> {
    write_format(arguments, root)?;
    match arguments.message_format {
        MessageFormat::Human => {
            let Counts { covered, total, .. } = summary.goals;
            let why = if covered == total { "every goal is covered" } else { "everything was tried" };
            say(format_args!("nothing left to do: {why}, {covered} of {total} (--fresh starts over)"));
            if arguments.confirm {
                let run: Run = read_record(&root.join(RUN_FILE))?;
                show(run.confirmation.unwrap_or_default().text().as_bytes());
            }
            say(format_args!("results: {}", root.display()));
            say_report(root);
        }
        MessageFormat::Json => say(json(summary)?),
    }
    Ok(exit_of_summary(arguments, summary))
}

fn say_report(root: &Path) {
    let page = root.join(PAGE_FILE);
    if page.is_file() {
        say(format_args!("report: {}", page.display()));
    }
}

/// Writes the tests in a format of other tools, if that was asked for.
fn write_format(arguments: &Gen, root: &Path) -> Result<(), Failure> {
    if let Some(format) = arguments.format {
        export::write(root, &export::Options::usual(root, format))?.tell();
    }
    Ok(())
}

fn strategy(arguments: &Gen) -> Result<Box<dyn Strategy + Send>, Failure> {
    let name = arguments.strategy.as_str();
    let options = StrategyOptions { pps_depth: arguments.pps_depth };
    strategy_named(name, &options).map_err(|error| {
        if PLANNED_STRATEGIES.contains(&name) {
            Failure::usage(format!("strategy '{name}' is not available yet"))
                .help(format!("available are {}", STRATEGIES.join(", ")))
        } else {
            Failure::usage(error)
        }
    })
}

fn prepare(order: &Order<'_>, output: &Output, mode: Mode) -> Result<Prepared, Failure> {
    let arguments = order.arguments;
    let program = arguments.program.limits(&arguments.inputs);
    let wanted = Wanted {
        function: arguments.function.as_deref(),
        inputs: (&arguments.inputs).into(),
        assumptions: &arguments.assume,
        program: program.as_ref(),
        stubs: &arguments.stubs,
        config: Some(order.config),
    };
    match &order.front {
        Some(front) => Prepared::of(Rc::clone(front), &wanted, &[mode]),
        None => Prepared::new(&arguments.sources, &wanted, &output.work(), &[mode]),
    }
}

fn record_of(arguments: &Gen, asked: Asked) -> Result<Run, Failure> {
    let directory = std::env::current_dir()
        .map_err(|error| Failure::usage(format!("cannot find the current directory: {error}")))?;
    let sources = &arguments.sources;
    Ok(Run {
        schema: SCHEMA,
        quarry: env!("CARGO_PKG_VERSION").to_owned(),
        command: std::env::args().collect(),
        sources: sources.sources.iter().map(|file| directory.join(file)).collect(),
        given: sources.sources.clone(),
        flags: sources.flags.clone(),
        build_dir: sources.build_dir.as_ref().map(|path| directory.join(path)),
        directory,
        function: arguments.function.clone().unwrap_or_default(),
        state: RunState::Building,
        session: 1,
        criteria: arguments.criteria.criterion.clone(),
        mcdc: arguments.criteria.mcdc,
        dataflow_elements: arguments.criteria.dataflow_elements,
        strategy: arguments.strategy.clone(),
        solver: arguments.solver.clone(),
        seed: arguments.seed,
        jobs: arguments.jobs.get(),
        inputs: (&arguments.inputs).into(),
        assume: arguments.assume.clone(),
        only: arguments.only.iter().map(Where::to_string).collect(),
        program: arguments.program.limits(&arguments.inputs).as_ref().map(ProgramRecord::from),
        stub_files: arguments.stubs.files.clone(),
        stub_writes: arguments.stubs.writes.iter().cloned().collect(),
        result: None,
        confirmation: None,
        stubs: Vec::new(),
        gaps: Vec::new(),
        asked,
    })
}

/// The summary on one line.
pub fn json(summary: &Summary) -> Result<String, Failure> {
    serde_json::to_string(summary)
        .map_err(|error| Failure::internal(format!("cannot write the summary as JSON: {error}")))
}

fn print_timings(built: f64, result: &CampaignResult) {
    let timings = &result.timings;
    eprintln!("build    {built:.3} s");
    eprintln!("campaign {:.3} s", result.seconds);
    for (what, time) in [
        ("execute", timings.execute),
        ("walk", timings.walk),
        ("terms", timings.terms),
        ("solve", timings.solve),
    ] {
        eprintln!("  {what:<8} {:.3} s", time.as_secs_f64());
    }
    eprintln!(
        "  {} executions, {} repeated; {} inputs tried in a hurry",
        result.executions, result.re_executions, result.tries
    );
}

fn exit_of(order: &Order<'_>, result: &CampaignResult, summary: &Summary) -> Exit {
    if let StopReason::Failed(error) = &result.stop {
        eprintln!("error: {}", with_causes(error));
        return Exit::Internal;
    }
    if result.n_mismatches > 0 {
        eprintln!("error: self-check: {} expressions differ from the program", result.n_mismatches);
        for mismatch in &result.mismatches {
            eprintln!("    {mismatch}");
        }
        eprintln!("help: logs/troubles.txt has the inputs");
        return Exit::Internal;
    }
    if matches!(result.stop, StopReason::Interrupted) {
        if order.tells {
            eprintln!("interrupted; what was found is in {}", summary.out.display());
            eprintln!("help: the same command goes on from there");
        }
        return Exit::Interrupted;
    }
    if order.tells { exit_of_summary(order.arguments, summary) } else { Exit::Done }
}

/// What the numbers alone say.
pub fn exit_of_summary(arguments: &Gen, summary: &Summary) -> Exit {
    let confirmation = summary.confirmation.unwrap_or_default();
    if confirmation.disagreements > 0 {
        eprintln!("error: llvm-cov does not count {} that are called covered", confirmation.disagreements);
        eprintln!("help: this is a bug of Quarry, or the program does not do the same in every build");
        return Exit::Unconfirmed;
    }
    if arguments.fail_on_crash && (summary.crashes > 0 || confirmation.findings > 0) {
        return Exit::CrashFound;
    }
    if below(summary.goals.percentage(), arguments.fail_under) {
        return Exit::BelowFailUnder;
    }
    Exit::Done
}
