//! What is kept between turns of the prover, so that a later one goes on where an earlier one ended.
//!
//! Method: what an engine looked at to its end it need not look at again: it would give the same answer. Where the effort ended first,
//! what was found on the way is kept: candidates that do not hold, lemmas that hold always, which are checked
//! again, but not searched for, and states that are reached. Limit: where an engine did not come to its end, it keeps nothing else.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use model::Program;
use model::input::Key;
use proof::{Formula, Goal, ProgramHash};

use crate::candidates::Richness;
use crate::plan::{Method, Plan};
use crate::reached::Reached;

/// What earlier turns found about one program.
#[derive(Debug, Default)]
pub struct Known {
    hash: Option<ProgramHash>,
    /// Goals that a method was done with, and why it did not decide them.
    settled: BTreeMap<(Plan, Method), BTreeMap<Goal, Settled>>,
    /// Goals that unrolling was done with, by the shape of the input and the number of iterations.
    unrolled: BTreeMap<Shape, Unrolled>,
    facts: BTreeMap<Plan, Facts>,
    /// Goals that an activation may cover as a plan has it, so that no method excludes them.
    reached: BTreeMap<Plan, BTreeSet<Goal>>,
    /// Terms that were not enough to encode a plan.
    sizes: BTreeMap<Plan, usize>,
    /// Whether more states are listed than when the turn began.
    lists_more: bool,
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

/// The solver gives values of parameters, memory and what calls do.
const REACHED: &str = "nothing excludes it where parameters, memory and unknown calls may be anything";

/// Formulas at cuts, by the number of the cut.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts {
    /// Candidates that do not hold.
    pub(crate) broken: BTreeMap<(Richness, usize), BTreeSet<Formula>>,
    /// What an engine found to hold always.
    pub(crate) lemmas: BTreeMap<usize, BTreeSet<Formula>>,
    /// States that were listed, and which of them were not followed yet.
    pub(crate) listed: Option<Arc<Listed>>,
}

/// States at cuts, by the number of the cut.
#[derive(Debug)]
pub(crate) struct Listed {
    pub(crate) scalars: Vec<Vec<Formula>>,
    /// Scalars with too many values, and how many those are.
    pub(crate) dropped: Vec<Formula>,
    pub(crate) max_values: usize,
    pub(crate) reached: Vec<Reached>,
    /// Cut and number of states that were not followed.
    pub(crate) open: Vec<(usize, usize)>,
}

impl Listed {
    fn n_states(&self) -> usize {
        self.reached.iter().map(|reached| reached.states.len()).sum()
    }
}

impl Known {
    /// Whether this turn listed states that a later one can go on from; asked at its end.
    pub(crate) fn take_progress(&mut self) -> bool {
        std::mem::take(&mut self.lists_more)
    }

    /// The program's hash, computed once.
    pub(crate) fn hash_of(&mut self, program: &Program) -> ProgramHash {
        *self.hash.get_or_insert_with(|| ProgramHash::of(program))
    }

    /// Why the method is done with a goal, if it is.
    pub(crate) fn settled(&self, plan: &Plan, method: Method, goal: &Goal) -> Option<Settled> {
        if self.reached.get(plan).is_some_and(|goals| goals.contains(goal)) {
            return Some(Settled::Obstacle(REACHED));
        }
        self.settled.get(&(plan.clone(), method))?.get(goal).copied()
    }

    /// Notes that an activation may cover the goal.
    pub(crate) fn reach(&mut self, plan: &Plan, goal: Goal) {
        self.reached.entry(plan.clone()).or_default().insert(goal);
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

    /// Whether so many terms are known to be too few for the encoding of a plan.
    pub(crate) fn is_too_large(&self, plan: &Plan, max_terms: usize) -> bool {
        self.sizes.get(plan).is_some_and(|too_few| max_terms <= *too_few)
    }

    pub(crate) fn too_large(&mut self, plan: &Plan, max_terms: usize) {
        let too_few = self.sizes.entry(plan.clone()).or_default();
        *too_few = max_terms.max(*too_few);
    }

    /// What is known at the cuts of a plan.
    pub(crate) fn facts(&self, plan: &Plan) -> Facts {
        self.facts.get(plan).cloned().unwrap_or_default()
    }

    pub(crate) fn keep(&mut self, plan: &Plan, facts: Facts) {
        let n_states = |facts: &Facts| facts.listed.as_ref().map_or(0, |listed| listed.n_states());
        let before = self.facts.get(plan).map_or(0, n_states);
        self.lists_more |= n_states(&facts) > before;
        self.facts.insert(plan.clone(), facts);
    }
}
