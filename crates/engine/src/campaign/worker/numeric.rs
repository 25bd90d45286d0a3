//! What if the solver has no answer because the condition depends on an opaque function, or on arithmetic that is too hard
//! for it? Then a numeric search varies the input.
//!
//! Method: the cells that the condition depends on are searched (`crate::numeric`) for the distance at the condition, on
//! runs that stay on the candidate's path as far as they can. Limits: a few cells, a bounded number of trials, and for one
//! outcome only a few searches that fail.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use model::input::{Input, Key};
use wire::{Node, NodeId};

use super::run_terms::FlipPoint;
use super::{Outcome, Wanted, Worker};
use crate::branch_distance;
use crate::campaign::held::HeldRun;
use crate::numeric::{self, Miss, Order};
use crate::terms::{Expressions, Meets, TermError, operands};
use crate::trace::{Choice, PathStep, Trace};

/// Trials for one candidate.
const MAX_TRIALS: u32 = 800;
/// Cells that are varied.
const MAX_CELLS: usize = 8;
/// Nodes of a condition that are looked at, and nodes of a run that are evaluated.
const MAX_NODES: usize = 1 << 16;
/// Failed searches for one outcome.
const MAX_FAILED: u32 = 4;

/// What a condition depends on.
struct Dependence {
    cells: BTreeMap<Key, Order>,
    is_opaque: bool,
    has_floats: bool,
}

/// The path to stay on, and where to leave it.
struct Goal {
    run: Arc<HeldRun>,
    n_steps: usize,
    choice: Choice,
}

impl Worker<'_> {
    /// An input found by trial where the solver had none for a reason that trying may overcome; else that reason.
    pub(super) fn try_numbers(
        &mut self,
        parent: &Input,
        held: &Arc<HeldRun>,
        wanted: &Wanted,
        (reason, meets): (Outcome, Meets),
    ) -> Result<Input, Outcome> {
        let is_worth_it = match &reason {
            Outcome::Unsat | Outcome::NoAlternative => meets.opaque,
            Outcome::Unknown { .. } => meets.opaque || meets.floats,
            Outcome::Ran { .. }
            | Outcome::Tried { .. }
            | Outcome::Read(_)
            | Outcome::NotRepeated
            | Outcome::BadExpressions { .. }
            | Outcome::Stopped
            | Outcome::Failed(_) => false,
        };
        let Some(branch) = wanted.candidate.branch().filter(|_| is_worth_it) else { return Err(reason) };
        if self.n_failed_searches.get(&branch).is_some_and(|n_searches| *n_searches >= MAX_FAILED) {
            return Err(reason);
        }
        let is_opaque_needed = !matches!(reason, Outcome::Unknown { .. });
        match self.search(parent, held, wanted, is_opaque_needed)? {
            Some(input) => Ok(input),
            None => {
                *self.n_failed_searches.entry(branch).or_default() += 1;
                Err(reason)
            }
        }
    }

    fn search(
        &mut self,
        parent: &Input,
        held: &Arc<HeldRun>,
        wanted: &Wanted,
        is_opaque_needed: bool,
    ) -> Result<Option<Input>, Outcome> {
        let Some(FlipPoint::Step { step, choice, n_steps }) = FlipPoint::find(held, &wanted.candidate) else {
            return Ok(None);
        };
        let goal = Goal { run: Arc::clone(held), n_steps, choice };
        let expressions = held.expressions.lend();
        let depends = dependence(&expressions, step.node).map_err(|error| bad(parent, error))?;
        let is_wanted = depends.is_opaque || (depends.has_floats && !is_opaque_needed);
        if !is_wanted || depends.cells.is_empty() || expressions.nodes.len() > MAX_NODES {
            return Ok(None);
        }
        let (keys, orders): (Vec<Key>, Vec<Order>) = depends.cells.into_iter().take(MAX_CELLS).unzip();
        let start: Vec<u64> =
            keys.iter().map(|key| parent.values.get(key).copied().unwrap_or_default()).collect();
        let with = |values: &[u64]| {
            let mut input = parent.clone();
            input.values.extend(keys.iter().copied().zip(values.iter().copied()));
            input
        };
        let mut measure = |values: &[u64]| self.miss(with(values), &goal);
        let found = numeric::search(&orders, &start, MAX_TRIALS, &mut measure)?;
        Ok(found.map(|values| with(&values)))
    }

    /// Runs an input and says how far it is from what is wanted.
    fn miss(&mut self, input: Input, goal: &Goal) -> Result<Miss, Outcome> {
        let context = self.context;
        if context.must_stop() {
            return Err(Outcome::Stopped);
        }
        self.settle();
        self.re_executions += 1;
        self.pace.step();
        let started = context.clock.elapsed();
        let limit = context.execution_limit.min(context.time_left());
        let flags = context.tracer.flags(context.symbolic);
        let execution = self.executor.execute(&input, flags, limit)?;
        self.timings.execute += context.clock.elapsed().saturating_sub(started);
        let Ok(trace) = context.tracer.trace(&execution, None, &|| context.must_stop()) else {
            return Ok((u64::MAX, 0));
        };
        let expressions = Expressions::of(&execution);
        goal.miss(&trace, |step, choice| {
            branch_distance::distance(context.tracer.program(), &expressions, step, choice)
        })
        .map_err(|error| bad(&input, error))
    }
}

impl Goal {
    fn miss(
        &self,
        trace: &Trace,
        distance: impl Fn(&PathStep, Choice) -> Result<u64, TermError>,
    ) -> Result<Miss, TermError> {
        let path = &self.run.steps[..=self.n_steps];
        let wanted = |index: usize| if index == self.n_steps { self.choice } else { path[index].taken };
        let goes_along = |(index, (own, other)): &(usize, (&PathStep, &PathStep))| {
            own.path_with(wanted(*index)) == other.path_with(other.taken)
        };
        let n_along = path.iter().zip(&trace.steps).enumerate().take_while(goes_along).count();
        if n_along == path.len() {
            return Ok((0, 0));
        }
        let n_missing = (path.len() - 1 - n_along) as u64;
        let distance = match trace.steps.get(n_along) {
            Some(step) if step.prefix == path[n_along].prefix && step.site == path[n_along].site => {
                distance(step, wanted(n_along))?.max(1)
            }
            Some(_) | None => u64::MAX,
        };
        Ok((n_missing, distance))
    }
}

/// The cells below a node, and whether arithmetic on numbers and opaque functions lie between.
fn dependence(expressions: &Expressions<'_>, root: NodeId) -> Result<Dependence, TermError> {
    let mut depends = Dependence { cells: BTreeMap::new(), is_opaque: false, has_floats: false };
    let (mut open, mut seen) = (vec![root], BTreeSet::from([root]));
    let mut numbers = BTreeSet::new();
    let mut inputs = Vec::new();
    while let Some(id) = open.pop()
        && seen.len() < MAX_NODES
    {
        let node = expressions.node(id)?;
        let is_opaque = matches!(node, Node::Opaque { .. });
        let is_float = node.is_float() || is_opaque;
        depends.is_opaque |= is_opaque;
        if let Node::Input { cell, .. } = node {
            inputs.push((id, cell));
        }
        depends.has_floats |= is_float;
        for operand in operands(&node) {
            if is_float {
                numbers.insert(operand);
            }
            if seen.insert(operand) {
                open.push(operand);
            }
        }
    }
    for (id, cell) in inputs {
        let cell = expressions.cells.get(cell as usize).ok_or(TermError::NoCell(id))?;
        let width = u8::try_from(cell.width).map_err(|_| TermError::Width(id))?;
        let is_number = numbers.contains(&id) && matches!(width, 32 | 64);
        let order = if is_number { Order::Float(width) } else { Order::Integer(width) };
        depends.cells.insert(Key(cell.key), order);
    }
    Ok(depends)
}

fn bad(input: &Input, error: TermError) -> Outcome {
    Outcome::BadExpressions { input: input.clone(), error }
}
