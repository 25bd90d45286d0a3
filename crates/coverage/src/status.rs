//! Which goals are covered, by which test, and why the others are not.

use std::fmt;
use std::sync::Arc;

use analysis::dataflow::DataFlow;
use model::{FunctionId, Program};

use crate::flow::data_flow;
use crate::observe::Observations;
use crate::pairs::Pairs;
use crate::{Criterion, Goal, GoalId, Scope};

/// Number of a kept test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TestId(pub u32);

impl fmt::Display for TestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "test_{:03}", self.0)
    }
}

/// What is known of a goal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    Covered { by: TestId },
    Undecided(Reason),
}

/// Why a goal is undecided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// Nothing has been tried yet.
    Open,
    /// The budget ended first.
    Budget,
    /// Every candidate was tried; none leads there. Not a proof.
    Saturated,
    /// The solver gave up on a candidate that might lead there.
    Solver,
    /// Something on the way is not supported.
    Unsupported,
    /// Every candidate was tried, and it comes from something that the stub of this function does not give.
    Stub(FunctionId),
}

impl Reason {
    /// In words, with the function that is meant.
    pub fn describe(self, program: &Program) -> String {
        match self {
            Self::Stub(function) => {
                format!("the stub of {} may not give what it takes", program.function(function).name)
            }
            Self::Open | Self::Budget | Self::Saturated | Self::Solver | Self::Unsupported => {
                self.to_string()
            }
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Open => "not tried yet",
            Self::Budget => "the budget ended first",
            Self::Saturated => "every candidate was tried and none leads there",
            Self::Solver => "the solver gave up on a candidate",
            Self::Unsupported => "something on the way is not supported",
            Self::Stub(_) => "a stub may not give what it takes",
        })
    }
}

/// The goals of a campaign and their states.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    goals: Vec<Goal>,
    statuses: Vec<Status>,
    n_covered: usize,
    pairs: Pairs,
    flow: Option<Arc<DataFlow>>,
}

/// What a run added.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Covered {
    /// Goals that are covered now, with the test that is their witness: the run's own, or an earlier one of which the run
    /// shows the other half.
    pub goals: Vec<(GoalId, TestId)>,
    /// Whether the run must be kept although it covers nothing: it shows one half of something.
    pub is_promising: bool,
}

impl Coverage {
    /// All goals of `criteria` within `scope`, none covered.
    pub fn new(program: &Program, scope: &Scope, criteria: &[Box<dyn Criterion>]) -> Self {
        let needs_flow = criteria.iter().any(|criterion| criterion.needs_data_flow());
        let elements = criteria.iter().any(|criterion| criterion.tells_elements_apart());
        let flow = needs_flow.then(|| Arc::new(data_flow(program, scope, elements)));
        let goals = criteria.iter().flat_map(|criterion| criterion.goals(program, scope, flow.as_deref()));
        let goals: Vec<Goal> = goals.filter(|goal| scope.includes(program, goal)).collect();
        let statuses = vec![Status::Undecided(Reason::Open); goals.len()];
        let pairs = Pairs::new(program, &goals);
        Self { goals, statuses, n_covered: 0, pairs, flow }
    }

    /// The same with this goal alone.
    pub fn only(&self, program: &Program, id: GoalId) -> Self {
        self.with(program, |goal, _| goal == id)
    }

    /// The same with some of the goals, which are numbered anew in the same order.
    pub fn with(&self, program: &Program, keeps: impl Fn(GoalId, &Goal) -> bool) -> Self {
        let kept = self.goals().filter(|(id, goal, _)| keeps(*id, goal));
        let goals: Vec<Goal> = kept.map(|(_, goal, _)| goal.clone()).collect();
        let statuses = vec![Status::Undecided(Reason::Open); goals.len()];
        let pairs = Pairs::new(program, &goals);
        Self { goals, statuses, n_covered: 0, pairs, flow: self.flow.clone() }
    }

    /// The data flow that goals are about, if any are.
    pub fn data_flow(&self) -> Option<&Arc<DataFlow>> {
        self.flow.as_ref()
    }

    /// All goals with their states, in order.
    pub fn goals(&self) -> impl Iterator<Item = (GoalId, &Goal, Status)> {
        (0..).map(GoalId).zip(&self.goals).zip(&self.statuses).map(|((id, goal), status)| (id, goal, *status))
    }

    /// Number of goals.
    pub fn n_goals(&self) -> usize {
        self.goals.len()
    }

    /// Number of covered goals.
    pub fn n_covered(&self) -> usize {
        self.n_covered
    }

    /// Whether nothing is left to cover.
    pub fn is_complete(&self) -> bool {
        self.n_covered == self.goals.len()
    }

    /// The goal with this number.
    pub fn goal(&self, id: GoalId) -> &Goal {
        &self.goals[id.index()]
    }

    /// Whether the goal is not covered.
    pub fn is_open(&self, id: GoalId) -> bool {
        !matches!(self.statuses[id.index()], Status::Covered { .. })
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

    /// Marks what the run of `test` covers.
    pub fn cover(&mut self, test: TestId, observations: &Observations) -> Covered {
        let open = self.goals().filter(|(id, ..)| self.is_open(*id));
        let by_itself = open.filter(|(_, goal, _)| observations.satisfy(goal.demand));
        let mut goals: Vec<(GoalId, TestId)> = by_itself.map(|(id, ..)| (id, test)).collect();
        let pairs = self.pairs.add(test, observations);
        goals.extend(pairs.covered);
        for (goal, by) in &goals {
            self.statuses[goal.index()] = Status::Covered { by: *by };
        }
        self.n_covered += goals.len();
        Covered { goals, is_promising: pairs.is_promising }
    }

    /// Names the stub that a goal which is not covered may wait for.
    pub(crate) fn blame(&mut self, goal: GoalId, stub: FunctionId) {
        if let Status::Undecided(reason) = &mut self.statuses[goal.index()] {
            *reason = Reason::Stub(stub);
        }
    }

    /// Gives every goal that is not covered this reason.
    pub fn close(&mut self, reason: Reason) {
        for status in &mut self.statuses {
            if let Status::Undecided(old) = status {
                *old = reason;
            }
        }
    }
}
