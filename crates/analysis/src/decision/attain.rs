//! What can an unfinished evaluation still show?
//!
//! Method: for each subtree and each value it can still have, the conditions it can show; subtrees share no condition, so
//! what one can show depends on the other only through its value.

use std::collections::BTreeSet;

use model::{ConditionId, Shape};

use super::{Outcomes, possible};

/// Conditions with the values they may be shown with.
pub type Shown = BTreeSet<(ConditionId, bool)>;

/// Everything that some way to finish the evaluation shows to affect the outcome independently; `begun` holds what has
/// been evaluated. Each alone can be had, not necessarily two together.
pub fn attainable(shape: &Shape, begun: &Outcomes) -> Shown {
    Ends::of(shape, begun).by_value.into_iter().flatten().flatten().collect()
}

/// By the value a subtree may end with: what it can show then, or nothing if it cannot.
struct Ends {
    by_value: [Option<Shown>; 2],
}

impl Ends {
    fn of(shape: &Shape, begun: &Outcomes) -> Self {
        match shape {
            Shape::Leaf(condition) => {
                let fixed = begun.get(condition);
                Self::when(|value| {
                    fixed.is_none_or(|fixed| *fixed == value).then(|| Shown::from([(*condition, value)]))
                })
            }
            Shape::Constant(constant) => Self::when(|value| (value == *constant).then(Shown::new)),
            Shape::Not(inner) => {
                let [when_false, when_true] = Self::of(inner, begun).by_value;
                Self { by_value: [when_true, when_false] }
            }
            Shape::And(left, right) => Self::short_circuit(left, right, false, begun),
            Shape::Or(left, right) => Self::short_circuit(left, right, true, begun),
            Shape::Ternary(condition, then, otherwise) => {
                let chosen = Self::of(condition, begun);
                let arms = [(true, then, otherwise), (false, otherwise, then)];
                let arms = arms.map(|(choice, arm, other)| (choice, Self::of(arm, begun), possible(other)));
                Self::when(|value| {
                    let mut ends = None;
                    for (choice, arm, other) in &arms {
                        if let (Some(chosen), Some(arm)) = (chosen.get(*choice), arm.get(value)) {
                            let of_choice = if other.has(!value) { chosen.clone() } else { Shown::new() };
                            add(&mut ends, of_choice.union(arm).copied().collect());
                        }
                    }
                    ends
                })
            }
            Shape::Equal(left, right) => Self::compare(left, right, begun, |left, value| left == value),
            Shape::Differ(left, right) => Self::compare(left, right, begun, |left, value| left != value),
        }
    }

    fn when(shown: impl Fn(bool) -> Option<Shown>) -> Self {
        Self { by_value: [shown(false), shown(true)] }
    }

    fn get(&self, value: bool) -> Option<&Shown> {
        self.by_value[usize::from(value)].as_ref()
    }

    /// `&&` and `||`: `ending` is the value that ends them.
    fn short_circuit(left: &Shape, right: &Shape, ending: bool, begun: &Outcomes) -> Self {
        let right_may_differ = possible(right).has(!ending);
        let (left, right) = (Self::of(left, begun), Self::of(right, begun));
        Self::when(|value| {
            let mut ends = None;
            if value == ending
                && let Some(shown) = left.get(ending)
            {
                add(&mut ends, if right_may_differ { shown.clone() } else { Shown::new() });
            }
            if let (Some(of_left), Some(of_right)) = (left.get(!ending), right.get(value)) {
                let masked = value == ending;
                let of_left = if masked { Shown::new() } else { of_left.clone() };
                add(&mut ends, of_left.union(of_right).copied().collect());
            }
            ends
        })
    }

    /// Boolean comparison: `other` is the right side's value for a left side's and the result.
    fn compare(left: &Shape, right: &Shape, begun: &Outcomes, other: fn(bool, bool) -> bool) -> Self {
        let (left, right) = (Self::of(left, begun), Self::of(right, begun));
        Self::when(|value| {
            let mut ends = None;
            for of_left in [true, false] {
                if let (Some(left), Some(right)) = (left.get(of_left), right.get(other(of_left, value))) {
                    add(&mut ends, left.union(right).copied().collect());
                }
            }
            ends
        })
    }
}

fn add(ends: &mut Option<Shown>, more: Shown) {
    ends.get_or_insert_default().extend(more);
}

#[cfg(test)]
mod tests {
    use super::super::{every_shape, independent, vectors};
    use super::*;

    #[test]
    fn what_can_be_shown_is_what_some_completion_shows() {
        for shape in (1..=3).flat_map(every_shape) {
            let conditions = shape.conditions();
            let finished: Vec<Outcomes> = vectors(&shape)
                .into_iter()
                .map(|outcomes| {
                    conditions.iter().copied().zip(outcomes).filter_map(|(c, o)| Some((c, o?))).collect()
                })
                .collect();
            for whole in &finished {
                // every evaluation begins with some of its first conditions
                for n_begun in 0..=whole.len() {
                    let begun: Outcomes = whole.iter().take(n_begun).map(|(c, o)| (*c, *o)).collect();
                    let completions =
                        finished.iter().filter(|other| begun.iter().all(|(c, o)| other.get(c) == Some(o)));
                    let shown: Shown = completions.flat_map(|other| independent(&shape, other)).collect();
                    assert_eq!(attainable(&shape, &begun), shown, "{shape:?} after {begun:?}");
                }
            }
        }
    }
}
