//! Vectors: the outcomes of a decision's conditions in one evaluation, and the decision's outcome they give.

use std::collections::BTreeMap;

use model::{ConditionId, Shape};

/// Outcomes of the conditions evaluated; those that short-circuiting left out are missing.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Vector {
    pub outcomes: BTreeMap<ConditionId, bool>,
}

/// What is known of a decision part-way through its evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// The next condition to be evaluated.
    Waiting(ConditionId),
    /// The decision's outcome.
    Done(bool),
}

/// How far `vector` takes the evaluation of `shape`, in C's order.
pub fn progress(shape: &Shape, vector: &Vector) -> Progress {
    use Progress::{Done, Waiting};
    match shape {
        Shape::Leaf(condition) => match vector.outcomes.get(condition) {
            Some(outcome) => Done(*outcome),
            None => Waiting(*condition),
        },
        Shape::Constant(value) => Done(*value),
        Shape::Not(inner) => match progress(inner, vector) {
            Done(value) => Done(!value),
            waiting @ Waiting(_) => waiting,
        },
        Shape::And(left, right) => match progress(left, vector) {
            Done(true) => progress(right, vector),
            other @ (Done(false) | Waiting(_)) => other,
        },
        Shape::Or(left, right) => match progress(left, vector) {
            Done(false) => progress(right, vector),
            other @ (Done(true) | Waiting(_)) => other,
        },
        Shape::Ternary(condition, then, otherwise) => match progress(condition, vector) {
            Done(true) => progress(then, vector),
            Done(false) => progress(otherwise, vector),
            waiting @ Waiting(_) => waiting,
        },
        Shape::Equal(left, right) => both(left, right, vector, |a, b| a == b),
        Shape::Differ(left, right) => both(left, right, vector, |a, b| a != b),
    }
}

/// Operands that C leaves unsequenced: whichever is missing is waited for.
fn both(left: &Shape, right: &Shape, vector: &Vector, combine: fn(bool, bool) -> bool) -> Progress {
    match (progress(left, vector), progress(right, vector)) {
        (Progress::Done(a), Progress::Done(b)) => Progress::Done(combine(a, b)),
        (waiting @ Progress::Waiting(_), _) | (_, waiting @ Progress::Waiting(_)) => waiting,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leaf(condition: u32) -> Box<Shape> {
        Box::new(Shape::Leaf(ConditionId(condition)))
    }

    fn vector(outcomes: &[(u32, bool)]) -> Vector {
        Vector {
            outcomes: outcomes.iter().map(|&(condition, value)| (ConditionId(condition), value)).collect(),
        }
    }

    #[test]
    fn short_circuit_leaves_later_conditions_unevaluated() {
        let shape = Shape::And(leaf(0), Box::new(Shape::Or(leaf(1), leaf(2))));
        assert_eq!(progress(&shape, &vector(&[])), Progress::Waiting(ConditionId(0)));
        assert_eq!(progress(&shape, &vector(&[(0, false)])), Progress::Done(false));
        assert_eq!(progress(&shape, &vector(&[(0, true), (1, false)])), Progress::Waiting(ConditionId(2)));
        assert_eq!(progress(&shape, &vector(&[(0, true), (1, true)])), Progress::Done(true));
    }

    #[test]
    fn boolean_equality_waits_for_both_sides() {
        let shape = Shape::Equal(leaf(0), Box::new(Shape::Not(leaf(1))));
        assert_eq!(progress(&shape, &vector(&[(1, true)])), Progress::Waiting(ConditionId(0)));
        assert_eq!(progress(&shape, &vector(&[(0, false), (1, true)])), Progress::Done(true));
    }
}
