//! Where a value is overwritten, and which calls it survives.

use std::collections::{BTreeMap, BTreeSet};

use model::FunctionId;

use super::{DefinedValue, Dominance, Extent};
use crate::icfg::{Callees, Exit, NodeId};

/// The kills of a definition.
pub(super) struct Kills {
    /// The instructions that kill, in order.
    by_node: BTreeMap<NodeId, Vec<u32>>,
    /// The functions with a kill, in themselves or in what they call.
    touched: BTreeSet<FunctionId>,
    /// Those of them that can be passed without meeting one.
    passable: BTreeSet<FunctionId>,
}

impl Kills {
    pub(super) fn none() -> Self {
        Self { by_node: BTreeMap::new(), touched: BTreeSet::new(), passable: BTreeSet::new() }
    }

    pub(super) fn new(dominance: &Dominance<'_>, definition: DefinedValue<'_>) -> Self {
        let mut kills = Self::none();
        for place in definition.kills {
            kills.by_node.entry(dominance.graph.at(*place)).or_default().push(place.at);
        }
        match definition.extent {
            // what callees overwrite is another variable
            Extent::Activation => {
                let function = definition.place.function;
                kills.by_node.retain(|node, _| dominance.graph.node(*node).function == function);
            }
            Extent::Below(_) | Extent::Program => {
                kills.touched = kills.touched(dominance);
                kills.find_passable(dominance);
            }
        }
        kills
    }

    /// Whether an instruction from `from` up to, but without, `to` kills.
    pub(super) fn between(&self, node: NodeId, from: u32, to: u32) -> bool {
        self.by_node.get(&node).is_some_and(|kills| kills.iter().any(|at| (from..to).contains(at)))
    }

    /// Whether passing the function may be another matter than without kills.
    pub(super) fn touches(&self, function: FunctionId) -> bool {
        self.touched.contains(&function)
    }

    /// Whether a path may go from this instruction of a node to its end, and past the call there.
    pub(super) fn passes(&self, dominance: &Dominance<'_>, node: NodeId, from: u32) -> bool {
        let code = dominance.graph.node(node);
        let comes_back = match &code.exit {
            Exit::Call { callees, .. } => self.survives(dominance, *callees),
            Exit::Jump(_) | Exit::Choose(_) | Exit::Follow(_) | Exit::Return | Exit::Dead => true,
        };
        comes_back && !self.between(node, from, code.end)
    }

    /// Whether a path may go from this instruction of a node into the call at its end.
    pub(super) fn enters(&self, dominance: &Dominance<'_>, node: NodeId, from: u32) -> bool {
        !self.between(node, from, dominance.graph.node(node).end - 1)
    }

    fn survives(&self, dominance: &Dominance<'_>, callees: Callees) -> bool {
        let is_killed = match callees {
            Callees::One(callee) => self.touches(callee) && !self.passable.contains(&callee),
            // any of many, or none
            Callees::Indirect | Callees::Unknown => false,
        };
        !is_killed && dominance.returns(callees)
    }

    fn touched(&self, dominance: &Dominance<'_>) -> BTreeSet<FunctionId> {
        let mut touched = BTreeSet::new();
        let mut open: Vec<FunctionId> =
            self.by_node.keys().map(|node| dominance.graph.node(*node).function).collect();
        while let Some(function) = open.pop() {
            if touched.insert(function) {
                let callers = dominance.callers[function.index()].iter();
                open.extend(callers.map(|caller| dominance.graph.node(*caller).function));
            }
        }
        touched
    }

    /// Finds more and more functions passable until nothing changes.
    fn find_passable(&mut self, dominance: &Dominance<'_>) {
        let mut open: Vec<FunctionId> = self.touched.iter().copied().collect();
        while let Some(function) = open.pop() {
            if !self.passable.contains(&function) && self.is_passable(dominance, function) {
                self.passable.insert(function);
                let callers = dominance.callers[function.index()].iter();
                open.extend(callers.map(|caller| dominance.graph.node(*caller).function));
            }
        }
    }

    fn is_passable(&self, dominance: &Dominance<'_>, function: FunctionId) -> bool {
        let graph = dominance.graph;
        let mut seen = BTreeSet::new();
        let mut open: Vec<NodeId> = graph.entry(function).into_iter().collect();
        while let Some(node) = open.pop() {
            if seen.insert(node) && self.passes(dominance, node, graph.node(node).first) {
                if matches!(graph.node(node).exit, Exit::Return) {
                    return true;
                }
                open.extend(graph.successors(node));
            }
        }
        false
    }
}
