//! One whole analysis: which inputs cover the goals?
//!
//! Method: ask the [`sources`] for work → execute, solve → see what was covered → collect candidates, until every goal is
//! covered, no source has anything left, or the budget ends. With several workers some jobs are in flight at a time, and their
//! results are merged in an order that does not depend on time ([`flights`]), so that a seed gives the same campaign for the
//! same number of workers, time limits aside. A run that ends in a crash or hang covers goals like any other, with the crashing test as witness,
//! until an orderly run covers the same. Executing a parent again to have its expressions, and trials of a numeric search,
//! are counted apart and not bounded by the budget of executions. Whether accesses can go out of bounds is asked beside it.

mod advice;
mod augment;
mod budget;
mod conduct;
mod effort;
mod enums;
mod evidence;
mod flights;
mod held;
mod merge;
mod options;
mod pace;
mod provenance;
mod reaching;
mod result;
mod set_cover;
mod source;
mod sources;
mod state;
mod stop;
mod suite;
mod turns;
mod worker;
mod worker_pool;

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

use analysis::cut_points::Dominance;
use analysis::distance::Routes;
use analysis::icfg::Icfg;
use coverage::{Coverage, Sequences};
use model::Program;
use model::input::Input;
use smt::Solver;
use tracing::{debug, info, info_span};

pub use crate::chaining::{Chased, Chases, Trail, TrailEnd};
use crate::executor::Executor;
use crate::pool::{CandidateId, Turn};
use crate::rng::Rng;
use crate::strategy::Strategy;
use crate::trace::Tracer;
pub use advice::{Advice, Adviser, Asked};
pub use augment::{Augment, Generator, Reuse, TargetOrder};
pub use budget::{Budget, Clock, MemoryGauge, SystemClock};
use conduct::conduct;
pub use enums::Enums;
use flights::Flights;
use held::HeldRuns;
pub use options::{CampaignOptions, GivenInput, GivenPlace, InputLimit};
pub use provenance::Provenance;
pub use result::{
    CampaignResult, Finding, Observer, Progress, Queries, Shortages, Sighting, Test, Timings, Trouble,
};
pub use set_cover::necessary;
use source::{Answer, Occasion, Origin, Proposal};
pub use sources::Search;
use sources::{ADVISED, BEFORE_BUDGET, BEGINNING, Name, Sources, StrategySource, TargetQueue};
use state::State;
pub use stop::{BudgetKind, CampaignError, StopReason};
pub use suite::necessary_tests;
use turns::Turns;
use worker::{Context, Job, JobReport, Task};
use worker_pool::with_workers;

/// What a campaign works with.
pub struct Setup<'a> {
    pub program: &'a Program,
    /// The goals, none covered yet.
    pub coverage: Coverage,
    pub strategy: Box<dyn Strategy + Send>,
    /// One per worker.
    pub executors: Vec<Box<dyn Executor + Send>>,
    /// Makes a worker's solver, on the worker's own thread. It should stop when `interrupt` is set.
    pub solver: &'a (dyn Fn() -> Box<dyn Solver> + Sync),
    /// Counts from the campaign's start.
    pub clock: &'a (dyn Clock + Sync),
    /// Looked at to keep within a bound on memory; without it, only what is counted is bounded.
    pub memory: Option<&'a dyn MemoryGauge>,
    /// Set from outside to end the campaign soon, keeping what was found.
    pub interrupt: Arc<AtomicBool>,
    /// Asked about what the search leaves open.
    pub adviser: Option<&'a mut dyn Adviser>,
}

/// Says of an input that covers something and ends in order whether it is one to keep; what is not covers nothing.
pub type Judge<'a> = &'a (dyn Fn(&Input) -> bool + Sync);

/// Runs a campaign to its end.
///
/// # Panics
/// When there is no executor.
pub fn run(setup: Setup<'_>, options: &CampaignOptions, observer: &mut dyn Observer) -> CampaignResult {
    run_judged(setup, options, observer, &|_| true)
}

/// The same with a judge of inputs.
///
/// # Panics
/// When there is no executor.
pub fn run_judged(
    setup: Setup<'_>,
    options: &CampaignOptions,
    observer: &mut dyn Observer,
    judge: Judge<'_>,
) -> CampaignResult {
    assert!(!setup.executors.is_empty(), "a campaign needs an executor");
    let Setup { program, coverage, strategy, executors, solver, clock, memory, interrupt, adviser } = setup;
    // for as long as the campaign lives, which is shorter than the caller's
    let adviser = adviser.map(|adviser| -> &mut dyn Adviser { adviser });
    let tracer = Tracer::for_goals(program, &coverage);
    // executions that are counted are not spent on mutation
    let mutates = strategy.allows_mutation() && options.budget.executions.is_none();
    let context = Context {
        tracer: &tracer,
        goals: coverage.clone(),
        clock,
        interrupt: &interrupt,
        has_ended: AtomicBool::new(false),
        deadline: OnceLock::new(),
        execution_limit: options.execution_limit,
        self_check: options.self_check,
        symbolic: strategy.uses_candidates() || options.self_check,
        keeps_paths: strategy.guidance().is_some(),
        max_bytes_held: HeldRuns::max_bytes_per_run(options.max_bytes_held),
        mutates,
        one_process_per_try: options.whole_program,
    };
    let graph = Icfg::new(program);
    let routes = Routes::of(&graph);
    let guidance = strategy.guidance().zip(program.root);
    let dominance = guidance.map(|(guidance, root)| (guidance, Dominance::of(&graph, &routes, root)));
    let targets = dominance
        .as_ref()
        .and_then(|(guidance, dominance)| TargetQueue::new(*guidance, options, &coverage, dominance));
    let state = State::new(program, options, &context, coverage, strategy.as_ref());
    let sources = Sources::new(program, options, mutates, StrategySource::new(strategy, targets, program));
    let n_workers = executors.len();
    let n_goals = state.coverage().n_goals();
    let _span = info_span!("campaign", n_goals, n_workers, seed = options.seed).entered();
    let turns = Turns::new(options.effort, options.budget.executions);
    let campaign = Box::new(Campaign {
        state,
        sources,
        rng: Rng::new(options.seed),
        observer,
        memory,
        judge,
        has_adviser: adviser.is_some(),
        turns,
        flights: Flights::new(n_workers),
        phase: Phase::Resume,
        pause: None,
    });
    let (campaign, stop) =
        with_workers(&context, executors, solver, |workers| conduct(campaign, workers, adviser));
    campaign.finish(stop)
}

/// What is known and decided. One thread at a time has it: whichever brought a report.
struct Campaign<'a> {
    state: State<'a>,
    sources: Sources<'a>,
    rng: Rng,
    observer: &'a mut dyn Observer,
    memory: Option<&'a dyn MemoryGauge>,
    judge: Judge<'a>,
    has_adviser: bool,
    turns: Turns,
    flights: Flights,
    phase: Phase,
    /// Why the search is over for now.
    pause: Option<Pause>,
}

/// What is worked off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// What an earlier campaign found.
    Resume,
    Search,
    /// The inputs of the adviser, whatever the budget of executions.
    Advised,
    /// What is in flight, and nothing else.
    Drain,
}

/// Why a search is over.
#[derive(Debug)]
enum Pause {
    /// The adviser is to be asked; when it is not, this is the end.
    Advice {
        otherwise: Option<StopReason>,
    },
    End(StopReason),
}

impl Campaign<'_> {
    /// Starts what can be started; whether this phase is over.
    fn advance(&mut self) -> bool {
        match self.phase {
            Phase::Search => {
                self.pause = self.search();
                self.pause.is_some()
            }
            Phase::Resume => {
                let n_run = usize::try_from(self.state.result.executions).unwrap_or(usize::MAX);
                self.state.result.n_recorded_left = self.sources.resumed.n_given().saturating_sub(n_run);
                self.start_given(BEFORE_BUDGET)
            }
            Phase::Advised => self.start_given(ADVISED),
            Phase::Drain => self.flights.is_empty(),
        }
    }

    /// Starts inputs that are run whatever the budget; whether all are done.
    fn start_given(&mut self, order: &[(Name, Occasion)]) -> bool {
        if !self.state.is_cut_short() {
            self.start_jobs(order, None);
        }
        self.flights.is_empty()
    }

    /// Starts the next jobs of the search, or says why it is over.
    fn search(&mut self) -> Option<Pause> {
        if let Some(stop) = self.state.reason_to_stop(self.sources.bounds.is_empty()) {
            // executions are the search's alone
            let is_spent = matches!(stop, StopReason::Budget(BudgetKind::Executions));
            return Some(if is_spent { self.advice_or(stop) } else { Pause::End(stop) });
        }
        if self.turns.is_due(self.state.time()) && self.has_advice() {
            return Some(Pause::Advice { otherwise: None });
        }
        let order = if self.state.searches() { self.sources.order(self.state.coverage()) } else { BEGINNING };
        self.start_jobs(order, self.state.executions_left());
        if !self.flights.is_empty() {
            return None;
        }
        let is_complete = self.state.coverage().is_complete();
        self.turns.search_is_over();
        Some(self.advice_or(if is_complete { StopReason::Complete } else { StopReason::Exhausted }))
    }

    fn advice_or(&self, stop: StopReason) -> Pause {
        if self.has_advice() { Pause::Advice { otherwise: Some(stop) } } else { Pause::End(stop) }
    }

    /// Whether there is any use in asking the adviser.
    fn has_advice(&self) -> bool {
        let is_over = self.state.coverage().is_complete() || self.state.is_cut_short();
        self.has_adviser && self.turns.can_advise() && !is_over
    }

    /// Starts what the sources propose, asked in this order, with at most so many executions.
    fn start_jobs(&mut self, order: &[(Name, Occasion)], n_executions_left: Option<u64>) {
        let has_budget =
            |n_in_flight: usize| n_executions_left.is_none_or(|n_left| (n_in_flight as u64) < n_left);
        while self.flights.has_room() && has_budget(self.flights.len()) {
            let has_idle_workers = self.flights.has_idle_workers();
            match self.sources.ask(order, has_idle_workers, &self.state.view(), &mut self.rng) {
                Answer::Propose(proposal) if self.admits(&proposal) => {
                    let origin = proposal.origin();
                    let job = self.job(proposal);
                    self.flights.start(job, origin);
                }
                Answer::Propose(_) | Answer::AskAgain => {}
                Answer::Pass | Answer::Wait => return,
            }
        }
    }

    /// Merges what came of a job.
    fn hear(&mut self, report: JobReport, origin: Origin) {
        self.merge(report, origin);
        self.state.keep_within_memory(self.memory);
        let (coverage, n_candidates) = (self.state.coverage(), self.state.pool.n_open());
        debug!(
            executions = self.state.result.executions,
            n_covered = coverage.n_covered(),
            n_candidates,
            "job done"
        );
    }

    /// Whether a proposal is still worth the work. A candidate that is proposed is open no more.
    fn admits(&mut self, proposal: &Proposal) -> bool {
        match proposal {
            Proposal::Run { .. }
            | Proposal::Try(_)
            | Proposal::Change { .. }
            | Proposal::Alike(_)
            | Proposal::Read(_) => true,
            Proposal::Flip(candidate) => self.state.take_candidate(*candidate),
        }
    }

    fn job(&mut self, proposal: Proposal) -> Job {
        let run = proposal.origin().candidate().map(|id| self.state.pool.candidate(id).run);
        let task = match proposal {
            Proposal::Run { input, provenance, symbolic } => Task::Run { input, provenance, symbolic },
            Proposal::Alike(input) => Task::Run { input, provenance: Provenance::Mutated, symbolic: true },
            Proposal::Try(tries) => Task::TryAll(tries),
            Proposal::Flip(candidate) => self.flip(candidate),
            Proposal::Change { run, steps } => {
                let (parent, solver_limit) = (self.state.parent(run), self.sources.retries.limit());
                Task::Change { parent, run, steps, solver_limit }
            }
            Proposal::Read(run) => Task::Read(Arc::clone(&self.state.pool.run(run).input)),
        };
        let targets = self.sources.watched().or_else(|| self.state.targets());
        Job { task, targets, run }
    }

    fn flip(&mut self, id: CandidateId) -> Task {
        let pool = &self.state.pool;
        let candidate = *pool.candidate(id);
        let pinned = match candidate.turn {
            Turn::Step { .. } | Turn::Bounds { .. } => Vec::new(),
            Turn::Pin { .. } => pool.pinned_values(id),
        };
        let parent = self.state.parent(candidate.run);
        let may_leave_path = self.state.may_leave_path(&candidate);
        let solver_limit = self.sources.retries.limit();
        Task::Flip { parent, candidate, pinned, may_leave_path, solver_limit }
    }

    fn finish(self: Box<Self>, stop: StopReason) -> CampaignResult {
        let Self { mut state, sources, .. } = *self;
        info!(
            ?stop,
            executions = state.result.executions,
            n_covered = state.coverage().n_covered(),
            "search ends"
        );
        let (n_given_up, n_waiting) = (sources.retries.n_given_up(), sources.retries.n_waiting() as u64);
        state.result.n_unsolved = n_given_up + n_waiting;
        state.result.chases = sources.strategy.chased();
        for ((site, choice), ended) in &state.result.chases.by_direction {
            let n = ended.n_sequences as u64;
            let (is_saturated, ends) = (ended.is_saturated, ended.directions());
            state.evidence.facts.way(*site, *choice).sequences = Some(Sequences { n, is_saturated, ends });
        }
        state.result.searches = sources.strategy.into_searches(&state.view());
        state.finish(stop)
    }
}

#[cfg(test)]
mod tests;
