//! Which goals are covered, by which test; which cannot be covered, and how that is known; and why the others are open.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use analysis::dataflow::DataFlow;
use model::Program;

use crate::flow::data_flow;
use crate::key::keys;
use crate::milestones::Milestones;
use crate::observe::Observations;
use crate::pairs::Pairs;
use crate::reason::{Cause, Reason};
use crate::{Criterion, Demand, Goal, GoalId, Scope, TestId};

/// What is known of a goal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    Covered {
        by: TestId,
    },
    /// No input covers it.
    Infeasible {
        evidence: Evidence,
    },
    Undecided(Reason),
}

/// How it is known that no input covers a goal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evidence {
    /// The certificate that a checker accepts: a file within the output directory.
    pub proof: String,
    /// The limits of the input model that the proof needs, each in words; none when it holds for every input.
    pub under: Vec<String>,
    /// Whether a run may break what the proof assumes, such as that allocations do not fail: then a run that covers the goal is right.
    pub is_refutable: bool,
    /// What holds at places of the source whenever control is there; none when the ways to the goal exclude it by themselves.
    pub invariants: Vec<Invariant>,
    /// How they make an argument, in words; nothing where each follows from those before.
    pub how: String,
}

/// What holds whenever control is at a place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Invariant {
    pub file: String,
    pub line: u32,
    pub column: u32,
    /// C expressions, all of which are true.
    pub holds: Vec<String>,
}

impl Evidence {
    /// Whether the proof holds within limits only.
    pub fn is_bounded(&self) -> bool {
        !self.under.is_empty()
    }
}

/// A goal that a test covers and that a proof calls infeasible. One of the two is wrong, so nothing that rests on either can
/// be believed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{test} covers {goal}, which the proof {} calls infeasible", evidence.proof)]
pub struct Contradiction {
    pub goal: GoalId,
    pub test: TestId,
    pub evidence: Evidence,
}

/// The goals of a campaign and their states.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    goals: Vec<Goal>,
    keys: Vec<String>,
    by_key: BTreeMap<String, GoalId>,
    statuses: Vec<Status>,
    n_covered: usize,
    n_infeasible: usize,
    contradictions: Vec<Contradiction>,
    pairs: Pairs,
    milestones: Milestones,
    flow: Option<Arc<DataFlow>>,
    /// Why a prover did not decide a goal.
    attempts: BTreeMap<GoalId, String>,
    /// Covered goals that no run covers which one could keep as a test.
    only_by_crash: BTreeSet<GoalId>,
}

/// What a run added.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Covered {
    /// Goals that are covered now, with the test that is their witness: the run's own, or an earlier one of which the run
    /// shows the other half.
    pub goals: Vec<(GoalId, TestId)>,
    /// Whether the run must be kept although it covers nothing: it shows one half of something, or contradicts a proof.
    pub is_promising: bool,
    /// How many outcomes it shows for the first time that goals need in combination with others.
    pub n_milestones: usize,
}

impl Coverage {
    /// All goals of `criteria` within `scope`, all open.
    pub fn new(program: &Program, scope: &Scope, criteria: &[Box<dyn Criterion>]) -> Self {
        let needs_flow = criteria.iter().any(|criterion| criterion.needs_data_flow());
        let elements = criteria.iter().any(|criterion| criterion.tells_elements_apart());
        let flow = needs_flow.then(|| Arc::new(data_flow(program, scope, elements)));
        let goals = criteria.iter().flat_map(|criterion| criterion.goals(program, scope, flow.as_deref()));
        let goals: Vec<Goal> = goals.collect();
        // of all goals, so that parts of interest do not change the keys of what is in them
        let keys = keys(program, flow.as_deref(), &goals);
        let counting = goals.into_iter().zip(keys).filter(|(goal, _)| scope.includes(program, goal));
        let (goals, keys) = counting.unzip();
        Self::open(program, goals, keys, flow)
    }

    fn open(program: &Program, goals: Vec<Goal>, keys: Vec<String>, flow: Option<Arc<DataFlow>>) -> Self {
        let statuses = vec![Status::Undecided(Reason::only(Cause::Open)); goals.len()];
        let pairs = Pairs::new(program, &goals);
        let milestones = Milestones::new(program, &goals);
        let by_key = keys.iter().cloned().zip((0..).map(GoalId)).collect();
        Self { goals, keys, by_key, statuses, pairs, milestones, flow, ..Self::default() }
    }

    /// The same with this goal alone.
    pub fn only(&self, program: &Program, id: GoalId) -> Self {
        self.with(program, |goal, _| goal == id)
    }

    /// The same with some of the goals, which are numbered anew in the same order. None is covered; what was proved infeasible
    /// stays so.
    pub fn with(&self, program: &Program, keeps: impl Fn(GoalId, &Goal) -> bool) -> Self {
        let kept: Vec<_> = self.goals().filter(|(id, goal, _)| keeps(*id, goal)).collect();
        let goals = kept.iter().map(|(_, goal, _)| (*goal).clone()).collect();
        let keys = kept.iter().map(|(id, ..)| self.key(*id).to_owned()).collect();
        let mut coverage = Self::open(program, goals, keys, self.flow.clone());
        for ((_, _, status), id) in kept.into_iter().zip((0..).map(GoalId)) {
            if let Status::Infeasible { evidence } = status {
                coverage.decide(id, evidence.clone()).expect("nothing is covered yet");
            }
        }
        coverage
    }

    /// The data flow that goals are about, if any are.
    pub fn data_flow(&self) -> Option<&Arc<DataFlow>> {
        self.flow.as_ref()
    }

    /// All goals with their states, in order.
    pub fn goals(&self) -> impl Iterator<Item = (GoalId, &Goal, &Status)> {
        (0..).map(GoalId).zip(&self.goals).zip(&self.statuses).map(|((id, goal), status)| (id, goal, status))
    }

    /// Number of goals.
    pub fn n_goals(&self) -> usize {
        self.goals.len()
    }

    /// Number of covered goals.
    pub fn n_covered(&self) -> usize {
        self.n_covered
    }

    /// Number of goals that were proved infeasible.
    pub fn n_infeasible(&self) -> usize {
        self.n_infeasible
    }

    /// Whether nothing is left to cover: each goal is covered or infeasible.
    pub fn is_complete(&self) -> bool {
        self.n_covered + self.n_infeasible == self.goals.len()
    }

    /// Goals that a test covers and that a proof calls infeasible.
    pub fn contradictions(&self) -> &[Contradiction] {
        &self.contradictions
    }

    /// The goal with this number.
    pub fn goal(&self, id: GoalId) -> &Goal {
        &self.goals[id.index()]
    }

    /// What names the goal in every run, also of a program that was changed elsewhere: `triangle.branch.t-9f2c13ab`.
    pub fn key(&self, id: GoalId) -> &str {
        &self.keys[id.index()]
    }

    /// The goal with this key.
    pub fn with_key(&self, key: &str) -> Option<GoalId> {
        self.by_key.get(key).copied()
    }

    /// What is known of the goal.
    pub fn status(&self, id: GoalId) -> &Status {
        &self.statuses[id.index()]
    }

    /// Whether the goal is undecided: neither covered nor infeasible.
    pub fn is_open(&self, id: GoalId) -> bool {
        if let Some(milestone) = id.index().checked_sub(self.goals.len()) {
            return self.milestones.is_open(milestone, |goal| self.is_undecided(goal));
        }
        self.is_undecided(id)
    }

    fn is_undecided(&self, id: GoalId) -> bool {
        match self.status(id) {
            Status::Undecided(_) => true,
            Status::Covered { .. } | Status::Infeasible { .. } => false,
        }
    }

    /// Whether these observations show an outcome for the first time that open goals need in combination with others.
    pub fn nears(&self, observations: &Observations) -> bool {
        self.milestones().any(|(id, demand)| self.is_open(id) && observations.satisfy(demand))
    }

    /// What guides the search besides the goals, numbered behind them: [`Self::is_open`] knows of them, everything else does not.
    pub(crate) fn milestones(&self) -> impl Iterator<Item = (GoalId, Demand)> + '_ {
        (self.goals.len()..).map(GoalId::new).zip(self.milestones.demands())
    }

    /// Whether a test covers the goal.
    pub fn is_covered(&self, id: GoalId) -> bool {
        match self.status(id) {
            Status::Covered { .. } => true,
            Status::Undecided(_) | Status::Infeasible { .. } => false,
        }
    }

    /// Takes in a proof that no input covers the goal. The search no longer aims at it. Of several proofs of one goal the
    /// first that holds without limits stays, or else the first.
    ///
    /// # Errors
    ///
    /// When a test covers the goal; its state stays as it was.
    pub fn decide(&mut self, goal: GoalId, evidence: Evidence) -> Result<(), Contradiction> {
        let status = &mut self.statuses[goal.index()];
        match status {
            Status::Covered { .. } if evidence.is_refutable => {}
            Status::Covered { by } => {
                let contradiction = Contradiction { goal, test: *by, evidence };
                self.contradictions.push(contradiction.clone());
                return Err(contradiction);
            }
            Status::Infeasible { evidence: known } if known.is_bounded() && !evidence.is_bounded() => {
                *known = evidence;
            }
            Status::Infeasible { .. } => {}
            Status::Undecided(_) => {
                if !evidence.is_refutable {
                    self.pairs.decide(goal);
                }
                *status = Status::Infeasible { evidence };
                self.n_infeasible += 1;
            }
        }
        Ok(())
    }

    /// What was evaluated of decisions whose goals ask for pairs.
    pub(crate) fn pairs(&self) -> &Pairs {
        &self.pairs
    }

    /// All goals that these observations alone satisfy, covered or not.
    pub fn satisfied(&self, observations: &Observations) -> Vec<GoalId> {
        self.goals().filter(|(_, goal, _)| observations.satisfy(goal.demand)).map(|(id, _, _)| id).collect()
    }

    /// Names another test as the witness of a goal that is covered; one that is not stays as it is.
    pub fn rewitness(&mut self, goal: GoalId, test: TestId) {
        if let Status::Covered { by } = &mut self.statuses[goal.index()] {
            *by = test;
        }
    }

    /// Whether only runs cover the goal that crash, hang or go outside of an object.
    pub fn is_only_by_crash(&self, goal: GoalId) -> bool {
        self.only_by_crash.contains(&goal)
    }

    /// Number of such goals; they count as covered.
    pub fn n_only_by_crash(&self) -> usize {
        self.only_by_crash.len()
    }

    /// Notes which of the covered goals a test covers that one can keep.
    pub fn note_clean(&mut self, is_clean: impl Fn(GoalId) -> bool) {
        let covered = self.goals().filter(|(_, _, status)| matches!(status, Status::Covered { .. }));
        self.only_by_crash = covered.map(|(id, ..)| id).filter(|id| !is_clean(*id)).collect();
    }

    /// Marks what the run of `test` covers. A goal that was proved infeasible keeps its state, and the run is noted as a
    /// contradiction, unless it may have broken what the proof assumes.
    pub fn cover(&mut self, test: TestId, observations: &Observations) -> Covered {
        let uncovered = self.goals().filter(|(_, _, status)| !matches!(status, Status::Covered { .. }));
        let by_itself = uncovered.filter(|(_, goal, _)| observations.satisfy(goal.demand));
        let mut goals: Vec<(GoalId, TestId)> = by_itself.map(|(id, ..)| (id, test)).collect();
        let pairs = self.pairs.add(test, observations);
        goals.extend(pairs.covered);
        let n_contradictions = self.contradictions.len();
        goals.retain(|(goal, by)| self.mark_covered(*goal, *by));
        self.n_covered += goals.len();
        let is_contradiction = self.contradictions.len() > n_contradictions;
        let is_undecided = |goal: GoalId| matches!(self.statuses[goal.index()], Status::Undecided(_));
        let n_milestones = self.milestones.pass(|demand| observations.satisfy(demand), is_undecided);
        Covered { goals, is_promising: pairs.is_promising || is_contradiction, n_milestones }
    }

    /// Marks a goal that was not covered before; whether nothing says that it cannot be.
    fn mark_covered(&mut self, goal: GoalId, test: TestId) -> bool {
        let status = &mut self.statuses[goal.index()];
        if let Status::Infeasible { evidence } = status
            && evidence.is_refutable
        {
            self.n_infeasible -= 1;
        } else if let Status::Infeasible { evidence } = status {
            let evidence = evidence.clone();
            if self.contradictions.iter().all(|known| known.goal != goal) {
                self.contradictions.push(Contradiction { goal, test, evidence });
            }
            return false;
        }
        *status = Status::Covered { by: test };
        true
    }

    /// Says why an undecided goal is undecided.
    pub(crate) fn give_reason(&mut self, goal: GoalId, reason: Reason) {
        if let Status::Undecided(old) = &mut self.statuses[goal.index()] {
            *old = Reason { attempt: self.attempts.get(&goal).cloned(), ..reason };
        }
    }

    /// Notes which prover gave up on a goal, and why; the last one counts.
    pub fn note_attempt(&mut self, goal: GoalId, why: String) {
        if let Status::Undecided(reason) = &mut self.statuses[goal.index()] {
            reason.attempt = Some(why.clone());
        }
        self.attempts.insert(goal, why);
    }

    /// Gives every undecided goal this reason.
    pub fn close(&mut self, cause: &Cause) {
        for status in &mut self.statuses {
            if let Status::Undecided(old) = status {
                *old = Reason::only(cause.clone());
            }
        }
    }
}
