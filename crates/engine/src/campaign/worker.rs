//! One worker: executes, follows paths, builds and solves queries. What it does depends on its jobs alone.
//!
//! Paths and terms of the latest runs are kept in hand, so that a candidate of theirs costs no execution; for any other
//! the parent is executed again. Terms of all runs share one store, which the solver's caches live on, until it grows too
//! large.

mod numeric;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::mem;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use model::Program;
use model::input::{Input, Key};
use model::walk::Site;
use smt::{Assignment, Limit, Solving, Term, UnknownReason, Verdict};
use wire::{Flags, Marks, NodeId, Outside};

use super::{CampaignError, Clock, Queries, Timings};
use crate::executor::{End, Execution, Executor, ExecutorError, Output, Values};
use crate::idle::idle_cells;
use crate::nearness::{self, Nearness, Targets};
use crate::pool::{Candidate, CandidateId, Turn};
use crate::self_check::{self, Mismatch};
use crate::terms::{Expressions, Memo, TermError, Vocabulary};
use crate::trace::{Beginnings, Choice, Expectation, Note, PathLog, PathStep, Trace, TraceError, Tracer};

/// Terms in a store before a new one is begun.
const MAX_TERMS: usize = 4 << 20;
/// Runs kept in hand, and the steps that they may have together.
const MAX_IN_HAND: usize = 128;
const MAX_STEPS_IN_HAND: usize = 1 << 20;
/// How often pins are given up by need, before all of them are.
const MAX_RELAXATIONS: u32 = 3;
/// Steps of a run whose terms are made at once, while its expressions are there.
const STEPS_AT_ONCE: usize = 1 << 12;
/// Expressions of a run of which terms are made before anybody asks.
const MAX_NODES_AHEAD: usize = 1 << 15;
/// What an execution by itself takes, measured like the solver's effort.
pub(super) const EXECUTION_EFFORT: u64 = 4;
/// Expressions and terms that take as long to make as one step of the solver's effort.
const NODES_PER_EFFORT: u64 = 1 << 10;
const TERMS_PER_EFFORT: u64 = 32;
/// The same for bytes of path logs that are walked.
const WALKED_PER_EFFORT: u64 = 1 << 13;
/// The same for tries, and for bytes of their path logs.
const TRIES_PER_EFFORT: u64 = 16;
const LOGGED_PER_EFFORT: u64 = 1 << 15;
/// A process of tries has this part of the time of one execution; what it takes when it spends all of it.
const HURRY: u32 = 8;
const LONG_EFFORT: u64 = 1 << 11;
/// Tries at a time when each has a process of its own.
const TRIES_ALONE: usize = 64;

/// What all workers share.
pub(super) struct Context<'a> {
    pub(super) tracer: &'a Tracer<'a>,
    pub(super) clock: &'a (dyn Clock + Sync),
    pub(super) interrupt: &'a AtomicBool,
    /// When the search must end; known when it begins.
    pub(super) deadline: OnceLock<Duration>,
    pub(super) execution_limit: Duration,
    pub(super) self_check: bool,
    /// Whether runs make expressions.
    pub(super) symbolic: bool,
    /// Whether paths are kept to be walked again.
    pub(super) keeps_paths: bool,
    /// Whether some runs are left to chance.
    pub(super) takes_chances: bool,
    /// Whether every try needs a process of its own.
    pub(super) alone: bool,
}

impl Context<'_> {
    pub(super) fn is_interrupted(&self) -> bool {
        self.interrupt.load(Ordering::Relaxed)
    }

    pub(super) fn time_left(&self) -> Duration {
        let left = |deadline: &Duration| deadline.saturating_sub(self.clock.elapsed());
        self.deadline.get().map_or(Duration::MAX, left)
    }

    fn must_stop(&self) -> bool {
        self.is_interrupted() || self.time_left().is_zero()
    }
}

/// One pick to work off.
pub(super) struct Job {
    pub(super) task: Task,
    pub(super) origin: Option<CandidateId>,
    /// What the run is to be measured for.
    pub(super) targets: Option<Arc<Targets>>,
}

pub(super) enum Task {
    Execute(Input),
    /// Without making expressions.
    Try(Input),
    /// In a hurry, to see which are worth a try of their own.
    TryAll(Vec<Values>),
    Flip {
        parent: Arc<Input>,
        candidate: Candidate,
        /// For a pin: the values it has had.
        pinned: Vec<u64>,
        solver_limit: Limit,
    },
}

/// Where an input comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// Nobody asked for a certain path.
    Given,
    /// Solved to go another way.
    Flipped(CandidateId),
    /// A mutation.
    Chance,
}

impl Origin {
    pub(super) fn candidate(self) -> Option<CandidateId> {
        match self {
            Self::Flipped(id) => Some(id),
            Self::Given | Self::Chance => None,
        }
    }
}

impl Job {
    pub(super) fn origin(&self) -> Origin {
        match (&self.task, self.origin) {
            (Task::Try(_) | Task::TryAll(_), _) => Origin::Chance,
            (Task::Execute(_) | Task::Flip { .. }, Some(id)) => Origin::Flipped(id),
            (Task::Execute(_) | Task::Flip { .. }, None) => Origin::Given,
        }
    }
}

/// What came of a job.
pub(super) struct Report {
    pub(super) outcome: Outcome,
    pub(super) queries: Queries,
    /// What the solver spent.
    pub(super) effort: u64,
    /// The same with what executions and their terms took.
    pub(super) work: u64,
    /// Queries that processor time ended.
    pub(super) n_overdue: u64,
    pub(super) re_executions: u64,
    pub(super) timings: Timings,
}

pub(super) enum Outcome {
    Ran(Box<Ran>),
    /// How many were tried, what that took, and what looked new.
    Tried {
        n_tries: usize,
        effort: u64,
        new: Vec<Input>,
    },
    Unsat,
    /// The solver gave up; more time may help.
    Unknown {
        timed_out: bool,
    },
    /// The step cannot go another way, whatever the input.
    NoAlternative,
    /// The parent took another path when executed again.
    NotRepeated,
    BadExpressions {
        input: Input,
        error: TermError,
    },
    /// The budget ended or somebody asked to stop.
    Stopped,
    Failed(CampaignError),
}

/// A run of a new input.
pub(super) struct Ran {
    /// With all cells that the run asked for.
    pub(super) input: Arc<Input>,
    pub(super) end: End,
    pub(super) marks: Marks,
    /// Where it went outside of an object.
    pub(super) outside: Option<Outside>,
    pub(super) output: Output,
    pub(super) cells: Vec<wire::Cell>,
    pub(super) trace: Result<Arc<Trace>, TraceError>,
    /// If it is to be kept.
    pub(super) path: Option<PathLog>,
    pub(super) nearness: BTreeMap<(Site, Choice), Nearness>,
    /// Cells that had no say in where it went, if that is known.
    pub(super) idle: Option<Vec<Key>>,
    /// What the self-check found, if it was asked for.
    pub(super) checked: Result<Vec<Mismatch>, TermError>,
    /// Whether values that expressions rely on were given up to find the input: where it goes is a guess.
    pub(super) is_guess: bool,
}

/// A run and the terms made for it so far.
struct InHand {
    input: Arc<Input>,
    trace: Arc<Trace>,
    memo: Memo,
    /// Constraints of the first steps and notes.
    steps: Vec<Term>,
    notes: Vec<Term>,
}

/// A candidate with what else is to be known of it.
struct Wanted {
    candidate: Candidate,
    pinned: Vec<u64>,
}

/// A place of a path where it could turn off.
#[derive(Clone, Copy)]
enum Found {
    Step { step: PathStep, choice: Choice, n_steps: usize },
    Pin { node: NodeId, n_steps: usize, n_notes: usize },
    Size { node: NodeId, value: u64, n_steps: usize, n_notes: usize },
    Bounds { node: NodeId, n_steps: usize, n_notes: usize },
}

/// What to ask the solver for a candidate.
#[derive(Clone)]
struct Query {
    /// What holds on the way, and must.
    hard: Vec<Term>,
    /// What should hold too.
    pins: Vec<Term>,
    goal: Term,
    /// More than the goal, to be tried first.
    preferred: Option<Term>,
    /// The parent's values.
    hint: Assignment,
}

/// An input that the solver found.
struct Solved {
    input: Input,
    /// Whether pins were given up for it.
    is_guess: bool,
}

impl From<ExecutorError> for Outcome {
    fn from(error: ExecutorError) -> Self {
        match error {
            ExecutorError::Interrupted => Self::Stopped,
            error => Self::Failed(error.into()),
        }
    }
}

pub(super) struct Worker<'a> {
    context: &'a Context<'a>,
    executor: Box<dyn Executor + Send>,
    solving: Solving,
    vocabulary: Vocabulary,
    /// The latest runs used, newest first.
    in_hand: VecDeque<InHand>,
    /// What paths had in common so far.
    beginnings: Beginnings<'a>,
    /// The input whose expressions are in memory.
    live: Option<Arc<Input>>,
    /// Searches by trial that found nothing, by the way that was to be gone.
    in_vain: BTreeMap<(Site, Choice), u32>,
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
            in_hand: VecDeque::new(),
            beginnings: Beginnings::default(),
            live: None,
            in_vain: BTreeMap::new(),
            n_nodes: 0,
            n_walked: 0,
            n_overdue: 0,
            queries: Queries::default(),
            re_executions: 0,
            timings: Timings::default(),
        }
    }

    pub(super) fn work(&mut self, job: Job) -> Report {
        let targets = job.targets.as_deref();
        let effort_before = self.solving.stats().effort;
        let terms_before = self.vocabulary.store().n_terms();
        let outcome = match job.task {
            Task::Execute(input) => self.execute(input, None, targets),
            Task::Try(input) => self.run(input, None, false).map(|ran| Outcome::Ran(Box::new(ran))),
            Task::TryAll(tries) => self.try_all(&tries),
            Task::Flip { parent, candidate, pinned, solver_limit } => {
                self.flip(&parent, &Wanted { candidate, pinned }, solver_limit, targets)
            }
        };
        let outcome = outcome.unwrap_or_else(|outcome| outcome);
        let n_executions = u64::from(matches!(outcome, Outcome::Ran(_))) + self.re_executions;
        let n_terms = self.vocabulary.store().n_terms().saturating_sub(terms_before) as u64;
        let effort = self.solving.stats().effort - effort_before;
        Report {
            outcome,
            queries: mem::take(&mut self.queries),
            effort,
            work: effort
                + n_executions * EXECUTION_EFFORT
                + mem::take(&mut self.n_nodes) / NODES_PER_EFFORT
                + mem::take(&mut self.n_walked) / WALKED_PER_EFFORT
                + n_terms / TERMS_PER_EFFORT,
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
        targets: Option<&Targets>,
    ) -> Result<Outcome, Outcome> {
        if self.vocabulary.store().n_terms() > MAX_TERMS {
            self.vocabulary = Vocabulary::default();
            self.in_hand.clear();
        }
        let query = self.prepare(parent, wanted)?;
        let solved = if self.vocabulary.store().is_false(query.goal) {
            Err(Outcome::NoAlternative)
        } else {
            self.solve_preferring(parent, &query, limit)
        };
        let Solved { input, is_guess } = match solved {
            Ok(solved) => solved,
            Err(reason) => Solved { input: self.try_numbers(parent, wanted, reason)?, is_guess: false },
        };
        let mut outcome = self.execute(input, Some(wanted.candidate.expectation), targets)?;
        if let Outcome::Ran(ran) = &mut outcome {
            ran.is_guess = is_guess;
        }
        Ok(outcome)
    }

    /// The query for a candidate, from what is in hand or by executing its parent again.
    fn prepare(&mut self, parent: &Arc<Input>, wanted: &Wanted) -> Result<Query, Outcome> {
        let bad = |error| Outcome::BadExpressions { input: (**parent).clone(), error };
        if let Some(at) = self.in_hand.iter().position(|in_hand| Arc::ptr_eq(&in_hand.input, parent)) {
            let in_hand = self.in_hand.remove(at).expect("the position was just found");
            self.in_hand.push_front(in_hand);
            let is_live = self.live.as_ref().is_some_and(|live| Arc::ptr_eq(live, parent));
            match self.query(wanted, is_live) {
                // made into terms only in part, and its expressions have been written over since
                Err(TermError::NoNode(_)) if !is_live => {
                    self.in_hand.pop_front();
                }
                query => return query.map_err(bad)?.ok_or(Outcome::NotRepeated),
            }
        }
        self.repeat(parent)?;
        self.query(wanted, true).map_err(bad)?.ok_or(Outcome::NotRepeated)
    }

    fn query(&mut self, wanted: &Wanted, is_live: bool) -> Result<Option<Query>, TermError> {
        let started = self.context.clock.elapsed();
        let query = self.build_query(wanted, is_live);
        self.timings.terms += self.context.clock.elapsed().saturating_sub(started);
        query
    }

    /// The query for a candidate of the newest run in hand; `None` when that run has no such candidate.
    fn build_query(&mut self, wanted: &Wanted, is_live: bool) -> Result<Option<Query>, TermError> {
        let Some(in_hand) = self.in_hand.front_mut() else { return Ok(None) };
        let execution = self.executor.newest().filter(|_| is_live);
        let expressions = match &execution {
            Some(execution) => Expressions::of(execution),
            None => Expressions::none(),
        };
        let (program, vocabulary) = (self.context.tracer.program(), &mut self.vocabulary);
        let Some(turn) = in_hand.find(&wanted.candidate) else { return Ok(None) };
        in_hand.make_terms(program, vocabulary, &expressions, turn.counts())?;
        let memo = &mut in_hand.memo;
        let goal = match turn {
            Found::Step { step, choice, .. } => {
                vocabulary.constraint(program, &expressions, memo, &step, choice)?
            }
            Found::Pin { node, .. } | Found::Size { node, .. } => {
                vocabulary.none_of(&expressions, memo, node, &wanted.pinned)?
            }
            Found::Bounds { node, .. } => vocabulary.not(&expressions, memo, node)?,
        };
        let preferred = match turn {
            Found::Size { node, value, .. } => {
                vocabulary.notable_size(&expressions, memo, (node, value), wanted.pinned.len())?
            }
            Found::Step { .. } | Found::Pin { .. } | Found::Bounds { .. } => None,
        };
        let preferred = preferred.map(|notable| vocabulary.both(goal, notable));
        let (n_steps, n_notes) = turn.counts();
        let (mut hard, mut pins) = (in_hand.steps[..n_steps].to_vec(), Vec::new());
        for (note, term) in in_hand.trace.notes.iter().zip(&in_hand.notes[..n_notes]) {
            match note {
                Note::Pin { .. } | Note::Size { .. } | Note::Prefer { .. } => pins.push(*term),
                Note::Bounds { is_pinned: true, .. } => pins.push(*term),
                Note::Assume { .. } | Note::Bounds { is_pinned: false, .. } => hard.push(*term),
            }
        }
        let hint = vocabulary.assignment(&in_hand.input);
        Ok(Some(Query { hard, pins, goal, preferred, hint }))
    }

    /// An input for more than the goal if there is one, else for the goal.
    fn solve_preferring(&mut self, parent: &Input, query: &Query, limit: Limit) -> Result<Solved, Outcome> {
        if let Some(goal) = query.preferred {
            let preferred = Query { goal, ..query.clone() };
            if let Ok(solved) = self.solve(parent, &preferred, limit) {
                return Ok(solved);
            }
        }
        self.solve(parent, query, limit)
    }

    /// An input for the query: one that keeps as many pins as it can. They are not the program's own: without those that
    /// stand in the way the run may still go there.
    fn solve(&mut self, parent: &Input, query: &Query, limit: Limit) -> Result<Solved, Outcome> {
        let mut pins = query.pins.clone();
        for n_relaxed in 0.. {
            let pinned = [query.hard.as_slice(), &pins].concat();
            match self.ask(&pinned, query, limit)? {
                Verdict::Sat(found) => {
                    let input = self.vocabulary.input(parent, &found);
                    return Ok(Solved { input, is_guess: n_relaxed > 0 });
                }
                Verdict::Unsat { core } if core.iter().any(|term| pins.contains(term)) => {
                    if n_relaxed < MAX_RELAXATIONS {
                        pins.retain(|pin| !core.contains(pin));
                    } else {
                        pins.clear();
                    }
                }
                Verdict::Unsat { .. } => break,
                Verdict::Unknown(reason) => return Err(unknown(&reason)),
            }
        }
        Err(Outcome::Unsat)
    }

    fn ask(&mut self, prefix: &[Term], query: &Query, limit: Limit) -> Result<Verdict, Outcome> {
        if self.context.must_stop() {
            return Err(Outcome::Stopped);
        }
        let started = self.context.clock.elapsed();
        let limit = Limit { time: limit.time.min(self.context.time_left()), ..limit };
        let store = self.vocabulary.store();
        let verdict = self.solving.solve(store, prefix, query.goal, &query.hint, limit);
        self.timings.solve += self.context.clock.elapsed().saturating_sub(started);
        match &verdict {
            Verdict::Sat(_) => self.queries.sat += 1,
            Verdict::Unsat { .. } => self.queries.unsat += 1,
            // cut short by the end of the campaign, which says nothing about the query
            Verdict::Unknown(_) if self.context.must_stop() => return Err(Outcome::Stopped),
            Verdict::Unknown(reason) => {
                self.queries.unknown += 1;
                self.n_overdue += u64::from(*reason == UnknownReason::Overdue);
            }
        }
        Ok(verdict)
    }

    fn execute(
        &mut self,
        input: Input,
        expectation: Option<Expectation>,
        targets: Option<&Targets>,
    ) -> Result<Outcome, Outcome> {
        let mut ran = self.run(input, expectation, self.context.symbolic)?;
        if let (Ok(trace), Some(execution)) = (&ran.trace, self.executor.newest()) {
            let (program, expressions) = (self.context.tracer.program(), Expressions::of(&execution));
            if self.context.self_check {
                ran.checked = self_check::check(program, &expressions, trace, &ran.input);
            }
            if self.context.takes_chances && !ran.marks.nodes_full {
                ran.idle = Some(idle_cells(&expressions, trace));
            }
            if let Some(targets) = targets {
                match nearness::measure(program, &expressions, trace, targets) {
                    Ok(nearness) => ran.nearness = nearness,
                    Err(error) => {
                        return Err(Outcome::BadExpressions { input: (*ran.input).clone(), error });
                    }
                }
            }
        }
        self.make_terms_ahead();
        Ok(Outcome::Ran(Box::new(ran)))
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
        let trace = context.tracer.trace_after(&mut self.beginnings, &execution, expectation, &stop);
        let trace = trace.map(Arc::new);
        self.timings.walk += context.clock.elapsed().saturating_sub(executed);
        if matches!(trace, Err(TraceError::Stopped)) {
            return Err(Outcome::Stopped);
        }
        let path = context.keeps_paths.then(|| PathLog::of(&execution));
        let ran = Ran { path, ..Ran::new(input, &execution, trace) };
        if let (Ok(trace), true) = (&ran.trace, symbolic) {
            let (input, trace) = (Arc::clone(&ran.input), Arc::clone(trace));
            self.hold(InHand { input, trace, memo: Memo::default(), steps: Vec::new(), notes: Vec::new() });
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
        let flags = Flags { alone: context.alone, ..context.tracer.flags(false) };
        let tries = if context.alone { &tries[..tries.len().min(TRIES_ALONE)] } else { tries };
        let tried = self.executor.try_all(tries, flags, limit)?;
        self.timings.execute += context.clock.elapsed().saturating_sub(started);
        let input = |values: &Values| Input { values: values.iter().copied().collect() };
        let new =
            tries.iter().zip(&tried).filter(|(_, tried)| tried.looks_new).map(|(values, _)| input(values));
        let n_logged: u64 = tried.iter().map(|tried| u64::from(tried.n_logged)).sum();
        let n_tried = tried.len() as u64;
        let mut effort = n_logged / LOGGED_PER_EFFORT
            + if context.alone { n_tried * EXECUTION_EFFORT } else { n_tried.div_ceil(TRIES_PER_EFFORT) };
        if tried.len() < tries.len() {
            effort = effort.max(LONG_EFFORT);
        }
        Ok(Outcome::Tried { n_tries: tried.len(), effort, new: new.collect() })
    }

    /// Runs an input once more to have its expressions.
    fn repeat(&mut self, input: &Arc<Input>) -> Result<(), Outcome> {
        self.re_executions += 1;
        self.run((**input).clone(), None, self.context.symbolic)?;
        if let Some(newest) = self.in_hand.front_mut().filter(|_| self.live.is_some()) {
            // known by the name that others have for it
            newest.input = Arc::clone(input);
            self.live = Some(Arc::clone(input));
        }
        Ok(())
    }

    /// Makes terms of the newest run while its expressions are there, unless they are many: its candidates then cost no
    /// execution.
    fn make_terms_ahead(&mut self) {
        let (Some(in_hand), Some(execution)) = (self.in_hand.front_mut(), self.executor.newest()) else {
            return;
        };
        if self.live.is_none() || execution.nodes.len() > MAX_NODES_AHEAD {
            return;
        }
        let started = self.context.clock.elapsed();
        let (program, expressions) = (self.context.tracer.program(), Expressions::of(&execution));
        // an expression that makes no sense is told when somebody asks for it
        let _ = in_hand.make_terms(program, &mut self.vocabulary, &expressions, (0, 0));
        self.timings.terms += self.context.clock.elapsed().saturating_sub(started);
    }

    /// Keeps the run that is in memory, and lets go of the oldest ones when it gets too much.
    fn hold(&mut self, in_hand: InHand) {
        self.live = Some(Arc::clone(&in_hand.input));
        self.in_hand.retain(|known| !Arc::ptr_eq(&known.input, &in_hand.input));
        self.in_hand.push_front(in_hand);
        let n_steps = |known: &VecDeque<InHand>| known.iter().map(|run| run.trace.steps.len()).sum::<usize>();
        while self.in_hand.len() > 1
            && (self.in_hand.len() > MAX_IN_HAND || n_steps(&self.in_hand) > MAX_STEPS_IN_HAND)
        {
            self.in_hand.pop_back();
        }
    }
}

impl InHand {
    /// Where the run could turn off as the candidate wants; `None` when its path is another.
    fn find(&self, candidate: &Candidate) -> Option<Found> {
        let n_steps = candidate.step as usize;
        match candidate.turn {
            Turn::Step { choice, .. } => {
                let step = *self.trace.steps.get(n_steps)?;
                (step.name_with(choice) == candidate.path).then_some(Found::Step { step, choice, n_steps })
            }
            Turn::Pin { note } => {
                let at = self.trace.pins.binary_search_by_key(&note, |pin| pin.note).ok()?;
                let is_same = self.trace.pins[at].path == candidate.path;
                let n_notes = note as usize;
                match self.trace.notes[n_notes] {
                    Note::Pin { node, .. } if is_same => Some(Found::Pin { node, n_steps, n_notes }),
                    Note::Size { node, value } if is_same => {
                        Some(Found::Size { node, value, n_steps, n_notes })
                    }
                    Note::Pin { .. }
                    | Note::Size { .. }
                    | Note::Assume { .. }
                    | Note::Bounds { .. }
                    | Note::Prefer { .. } => None,
                }
            }
            Turn::Bounds { note, .. } => {
                let at = self.trace.accesses.binary_search_by_key(&note, |access| access.note).ok()?;
                let is_same = self.trace.accesses[at].path == candidate.path;
                let n_notes = note as usize;
                match self.trace.notes[n_notes] {
                    Note::Bounds { node, .. } if is_same => Some(Found::Bounds { node, n_steps, n_notes }),
                    Note::Bounds { .. }
                    | Note::Pin { .. }
                    | Note::Size { .. }
                    | Note::Assume { .. }
                    | Note::Prefer { .. } => None,
                }
            }
        }
    }

    /// Makes the terms of so many steps and notes at least, and some more to have them later.
    fn make_terms(
        &mut self,
        program: &Program,
        vocabulary: &mut Vocabulary,
        expressions: &Expressions<'_>,
        (n_steps, n_notes): (usize, usize),
    ) -> Result<(), TermError> {
        let Self { trace, memo, steps, notes, .. } = self;
        // the step itself too: what it takes to go another way is made from the same
        let n_steps = (n_steps + 1).max(STEPS_AT_ONCE).min(trace.steps.len());
        for step in trace.steps.get(steps.len()..n_steps).unwrap_or_default() {
            steps.push(vocabulary.constraint(program, expressions, memo, step, step.taken)?);
        }
        let n_notes = match n_steps.checked_sub(1) {
            Some(last) if n_steps < trace.steps.len() => n_notes.max(trace.steps[last].n_notes as usize),
            _ => trace.notes.len(),
        };
        for note in trace.notes.get(notes.len()..n_notes).unwrap_or_default() {
            notes.push(vocabulary.note(expressions, memo, note)?);
        }
        Ok(())
    }
}

impl Found {
    /// How many steps and notes come before.
    fn counts(&self) -> (usize, usize) {
        match *self {
            Self::Step { step, n_steps, .. } => (n_steps, step.n_notes as usize),
            Self::Pin { n_steps, n_notes, .. }
            | Self::Size { n_steps, n_notes, .. }
            | Self::Bounds { n_steps, n_notes, .. } => (n_steps, n_notes),
        }
    }
}

impl Ran {
    fn new(mut input: Input, execution: &Execution<'_>, trace: Result<Arc<Trace>, TraceError>) -> Self {
        // sizes and counts beyond their limits were cut down by the run
        for cell in execution.cells.iter() {
            input.values.insert(Key(cell.key), cell.value);
        }
        Self {
            input: Arc::new(input),
            end: execution.end,
            marks: execution.marks,
            outside: execution.outside,
            output: execution.output.clone(),
            cells: execution.cells.iter().collect(),
            trace,
            path: None,
            nearness: BTreeMap::new(),
            idle: None,
            checked: Ok(Vec::new()),
            is_guess: false,
        }
    }
}

impl Ran {
    /// The input without values for parts of objects that this run never asked for.
    pub(super) fn asked(&self) -> Input {
        let mut input = (*self.input).clone();
        // keys of parts are the highest
        let has_parts = input.values.last_key_value().is_some_and(|(key, _)| key.is_part());
        if has_parts && !self.marks.cells_full {
            let asked: BTreeSet<Key> = self.cells.iter().map(|cell| Key(cell.key)).collect();
            input.values.retain(|key, _| !key.is_part() || asked.contains(key));
        }
        input
    }
}

fn unknown(reason: &UnknownReason) -> Outcome {
    Outcome::Unknown { timed_out: matches!(reason, UnknownReason::Timeout | UnknownReason::Overdue) }
}
