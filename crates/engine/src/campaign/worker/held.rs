//! Runs whose paths and terms a worker keeps, so that candidates of theirs cost no execution.

use std::sync::Arc;

use model::Program;
use model::input::Input;
use smt::Term;
use wire::NodeId;

use crate::pool::{Candidate, Turn};
use crate::terms::{Expressions, Memo, TermError, Vocabulary};
use crate::trace::{Choice, Note, PathStep, Trace};

/// Steps of a run whose terms are made at once, while its expressions are there.
const STEPS_AT_ONCE: usize = 1 << 12;

/// A run and the terms made for it so far.
pub(super) struct HeldRun {
    pub(super) input: Arc<Input>,
    pub(super) trace: Arc<Trace>,
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

impl HeldRun {
    pub(super) fn new(input: Arc<Input>, trace: Arc<Trace>) -> Self {
        Self { input, trace, memo: Memo::default(), steps: Vec::new(), notes: Vec::new() }
    }

    /// Where the candidate leaves the run; `None` when the run took another path.
    pub(super) fn find(&self, candidate: &Candidate) -> Option<FlipPoint> {
        let n_steps = candidate.step as usize;
        match candidate.turn {
            Turn::Step { choice, .. } => {
                let step = *self.trace.steps.get(n_steps)?;
                (step.name_with(choice) == candidate.path).then_some(FlipPoint::Step {
                    step,
                    choice,
                    n_steps,
                })
            }
            Turn::Pin { note } => {
                let at = self.trace.pins.binary_search_by_key(&note, |pin| pin.note).ok()?;
                let is_same = self.trace.pins[at].path == candidate.path;
                let n_notes = note as usize;
                match self.trace.notes[n_notes] {
                    Note::Pin { node, .. } if is_same => Some(FlipPoint::Pin { node, n_steps, n_notes }),
                    Note::Size { node, value } if is_same => {
                        Some(FlipPoint::Size { node, value, n_steps, n_notes })
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
                    Note::Bounds { node, .. } if is_same => {
                        Some(FlipPoint::Bounds { node, n_steps, n_notes })
                    }
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
    pub(super) fn make_terms(
        &mut self,
        program: &Program,
        vocabulary: &mut Vocabulary,
        expressions: &Expressions<'_>,
        (n_steps, n_notes): (usize, usize),
    ) -> Result<(), TermError> {
        let Self { trace, memo, steps, notes, .. } = self;
        // the step itself too: the constraint for another outcome is made from the same
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

impl FlipPoint {
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
