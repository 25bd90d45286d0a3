//! `quarry gen`: a suite for a function or a program.

use std::path::Path;
use std::time::{Duration, Instant};

use coverage::{Coverage, Criterion};
use engine::campaign::{self, Budget, CampaignResult, Options, Setup, StopReason, SystemClock};
use engine::executor::{Executor, ExecutorOptions, ForkServer};
use engine::strategy::{STRATEGIES, Strategy, StrategyOptions, strategy_named};
use frontend::instrument::Mode;
use model::input::Input;

use crate::arguments::{Gen, MessageFormat};
use crate::config::Config;
use crate::exit::{Exit, Failure, below, with_causes};
use crate::export;
use crate::goals::criteria;
use crate::interrupt;
use crate::only::{Where, narrow};
use crate::output::{Output, RUN_FILE};
use crate::pipeline;
use crate::prepare::{Prepared, Wanted};
use crate::progress::ProgressLine;
use crate::report::human::Report;
use crate::report::record::{self, ProgramRecord, Run, SCHEMA, Summary};
use crate::report::stubs;
use crate::results;
use crate::say::{say, show};
use crate::solvers::SolverChoice;
use crate::suite::read_input;

/// Strategies of the stable command line that are not built yet.
const PLANNED_STRATEGIES: [&str; 3] = ["sdgs", "cpgs", "chaining"];

/// Bytes of path log per run. A run that fills it, such as one that never returns, must still be walked in well under the
/// time it took, or the search stands still.
pub const SEARCH_LOG: u64 = 1 << 22;

/// Even on a small budget an execution gets this long.
const SHORTEST_LIMIT: Duration = Duration::from_millis(250);

/// Runs the command.
pub fn generate(arguments: &Gen) -> Result<Exit, Failure> {
    let started = Instant::now();
    let criteria = criteria(&arguments.criteria)?;
    let strategy = strategy(arguments)?;
    let solver = SolverChoice::parse(&arguments.solver)?;
    let config = Config::load(arguments.config.as_deref())?;
    // before the last run's results are moved away
    pipeline::commands(&arguments.sources)?;
    let output = Output::create(&arguments.out)?;
    let mut progress = ProgressLine::new(arguments.quiet);
    let mut run = record_of(arguments)?;
    output.write_json(RUN_FILE, &run)?;

    progress.step("building …");
    let symbolic = strategy.uses_candidates() || arguments.self_check;
    let mode = if symbolic { Mode::Symbolic } else { Mode::Fast };
    let prepared = prepare(arguments, &config, &output, mode)?;
    prepared.function().clone_into(&mut run.function);
    let (inputs, assumptions) = prepared.preconditions();
    (run.inputs, run.assume) = (inputs.clone(), assumptions.to_vec());
    output.write_json(RUN_FILE, &run)?;
    output.write("harness/harness.c", &prepared.harness())?;
    if let Some(format) = arguments.format {
        export::check(format, prepared.function(), arguments.sources.sources.len())?;
    }
    let built = started.elapsed();
    if interrupt::requested() {
        return Ok(Exit::Interrupted);
    }

    let task = Task { arguments, output: &output, prepared: &prepared, mode };
    let result = task.campaign(&criteria, strategy, &solver, &mut progress)?;
    progress.clear();
    let summary = results::write(&output, &prepared, &result, run)?;
    if let Some(format) = arguments.format {
        export::write(output.root(), format, &export::default_directory(output.root(), format))?;
    }
    task.print(&result, &summary)?;
    if arguments.timings {
        print_timings(built.as_secs_f64(), &result);
    }
    Ok(exit_of(arguments, &result, &summary))
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

fn prepare(arguments: &Gen, config: &Config, output: &Output, mode: Mode) -> Result<Prepared, Failure> {
    let program = arguments.program.limits();
    let wanted = Wanted {
        function: arguments.function.as_deref(),
        inputs: (&arguments.inputs).into(),
        assumptions: &arguments.assume,
        program: program.as_ref(),
        stubs: &arguments.stubs,
        config: Some(config),
    };
    Prepared::new(&arguments.sources, &wanted, &output.work(), &[mode])
}

fn record_of(arguments: &Gen) -> Result<Run, Failure> {
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
    })
}

struct Task<'a> {
    arguments: &'a Gen,
    output: &'a Output,
    prepared: &'a Prepared,
    mode: Mode,
}

impl Task<'_> {
    fn campaign(
        &self,
        criteria: &[Box<dyn Criterion>],
        strategy: Box<dyn Strategy + Send>,
        solver: &SolverChoice,
        progress: &mut ProgressLine,
    ) -> Result<CampaignResult, Failure> {
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
        let options = Options {
            seed: arguments.seed,
            budget: Budget { time: Some(arguments.budget), executions: arguments.max_executions },
            execution_limit: (arguments.budget / 20)
                .clamp(SHORTEST_LIMIT, Options::default().execution_limit),
            self_check: arguments.self_check,
            first_input,
            further_inputs,
            filter: !arguments.no_filter,
            ..Options::default()
        };
        let setup = Setup {
            program,
            coverage: Coverage::new(program, &scope, criteria),
            strategy,
            executors: self.executors()?,
            solver: &|| solver.make(interrupt::flag().into()),
            clock: &SystemClock::start(),
            interrupt: interrupt::flag(),
        };
        Ok(campaign::run(setup, &options, progress))
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
                let text = serde_json::to_string(summary).map_err(|error| {
                    Failure::internal(format!("cannot write the summary as JSON: {error}"))
                })?;
                say(text);
            }
        }
        Ok(())
    }
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

fn exit_of(arguments: &Gen, result: &CampaignResult, summary: &Summary) -> Exit {
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
        eprintln!("interrupted; what was found is in {}", summary.out.display());
        return Exit::Interrupted;
    }
    if arguments.fail_on_crash && summary.crashes > 0 {
        return Exit::CrashFound;
    }
    if below(summary.goals.percentage(), arguments.fail_under) {
        return Exit::BelowFailUnder;
    }
    Exit::Done
}
