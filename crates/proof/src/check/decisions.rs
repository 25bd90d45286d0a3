//! Evaluations of decisions: what they show, written as terms over the outcomes so far, and their vectors by number.
//!
//! A second implementation of the rules of masking MC/DC and of short-circuiting, which shares nothing with the one that
//! finds goals. `registers` hold, per condition in order of evaluation, whether it was evaluated and its value.

use model::{ConditionId, Shape};

use super::terms::{Term, Terms};

/// More vectors than this are not listed.
const MAX_VECTORS: usize = 1024;

/// Outcomes by place in the decision; none where short-circuiting skips the condition.
pub(crate) type Vector = Vec<Option<bool>>;

/// Whether a condition was evaluated, and its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Register {
    pub(crate) evaluated: Term,
    pub(crate) value: Term,
}

/// A subtree under the outcomes so far. The last two mean something only when it is done.
#[derive(Clone, Copy)]
pub(crate) struct Evaluated {
    pub(crate) done: Term,
    pub(crate) value: Term,
    /// Whether the wanted condition, with the wanted value, is seen to affect `value`.
    pub(crate) shown: Term,
}

/// Evaluates the shape whose first condition has the first register.
pub(crate) fn evaluate(
    terms: &mut Terms,
    shape: &Shape,
    registers: &[Register],
    wanted: (ConditionId, bool),
) -> Evaluated {
    let no = terms.truth(false);
    let split = |left: &Shape| registers.split_at(left.conditions().len());
    match shape {
        Shape::Leaf(condition) => {
            let Register { evaluated, value } = registers[0];
            let holds = if wanted.1 { value } else { terms.not(value) };
            Evaluated { done: evaluated, value, shown: if *condition == wanted.0 { holds } else { no } }
        }
        Shape::Constant(value) => {
            Evaluated { done: terms.truth(true), value: terms.truth(*value), shown: no }
        }
        Shape::Not(inner) => {
            let inner = evaluate(terms, inner, registers, wanted);
            Evaluated { value: terms.not(inner.value), ..inner }
        }
        Shape::And(left, right) | Shape::Or(left, right) => {
            let is_or = matches!(shape, Shape::Or(..));
            let (of_left, of_right) = split(left);
            let a = evaluate(terms, left, of_left, wanted);
            let b = evaluate(terms, right, of_right, wanted);
            let ended = if is_or { a.value } else { terms.not(a.value) };
            let done = terms.or(&[ended, b.done]);
            let value = if is_or { terms.or(&[a.value, b.value]) } else { terms.and(&[a.value, b.value]) };
            // a change on the left lets the right side decide, which must be able to differ
            let shown_ended = if possible(right, !is_or) { a.shown } else { no };
            let right_decides = if is_or { terms.not(b.value) } else { b.value };
            let shown_left = terms.and(&[right_decides, a.shown]);
            let shown_on = terms.or(&[b.shown, shown_left]);
            Evaluated {
                done: terms.and(&[a.done, done]),
                value,
                shown: terms.ite(ended, shown_ended, shown_on),
            }
        }
        Shape::Ternary(condition, then, otherwise) => {
            let (of_condition, rest) = split(condition);
            let (of_then, of_otherwise) = rest.split_at(then.conditions().len());
            let c = evaluate(terms, condition, of_condition, wanted);
            let a = evaluate(terms, then, of_then, wanted);
            let b = evaluate(terms, otherwise, of_otherwise, wanted);
            let mut arm = |one: Evaluated, other: &Shape| {
                let (if_true, if_false) = (possible(other, false), possible(other, true));
                let (if_true, if_false) = (terms.truth(if_true), terms.truth(if_false));
                let differs = terms.ite(one.value, if_true, if_false);
                let by_condition = terms.and(&[differs, c.shown]);
                terms.or(&[one.shown, by_condition])
            };
            let (shown_then, shown_otherwise) = (arm(a, otherwise), arm(b, then));
            let done = terms.ite(c.value, a.done, b.done);
            Evaluated {
                done: terms.and(&[c.done, done]),
                value: terms.ite(c.value, a.value, b.value),
                shown: terms.ite(c.value, shown_then, shown_otherwise),
            }
        }
        Shape::Equal(left, right) | Shape::Differ(left, right) => {
            let (of_left, of_right) = split(left);
            let a = evaluate(terms, left, of_left, wanted);
            let b = evaluate(terms, right, of_right, wanted);
            let same = terms.equal(a.value, b.value);
            let value = if matches!(shape, Shape::Equal(..)) { same } else { terms.not(same) };
            Evaluated { done: terms.and(&[a.done, b.done]), value, shown: terms.or(&[a.shown, b.shown]) }
        }
    }
}

/// Whether some outcomes give the subtree this value.
fn possible(shape: &Shape, value: bool) -> bool {
    match shape {
        Shape::Leaf(_) => true,
        Shape::Constant(constant) => *constant == value,
        Shape::Not(inner) => possible(inner, !value),
        Shape::And(a, b) if value => possible(a, true) && possible(b, true),
        Shape::And(a, b) => possible(a, false) || possible(b, false),
        Shape::Or(a, b) if value => possible(a, true) || possible(b, true),
        Shape::Or(a, b) => possible(a, false) && possible(b, false),
        Shape::Ternary(c, a, b) => {
            (possible(c, true) && possible(a, value)) || (possible(c, false) && possible(b, value))
        }
        Shape::Equal(a, b) => [false, true].iter().any(|x| possible(a, *x) && possible(b, *x == value)),
        Shape::Differ(a, b) => [false, true].iter().any(|x| possible(a, *x) && possible(b, *x != value)),
    }
}

/// Whether operands of `==` or `!=` occur, of which C leaves open which is evaluated first.
pub(crate) fn is_unsequenced(shape: &Shape) -> bool {
    match shape {
        Shape::Leaf(_) | Shape::Constant(_) => false,
        Shape::Not(inner) => is_unsequenced(inner),
        Shape::And(a, b) | Shape::Or(a, b) => is_unsequenced(a) || is_unsequenced(b),
        Shape::Ternary(a, b, c) => is_unsequenced(a) || is_unsequenced(b) || is_unsequenced(c),
        Shape::Equal(..) | Shape::Differ(..) => true,
    }
}

/// All vectors with the decision's outcome, true before false, the first condition counting most; none if too many.
pub(crate) fn vectors(shape: &Shape) -> Option<Vec<(Vector, bool)>> {
    let mut found = Vec::new();
    let mut outcomes = vec![None; shape.conditions().len()];
    list(shape, &mut outcomes, &mut found).then_some(found)
}

fn list(shape: &Shape, outcomes: &mut Vector, found: &mut Vec<(Vector, bool)>) -> bool {
    match next(shape, 0, outcomes) {
        Next::Done(outcome) => {
            found.push((outcomes.clone(), outcome));
            found.len() <= MAX_VECTORS
        }
        Next::Waiting(place) => {
            for value in [true, false] {
                outcomes[place] = Some(value);
                if !list(shape, outcomes, found) {
                    return false;
                }
            }
            outcomes[place] = None;
            true
        }
    }
}

enum Next {
    Waiting(usize),
    Done(bool),
}

fn next(shape: &Shape, first: usize, outcomes: &[Option<bool>]) -> Next {
    let n = |shape: &Shape| shape.conditions().len();
    match shape {
        Shape::Leaf(_) => outcomes[first].map_or(Next::Waiting(first), Next::Done),
        Shape::Constant(value) => Next::Done(*value),
        Shape::Not(inner) => match next(inner, first, outcomes) {
            Next::Done(value) => Next::Done(!value),
            waiting @ Next::Waiting(_) => waiting,
        },
        Shape::And(a, b) | Shape::Or(a, b) => match next(a, first, outcomes) {
            Next::Done(value) if value == matches!(shape, Shape::And(..)) => next(b, first + n(a), outcomes),
            ended => ended,
        },
        Shape::Ternary(c, a, b) => match next(c, first, outcomes) {
            Next::Done(true) => next(a, first + n(c), outcomes),
            Next::Done(false) => next(b, first + n(c) + n(a), outcomes),
            waiting @ Next::Waiting(_) => waiting,
        },
        Shape::Equal(a, b) | Shape::Differ(a, b) => match next(a, first, outcomes) {
            Next::Done(left) => match next(b, first + n(a), outcomes) {
                Next::Done(right) => Next::Done((left == right) == matches!(shape, Shape::Equal(..))),
                waiting @ Next::Waiting(_) => waiting,
            },
            waiting @ Next::Waiting(_) => waiting,
        },
    }
}

/// Whether two evaluations differ in the condition at `place`, and in no other that both evaluate.
pub(crate) fn differ_only_at(place: usize, a: &Vector, b: &Vector) -> bool {
    a.iter().zip(b).enumerate().all(|(index, outcomes)| match outcomes {
        (Some(a), Some(b)) => (a != b) == (index == place),
        (None, _) | (_, None) => index != place,
    })
}
