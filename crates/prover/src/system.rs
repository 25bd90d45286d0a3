//! All segments of a graph with the events of a batch of goals: what an engine works on.

use std::collections::{BTreeMap, BTreeSet};

use proof::Formula;

use crate::encode::{Encoder, Segment, Start, TooLarge};
use crate::graph::CutId;
use crate::question::{Answer, Effort, Questions};
use crate::state::State;
use crate::terms::Truth;

/// The segments of a graph.
pub(crate) struct System<'a, 'm> {
    pub(crate) encoder: Encoder<'a, 'm>,
    pub(crate) segments: Vec<Segment<'m>>,
}

/// A formula for each cut, in the order of the cuts.
pub(crate) type Invariants = Vec<Formula>;

/// A way to find proofs. Engines differ in the formulas that they try at cuts.
pub(crate) trait Prover {
    /// The goals that it shows to be infeasible, with what holds at the cuts.
    fn prove(
        &self,
        system: &mut System<'_, '_>,
        open: &BTreeSet<usize>,
        effort: &Effort,
    ) -> BTreeMap<usize, Invariants>;
}

impl<'a, 'm> System<'a, 'm> {
    pub(crate) fn new(mut encoder: Encoder<'a, 'm>) -> Result<Self, TooLarge> {
        let mut segments = vec![encoder.segment(Start::Entry)?];
        for (cut, _) in encoder.graph.cuts() {
            segments.push(encoder.segment(Start::Cut(cut))?);
        }
        Ok(Self { encoder, segments })
    }

    pub(crate) fn n_cuts(&self) -> usize {
        self.segments.len() - 1
    }

    /// The number of the segment that begins at a cut.
    pub(crate) fn segment_of(cut: CutId) -> usize {
        cut.index() + 1
    }

    /// When the goal is covered in the segment.
    pub(crate) fn event(&mut self, segment: usize, goal: usize) -> Truth<'m> {
        let no = self.encoder.terms.truth(false);
        let events = self.segments[segment].events.iter().filter(|(of, _)| *of == goal);
        events.fold(no, |any, (_, when)| self.encoder.terms.or(any, *when))
    }

    pub(crate) fn questions(&self, effort: &Effort) -> Questions<'m> {
        Questions::new(self.encoder.terms.manager(), self.encoder.objects.facts(), effort)
    }

    /// A formula where a segment begins.
    pub(crate) fn at_start(&mut self, segment: usize, formula: &Formula) -> Option<Truth<'m>> {
        let memory = self.segments[segment].symbols.memory;
        let path = self.encoder.terms.truth(true);
        let state = State { path, values: BTreeMap::new(), memory };
        self.encoder.truth_of(&mut self.segments[segment].symbols, &state, formula)
    }

    /// A formula where a segment arrives at a cut.
    pub(crate) fn at_arrival(&mut self, segment: usize, cut: CutId, formula: &Formula) -> Option<Truth<'m>> {
        let Segment { symbols, arrivals, .. } = &mut self.segments[segment];
        self.encoder.truth_of(symbols, &arrivals[&cut], formula)
    }
}

/// Cuts loops without knowing anything there.
pub(crate) struct LoopFree;

impl Prover for LoopFree {
    fn prove(
        &self,
        system: &mut System<'_, '_>,
        open: &BTreeSet<usize>,
        effort: &Effort,
    ) -> BTreeMap<usize, Invariants> {
        let mut possible: BTreeSet<usize> = BTreeSet::new();
        for segment in 0..system.segments.len() {
            let mut questions = system.questions(effort);
            for &goal in open {
                if possible.contains(&goal) {
                    continue;
                }
                let event = system.event(segment, goal);
                if system.encoder.terms.is_false(event) {
                    continue;
                }
                match questions.ask(&[event]) {
                    Answer::Impossible => {}
                    Answer::Possible | Answer::Unknown => {
                        possible.insert(goal);
                    }
                }
            }
        }
        let nothing = vec![Formula::Bool(true); system.n_cuts()];
        open.difference(&possible).map(|goal| (*goal, nothing.clone())).collect()
    }
}
