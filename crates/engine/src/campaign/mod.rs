//! One whole analysis: which inputs cover the goals?
//!
//! Method: execute → see what was covered → collect candidates → the strategy picks → solve → execute, until every goal
//! is covered, nothing is left to try, or the budget ends. With several workers a round of picks is worked on in
//! parallel and merged in the order of picking, so that a seed gives the same campaign for the same number of workers,
//! time limits aside. A run that ends in a crash or hang covers goals like any other, with the crashing test as witness,
//! until an orderly run covers the same. Executing a parent again to have its expressions, and trials of a numeric search,
//! are counted apart and not bounded by the budget of executions. Whether accesses can go outside of their objects is
//! asked beside it.

mod aim;
mod budget;
mod chance;
mod crew;
mod enums;
mod growth;
mod necessary;
mod patience;
mod questions;
mod random;
mod reserve;
mod result;
mod suite;
mod worker;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use analysis::cut_points::Dominance;
use analysis::distance::Routes;
use analysis::icfg::Icfg;
use coverage::structure::Structure;
use coverage::{Coverage, GoalId, Reason};
use model::input::{Input, Key};
use model::{Program, SpanId};
use smt::Solver;
use wire::CellKind;

use crate::executor::{End, Executor};
use crate::nearness::Targets;
use crate::pool::{CandidateId, Judge, Pool, Run, RunId, Turn};
use crate::rng::Rng;
use crate::strategy::{Pick, Strategy, View};
use crate::trace::{PathLog, Trace, Tracer};
use aim::Aim;
pub use aim::Search;
pub use budget::{Budget, Clock, SystemClock};
use chance::Chance;
use crew::{Crew, with_crew};
pub use enums::Enums;
use growth::Growth;
pub use necessary::necessary;
use patience::Patience;
use questions::Questions;
use random::random_input;
use reserve::Reserve;
pub use result::{
    BudgetKind, CampaignError, CampaignResult, Finding, Observer, Progress, Queries, Shortages, StopReason,
    Test, Timings, Trouble,
};
use suite::{Kept, Place, Suite};
use worker::{Job, Origin, Ran, Report, Task};

/// How many times in a row chance may repeat an input before nothing new is expected of it.
const MAX_REPEATED_INPUTS: u32 = 1000;
/// Bytes of paths that are kept to be walked again, and how many of them are when the search aims at another pair.
const MAX_PATH_BYTES: usize = 64 << 20;
const MAX_FOLLOWED: usize = 256;
/// How many examples of one trouble are kept.
const MAX_EXAMPLES: usize = 20;

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

/// How a campaign is done.
#[derive(Clone, Debug)]
pub struct Options {
    pub seed: u64,
    pub budget: Budget,
    /// Effort for one query; queries that are not answered at once get it only when nothing else is left to try.
    pub solver_effort: u64,
    /// Processor time after which a query is given up whatever its effort.
    pub solver_time: Duration,
    /// Time for one execution.
    pub execution_limit: Duration,
    /// Compare every expression with what the program computed.
    pub self_check: bool,
    /// Inputs that an earlier campaign found: run before all others, whatever the budget, which counts from then on.
    pub recorded: Vec<Input>,
    /// The input to start with, instead of zeros and then a random one.
    pub first_input: Option<Input>,
    /// Which cells of inputs are enums.
    pub enums: Enums,
    /// Whether a run is one of a whole program, which leaves more behind than variables.
    pub whole_program: bool,
    /// Inputs to run after the first.
    pub further_inputs: Vec<Input>,
    /// Leave out candidates that cannot reach anything open.
    pub filter: bool,
    /// Leave out tests whose goals the others cover.
    pub minimise: bool,
    /// Covered, this goal is enough: the others only lead the way.
    pub enough: Option<GoalId>,
    /// Time for one def-use pair at a time, with strategies that are led to pairs; doubled when its turn comes again.
    pub per_goal: Duration,
    /// For such strategies: what lies behind another definition of the variable is of no use for the pair.
    pub prune_redefinitions: bool,
    /// Candidates taken from one run; a bound on memory for runs with very many steps.
    pub max_candidates_per_run: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            seed: 0,
            budget: Budget::default(),
            // about five seconds of Bitwuzla's work
            solver_effort: 40_000,
            solver_time: Duration::from_secs(15),
            execution_limit: Duration::from_secs(2),
            self_check: false,
            recorded: Vec::new(),
            first_input: None,
            enums: Enums::default(),
            whole_program: false,
            further_inputs: Vec::new(),
            filter: true,
            minimise: true,
            enough: None,
            per_goal: Duration::from_secs(20),
            prune_redefinitions: true,
            max_candidates_per_run: 1 << 16,
        }
    }
}

/// Runs a campaign to its end.
///
/// # Panics
/// When there is no executor.
pub fn run(setup: Setup<'_>, options: &Options, observer: &mut dyn Observer) -> CampaignResult {
    assert!(!setup.executors.is_empty(), "a campaign needs an executor");
    let Setup { program, coverage, strategy, executors, solver, clock, interrupt } = setup;
    let tracer = Tracer::for_goals(program, &coverage);
    // executions that are counted are not left to chance
    let takes_chances = strategy.takes_chances() && options.budget.executions.is_none();
    let context = worker::Context {
        tracer: &tracer,
        clock,
        interrupt: &interrupt,
        deadline: OnceLock::new(),
        execution_limit: options.execution_limit,
        self_check: options.self_check,
        symbolic: strategy.uses_candidates() || options.self_check,
        keeps_paths: strategy.guidance().is_some(),
        takes_chances,
        alone: options.whole_program,
    };
    let n_workers = executors.len();
    let chance = takes_chances.then(|| Chance::new(program));
    let structure = Structure::new(tracer.marking(), &coverage);
    let graph = Icfg::new(program);
    let routes = Routes::of(&graph);
    let guidance = strategy.guidance().zip(program.root);
    let dominance = guidance.map(|(guidance, root)| (guidance, Dominance::of(&graph, &routes, root)));
    let aim = dominance.as_ref().and_then(|(guidance, dominance)| {
        Aim::new(*guidance, options.prune_redefinitions, &coverage, dominance)
    });
    let mut campaign = Campaign {
        program,
        options,
        observer,
        context: &context,
        pool: Pool::new(options.max_candidates_per_run, options.filter),
        targets: targets(strategy.as_ref(), &structure, &coverage),
        structure,
        rng: Rng::new(options.seed),
        strategy,
        suite: Suite::new(coverage),
        cells: BTreeMap::new(),
        random_inputs: BTreeSet::new(),
        result: CampaignResult::default(),
        failure: None,
        patience: Patience::new(options.solver_effort, options.solver_time),
        reserve: Reserve::default(),
        growth: Growth::default(),
        questions: Questions::default(),
        chance,
        aim,
        n_path_bytes: 0,
        last_new: Duration::ZERO,
    };
    let stop = with_crew(&context, executors, solver, |crew| campaign.work(crew, n_workers));
    campaign.finish(stop)
}

/// The ways that nobody went and that would cover something, if the strategy wants to know how near runs come to them.
fn targets(strategy: &dyn Strategy, structure: &Structure<'_>, coverage: &Coverage) -> Option<Arc<Targets>> {
    strategy.wants_nearness().then(|| Arc::new(structure.targets(coverage)))
}

enum Resort {
    Grow(Input),
    Flip(CandidateId),
}

struct Campaign<'a> {
    program: &'a Program,
    options: &'a Options,
    strategy: Box<dyn Strategy + Send>,
    observer: &'a mut dyn Observer,
    context: &'a worker::Context<'a>,
    pool: Pool,
    structure: Structure<'a>,
    /// What runs are measured for.
    targets: Option<Arc<Targets>>,
    rng: Rng,
    suite: Suite,
    /// Every cell that a run asked for, with its width.
    cells: BTreeMap<Key, (u32, CellKind)>,
    random_inputs: BTreeSet<Input>,
    result: CampaignResult,
    failure: Option<CampaignError>,
    patience: Patience,
    reserve: Reserve,
    growth: Growth,
    questions: Questions,
    chance: Option<Chance>,
    aim: Option<Aim<'a>>,
    /// Bytes of paths that are kept.
    n_path_bytes: usize,
    /// When a goal was covered last.
    last_new: Duration,
}

impl Campaign<'_> {
    fn work(&mut self, crew: &mut Crew<'_>, n_workers: usize) -> StopReason {
        self.repeat(crew, n_workers);
        if let Some(budget) = self.options.budget.time {
            self.context.deadline.get_or_init(|| self.context.clock.elapsed() + budget);
        }
        self.start(crew);
        loop {
            if let Some(stop) = self.reason_to_stop() {
                return stop;
            }
            let jobs = self.pick(self.round_size(n_workers));
            if jobs.is_empty() {
                let is_complete = self.suite.coverage().is_complete();
                return if is_complete { StopReason::Complete } else { StopReason::Exhausted };
            }
            self.round(crew, jobs);
        }
    }

    /// Runs what an earlier campaign found.
    fn repeat(&mut self, crew: &mut Crew<'_>, n_workers: usize) {
        let recorded = &self.options.recorded;
        self.result.n_recorded_left = recorded.len();
        for inputs in recorded.chunks(n_workers) {
            if self.context.is_interrupted() || self.failure.is_some() {
                return;
            }
            let jobs = inputs.iter().map(|input| self.job(Task::Execute(input.clone()), None)).collect();
            self.round(crew, jobs);
            self.result.n_recorded_left -= inputs.len();
        }
        self.result.n_recorded = self.result.executions;
    }

    /// The first inputs: readable zeros, then chance, unless the user gave one.
    fn start(&mut self, crew: &mut Crew<'_>) {
        if self.spent().is_some() || (self.result.n_recorded > 0 && self.suite.coverage().is_complete()) {
            return;
        }
        // executed even when there are no goals: there should be a test
        let first = self.options.first_input.clone().unwrap_or_else(|| {
            let mut first = Input::default();
            self.options.enums.begin(&mut first);
            first
        });
        self.round(crew, vec![self.job(Task::Execute(first), None)]);
        for input in &self.options.further_inputs {
            if self.reason_to_stop().is_none() {
                let job = self.job(Task::Execute(input.clone()), None);
                self.round(crew, vec![job]);
            }
        }
        if self.options.first_input.is_none() && self.reason_to_stop().is_none() {
            let second = self.random_input();
            if self.random_inputs.insert(second.clone()) {
                let job = self.job(Task::Execute(second), None);
                self.round(crew, vec![job]);
            }
        }
    }

    fn random_input(&mut self) -> Input {
        let mut input = random_input(&self.cells, &mut self.rng);
        self.options.enums.prefer(&mut input, &mut self.rng);
        input
    }

    fn reason_to_stop(&mut self) -> Option<StopReason> {
        if let Some(error) = self.failure.take() {
            return Some(StopReason::Failed(error));
        }
        if self.context.is_interrupted() {
            return Some(StopReason::Interrupted);
        }
        let coverage = self.suite.coverage();
        let has_enough = self.options.enough.is_some_and(|goal| !coverage.is_open(goal));
        if has_enough || (coverage.is_complete() && self.questions.is_empty()) {
            return Some(StopReason::Complete);
        }
        self.spent().map(StopReason::Budget)
    }

    fn spent(&self) -> Option<BudgetKind> {
        if self.context.time_left().is_zero() {
            return Some(BudgetKind::Time);
        }
        let executions = self.options.budget.executions;
        let spent = executions.is_some_and(|most| self.result.n_searched() >= most);
        spent.then_some(BudgetKind::Executions)
    }

    fn round_size(&self, n_workers: usize) -> usize {
        let left = self.options.budget.executions.map(|most| most.saturating_sub(self.result.n_searched()));
        left.and_then(|left| usize::try_from(left).ok()).map_or(n_workers, |left| left.min(n_workers))
    }

    fn pick(&mut self, n_jobs: usize) -> Vec<Job> {
        let mut jobs = Vec::with_capacity(n_jobs);
        let mut n_repeated = 0;
        while jobs.len() < n_jobs && n_repeated < MAX_REPEATED_INPUTS {
            if self.suite.coverage().is_complete() {
                let Some(id) = self.questions.next() else { break };
                self.pool.take(id);
                jobs.push(self.flip(id));
                continue;
            }
            if self.growth.is_due()
                && let Some(input) = self.growth.next(self.suite.tests(), &self.cells)
            {
                jobs.push(self.job(Task::Execute(input), None));
                continue;
            }
            if let Some(turn) = self.chance.as_mut().and_then(|chance| chance.next(&mut self.rng)) {
                jobs.push(match turn {
                    chance::Turn::TryAll(mut tries) => {
                        tries
                            .iter_mut()
                            .for_each(|values| self.options.enums.prefer_in(values, &mut self.rng));
                        self.job(Task::TryAll(tries), None)
                    }
                    chance::Turn::Try(input) => self.job(Task::Try(input), None),
                    chance::Turn::Follow(input) => self.job(Task::Execute(input), None),
                });
                continue;
            }
            if let Some(id) = self.questions.due() {
                self.pool.take(id);
                jobs.push(self.flip(id));
                continue;
            }
            self.keep_aim();
            match self.next_of_strategy() {
                None if self.aim.as_ref().and_then(Aim::target).is_some() => {
                    self.aim_anew();
                }
                None => match self.last_resort() {
                    None if self.chance.as_ref().is_some_and(Chance::has_credit) => {}
                    None => break,
                    Some(Resort::Grow(input)) => jobs.push(self.job(Task::Execute(input), None)),
                    Some(Resort::Flip(id)) => {
                        let is_filtered = self.pool.is_filtered(id, &self.structure, self.suite.coverage());
                        self.pool.take(id);
                        if !is_filtered && !self.pool.is_taken(id) {
                            jobs.push(self.flip(id));
                        }
                    }
                },
                Some(Pick::Flip(id)) => {
                    self.aim.as_mut().map(Aim::picked);
                    if self.pool.take(id) {
                        jobs.push(self.flip(id));
                    }
                }
                Some(Pick::RandomInput) => {
                    let input = self.random_input();
                    if self.random_inputs.insert(input.clone()) {
                        jobs.push(self.job(Task::Execute(input), None));
                    } else {
                        n_repeated += 1;
                    }
                }
            }
        }
        jobs
    }

    fn next_of_strategy(&mut self) -> Option<Pick> {
        let (coverage, target) = (self.suite.coverage(), self.aim.as_ref().and_then(Aim::target));
        let (program, structure, pool) = (self.program, &self.structure, &self.pool);
        self.strategy.next(&View { program, coverage, structure, pool, target }, &mut self.rng)
    }

    /// Aims at another pair when the present one is covered or has had its time.
    fn keep_aim(&mut self) {
        let (coverage, now) = (self.suite.coverage(), self.context.clock.elapsed());
        if self.aim.as_mut().is_some_and(|aim| aim.is_over(coverage, now, self.options.per_goal)) {
            self.aim_anew();
        }
    }

    /// Aims at the next pair; false when there is none to aim at.
    fn aim_anew(&mut self) -> bool {
        let Some(aim) = &mut self.aim else { return false };
        let (coverage, now) = (self.suite.coverage(), self.context.clock.elapsed());
        let executions = self.result.executions;
        aim.finish(coverage, now, executions);
        let is_aimed = aim.next(coverage, now, executions);
        if is_aimed {
            let runs: Vec<RunId> = self.pool.open_runs().take(MAX_FOLLOWED).collect();
            runs.into_iter().for_each(|run| self.measure_progress(run));
        }
        let target = self.aim.as_ref().and_then(Aim::target);
        let (program, structure, pool) = (self.program, &self.structure, &self.pool);
        self.strategy.aim(&View { program, coverage: self.suite.coverage(), structure, pool, target });
        is_aimed
    }

    /// Finds out how much of the way to the present pair a run went.
    fn measure_progress(&mut self, run: RunId) {
        let Some(aim) = &mut self.aim else { return };
        let (Some(path), Some(target)) = (&self.pool.run(run).path, aim.target()) else { return };
        let mut follower = target.follower(self.program, aim.flow());
        // a path that was understood before is so again
        if self.context.tracer.follow_path(path, &mut follower).is_ok() {
            let progress = follower.finish();
            aim.target_mut().expect("there is a target").add(run, progress);
        }
    }

    /// What to try when the strategy has nothing left: more room, then other values where runs were pinned, then queries
    /// that took too long, then accesses outside of their objects.
    fn last_resort(&mut self) -> Option<Resort> {
        if let Some(input) = self.growth.next(self.suite.tests(), &self.cells) {
            return Some(Resort::Grow(input));
        }
        let next = self.reserve.next().or_else(|| self.patience.again());
        next.or_else(|| self.questions.next()).map(Resort::Flip)
    }

    fn flip(&self, id: CandidateId) -> Job {
        let candidate = *self.pool.candidate(id);
        let parent = Arc::clone(&self.pool.run(candidate.run).input);
        let pinned = match candidate.turn {
            Turn::Step { .. } | Turn::Bounds { .. } => Vec::new(),
            Turn::Pin { .. } => self.pool.pinned_values(id),
        };
        let solver_limit = self.patience.limit();
        self.job(Task::Flip { parent, candidate, pinned, solver_limit }, Some(id))
    }

    fn job(&self, task: Task, origin: Option<CandidateId>) -> Job {
        Job { task, origin, targets: self.targets.clone() }
    }

    fn round(&mut self, crew: &mut Crew<'_>, jobs: Vec<Job>) {
        let origins: Vec<Origin> = jobs.iter().map(Job::origin).collect();
        for (report, origin) in crew.work(jobs).into_iter().zip(origins) {
            self.merge(report, origin);
        }
    }

    fn merge(&mut self, report: Report, origin: Origin) {
        let result = &mut self.result;
        result.queries.add(report.queries);
        result.n_overdue += report.n_overdue;
        result.re_executions += report.re_executions;
        result.timings.add(report.timings);
        if let Some(chance) = self.chance.as_mut().filter(|_| origin != Origin::Chance) {
            chance.earn(report.work);
        }
        if let Some(candidate) = origin.candidate() {
            self.strategy.cost(candidate, report.effort);
        }
        match report.outcome {
            worker::Outcome::Ran(ran) => self.take_in(*ran, origin),
            worker::Outcome::Tried { n_tries, effort, new } => {
                result.tries += n_tries as u64;
                if let Some(chance) = &mut self.chance {
                    chance.tried(n_tries, effort, new);
                }
            }
            worker::Outcome::Unsat | worker::Outcome::NoAlternative | worker::Outcome::Stopped => {}
            worker::Outcome::Unknown { timed_out } => {
                let postponed = timed_out && origin.candidate().is_some_and(|id| self.patience.postpone(id));
                result.n_unsolved += u64::from(!postponed);
            }
            worker::Outcome::NotRepeated => result.unrepeated += 1,
            worker::Outcome::BadExpressions { input, error } => {
                self.trouble(Trouble::Expressions { input, error });
            }
            worker::Outcome::Failed(error) => {
                self.failure.get_or_insert(error);
            }
        }
        let progress = self.progress();
        self.observer.worked(&progress);
    }

    fn take_in(&mut self, ran: Ran, origin: Origin) {
        self.result.executions += 1;
        self.result.shortages.add(ran.marks);
        self.cells.extend(ran.cells.iter().map(|cell| (Key(cell.key), (cell.width, cell.kind))));
        let asked = ran.asked();
        let trace = match ran.trace {
            Ok(trace) => trace,
            Err(error) => {
                self.trouble(Trouble::Trace { input: (*ran.input).clone(), error });
                return;
            }
        };
        if !trace.as_expected {
            let n_left =
                if ran.is_guess { &mut self.result.failed_guesses } else { &mut self.result.divergences };
            *n_left += 1;
        }
        if let Some(outside) = ran.outside {
            self.questions.answer(SpanId(outside.place));
        }
        match ran.checked {
            Ok(mismatches) => {
                self.result.n_mismatches += mismatches.len() as u64;
                let room = MAX_EXAMPLES.saturating_sub(self.result.mismatches.len());
                self.result.mismatches.extend(mismatches.into_iter().take(room));
            }
            Err(error) => self.trouble(Trouble::Expressions { input: (*ran.input).clone(), error }),
        }
        let kept = if ran.marks.rejected {
            Kept::default() // a run that the program's own assumption excludes is no test, but its path may be left
        } else {
            self.suite.take_in(&asked, ran.end, ran.output, &trace)
        };
        if origin != Origin::Chance || kept.n_new_goals > 0 {
            self.growth.ran(kept.n_new_goals > 0);
        }
        // what resembles an endless run is likely to be one
        if let Some(chance) = self.chance.as_mut().filter(|_| ran.end != End::TimedOut) {
            if let Some(idle) = &ran.idle {
                chance.learn(&ran.cells, idle);
            }
            match origin {
                Origin::Chance => chance.ran(&ran.input, &ran.cells, kept.changed),
                Origin::Given | Origin::Flipped(_) if kept.changed => chance.keep(&ran.cells),
                Origin::Given | Origin::Flipped(_) => {}
            }
        }
        if kept.n_new_goals > 0 {
            self.last_new = self.context.clock.elapsed();
        }
        let progress = self.progress();
        match kept.place {
            Some(Place::Test(index)) => self.observer.kept(&self.suite.tests()[index], &progress),
            Some(Place::Crash(index)) => self.observer.found(&self.suite.crashes()[index], &progress),
            Some(Place::Hang(index)) => self.observer.found(&self.suite.hangs()[index], &progress),
            None => {}
        }
        if self.strategy.uses_candidates() {
            if kept.changed {
                self.structure.refresh(self.suite.coverage());
                self.targets = targets(self.strategy.as_ref(), &self.structure, self.suite.coverage());
                self.pool.drop_irrelevant(&self.structure, self.suite.coverage());
            }
            let (input, nearness) = (ran.input, ran.nearness);
            let path = ran.path.filter(|path| self.n_path_bytes + path.size() <= MAX_PATH_BYTES);
            self.n_path_bytes += path.as_ref().map_or(0, PathLog::size);
            // without expressions there is nothing to flip
            if origin == Origin::Chance {
                return;
            }
            let origin = origin.candidate();
            self.collect(Run { input, origin, n_new_goals: kept.n_new_goals, nearness, path }, &trace);
        }
    }

    /// Takes the run's candidates into the pool; the strategy hears of steps, pins are held back.
    fn collect(&mut self, run: Run, trace: &Trace) {
        let origin = run.origin;
        let (program, coverage) = (self.program, self.suite.coverage());
        let mut judge = Judge { program, coverage, structure: &mut self.structure };
        let candidates = self.pool.add_run(&mut judge, run, trace);
        self.measure_progress(self.pool.newest_run());
        let (coverage, target) = (self.suite.coverage(), self.aim.as_ref().and_then(Aim::target));
        let view = View { program, coverage, structure: &self.structure, pool: &self.pool, target };
        let mut n_steps = 0;
        for id in candidates {
            match self.pool.candidate(id).turn {
                Turn::Step { .. } => {
                    self.strategy.add(id, &view);
                    n_steps += 1;
                }
                Turn::Pin { .. } => self.reserve.add(id),
                Turn::Bounds { place, .. } => self.questions.add(id, place),
            }
        }
        self.strategy.ran(self.pool.newest_run(), &view);
        let was_pin = origin.is_some_and(|id| matches!(self.pool.candidate(id).turn, Turn::Pin { .. }));
        if was_pin && n_steps > 0 {
            self.reserve.was_fruitful();
        }
    }

    fn trouble(&mut self, trouble: Trouble) {
        self.result.n_troubles += 1;
        if self.result.troubles.len() < MAX_EXAMPLES {
            self.result.troubles.push(trouble);
        }
    }

    fn progress(&self) -> Progress {
        Progress {
            elapsed: self.context.clock.elapsed(),
            executions: self.result.executions,
            n_goals: self.suite.coverage().n_goals(),
            n_covered: self.suite.coverage().n_covered(),
            n_candidates: self.pool.n_open(),
            n_tests: self.suite.tests().len(),
            n_crashes: self.suite.crashes().len(),
            n_hangs: self.suite.hangs().len(),
            queries: self.result.queries,
            n_recorded_left: self.result.n_recorded_left,
            last_new: self.last_new,
            time_left: self.context.deadline.get().map(|_| self.context.time_left()),
            executions_left: self
                .options
                .budget
                .executions
                .map(|most| most.saturating_sub(self.result.n_searched())),
            timings: self.result.timings,
        }
    }

    fn finish(self, stop: StopReason) -> CampaignResult {
        let mut result = self.result;
        let reason = match &stop {
            StopReason::Complete
            | StopReason::Budget(_)
            | StopReason::Interrupted
            | StopReason::Failed(_) => Reason::Budget,
            StopReason::Exhausted if self.pool.n_left_out() > 0 => Reason::Budget,
            StopReason::Exhausted if result.n_unsolved > 0 => Reason::Solver,
            StopReason::Exhausted if result.n_troubles > 0 || self.reserve.n_waiting() > 0 => {
                Reason::Unsupported
            }
            StopReason::Exhausted => Reason::Saturated,
        };
        if let Some(mut aim) = self.aim {
            aim.finish(self.suite.coverage(), self.context.clock.elapsed(), result.executions);
            result.searches = aim.searches();
        }
        self.suite.finish(reason, self.options.minimise, &mut result);
        result.n_unsolved += self.patience.n_waiting() as u64;
        result.candidates_left_out = self.pool.n_left_out();
        result.candidates_filtered = self.pool.n_filtered();
        result.seconds = self.context.clock.elapsed().as_secs_f64();
        result.stop = stop;
        result
    }
}

#[cfg(test)]
mod tests;
