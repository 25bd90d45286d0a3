//! Which segments must be impossible for a proof to hold?
//!
//! Method, by induction: the segments of an activation are numbered from its beginning. Of the first ones, and of the last of
//! so many that follow a cut, it is asked whether they can cover the goal or arrive at a cut whose formula fails; in the
//! latter case everything at the cut that changes is arbitrary but for its formula, and the segments between are taken not
//! to. When none can, no segment of a run does. By unrolling: segments from the entry and then from cuts in the order that
//! the proof gives are executed, after which nothing may be left to execute. A run is at one place at a time, so states that
//! wait at the same cut exclude each other.

use std::collections::BTreeMap;

use super::execute::{Covering, Plan, Segment};
use super::inline::Point;
use super::state::{State, meet};
use super::terms::Term;
use super::world::World;
use super::{Checked, Stop, arbitrary, begin, cut_point, invariants, rejected, smtlib, unknown};
use crate::{Answer, Assumption, Cut, Decide, Formula, Proof};

/// More segments one after the other are not tried.
const MAX_DEPTH: u32 = 16;

pub(super) struct Argument<'a, 'p> {
    pub(super) proof: &'a Proof,
    pub(super) plan: &'a Plan<'p>,
    pub(super) world: World<'p>,
    pub(super) n_steps: usize,
    pub(super) decide: &'a mut dyn Decide,
    /// Whether the formulas are known to be inductive.
    pub(super) is_known: bool,
}

/// States at points.
type Waiting = Vec<(Point, State)>;

impl<'p> Argument<'_, 'p> {
    /// Whether so many segments are enough for the induction; how many queries it took.
    pub(super) fn induction(&mut self, depth: u32) -> Checked<usize> {
        if !(1..=MAX_DEPTH).contains(&depth) {
            return rejected("k-induction", format!("it takes 1 to {MAX_DEPTH} segments"));
        }
        let mut n_queries = self.first(depth)?;
        for cut in &self.proof.cuts {
            n_queries += self.step(cut, depth)?;
        }
        Ok(n_queries)
    }

    /// The first segments of an activation.
    fn first(&mut self, depth: u32) -> Checked<usize> {
        let (mut waiting, mut bad) = self.enter()?;
        self.must_hold(&waiting, &mut bad)?;
        for _ in 1..depth {
            waiting = self.run(waiting, &mut bad)?;
            self.must_hold(&waiting, &mut bad)?;
        }
        self.refute(&[], &bad)
    }

    /// Any so many segments from a cut on.
    fn step(&mut self, cut: &Cut, depth: u32) -> Checked<usize> {
        let point = cut_point(&self.plan.inlined, cut)?;
        let state = arbitrary(self.plan, &mut self.world, point);
        let mut assertions = vec![self.formula(&state, cut)?];
        let mut waiting = vec![(point, state)];
        let mut bad = Vec::new();
        for number in 1..=depth {
            bad.clear();
            waiting = self.run(waiting, &mut bad)?;
            self.must_hold(&waiting, &mut bad)?;
            if number < depth {
                for covering in &bad {
                    assertions.push(self.world.terms.not(covering.under));
                }
            }
        }
        self.refute(&assertions, &bad)
    }

    /// Whether the entry's segment and then those from the cuts with these numbers are all there is.
    pub(super) fn unrolled(&mut self, cuts: &[u32]) -> Checked<usize> {
        if self.proof.cuts.iter().any(|cut| cut.formula != Formula::Bool(true)) {
            return rejected("unrolled", "a formula of a cut does not count");
        }
        let (arrived, mut bad) = self.enter()?;
        let mut waiting: BTreeMap<Point, Vec<State>> = BTreeMap::new();
        let wait = |waiting: &mut BTreeMap<Point, Vec<State>>, arrived: Waiting| {
            arrived.into_iter().for_each(|(point, state)| waiting.entry(point).or_default().push(state));
        };
        wait(&mut waiting, arrived);
        for number in cuts {
            let Some(cut) = self.proof.cuts.get(*number as usize) else {
                return rejected("unrolled", format!("there is no cut {number}"));
            };
            let point = cut_point(&self.plan.inlined, cut)?;
            if let Some(states) = waiting.remove(&point) {
                let state = meet(&mut self.world.terms, states);
                let arrived = self.run(vec![(point, state)], &mut bad)?;
                wait(&mut waiting, arrived);
            }
        }
        for (point, states) in waiting {
            let at = format!("unrolled {}", self.plan.inlined.describe(point));
            let left = states.into_iter().map(|state| Covering { under: state.reached, at: at.clone() });
            bad.extend(left);
        }
        self.refute(&[], &bad)
    }

    /// The entry's own segment, which is empty if a cut is there.
    fn enter(&mut self) -> Checked<(Waiting, Vec<Covering>)> {
        let initial = self.proof.claim.assumptions.contains(&Assumption::InitialGlobals);
        let (point, mut bad) = (self.plan.inlined.start(0), Vec::new());
        let state = begin(self.plan, &mut self.world, initial);
        let first = vec![(point, state)];
        let arrived = if self.plan.cuts.contains(&point) { first } else { self.run(first, &mut bad)? };
        Ok((arrived, bad))
    }

    /// Executes the segments from these points on; adds what covers the goal, gives where they arrive.
    fn run(&mut self, waiting: Waiting, bad: &mut Vec<Covering>) -> Checked<Waiting> {
        let mut segment = Segment::new(self.plan, &mut self.world, &mut self.n_steps, &*self.decide);
        let arrived = segment.run(waiting)?;
        bad.append(&mut segment.covering);
        Ok(arrived)
    }

    /// Adds that a formula fails where its cut is reached.
    fn must_hold(&mut self, arrived: &Waiting, bad: &mut Vec<Covering>) -> Checked<()> {
        if self.is_known {
            return Ok(());
        }
        for (point, state) in arrived {
            let mut cuts = self.proof.cuts.iter();
            let cut = cuts.find(|cut| cut_point(&self.plan.inlined, cut).is_ok_and(|at| at == *point));
            let cut = cut.expect("segments end at cuts");
            let holds = self.formula(state, cut)?;
            let fails = self.world.terms.not(holds);
            let under = self.world.terms.and(&[state.reached, fails]);
            bad.push(Covering { under, at: format!("cut {} {}", cut.context, cut.block) });
        }
        Ok(())
    }

    pub(super) fn formula(&mut self, state: &State, cut: &Cut) -> Checked<Term> {
        match invariants::translate(&mut self.world, &self.plan.inlined, state, &cut.formula) {
            Ok(term) => Ok(term),
            Err(why) => rejected(format!("cut {} {}", cut.context, cut.block), why),
        }
    }

    /// Asks whether any of this can be; how many queries it took.
    fn refute(&mut self, assertions: &[Term], bad: &[Covering]) -> Checked<usize> {
        let all: Vec<Term> = bad.iter().map(|covering| covering.under).collect();
        let any = self.world.terms.or(&all);
        let never = self.world.terms.truth(false);
        if any == never || assertions.contains(&never) {
            return Ok(0);
        }
        let (world, decide) = (&mut self.world, &mut *self.decide);
        let mut ask = |bad: Term| {
            let asserted = world.with_facts([assertions, &[bad]].concat());
            decide.decide(&smtlib::script(&world.terms, &asserted))
        };
        match ask(any) {
            Answer::Unsat => Ok(1),
            Answer::Disagreement(who) => Err(Stop::Disagreement(who)),
            Answer::Sat | Answer::Unknown(_) if !self.plan.beside.is_empty() => {
                unknown("not all of the goals were excluded together")
            }
            answer @ (Answer::Sat | Answer::Unknown(_)) => {
                // one by one: to name what can be, or because each may be easier
                for covering in bad.iter().filter(|covering| covering.under != never) {
                    match ask(covering.under) {
                        Answer::Unsat => {}
                        Answer::Sat => {
                            return rejected(covering.at.clone(), "it can be reached against the claim");
                        }
                        Answer::Unknown(why) => return unknown(format!("{}: {why}", covering.at)),
                        Answer::Disagreement(who) => return Err(Stop::Disagreement(who)),
                    }
                }
                match answer {
                    Answer::Sat => Err(Stop::Disagreement("all together can be, but none alone".to_owned())),
                    _ => Ok(1 + bad.len()),
                }
            }
        }
    }
}
