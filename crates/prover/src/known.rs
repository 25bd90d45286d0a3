//! What is kept between turns of the prover, so that a later one goes on where an earlier one ended.
//!
//! Method: what an engine looked at to its end it need not look at again: it would give the same answer. Where the effort ended first,
//! what was found on the way is kept as formulas: candidates that do not hold, and lemmas that hold always, which are checked
//! again, but not searched for. Limit: where an engine did not come to its end, it keeps nothing else.

use std::collections::{BTreeMap, BTreeSet};

use model::Program;
use model::input::Key;
use proof::{Formula, Goal, ProgramHash};

use crate::attempt::{Method, Plan};
use crate::candidates::Richness;

/// What earlier turns found about one program.
#[derive(Debug, Default)]
pub struct Known {
    hash: Option<ProgramHash>,
    /// Goals that a method was done with, and why it did not decide them.
    settled: BTreeMap<(Plan, Method), BTreeMap<Goal, Settled>>,
    /// Goals that unrolling was done with, by the shape of the input and the number of iterations.
    unrolled: BTreeMap<Shape, Unrolled>,
    facts: BTreeMap<Plan, Facts>,
}

/// What an unrolling is made of: the values of an input, the least size of arrays, iterations.
pub(crate) type Shape = (BTreeMap<Key, u64>, u64, usize);

/// What an unrolling said.
#[derive(Debug, Default)]
struct Unrolled {
    /// Whether runs were ended early.
    is_cut_short: bool,
    /// Goals that it has no run for.
    without: BTreeSet<Goal>,
}

/// Why a method does not decide a goal, however much effort it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Settled {
    /// It looked everywhere.
    NothingFound,
    /// It could not look.
    Obstacle(&'static str),
}

/// Formulas at cuts, by the number of the cut.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts {
    /// Candidates that do not hold.
    pub(crate) broken: BTreeMap<(Richness, usize), BTreeSet<Formula>>,
    /// What an engine found to hold always.
    pub(crate) lemmas: BTreeMap<usize, BTreeSet<Formula>>,
}

impl Known {
    /// The program's hash, computed once.
    pub(crate) fn hash_of(&mut self, program: &Program) -> ProgramHash {
        *self.hash.get_or_insert_with(|| ProgramHash::of(program))
    }

    /// Why the method is done with a goal, if it is.
    pub(crate) fn settled(&self, plan: &Plan, method: Method, goal: &Goal) -> Option<Settled> {
        self.settled.get(&(plan.clone(), method))?.get(goal).copied()
    }

    pub(crate) fn settle<'a>(
        &mut self,
        plan: &Plan,
        method: Method,
        goals: impl IntoIterator<Item = &'a Goal>,
        why: Settled,
    ) {
        let of_plan = self.settled.entry((plan.clone(), method)).or_default();
        of_plan.extend(goals.into_iter().map(|goal| (goal.clone(), why)));
    }

    /// Whether the goal was looked for in such an unrolling.
    pub(crate) fn was_unrolled(&self, shape: &Shape, goal: &Goal) -> bool {
        self.unrolled.get(shape).is_some_and(|unrolled| unrolled.without.contains(goal))
    }

    /// Whether such an unrolling ended runs early.
    pub(crate) fn is_cut_short(&self, shape: &Shape) -> bool {
        self.unrolled.get(shape).is_some_and(|unrolled| unrolled.is_cut_short)
    }

    pub(crate) fn unrolled(
        &mut self,
        shape: Shape,
        is_cut_short: bool,
        without: impl IntoIterator<Item = Goal>,
    ) {
        let unrolled = self.unrolled.entry(shape).or_default();
        unrolled.is_cut_short = is_cut_short;
        unrolled.without.extend(without);
    }

    /// What is known at the cuts of a plan.
    pub(crate) fn facts(&self, plan: &Plan) -> Facts {
        self.facts.get(plan).cloned().unwrap_or_default()
    }

    pub(crate) fn keep(&mut self, plan: &Plan, facts: Facts) {
        self.facts.insert(plan.clone(), facts);
    }
}
