//! Dominators from the start of a function, on the graph in which a call that returned is one step.

use model::FunctionId;

use super::Dominance;
use super::numbering::Numbering;
use crate::dominators::{Digraph, Dominators};
use crate::icfg::{Callees, Exit, NodeId};

/// What every path from the start of a function to a node passes.
pub(super) struct Folded<'a> {
    numbering: Numbering<'a>,
    /// Of the numbers of nodes, and behind them of code that is not known.
    dominators: Dominators,
}

impl<'a> Folded<'a> {
    /// On paths through these functions; `keeps` says which calls by a node of a function are of interest.
    pub(super) fn new(
        dominance: &Dominance<'a>,
        start: FunctionId,
        functions: impl Iterator<Item = FunctionId>,
        keeps: impl Fn(NodeId, FunctionId) -> bool,
    ) -> Self {
        let graph = dominance.graph;
        let mut numbering = Numbering::new(graph);
        numbering.add_function(start);
        functions.for_each(|function| numbering.add_function(function));
        let outside = u32::try_from(numbering.nodes().len()).expect("fewer than 2^32 nodes");
        let mut edges = Vec::new();
        for (from, id) in (0..).zip(numbering.nodes()) {
            let mut go = |to: Option<NodeId>| {
                edges.extend(to.and_then(|to| numbering.get(to)).map(|to| (from, to)));
            };
            if let Exit::Call { callees, then } = &graph.node(*id).exit {
                go(then.filter(|_| dominance.returns(*callees)));
                match callees {
                    Callees::One(callee) => go(graph.entry(*callee).filter(|_| keeps(*id, *callee))),
                    Callees::Indirect | Callees::Unknown => edges.push((from, outside)),
                }
            } else {
                graph.successors(*id).iter().for_each(|to| go(Some(*to)));
            }
        }
        let taken = graph.address_taken.iter().filter_map(|taken| graph.entry(*taken));
        edges.extend(taken.filter_map(|entry| numbering.get(entry)).map(|entry| (outside, entry)));
        let start = graph.entry(start).and_then(|start| numbering.get(start));
        let start = start.expect("a path starts in code that is known");
        let dominators = Dominators::of(&Digraph::new(outside as usize + 1, &edges), start);
        Self { numbering, dominators }
    }

    /// Whether a path leads to the node.
    pub(super) fn is_reached(&self, node: NodeId) -> bool {
        self.numbering.get(node).is_some_and(|vertex| self.dominators.is_reached(vertex))
    }

    /// What every path to the node passes, in order, the node itself among it; `None` when no path leads there.
    pub(super) fn chain(&self, node: NodeId) -> Option<Vec<NodeId>> {
        let chain = self.dominators.chain(self.numbering.get(node)?)?;
        Some(
            chain.iter().filter_map(|vertex| self.numbering.nodes().get(*vertex as usize)).copied().collect(),
        )
    }
}
