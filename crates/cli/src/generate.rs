//! `quarry gen`: a suite for a function or a program.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant};

use coverage::{Coverage, Criterion, TestId};
use engine::campaign::{
    self, Budget, CampaignResult, Finding, Observer, Options, Progress, Setup, StopReason, SystemClock, Test,
};
use engine::executor::{Executor, ExecutorOptions, ForkServer};
use engine::strategy::{STRATEGIES, Strategy, StrategyOptions, strategy_named};
use frontend::instrument::Mode;
use model::input::Input;

use crate::arguments::{Gen, MessageFormat};
use crate::asked::Asked;
use crate::config::Config;
use crate::exit::{Exit, Failure, below, with_causes};
use crate::expected;
use crate::export;
use crate::goals::criteria;
use crate::interrupt;
use crate::many::{self, Subjects};
use crate::minimise::{Settings, arrange, simplify_suite};
use crate::only::{Where, narrow};
use crate::output::{Claim, Output, RUN_FILE};
use crate::pipeline::{self, Front};
use crate::prepare::{Prepared, Wanted};
use crate::progress::{Audience, ProgressView};
use crate::recorder::Recorder;
use crate::report::gather::Execution;
use crate::report::human::{Report, counted};
use crate::report::record::{self, Counts, Expected, ProgramRecord, Run, RunState, SCHEMA, Summary};
use crate::report::stubs;
use crate::report::timeline::{Keeper, TIMELINE_FILE, Timeline};
use crate::reports::{self, PAGE_FILE};
use crate::results;
use crate::resume::{self, Recorded, Way};
use crate::say::{say, show};
use crate::solvers::SolverChoice;
use crate::suite::{read_input, read_record};

/// Strategies of the stable command line that are not built yet.
const PLANNED_STRATEGIES: [&str; 3] = ["sdgs", "cpgs", "chaining"];

/// Bytes of path log per run. A run that fills it, such as one that never returns, must still be walked in well under the
/// time it took, or the search stands still.
pub const SEARCH_LOG: u64 = 1 << 22;

/// Even on a small budget an execution gets this long.
const SHORTEST_LIMIT: Duration = Duration::from_millis(250);

/// Bounds of the quarter of the budget that minimising may take, on top of it.
const SHORTEST_MINIMISING: Duration = Duration::from_secs(2);
const LONGEST_MINIMISING: Duration = Duration::from_secs(60);

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
        Way::Done(summary) => return Ok(Entry::Done(claim.root().to_owned(), summary)),
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
    let summary = results::write(output, &prepared, &result, &expected, run)?;
    if let Err(failure) = task.report(&timeline) {
        // what was found is written all the same
        eprintln!("note: there is no report: {}", failure.message());
    }
    write_format(arguments, output.root())?;
    if order.tells {
        task.print(&result, &summary)?;
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
    let program = arguments.program.limits();
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
        strategy: arguments.strategy.clone(),
        solver: arguments.solver.clone(),
        seed: arguments.seed,
        jobs: arguments.jobs.get(),
        inputs: (&arguments.inputs).into(),
        assume: arguments.assume.clone(),
        only: arguments.only.iter().map(Where::to_string).collect(),
        program: arguments.program.limits().as_ref().map(ProgramRecord::from),
        stub_files: arguments.stubs.files.clone(),
        stub_writes: arguments.stubs.writes.iter().cloned().collect(),
        result: None,
        stubs: Vec::new(),
        gaps: Vec::new(),
        asked,
    })
}

struct Task<'a> {
    arguments: &'a Gen,
    output: &'a Output,
    prepared: &'a Prepared,
    mode: Mode,
    /// How often the campaign was started.
    session: u32,
    tells: bool,
}

/// Every session makes other choices, or chance would repeat itself; the first one those of the seed itself.
fn seed(arguments: &Gen, session: u32) -> u64 {
    arguments.seed.wrapping_add(u64::from(session - 1).wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

/// Hears a campaign for the person who waits, and for those who come later.
struct Watch<'a> {
    progress: &'a mut ProgressView,
    recorder: Recorder<'a>,
}

impl Observer for Watch<'_> {
    fn worked(&mut self, progress: &Progress) {
        self.recorder.worked(progress);
        self.progress.worked(progress);
    }

    fn kept(&mut self, test: &Test, progress: &Progress) {
        self.recorder.kept(test, progress);
        self.progress.kept(test, progress);
    }

    fn found(&mut self, finding: &Finding, progress: &Progress) {
        self.recorder.found(finding, progress);
        self.progress.found(finding, progress);
    }
}

impl Task<'_> {
    fn campaign(
        &self,
        criteria: &[Box<dyn Criterion>],
        strategy: Box<dyn Strategy + Send>,
        solver: &SolverChoice,
        progress: &mut ProgressView,
    ) -> Result<(CampaignResult, Timeline), Failure> {
        let arguments = self.arguments;
        let program = self.prepared.program();
        let scope = narrow(program, self.prepared.scope()?, criteria, &arguments.only)?;
        let first_input = arguments.first_input.as_deref().map(|file| self.first_input(file)).transpose()?;
        // a program is given nothing at first, then some of everything: what it asks for grows from there
        let further_inputs = match first_input {
            None => self.prepared.full_invocation().into_iter().collect(),
            Some(_) => Vec::new(),
        };
        let first_input = first_input.or(arguments.program.program.then(Input::default));
        let recorded = Recorded::read(self.output.root(), self.prepared)?;
        if self.session > 1 && self.tells {
            let n_inputs = counted(recorded.inputs.len(), "input");
            progress.note(&format!("going on from {n_inputs} found earlier (--fresh starts over)"));
        }
        let coverage = Coverage::new(program, &scope, criteria);
        let recorder = Recorder::new(self.output, self.prepared, coverage.clone(), &recorded, self.session)?;
        let options = Options {
            seed: seed(arguments, self.session),
            recorded: recorded.inputs,
            budget: Budget { time: Some(arguments.budget), executions: arguments.max_executions },
            execution_limit: self.execution_limit(),
            self_check: arguments.self_check,
            first_input,
            further_inputs,
            filter: !arguments.no_filter,
            minimise: !arguments.no_minimise,
            ..Options::default()
        };
        let setup = Setup {
            program,
            coverage,
            strategy,
            executors: self.executors()?,
            solver: &|| solver.make(interrupt::flag().into()),
            clock: &SystemClock::start(),
            interrupt: interrupt::flag(),
        };
        let earlier = read_record(&self.output.root().join(TIMELINE_FILE)).unwrap_or_default();
        let mut watch = Watch { progress, recorder };
        let mut keeper = Keeper::new(&mut watch, earlier);
        let result = campaign::run(setup, &options, &mut keeper);
        let timeline = keeper.finish();
        watch.progress.clear();
        watch.recorder.finish()?;
        Ok((result, timeline))
    }

    /// Time for one execution.
    fn execution_limit(&self) -> Duration {
        (self.arguments.budget / 20).clamp(SHORTEST_LIMIT, Options::default().execution_limit)
    }

    /// Measures the suite as it was written, and reports.
    fn report(&self, timeline: &Timeline) -> Result<(), Failure> {
        let work = self.output.work();
        let execution = Execution { mode: self.mode, work: &work, limit: self.execution_limit() };
        reports::measure(self.output, self.prepared, execution, timeline)
    }

    /// Makes the suite easy to keep; gives what must come of each test, as far as a native build says.
    fn finish(
        &self,
        result: &mut CampaignResult,
        progress: &mut ProgressView,
    ) -> Result<BTreeMap<TestId, Expected>, Failure> {
        let limit = self.execution_limit();
        let alternatives = if self.arguments.no_minimise {
            result.tests.iter().map(|test| vec![test.clone()]).collect()
        } else {
            let settings = Settings {
                mode: self.mode,
                work: &self.output.work().join("minimise"),
                limit,
                time: (self.arguments.budget / 4).clamp(SHORTEST_MINIMISING, LONGEST_MINIMISING),
            };
            simplify_suite(self.prepared, &settings, result, progress)?
        };
        progress.step("recording what is expected");
        let inputs: Vec<Input> = alternatives.iter().flatten().map(|test| test.input.clone()).collect();
        let recorded = expected::record(self.prepared, &inputs, &self.output.work().join("expected"), limit);
        let mut recorded = recorded.unwrap_or_else(|failure| {
            // the suite is worth having without
            progress.clear();
            eprintln!("note: nothing is known of what tests must return: {}", failure.message());
            BTreeMap::new()
        });
        let mut chosen = Vec::new();
        let mut first = 0;
        for (test, alternatives) in result.tests.iter_mut().zip(alternatives) {
            let n = alternatives.len();
            let best = expected::most_telling(&recorded, first..first + n);
            *test = alternatives.into_iter().nth(best - first).expect("one of the alternatives");
            chosen.push(recorded.remove(&best));
            first += n;
        }
        let places = if self.arguments.no_minimise {
            (0..result.tests.len()).collect()
        } else {
            arrange(self.prepared, result)
        };
        let of_place = |(test, place): (&Test, usize)| Some((test.id, chosen.get_mut(place)?.take()?));
        Ok(result.tests.iter().zip(places).filter_map(of_place).collect())
    }

    fn executors(&self) -> Result<Vec<Box<dyn Executor + Send>>, Failure> {
        let binary = self.prepared.binary(self.mode);
        let executor = |number: usize| {
            let directory = self.output.work().join(format!("run{number}"));
            let mut options = ExecutorOptions::new(binary, directory, self.prepared.program().pointer_bits);
            options.layout.log_capacity = SEARCH_LOG;
            options.interrupt = interrupt::flag();
            let server = ForkServer::new(options).map_err(Failure::internal)?;
            Ok(Box::new(server) as Box<dyn Executor + Send>)
        };
        (0..self.arguments.jobs.get()).map(executor).collect()
    }

    fn first_input(&self, file: &Path) -> Result<Input, Failure> {
        read_input(file, self.prepared).map_err(|error| Failure::usage(format!("{} {error}", file.display())))
    }

    fn print(&self, result: &CampaignResult, summary: &Summary) -> Result<(), Failure> {
        match self.arguments.message_format {
            MessageFormat::Human => {
                let gaps = record::gaps(self.prepared.program());
                let report = Report {
                    program: self.prepared.program(),
                    prepared: self.prepared,
                    result,
                    summary,
                    stubs: &stubs::records(self.prepared, result),
                    gaps: &gaps,
                    couplings: self.prepared.couplings(),
                };
                show(report.text().as_bytes());
            }
            MessageFormat::Json => {
                say(json(summary)?);
            }
        }
        Ok(())
    }
}

fn json(summary: &Summary) -> Result<String, Failure> {
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
    eprintln!("  {} executions, {} repeated", result.executions, result.re_executions);
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
    if arguments.fail_on_crash && summary.crashes > 0 {
        return Exit::CrashFound;
    }
    if below(summary.goals.percentage(), arguments.fail_under) {
        return Exit::BelowFailUnder;
    }
    Exit::Done
}
