//! One worker: executes, follows paths, builds and solves queries. What it does depends on its jobs alone.
//!
//! Paths and terms of the latest runs are held, so that a candidate of theirs costs no execution; for any other the parent is
//! executed again. Terms of all runs share one store, which the solver's caches live on, until it grows too large.

mod context;
mod held;
mod job;
mod numeric;
mod query;

use std::collections::{BTreeMap, VecDeque};
use std::mem;
use std::sync::Arc;

use model::input::Input;
use model::walk::Site;
use smt::{Limit, Solving};
use wire::Flags;

use super::effort::{Done, effort_of_tries};
use super::{Provenance, Queries, Timings};
use crate::branch_distance::{self, OpenBranches};
use crate::executor::{End, Executor, Values};
use crate::influence::cells_without_influence;
use crate::pool::Candidate;
use crate::self_check;
use crate::terms::{Expressions, TermError, Vocabulary};
use crate::trace::{Choice, Expectation, PathLog, PrefixCache, TraceError};
pub(super) use context::Context;
use held::HeldRun;
pub(super) use job::{Job, JobReport, Outcome, Ran, Task};
use query::{Query, Solved};

/// Terms in a store before a new one is begun.
const MAX_TERMS: usize = 4 << 20;
/// Runs held, and the steps that they may have together.
const MAX_HELD: usize = 128;
const MAX_STEPS_HELD: usize = 1 << 20;
/// Expressions of a run of which terms are made before anybody asks.
const MAX_NODES_AHEAD: usize = 1 << 15;
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
    vocabulary: Vocabulary,
    /// The latest runs used, newest first.
    held: VecDeque<HeldRun>,
    /// Checkpoints of the last walk.
    prefixes: PrefixCache<'a>,
    /// The input whose expressions are in memory.
    live: Option<Arc<Input>>,
    /// Failed numeric searches per target outcome.
    n_failed_searches: BTreeMap<(Site, Choice), u32>,
    /// Expressions that runs of this job made, and bytes of their path logs.
    n_nodes: u64,
    n_walked: u64,
    n_overdue: u64,
    queries: Queries,
    re_executions: u64,
    timings: Timings,
}

impl<'a> Worker<'a> {
    pub(super) fn new(
        context: &'a Context<'a>,
        executor: Box<dyn Executor + Send>,
        solving: Solving,
    ) -> Self {
        Self {
            context,
            executor,
            solving,
            vocabulary: Vocabulary::default(),
            held: VecDeque::new(),
            prefixes: PrefixCache::default(),
            live: None,
            n_failed_searches: BTreeMap::new(),
            n_nodes: 0,
            n_walked: 0,
            n_overdue: 0,
            queries: Queries::default(),
            re_executions: 0,
            timings: Timings::default(),
        }
    }

    pub(super) fn work(&mut self, job: Job) -> JobReport {
        let targets = job.targets.as_deref();
        let effort_before = self.solving.stats().effort;
        let terms_before = self.vocabulary.store().n_terms();
        let outcome = match job.task {
            Task::Run { input, provenance, symbolic: true } => self.execute(input, provenance, None, targets),
            Task::Run { input, provenance, symbolic: false } => {
                self.run(input, None, false).map(|ran| Outcome::Ran { ran: Box::new(ran), provenance })
            }
            Task::TryAll(tries) => self.try_all(&tries),
            Task::Flip { parent, candidate, pinned, solver_limit } => {
                self.flip(&parent, &Wanted { candidate, pinned }, solver_limit, targets)
            }
        };
        let outcome = outcome.unwrap_or_else(|outcome| outcome);
        let solver_effort = self.solving.stats().effort - effort_before;
        let done = Done {
            n_executions: u64::from(matches!(outcome, Outcome::Ran { .. })) + self.re_executions,
            n_nodes: mem::take(&mut self.n_nodes),
            n_walked: mem::take(&mut self.n_walked),
            n_terms: self.vocabulary.store().n_terms().saturating_sub(terms_before) as u64,
        };
        JobReport {
            outcome,
            queries: mem::take(&mut self.queries),
            solver_effort,
            effort: solver_effort + done.effort(),
            n_overdue: mem::take(&mut self.n_overdue),
            re_executions: mem::take(&mut self.re_executions),
            timings: mem::take(&mut self.timings),
        }
    }

    /// Solves a candidate and runs the input found.
    fn flip(
        &mut self,
        parent: &Arc<Input>,
        wanted: &Wanted,
        limit: Limit,
        targets: Option<&OpenBranches>,
    ) -> Result<Outcome, Outcome> {
        if self.vocabulary.store().n_terms() > MAX_TERMS {
            self.vocabulary = Vocabulary::default();
            self.held.clear();
        }
        let query = self.prepare(parent, wanted)?;
        let solved = if self.vocabulary.store().is_false(query.goal) {
            Err(Outcome::NoAlternative)
        } else {
            self.solve_preferring(parent, &query, limit)
        };
        let (input, provenance, is_guess) = match solved {
            Ok(Solved { input, is_guess }) => (input, Provenance::Solved, is_guess),
            Err(reason) => (self.try_numbers(parent, wanted, reason)?, Provenance::Numeric, false),
        };
        let mut outcome = self.execute(input, provenance, Some(wanted.candidate.expectation), targets)?;
        if let Outcome::Ran { ran, .. } = &mut outcome {
            ran.is_guess = is_guess;
        }
        Ok(outcome)
    }

    /// The query for a candidate, from what is held or by executing its parent again.
    fn prepare(&mut self, parent: &Arc<Input>, wanted: &Wanted) -> Result<Query, Outcome> {
        let bad = |error| Outcome::BadExpressions { input: (**parent).clone(), error };
        if let Some(at) = self.held.iter().position(|held| Arc::ptr_eq(&held.input, parent)) {
            let held = self.held.remove(at).expect("the position was just found");
            self.held.push_front(held);
            let is_live = self.live.as_ref().is_some_and(|live| Arc::ptr_eq(live, parent));
            match self.query(wanted, is_live) {
                // made into terms only in part, and its expressions have been written over since
                Err(TermError::NoNode(_)) if !is_live => {
                    self.held.pop_front();
                }
                query => return query.map_err(bad)?.ok_or(Outcome::NotRepeated),
            }
        }
        self.repeat(parent)?;
        self.query(wanted, true).map_err(bad)?.ok_or(Outcome::NotRepeated)
    }

    fn execute(
        &mut self,
        input: Input,
        provenance: Provenance,
        expectation: Option<Expectation>,
        targets: Option<&OpenBranches>,
    ) -> Result<Outcome, Outcome> {
        let mut ran = self.run(input, expectation, self.context.symbolic)?;
        if let (Ok(trace), Some(execution)) = (&ran.trace, self.executor.newest()) {
            let (program, expressions) = (self.context.tracer.program(), Expressions::of(&execution));
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
        self.make_terms_ahead();
        Ok(Outcome::Ran { ran: Box::new(ran), provenance })
    }

    /// Runs an input, follows its path and holds on to both if there are expressions.
    fn run(
        &mut self,
        input: Input,
        expectation: Option<Expectation>,
        symbolic: bool,
    ) -> Result<Ran, Outcome> {
        self.live = None;
        let context = self.context;
        if context.must_stop() {
            return Err(Outcome::Stopped);
        }
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
        let trace = context.tracer.trace_after(&mut self.prefixes, &execution, expectation, &stop);
        let trace = trace.map(Arc::new);
        self.timings.walk += context.clock.elapsed().saturating_sub(executed);
        if matches!(trace, Err(TraceError::Stopped)) {
            return Err(Outcome::Stopped);
        }
        let path = context.keeps_paths.then(|| PathLog::of(&execution));
        let ran = Ran { path, ..Ran::new(input, &execution, trace) };
        if let (Ok(trace), true) = (&ran.trace, symbolic) {
            let (input, trace) = (Arc::clone(&ran.input), Arc::clone(trace));
            self.hold(HeldRun::new(input, trace));
        }
        Ok(ran)
    }

    fn try_all(&mut self, tries: &[Values]) -> Result<Outcome, Outcome> {
        self.live = None;
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

    /// Runs an input once more to have its expressions.
    fn repeat(&mut self, input: &Arc<Input>) -> Result<(), Outcome> {
        self.re_executions += 1;
        self.run((**input).clone(), None, self.context.symbolic)?;
        if let Some(newest) = self.held.front_mut().filter(|_| self.live.is_some()) {
            // the pool knows the run by this pointer
            newest.input = Arc::clone(input);
            self.live = Some(Arc::clone(input));
        }
        Ok(())
    }

    /// Makes terms of the newest run while its expressions are there, unless they are many: its candidates then cost no
    /// execution.
    fn make_terms_ahead(&mut self) {
        let (Some(held), Some(execution)) = (self.held.front_mut(), self.executor.newest()) else {
            return;
        };
        if self.live.is_none() || execution.nodes.len() > MAX_NODES_AHEAD {
            return;
        }
        let started = self.context.clock.elapsed();
        let (program, expressions) = (self.context.tracer.program(), Expressions::of(&execution));
        // an expression that makes no sense is reported when a query needs it
        let _ = held.make_terms(program, &mut self.vocabulary, &expressions, (0, 0));
        self.timings.terms += self.context.clock.elapsed().saturating_sub(started);
    }

    /// Holds the run that is in memory, and lets go of the oldest ones when there are too many.
    fn hold(&mut self, held: HeldRun) {
        self.live = Some(Arc::clone(&held.input));
        self.held.retain(|known| !Arc::ptr_eq(&known.input, &held.input));
        self.held.push_front(held);
        let n_steps =
            |known: &VecDeque<HeldRun>| known.iter().map(|run| run.trace.steps.len()).sum::<usize>();
        while self.held.len() > 1 && (self.held.len() > MAX_HELD || n_steps(&self.held) > MAX_STEPS_HELD) {
            self.held.pop_back();
        }
    }
}
