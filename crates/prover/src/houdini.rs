//! Houdini: of many candidates at each cut, keep those that hold together whenever control arrives there.
//!
//! Method: begin with all candidates; a segment that can arrive at a cut while some of them do not hold strikes these out;
//! repeat until nothing is struck out. What is left is inductive. Then each goal costs one question per segment. A proof
//! states only what its goal needs: the solver names the assumptions of each answer, and what these need in turn.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use proof::{Body, Formula, Operator};

use crate::candidates::{Constants, Richness, candidates};
use crate::graph::CutId;
use crate::question::{Answer, Effort, Questions};
use crate::system::{Argument, Prover, System};
use crate::terms::Truth;

/// The engine with a set of candidates.
pub(crate) struct Houdini {
    pub(crate) richness: Richness,
    /// Segments one after the other that an induction may take.
    pub(crate) depth: usize,
}

/// Induction over several segments, without formulas.
pub(crate) struct KInduction {
    pub(crate) depth: usize,
}

impl Prover for KInduction {
    fn prove(
        &self,
        system: &mut System<'_, '_>,
        open: &BTreeSet<usize>,
        effort: &Effort,
    ) -> BTreeMap<usize, Argument> {
        let mut questions: Vec<Questions<'_>> =
            (0..system.segments.len()).map(|_| system.questions(effort)).collect();
        Candidates::none(system).decide(system, &mut questions, open, 2..=self.depth)
    }
}

/// A candidate by its cut and its number there.
type Claimed = (usize, usize);

/// The candidates of all cuts in terms of the segments.
#[derive(Clone)]
pub(crate) struct Candidates<'m> {
    /// By cut.
    pub(crate) formulas: Vec<Vec<Formula>>,
    /// By cut: what each is where the cut's segment begins.
    pub(crate) at_start: Vec<Vec<Truth<'m>>>,
    /// By segment and cut: when control arrives, and what each is then.
    pub(crate) at_arrival: Vec<BTreeMap<CutId, (Truth<'m>, Vec<Truth<'m>>)>>,
    /// By cut.
    alive: Vec<Vec<usize>>,
}

impl Prover for Houdini {
    fn prove(
        &self,
        system: &mut System<'_, '_>,
        open: &BTreeSet<usize>,
        effort: &Effort,
    ) -> BTreeMap<usize, Argument> {
        let Some(mut candidates) = Candidates::new(system, self.richness) else { return BTreeMap::new() };
        let mut questions: Vec<Questions<'_>> =
            (0..system.segments.len()).map(|_| system.questions(effort)).collect();
        let is_inductive = candidates.strike_out(system, &mut questions);
        candidates.note_broken(system, self.richness);
        if !is_inductive {
            return BTreeMap::new();
        }
        candidates.decide(system, &mut questions, open, 1..=self.depth)
    }
}

impl<'m> Candidates<'m> {
    /// Nothing is believed.
    pub(crate) fn none(system: &System<'_, 'm>) -> Self {
        let n_cuts = system.n_cuts();
        let arrivals = system.segments.iter().map(|segment| {
            segment.arrivals().iter().map(|(cut, state)| (*cut, (state.path, Vec::new()))).collect()
        });
        Self {
            formulas: vec![Vec::new(); n_cuts],
            at_start: vec![Vec::new(); n_cuts],
            at_arrival: arrivals.collect(),
            alive: vec![Vec::new(); n_cuts],
        }
    }

    /// Which goals are infeasible by what is left, with inductions over so many segments.
    fn decide(
        &self,
        system: &mut System<'_, 'm>,
        questions: &mut [Questions<'m>],
        open: &BTreeSet<usize>,
        depths: RangeInclusive<usize>,
    ) -> BTreeMap<usize, Argument> {
        let mut proved = BTreeMap::new();
        for depth in depths {
            if proved.len() == open.len() || !system.deepen(depth) {
                break;
            }
            for &goal in open {
                if !proved.contains_key(&goal)
                    && let Some(needed) = self.refute(system, questions, depth, goal)
                    && let Some(needed) = self.close(system, questions, needed)
                {
                    let body = match depth {
                        1 => Body::Inductive,
                        _ => Body::KInduction(depth as u32),
                    };
                    proved.insert(goal, Argument { invariants: self.invariants(&needed), body });
                }
            }
        }
        proved
    }

    /// None if the encoding would be too large.
    pub(crate) fn new(system: &mut System<'_, 'm>, richness: Richness) -> Option<Self> {
        system.encoder.allow_more();
        let constants = Constants::of(&system.encoder);
        let cuts: Vec<_> = system.encoder.graph.cuts().collect();
        let mut all = Self {
            formulas: Vec::new(),
            at_start: Vec::new(),
            at_arrival: vec![BTreeMap::new(); system.segments.len()],
            alive: Vec::new(),
        };
        for (cut, node) in cuts {
            let mut formulas = candidates(&system.encoder, &constants, node, richness);
            if let Some(broken) = system.facts.broken.get(&(richness, cut.index())) {
                formulas.retain(|formula| !broken.contains(formula));
            }
            let mut at_start = Vec::new();
            formulas.retain(|formula| {
                let truth = system.at_start(System::segment_of(cut), formula);
                at_start.extend(truth);
                truth.is_some()
            });
            for segment in 0..system.segments.len() {
                let Some(path) = system.segments[segment].arrivals().get(&cut).map(|state| state.path) else {
                    continue;
                };
                let truths: Option<Vec<Truth<'m>>> =
                    formulas.iter().map(|formula| system.at_arrival(segment, cut, formula)).collect();
                all.at_arrival[segment].insert(cut, (path, truths?));
                if system.encoder.is_too_large() {
                    return None;
                }
            }
            all.alive.push((0..formulas.len()).collect());
            all.at_start.push(at_start);
            all.formulas.push(formulas);
        }
        Some(all)
    }

    /// Believes a formula at a cut, too; one that cannot be expressed is left out.
    pub(crate) fn add(&mut self, system: &mut System<'_, 'm>, cut: CutId, formula: Formula) {
        let Some(at_start) = system.at_start(System::segment_of(cut), &formula) else { return };
        for segment in 0..system.segments.len() {
            if let Some((_, truths)) = self.at_arrival[segment].get_mut(&cut) {
                let no = system.encoder.terms.truth(false);
                truths.push(system.at_arrival(segment, cut, &formula).unwrap_or(no));
            }
        }
        let at = cut.index();
        self.alive[at].push(self.formulas[at].len());
        self.at_start[at].push(at_start);
        self.formulas[at].push(formula);
    }

    /// What is believed at each cut.
    pub(crate) fn believed(&self) -> Vec<Vec<Truth<'m>>> {
        (1..=self.formulas.len()).map(|segment| self.assumed(segment)).collect()
    }

    /// Which of the goals are infeasible by what is left; all with the same formulas, which are then checked once.
    pub(crate) fn decide_together(
        &self,
        system: &mut System<'_, 'm>,
        questions: &mut [Questions<'m>],
        goals: &BTreeSet<usize>,
    ) -> BTreeMap<usize, Argument> {
        let (mut shown, mut needed) = (BTreeSet::new(), BTreeSet::new());
        for &goal in goals {
            if let Some(more) = self.refute(system, questions, 1, goal)
                && let Some(closed) = self.close_at_once(system, questions, more, &needed)
            {
                needed = closed;
                shown.insert(goal);
            }
        }
        let invariants = self.invariants(&needed);
        let argument = |goal| (goal, Argument { invariants: invariants.clone(), body: Body::Inductive });
        shown.into_iter().map(argument).collect()
    }

    /// What is known to be enough for itself and what is needed, and what that needs in turn.
    fn close_at_once(
        &self,
        system: &mut System<'_, 'm>,
        questions: &mut [Questions<'m>],
        needed: BTreeSet<Claimed>,
        known: &BTreeSet<Claimed>,
    ) -> Option<BTreeSet<Claimed>> {
        let mut closed = known.clone();
        let mut open: BTreeSet<Claimed> = needed.difference(known).copied().collect();
        while !open.is_empty() {
            closed.extend(&open);
            let mut more = BTreeSet::new();
            for (segment, questions) in questions.iter_mut().enumerate() {
                let terms = &mut system.encoder.terms;
                let mut bad = terms.truth(false);
                for (cut, (path, truths)) in &self.at_arrival[segment] {
                    let of_cut = open.iter().filter(|(of, _)| *of == cut.index());
                    let kept = terms.all(of_cut.map(|(_, at)| truths[*at]));
                    let broken = terms.not(kept);
                    let arrives = terms.and(*path, broken);
                    bad = terms.or(bad, arrives);
                }
                if !terms.is_false(bad) {
                    more.extend(self.needed_against(segment, questions, bad)?);
                }
            }
            open = more.difference(&closed).copied().collect();
        }
        Some(closed)
    }

    fn assumed(&self, segment: usize) -> Vec<Truth<'m>> {
        match segment.checked_sub(1) {
            None => Vec::new(),
            Some(cut) => self.alive[cut].iter().map(|at| self.at_start[cut][*at]).collect(),
        }
    }

    /// Notes which of the candidates do not hold, for later turns.
    pub(crate) fn note_broken(&self, system: &mut System<'_, 'm>, richness: Richness) {
        for (cut, (formulas, alive)) in self.formulas.iter().zip(&self.alive).enumerate() {
            let alive: BTreeSet<usize> = alive.iter().copied().collect();
            let broken = (0..formulas.len()).filter(|at| !alive.contains(at)).map(|at| formulas[at].clone());
            system.facts.broken.entry((richness, cut)).or_default().extend(broken);
        }
    }

    /// Leaves what is inductive; false if that could not be found out.
    pub(crate) fn strike_out(
        &mut self,
        system: &mut System<'_, 'm>,
        questions: &mut [Questions<'m>],
    ) -> bool {
        let mut open: BTreeSet<usize> = (0..system.segments.len()).collect();
        while let Some(segment) = open.pop_first() {
            loop {
                let assumed = self.assumed(segment);
                let terms = &mut system.encoder.terms;
                let assumed = terms.all(assumed);
                let mut bad = terms.truth(false);
                for (cut, (path, truths)) in &self.at_arrival[segment] {
                    let kept = terms.all(self.alive[cut.index()].iter().map(|at| truths[*at]));
                    let broken = terms.not(kept);
                    let arrives = terms.and(*path, broken);
                    bad = terms.or(bad, arrives);
                }
                if terms.is_false(bad) {
                    break;
                }
                match questions[segment].ask(&[assumed, bad]) {
                    Answer::Impossible => break,
                    Answer::Unknown => return false,
                    Answer::Possible => {
                        for cut in self.strike_out_by_model(segment, &mut questions[segment]) {
                            open.insert(System::segment_of(cut));
                        }
                    }
                }
            }
        }
        true
    }

    /// Strikes out what does not hold in the model; the cuts that lost something.
    fn strike_out_by_model(&mut self, segment: usize, questions: &mut Questions<'m>) -> Vec<CutId> {
        let mut weaker = Vec::new();
        for (cut, (path, truths)) in &self.at_arrival[segment] {
            if !questions.holds(*path) {
                continue;
            }
            let alive = &mut self.alive[cut.index()];
            let n_before = alive.len();
            alive.retain(|at| questions.holds(truths[*at]));
            if alive.len() < n_before {
                weaker.push(*cut);
            }
        }
        assert!(!weaker.is_empty(), "a model of a broken candidate breaks one");
        weaker
    }

    /// What must hold at cuts so that the goal is covered nowhere, or none if it may be.
    fn refute(
        &self,
        system: &mut System<'_, 'm>,
        questions: &mut [Questions<'m>],
        depth: usize,
        goal: usize,
    ) -> Option<BTreeSet<Claimed>> {
        let mut needed = BTreeSet::new();
        for (segment, questions) in questions.iter_mut().enumerate() {
            let event = system.bad(segment, depth, goal);
            if system.encoder.terms.is_false(event) {
                continue;
            }
            if segment > 0 {
                needed.extend(self.needed_against(segment, questions, event)?);
                continue;
            }
            match questions.ask(&[event]) {
                Answer::Impossible => {}
                Answer::Unknown => return None,
                Answer::Possible => {
                    system.reached.insert(goal);
                    return None;
                }
            }
        }
        Some(needed)
    }

    /// Which candidates at the segment's start make this impossible.
    fn needed_against(
        &self,
        segment: usize,
        questions: &mut Questions<'m>,
        bad: Truth<'m>,
    ) -> Option<Vec<Claimed>> {
        let mut assumptions = self.assumed(segment);
        assumptions.push(bad);
        match questions.ask(&assumptions) {
            Answer::Impossible => {}
            Answer::Possible | Answer::Unknown => return None,
        }
        let Some(cut) = segment.checked_sub(1) else { return Some(Vec::new()) };
        let alive = &self.alive[cut];
        let needed = questions.needed(&assumptions).into_iter().filter(|at| *at < alive.len());
        Some(needed.map(|at| (cut, alive[at])).collect())
    }

    /// What is needed, and what that needs to be inductive.
    fn close(
        &self,
        system: &mut System<'_, 'm>,
        questions: &mut [Questions<'m>],
        needed: BTreeSet<Claimed>,
    ) -> Option<BTreeSet<Claimed>> {
        let mut closed = BTreeSet::new();
        let mut open = needed;
        while let Some(claimed) = open.pop_first() {
            if !closed.insert(claimed) {
                continue;
            }
            let (cut, at) = claimed;
            for (segment, questions) in questions.iter_mut().enumerate() {
                let arrival = self.at_arrival[segment].iter().find(|(arrived, _)| arrived.index() == cut);
                let Some((_, (path, truths))) = arrival else { continue };
                let broken = system.encoder.terms.not(truths[at]);
                let bad = system.encoder.terms.and(*path, broken);
                if system.encoder.terms.is_false(bad) {
                    continue;
                }
                let more = self.needed_against(segment, questions, bad)?;
                open.extend(more.into_iter().filter(|claimed| !closed.contains(claimed)));
            }
        }
        Some(closed)
    }

    fn invariants(&self, needed: &BTreeSet<Claimed>) -> Vec<Formula> {
        let of_cut = |cut: usize| {
            let mut formulas: Vec<Formula> = needed
                .iter()
                .filter(|(of, _)| *of == cut)
                .map(|(_, at)| self.formulas[cut][*at].clone())
                .collect();
            match formulas.len() {
                0 => Formula::Bool(true),
                1 => formulas.remove(0),
                _ => Formula::apply(Operator::And, formulas),
            }
        };
        (0..self.formulas.len()).map(of_cut).collect()
    }
}
