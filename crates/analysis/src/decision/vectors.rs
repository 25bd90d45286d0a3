//! Which vectors can an evaluation of a decision have, given short-circuiting?
//!
//! Method: vectors are ordered by the first condition that differs, true before false; counting how many of a subtree end
//! in true and in false gives a vector's rank without listing those before it. Limit: counts saturate at 64 bits.

use model::Shape;

/// How many evaluations end in false and in true.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Count {
    by_value: [u64; 2],
}

impl Count {
    fn of(value: bool) -> Self {
        let mut count = Self::default();
        count.by_value[usize::from(value)] = 1;
        count
    }

    fn with(self, value: bool) -> u64 {
        self.by_value[usize::from(value)]
    }

    fn all(self) -> u64 {
        self.by_value[0].saturating_add(self.by_value[1])
    }

    fn swapped(self) -> Self {
        let [when_false, when_true] = self.by_value;
        Self { by_value: [when_true, when_false] }
    }

    fn plus(self, other: Self) -> Self {
        Self { by_value: [0, 1].map(|value| self.by_value[value].saturating_add(other.by_value[value])) }
    }

    fn times(self, factor: u64) -> Self {
        Self { by_value: self.by_value.map(|count| count.saturating_mul(factor)) }
    }
}

/// How many different vectors there are.
pub fn n_vectors(shape: &Shape) -> u64 {
    count(shape).all()
}

/// The number of a finished evaluation's vector among all, from 0; `outcomes` by place in the decision.
pub fn rank(shape: &Shape, outcomes: &[Option<bool>]) -> Option<u64> {
    Some(ranked(shape, outcomes)?.before.all())
}

/// All vectors in order.
pub fn vectors(shape: &Shape) -> Vec<Vec<Option<bool>>> {
    evaluations(shape).into_iter().map(|(outcomes, _)| outcomes).collect()
}

fn count(shape: &Shape) -> Count {
    match shape {
        Shape::Leaf(_) => Count { by_value: [1, 1] },
        Shape::Constant(value) => Count::of(*value),
        Shape::Not(inner) => count(inner).swapped(),
        Shape::And(left, right) => {
            let left = count(left);
            count(right).times(left.with(true)).plus(Count { by_value: [left.with(false), 0] })
        }
        Shape::Or(left, right) => {
            let left = count(left);
            count(right).times(left.with(false)).plus(Count { by_value: [0, left.with(true)] })
        }
        Shape::Ternary(condition, then, otherwise) => {
            let condition = count(condition);
            count(then).times(condition.with(true)).plus(count(otherwise).times(condition.with(false)))
        }
        Shape::Equal(left, right) => {
            let (left, right) = (count(left), count(right));
            right.times(left.with(true)).plus(right.swapped().times(left.with(false)))
        }
        Shape::Differ(left, right) => {
            let (left, right) = (count(left), count(right));
            right.swapped().times(left.with(true)).plus(right.times(left.with(false)))
        }
    }
}

/// A vector among those of its subtree.
struct RankedVector {
    before: Count,
    value: bool,
}

fn ranked(shape: &Shape, outcomes: &[Option<bool>]) -> Option<RankedVector> {
    let split = |left: &Shape| outcomes.split_at(left.conditions().len());
    Some(match shape {
        Shape::Leaf(_) => {
            let value = outcomes[0]?;
            RankedVector { before: if value { Count::default() } else { Count::of(true) }, value }
        }
        Shape::Constant(value) => RankedVector { before: Count::default(), value: *value },
        Shape::Not(inner) => {
            let inner = ranked(inner, outcomes)?;
            RankedVector { before: inner.before.swapped(), value: !inner.value }
        }
        Shape::And(left, right) => short_circuit(left, right, false, outcomes)?,
        Shape::Or(left, right) => short_circuit(left, right, true, outcomes)?,
        Shape::Ternary(condition, then, otherwise) => {
            let (of_condition, rest) = split(condition);
            let (of_then, of_otherwise) = rest.split_at(then.conditions().len());
            let condition = ranked(condition, of_condition)?;
            let before = count(then).times(condition.before.with(true));
            let before = before.plus(count(otherwise).times(condition.before.with(false)));
            let arm = if condition.value { ranked(then, of_then)? } else { ranked(otherwise, of_otherwise)? };
            RankedVector { before: before.plus(arm.before), value: arm.value }
        }
        Shape::Equal(left, right) | Shape::Differ(left, right) => {
            let (of_left, of_right) = split(left);
            let (left, all_right, right) = (ranked(left, of_left)?, count(right), ranked(right, of_right)?);
            let keeps = |value: bool| value == matches!(shape, Shape::Equal(..));
            let seen = |count: Count, left: bool| if keeps(left) { count } else { count.swapped() };
            let before = seen(all_right, true).times(left.before.with(true));
            let before = before.plus(seen(all_right, false).times(left.before.with(false)));
            RankedVector {
                before: before.plus(seen(right.before, left.value)),
                value: right.value == keeps(left.value),
            }
        }
    })
}

/// `&&` and `||`: `ending` is the value that ends them.
fn short_circuit(
    left: &Shape,
    right: &Shape,
    ending: bool,
    outcomes: &[Option<bool>],
) -> Option<RankedVector> {
    let (of_left, of_right) = outcomes.split_at(left.conditions().len());
    let left = ranked(left, of_left)?;
    let before = count(right).times(left.before.with(!ending));
    let before = before.plus(Count::of(ending).times(left.before.with(ending)));
    if left.value == ending {
        return Some(RankedVector { before, value: ending });
    }
    let right = ranked(right, of_right)?;
    Some(RankedVector { before: before.plus(right.before), value: right.value })
}

/// All vectors in order, each with the value it gives.
pub fn evaluations(shape: &Shape) -> Vec<(Vec<Option<bool>>, bool)> {
    let skipped = |shape: &Shape| vec![None; shape.conditions().len()];
    let pair = |left: &Shape, next: &dyn Fn(bool) -> Vec<(Vec<Option<bool>>, bool)>| {
        let mut all = Vec::new();
        for (outcomes, value) in evaluations(left) {
            all.extend(
                next(value).into_iter().map(|(more, value)| ([outcomes.clone(), more].concat(), value)),
            );
        }
        all
    };
    match shape {
        Shape::Leaf(_) => [true, false].map(|value| (vec![Some(value)], value)).into(),
        Shape::Constant(value) => vec![(Vec::new(), *value)],
        Shape::Not(inner) => {
            evaluations(inner).into_iter().map(|(outcomes, value)| (outcomes, !value)).collect()
        }
        Shape::And(left, right) => {
            pair(left, &|value| if value { evaluations(right) } else { vec![(skipped(right), false)] })
        }
        Shape::Or(left, right) => {
            pair(left, &|value| if value { vec![(skipped(right), true)] } else { evaluations(right) })
        }
        Shape::Ternary(condition, then, otherwise) => pair(condition, &|value| {
            let arm = evaluations(if value { then } else { otherwise });
            let spread = |(outcomes, result): (Vec<Option<bool>>, bool)| {
                let outcomes = if value {
                    [outcomes, skipped(otherwise)].concat()
                } else {
                    [skipped(then), outcomes].concat()
                };
                (outcomes, result)
            };
            arm.into_iter().map(spread).collect()
        }),
        Shape::Equal(left, right) | Shape::Differ(left, right) => pair(left, &|value| {
            let differ = matches!(shape, Shape::Differ(..));
            let combine = |(outcomes, other)| (outcomes, (value != other) == differ);
            evaluations(right).into_iter().map(combine).collect()
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::super::every_shape;
    use super::*;

    #[test]
    fn vectors_of_every_small_shape_are_numbered_in_order() {
        for shape in (1..=4).flat_map(every_shape) {
            let all = vectors(&shape);
            assert_eq!(n_vectors(&shape), all.len() as u64, "{shape:?}");
            for (number, outcomes) in (0..).zip(&all) {
                assert_eq!(rank(&shape, outcomes), Some(number), "{shape:?} {outcomes:?}");
            }
        }
    }

    #[test]
    fn an_unfinished_evaluation_has_no_number() {
        let shape = every_shape(2).remove(0);
        assert_eq!(rank(&shape, &[Some(true), None]), None);
    }
}
