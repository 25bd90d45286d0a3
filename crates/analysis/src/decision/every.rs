//! All shapes of a size, for exhaustive checks.

use model::{ConditionId, Shape};

/// Every shape with exactly so many conditions, numbered from 0 in order of evaluation; each subtree also negated.
pub fn every_shape(n_conditions: usize) -> Vec<Shape> {
    shapes(0, n_conditions)
}

fn shapes(first: usize, n: usize) -> Vec<Shape> {
    let mut plain = Vec::new();
    if n == 1 {
        plain.push(Shape::Leaf(ConditionId::new(first)));
    }
    for left_size in 1..n {
        for left in shapes(first, left_size) {
            for right in shapes(first + left_size, n - left_size) {
                let (left, right) = (Box::new(left.clone()), Box::new(right));
                plain.push(Shape::And(left.clone(), right.clone()));
                plain.push(Shape::Or(left.clone(), right.clone()));
                plain.push(Shape::Equal(left.clone(), right.clone()));
                plain.push(Shape::Differ(left, right));
            }
        }
    }
    for condition_size in 1..n.saturating_sub(1) {
        for then_size in 1..n - condition_size {
            let arms = (first + condition_size, first + condition_size + then_size);
            let otherwise_size = n - condition_size - then_size;
            for condition in shapes(first, condition_size) {
                for then in shapes(arms.0, then_size) {
                    for otherwise in shapes(arms.1, otherwise_size) {
                        let (condition, then) = (Box::new(condition.clone()), Box::new(then.clone()));
                        plain.push(Shape::Ternary(condition, then, Box::new(otherwise)));
                    }
                }
            }
        }
    }
    let negated: Vec<Shape> = plain.iter().map(|shape| Shape::Not(Box::new(shape.clone()))).collect();
    plain.into_iter().chain(negated).collect()
}
