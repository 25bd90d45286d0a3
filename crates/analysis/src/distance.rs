//! What can be reached from where, and how far is it?
//!
//! Method: one backward search from all wanted nodes, over steps within functions, into callees and past calls. The caller
//! supplies the call stack for returns: [`Distances`] keeps a number for each node and one for each stack, so that a
//! look-up is a sum and a minimum. Distances count instructions; passing a call costs the shortest path through its callee.
//! Limit: paths are paths of the graph, not of the program.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use crate::Place;
use crate::call_stack::{CallStacks, ContextId};
use crate::icfg::{Callees, Exit, Icfg, NodeId};

/// Further than anything.
pub const FAR: u32 = u32::MAX;

/// Edges backwards, and how far it is to the end of the function.
pub struct Routes {
    predecessors: Vec<Vec<NodeId>>,
    /// Calls of any function whose address is taken.
    indirect: Vec<NodeId>,
    /// Calls that never come back, but may jump.
    jumping: Vec<NodeId>,
    /// By node: whether any indirect call may enter a function here.
    is_entered: Vec<bool>,
    /// By node: whether `setjmp` comes back here.
    is_landing: Vec<bool>,
    /// By node: instructions to the return of its function.
    to_return: Vec<u32>,
}

impl Routes {
    /// The routes of a graph.
    pub fn of(graph: &Icfg) -> Self {
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
        let marked = |marks: &mut dyn Iterator<Item = NodeId>| {
            let mut is_marked = vec![false; graph.nodes.len()];
            marks.for_each(|node| is_marked[node.index()] = true);
            is_marked
        };
        let is_entered = marked(&mut graph.address_taken.iter().filter_map(|taken| graph.entry(*taken)));
        let is_landing = marked(&mut graph.landings.iter().copied());
        let mut routes =
            Self { predecessors, indirect, jumping, is_entered, is_landing, to_return: Vec::new() };
        routes.to_return = routes.distances_to_return(graph);
        routes
    }

    /// How many instructions it takes from a node to the return of its function; [`FAR`] when it never returns.
    pub fn to_return(&self, node: NodeId) -> u32 {
        self.to_return[node.index()]
    }

    fn distances_to_return(&self, graph: &Icfg) -> Vec<u32> {
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
    fn backwards(&self, graph: &Icfg, wanted: &[bool]) -> Vec<u32> {
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
            if !indirect_done && self.is_entered[id.index()] {
                indirect_done = true;
                self.indirect.iter().for_each(|from| relax(*from, 0));
            }
            if !jumping_done && self.is_landing[id.index()] {
                jumping_done = true;
                self.jumping.iter().for_each(|from| relax(*from, 0));
            }
        }
        distances
    }
}

/// How far it is to what is wanted.
pub struct Distances {
    /// By node: from its beginning, into callees and past calls, but not back to callers.
    nodes: Vec<u32>,
    /// By call stack: after the present function's return. Stacks that are younger have none yet.
    stacks: Vec<u32>,
}

impl Distances {
    /// To the nearest of the nodes that are wanted.
    pub fn to_nodes(graph: &Icfg, routes: &Routes, wanted: &[bool]) -> Self {
        Self { nodes: routes.backwards(graph, wanted), stacks: vec![FAR] }
    }

    /// Takes in the call stacks met since the last time.
    pub fn extend(&mut self, stacks: &CallStacks, routes: &Routes) {
        for id in stacks.from(self.stacks.len()) {
            let (back, below) = stacks.pop(id).expect("only the root is empty");
            self.stacks.push(self.from_node(back, below, routes));
        }
    }

    /// From the beginning of a node under a call stack that was taken in; [`FAR`] when nothing wanted can be reached.
    pub fn from_node(&self, node: NodeId, stack: ContextId, routes: &Routes) -> u32 {
        let after_return = routes.to_return(node).saturating_add(self.stacks[stack.index()]);
        self.nodes[node.index()].min(after_return)
    }
}

/// How far it is to one place.
pub struct Towards {
    target: Place,
    node: NodeId,
    distances: Distances,
}

impl Towards {
    /// To a place.
    pub fn new(graph: &Icfg, routes: &Routes, target: Place) -> Self {
        let node = graph.at(target);
        let mut wanted = vec![false; graph.nodes.len()];
        wanted[node.index()] = true;
        Self { target, node, distances: Distances::to_nodes(graph, routes, &wanted) }
    }

    /// The place.
    pub fn target(&self) -> Place {
        self.target
    }

    /// Takes in the call stacks met since the last time.
    pub fn extend(&mut self, stacks: &CallStacks, routes: &Routes) {
        self.distances.extend(stacks, routes);
    }

    /// Instructions from the beginning of a node, under a call stack that was taken in, to the place; `None` when no path
    /// leads there.
    pub fn from_node(&self, graph: &Icfg, routes: &Routes, node: NodeId, stack: ContextId) -> Option<u32> {
        let distance = self.distances.from_node(node, stack, routes);
        (distance < FAR).then(|| distance.saturating_add(self.target.at - graph.node(self.node).first))
    }
}

/// What passing a call costs.
fn past(graph: &Icfg, callees: Callees, to_return: &[u32]) -> u32 {
    match callees {
        Callees::One(callee) => graph.entry(callee).map_or(FAR, |entry| to_return[entry.index()]),
        Callees::Indirect | Callees::Unknown => 1,
    }
}

#[cfg(test)]
mod tests;
