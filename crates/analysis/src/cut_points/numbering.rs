//! Numbers for the nodes of some functions.
//!
//! A pair concerns a small part of a large program. Data per node is kept only for functions that matter, so that the cost
//! of a pair depends on its surroundings and not on the size of the program.

use model::FunctionId;

use crate::icfg::{Icfg, NodeId};

const NONE: u32 = u32::MAX;

/// Numbers without gaps for the nodes of functions, in the order in which the functions were added.
pub(super) struct Numbering<'a> {
    graph: &'a Icfg,
    /// By function: the number of its first node.
    first: Vec<u32>,
    /// By number.
    nodes: Vec<NodeId>,
}

impl<'a> Numbering<'a> {
    pub(super) fn new(graph: &'a Icfg) -> Self {
        Self { graph, first: vec![NONE; graph.n_functions()], nodes: Vec::new() }
    }

    /// The number of a node; those of its function are numbered unless they are.
    pub(super) fn add(&mut self, node: NodeId) -> u32 {
        let function = self.graph.node(node).function;
        self.add_function(function);
        self.get(node).expect("the nodes of the function are numbered")
    }

    /// Numbers the nodes of a function unless they are numbered.
    pub(super) fn add_function(&mut self, function: FunctionId) {
        let first = &mut self.first[function.index()];
        if *first == NONE {
            *first = u32::try_from(self.nodes.len()).expect("fewer than 2^32 nodes");
            self.nodes.extend(self.graph.nodes_of(function).map(NodeId));
        }
    }

    /// The number of a node whose function was added.
    pub(super) fn get(&self, node: NodeId) -> Option<u32> {
        let function = self.graph.node(node).function;
        let first = self.first[function.index()];
        let start = self.graph.entry(function).filter(|_| first != NONE)?;
        Some(first + node.0 - start.0)
    }

    /// All nodes with a number, in the order of their numbers.
    pub(super) fn nodes(&self) -> &[NodeId] {
        &self.nodes
    }
}
