//! What can be reached from where, and how far is it?
//!
//! Method: one search backwards from all nodes with something to find, over steps within functions, into callees and past
//! calls. Returning to a caller is left to the call stack, which every candidate knows. Distances count instructions; a
//! call is passed by the shortest way through its callee. Limit: paths are paths of the graph, not of the program.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::graph::{Callees, Exit, Graph, NodeId};

/// Further than anything.
pub(super) const FAR: u32 = u32::MAX;

/// Edges backwards, and how far it is to the end of the function.
pub(super) struct Ways {
    predecessors: Vec<Vec<NodeId>>,
    /// Calls of any function whose address is taken.
    indirect: Vec<NodeId>,
    /// Calls that never come back, but may jump.
    jumping: Vec<NodeId>,
    /// By node: instructions to the return of its function.
    to_return: Vec<u32>,
}

impl Ways {
    pub(super) fn of(graph: &Graph) -> Self {
        let mut predecessors = vec![Vec::new(); graph.nodes.len()];
        let (mut indirect, mut jumping) = (Vec::new(), Vec::new());
        for id in graph.ids() {
            for to in graph.successors(id) {
                predecessors[to.index()].push(id);
            }
            if let Exit::Call { callees, then } = &graph.node(id).exit {
                match callees {
                    Callees::One(callee) => {
                        let entry = graph.entry(*callee).expect("a callee with code has an entry");
                        predecessors[entry.index()].push(id);
                    }
                    Callees::Indirect | Callees::Unknown => indirect.push(id),
                }
                if then.is_none() {
                    jumping.push(id);
                }
            }
        }
        let mut ways = Self { predecessors, indirect, jumping, to_return: Vec::new() };
        ways.to_return = ways.distances_to_return(graph);
        ways
    }

    /// How many instructions it takes from a node to the return of its function; [`FAR`] when it never returns.
    pub(super) fn to_return(&self, node: NodeId) -> u32 {
        self.to_return[node.index()]
    }

    fn distances_to_return(&self, graph: &Graph) -> Vec<u32> {
        let mut distances = vec![FAR; graph.nodes.len()];
        // later code first, which is nearer to the end
        let mut open: VecDeque<NodeId> = graph.ids().rev().collect();
        let mut waits = vec![true; graph.nodes.len()];
        // a callee's distance changes its callers', so nodes are looked at until nothing changes
        while let Some(id) = open.pop_front() {
            waits[id.index()] = false;
            let node = graph.node(id);
            let onwards = match &node.exit {
                Exit::Return => 0,
                Exit::Call { callees, then: Some(then) } => {
                    past(graph, *callees, &distances).saturating_add(distances[then.index()])
                }
                Exit::Jump(_)
                | Exit::Choose(_)
                | Exit::Follow(_)
                | Exit::Dead
                | Exit::Call { then: None, .. } => {
                    graph.successors(id).iter().map(|to| distances[to.index()]).min().unwrap_or(FAR)
                }
            };
            let distance = onwards.saturating_add(node.weight);
            if distance < distances[id.index()] {
                distances[id.index()] = distance;
                for from in &self.predecessors[id.index()] {
                    if !std::mem::replace(&mut waits[from.index()], true) {
                        open.push_back(*from);
                    }
                }
            }
        }
        distances
    }

    /// By node: instructions to the nearest of `wanted`, into callees and past calls, but not back to callers.
    pub(super) fn distances(&self, graph: &Graph, wanted: &[bool]) -> Vec<u32> {
        let mut distances = vec![FAR; graph.nodes.len()];
        let mut heap = BinaryHeap::new();
        for id in graph.ids().filter(|id| wanted[id.index()]) {
            distances[id.index()] = 0;
            heap.push((Reverse(0), id));
        }
        let (mut indirect_done, mut jumping_done) = (false, false);
        while let Some((Reverse(distance), id)) = heap.pop() {
            if distance > distances[id.index()] {
                continue;
            }
            let mut relax = |from: NodeId, extra: u32| {
                let through = distance.saturating_add(graph.node(from).weight).saturating_add(extra);
                if through < distances[from.index()] {
                    distances[from.index()] = through;
                    heap.push((Reverse(through), from));
                }
            };
            for from in &self.predecessors[id.index()] {
                let extra = match &graph.node(*from).exit {
                    // either the callee's entry or the place after the call; only the latter goes through the callee
                    Exit::Call { callees, then } if *then == Some(id) => {
                        past(graph, *callees, &self.to_return)
                    }
                    _ => 0,
                };
                relax(*from, extra);
            }
            // the nearest entry is found first, and all indirect calls reach it alike
            if !indirect_done && graph.address_taken.iter().any(|taken| graph.entry(*taken) == Some(id)) {
                indirect_done = true;
                self.indirect.iter().for_each(|from| relax(*from, 0));
            }
            if !jumping_done && graph.landings.contains(&id) {
                jumping_done = true;
                self.jumping.iter().for_each(|from| relax(*from, 0));
            }
        }
        distances
    }
}

/// What passing a call costs.
fn past(graph: &Graph, callees: Callees, to_return: &[u32]) -> u32 {
    match callees {
        Callees::One(callee) => graph.entry(callee).map_or(FAR, |entry| to_return[entry.index()]),
        Callees::Indirect | Callees::Unknown => 1,
    }
}
