//! One whole analysis: which inputs cover the goals?
//!
//! Method: ask the [`sources`] for work → execute, solve → see what was covered → collect candidates, until every goal is
//! covered, no source has anything left, or the budget ends. With several workers a round of proposals is worked on in
//! parallel and merged in the order of proposing, so that a seed gives the same campaign for the same number of workers,
//! time limits aside. A run that ends in a crash or hang covers goals like any other, with the crashing test as witness,
//! until an orderly run covers the same. Executing a parent again to have its expressions, and trials of a numeric search,
//! are counted apart and not bounded by the budget of executions. Whether accesses can go out of bounds is asked beside it.

mod budget;
mod effort;
mod enums;
mod held;
mod merge;
mod options;
mod provenance;
mod result;
mod set_cover;
mod source;
mod sources;
mod state;
mod stop;
mod suite;
mod worker;
mod worker_pool;

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

use analysis::cut_points::Dominance;
use analysis::distance::Routes;
use analysis::icfg::Icfg;
use coverage::Coverage;
use model::Program;
use smt::Solver;
use tracing::{debug, info, info_span};

use crate::executor::Executor;
use crate::pool::{CandidateId, Turn};
use crate::rng::Rng;
use crate::strategy::Strategy;
use crate::trace::Tracer;
pub use budget::{Budget, Clock, SystemClock};
pub use enums::Enums;
use held::HeldRuns;
pub use options::{CampaignOptions, GivenInput, GivenPlace};
pub use provenance::Provenance;
pub use result::{CampaignResult, Finding, Observer, Progress, Queries, Shortages, Test, Timings, Trouble};
pub use set_cover::necessary;
use source::{Answer, Occasion, Origin, Proposal};
pub use sources::Search;
use sources::{BEFORE_BUDGET, Name, Sources, StrategySource, TargetQueue};
use state::State;
pub use stop::{BudgetKind, CampaignError, StopReason};
use worker::{Context, Job, Task};
use worker_pool::{WorkerPool, with_workers};

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
    /// Set from outside to end the campaign soon, keeping what was found.
    pub interrupt: Arc<AtomicBool>,
}

/// Runs a campaign to its end.
///
/// # Panics
/// When there is no executor.
pub fn run(setup: Setup<'_>, options: &CampaignOptions, observer: &mut dyn Observer) -> CampaignResult {
    assert!(!setup.executors.is_empty(), "a campaign needs an executor");
    let Setup { program, coverage, strategy, executors, solver, clock, interrupt } = setup;
    let tracer = Tracer::for_goals(program, &coverage);
    // executions that are counted are not spent on mutation
    let mutates = strategy.allows_mutation() && options.budget.executions.is_none();
    let context = Context {
        tracer: &tracer,
        clock,
        interrupt: &interrupt,
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
    let mut campaign = Campaign { state, sources, rng: Rng::new(options.seed), observer, n_workers };
    let stop = with_workers(&context, executors, solver, |workers| campaign.work(workers));
    campaign.finish(stop)
}

struct Campaign<'a> {
    state: State<'a>,
    sources: Sources<'a>,
    rng: Rng,
    observer: &'a mut dyn Observer,
    n_workers: usize,
}

impl Campaign<'_> {
    fn work(&mut self, workers: &mut WorkerPool<'_>) -> StopReason {
        self.resume(workers);
        self.state.start_budget();
        loop {
            if let Some(stop) = self.state.reason_to_stop(self.sources.bounds.is_empty()) {
                return stop;
            }
            let order = Sources::order(self.state.coverage());
            let proposals = self.next_round(order, self.state.round_size(self.n_workers));
            if proposals.is_empty() {
                let is_complete = self.state.coverage().is_complete();
                return if is_complete { StopReason::Complete } else { StopReason::Exhausted };
            }
            self.round(workers, proposals);
        }
    }

    /// Runs what an earlier campaign found.
    fn resume(&mut self, workers: &mut WorkerPool<'_>) {
        self.state.result.n_recorded_left = self.sources.resumed.n_left();
        while !self.state.is_cut_short() {
            let proposals = self.next_round(BEFORE_BUDGET, self.n_workers);
            if proposals.is_empty() {
                break;
            }
            self.round(workers, proposals);
            self.state.result.n_recorded_left = self.sources.resumed.n_left();
        }
        self.state.result.n_recorded = self.state.result.executions;
    }

    /// What the sources propose next, asked in this order.
    fn next_round(&mut self, order: &[(Name, Occasion)], n_proposals: usize) -> Vec<Proposal> {
        let mut proposals = Vec::with_capacity(n_proposals);
        while proposals.len() < n_proposals {
            match self.sources.ask(order, &self.state.view(), &mut self.rng) {
                Answer::Propose(proposal) => proposals.extend(Some(proposal).filter(|it| self.admits(it))),
                Answer::AskAgain => {}
                Answer::Pass | Answer::Wait => break,
            }
        }
        proposals
    }

    /// Whether a proposal is still worth the work. A candidate that is proposed is open no more.
    fn admits(&mut self, proposal: &Proposal) -> bool {
        match proposal {
            Proposal::Run { .. } | Proposal::Try(_) => true,
            Proposal::Flip(candidate) => self.state.take_candidate(*candidate),
        }
    }

    fn round(&mut self, workers: &mut WorkerPool<'_>, proposals: Vec<Proposal>) {
        let origins: Vec<Origin> = proposals.iter().map(Proposal::origin).collect();
        let jobs = proposals.into_iter().map(|proposal| self.job(proposal)).collect();
        for (report, origin) in workers.work(jobs).into_iter().zip(origins) {
            self.merge(report, origin);
        }
        let (coverage, n_candidates) = (self.state.coverage(), self.state.pool.n_open());
        debug!(
            executions = self.state.result.executions,
            n_covered = coverage.n_covered(),
            n_candidates,
            "round"
        );
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
        let has_untried_pins = sources.pinned.n_waiting() > 0;
        let (n_given_up, n_waiting) = (sources.retries.n_given_up(), sources.retries.n_waiting() as u64);
        state.result.n_unsolved = n_given_up + n_waiting;
        state.result.searches = sources.strategy.into_searches(&state.view());
        let reason = state.reason_for_open_goals(&stop, n_given_up, has_untried_pins);
        state.finish(stop, reason)
    }
}

#[cfg(test)]
mod tests;
