//! One worker: executes, follows paths, builds and solves queries. What it does depends on its jobs alone.
//!
//! A job brings what is held of the candidate's parent, so that no execution is needed to ask about it; a parent that is not
//! held is executed again. A job has two parts: what needs the worker's own terms and solver, and then the execution of an
//! input, which any worker can do ([`Order`]). A worker that is alone begins its next job while an input is executed.

mod confirm;
mod context;
mod job;
mod numeric;
mod query;
mod run_terms;

use std::collections::{BTreeMap, BTreeSet};
use std::mem;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use model::input::Input;
use model::walk::Site;
use smt::{Limit, Solving};
use wire::{Flags, LONGEST_TRY};

use super::effort::{Done, effort_of_tries};
use super::flights::JobNumber;
use super::held::{HeldRun, keep_expressions};
use super::pace::Pace;
use super::{Provenance, Queries, Timings};
use crate::branch_distance::{self, OpenBranches};
use crate::executor::{End, Executor, Tried, Values};
use crate::influence::cells_without_influence;
use crate::pool::{Candidate, RunId};
use crate::self_check;
use crate::terms::Expressions;
use crate::trace::{Choice, Expectation, PathLog, PrefixCache, TraceError};
use confirm::Confirming;
pub(super) use context::Context;
pub(super) use job::{Begun, ChangedSteps, Job, JobReport, Order, Outcome, Parent, Ran, Task};
use job::{Execute, Spent};
use query::Solved;
pub(super) use query::lost;
use run_terms::Dictionary;

/// A batch of tries has this fraction of the time of one execution.
const HURRY: u32 = 8;
/// Tries at a time when each has a process of its own.
pub(super) const MAX_SEPARATE_TRIES: usize = 64;

/// A candidate with what else is to be known of it.
struct Wanted {
    candidate: Candidate,
    pinned: Vec<u64>,
    may_leave_path: bool,
}

pub(super) struct Worker<'a> {
    context: &'a Context<'a>,
    executor: Box<dyn Executor + Send>,
    solving: Solving,
    /// Counts executions and the solver's steps.
    pace: Rc<Pace>,
    dictionary: Dictionary,
    /// Checkpoints of the last walk.
    prefixes: PrefixCache<'a>,
    /// Failed numeric searches per target outcome.
    n_failed_searches: BTreeMap<(Site, Choice), u32>,
    /// Expressions that runs of this job made, and bytes of their path logs.
    n_nodes: u64,
    n_walked: u64,
    n_overdue: u64,
    queries: Queries,
    re_executions: u64,
    confirming: Confirming,
    /// The parent that was executed again for this job.
    repeated: Option<(RunId, Arc<HeldRun>)>,
    timings: Timings,
    /// What is executed while the next job begins, and reports of what was.
    under_way: Option<UnderWay>,
    settled: Vec<(JobNumber, Box<JobReport>)>,
}

/// An execution that was started.
struct UnderWay {
    number: JobNumber,
    order: Order,
    started: Result<Started, Outcome>,
}

/// How an execution was started.
struct Started {
    flags: Flags,
    limit: Duration,
}

impl<'a> Worker<'a> {
    pub(super) fn new(
        context: &'a Context<'a>,
        executor: Box<dyn Executor + Send>,
        mut solving: Solving,
        pace: Pace,
    ) -> Self {
        let pace = Rc::new(pace);
        let solver_pace = Rc::clone(&pace);
        solving.on_step(Rc::new(move || solver_pace.step()));
        Self {
            context,
            executor,
            solving,
            pace,
            dictionary: Dictionary::default(),
            prefixes: PrefixCache::default(),
            n_failed_searches: BTreeMap::new(),
            n_nodes: 0,
            n_walked: 0,
            n_overdue: 0,
            queries: Queries::default(),
            re_executions: 0,
            confirming: Confirming::new(&context.goals, context.self_check),
            repeated: None,
            timings: Timings::default(),
            under_way: None,
            settled: Vec::new(),
        }
    }

    /// Does the part of a job that no other worker can do.
    pub(super) fn begin(&mut self, job: Job) -> Begun {
        self.pace.begin(0);
        let effort_before = self.solving.stats().effort;
        self.dictionary.limit();
        let terms_before = self.dictionary.n_terms();
        let begun = match job.task {
            Task::Run { input, provenance, symbolic } => Ok(Execute::new(input, provenance, symbolic)),
            Task::TryAll(tries) => Err(self.try_all(&tries).unwrap_or_else(|outcome| outcome)),
            Task::Flip { parent, candidate, pinned, may_leave_path, solver_limit } => {
                self.flip(&parent, &Wanted { candidate, pinned, may_leave_path }, solver_limit)
            }
            Task::Change { parent, run, steps, solver_limit } => {
                self.change(&parent, run, &steps, solver_limit)
            }
            Task::Read(input) => Err(self.read(&input).unwrap_or_else(|outcome| outcome)),
        };
        let mut spent = self.take_spent();
        spent.solver_effort = self.solving.stats().effort - effort_before;
        spent.done.n_terms = (self.dictionary.n_terms() - terms_before) as u64;
        match begun {
            Ok(execute) => {
                let (targets, n_steps) = (job.targets, self.pace.n_steps());
                Begun::ToExecute(Box::new(Order { execute, targets, spent, n_steps }))
            }
            Err(outcome) => Begun::Done(Box::new(spent.report(outcome))),
        }
    }

    /// Does the rest of a job, which this or another worker began.
    pub(super) fn finish(&mut self, order: Order) -> JobReport {
        let started = self.start_order(&order, false);
        self.end(order, started)
    }

    /// Starts the rest of a job, which is executed while this worker does something else if `beside`; [`Self::settle`] ends it.
    pub(super) fn start(&mut self, number: JobNumber, order: Order, beside: bool) {
        self.settle();
        let started = self.start_order(&order, beside);
        self.under_way = Some(UnderWay { number, order, started });
    }

    /// Waits for what is under way, if anything is. Must come before the executor is used for something else.
    pub(super) fn settle(&mut self) {
        let Some(UnderWay { number, mut order, started }) = self.under_way.take() else { return };
        // what the job that has begun meanwhile took is not part of this one
        let (n_steps, mut other) = (self.pace.n_steps(), self.take_spent());
        order.spent.processes.add(mem::take(&mut other.processes));
        let report = self.end(order, started);
        self.settled.push((number, Box::new(report)));
        self.pace.begin(n_steps);
        self.give_back(other);
    }

    /// Reports of what was settled.
    pub(super) fn take_settled(&mut self) -> Vec<(JobNumber, Box<JobReport>)> {
        mem::take(&mut self.settled)
    }

    fn start_order(&mut self, order: &Order, beside: bool) -> Result<Started, Outcome> {
        self.pace.begin(order.n_steps);
        self.start_run(&order.execute.input, order.execute.symbolic && self.context.symbolic, beside)
    }

    fn end(&mut self, order: Order, started: Result<Started, Outcome>) -> JobReport {
        let Order { execute, targets, mut spent, .. } = order;
        let Execute { input, provenance, symbolic, expectation, is_guess, given_up, leaves_path } = execute;
        let ran = started.and_then(|started| match symbolic {
            true => self.execute(started, input, expectation, targets.as_deref()),
            false => self.end_run(started, input, expectation),
        });
        let second = self.take_spent();
        let length = second.done.effort();
        let outcome = match ran {
            Ok(ran) => {
                let ran = Ran { is_guess, given_up, leaves_path, length, ..ran };
                Outcome::Ran { ran: Box::new(ran), provenance }
            }
            Err(outcome) => outcome,
        };
        spent.add(second);
        spent.report(outcome)
    }

    /// What was spent since this was asked last, without what the solver did.
    fn take_spent(&mut self) -> Spent {
        let (n_nodes, n_walked) = (mem::take(&mut self.n_nodes), mem::take(&mut self.n_walked));
        Spent {
            queries: mem::take(&mut self.queries),
            solver_effort: 0,
            done: Done { n_nodes, n_walked, ..Done::default() },
            n_overdue: mem::take(&mut self.n_overdue),
            re_executions: mem::take(&mut self.re_executions),
            n_unlike: self.confirming.take_unlike(),
            processes: self.executor.take_counts(),
            repeated: self.repeated.take(),
            timings: mem::take(&mut self.timings),
        }
    }

    /// Takes back what a job spent without the executor.
    fn give_back(&mut self, spent: Spent) {
        self.queries.add(spent.queries);
        self.n_overdue += spent.n_overdue;
        self.timings.add(spent.timings);
    }

    /// Solves a candidate; what is to be executed for it.
    fn flip(&mut self, parent: &Parent, wanted: &Wanted, limit: Limit) -> Result<Execute, Outcome> {
        let held = match &parent.held {
            Some(held) => Arc::clone(held),
            None => self.repeat(parent, wanted.candidate.run)?,
        };
        let query = self.query(&held, &parent.input, wanted)?;
        let solved = if self.dictionary.vocabulary.store().is_false(query.goal) {
            Err(Outcome::NoAlternative)
        } else {
            self.solve_preferring(&parent.input, &query, limit)
        };
        let (solved, provenance) = match solved {
            Ok(solved) => (solved, Provenance::Solved),
            Err(reason) => match self.try_numbers(&parent.input, &held, wanted, (reason, query.meets)) {
                Ok(input) => {
                    (Solved { input, is_guess: false, given_up: BTreeSet::new() }, Provenance::Numeric)
                }
                Err(Outcome::Unsat) if wanted.may_leave_path => {
                    let input = self.solve_alone(&parent.input, &query, limit).ok_or(Outcome::Unsat)?;
                    let alone = Execute::new(input, Provenance::Solved, true);
                    return Ok(Execute { is_guess: true, leaves_path: true, ..alone });
                }
                Err(reason) => return Err(reason),
            },
        };
        let Solved { input, is_guess, given_up } = solved;
        let expectation = Some(wanted.candidate.expectation);
        Ok(Execute { expectation, is_guess, given_up, ..Execute::new(input, provenance, true) })
    }

    /// Solves a run with other outcomes; what is to be executed for it.
    fn change(
        &mut self,
        parent: &Parent,
        run: RunId,
        steps: &ChangedSteps,
        limit: Limit,
    ) -> Result<Execute, Outcome> {
        let held = match &parent.held {
            Some(held) => Arc::clone(held),
            None => self.repeat(parent, run)?,
        };
        let (solved, expectation) = self.solve_changes(&held, &parent.input, (run, steps), limit)?;
        let Solved { input, is_guess, given_up } = solved;
        let execute = Execute::new(input, Provenance::Solved, true);
        Ok(Execute { expectation: Some(expectation), is_guess, given_up, ..execute })
    }

    /// Runs an input once more to have its path, with addresses.
    fn read(&mut self, input: &Input) -> Result<Outcome, Outcome> {
        self.settle();
        let context = self.context;
        if context.must_stop() {
            return Err(Outcome::Stopped);
        }
        self.re_executions += 1;
        self.pace.step();
        let started = context.clock.elapsed();
        let limit = context.execution_limit.min(context.time_left());
        let flags = Flags { addresses: true, ..context.tracer.flags(context.symbolic) };
        let path = PathLog::of(&self.executor.execute(input, flags, limit)?);
        self.timings.execute += context.clock.elapsed().saturating_sub(started);
        Ok(Outcome::Read(path))
    }

    /// Runs an input and takes from its expressions what the campaign needs.
    fn execute(
        &mut self,
        started: Started,
        input: Input,
        expectation: Option<Expectation>,
        targets: Option<&OpenBranches>,
    ) -> Result<Ran, Outcome> {
        let mut ran = self.end_run(started, input, expectation)?;
        if let (Ok(trace), Some(execution)) = (&ran.trace, self.executor.newest()) {
            let (program, expressions) = (self.context.tracer.program(), Expressions::of(&execution));
            if execution.nodes.n_bytes() <= self.context.max_bytes_held {
                ran.expressions = Some(keep_expressions(trace, &expressions));
            }
            if self.context.self_check {
                ran.checked = self_check::check(program, &expressions, trace, &ran.input);
            }
            if self.context.mutates && !ran.marks.nodes_full {
                ran.idle = Some(cells_without_influence(&expressions, trace));
            }
            if let Some(targets) = targets {
                match branch_distance::measure(program, &expressions, trace, targets) {
                    Ok(nearness) => ran.distances = nearness,
                    Err(error) => {
                        return Err(Outcome::BadExpressions { input: (*ran.input).clone(), error });
                    }
                }
            }
        }
        Ok(ran)
    }

    fn start_run(&mut self, input: &Input, symbolic: bool, beside: bool) -> Result<Started, Outcome> {
        let context = self.context;
        if context.must_stop() {
            return Err(Outcome::Stopped);
        }
        self.pace.step();
        let began = context.clock.elapsed();
        let limit = context.execution_limit.min(context.time_left());
        let flags = context.tracer.flags(symbolic);
        self.executor.start(input, flags, limit, beside)?;
        self.timings.execute += context.clock.elapsed().saturating_sub(began);
        Ok(Started { flags, limit })
    }

    /// Waits for a run and follows its path.
    fn end_run(
        &mut self,
        started: Started,
        input: Input,
        expectation: Option<Expectation>,
    ) -> Result<Ran, Outcome> {
        let (context, Started { flags, limit }) = (self.context, started);
        let began = context.clock.elapsed();
        let execution = self.executor.finish(&input, flags, limit)?;
        // how far an endless run came depends on the machine
        if execution.end != End::TimedOut {
            self.n_nodes += execution.nodes.len() as u64;
            self.n_walked += execution.log.len() as u64;
        }
        let executed = context.clock.elapsed();
        self.timings.execute += executed.saturating_sub(began);
        if execution.end == End::TimedOut && limit < context.execution_limit {
            return Err(Outcome::Stopped);
        }
        let stop = || context.must_stop();
        let mut trace = context.tracer.trace_after(&mut self.prefixes, &execution, expectation, &stop);
        let walked = context.clock.elapsed();
        self.timings.walk += walked.saturating_sub(executed);
        if matches!(trace, Err(TraceError::Stopped)) {
            return Err(Outcome::Stopped);
        }
        let mut execution = execution;
        if execution.in_reused_process && self.confirming.is_needed(&execution, &trace) {
            let seen = execution.fingerprint();
            let confirmed = self.executor.execute_alone(&input, flags, limit)?;
            let is_alike = confirmed.fingerprint() == seen;
            self.timings.execute += context.clock.elapsed().saturating_sub(walked);
            if !is_alike {
                trace = context.tracer.trace_after(&mut self.prefixes, &confirmed, expectation, &stop);
                self.confirming.note_unlike();
                self.executor.stop_reuse();
            }
            execution = self.executor.newest().expect("the run that was confirmed");
        }
        let path = context.keeps_paths.then(|| PathLog::of(&execution));
        Ok(Ran { path, ..Ran::new(input, &execution, trace) })
    }

    fn try_all(&mut self, tries: &[Values]) -> Result<Outcome, Outcome> {
        self.settle();
        let context = self.context;
        if context.must_stop() {
            return Err(Outcome::Stopped);
        }
        let started = context.clock.elapsed();
        let limit = context.execution_limit.min(context.time_left()) / HURRY;
        let alone = context.one_process_per_try;
        let flags = Flags { alone, ..context.tracer.flags(false) };
        let tries = if alone { &tries[..tries.len().min(MAX_SEPARATE_TRIES)] } else { tries };
        let tried = self.executor.try_all(tries, flags, limit)?;
        self.timings.execute += context.clock.elapsed().saturating_sub(started);
        let input = |values: &Values| Input { values: values.iter().copied().collect() };
        let new = tries.iter().zip(&tried).filter(|(_, tried)| tried.looks_new);
        let looks_new = new.map(|(values, _)| input(values)).collect();
        let n_logged = tried.iter().map(|tried| u64::from(tried.n_logged)).sum();
        let effort = effort_of_tries(tried.len() as u64, n_logged, alone, tried.len() == tries.len());
        // the last entry may not have fitted
        let is_cut_off = |tried: &&Tried| tried.n_logged + 16 > LONGEST_TRY;
        let n_cut_off = tried.iter().filter(is_cut_off).count();
        Ok(Outcome::Tried { n_tries: tried.len(), n_cut_off, effort, looks_new })
    }

    /// Runs the parent once more to have its expressions.
    fn repeat(&mut self, parent: &Parent, run: RunId) -> Result<Arc<HeldRun>, Outcome> {
        self.settle();
        self.re_executions += 1;
        self.dictionary.forget(run);
        let input = (*parent.input).clone();
        let started = self.start_run(&input, self.context.symbolic, false)?;
        let repeated = self.end_run(started, input, None)?;
        let (Ok(trace), Some(execution)) = (repeated.trace, self.executor.newest()) else {
            return Err(Outcome::NotRepeated);
        };
        let expressions = keep_expressions(&trace, &Expressions::of(&execution));
        let held = Arc::new(HeldRun::new(trace, expressions));
        self.repeated = Some((run, Arc::clone(&held)));
        Ok(held)
    }
}
