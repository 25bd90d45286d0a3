//! One campaign, from a spec to a written report.
//!
//! In order: [`enter`] acquires the output directory and decides whether to start, to resume, or that nothing is left to
//! do; [`run`] builds the subject, searches, minimises the suite, records expected results, writes the suite, has other
//! tools confirm it, measures it as it was written, and reports.

mod clean;
mod differing;
mod mutating;
mod stronger;
mod tidy;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::available_parallelism;
use std::time::Duration;

use cache::Cache;
use coverage::{Coverage, GoalId, TestId};
use engine::campaign::{
    self, Adviser, Budget, CampaignOptions, CampaignResult, Clock, Enums, Finding, GivenInput, GivenPlace,
    MemoryGauge, Observer, Progress, Provenance, Setup, StopReason, Test,
};
use engine::executor::{Executor, ExecutorOptions, ForkServer, Seat};
use frontend::instrument::Mode;
use model::input::Input;
use report::confirmation::Confirmation;
use report::differences::DifferencesRecord;
use report::mutation::MUTANTS_FILE;
use report::record::{Likeness, Summary};
use report::timeline::{TIMELINE_FILE, Timeline};
use report::versions::VERSIONS_FILE;
use report::words::counted;

use crate::allowance::effort_of;
use crate::background::wait_until;
use crate::chains;
use crate::confirm::confirm_claimed;
use crate::contradiction;
use crate::error::{Error, with_causes};
use crate::existing::ExistingTest;
use crate::export::{self, ExportFormat, ExportOptions, Exported};
use crate::fingerprint::Fingerprint;
use crate::finishing::{Cut, Plan as Times, Step, Stopwatch};
use crate::front::Front;
use crate::import;
use crate::interrupt::Interrupt;
use crate::kept_proofs;
use crate::likeness::Originals;
use crate::measure::SEARCH_LOG;
use crate::memory::{MemoryPlan, SystemMemory};
use crate::prove::{Proving, Remarks};
use crate::scope::narrow;
use crate::session::{Session, Since};
use crate::solvers::SolverChoice;
use crate::soundness::Pending;
use crate::spec::{BudgetSpec, Spec};
use crate::store::output::{Claim, Output};
use crate::store::recorder::Recorder;
use crate::store::resume::{self, Decision, Recorded};
use crate::store::run::{Run, RunState};
use crate::store::suite::{read_input, read_record};
use crate::store::writer::{self, Besides};
use crate::subject::{Need, Subject};
use crate::timeline::Keeper;
use crate::versions::{Before, Concern, since};
use crate::watcher::Watcher;

/// Even on a small budget an execution gets this long.
const SHORTEST_LIMIT: Duration = Duration::from_millis(250);

/// The part of the time for the search that is kept for differences to the version before.
const SHARE_OF_DIFFERENCES: u32 = 4;

/// A campaign to run.
#[derive(Clone, Debug)]
pub struct Order {
    pub spec: Spec,
    /// Where the paths of the spec start.
    pub root: PathBuf,
    /// The output directory.
    pub out: PathBuf,
    /// What watchers are told it is about, when it is one of several; the function's name otherwise.
    pub title: Option<String>,
    /// The command line, for the record.
    pub command: Vec<String>,
    /// When it must be over, building included; the budget alone counts when missing.
    pub until: Option<Until>,
    /// Start over, although an earlier run of the same could be resumed.
    pub fresh: bool,
    /// Search; otherwise only what was found earlier is executed again.
    pub searches: bool,
    /// Have other tools confirm the suite.
    pub confirm: bool,
    /// Write the tests in this format, too.
    pub format: Option<ExportFormat>,
}

/// When a campaign that is one of several must be over, by the session's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Until {
    /// The end of its turn.
    pub turn: Duration,
    /// What it gets after its build at least, however long that took.
    pub least: Duration,
    /// The end of everything.
    pub end: Duration,
}

impl Until {
    /// What there is for a campaign whose program is built now.
    fn left(self, now: Duration) -> Duration {
        self.turn.saturating_sub(now).max(self.least).min(self.end.saturating_sub(now))
    }
}

/// What became of an order.
pub enum Ended {
    /// Nothing was left to do: where the results are, and what they were.
    NothingLeft { root: PathBuf, summary: Box<Summary>, exported: Option<Exported> },
    /// Interrupted before the search began: what was found earlier is there still.
    Early { root: PathBuf, was_resumed: bool },
    /// The search went on until its end, or until it was interrupted.
    Searched(Box<Searched>),
}

/// A campaign that is over.
pub struct Searched {
    pub subject: Subject,
    pub result: CampaignResult,
    /// What new tests are like, when tests that were there already are augmented.
    pub likenesses: BTreeMap<TestId, Likeness>,
    pub summary: Summary,
    /// Differences to the version before, if one was named.
    pub differences: Option<DifferencesRecord>,
    pub confirmation: Option<Confirmation>,
    pub exported: Option<Exported>,
    /// How long building took, and each step after the search.
    pub built: Duration,
    pub finishing: Vec<(&'static str, Duration)>,
    /// Whether tests that were there already were augmented.
    pub is_augmented: bool,
    /// Whether a self-check was asked for.
    is_checked: bool,
}

impl Searched {
    /// Whether the user ended it.
    pub fn was_interrupted(&self) -> bool {
        matches!(self.result.stop, StopReason::Interrupted)
    }

    /// What Quarry itself did wrong, if anything, a line each.
    pub fn faults(&self) -> Vec<String> {
        if let StopReason::Failed(error) = &self.result.stop {
            return vec![with_causes(error)];
        }
        let mut lines = Vec::new();
        let CampaignResult { n_mismatches, n_unlike, .. } = &self.result;
        if *n_mismatches > 0 {
            lines.push(format!("self-check: {n_mismatches} expressions differ from the program"));
            lines.extend(self.result.mismatches.iter().map(|mismatch| format!("    {mismatch}")));
        }
        if self.is_checked && *n_unlike > 0 {
            lines.push(format!(
                "self-check: {n_unlike} executions went differently in a process of their own"
            ));
        }
        lines
    }
}

/// A directory to work in, or why there is nothing to do.
pub enum Entered {
    Work(Box<(Output, Run)>),
    Done(PathBuf, Box<Summary>),
}

/// Time for one execution.
pub fn execution_limit(budget: &BudgetSpec) -> Duration {
    (budget.time() / 20).clamp(SHORTEST_LIMIT, CampaignOptions::default().execution_limit)
}

/// Takes possession of the output directory.
pub fn enter(order: &Order, fingerprint: Fingerprint, session: &mut Session<'_>) -> Result<Entered, Error> {
    let claim = Claim::new(&order.out)?;
    let (decision, why) = resume::decide(&claim, &order.spec, &fingerprint, order.fresh);
    if let Some(why) = why {
        let old = claim.root().display();
        session.watcher.warn(&format!("{why} (the earlier results will be kept in {old}.old)"));
    }
    let mut run = Run::new(order.spec.clone(), &order.root, order.command.clone(), fingerprint);
    let output = match decision {
        Decision::Begin => claim.start_over()?,
        Decision::Done(mut summary) => {
            let root = claim.root().to_owned();
            if order.confirm && summary.confirmation.is_none() {
                let limit = execution_limit(&order.spec.budget);
                let confirmation = confirm_claimed(claim, limit, session.interrupt, session.cache)?;
                summary.confirmation = Some(confirmation.counts());
            }
            return Ok(Entered::Done(root, summary));
        }
        Decision::Resume(earlier) => {
            run.session = earlier.session + 1;
            claim.go_on()?
        }
    };
    Ok(Entered::Work(Box::new((output, run))))
}

/// Builds, searches, and leaves everything in the output directory. `front` has the sources if they are marked already.
pub fn run(
    order: &Order,
    front: Option<Arc<Front>>,
    output: &Output,
    mut run: Run,
    session: &mut Session<'_>,
) -> Result<Ended, Error> {
    let clock = Since::now(session.clock);
    let spec = &order.spec;
    session.watcher.begin(order.title.as_deref().unwrap_or(&run.function));
    let uses_expressions = spec.search.strategy()?.uses_candidates() || spec.search.self_check;
    let mode = if uses_expressions { Mode::Symbolic } else { Mode::Fast };
    let asked = (order.clone(), output.work(), session.cache.clone());
    let subject = match wait_until(order.until.map(|until| until.end), session, "building", move || {
        build(&asked.0, front, &asked.1, mode, &asked.2)
    }) {
        Err(Error::Interrupted(_)) if session.interrupt.is_requested() => {
            return Ok(Ended::Early { root: output.root().to_owned(), was_resumed: false });
        }
        built => built?,
    };
    let Session { interrupt, watcher, .. } = session;
    let (interrupt, watcher): (&Interrupt, &mut dyn Watcher) = (interrupt, *watcher);
    run.built(subject.function(), subject.inputs());
    if order.title.is_none() {
        watcher.begin(&run.function);
    }
    if let Some(format) = order.format {
        let is_program = spec.subject.program.is_some();
        export::check(format, subject.function(), spec.sources.files.len(), is_program)?;
    }
    let built = clock.elapsed();
    if interrupt.is_requested() {
        return Ok(Ended::Early { root: output.root().to_owned(), was_resumed: false });
    }
    let asked = spec.budget.time();
    let left = order.until.map_or(asked, |until| until.left(session.clock.elapsed()));
    // nothing is found in no time
    let checks = !spec.search.no_sanitize && !left.is_zero() && !subject.needs_tests_to_build();
    let strengthens = spec.strengthens() && order.searches;
    let times = Times::new(subject.program(), &spec.budget, left, (checks, strengthens));
    let times = if order.until.is_some() { times.strict() } else { times };
    let times = match (&spec.criteria.since, spec.criteria.equivalent) {
        (None, _) if spec.criteria.counts_mutants() => times.setting_aside(2),
        (None, _) => times,
        (Some(_), false) => times.setting_aside(SHARE_OF_DIFFERENCES),
        (Some(_), true) => times.setting_aside(2),
    };
    let since_built = Since::now(session.clock);
    let existing = match existing_tests(order, &subject, &output.work(), interrupt, watcher) {
        Err(Error::Interrupted(_)) if interrupt.is_requested() => {
            return Ok(Ended::Early { root: output.root().to_owned(), was_resumed: false });
        }
        existing => existing?,
    };
    let work = Work {
        existing: &existing,
        order,
        output,
        subject: &subject,
        mode,
        session: run.session,
        interrupt,
        times,
        clock: &since_built,
    };
    let mut plan = work.plan()?;
    // nothing that was asked is wrong: from here on the directory is this run's
    output.begin(&run)?;
    output.write("harness/harness.c", &subject.harness())?;
    let before = plan.before.take();
    plan.is_narrow = before.as_ref().is_some_and(|before| before.is_narrow);
    if let Some(before) = &before {
        output.write_json(VERSIONS_FILE, &before.record)?;
    }
    // while the search runs: it is needed when that is over
    let sanitized = checks.then(|| Pending::start(&subject, output.work().join("sanitizers")));
    let (mut result, timeline) = work.search(plan, session.clock, watcher)?;
    watcher.clear();
    work.check_against_proofs(&result)?;
    if result.n_recorded_left > 0 {
        // what is there is more than what this run knows
        return Ok(Ended::Early { root: output.root().to_owned(), was_resumed: true });
    }
    run.state = RunState::Finished;
    work.times.search_ended(since_built.elapsed());
    let mut stopwatch = Stopwatch::start(&since_built);
    let mut expected = work.tidy_up(&mut result, sanitized, watcher, &mut stopwatch)?;
    watcher.clear();
    let began = since_built.elapsed();
    let mutation = if spec.criteria.counts_mutants() {
        Some(work.kill_mutants(&mut result, &mut expected, watcher)?)
    } else {
        None
    };
    stopwatch.note("kill mutants");
    let differences = before.map(|before| work.differences(&before, &result, watcher)).transpose()?;
    work.times.aside_ended(since_built.elapsed().saturating_sub(began));
    stopwatch.note("compare versions");
    let n_differences = differences.as_ref().map(|found| found.differences.len());
    let likenesses = work.likenesses(&result);
    let originals = writer::Originals { tests: &existing, likenesses: &likenesses };
    let found = Besides { n_differences, mutation: mutation.as_ref() };
    let mut summary = writer::write(output, &subject, &result, originals, &expected, &found, run)?;
    if let Some(mutation) = &mutation {
        output.write_json(MUTANTS_FILE, mutation)?;
    }
    if let Some(found) = &differences {
        differing::write(output, &subject, found)?;
    }
    chains::write(output, &subject, &result.chases)?;
    stopwatch.note("write");
    work.check_against_proofs(&result)?;
    let confirmation = if order.confirm { work.confirm(watcher) } else { None };
    summary.confirmation = confirmation.as_ref().map(Confirmation::counts);
    stopwatch.note("confirm");
    if let Err(error) = work.report(&timeline) {
        // what was found is written all the same
        watcher.warn(&format!("cannot write the report: {}", error.message()));
    }
    stopwatch.note("report");
    let exported = write_format(order, output.root(), interrupt, session.cache)?;
    stopwatch.note("export");
    let finishing = stopwatch.steps;
    let (is_checked, is_augmented) = (spec.search.self_check, spec.augment.is_some());
    let searched = Searched {
        subject,
        result,
        likenesses,
        summary,
        differences,
        confirmation,
        exported,
        built,
        finishing,
        is_augmented,
        is_checked,
    };
    Ok(Ended::Searched(Box::new(searched)))
}

/// Writes the tests in a format of other tools, if that was asked for.
pub fn write_format(
    order: &Order,
    root: &Path,
    interrupt: &Interrupt,
    cache: &Cache,
) -> Result<Option<Exported>, Error> {
    let write = |format| export::write(root, &ExportOptions::usual(root, format, interrupt, cache));
    order.format.map(write).transpose()
}

fn build(
    order: &Order,
    front: Option<Arc<Front>>,
    work: &Path,
    mode: Mode,
    cache: &Cache,
) -> Result<Subject, Error> {
    let Order { spec, root, .. } = order;
    match front {
        Some(front) => Subject::of_front(front, spec, root, Need::Mode(mode)),
        None => Subject::build(spec, root, work, Need::Mode(mode), cache),
    }
}

/// Every session makes other choices, or chance would repeat itself; the first one those of the seed itself.
fn seed(seed: u64, session: u32) -> u64 {
    seed.wrapping_add(u64::from(session - 1).wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

/// Hears a campaign for the person who waits, and for those who come later.
struct Watch<'a> {
    watcher: &'a mut dyn Watcher,
    recorder: Recorder<'a>,
}

impl Observer for Watch<'_> {
    fn worked(&mut self, progress: &Progress) {
        self.recorder.worked(progress);
        self.watcher.worked(progress);
    }

    fn kept(&mut self, test: &Test, progress: &Progress) {
        self.recorder.kept(test, progress);
        self.watcher.kept(test, progress);
    }

    fn found(&mut self, finding: &Finding, progress: &Progress) {
        self.recorder.found(finding, progress);
        self.watcher.found(finding, progress);
    }

    fn asked(&mut self, _: &Progress) {
        self.watcher.step("proving");
    }

    fn decided(&mut self, goal: GoalId, coverage: &Coverage, progress: &Progress) {
        self.recorder.decided(goal, coverage, progress);
    }
}

/// Says what the prover did that does not count.
fn tell_of_proofs(remarks: &Remarks, watcher: &mut dyn Watcher) {
    if let Some(why) = &remarks.disagreement {
        let n_inputs = counted(remarks.n_disagreements, "input");
        watcher.remark(&format!("{n_inputs} of the prover did not cover the goal: {why}"));
    }
    if let Some(why) = &remarks.unchecked {
        let n_proofs = counted(remarks.n_unchecked, "proof");
        watcher.warn(&format!("{n_proofs} not accepted by the checker and not used: {why}"));
    }
}

/// The tests that are there already, as inputs; those that cannot be expressed are named.
fn existing_tests(
    order: &Order,
    subject: &Subject,
    work: &Path,
    interrupt: &Interrupt,
    watcher: &mut dyn Watcher,
) -> Result<Vec<ExistingTest>, Error> {
    if order.spec.tests.tests.is_empty() {
        return Ok(Vec::new());
    }
    let mut found = import::read(&order.spec, &order.root)?;
    let runs = import::calls::TestRuns {
        asked: &order.spec.tests,
        work,
        limit: CampaignOptions::default().execution_limit,
        interrupt: interrupt.flag(),
    };
    let n_notes = found.notes.len();
    import::calls::record(&mut found, subject, &runs)?;
    found.notes[n_notes..].iter().for_each(|note| watcher.remark(note));
    let resolved = import::resolve(subject, &found);
    for import::LeftOut { name, origin, why } in &resolved.left_out {
        watcher.remark(&format!("{name} ({origin}) is left out: {why}"));
    }
    if resolved.tests.is_empty() {
        return Err(import::nothing(&resolved.left_out));
    }
    Ok(resolved.tests)
}

fn given_input(input: Input, provenance: Provenance, place: GivenPlace) -> GivenInput {
    GivenInput { input, provenance, place }
}

/// A campaign whose program is built.
struct Work<'a> {
    order: &'a Order,
    output: &'a Output,
    subject: &'a Subject,
    /// Tests that were there already, which keep their names.
    existing: &'a [ExistingTest],
    mode: Mode,
    /// How often the campaign was started.
    session: u32,
    interrupt: &'a Interrupt,
    times: Times,
    /// Counts since the program was built.
    clock: &'a (dyn Clock + Sync),
}

/// What a search needs, checked.
struct Plan {
    coverage: Coverage,
    /// The version before, if one was named.
    before: Option<Box<Before>>,
    /// Whether few of all goals count.
    is_narrow: bool,
    solver: SolverChoice,
    /// The inputs to begin with.
    given: Vec<GivenInput>,
}

impl Work<'_> {
    /// Ends a step that comes after the search when its time is over.
    fn cut(&self, step: Step) -> Cut {
        Cut::new(self.interrupt, step, self.times.left(step, self.clock.elapsed()))
    }

    fn memory(&self) -> MemoryPlan {
        let budget = &self.order.spec.budget;
        MemoryPlan::new(budget.memory, budget.workers())
    }

    fn limit(&self) -> Duration {
        execution_limit(&self.order.spec.budget)
    }

    /// What the search needs, from what was asked.
    fn plan(&self) -> Result<Plan, Error> {
        let Spec { criteria: wanted, search, .. } = &self.order.spec;
        let criteria = wanted.criteria()?;
        let program = self.subject.program();
        let scope = narrow(program, self.subject.scope()?, &criteria, &wanted.only, self.subject.root())?;
        let coverage = Coverage::new(program, &scope, &criteria);
        let (coverage, before) = match since(&self.order.spec, self.subject, coverage)? {
            Concern::All(coverage) => (coverage, None),
            Concern::Change(coverage, before) => (coverage, Some(before)),
        };
        Ok(Plan {
            coverage,
            before,
            is_narrow: false,
            solver: SolverChoice::parse(&search.solver)?,
            given: self.first_inputs()?,
        })
    }

    /// Searches until the goals are covered or the budget ends.
    fn search(
        &self,
        plan: Plan,
        clock: &(dyn Clock + Sync),
        watcher: &mut dyn Watcher,
    ) -> Result<(CampaignResult, Timeline), Error> {
        let Spec { search, budget, .. } = &self.order.spec;
        let program = self.subject.program();
        let Plan { mut coverage, solver, mut given, before: _, is_narrow } = plan;
        let recorded = Recorded::read(self.output.root(), self.subject)?;
        recorded.unread.iter().for_each(|file| watcher.warn(file));
        if self.session > 1 && self.order.title.is_none() {
            let n_inputs = counted(recorded.inputs.len(), "input");
            watcher.remark(&format!("resuming from {n_inputs} found earlier (--fresh starts over)"));
        }
        kept_proofs::take_over(self.output.root(), program, &mut coverage);
        let recorder = Recorder::new(
            self.output,
            self.subject,
            coverage.clone(),
            &recorded,
            self.session,
            self.interrupt,
        )?;
        let resumed = recorded.inputs.into_iter();
        given.extend(resumed.map(|(input, from)| given_input(input, from, GivenPlace::BeforeBudget)));
        let time = if self.order.searches { self.times.search } else { Duration::ZERO };
        let options = CampaignOptions {
            given,
            searches: !budget.prove_only,
            ..self.options(Budget { time: Some(time), executions: budget.max_executions })
        };
        // with a budget of executions nothing depends on the moment
        let gauge = budget.max_executions.is_none().then_some(&SystemMemory as &dyn MemoryGauge);
        let mut proving = self.proving();
        let setup = Setup {
            memory: gauge,
            program,
            coverage,
            strategy: if is_narrow { search.narrow_strategy()? } else { search.strategy()? },
            executors: self.executors()?,
            solver: &|| solver.make(self.interrupt.flag().into()),
            clock: &Since::now(clock),
            interrupt: self.interrupt.flag(),
            adviser: proving.as_mut().map(|proving| proving as &mut dyn Adviser),
        };
        let earlier = read_record(&self.output.root().join(TIMELINE_FILE)).unwrap_or_default();
        let mut watch = Watch { watcher, recorder };
        let mut keeper = Keeper::new(&mut watch, earlier);
        let result = campaign::run(setup, &options, &mut keeper);
        let timeline = keeper.finish();
        watch.watcher.clear();
        if result.n_overdue > 0 {
            let n_queries = match result.n_overdue {
                1 => "1 query".to_owned(),
                n => format!("{n} queries"),
            };
            watch.watcher.remark(&format!(
                "{n_queries} took the solver far longer than usual and were given up: the same seed may find other inputs"
            ));
        }
        watch.recorder.finish()?;
        if let Some(proving) = proving {
            tell_of_proofs(&proving.finish(&result.coverage)?, watch.watcher);
        }
        Ok((result, timeline))
    }

    /// How a search with this budget is done.
    fn options(&self, budget: Budget) -> CampaignOptions {
        let Spec { search, budget: asked, .. } = &self.order.spec;
        let mut options = CampaignOptions {
            seed: seed(search.seed, self.session),
            budget,
            effort: effort_of(asked.time()),
            execution_limit: self.limit(),
            self_check: search.self_check,
            augment: self
                .order
                .spec
                .augment
                .as_ref()
                .map(|augment| augment.options(self.subject.invocation_shape())),
            enums: Enums::of(self.subject.shape()),
            whole_program: self.order.spec.subject.program.is_some(),
            invocation: self.subject.invocation_shape().cloned(),
            filter: !search.no_filter,
            // only tests that nothing is wrong with can take the place of others
            minimise: false,
            per_goal: asked.time_per_goal(),
            prune_redefinitions: !search.no_redefinition_pruning,
            limited_stubs: self.subject.limited_stubs(),
            limits: self.subject.input_limits(),
            ..CampaignOptions::default()
        };
        self.memory().bound(&mut options);
        options
    }

    /// The prover, if it is to be asked.
    fn proving(&self) -> Option<Proving<'_>> {
        let Spec { budget, .. } = &self.order.spec;
        let end = budget.max_executions.is_none().then_some((self.clock as &dyn Clock, self.times.search));
        let is_asked = self.order.searches && self.order.spec.proves();
        is_asked.then(|| Proving::new(self.subject, self.output, budget.prover, self.interrupt, end))
    }

    /// Which of the tests that were there already the new ones are like.
    fn likenesses(&self, result: &CampaignResult) -> BTreeMap<TestId, Likeness> {
        if self.order.spec.augment.is_none() {
            return BTreeMap::new();
        }
        let originals = Originals::of(self.subject, self.existing);
        let new = result.tests.iter().filter(|test| test.provenance.imported().is_none());
        new.filter_map(|test| Some((test.id, originals.likeness(&test.input)?))).collect()
    }

    /// Fails when a run covers what a proof calls infeasible. What was found is in the journal.
    fn check_against_proofs(&self, result: &CampaignResult) -> Result<(), Error> {
        let input = |test: &Test| writer::test_text(self.subject, &result.coverage, test);
        let Some(found) = contradiction::find(result, input) else { return Ok(()) };
        let (root, program) = (self.output.root(), self.subject.program());
        Err(found.keep(root, program, &result.coverage, &self.order.command))
    }

    /// Whether a process has many executions.
    fn reuses_processes(&self) -> bool {
        !self.order.spec.budget.fork_each
    }

    fn executors(&self) -> Result<Vec<Box<dyn Executor + Send>>, Error> {
        self.executors_of(self.subject, self.mode, "run")
    }

    /// The same of another program, in directories of this name.
    fn executors_of(
        &self,
        subject: &Subject,
        mode: Mode,
        name: &str,
    ) -> Result<Vec<Box<dyn Executor + Send>>, Error> {
        self.executors_with(subject, mode, name, &[])
    }

    /// The same, started with these arguments, which are no input.
    fn executors_with(
        &self,
        subject: &Subject,
        mode: Mode,
        name: &str,
        arguments: &[String],
    ) -> Result<Vec<Box<dyn Executor + Send>>, Error> {
        let binary = subject.binary(mode);
        let n_workers = self.order.spec.budget.workers().get();
        let has_room = n_workers == 1 || available_parallelism().is_ok_and(|most| most.get() >= n_workers);
        let executor = |(number, seat): (usize, Seat)| {
            let directory = self.output.work().join(format!("{name}{number}"));
            let mut options = ExecutorOptions::new(binary, directory, subject.program().pointer_bits);
            options.layout.log_capacity = SEARCH_LOG;
            options.arguments = arguments.to_vec();
            options.reuse = self.reuses_processes();
            options.seat = has_room.then_some(seat);
            options.interrupt = self.interrupt.flag();
            self.memory().bound_executor(&mut options);
            let server = ForkServer::new(options).map_err(Error::internal)?;
            Ok(Box::new(server) as Box<dyn Executor + Send>)
        };
        Seat::among(n_workers).into_iter().enumerate().map(executor).collect()
    }

    /// The inputs to begin with: the user's; for a program nothing at first, then what its text says of its input, then some of
    /// everything, because what it asks for grows from there.
    fn first_inputs(&self) -> Result<Vec<GivenInput>, Error> {
        let Spec { search, subject, .. } = &self.order.spec;
        // they are run first and whatever the budget: what they cover is there already
        let existing = self.existing.iter().zip(1..).map(|(test, number)| {
            given_input(test.input.clone(), Provenance::Imported(number), GivenPlace::BeforeBudget)
        });
        let mut given: Vec<GivenInput> = existing.collect();
        if let Some(file) = &search.first_input {
            let input = read_input(&self.subject.root().join(file), self.subject)
                .map_err(|error| Error::usage(format!("{} {error}", file.display())))?;
            given.push(given_input(input, Provenance::Given, GivenPlace::First));
        } else if subject.program.is_some() {
            given.push(given_input(Input::default(), Provenance::Zero, GivenPlace::First));
            let made = self.subject.invocations_by_dictionary().into_iter();
            given
                .extend(made.map(|input| given_input(input, Provenance::Dictionary, GivenPlace::AfterFirst)));
            let full = self.subject.full_invocation().into_iter();
            given.extend(full.map(|input| given_input(input, Provenance::Full, GivenPlace::AfterFirst)));
        }
        Ok(given)
    }
}
