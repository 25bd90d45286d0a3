//! One worker: executes, follows paths, builds and solves queries. What it does depends on its jobs alone.
//!
//! A job brings what is held of the candidate's parent, so that no execution is needed to ask about it; a parent that is not
//! held is executed again. A job has two parts: what needs the worker's own terms and solver, and then the execution of an
//! input, which any worker can do ([`Order`]).

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

use model::input::Input;
use model::walk::Site;
use smt::{Limit, Solving};
use wire::Flags;

use super::effort::{Done, effort_of_tries};
use super::held::{HeldRun, keep_expressions};
use super::pace::Pace;
use super::{Provenance, Queries, Timings};
use crate::branch_distance::{self, OpenBranches};
use crate::executor::{End, Executor, Values};
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
const MAX_SEPARATE_TRIES: usize = 64;

/// A candidate with what else is to be known of it.
struct Wanted {
    candidate: Candidate,
    pinned: Vec<u64>,
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
        }
    }

    /// Does all of a job.
    pub(super) fn work(&mut self, job: Job) -> JobReport {
        match self.begin(job) {
            Begun::Done(report) => *report,
            Begun::ToExecute(order) => self.finish(*order),
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
            Task::Flip { parent, candidate, pinned, solver_limit } => {
                self.flip(&parent, &Wanted { candidate, pinned }, solver_limit)
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
        let Order { execute, targets, mut spent, n_steps } = order;
        self.pace.begin(n_steps);
        let Execute { input, provenance, symbolic, expectation, is_guess, given_up } = execute;
        let ran = if symbolic {
            self.execute(input, expectation, targets.as_deref())
        } else {
            self.run(input, expectation, false)
        };
        let outcome = match ran {
            Ok(ran) => Outcome::Ran { ran: Box::new(Ran { is_guess, given_up, ..ran }), provenance },
            Err(outcome) => outcome,
        };
        spent.add(self.take_spent());
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
            Err(reason) => {
                let input = self.try_numbers(&parent.input, &held, wanted, (reason, query.meets))?;
                (Solved { input, is_guess: false, given_up: BTreeSet::new() }, Provenance::Numeric)
            }
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
        input: Input,
        expectation: Option<Expectation>,
        targets: Option<&OpenBranches>,
    ) -> Result<Ran, Outcome> {
        let mut ran = self.run(input, expectation, self.context.symbolic)?;
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

    /// Runs an input and follows its path.
    fn run(
        &mut self,
        input: Input,
        expectation: Option<Expectation>,
        symbolic: bool,
    ) -> Result<Ran, Outcome> {
        let context = self.context;
        if context.must_stop() {
            return Err(Outcome::Stopped);
        }
        self.pace.step();
        let started = context.clock.elapsed();
        let limit = context.execution_limit.min(context.time_left());
        let flags = context.tracer.flags(symbolic);
        let execution = self.executor.execute(&input, flags, limit)?;
        // how far an endless run came depends on the machine
        if execution.end != End::TimedOut {
            self.n_nodes += execution.nodes.len() as u64;
            self.n_walked += execution.log.len() as u64;
        }
        let executed = context.clock.elapsed();
        self.timings.execute += executed.saturating_sub(started);
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
        Ok(Outcome::Tried { n_tries: tried.len(), effort, looks_new })
    }

    /// Runs the parent once more to have its expressions.
    fn repeat(&mut self, parent: &Parent, run: RunId) -> Result<Arc<HeldRun>, Outcome> {
        self.re_executions += 1;
        self.dictionary.forget(run);
        let repeated = self.run((*parent.input).clone(), None, self.context.symbolic)?;
        let (Ok(trace), Some(execution)) = (repeated.trace, self.executor.newest()) else {
            return Err(Outcome::NotRepeated);
        };
        let expressions = keep_expressions(&trace, &Expressions::of(&execution));
        let held = Arc::new(HeldRun::new(trace, expressions));
        self.repeated = Some((run, Arc::clone(&held)));
        Ok(held)
    }
}
