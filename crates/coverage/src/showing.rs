//! Which evaluations would show that a condition affects its decision's outcome?
//!
//! Method: depth first over the evaluation in C's order, true before false, leaving out every beginning that no longer can
//! show it; so the first few are found at once, also in decisions with more vectors than anybody could list. Limit: a
//! pair is looked for among the first evaluations that show either half.

use analysis::decision::attainable;
use model::{ConditionId, Shape};

use crate::pairs::only_difference;
use crate::vector::{Progress, Vector, progress};

/// Evaluations that are tried as either half of a pair.
const MAX_HALVES: usize = 256;

/// The first evaluations, at most `limit`, that show `condition` with this value to affect the outcome independently.
pub fn showing(shape: &Shape, condition: ConditionId, value: bool, limit: usize) -> Vec<Vector> {
    let mut search = Search { shape, wanted: (condition, value), limit, found: Vec::new() };
    search.go_on(&mut vec![None; shape.conditions().len()]);
    search.found
}

/// Pairs of evaluations, at most `limit`, that differ in `condition` and the outcome, and in no other condition that both
/// evaluate; the first half has this value.
pub fn pairs_showing(
    shape: &Shape,
    condition: ConditionId,
    value: bool,
    limit: usize,
) -> Vec<(Vector, Vector)> {
    let others = showing(shape, condition, !value, MAX_HALVES);
    let mut pairs = Vec::new();
    for half in showing(shape, condition, value, MAX_HALVES) {
        let partners = others.iter().filter(|other| is_pair(shape, condition, &half, other));
        pairs.extend(partners.map(|other| (half.clone(), other.clone())));
        if pairs.len() >= limit {
            break;
        }
    }
    pairs.truncate(limit);
    pairs
}

struct Search<'s> {
    shape: &'s Shape,
    wanted: (ConditionId, bool),
    limit: usize,
    found: Vec<Vector>,
}

impl Search<'_> {
    fn go_on(&mut self, outcomes: &mut [Option<bool>]) {
        let begun = Vector::from(&*outcomes);
        if self.found.len() >= self.limit
            || !attainable(self.shape, &begun.by_condition(self.shape)).contains(&self.wanted)
        {
            return;
        }
        match progress(self.shape, outcomes) {
            Progress::Done(_) => self.found.push(begun),
            Progress::Waiting(place) => {
                for value in [true, false] {
                    outcomes[place] = Some(value);
                    self.go_on(outcomes);
                }
                outcomes[place] = None;
            }
        }
    }
}

fn is_pair(shape: &Shape, condition: ConditionId, half: &Vector, other: &Vector) -> bool {
    let place = shape.conditions().into_iter().position(|known| known == condition);
    let outcome = |vector: &Vector| progress(shape, vector.outcomes());
    only_difference(half, other) == place && outcome(half) != outcome(other)
}

#[cfg(test)]
mod tests {
    use analysis::decision::{every_shape, independent, vectors};

    use super::*;

    fn all(shape: &Shape) -> Vec<Vector> {
        vectors(shape).iter().map(|outcomes| Vector::from(outcomes.as_slice())).collect()
    }

    #[test]
    fn what_shows_a_condition_is_found_among_all_evaluations() {
        for shape in (1..=3).flat_map(every_shape) {
            for condition in shape.conditions() {
                for value in [true, false] {
                    let shows = |vector: &Vector| {
                        independent(&shape, &vector.by_condition(&shape)).get(&condition) == Some(&value)
                    };
                    let expected: Vec<Vector> = all(&shape).into_iter().filter(shows).collect();
                    assert_eq!(showing(&shape, condition, value, usize::MAX), expected, "{shape:?}");
                }
            }
        }
    }

    #[test]
    fn what_makes_a_pair_is_found_among_all_evaluations() {
        for shape in (1..=3).flat_map(every_shape) {
            for condition in shape.conditions() {
                let exists = all(&shape)
                    .iter()
                    .any(|half| all(&shape).iter().any(|other| is_pair(&shape, condition, half, other)));
                let pairs = pairs_showing(&shape, condition, true, usize::MAX);
                assert_eq!(!pairs.is_empty(), exists, "{shape:?} {condition}");
            }
        }
    }

    #[test]
    fn a_decision_with_too_many_evaluations_to_list_has_its_first_ones_found() {
        let leaf = |index| Box::new(Shape::Leaf(ConditionId::new(index)));
        let mut shape = Shape::Differ(leaf(0), leaf(1));
        for index in 2..40 {
            shape = Shape::Differ(Box::new(shape), leaf(index));
        }
        assert_eq!(showing(&shape, ConditionId(39), false, 3).len(), 3);
    }
}
