//! Unique-cause MC/DC: which two evaluations differ in one condition and in the outcome, and in no other condition that
//! both evaluate?
//!
//! Method: every different vector of a decision with such goals is kept with the first test that showed it; a new one is
//! compared with those before. So a test may cover a goal together with a later one.

use std::collections::{BTreeMap, BTreeSet};

use model::{ConditionId, DecisionId, Program};

use crate::observe::Observations;
use crate::vector::Vector;
use crate::{Goal, GoalId, TestId};

/// All evaluations so far of the decisions that have goals here.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pairs {
    decisions: BTreeMap<DecisionId, Evaluations>,
}

#[derive(Clone, Debug)]
struct Evaluations {
    conditions: Vec<ConditionId>,
    goals: BTreeMap<(ConditionId, bool), GoalId>,
    /// With the decision's outcome and the first test that showed it.
    vectors: BTreeMap<Vector, (bool, TestId)>,
    /// Conditions without a pair that may have one.
    open: BTreeSet<ConditionId>,
    /// Conditions without a pair of which a goal was proved infeasible: a pair would contradict the proof.
    doubted: BTreeSet<ConditionId>,
}

/// What a run adds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Added {
    /// Goals that are covered now, each with its witness.
    pub(crate) covered: Vec<(GoalId, TestId)>,
    /// Whether the run showed an evaluation that was never seen of a decision with open goals.
    pub(crate) is_promising: bool,
}

impl Pairs {
    /// Nothing seen yet of the goals that ask for pairs.
    pub(crate) fn new(program: &Program, goals: &[Goal]) -> Self {
        let mut pairs = Self::default();
        for (goal, id) in goals.iter().zip((0..).map(GoalId)) {
            if let Some((condition, outcome)) = goal.demand.half_of_pair() {
                let decision = program.condition(condition).decision;
                let evaluations = pairs.decisions.entry(decision).or_insert_with(|| Evaluations {
                    conditions: program.decision(decision).shape.conditions(),
                    goals: BTreeMap::new(),
                    vectors: BTreeMap::new(),
                    open: BTreeSet::new(),
                    doubted: BTreeSet::new(),
                });
                evaluations.goals.insert((condition, outcome), id);
                evaluations.open.insert(condition);
            }
        }
        pairs
    }

    /// Takes in what the run of `test` showed.
    pub(crate) fn add(&mut self, test: TestId, observations: &Observations) -> Added {
        let mut added = Added::default();
        for (decision, evaluations) in &mut self.decisions {
            for (vector, outcome) in observations.vectors(*decision) {
                let is_watched = !evaluations.open.is_empty() || !evaluations.doubted.is_empty();
                if is_watched && !evaluations.vectors.contains_key(vector) {
                    added.is_promising |= !evaluations.open.is_empty();
                    evaluations.add(test, vector, outcome, &mut added.covered);
                }
            }
        }
        added.covered.sort_unstable();
        added
    }

    /// Takes in that a goal, which may be one of those here, was proved infeasible. Without one half there is no pair.
    pub(crate) fn decide(&mut self, goal: GoalId) {
        for evaluations in self.decisions.values_mut() {
            let of_goal = |(of, id): (&(ConditionId, bool), &GoalId)| (*id == goal).then_some(of.0);
            if let Some(condition) = evaluations.goals.iter().find_map(of_goal)
                && evaluations.open.remove(&condition)
            {
                evaluations.doubted.insert(condition);
            }
        }
    }

    /// The conditions without a pair that this evaluation would be one half of.
    pub(crate) fn completed_by(
        &self,
        decision: DecisionId,
        vector: &Vector,
        outcome: bool,
    ) -> BTreeSet<ConditionId> {
        self.decisions.get(&decision).map_or_else(BTreeSet::new, |evaluations| {
            let partners = evaluations.partners(vector, outcome);
            partners
                .map(|(condition, _)| condition)
                .filter(|condition| evaluations.open.contains(condition))
                .collect()
        })
    }

    /// Whether an evaluation like this was seen.
    pub(crate) fn has_seen(&self, decision: DecisionId, vector: &Vector) -> bool {
        self.decisions.get(&decision).is_some_and(|evaluations| evaluations.vectors.contains_key(vector))
    }
}

impl Evaluations {
    fn add(&mut self, test: TestId, vector: &Vector, outcome: bool, covered: &mut Vec<(GoalId, TestId)>) {
        let mut found: Vec<(ConditionId, Vector, TestId)> = Vec::new();
        for (condition, (other, witness)) in self.partners(vector, outcome) {
            let is_missing = self.open.contains(&condition) || self.doubted.contains(&condition);
            if is_missing && !found.iter().any(|(known, ..)| *known == condition) {
                found.push((condition, other.clone(), witness));
            }
        }
        for (condition, other, witness) in found {
            self.open.remove(&condition);
            // runs that showed one half of what a proof calls infeasible were not kept
            let witness = if self.doubted.remove(&condition) { test } else { witness };
            let place = self.conditions.iter().position(|known| *known == condition);
            for (half, by) in [(vector, test), (&other, witness)] {
                let outcome = place.and_then(|place| half.outcomes()[place]);
                let goal = outcome.and_then(|outcome| self.goals.get(&(condition, outcome)));
                covered.extend(goal.map(|goal| (*goal, by)));
            }
        }
        self.vectors.insert(vector.clone(), (outcome, test));
    }

    /// The evaluations that make a pair with this one, and for which condition.
    fn partners(
        &self,
        vector: &Vector,
        outcome: bool,
    ) -> impl Iterator<Item = (ConditionId, (&Vector, TestId))> {
        let others = self.vectors.iter().filter(move |(_, (other, _))| *other != outcome);
        others.filter_map(move |(other, (_, test))| {
            let place = only_difference(vector, other)?;
            Some((self.conditions[place], (other, *test)))
        })
    }
}

/// The one place where both have an outcome and the outcomes differ; `None` when there is none or several.
pub fn only_difference(a: &Vector, b: &Vector) -> Option<usize> {
    let both = a.outcomes().iter().zip(b.outcomes()).enumerate();
    let mut differing =
        both.filter(|(_, (a, b))| a.is_some() && b.is_some() && a != b).map(|(place, _)| place);
    let first = differing.next()?;
    differing.next().is_none().then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vector(text: &str) -> Vector {
        let outcomes: Vec<Option<bool>> = text
            .chars()
            .map(|c| match c {
                'T' => Some(true),
                'F' => Some(false),
                _ => None,
            })
            .collect();
        Vector::from(outcomes.as_slice())
    }

    #[test]
    fn conditions_that_one_side_skips_do_not_count_as_different() {
        assert_eq!(only_difference(&vector("TF-"), &vector("F--")), Some(0));
        assert_eq!(only_difference(&vector("TFT"), &vector("F-F")), None);
        assert_eq!(only_difference(&vector("TFT"), &vector("TFT")), None);
    }

    #[test]
    fn a_pair_names_the_test_of_each_half() {
        // a && b
        let goals =
            BTreeMap::from([((ConditionId(0), true), GoalId(0)), ((ConditionId(0), false), GoalId(1))]);
        let mut evaluations = Evaluations {
            conditions: vec![ConditionId(0), ConditionId(1)],
            goals,
            vectors: BTreeMap::new(),
            open: BTreeSet::from([ConditionId(0)]),
            doubted: BTreeSet::new(),
        };
        let mut covered = Vec::new();
        evaluations.add(TestId(1), &vector("F-"), false, &mut covered);
        assert_eq!(covered, []);
        evaluations.add(TestId(2), &vector("TT"), true, &mut covered);
        assert_eq!(covered, [(GoalId(0), TestId(2)), (GoalId(1), TestId(1))]);
    }
}
