//! What does a campaign know so far?

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use coverage::Coverage;
use coverage::structure::{OutlookId, Structure};
use model::Program;

use super::evidence::Evidence;
use super::held::{HeldRun, HeldRuns};
use super::reaching::Reaching;
use super::source::{CampaignView, KnownCells};
use super::suite::Suite;
use super::worker::{Context, Parent};
use super::{
    BudgetKind, CampaignError, CampaignOptions, CampaignResult, MemoryGauge, Progress, StopReason, Trouble,
};
use crate::branch_distance::OpenBranches;
use crate::pool::{Candidate, CandidateId, Judge, Pool, Run, RunId};
use crate::strategy::Strategy;
use crate::terms::KeptExpressions;
use crate::trace::{PathLog, Trace};

/// Bytes of paths that are kept to be walked again.
const MAX_PATH_BYTES: usize = 64 << 20;
/// Jobs between two looks at memory, and how often what is held is halved before new candidates are left out.
const JOBS_PER_LOOK: u32 = 128;
const MAX_HALVINGS: u64 = 4;
/// Effort of an execution that takes about half a millisecond.
const LONG_RUN: u64 = 64;
/// Inputs for a candidate's outcome that take another path, for each outlook.
const MAX_LEFT_PATHS: u32 = 4;
/// How many examples of one trouble are kept.
pub(super) const MAX_EXAMPLES: usize = 20;

pub(super) struct State<'a> {
    program: &'a Program,
    options: &'a CampaignOptions,
    context: &'a Context<'a>,
    pub(super) pool: Pool,
    held: HeldRuns,
    /// Kept when the strategy chains.
    reaching: Reaching,
    chains: bool,
    structure: Structure<'a>,
    /// Outcomes whose branch distance runs are measured for.
    targets: Option<Arc<OpenBranches>>,
    /// Whether the strategy wants them, and candidates.
    wants_branch_distances: bool,
    pub(super) uses_candidates: bool,
    pub(super) suite: Suite,
    /// By outlook: inputs with the outcome that take another path than the candidate's.
    n_left_paths: BTreeMap<OutlookId, u32>,
    /// What is known about goals that stay open.
    pub(super) evidence: Evidence,
    /// Every cell that a run asked for.
    pub(super) cells: KnownCells,
    pub(super) result: CampaignResult,
    pub(super) failure: Option<CampaignError>,
    /// Whether the adviser asked to end everything.
    pub(super) is_broken: bool,
    /// Jobs until the next look at memory.
    n_until_look: u32,
    /// Bytes of paths that are kept.
    n_path_bytes: usize,
    /// When a goal was covered last.
    last_new: Duration,
}

impl<'a> State<'a> {
    pub(super) fn new(
        program: &'a Program,
        options: &'a CampaignOptions,
        context: &'a Context<'a>,
        coverage: Coverage,
        strategy: &dyn Strategy,
    ) -> Self {
        let structure = Structure::new(context.tracer.marking(), &coverage);
        let mut state = Self {
            program,
            options,
            context,
            pool: Pool::new(options.max_candidates_per_run, options.max_candidates, options.filter),
            held: HeldRuns::new(options.max_bytes_held),
            reaching: Reaching::default(),
            chains: strategy.chains().of(program),
            structure,
            targets: None,
            wants_branch_distances: strategy.wants_branch_distances(),
            uses_candidates: strategy.uses_candidates(),
            suite: Suite::new(coverage, options.crashes_cover, options.augment.is_some()),
            n_left_paths: BTreeMap::new(),
            evidence: Evidence::new(context.tracer.marking()),
            cells: BTreeMap::new(),
            result: CampaignResult::default(),
            failure: None,
            is_broken: false,
            n_until_look: JOBS_PER_LOOK,
            n_path_bytes: 0,
            last_new: Duration::ZERO,
        };
        if options.self_check {
            state.pool.keep_refuted();
        }
        if options.augment.is_some() {
            state.pool.keep_flips();
        }
        state.find_targets();
        state
    }

    pub(super) fn view(&self) -> CampaignView<'_> {
        CampaignView {
            program: self.program,
            tracer: self.context.tracer,
            clock: self.context.clock,
            coverage: self.suite.coverage(),
            facts: &self.evidence.facts,
            reaching: &self.reaching,
            structure: &self.structure,
            pool: &self.pool,
            tests: self.suite.tests(),
            cells: &self.cells,
            enums: &self.options.enums,
            is_blind: self.evidence.facts.is_blind(),
            executions: self.result.executions,
            n_searched: self.result.n_searched(),
        }
    }

    pub(super) fn coverage(&self) -> &Coverage {
        self.suite.coverage()
    }

    pub(super) fn targets(&self) -> Option<Arc<OpenBranches>> {
        self.targets.clone()
    }

    fn find_targets(&mut self) {
        let coverage = self.suite.coverage();
        self.targets = self.wants_branch_distances.then(|| Arc::new(self.structure.targets(coverage)));
    }

    /// Lets the time of the budget begin.
    pub(super) fn start_budget(&self) {
        if let Some(budget) = self.options.budget.time {
            self.context.deadline.get_or_init(|| self.context.clock.elapsed() + budget);
        }
    }

    /// Whether the campaign ends without regard to what is covered or spent.
    pub(super) fn is_cut_short(&self) -> bool {
        self.context.is_interrupted() || self.failure.is_some() || self.is_broken
    }

    /// Why there is nothing more to do, if so; `is_all_asked` says whether no bounds query is left.
    pub(super) fn reason_to_stop(&mut self, is_all_asked: bool) -> Option<StopReason> {
        if let Some(error) = self.failure.take() {
            return Some(StopReason::Failed(error));
        }
        if self.context.is_interrupted() || self.is_broken {
            return Some(StopReason::Interrupted);
        }
        let coverage = self.suite.coverage();
        let has_enough = self.options.enough.is_some_and(|goal| !coverage.is_open(goal));
        let is_done = has_enough || (coverage.is_complete() && is_all_asked);
        // there should be a test even when there are no goals
        if is_done && self.result.executions > 0 {
            return Some(StopReason::Complete);
        }
        self.spent().map(StopReason::Budget)
    }

    fn spent(&self) -> Option<BudgetKind> {
        if self.context.time_left().is_zero() {
            return Some(BudgetKind::Time);
        }
        (self.executions_left() == Some(0)).then_some(BudgetKind::Executions)
    }

    /// The time of the budget, and what is left of it; nothing where executions are counted.
    pub(super) fn time(&self) -> Option<(Duration, Duration)> {
        let budget = &self.options.budget;
        budget.executions.is_none().then_some((budget.time?, self.context.time_left()))
    }

    /// Whether executions take long, when the last one took this effort. A whole program starts anew for each.
    pub(super) fn has_long_runs(&self, effort: u64) -> bool {
        self.options.whole_program || effort >= LONG_RUN
    }

    pub(super) fn searches(&self) -> bool {
        self.options.searches
    }

    pub(super) fn executions_left(&self) -> Option<u64> {
        self.options.budget.executions.map(|most| most.saturating_sub(self.result.n_searched()))
    }

    /// Closes a candidate; false when a run has taken its path meanwhile or nothing open can be reached by it.
    pub(super) fn take_candidate(&mut self, id: CandidateId) -> bool {
        self.pool.take(id);
        self.view().admits(id)
    }

    /// Notes that a goal was covered just now.
    pub(super) fn note_new_goal(&mut self) {
        self.last_new = self.context.clock.elapsed();
    }

    /// Looks at everything again that depends on which goals are open.
    pub(super) fn refresh(&mut self) {
        if self.uses_candidates {
            self.structure.refresh(self.suite.coverage());
            self.find_targets();
            self.pool.drop_irrelevant(&self.structure, self.suite.coverage());
        }
    }

    /// Takes a run's candidates into the pool, and holds what queries about them need.
    pub(super) fn collect(
        &mut self,
        run: Run,
        trace: Trace,
        expressions: Option<KeptExpressions>,
    ) -> Vec<CandidateId> {
        let path = run.path.filter(|path| self.n_path_bytes + path.size() <= MAX_PATH_BYTES);
        self.n_path_bytes += path.as_ref().map_or(0, PathLog::size);
        let (program, coverage) = (self.program, self.suite.coverage());
        let mut judge = Judge { program, coverage, structure: &mut self.structure };
        let candidates = self.pool.add_run(&mut judge, Run { path, ..run }, &trace);
        if self.chains {
            self.reaching.note(self.pool.newest_run(), &trace.observations);
        }
        if let Some(expressions) = expressions.filter(|_| self.chains || !candidates.is_empty()) {
            self.hold(self.pool.newest_run(), Arc::new(HeldRun::new(trace, expressions)));
        }
        candidates
    }

    /// Holds a run while there is room.
    pub(super) fn hold(&mut self, id: RunId, run: Arc<HeldRun>) {
        self.pool.take_closed_runs().into_iter().for_each(|id| self.held.close(id));
        self.held.hold(id, run, self.pool.has_open(id));
    }

    /// The run that a candidate leaves, to be asked about now.
    pub(super) fn parent(&mut self, run: RunId) -> Parent {
        let input = Arc::clone(&self.pool.run(run).input);
        Parent { input, held: self.held.take_up(run) }
    }

    /// Lets go of what can be made again when memory is short: half of the held runs, and then all new candidates.
    pub(super) fn keep_within_memory(&mut self, gauge: Option<&dyn MemoryGauge>) {
        let (Some(gauge), Some(most)) = (gauge, self.options.max_memory) else { return };
        self.n_until_look = self.n_until_look.checked_sub(1).unwrap_or(JOBS_PER_LOOK);
        if self.n_until_look > 0 || gauge.used() <= most {
            return;
        }
        self.result.n_memory_met += 1;
        self.held.halve();
        if self.result.n_memory_met > MAX_HALVINGS {
            self.pool.close_to_new();
        }
    }

    pub(super) fn trouble(&mut self, trouble: Trouble) {
        self.result.n_troubles += 1;
        if self.result.troubles.len() < MAX_EXAMPLES {
            self.result.troubles.push(trouble);
        }
    }

    pub(super) fn progress(&self) -> Progress {
        Progress {
            elapsed: self.context.clock.elapsed(),
            executions: self.result.executions,
            n_goals: self.suite.coverage().n_goals(),
            n_covered: self.suite.coverage().n_covered(),
            n_infeasible: self.suite.coverage().n_infeasible(),
            n_candidates: self.pool.n_open(),
            n_tests: self.suite.tests().len(),
            n_crashes: self.suite.crashes().len(),
            n_hangs: self.suite.hangs().len(),
            queries: self.result.queries,
            n_recorded_left: self.result.n_recorded_left,
            last_new: self.last_new,
            time_left: self.context.deadline.get().map(|_| self.context.time_left()),
            executions_left: self.executions_left(),
            timings: self.result.timings,
        }
    }

    /// Notes that a direction cannot be taken behind the prefix of a candidate, if it is one.
    pub(super) fn note_unsatisfiable(&mut self, id: CandidateId) {
        let candidate = self.pool.candidate(id);
        if let Some(direction) = candidate.branch() {
            let parent = &self.pool.run(candidate.run).input;
            self.evidence.unsatisfiable(direction, parent, &self.options.limits);
        }
    }

    /// Whether an input is worth an execution that has a candidate's outcome on another path. Texts of whole programs are looked at
    /// again and again.
    pub(super) fn may_leave_path(&self, candidate: &Candidate) -> bool {
        let n_left = self.n_left_paths.get(&candidate.outlook).copied().unwrap_or(0);
        self.options.invocation.is_some() && candidate.branch().is_some() && n_left < MAX_LEFT_PATHS
    }

    /// Notes such an input.
    pub(super) fn note_left_path(&mut self, id: CandidateId) {
        *self.n_left_paths.entry(self.pool.candidate(id).outlook).or_default() += 1;
        self.note_unsatisfiable(id);
    }

    pub(super) fn finish(self, stop: StopReason) -> CampaignResult {
        let mut result = self.result;
        result.candidates_left_out = self.pool.n_left_out();
        result.candidates_filtered = self.pool.n_filtered();
        result.candidates_refuted = self.pool.n_refuted();
        result.stop = stop;
        result.facts = self.evidence.finish(&self.pool);
        self.suite.finish(self.options.minimise, &mut result);
        let end = result.stop.search_end();
        let stubs = &self.options.limited_stubs;
        coverage::explain(&mut result.coverage, self.program, &result.facts, end, stubs);
        result.seconds = self.context.clock.elapsed().as_secs_f64();
        result
    }
}
