//! Vectors: the outcomes of a decision's conditions in one evaluation, and what an evaluation does next.
//!
//! Method: conditions are numbered by their place in the decision, which is their order of evaluation. For most
//! conditions the value alone tells where the evaluation goes ([`Flow`]); operands of boolean `==`, `!=` and `^` need the
//! outcomes before ([`progress`]).

use std::fmt;

use analysis::decision::Outcomes;
use model::Shape;

/// Outcomes by place in the decision; those that short-circuiting left out are missing.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Vector {
    outcomes: Box<[Option<bool>]>,
}

impl Vector {
    /// The outcomes, one per condition of the decision.
    pub fn outcomes(&self) -> &[Option<bool>] {
        &self.outcomes
    }

    /// The outcomes by condition of `shape`, whose vector this is.
    pub fn by_condition(&self, shape: &Shape) -> Outcomes {
        let conditions = shape.conditions().into_iter();
        conditions
            .zip(&self.outcomes)
            .filter_map(|(condition, outcome)| Some((condition, (*outcome)?)))
            .collect()
    }
}

impl From<&[Option<bool>]> for Vector {
    fn from(outcomes: &[Option<bool>]) -> Self {
        Self { outcomes: outcomes.into() }
    }
}

/// `TF-`: true, false, not evaluated.
impl fmt::Display for Vector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.outcomes.iter().try_for_each(|outcome| {
            f.write_str(match outcome {
                Some(true) => "T",
                Some(false) => "F",
                None => "-",
            })
        })
    }
}

/// What is known of a decision part-way through its evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// The place of the next condition to be evaluated.
    Waiting(usize),
    /// The decision's outcome.
    Done(bool),
}

/// Where an evaluation goes from a condition with a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    Known(Progress),
    /// The outcomes before decide: ask [`progress`].
    Depends,
}

/// For each place and value, where the evaluation goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Flow {
    next: Vec<[Next; 2]>,
}

impl Flow {
    pub(crate) fn of(shape: &Shape) -> Self {
        let mut flow = Self { next: vec![[Next::Depends; 2]; n_conditions(shape)] };
        let (on_true, on_false) = (Next::Known(Progress::Done(true)), Next::Known(Progress::Done(false)));
        flow.fill(shape, 0, on_true, on_false);
        flow
    }

    /// How many conditions there are.
    pub(crate) fn n_conditions(&self) -> usize {
        self.next.len()
    }

    pub(crate) fn next(&self, place: usize, value: bool) -> Next {
        self.next[place][usize::from(value)]
    }

    /// The conditions of `shape`, which begin at `first`, when its value leads there.
    fn fill(&mut self, shape: &Shape, first: usize, on_true: Next, on_false: Next) {
        match shape {
            Shape::Leaf(_) => self.next[first] = [on_false, on_true],
            Shape::Constant(_) => {}
            Shape::Not(inner) => self.fill(inner, first, on_false, on_true),
            Shape::And(left, right) => {
                let second = first + n_conditions(left);
                self.fill(left, first, entry(right, second, on_true, on_false), on_false);
                self.fill(right, second, on_true, on_false);
            }
            Shape::Or(left, right) => {
                let second = first + n_conditions(left);
                self.fill(left, first, on_true, entry(right, second, on_true, on_false));
                self.fill(right, second, on_true, on_false);
            }
            Shape::Ternary(condition, then, otherwise) => {
                let second = first + n_conditions(condition);
                let third = second + n_conditions(then);
                let entries =
                    [entry(then, second, on_true, on_false), entry(otherwise, third, on_true, on_false)];
                self.fill(condition, first, entries[0], entries[1]);
                self.fill(then, second, on_true, on_false);
                self.fill(otherwise, third, on_true, on_false);
            }
            Shape::Equal(left, right) | Shape::Differ(left, right) => {
                let second = first + n_conditions(left);
                let right_entry = entry(right, second, Next::Depends, Next::Depends);
                self.fill(left, first, right_entry, right_entry);
                self.fill(right, second, Next::Depends, Next::Depends);
            }
        }
    }
}

/// Where an evaluation of `shape` begins.
fn entry(shape: &Shape, first: usize, on_true: Next, on_false: Next) -> Next {
    match shape {
        Shape::Leaf(_) => Next::Known(Progress::Waiting(first)),
        Shape::Constant(true) => on_true,
        Shape::Constant(false) => on_false,
        Shape::Not(inner) => entry(inner, first, on_false, on_true),
        Shape::And(left, right) => {
            let right = entry(right, first + n_conditions(left), on_true, on_false);
            entry(left, first, right, on_false)
        }
        Shape::Or(left, right) => {
            let right = entry(right, first + n_conditions(left), on_true, on_false);
            entry(left, first, on_true, right)
        }
        Shape::Ternary(condition, then, otherwise) => {
            let second = first + n_conditions(condition);
            let third = second + n_conditions(then);
            let then = entry(then, second, on_true, on_false);
            entry(condition, first, then, entry(otherwise, third, on_true, on_false))
        }
        Shape::Equal(left, right) | Shape::Differ(left, right) => {
            let right = entry(right, first + n_conditions(left), Next::Depends, Next::Depends);
            entry(left, first, right, right)
        }
    }
}

fn n_conditions(shape: &Shape) -> usize {
    shape.conditions().len()
}

/// How far `outcomes` take the evaluation of `shape`, in C's order.
pub fn progress(shape: &Shape, outcomes: &[Option<bool>]) -> Progress {
    progress_from(shape, 0, outcomes)
}

fn progress_from(shape: &Shape, first: usize, outcomes: &[Option<bool>]) -> Progress {
    use Progress::{Done, Waiting};
    let at = |shape: &Shape, first: usize| progress_from(shape, first, outcomes);
    match shape {
        Shape::Leaf(_) => outcomes[first].map_or(Waiting(first), Done),
        Shape::Constant(value) => Done(*value),
        Shape::Not(inner) => match at(inner, first) {
            Done(value) => Done(!value),
            waiting @ Waiting(_) => waiting,
        },
        Shape::And(left, right) => match at(left, first) {
            Done(true) => at(right, first + n_conditions(left)),
            other @ (Done(false) | Waiting(_)) => other,
        },
        Shape::Or(left, right) => match at(left, first) {
            Done(false) => at(right, first + n_conditions(left)),
            other @ (Done(true) | Waiting(_)) => other,
        },
        Shape::Ternary(condition, then, otherwise) => {
            let second = first + n_conditions(condition);
            match at(condition, first) {
                Done(true) => at(then, second),
                Done(false) => at(otherwise, second + n_conditions(then)),
                waiting @ Waiting(_) => waiting,
            }
        }
        Shape::Equal(left, right) | Shape::Differ(left, right) => {
            let differ = matches!(shape, Shape::Differ(..));
            match (at(left, first), at(right, first + n_conditions(left))) {
                (Done(a), Done(b)) => Done((a != b) == differ),
                // C leaves the operands unsequenced: whichever is missing is waited for
                (waiting @ Waiting(_), _) | (_, waiting @ Waiting(_)) => waiting,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use model::ConditionId;

    use super::*;

    fn leaf(condition: u32) -> Box<Shape> {
        Box::new(Shape::Leaf(ConditionId(condition)))
    }

    const T: Option<bool> = Some(true);
    const F: Option<bool> = Some(false);

    #[test]
    fn short_circuit_leaves_later_conditions_unevaluated() {
        let shape = Shape::And(leaf(7), Box::new(Shape::Or(leaf(8), leaf(9))));
        assert_eq!(progress(&shape, &[None; 3]), Progress::Waiting(0));
        assert_eq!(progress(&shape, &[F, None, None]), Progress::Done(false));
        assert_eq!(progress(&shape, &[T, F, None]), Progress::Waiting(2));
        assert_eq!(progress(&shape, &[T, T, None]), Progress::Done(true));
    }

    #[test]
    fn boolean_equality_waits_for_both_sides() {
        let shape = Shape::Equal(leaf(0), Box::new(Shape::Not(leaf(1))));
        assert_eq!(progress(&shape, &[None, T]), Progress::Waiting(0));
        assert_eq!(progress(&shape, &[F, T]), Progress::Done(true));
    }

    #[test]
    fn the_flow_of_every_small_shape_agrees_with_its_progress() {
        for n in 1..=4 {
            for shape in analysis::decision::every_shape(n) {
                let flow = Flow::of(&shape);
                follow(&shape, &flow, &mut vec![None; n], Progress::Waiting(0));
            }
        }
    }

    fn follow(shape: &Shape, flow: &Flow, outcomes: &mut Vec<Option<bool>>, now: Progress) {
        let Progress::Waiting(place) = now else { return };
        for value in [true, false] {
            outcomes[place] = Some(value);
            let then = progress(shape, outcomes);
            match flow.next(place, value) {
                Next::Known(known) => assert_eq!(known, then, "{shape:?} {outcomes:?}"),
                Next::Depends => {}
            }
            follow(shape, flow, outcomes, then);
            outcomes[place] = None;
        }
    }
}
