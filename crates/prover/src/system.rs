//! All segments of a graph with the events of a batch of goals: what an engine works on.

use std::collections::{BTreeMap, BTreeSet};

use proof::{Body, Formula};

use crate::encode::{Encoder, Segment, Start, TooLarge};
use crate::graph::CutId;
use crate::known::Facts;
use crate::question::{Effort, Questions};
use crate::state::State;
use crate::terms::{Bits, Truth};

/// The segments of a graph.
pub(crate) struct System<'a, 'm> {
    pub(crate) encoder: Encoder<'a, 'm>,
    pub(crate) segments: Vec<Segment<'m>>,
    /// Goals that an activation may cover, as it is encoded: no argument excludes them.
    pub(crate) reached: BTreeSet<usize>,
    /// What earlier turns found, and this one.
    pub(crate) facts: Facts,
}

/// Why a goal is infeasible.
#[derive(Clone)]
pub(crate) struct Argument {
    /// What holds at the cuts, in their order.
    pub(crate) invariants: Vec<Formula>,
    pub(crate) body: Body,
}

/// A way to find proofs. Engines differ in the formulas that they try at cuts.
pub(crate) trait Prover {
    /// The goals that it shows to be infeasible, with what holds at the cuts.
    fn prove(
        &self,
        system: &mut System<'_, '_>,
        open: &BTreeSet<usize>,
        effort: &Effort,
    ) -> BTreeMap<usize, Argument>;
}

impl<'a, 'm> System<'a, 'm> {
    pub(crate) fn new(mut encoder: Encoder<'a, 'm>) -> Result<Self, TooLarge> {
        let mut segments = vec![encoder.segment(Start::Entry)?];
        for (cut, _) in encoder.graph.cuts() {
            segments.push(encoder.segment(Start::Cut(cut))?);
        }
        Ok(Self { encoder, segments, reached: BTreeSet::new(), facts: Facts::default() })
    }

    pub(crate) fn n_cuts(&self) -> usize {
        self.segments.len() - 1
    }

    /// Formulas that say nothing.
    pub(crate) fn nothing(&self) -> Vec<Formula> {
        vec![Formula::Bool(true); self.n_cuts()]
    }

    /// The number of the segment that begins at a cut.
    pub(crate) fn segment_of(cut: CutId) -> usize {
        cut.index() + 1
    }

    /// Adds segments until so many follow each other from each start; false if they become too large.
    pub(crate) fn deepen(&mut self, depth: usize) -> bool {
        let Self { encoder, segments, .. } = self;
        encoder.allow_more();
        segments.iter_mut().all(|segment| {
            while segment.levels.len() < depth {
                if encoder.deepen(segment).is_err() {
                    return false;
                }
            }
            true
        })
    }

    /// When the goal is covered after so many cuts behind the segment's start.
    fn event(&mut self, segment: usize, level: usize, goal: usize) -> Truth<'m> {
        let no = self.encoder.terms.truth(false);
        let events = self.segments[segment].levels[level].events.iter().filter(|(of, _)| *of == goal);
        events.fold(no, |any, (_, when)| self.encoder.terms.or(any, *when))
    }

    /// What must be impossible for an induction over so many segments: from the entry, that the goal is covered in any of
    /// them; from a cut, that it is in the last one and was in none before.
    pub(crate) fn bad(&mut self, segment: usize, depth: usize, goal: usize) -> Truth<'m> {
        let mut before = self.encoder.terms.truth(false);
        for level in 0..depth - 1 {
            let event = self.event(segment, level, goal);
            before = self.encoder.terms.or(before, event);
        }
        let last = self.event(segment, depth - 1, goal);
        if segment == 0 {
            return self.encoder.terms.or(before, last);
        }
        let not_before = self.encoder.terms.not(before);
        self.encoder.terms.and(last, not_before)
    }

    pub(crate) fn questions(&self, effort: &Effort) -> Questions<'m> {
        self.questions_of_kind(effort, false)
    }

    /// For many questions that differ in a few of their assumptions.
    pub(crate) fn similar_questions(&self, effort: &Effort) -> Questions<'m> {
        self.questions_of_kind(effort, true)
    }

    fn questions_of_kind(&self, effort: &Effort, similar: bool) -> Questions<'m> {
        let Encoder { terms, objects, .. } = &self.encoder;
        Questions::new(terms, self.segments.len(), objects.facts(), effort, similar)
    }

    /// A formula where a segment begins.
    pub(crate) fn at_start(&mut self, segment: usize, formula: &Formula) -> Option<Truth<'m>> {
        let state = self.start(segment);
        self.encoder.truth_of(&mut self.segments[segment].symbols, &state, formula)
    }

    /// A number where a segment begins.
    pub(crate) fn bits_at_start(&mut self, segment: usize, formula: &Formula) -> Option<Bits<'m>> {
        let state = self.start(segment);
        self.encoder.bits_of(&mut self.segments[segment].symbols, &state, formula)
    }

    /// A number where a segment arrives at a cut.
    pub(crate) fn bits_at_arrival(
        &mut self,
        segment: usize,
        cut: CutId,
        formula: &Formula,
    ) -> Option<Bits<'m>> {
        let Segment { symbols, levels } = &mut self.segments[segment];
        self.encoder.bits_of(symbols, &levels[0].arrivals[&cut], formula)
    }

    fn start(&self, segment: usize) -> State<'m> {
        let (path, memory) = (self.encoder.terms.truth(true), self.segments[segment].symbols.memory);
        State { path, values: BTreeMap::new(), memory }
    }

    /// A formula where a segment arrives at a cut.
    pub(crate) fn at_arrival(&mut self, segment: usize, cut: CutId, formula: &Formula) -> Option<Truth<'m>> {
        let Segment { symbols, levels } = &mut self.segments[segment];
        self.encoder.truth_of(symbols, &levels[0].arrivals[&cut], formula)
    }
}
