//! Which evaluations must be impossible so that no two of them are a pair of unique-cause MC/DC?
//!
//! Method: a pair is broken when one of its halves is infeasible. The vectors of the decision are goals of their own; when
//! those that were shown to be infeasible break all pairs, their arguments together are one for the goal.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use analysis::decision::{n_vectors, vectors};
use model::{ConditionId, Program, Shape};
use proof::{Body, Formula, Goal, Listing, Operator};

use crate::system::Argument;
use crate::watch::{MAX_VECTORS, outcome};

/// Goals as the engines see them: pairs are replaced by the vectors of their decisions.
pub(crate) struct Split {
    pub(crate) goals: Vec<Goal>,
    /// By goal that was given: its number here, or those of its decision's vectors.
    parts: Vec<Part>,
}

enum Part {
    One(usize),
    /// By vector.
    Vectors(Vec<usize>),
}

impl Split {
    pub(crate) fn of(program: &Program, given: &[Goal]) -> Self {
        let mut split = Self { goals: Vec::new(), parts: Vec::new() };
        let mut known: BTreeMap<Goal, usize> = BTreeMap::new();
        let mut number = |goals: &mut Vec<Goal>, goal: Goal| {
            *known.entry(goal.clone()).or_insert_with(|| {
                goals.push(goal);
                goals.len() - 1
            })
        };
        for goal in given {
            let part = match goal {
                Goal::Paired { condition, .. } if n_vectors(shape_of(program, *condition)) <= MAX_VECTORS => {
                    let decision = program.condition(*condition).decision;
                    let all = 0..n_vectors(shape_of(program, *condition)) as u32;
                    let vector = |vector| number(&mut split.goals, Goal::Vector { decision, number: vector });
                    Part::Vectors(all.map(vector).collect())
                }
                other => Part::One(number(&mut split.goals, other.clone())),
            };
            split.parts.push(part);
        }
        split
    }

    /// What was given and is shown by these arguments, with the vectors that break its pairs.
    pub(crate) fn shown(
        &self,
        program: &Program,
        given: &[Goal],
        arguments: &BTreeMap<usize, Argument>,
    ) -> BTreeMap<usize, (Option<Vec<u32>>, Argument)> {
        let mut shown = BTreeMap::new();
        for (at, (part, goal)) in self.parts.iter().zip(given).enumerate() {
            let found = match (part, goal) {
                (Part::One(number), _) => arguments.get(number).map(|argument| (None, argument.clone())),
                (Part::Vectors(numbers), Goal::Paired { condition, value }) => {
                    let impossible = |vector: u32| arguments.contains_key(&numbers[vector as usize]);
                    halves(shape_of(program, *condition), *condition, *value, impossible).and_then(|halves| {
                        let of_halves = halves.iter().map(|half| &arguments[&numbers[*half as usize]]);
                        Some((Some(halves.clone()), together(of_halves)?))
                    })
                }
                (Part::Vectors(_), _) => None,
            };
            shown.extend(found.map(|found| (at, found)));
        }
        shown
    }

    /// Of what was given, by number, what is one of these.
    pub(crate) fn among(&self, numbers: &BTreeSet<usize>) -> Vec<usize> {
        let is_among = |at: &usize| match &self.parts[*at] {
            Part::One(number) => numbers.contains(number),
            // another vector may break the pair
            Part::Vectors(_) => false,
        };
        (0..self.parts.len()).filter(is_among).collect()
    }

    /// The numbers of the goals that those given which are still open need.
    pub(crate) fn open(&self, given: &BTreeSet<usize>) -> BTreeSet<usize> {
        given
            .iter()
            .flat_map(|at| match &self.parts[*at] {
                Part::One(number) => vec![*number],
                Part::Vectors(numbers) => numbers.clone(),
            })
            .collect()
    }
}

fn shape_of(program: &Program, condition: ConditionId) -> &Shape {
    &program.decision(program.condition(condition).decision).shape
}

/// Impossible vectors of which every pair has one; none if a pair has none.
fn halves(
    shape: &Shape,
    condition: ConditionId,
    value: bool,
    impossible: impl Fn(u32) -> bool,
) -> Option<Vec<u32>> {
    let place = shape.conditions().iter().position(|known| *known == condition)?;
    let all = vectors(shape);
    let mut halves = BTreeSet::new();
    for (number, one) in all.iter().enumerate() {
        for (other_number, other) in all.iter().enumerate() {
            let differ_there_alone = one.iter().zip(other).enumerate().all(|(at, outcomes)| match outcomes {
                (Some(one), Some(other)) => (one != other) == (at == place),
                (None, _) | (_, None) => at != place,
            });
            let is_pair = one[place] == Some(value)
                && differ_there_alone
                && outcome(shape, one) != outcome(shape, other);
            if is_pair {
                let half = [number, other_number].into_iter().find(|half| impossible(*half as u32))?;
                halves.insert(half as u32);
            }
        }
    }
    Some(halves.into_iter().collect())
}

/// One argument for what several show: formulas that hold each hold together, and what so many segments show, more do.
fn together<'a>(arguments: impl Iterator<Item = &'a Argument>) -> Option<Argument> {
    let mut depth = 1;
    let mut unrolled: Option<&Vec<u32>> = None;
    let mut listed: Option<&Arc<Vec<Listing>>> = None;
    let mut by_cut: Vec<Vec<Formula>> = Vec::new();
    let mut n_inductions = 0;
    for Argument { invariants, body } in arguments {
        match body {
            Body::Inductive => n_inductions += 1,
            Body::KInduction(other) => {
                n_inductions += 1;
                depth = depth.max(*other);
            }
            Body::Unrolled(schedule) if unrolled.is_none_or(|known| known == schedule) => {
                unrolled = Some(schedule);
            }
            Body::Unrolled(_) => return None,
            Body::Listed(listings) if listed.is_none_or(|known| known == listings) => listed = Some(listings),
            Body::Listed(_) => return None,
        }
        by_cut.resize(by_cut.len().max(invariants.len()), Vec::new());
        for (all, formula) in by_cut.iter_mut().zip(invariants) {
            if *formula != Formula::Bool(true) && !all.contains(formula) {
                all.push(formula.clone());
            }
        }
    }
    if usize::from(unrolled.is_some()) + usize::from(listed.is_some()) + usize::from(n_inductions > 0) > 1 {
        return None;
    }
    let conjunction = |mut all: Vec<Formula>| match all.len() {
        0 => Formula::Bool(true),
        1 => all.remove(0),
        _ => Formula::apply(Operator::And, all),
    };
    let body = match (unrolled, listed, depth) {
        (Some(schedule), _, _) => Body::Unrolled(schedule.clone()),
        (None, Some(listings), _) => Body::Listed(Arc::clone(listings)),
        (None, None, 1) => Body::Inductive,
        (None, None, depth) => Body::KInduction(depth),
    };
    Some(Argument { invariants: by_cut.into_iter().map(conjunction).collect(), body })
}
