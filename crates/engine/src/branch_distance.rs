//! How near was a run to a branch that it did not take? The branch distance of search-based testing, on the run's own
//! values.
//!
//! Method: a comparison is as far from being true as its operands are from satisfying it, numbers by how many others lie
//! between them; `and` adds, `or` takes the smaller. Limit: only outcomes that depend on the input have expressions to
//! measure; anything but comparisons and boolean operations counts as one step away.

use std::collections::{BTreeMap, BTreeSet};

use model::Program;
use model::walk::{Choice, Site};
use wire::{FloatOp, Node, NodeId, NodeOp, Operand};

use crate::terms::{Expressions, TermError};
use crate::trace::{PathStep, Trace, switch_cases};
use crate::values::{Values, signed, ulps_between};

/// Arenas with more nodes are not measured: evaluating them would cost more than the guidance is worth.
const MAX_NODES: usize = 1 << 21;

/// How near a run came to a branch that it did not take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NearestStep {
    pub distance: u64,
    /// The step where it was nearest, the last of equals.
    pub step: u32,
}

/// Branches that no run has taken and that would cover something.
pub type OpenBranches = BTreeSet<(Site, Choice)>;

/// How near the run came to each of `targets` that it could have taken.
pub(crate) fn measure(
    program: &Program,
    expressions: &Expressions<'_>,
    trace: &Trace,
    targets: &OpenBranches,
) -> Result<BTreeMap<(Site, Choice), NearestStep>, TermError> {
    let sites: BTreeSet<Site> = targets.iter().map(|(site, _)| *site).collect();
    let mut nearest = BTreeMap::new();
    let steps: Vec<(&PathStep, u32)> =
        trace.steps.iter().zip(0..).filter(|(step, _)| sites.contains(&step.site)).collect();
    if steps.is_empty() || expressions.nodes.len() > MAX_NODES {
        return Ok(nearest);
    }
    let measuring = Measuring { expressions, values: Values::of(expressions)? };
    for (step, index) in steps {
        let at_site = (step.site, Choice::Outcome(false))..=(step.site, Choice::Default);
        for branch in targets.range(at_site).filter(|(_, choice)| *choice != step.taken) {
            let distance = measuring.step(program, step, branch.1)?;
            let here = NearestStep { distance, step: index };
            let best = nearest.entry(*branch).or_insert(here);
            if distance <= best.distance {
                *best = here;
            }
        }
    }
    Ok(nearest)
}

/// How far a step was from this outcome.
pub(crate) fn distance(
    program: &Program,
    expressions: &Expressions<'_>,
    step: &PathStep,
    choice: Choice,
) -> Result<u64, TermError> {
    Measuring { expressions, values: Values::of(expressions)? }.step(program, step, choice)
}

struct Measuring<'a, 'm> {
    expressions: &'a Expressions<'m>,
    values: Values,
}

impl Measuring<'_, '_> {
    fn step(&self, program: &Program, step: &PathStep, choice: Choice) -> Result<u64, TermError> {
        Ok(match (step.site, choice) {
            (_, Choice::Outcome(wanted)) => self.truth(step.node, wanted)?,
            (Site::Switch(function, block), Choice::Case(case)) => {
                let value = self.values.get(step.node)?;
                let case = switch_cases(program, function, block).get(case as usize);
                case.map_or(1, |case| u64::try_from(case.value).map_or(1, |case| case.abs_diff(value)))
            }
            (Site::Condition(_) | Site::Branch(..), Choice::Case(_)) | (_, Choice::Default) => 1,
        })
    }

    /// How far a node of one bit is from being what is wanted.
    fn truth(&self, id: NodeId, wanted: bool) -> Result<u64, TermError> {
        let is = self.values.get(id)? != 0;
        if is == wanted {
            return Ok(0);
        }
        Ok(match self.expressions.node(id)? {
            Node::Binary { op, width, a, b } => self.binary(op, width, a, b, wanted)?,
            Node::Not { a, width: 1 } => self.truth(a, !wanted)?,
            Node::Constant { .. }
            | Node::Input { .. }
            | Node::Not { .. }
            | Node::Zext { .. }
            | Node::Sext { .. }
            | Node::Extract { .. }
            | Node::Concat { .. }
            | Node::Ite { .. }
            | Node::FloatUnary { .. }
            | Node::FloatFused { .. }
            | Node::Opaque { .. }
            | Node::Table { .. }
            | Node::Same { .. } => 1,
            Node::FloatBinary { op, a, b, .. } => self.numbers(op, a, b, wanted)?,
        })
    }

    /// How far a comparison of numbers is from being what is wanted.
    fn numbers(&self, op: FloatOp, a: Operand, b: Operand, wanted: bool) -> Result<u64, TermError> {
        let ((width, x), (_, y)) = (self.operand(a, b)?, self.operand(b, a)?);
        let apart = ulps_between(width, x, y);
        Ok(match (op, wanted) {
            (FloatOp::Eq, true) | (FloatOp::Le, true) | (FloatOp::Lt, false) => apart.max(1),
            (FloatOp::Eq, false) => 1,
            (FloatOp::Lt, true) | (FloatOp::Le, false) => apart.saturating_add(1),
            (FloatOp::Add | FloatOp::Sub | FloatOp::Mul | FloatOp::Div | FloatOp::Rem, _) => 1,
        })
    }

    fn binary(&self, op: NodeOp, width: u8, a: Operand, b: Operand, wanted: bool) -> Result<u64, TermError> {
        if let (Some(inner), Operand::Constant(constant)) = (self.truth_value(a)?, b)
            && matches!(op, NodeOp::Eq | NodeOp::Ne)
            && constant <= 1
        {
            return self.truth(inner, wanted == ((op == NodeOp::Eq) == (constant == 1)));
        }
        let both = |wanted| -> Result<[u64; 2], TermError> {
            let side = |operand| match operand {
                Operand::Node(node) => self.truth(node, wanted),
                Operand::Constant(value) => Ok(u64::from((value != 0) != wanted)),
            };
            Ok([side(a)?, side(b)?])
        };
        let ((_, x), (_, y)) = (self.operand(a, b)?, self.operand(b, a)?);
        let bits = self.operand(a, b)?.0;
        let (signed_x, signed_y) = (signed(bits, x), signed(bits, y));
        Ok(match (op, wanted) {
            (NodeOp::Eq, true) | (NodeOp::Ne, false) => x.abs_diff(y).min(signed_x.abs_diff(signed_y)),
            (NodeOp::Eq, false) | (NodeOp::Ne, true) => 1,
            (NodeOp::Ult, true) => x.abs_diff(y).saturating_add(1),
            (NodeOp::Ule, false) => x.abs_diff(y).saturating_add(1),
            (NodeOp::Ult, false) | (NodeOp::Ule, true) => x.abs_diff(y),
            (NodeOp::Slt, true) | (NodeOp::Sle, false) => signed_x.abs_diff(signed_y).saturating_add(1),
            (NodeOp::Slt, false) | (NodeOp::Sle, true) => signed_x.abs_diff(signed_y),
            (NodeOp::And, true) | (NodeOp::Or, false) if width == 1 => {
                let [a, b] = both(wanted)?;
                a.saturating_add(b)
            }
            (NodeOp::And, false) | (NodeOp::Or, true) if width == 1 => {
                let [a, b] = both(wanted)?;
                a.min(b)
            }
            (
                NodeOp::Add
                | NodeOp::Sub
                | NodeOp::Mul
                | NodeOp::Udiv
                | NodeOp::Sdiv
                | NodeOp::Urem
                | NodeOp::Srem
                | NodeOp::And
                | NodeOp::Or
                | NodeOp::Xor
                | NodeOp::Shl
                | NodeOp::Lshr
                | NodeOp::Ashr,
                _,
            ) => 1,
        })
    }

    /// The truth value that an operand widens, if it does.
    fn truth_value(&self, operand: Operand) -> Result<Option<NodeId>, TermError> {
        let Operand::Node(node) = operand else { return Ok(None) };
        Ok(match self.expressions.node(node)? {
            Node::Zext { a, .. } if self.expressions.node(a)?.width() == 1 => Some(a),
            node_itself if node_itself.width() == 1 => Some(node),
            _ => None,
        })
    }

    /// Width and value of an operand; a constant is as wide as the other operand.
    fn operand(&self, operand: Operand, other: Operand) -> Result<(u8, u64), TermError> {
        match (operand, other) {
            (Operand::Node(node), _) => Ok((self.expressions.node(node)?.width(), self.values.get(node)?)),
            (Operand::Constant(value), Operand::Node(node)) => {
                let width = self.expressions.node(node)?.width();
                Ok((width, value & crate::values::mask(width)))
            }
            (Operand::Constant(value), Operand::Constant(_)) => Ok((64, value)),
        }
    }
}
