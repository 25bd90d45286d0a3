//! One campaign on a program that is built: search, then make of what was found a suite that people keep.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use coverage::{Coverage, Criterion, TestId};
use engine::campaign::{
    self, Budget, CampaignResult, Enums, Finding, Observer, Options, Progress, Setup, SystemClock, Test,
};
use engine::executor::{Executor, ExecutorOptions, ForkServer};
use engine::strategy::Strategy;
use frontend::instrument::Mode;
use model::input::Input;

use crate::arguments::{Gen, MessageFormat};
use crate::confirm::confirm_run;
use crate::exit::Failure;
use crate::expected;
use crate::generate::json;
use crate::interrupt;
use crate::minimise::{Settings, arrange, simplify_suite};
use crate::only::narrow;
use crate::output::Output;
use crate::prepare::Prepared;
use crate::progress::ProgressView;
use crate::recorder::Recorder;
use crate::report::confirmation::Confirmation;
use crate::report::gather::Execution;
use crate::report::human::{Report, counted};
use crate::report::record::{self, Expected, Summary};
use crate::report::stubs;
use crate::report::timeline::{Keeper, TIMELINE_FILE, Timeline};
use crate::reports;
use crate::resume::Recorded;
use crate::say::{say, show};
use crate::solvers::SolverChoice;
use crate::suite::{read_input, read_record};

/// Bytes of path log per run. A run that fills it, such as one that never returns, must still be walked in well under the
/// time it took, or the search stands still.
pub const SEARCH_LOG: u64 = 1 << 22;

/// Even on a small budget an execution gets this long.
const SHORTEST_LIMIT: Duration = Duration::from_millis(250);

/// Bounds of the quarter of the budget whose work minimising may do, on top of it.
const SHORTEST_MINIMISING: Duration = Duration::from_secs(2);
const LONGEST_MINIMISING: Duration = Duration::from_secs(60);

/// Time for one execution.
pub fn execution_limit(arguments: &Gen) -> Duration {
    (arguments.budget / 20).clamp(SHORTEST_LIMIT, Options::default().execution_limit)
}

/// A campaign whose program is built.
pub struct Task<'a> {
    pub arguments: &'a Gen,
    pub output: &'a Output,
    pub prepared: &'a Prepared,
    pub mode: Mode,
    /// How often the campaign was started.
    pub session: u32,
    pub tells: bool,
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
    /// Searches; gives what came of it, and how it went.
    pub fn campaign(
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
            execution_limit: execution_limit(self.arguments),
            self_check: arguments.self_check,
            first_input,
            enums: Enums::of(self.prepared.shape()),
            further_inputs,
            whole_program: arguments.program.program,
            filter: !arguments.no_filter,
            minimise: !arguments.no_minimise,
            per_goal: arguments.per_goal,
            prune_redefinitions: !arguments.no_redefinition_pruning,
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
        let mut result = campaign::run(setup, &options, &mut keeper);
        coverage::blame(&mut result.coverage, program, &self.prepared.limited_stubs());
        let timeline = keeper.finish();
        watch.progress.clear();
        if result.n_overdue > 0 {
            let n_queries = match result.n_overdue {
                1 => "1 query".to_owned(),
                n => format!("{n} queries"),
            };
            watch.progress.note(&format!(
                "{n_queries} took the solver far longer than usual and were given up: the same seed may find other inputs"
            ));
        }
        watch.recorder.finish()?;
        Ok((result, timeline))
    }

    /// Asks other tools about the suite as it was written.
    pub fn confirm(&self, progress: &mut ProgressView) -> Option<Confirmation> {
        progress.step("confirming");
        let confirmed = confirm_run(self.output, self.prepared, execution_limit(self.arguments));
        progress.clear();
        // the suite is worth having without
        confirmed.map_err(|failure| eprintln!("note: nothing is confirmed: {}", failure.message())).ok()
    }

    /// Measures the suite as it was written, and reports.
    pub fn report(&self, timeline: &Timeline) -> Result<(), Failure> {
        let work = self.output.work();
        let execution = Execution { mode: self.mode, work: &work, limit: execution_limit(self.arguments) };
        reports::measure(self.output, self.prepared, execution, timeline)
    }

    /// Makes the suite easy to keep; gives what must come of each test, as far as a native build says.
    pub fn finish(
        &self,
        result: &mut CampaignResult,
        progress: &mut ProgressView,
    ) -> Result<BTreeMap<TestId, Expected>, Failure> {
        let limit = execution_limit(self.arguments);
        let alternatives = if self.arguments.no_minimise {
            result.tests.iter().map(|test| vec![test.clone()]).collect()
        } else {
            let settings = Settings {
                mode: self.mode,
                work: &self.output.work().join("minimise"),
                limit,
                work_time: (self.arguments.budget / 4).clamp(SHORTEST_MINIMISING, LONGEST_MINIMISING),
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

    /// Says what came of it, for a person or for a program.
    pub fn print(
        &self,
        result: &CampaignResult,
        summary: &Summary,
        confirmation: Option<&Confirmation>,
    ) -> Result<(), Failure> {
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
                    confirmation,
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
