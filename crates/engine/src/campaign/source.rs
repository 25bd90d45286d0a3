//! What is a source of work?
//!
//! A [`Source`] proposes what to do next and hears what came of all work, its own and that of the others. It only chooses:
//! the campaign executes, solves, and keeps what is worth keeping. The sources of a campaign and the order in which they
//! are asked stand in [`super::sources`].

use std::collections::BTreeMap;

use coverage::observe::Observations;
use coverage::structure::Structure;
use coverage::{Coverage, Facts};
use model::Program;
use model::input::{Input, Key};
use model::walk::{Choice, Site};
use wire::{Cell, CellKind, Outside};

use super::reaching::Reaching;
use super::worker::ChangedSteps;
use super::{Clock, Enums, Provenance, Test};
use crate::branch_distance::NearestStep;
use crate::executor::{End, Values};
use crate::pool::{CandidateId, Pool, RunId};
use crate::rng::Rng;
use crate::trace::{PathLog, Tracer};

/// Proposes work.
pub(super) trait Source {
    /// What to do next.
    fn propose(&mut self, occasion: Occasion, view: &CampaignView<'_>, rng: &mut Rng) -> Answer;

    /// Hears what came of work, nearly in the order in which it was proposed: what takes long may come later.
    fn heard(&mut self, _news: &News<'_>, _view: &CampaignView<'_>) {}
}

/// Why a source is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Occasion {
    /// It is its turn, if it wants one now.
    InTurn,
    /// Those before it have nothing left.
    LastResort,
}

/// What a source says when it is asked.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Propose(Proposal),
    /// Nothing now: the next source is asked.
    Pass,
    /// Nothing now, but something has changed: all sources are asked again, from the first.
    AskAgain,
    /// What comes next depends on a result that is not known yet: nobody is asked before it is.
    Wait,
}

/// What the campaign is to do.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Proposal {
    /// Run this input.
    Run {
        input: Input,
        provenance: Provenance,
        /// Whether to make expressions, from which candidates come.
        symbolic: bool,
    },
    /// Try these inputs, many in one process, to see which of them look new.
    Try(Vec<Values>),
    /// Solve this candidate of the pool and run what the solver finds.
    Flip(CandidateId),
    /// Give outcomes of a run others, all in one query, and run what the solver finds.
    Change { run: RunId, steps: ChangedSteps },
    /// Run this input, which was made of runs with other outcomes.
    Alike(Input),
    /// Execute this run again and keep its path, with the addresses that data flow needs.
    Read(RunId),
}

/// Where finished work comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// An input to run with expressions.
    Input,
    /// Inputs to run without: mutation's.
    Trial,
    Candidate(CandidateId),
    /// A run with other outcomes.
    Change,
    /// A run that was executed again to have its path.
    Read(RunId),
}

impl Proposal {
    pub(super) fn origin(&self) -> Origin {
        match self {
            Self::Run { symbolic: true, .. } => Origin::Input,
            Self::Run { symbolic: false, .. } | Self::Try(_) => Origin::Trial,
            Self::Flip(candidate) => Origin::Candidate(*candidate),
            Self::Change { .. } | Self::Alike(_) => Origin::Change,
            Self::Read(run) => Origin::Read(*run),
        }
    }
}

impl Origin {
    pub(super) fn candidate(self) -> Option<CandidateId> {
        match self {
            Self::Candidate(id) => Some(id),
            Self::Input | Self::Trial | Self::Change | Self::Read(_) => None,
        }
    }
}

/// The kinds of cells that runs asked for, with their widths.
pub(super) type KnownCells = BTreeMap<Key, (u32, CellKind)>;

/// What sources may look at.
#[derive(Clone, Copy)]
pub(super) struct CampaignView<'a> {
    pub(super) program: &'a Program,
    pub(super) tracer: &'a Tracer<'a>,
    pub(super) clock: &'a dyn Clock,
    pub(super) coverage: &'a Coverage,
    pub(super) facts: &'a Facts,
    pub(super) reaching: &'a Reaching,
    pub(super) structure: &'a Structure<'a>,
    pub(super) pool: &'a Pool,
    /// The tests kept so far.
    pub(super) tests: &'a [Test],
    pub(super) cells: &'a KnownCells,
    pub(super) enums: &'a Enums,
    /// Whether runs lost values that the input decides: no candidate leads to what depends on them.
    pub(super) is_blind: bool,
    /// Runs of new inputs, and how many of them count towards the budget.
    pub(super) executions: u64,
    pub(super) n_searched: u64,
}

impl CampaignView<'_> {
    /// Whether a candidate is still worth the work: no run has taken its path, and it may reach something open.
    pub(super) fn admits(&self, id: CandidateId) -> bool {
        !self.pool.is_taken(id) && !self.pool.is_filtered(id, self.structure, self.coverage)
    }

    /// Whether inputs of an earlier campaign cover everything, so that there is nothing to begin.
    pub(super) fn is_complete_from_the_start(&self) -> bool {
        self.executions > 0 && self.n_searched == 0 && self.coverage.is_complete()
    }
}

/// What came of work.
#[derive(Clone, Copy, Debug)]
pub(super) enum News<'a> {
    /// A job is done, whatever came of it. `solver_effort` is the part of its `effort` that the solver spent.
    Worked { origin: Origin, solver_effort: u64, effort: u64 },
    /// Inputs were tried; these look new.
    Tried { n_tries: usize, effort: u64, looks_new: &'a [Input] },
    /// The solver gave up on a candidate; a larger limit may help if it `timed_out`.
    Unsolved { candidate: CandidateId, timed_out: bool },
    /// An input was run and its path is known.
    Ran(RunNews<'a>),
    /// The path of a run was kept.
    Read { run: RunId, path: &'a PathLog },
    /// The candidates of a run are in the pool.
    Collected { run: RunId, candidates: &'a [CandidateId] },
}

/// A run as sources hear of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct RunNews<'a> {
    pub(super) origin: Origin,
    pub(super) provenance: Provenance,
    pub(super) input: &'a Input,
    /// What it did.
    pub(super) observations: &'a Observations,
    /// How near it came to branches that it was measured for.
    pub(super) distances: &'a BTreeMap<(Site, Choice), NearestStep>,
    pub(super) cells: &'a [Cell],
    /// Cells without influence on its path, if that is known.
    pub(super) without_influence: Option<&'a [Key]>,
    pub(super) end: End,
    /// Where it accessed memory outside of an object.
    pub(super) outside: Option<Outside>,
    /// Whether it covered a goal first.
    pub(super) covers_new: bool,
    /// Whether goals may have become nearer or out of reach.
    pub(super) changed: bool,
}
