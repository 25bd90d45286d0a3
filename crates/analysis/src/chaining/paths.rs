//! Does a path lead from one place to another that defines none of some variables for certain?
//!
//! Method: breadth first over the nodes of the graph, into callees and back to every caller. A node is passed when nothing in it
//! kills, and the first and the last count as far as they are passed. Limit: a call returns to all callers of its function.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use model::FunctionId;

use crate::Place;
use crate::dataflow::{DataFlow, ObjectId};
use crate::icfg::{Callees, Exit, Icfg, NodeId};

pub(super) struct Paths<'a> {
    graph: &'a Icfg,
    flow: &'a DataFlow,
    /// By node: where control may go.
    ahead: Vec<Vec<NodeId>>,
}

impl<'a> Paths<'a> {
    pub(super) fn new(graph: &'a Icfg, flow: &'a DataFlow) -> Self {
        let returns_to = returns(graph);
        let ahead = |id: NodeId| -> Vec<NodeId> {
            let node = graph.node(id);
            match &node.exit {
                Exit::Call { callees, then } => {
                    let entered = entered(graph, *callees);
                    let entries = entered.iter().filter_map(|callee| graph.entry(*callee));
                    let passed = then.iter().copied().filter(|_| is_passed(graph, *callees));
                    let jumps = graph.landings.iter().copied().filter(|_| *callees == Callees::Unknown);
                    entries.chain(passed).chain(jumps).collect()
                }
                Exit::Return => returns_to.get(&node.function).cloned().unwrap_or_default(),
                // nobody knows where a jump out of here lands
                Exit::Dead => graph.landings.clone(),
                Exit::Jump(_) | Exit::Choose(_) | Exit::Follow(_) => graph.successors(id).to_vec(),
            }
        };
        Self { graph, flow, ahead: graph.ids().map(ahead).collect() }
    }

    /// Whether a path leads from behind `from` to `to` on which none of these is defined anew.
    pub(super) fn lead(&self, from: Place, to: Place, keeps: &BTreeSet<ObjectId>) -> bool {
        let (start, goal) = (self.graph.at(from), self.graph.at(to));
        let first = from.at + 1;
        if start == goal && first <= to.at && !self.kills(start, first, to.at, keeps) {
            return true;
        }
        let end = |node: NodeId| self.graph.node(node).end;
        if self.kills(start, first, end(start), keeps) {
            return false;
        }
        let mut seen = BTreeSet::new();
        let mut open: VecDeque<NodeId> = self.ahead[start.index()].iter().copied().collect();
        while let Some(node) = open.pop_front() {
            if !seen.insert(node) {
                continue;
            }
            let begin = self.graph.node(node).first;
            if node == goal && !self.kills(node, begin, to.at, keeps) {
                return true;
            }
            if !self.kills(node, begin, end(node), keeps) {
                open.extend(&self.ahead[node.index()]);
            }
        }
        false
    }

    /// Whether one of these is defined anew by the instructions from `first` to before `end` of a node's block.
    fn kills(&self, node: NodeId, first: u32, end: u32, keeps: &BTreeSet<ObjectId>) -> bool {
        let node = self.graph.node(node);
        self.flow.kills(node.function, node.block, first..end).any(|object| keeps.contains(&object))
    }
}

/// The functions that a call may enter.
fn entered(graph: &Icfg, callees: Callees) -> Vec<FunctionId> {
    match callees {
        Callees::One(callee) => vec![callee],
        Callees::Indirect | Callees::Unknown => graph.address_taken.clone(),
    }
}

/// Whether a call may come back from code that is not known.
fn is_passed(graph: &Icfg, callees: Callees) -> bool {
    match callees {
        Callees::One(callee) => graph.entry(callee).is_none(),
        Callees::Indirect | Callees::Unknown => true,
    }
}

/// By function: where calls of it come back to.
fn returns(graph: &Icfg) -> BTreeMap<FunctionId, Vec<NodeId>> {
    let mut returns: BTreeMap<FunctionId, Vec<NodeId>> = BTreeMap::new();
    for node in &graph.nodes {
        if let Exit::Call { callees, then: Some(then) } = node.exit {
            for callee in entered(graph, callees) {
                returns.entry(callee).or_default().push(then);
            }
        }
    }
    returns
}
