//! One whole analysis: which inputs cover the goals?
//!
//! Method: ask the [`sources`] for work → execute, solve → see what was covered → collect candidates, until every goal is
//! covered, no source has anything left, or the budget ends. With several workers some jobs are in flight at a time, and their
//! results are merged in an order that does not depend on time ([`worker_pool`]), so that a seed gives the same campaign for the
//! same number of workers, time limits aside. A run that ends in a crash or hang covers goals like any other, with the crashing test as witness,
//! until an orderly run covers the same. Executing a parent again to have its expressions, and trials of a numeric search,
//! are counted apart and not bounded by the budget of executions. Whether accesses can go out of bounds is asked beside it.

mod advice;
mod budget;
mod effort;
mod enums;
mod evidence;
mod held;
mod merge;
mod options;
mod pace;
mod provenance;
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
use coverage::Coverage;
use model::Program;
use model::input::Input;
use smt::Solver;
use tracing::{debug, info, info_span};

use crate::executor::Executor;
use crate::pool::{CandidateId, Turn};
use crate::rng::Rng;
use crate::strategy::Strategy;
use crate::trace::Tracer;
pub use advice::{Advice, Adviser, Asked};
pub use budget::{Budget, Clock, MemoryGauge, SystemClock};
pub use enums::Enums;
use held::HeldRuns;
pub use options::{CampaignOptions, GivenInput, GivenPlace, InputLimit};
pub use provenance::Provenance;
pub use result::{
    CampaignResult, Finding, Observer, Progress, Queries, Shortages, Sighting, Test, Timings, Trouble,
};
pub use set_cover::necessary;
use source::{Answer, Occasion, Proposal};
pub use sources::Search;
use sources::{ADVISED, BEFORE_BUDGET, BEGINNING, Name, Sources, StrategySource, TargetQueue};
use state::State;
pub use stop::{BudgetKind, CampaignError, StopReason};
use turns::Turns;
use worker::{Context, Job, Task};
use worker_pool::{WorkerPool, with_workers};

/// Jobs that may wait for each worker. The more is in flight, the less a decision can learn from.
const MAX_WAITING: usize = 1;

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
pub type Judge<'a> = &'a dyn Fn(&Input) -> bool;

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
    let sources = Sources::new(program, options, mutates, StrategySource::new(strategy, targets));
    let n_workers = executors.len();
    let n_goals = state.coverage().n_goals();
    let _span = info_span!("campaign", n_goals, n_workers, seed = options.seed).entered();
    let turns = Turns::new(options.effort, options.budget.executions.is_some());
    let rng = Rng::new(options.seed);
    let mut campaign = Campaign { state, sources, rng, observer, memory, judge, adviser, turns };
    let stop = with_workers(&context, executors, solver, |workers| campaign.work(workers));
    campaign.finish(stop)
}

struct Campaign<'a> {
    state: State<'a>,
    sources: Sources<'a>,
    rng: Rng,
    observer: &'a mut dyn Observer,
    memory: Option<&'a dyn MemoryGauge>,
    judge: Judge<'a>,
    adviser: Option<&'a mut dyn Adviser>,
    turns: Turns,
}

/// Jobs in flight. A single worker has its next job when it is done with the last. Of several, each has its next job while
/// this thread takes in what came of the last.
fn max_in_flight(n_workers: usize) -> usize {
    if n_workers == 1 { 1 } else { n_workers * (1 + MAX_WAITING) }
}

impl Campaign<'_> {
    fn work(&mut self, workers: &mut WorkerPool<'_>) -> StopReason {
        self.resume(workers);
        self.state.start_budget();
        let stop = self.search(workers);
        match stop {
            // what is in flight at that moment is dropped: with one worker it would not have been started
            StopReason::Complete | StopReason::Exhausted | StopReason::Budget(BudgetKind::Executions) => {}
            // work that was done is kept, although another session would have done something else
            StopReason::Budget(BudgetKind::Time) | StopReason::Interrupted | StopReason::Failed(_) => {
                while self.hear(workers) {}
            }
        }
        stop
    }

    fn search(&mut self, workers: &mut WorkerPool<'_>) -> StopReason {
        loop {
            match self.state.reason_to_stop(self.sources.bounds.is_empty()) {
                // executions are the search's alone
                Some(StopReason::Budget(BudgetKind::Executions)) if self.ask_adviser(workers) => continue,
                Some(stop) => return stop,
                None => {}
            }
            if self.turns.is_due(self.state.time()) && self.ask_adviser(workers) {
                continue;
            }
            let order = if self.state.searches() { Sources::order(self.state.coverage()) } else { BEGINNING };
            let n_left = self.state.executions_left();
            self.start_jobs(workers, order, n_left);
            if !self.hear(workers) && !self.ask_adviser(workers) {
                let is_complete = self.state.coverage().is_complete();
                return if is_complete { StopReason::Complete } else { StopReason::Exhausted };
            }
        }
    }

    /// Lets the adviser look at what is open, when there is any use in it, and runs its inputs; whether it was asked.
    fn ask_adviser(&mut self, workers: &mut WorkerPool<'_>) -> bool {
        if !self.has_advice() {
            return false;
        }
        while self.hear(workers) {}
        let has_advice = self.has_advice();
        let Some(adviser) = self.adviser.as_mut().filter(|_| has_advice) else { return false };
        let coverage = self.state.coverage();
        self.observer.asked(&self.state.progress());
        let (n_before, effort) = (coverage.n_covered() + coverage.n_infeasible(), self.turns.effort());
        let advice = adviser.advise(&Asked { coverage, tests: self.state.suite.tests(), effort });
        let Advice { infeasible, inputs, gave_up, effort, is_final, is_broken } = advice;
        info!(n_infeasible = infeasible.len(), n_inputs = inputs.len(), effort, is_final, "adviser asked");
        for (goal, why) in gave_up {
            self.state.suite.give_up(goal, why);
        }
        for (goal, evidence) in infeasible {
            match self.state.suite.decide(goal, evidence) {
                Ok(()) => self.observer.decided(goal, self.state.coverage(), &self.state.progress()),
                Err(contradiction) => {
                    self.state.failure.get_or_insert(contradiction.into());
                }
            }
        }
        if is_broken {
            self.state.is_broken = true;
        }
        self.state.refresh();
        self.sources.advised.take_up(inputs);
        let (turns, n_covered) = (self.turns.clone(), self.state.coverage().n_covered());
        self.run_advised(workers);
        // what its inputs cover is the adviser's, not the search's
        self.turns = turns;
        let coverage = self.state.coverage();
        let n_decided = coverage.n_covered() + coverage.n_infeasible() - n_before;
        self.turns.advised(n_decided, effort, is_final && coverage.n_covered() == n_covered);
        true
    }

    /// Whether there is any use in asking the adviser.
    fn has_advice(&self) -> bool {
        let is_over = self.state.coverage().is_complete() || self.state.is_cut_short();
        self.adviser.is_some() && self.turns.can_advise() && !is_over
    }

    /// Runs the inputs of the adviser, whatever the budget of executions.
    fn run_advised(&mut self, workers: &mut WorkerPool<'_>) {
        let n_before = self.state.result.executions;
        loop {
            if !self.state.is_cut_short() {
                self.start_jobs(workers, ADVISED, None);
            }
            if !self.hear(workers) {
                break;
            }
        }
        self.state.result.n_advised += self.state.result.executions - n_before;
    }

    /// Runs what an earlier campaign found.
    fn resume(&mut self, workers: &mut WorkerPool<'_>) {
        let n_recorded = self.sources.resumed.n_left();
        loop {
            let n_run = usize::try_from(self.state.result.executions).unwrap_or(usize::MAX);
            self.state.result.n_recorded_left = n_recorded.saturating_sub(n_run);
            if !self.state.is_cut_short() {
                self.start_jobs(workers, BEFORE_BUDGET, None);
            }
            if !self.hear(workers) {
                break;
            }
        }
        self.state.result.n_recorded = self.state.result.executions;
    }

    /// Starts what the sources propose, asked in this order, with at most so many executions.
    fn start_jobs(
        &mut self,
        workers: &mut WorkerPool<'_>,
        order: &[(Name, Occasion)],
        n_executions_left: Option<u64>,
    ) {
        let has_budget =
            |n_in_flight: usize| n_executions_left.is_none_or(|n_left| (n_in_flight as u64) < n_left);
        loop {
            let n_in_flight = workers.n_in_flight();
            if n_in_flight >= max_in_flight(workers.n_workers()) || !has_budget(n_in_flight) {
                return;
            }
            let has_idle_workers = n_in_flight < workers.n_workers();
            match self.sources.ask(order, has_idle_workers, &self.state.view(), &mut self.rng) {
                Answer::Propose(proposal) if self.admits(&proposal) => {
                    let origin = proposal.origin();
                    workers.start(self.job(proposal), origin);
                }
                Answer::Propose(_) | Answer::AskAgain => {}
                Answer::Pass | Answer::Wait => return,
            }
        }
    }

    /// Merges what came of the next job in flight; false when there is none.
    fn hear(&mut self, workers: &mut WorkerPool<'_>) -> bool {
        let Some((report, origin)) = workers.hear() else { return false };
        self.merge(report, origin);
        self.state.keep_within_memory(self.memory);
        let (coverage, n_candidates) = (self.state.coverage(), self.state.pool.n_open());
        debug!(
            executions = self.state.result.executions,
            n_covered = coverage.n_covered(),
            n_candidates,
            "job done"
        );
        true
    }

    /// Whether a proposal is still worth the work. A candidate that is proposed is open no more.
    fn admits(&mut self, proposal: &Proposal) -> bool {
        match proposal {
            Proposal::Run { .. } | Proposal::Try(_) => true,
            Proposal::Flip(candidate) => self.state.take_candidate(*candidate),
        }
    }

    fn job(&mut self, proposal: Proposal) -> Job {
        let task = match proposal {
            Proposal::Run { input, provenance, symbolic } => Task::Run { input, provenance, symbolic },
            Proposal::Try(tries) => Task::TryAll(tries),
            Proposal::Flip(candidate) => self.flip(candidate),
        };
        Job { task, targets: self.state.targets() }
    }

    fn flip(&mut self, id: CandidateId) -> Task {
        let pool = &self.state.pool;
        let candidate = *pool.candidate(id);
        let pinned = match candidate.turn {
            Turn::Step { .. } | Turn::Bounds { .. } => Vec::new(),
            Turn::Pin { .. } => pool.pinned_values(id),
        };
        let parent = self.state.parent(&candidate);
        Task::Flip { parent, candidate, pinned, solver_limit: self.sources.retries.limit() }
    }

    fn finish(self, stop: StopReason) -> CampaignResult {
        let Self { mut state, sources, .. } = self;
        info!(
            ?stop,
            executions = state.result.executions,
            n_covered = state.coverage().n_covered(),
            "search ends"
        );
        let (n_given_up, n_waiting) = (sources.retries.n_given_up(), sources.retries.n_waiting() as u64);
        state.result.n_unsolved = n_given_up + n_waiting;
        state.result.searches = sources.strategy.into_searches(&state.view());
        state.finish(stop)
    }
}

#[cfg(test)]
mod tests;
