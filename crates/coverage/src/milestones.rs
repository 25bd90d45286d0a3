//! What leads to goals that ask for a combination of outcomes: each outcome by itself.
//!
//! A run that gives a condition an outcome for the first time comes nearer to showing its effect, although it covers nothing. So a search
//! that is asked for MC/DC or vectors alone is guided by the same outcomes, with the same weight, as one that is asked for conditions as well. Milestones are
//! numbered behind the goals and count for nothing but the search. One is open while it has not been seen and its decision has an open goal.

use std::collections::{BTreeMap, BTreeSet};

use model::{DecisionId, Program};

use crate::{Demand, EvaluationDemand, Goal, GoalId};

/// The milestones of a list of goals.
#[derive(Clone, Debug, Default)]
pub(crate) struct Milestones {
    all: Vec<Milestone>,
    /// The goals that they lead to.
    goals: BTreeMap<DecisionId, Vec<GoalId>>,
}

#[derive(Clone, Debug)]
struct Milestone {
    demand: Demand,
    decision: DecisionId,
    is_passed: bool,
}

impl Milestones {
    pub(crate) fn new(program: &Program, goals: &[Goal]) -> Self {
        let asked: BTreeSet<Demand> = goals.iter().map(|goal| goal.demand).collect();
        let mut found = Self::default();
        let mut known = BTreeSet::new();
        for (goal, id) in goals.iter().zip((0..).map(GoalId)) {
            let (Some(decision), Some(demand)) = (goal.demand.decision(program), goal.demand.of_evaluation())
            else {
                continue;
            };
            let conditions = program.decision(decision).shape.conditions();
            let outcomes: Vec<Demand> = match demand {
                EvaluationDemand::Outcome(_) => continue,
                EvaluationDemand::Independent(condition, value)
                | EvaluationDemand::Paired(condition, value) => {
                    vec![Demand::Condition(condition, value)]
                }
                EvaluationDemand::Vector(_) => {
                    let both = |condition| [true, false].map(|value| Demand::Condition(condition, value));
                    conditions.into_iter().flat_map(both).collect()
                }
            };
            found.goals.entry(decision).or_default().push(id);
            for demand in outcomes {
                if !asked.contains(&demand) && known.insert(demand) {
                    found.all.push(Milestone { demand, decision, is_passed: false });
                }
            }
        }
        found
    }

    pub(crate) fn demands(&self) -> impl Iterator<Item = Demand> + '_ {
        self.all.iter().map(|milestone| milestone.demand)
    }

    /// Whether it is worth passing, by whether goals are open.
    pub(crate) fn is_open(&self, number: usize, is_goal_open: impl Fn(GoalId) -> bool) -> bool {
        let milestone = &self.all[number];
        !milestone.is_passed && self.goals[&milestone.decision].iter().any(|goal| is_goal_open(*goal))
    }

    /// Takes in a run; how many it passes that were worth passing.
    pub(crate) fn pass(
        &mut self,
        is_passed: impl Fn(Demand) -> bool,
        is_goal_open: impl Fn(GoalId) -> bool,
    ) -> usize {
        let passed: Vec<usize> = (0..self.all.len())
            .filter(|number| !self.all[*number].is_passed && is_passed(self.all[*number].demand))
            .collect();
        let n_open = passed.iter().filter(|number| self.is_open(**number, &is_goal_open)).count();
        passed.into_iter().for_each(|number| self.all[number].is_passed = true);
        n_open
    }
}
