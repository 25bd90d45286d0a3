//! What a worker is asked to do, and what it reports.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use coverage::Lost;
use model::input::{Input, Key};
use model::walk::Site;
use smt::Limit;
use wire::{Marks, Outside};

use crate::branch_distance::{NearestStep, OpenBranches};
use crate::campaign::effort::Done;
use crate::campaign::held::HeldRun;
use crate::campaign::{CampaignError, Provenance, Queries, Timings};
use crate::executor::{End, Execution, ExecutorError, Output, ProcessCounts, Values};
use crate::pool::{Candidate, RunId};
use crate::self_check::Mismatch;
use crate::terms::{KeptExpressions, TermError};
use crate::trace::{Choice, Expectation, PathLog, Trace, TraceError};

/// One proposal to work off.
pub(in crate::campaign) struct Job {
    pub(in crate::campaign) task: Task,
    /// Outcomes whose branch distance the run is measured for.
    pub(in crate::campaign) targets: Option<Arc<OpenBranches>>,
    /// The run that it asks about.
    pub(in crate::campaign) run: Option<RunId>,
}

pub(in crate::campaign) enum Task {
    Run {
        input: Input,
        provenance: Provenance,
        /// Whether to make expressions.
        symbolic: bool,
    },
    /// Many inputs in one process, to see which are worth a run of their own.
    TryAll(Vec<Values>),
    Flip {
        parent: Parent,
        candidate: Candidate,
        /// For a pin: the values it has had.
        pinned: Vec<u64>,
        /// Whether an input that has the outcome alone is worth an execution where none takes the path.
        may_leave_path: bool,
        solver_limit: Limit,
    },
    /// The run with other outcomes.
    Change { parent: Parent, run: RunId, steps: ChangedSteps, solver_limit: Limit },
    /// The path of this input, with addresses.
    Read(Arc<Input>),
}

/// Steps of a run that are to have other outcomes, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::campaign) struct ChangedSteps {
    /// The step, its site, and what is to come of it; at least one.
    pub(in crate::campaign) changes: Vec<(u32, Site, Choice)>,
    /// Steps that will then not be there.
    pub(in crate::campaign) undone: Vec<Range<u32>>,
}

/// The run that a candidate leaves.
pub(in crate::campaign) struct Parent {
    pub(in crate::campaign) input: Arc<Input>,
    /// Without it the parent is executed again.
    pub(in crate::campaign) held: Option<Arc<HeldRun>>,
}

/// What came of a job.
pub(in crate::campaign) struct JobReport {
    pub(in crate::campaign) outcome: Outcome,
    pub(in crate::campaign) queries: Queries,
    /// What the solver spent.
    pub(in crate::campaign) solver_effort: u64,
    /// The same with what executions and their terms took.
    pub(in crate::campaign) effort: u64,
    /// Queries that processor time ended.
    pub(in crate::campaign) n_overdue: u64,
    pub(in crate::campaign) re_executions: u64,
    /// Runs that left another trace in a process of their own.
    pub(in crate::campaign) n_unlike: u64,
    pub(in crate::campaign) processes: ProcessCounts,
    /// The parent, if it was executed again.
    pub(in crate::campaign) repeated: Option<(RunId, Arc<HeldRun>)>,
    pub(in crate::campaign) timings: Timings,
}

/// What came of the first part of a job.
pub(in crate::campaign) enum Begun {
    Done(Box<JobReport>),
    ToExecute(Box<Order>),
}

/// The second part of a job. What comes of it does not depend on the worker that does it.
pub(in crate::campaign) struct Order {
    pub(super) execute: Execute,
    pub(super) targets: Option<Arc<OpenBranches>>,
    /// What the first part took.
    pub(super) spent: Spent,
    pub(super) n_steps: u64,
}

/// An input to execute.
pub(super) struct Execute {
    pub(super) input: Input,
    pub(super) provenance: Provenance,
    /// Whether to make expressions.
    pub(super) symbolic: bool,
    pub(super) expectation: Option<Expectation>,
    /// Whether values that expressions rely on were given up to find it, and where those stand.
    pub(super) is_guess: bool,
    pub(super) given_up: BTreeSet<Lost>,
    /// Whether no input takes the candidate's path, and this one has its last outcome alone.
    pub(super) leaves_path: bool,
}

impl Execute {
    pub(super) fn new(input: Input, provenance: Provenance, symbolic: bool) -> Self {
        let (expectation, is_guess, given_up, leaves_path) = (None, false, BTreeSet::new(), false);
        Self { input, provenance, symbolic, expectation, is_guess, given_up, leaves_path }
    }
}

/// What a job took.
pub(super) struct Spent {
    pub(super) queries: Queries,
    pub(super) solver_effort: u64,
    /// Besides executions.
    pub(super) done: Done,
    pub(super) n_overdue: u64,
    pub(super) re_executions: u64,
    pub(super) n_unlike: u64,
    pub(super) processes: ProcessCounts,
    pub(super) repeated: Option<(RunId, Arc<HeldRun>)>,
    pub(super) timings: Timings,
}

impl Spent {
    /// Adds what the second part took, which asks no solver and executes no parent.
    pub(super) fn add(&mut self, other: Self) {
        self.done.n_nodes += other.done.n_nodes;
        self.done.n_walked += other.done.n_walked;
        self.n_unlike += other.n_unlike;
        self.processes.add(other.processes);
        self.timings.add(other.timings);
    }

    pub(super) fn report(self, outcome: Outcome) -> JobReport {
        let n_executions = u64::from(matches!(outcome, Outcome::Ran { .. })) + self.re_executions;
        let done = Done { n_executions, ..self.done };
        JobReport {
            outcome,
            queries: self.queries,
            solver_effort: self.solver_effort,
            effort: self.solver_effort + done.effort(),
            n_overdue: self.n_overdue,
            re_executions: self.re_executions,
            n_unlike: self.n_unlike,
            processes: self.processes,
            repeated: self.repeated,
            timings: self.timings,
        }
    }
}

pub(in crate::campaign) enum Outcome {
    Ran {
        ran: Box<Ran>,
        provenance: Provenance,
    },
    /// How many were tried, how many of these were cut off because they took too long, what that took, and what looks new.
    Tried {
        n_tries: usize,
        n_cut_off: usize,
        effort: u64,
        looks_new: Vec<Input>,
    },
    /// The path that was asked for.
    Read(PathLog),
    Unsat,
    /// The solver gave up; a larger limit may help if it timed out.
    Unknown {
        timed_out: bool,
    },
    /// The step cannot have another outcome, whatever the input.
    NoAlternative,
    /// The parent took another path when executed again.
    NotRepeated,
    BadExpressions {
        input: Input,
        error: TermError,
    },
    /// The budget ended or the campaign was interrupted.
    Stopped,
    Failed(CampaignError),
}

impl From<ExecutorError> for Outcome {
    fn from(error: ExecutorError) -> Self {
        match error {
            ExecutorError::Interrupted => Self::Stopped,
            error => Self::Failed(error.into()),
        }
    }
}

/// A run of a new input.
pub(in crate::campaign) struct Ran {
    /// With all cells that the run asked for.
    pub(in crate::campaign) input: Arc<Input>,
    pub(in crate::campaign) end: End,
    pub(in crate::campaign) marks: Marks,
    /// Where it accessed memory outside of an object.
    pub(in crate::campaign) outside: Option<Outside>,
    pub(in crate::campaign) output: Output,
    pub(in crate::campaign) cells: Vec<wire::Cell>,
    pub(in crate::campaign) trace: Result<Trace, TraceError>,
    /// What queries about it need, unless that is too much.
    pub(in crate::campaign) expressions: Option<KeptExpressions>,
    /// If it is to be kept.
    pub(in crate::campaign) path: Option<PathLog>,
    pub(in crate::campaign) distances: BTreeMap<(Site, Choice), NearestStep>,
    /// Cells without influence on its path, if that is known.
    pub(in crate::campaign) idle: Option<Vec<Key>>,
    /// What the self-check found, if it was asked for.
    pub(in crate::campaign) checked: Result<Vec<Mismatch>, TermError>,
    /// Whether values that expressions rely on were given up to find the input: its path is a guess.
    pub(in crate::campaign) is_guess: bool,
    /// Where those values stand.
    pub(in crate::campaign) given_up: BTreeSet<Lost>,
    /// Whether no input takes the candidate's path, and the input has its last outcome alone.
    pub(in crate::campaign) leaves_path: bool,
    /// What it did, counted as effort.
    pub(in crate::campaign) length: u64,
}

impl Ran {
    pub(super) fn new(mut input: Input, execution: &Execution<'_>, trace: Result<Trace, TraceError>) -> Self {
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
            expressions: None,
            path: None,
            distances: BTreeMap::new(),
            idle: None,
            checked: Ok(Vec::new()),
            is_guess: false,
            leaves_path: false,
            given_up: BTreeSet::new(),
            length: 0,
        }
    }

    /// The input without values for parts of objects that this run never asked for.
    pub(in crate::campaign) fn asked(&self) -> Arc<Input> {
        // keys of parts are the highest
        let has_parts = self.input.values.last_key_value().is_some_and(|(key, _)| key.is_part());
        if !has_parts || self.marks.cells_full {
            return Arc::clone(&self.input);
        }
        let mut input = (*self.input).clone();
        let asked: BTreeSet<Key> = self.cells.iter().map(|cell| Key(cell.key)).collect();
        input.values.retain(|key, _| !key.is_part() || asked.contains(key));
        Arc::new(input)
    }
}
