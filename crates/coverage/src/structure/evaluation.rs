//! What does a flip do to the evaluation of the decision it stands in? It ends it, with a vector that may show something
//! new, or it leads on, towards vectors that may.

use std::cell::LazyCell;

use analysis::decision::{attainable, independent, rank};
use analysis::icfg::{Direction, DirectionId};
use model::walk::{Choice, Site};
use model::{DecisionId, Shape};

use super::{Outlook, Structure};
use crate::vector::{Next, Progress, Vector, progress};
use crate::{Coverage, EvaluationDemand, GoalId};

/// An evaluation with the flip in it.
struct Flipped<'s> {
    decision: DecisionId,
    shape: &'s Shape,
    outcomes: Vec<Option<bool>>,
    progress: Progress,
}

impl Structure<'_> {
    /// Open goals that the flip covers by ending the evaluation of its decision.
    pub(super) fn shown(
        &self,
        outlook: &Outlook,
        direction: DirectionId,
        coverage: &Coverage,
    ) -> Vec<GoalId> {
        let Some(flipped) = self.flipped(outlook, direction) else { return Vec::new() };
        let Progress::Done(outcome) = flipped.progress else { return Vec::new() };
        let open = self.open_goals(flipped.decision, coverage);
        if open.is_empty() {
            return Vec::new();
        }
        let vector = Vector::from(flipped.outcomes.as_slice());
        let shown = independent(flipped.shape, &vector.by_condition(flipped.shape));
        let number = rank(flipped.shape, &flipped.outcomes);
        let paired = coverage.pairs().completed_by(flipped.decision, &vector, outcome);
        let covers = |demand: EvaluationDemand| match demand {
            EvaluationDemand::Outcome(wanted) => wanted == outcome,
            EvaluationDemand::Independent(condition, value) => shown.get(&condition) == Some(&value),
            EvaluationDemand::Vector(wanted) => number == Some(u64::from(wanted)),
            EvaluationDemand::Paired(condition, _) => paired.contains(&condition),
        };
        open.into_iter().filter(|(_, demand)| covers(*demand)).map(|(goal, _)| goal).collect()
    }

    /// Open goals that the evaluation may still cover after the flip: on its way on or, where two evaluations make a pair,
    /// together with a later one.
    pub(super) fn attainable(
        &self,
        outlook: &Outlook,
        direction: DirectionId,
        coverage: &Coverage,
    ) -> Vec<GoalId> {
        let Some(flipped) = self.flipped(outlook, direction) else { return Vec::new() };
        let open = self.open_goals(flipped.decision, coverage);
        if open.is_empty() {
            return Vec::new();
        }
        let is_done = matches!(flipped.progress, Progress::Done(_));
        let listed = self.attached.vectors.get(&flipped.decision);
        let shown = LazyCell::new(|| {
            let begun = Vector::from(flipped.outcomes.as_slice()).by_condition(flipped.shape);
            attainable(flipped.shape, &begun)
        });
        let may_be_new = LazyCell::new(|| {
            let is_new = |vector: &Vector| !coverage.pairs().has_seen(flipped.decision, vector);
            match listed {
                _ if is_done => is_new(&Vector::from(flipped.outcomes.as_slice())),
                Some(listed) => listed.iter().any(|vector| flipped.leads_to(vector) && is_new(vector)),
                // with more vectors than can be listed there is always one that was never seen
                None => true,
            }
        });
        let covers = |demand: EvaluationDemand| match demand {
            EvaluationDemand::Independent(condition, value) => {
                !is_done && shown.contains(&(condition, value))
            }
            EvaluationDemand::Vector(number) => {
                let vector = listed.and_then(|listed| listed.get(number as usize));
                !is_done && vector.is_some_and(|vector| flipped.leads_to(vector))
            }
            EvaluationDemand::Paired(..) => *may_be_new,
            // the way that ends the evaluation has these
            EvaluationDemand::Outcome(_) => false,
        };
        open.into_iter().filter(|(_, demand)| covers(*demand)).map(|(goal, _)| goal).collect()
    }

    /// Whether an evaluation with this outcome of a condition may cover an open goal of its decision.
    pub(super) fn may_end_well(&self, direction: &Direction, coverage: &Coverage) -> bool {
        let (Site::Condition(condition), Choice::Outcome(value)) = (direction.site, direction.choice) else {
            return false;
        };
        let decision = self.marking.program().condition(condition).decision;
        let flow = self.marking.flow(decision);
        let is_alone = flow.n_conditions() == 1;
        self.open_goals(decision, coverage).into_iter().any(|(_, demand)| match demand {
            EvaluationDemand::Outcome(outcome) => match flow.next(self.marking.place(condition), value) {
                Next::Known(Progress::Done(known)) => known == outcome,
                Next::Known(Progress::Waiting(_)) => false,
                Next::Depends => true,
            },
            EvaluationDemand::Independent(_, wanted) | EvaluationDemand::Paired(_, wanted) => {
                !is_alone || wanted == value
            }
            EvaluationDemand::Vector(_) => true,
        })
    }

    fn flipped(&self, outlook: &Outlook, direction: DirectionId) -> Option<Flipped<'_>> {
        let direction = &self.graph.directions[direction.index()];
        let (Site::Condition(condition), Choice::Outcome(value)) = (direction.site, direction.choice) else {
            return None;
        };
        let program = self.marking.program();
        let decision = program.condition(condition).decision;
        let shape = &program.decision(decision).shape;
        let mut outcomes = vec![None; self.marking.flow(decision).n_conditions()];
        if let Some(begun) = &outlook.begun {
            // nothing has begun when it is empty
            outcomes.iter_mut().zip(begun.outcomes()).for_each(|(outcome, known)| *outcome = *known);
        }
        outcomes[self.marking.place(condition)] = Some(value);
        let progress = progress(shape, &outcomes);
        Some(Flipped { decision, shape, outcomes, progress })
    }

    fn open_goals(&self, decision: DecisionId, coverage: &Coverage) -> Vec<(GoalId, EvaluationDemand)> {
        let goals = self.attached.of_decision.get(&decision).into_iter().flatten();
        goals.copied().filter(|(goal, _)| coverage.is_open(*goal)).collect()
    }
}

impl Flipped<'_> {
    /// Whether the evaluation may still become this one.
    fn leads_to(&self, vector: &Vector) -> bool {
        self.outcomes
            .iter()
            .zip(vector.outcomes())
            .all(|(begun, outcome)| begun.is_none() || begun == outcome)
    }
}
