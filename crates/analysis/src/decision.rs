//! What does one evaluation of a decision show about its conditions? Masking, short-circuit MC/DC.
//!
//! Two views of the same rules. [`table`] is static partial evaluation: for each condition and value, which earlier
//! conditions it masks and whether it ends the decision (non-intrusive MC/DC, Figs. 2 and 3), extended to `?:` and boolean
//! `==`, `!=`, `^`. [`independent`] applies them to a finished evaluation and lists the conditions whose effect on the
//! outcome it shows. Limit: conditions count as unrelated, even if the same expression occurs twice.

mod attain;
mod every;
mod vectors;

use std::collections::{BTreeMap, BTreeSet};

use model::{ConditionId, Shape};

pub use attain::{Shown, attainable};
pub use every::every_shape;
pub use vectors::{evaluations, n_vectors, rank, vectors};

/// Outcomes of the conditions that one evaluation reached.
pub type Outcomes = BTreeMap<ConditionId, bool>;

/// What a condition does when it has a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    pub condition: ConditionId,
    pub value: bool,
    /// Earlier conditions whose effect can no longer be seen.
    pub masks: BTreeSet<ConditionId>,
    pub terminates: Terminates,
}

/// Whether a value settles the decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Terminates {
    /// With this outcome.
    Always(bool),
    Never,
    /// It does, with an outcome (and masks) that earlier conditions settle: operands of boolean `==`, `!=`, `^`.
    Depends,
}

/// Masks and terminations for every condition of `shape` and both values, in order of evaluation, true first.
pub fn table(shape: &Shape) -> Vec<Row> {
    let mut rows = Vec::new();
    fill(shape, &mut Vec::new(), &mut rows);
    rows
}

/// The way from a leaf up to the decision: which operand of which operator.
#[derive(Clone, Copy)]
enum Parent<'s> {
    Not,
    AndLeft(&'s Shape),
    AndRight(&'s Shape),
    OrLeft(&'s Shape),
    OrRight(&'s Shape),
    TernaryCondition { then: &'s Shape, otherwise: &'s Shape },
    TernaryArm,
    CompareFirst,
    CompareSecond,
}

fn fill<'s>(shape: &'s Shape, parents: &mut Vec<Parent<'s>>, rows: &mut Vec<Row>) {
    let mut below = |child: &'s Shape, parent: Parent<'s>| {
        parents.push(parent);
        fill(child, parents, rows);
        parents.pop();
    };
    match shape {
        Shape::Constant(_) => {}
        Shape::Not(inner) => below(inner, Parent::Not),
        Shape::And(left, right) => {
            below(left, Parent::AndLeft(right));
            below(right, Parent::AndRight(left));
        }
        Shape::Or(left, right) => {
            below(left, Parent::OrLeft(right));
            below(right, Parent::OrRight(left));
        }
        Shape::Ternary(condition, then, otherwise) => {
            below(condition, Parent::TernaryCondition { then, otherwise });
            below(then, Parent::TernaryArm);
            below(otherwise, Parent::TernaryArm);
        }
        Shape::Equal(left, right) | Shape::Differ(left, right) => {
            below(left, Parent::CompareFirst);
            below(right, Parent::CompareSecond);
        }
        Shape::Leaf(condition) => {
            for value in [true, false] {
                rows.push(row(*condition, value, parents));
            }
        }
    }
}

/// Climbs from a leaf while the value of the subtree is settled.
fn row(condition: ConditionId, value: bool, parents: &[Parent<'_>]) -> Row {
    let mut masks = BTreeSet::new();
    let mut value_here = Some(value);
    let mut terminates = None;
    for parent in parents.iter().rev() {
        let Some(known) = value_here else { break };
        value_here = match parent {
            Parent::Not => Some(!known),
            Parent::AndLeft(right) => {
                if known {
                    constant(right)
                } else {
                    Some(false)
                }
            }
            Parent::OrLeft(right) => {
                if known {
                    Some(true)
                } else {
                    constant(right)
                }
            }
            Parent::AndRight(left) => {
                if !known {
                    masks.extend(left.conditions());
                }
                Some(known)
            }
            Parent::OrRight(left) => {
                if known {
                    masks.extend(left.conditions());
                }
                Some(known)
            }
            Parent::TernaryCondition { then, otherwise } => constant(if known { then } else { otherwise }),
            Parent::TernaryArm => Some(known),
            Parent::CompareFirst => None,
            Parent::CompareSecond => {
                terminates = Some(Terminates::Depends);
                None
            }
        };
    }
    let terminates = match (value_here, terminates) {
        (Some(outcome), _) => Terminates::Always(outcome),
        (None, Some(depends)) => depends,
        (None, None) => Terminates::Never,
    };
    Row { condition, value, masks, terminates }
}

/// The value of a subtree without conditions.
fn constant(shape: &Shape) -> Option<bool> {
    if shape.is_constant() { Some(evaluate(shape, &Outcomes::new())?.value) } else { None }
}

/// The conditions that a finished evaluation shows to affect the outcome independently, with their values; empty when
/// `outcomes` do not finish it.
pub fn independent(shape: &Shape, outcomes: &Outcomes) -> Outcomes {
    evaluate(shape, outcomes).map(|evaluated| evaluated.shown).unwrap_or_default()
}

struct Evaluated {
    value: bool,
    /// Conditions whose change would change `value`.
    shown: Outcomes,
}

fn evaluate(shape: &Shape, outcomes: &Outcomes) -> Option<Evaluated> {
    Some(match shape {
        Shape::Leaf(condition) => {
            let value = *outcomes.get(condition)?;
            Evaluated { value, shown: Outcomes::from([(*condition, value)]) }
        }
        Shape::Constant(value) => Evaluated { value: *value, shown: Outcomes::new() },
        Shape::Not(inner) => {
            let inner = evaluate(inner, outcomes)?;
            Evaluated { value: !inner.value, shown: inner.shown }
        }
        Shape::And(left, right) => short_circuit(left, right, false, outcomes)?,
        Shape::Or(left, right) => short_circuit(left, right, true, outcomes)?,
        Shape::Ternary(condition, then, otherwise) => {
            let condition = evaluate(condition, outcomes)?;
            let (arm, other) = if condition.value { (then, otherwise) } else { (otherwise, then) };
            let mut arm = evaluate(arm, outcomes)?;
            if possible(other).has(!arm.value) {
                arm.shown.extend(condition.shown);
            }
            arm
        }
        Shape::Equal(left, right) => compare(left, right, outcomes, |a, b| a == b)?,
        Shape::Differ(left, right) => compare(left, right, outcomes, |a, b| a != b)?,
    })
}

/// `&&` and `||`: `ending` is the value that ends them.
fn short_circuit(left: &Shape, right: &Shape, ending: bool, outcomes: &Outcomes) -> Option<Evaluated> {
    let left = evaluate(left, outcomes)?;
    if left.value == ending {
        // a change on the left lets the right side decide, which must be able to differ
        let shown = if possible(right).has(!ending) { left.shown } else { Outcomes::new() };
        return Some(Evaluated { value: ending, shown });
    }
    let mut right = evaluate(right, outcomes)?;
    if right.value != ending {
        right.shown.extend(left.shown);
    }
    Some(right)
}

fn compare(
    left: &Shape,
    right: &Shape,
    outcomes: &Outcomes,
    combine: fn(bool, bool) -> bool,
) -> Option<Evaluated> {
    let left = evaluate(left, outcomes)?;
    let mut right = evaluate(right, outcomes)?;
    right.shown.extend(left.shown);
    right.value = combine(left.value, right.value);
    Some(right)
}

/// The values a subtree can have at all.
#[derive(Clone, Copy)]
struct Possible {
    values: [bool; 2],
}

impl Possible {
    fn has(self, value: bool) -> bool {
        self.values[usize::from(value)]
    }

    fn of(predicate: impl Fn(bool) -> bool) -> Self {
        Self { values: [predicate(false), predicate(true)] }
    }
}

fn possible(shape: &Shape) -> Possible {
    match shape {
        Shape::Leaf(_) => Possible::of(|_| true),
        Shape::Constant(constant) => Possible::of(|value| value == *constant),
        Shape::Not(inner) => {
            let inner = possible(inner);
            Possible::of(|value| inner.has(!value))
        }
        Shape::And(left, right) => {
            let (left, right) = (possible(left), possible(right));
            Possible::of(|value| {
                if value { left.has(true) && right.has(true) } else { left.has(false) || right.has(false) }
            })
        }
        Shape::Or(left, right) => {
            let (left, right) = (possible(left), possible(right));
            Possible::of(|value| {
                if value { left.has(true) || right.has(true) } else { left.has(false) && right.has(false) }
            })
        }
        Shape::Ternary(condition, then, otherwise) => {
            let (condition, then, otherwise) = (possible(condition), possible(then), possible(otherwise));
            Possible::of(|value| {
                condition.has(true) && then.has(value) || condition.has(false) && otherwise.has(value)
            })
        }
        Shape::Equal(left, right) => {
            let (left, right) = (possible(left), possible(right));
            Possible::of(|value| [false, true].into_iter().any(|a| left.has(a) && right.has(a == value)))
        }
        Shape::Differ(left, right) => {
            let (left, right) = (possible(left), possible(right));
            Possible::of(|value| [false, true].into_iter().any(|a| left.has(a) && right.has(a != value)))
        }
    }
}

#[cfg(test)]
mod tests;
