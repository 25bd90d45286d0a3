//! What do the steps and notes of a run demand, as terms? Made when a query needs them, and kept for the next one.
//!
//! Terms of all runs share one store, which the solver's caches live on, until it grows too large. Limit: when there are too
//! many, all are made anew; that costs time, and no execution.

use std::collections::BTreeMap;
use std::mem::{self, size_of};

use model::Program;
use smt::Term;
use wire::NodeId;

use crate::campaign::held::HeldRun;
use crate::pool::{Candidate, RunId, Turn};
use crate::terms::{Memo, TermError, Vocabulary};
use crate::trace::{Choice, Note, PathStep};

/// Terms in a store before a new one is begun.
const MAX_TERMS: usize = 4 << 20;
/// Bytes for knowing which terms were made for which run.
const MAX_BYTES: usize = 64 << 20;

/// The terms of all runs that a worker was asked about.
#[derive(Default)]
pub(super) struct Dictionary {
    pub(super) vocabulary: Vocabulary,
    runs: BTreeMap<RunId, RunTerms>,
    /// Bytes that the runs' terms took when they were last used.
    n_bytes: usize,
}

/// The terms made for a run so far.
#[derive(Default)]
pub(super) struct RunTerms {
    pub(super) memo: Memo,
    /// Constraints of the first steps and notes.
    pub(super) steps: Vec<Term>,
    pub(super) notes: Vec<Term>,
}

/// Where a candidate leaves the path of its run.
#[derive(Clone, Copy)]
pub(super) enum FlipPoint {
    Step { step: PathStep, choice: Choice, n_steps: usize },
    Pin { node: NodeId, n_steps: usize, n_notes: usize },
    Size { node: NodeId, value: u64, n_steps: usize, n_notes: usize },
    Bounds { node: NodeId, n_steps: usize, n_notes: usize },
}

impl Dictionary {
    /// Begins anew when there is too much.
    pub(super) fn limit(&mut self) {
        if self.vocabulary.store().n_terms() > MAX_TERMS {
            *self = Self::default();
        }
        if self.n_bytes > MAX_BYTES {
            (self.runs, self.n_bytes) = (BTreeMap::new(), 0);
        }
    }

    pub(super) fn n_terms(&self) -> usize {
        self.vocabulary.store().n_terms()
    }

    /// The terms of a run, to be given back.
    pub(super) fn take(&mut self, run: RunId) -> RunTerms {
        let terms = self.runs.remove(&run).unwrap_or_default();
        self.n_bytes -= terms.n_bytes();
        terms
    }

    pub(super) fn give_back(&mut self, run: RunId, terms: RunTerms) {
        self.n_bytes += terms.n_bytes();
        self.runs.insert(run, terms);
    }

    /// Forgets the terms of a run that was executed again.
    pub(super) fn forget(&mut self, run: RunId) {
        mem::drop(self.take(run));
    }
}

impl RunTerms {
    /// Makes the terms of so many steps and notes.
    pub(super) fn make(
        &mut self,
        program: &Program,
        vocabulary: &mut Vocabulary,
        held: &HeldRun,
        (n_steps, n_notes): (usize, usize),
    ) -> Result<(), TermError> {
        let Self { memo, steps, notes } = self;
        let expressions = held.expressions.lend();
        for step in held.steps.get(steps.len()..n_steps).unwrap_or_default() {
            steps.push(vocabulary.constraint(program, &expressions, memo, step, step.taken)?);
        }
        for note in held.notes.get(notes.len()..n_notes).unwrap_or_default() {
            notes.push(vocabulary.note(&expressions, memo, note)?);
        }
        Ok(())
    }

    fn n_bytes(&self) -> usize {
        self.memo.n_bytes() + (self.steps.capacity() + self.notes.capacity()) * size_of::<Term>()
    }
}

impl FlipPoint {
    /// Where the candidate leaves the run; `None` when the run took another path.
    pub(super) fn find(held: &HeldRun, candidate: &Candidate) -> Option<Self> {
        let n_steps = candidate.step as usize;
        match candidate.turn {
            Turn::Step { choice, .. } => {
                let step = *held.steps.get(n_steps)?;
                (step.name_with(choice) == candidate.path).then_some(Self::Step { step, choice, n_steps })
            }
            Turn::Pin { note } => {
                let at = held.pins.binary_search_by_key(&note, |pin| pin.note).ok()?;
                let is_same = held.pins[at].path == candidate.path;
                let n_notes = note as usize;
                match held.notes[n_notes] {
                    Note::Pin { node, .. } | Note::Pointer { node, .. } if is_same => {
                        Some(Self::Pin { node, n_steps, n_notes })
                    }
                    Note::Size { node, value, .. } if is_same => {
                        Some(Self::Size { node, value, n_steps, n_notes })
                    }
                    Note::Pin { .. }
                    | Note::Pointer { .. }
                    | Note::Size { .. }
                    | Note::Assume { .. }
                    | Note::Bounds { .. }
                    | Note::Prefer { .. } => None,
                }
            }
            Turn::Bounds { note, .. } => {
                let at = held.accesses.binary_search_by_key(&note, |access| access.note).ok()?;
                let is_same = held.accesses[at].path == candidate.path;
                let n_notes = note as usize;
                match held.notes[n_notes] {
                    Note::Bounds { node, .. } if is_same => Some(Self::Bounds { node, n_steps, n_notes }),
                    Note::Bounds { .. }
                    | Note::Pin { .. }
                    | Note::Pointer { .. }
                    | Note::Size { .. }
                    | Note::Assume { .. }
                    | Note::Prefer { .. } => None,
                }
            }
        }
    }

    /// How many steps and notes come before.
    pub(super) fn counts(&self) -> (usize, usize) {
        match *self {
            Self::Step { step, n_steps, .. } => (n_steps, step.n_notes as usize),
            Self::Pin { n_steps, n_notes, .. }
            | Self::Size { n_steps, n_notes, .. }
            | Self::Bounds { n_steps, n_notes, .. } => (n_steps, n_notes),
        }
    }
}
