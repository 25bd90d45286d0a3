//! Where does a path that takes another direction of a branch come to a path that is known?
//!
//! Method: what lies *ahead* of an edge is what control may come to without turning back: an edge that closes a loop leads to the loop's head
//! and from there only to what the loop is left for. A walk along the edge meets the known path at the first node of it that lies ahead. Several
//! walks may meet it at several nodes, so what lies ahead is kept as far as a walk gets there without having met the path before, and where the
//! path begins another turn of a loop, what is left of the turn before is over. So turns of a loop are told apart, and a `return` inside of
//! it, which would leave post-dominators with nothing before the end of the function, is one walk among others. Limit: of a cycle with several
//! entries, which node is its head depends on the order of the code.

use std::collections::{BTreeMap, BTreeSet};

use model::FunctionId;

use crate::icfg::{Icfg, NodeId};

/// What lies ahead of an edge, as far as a path has not met it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct AheadId(u32);

/// A set of nodes of one function, by their numbers in it.
type Bits = Vec<u64>;

/// From a node to the next.
type Edge = (NodeId, NodeId);

/// What lies ahead of edges, found when it is asked for.
#[derive(Debug, Default)]
pub struct Ahead {
    loops: BTreeMap<FunctionId, Loops>,
    all: Vec<Part>,
    ids: BTreeMap<(Edge, Bits), AheadId>,
    of_edges: BTreeMap<Edge, AheadId>,
    passed: BTreeMap<(AheadId, NodeId), Option<AheadId>>,
}

/// What lies ahead of one edge, or is left of that.
#[derive(Debug)]
struct Part {
    edge: Edge,
    function: FunctionId,
    first: u32,
    nodes: Bits,
}

/// The loops of a function.
#[derive(Debug, Default)]
struct Loops {
    /// Edges that close a loop.
    closing: BTreeSet<Edge>,
    /// By head: the nodes of the loop.
    bodies: BTreeMap<NodeId, BTreeSet<NodeId>>,
    /// By head: the nodes that the loop is left for.
    exits: BTreeMap<NodeId, BTreeSet<NodeId>>,
}

impl Ahead {
    /// What lies ahead of an edge within its function.
    pub fn of(&mut self, graph: &Icfg, edge: Edge) -> AheadId {
        if let Some(known) = self.of_edges.get(&edge) {
            return *known;
        }
        let function = graph.node(edge.0).function;
        let loops = self.loops.entry(function).or_insert_with(|| Loops::of(graph, function));
        let nodes = loops.reach(graph, [edge], &|_| true);
        let id = self.intern(edge, graph, &nodes);
        self.of_edges.insert(edge, id);
        id
    }

    /// Whether a node lies ahead.
    pub fn contains(&self, id: AheadId, node: NodeId) -> bool {
        self.all[id.0 as usize].contains(node)
    }

    /// What is left when the path has come to a node; nothing when every walk has met it.
    pub fn passed(&mut self, graph: &Icfg, id: AheadId, node: NodeId) -> Option<AheadId> {
        let part = &self.all[id.0 as usize];
        let loops = &self.loops[&part.function];
        if !part.contains(node) && !loops.bodies.contains_key(&node) {
            return Some(id);
        }
        if let Some(known) = self.passed.get(&(id, node)) {
            return *known;
        }
        let edge = part.edge;
        let mut left = match (part.contains(node), part.contains(edge.1)) {
            (false, _) => part.nodes(),
            (true, true) => loops.reach(graph, [edge], &|next| next != node && part.contains(next)),
            // no walk is left in the turn that is over: only what it may have been left for
            (true, false) => {
                let behind = loops.reach(graph, [(node, node)], &|_| true);
                part.nodes().difference(&behind).copied().collect()
            }
        };
        // another turn of a loop begins
        if let Some(body) =
            loops.bodies.get(&node).filter(|body| body.contains(&edge.0) && body.contains(&edge.1))
        {
            left.retain(|left| !body.contains(left));
        }
        let left = (!left.is_empty()).then(|| self.intern(edge, graph, &left));
        self.passed.insert((id, node), left);
        left
    }

    fn intern(&mut self, edge: Edge, graph: &Icfg, nodes: &BTreeSet<NodeId>) -> AheadId {
        let function = graph.node(edge.0).function;
        let all = graph.nodes_of(function);
        let mut bits = vec![0; all.len().div_ceil(64)];
        for node in nodes {
            let number = node.0 - all.start;
            bits[number as usize / 64] |= 1 << (number % 64);
        }
        let next = AheadId(u32::try_from(self.all.len()).expect("fewer than 2^32 of them"));
        let id = *self.ids.entry((edge, bits.clone())).or_insert(next);
        if id == next {
            self.all.push(Part { edge, function, first: all.start, nodes: bits });
        }
        id
    }
}

impl Part {
    fn contains(&self, node: NodeId) -> bool {
        let Some(number) = node.0.checked_sub(self.first) else { return false };
        self.nodes.get(number as usize / 64).is_some_and(|word| word >> (number % 64) & 1 == 1)
    }

    fn nodes(&self) -> BTreeSet<NodeId> {
        let n_nodes = u32::try_from(64 * self.nodes.len()).expect("fewer than 2^32 nodes");
        (self.first..self.first + n_nodes).map(NodeId).filter(|node| self.contains(*node)).collect()
    }
}

impl Loops {
    fn of(graph: &Icfg, function: FunctionId) -> Self {
        let mut loops = Self::default();
        let Some(entry) = graph.entry(function) else { return loops };
        loops.closing = closing_edges(graph, entry);
        let mut backwards: BTreeMap<NodeId, Vec<NodeId>> = BTreeMap::new();
        for node in graph.nodes_of(function).map(NodeId) {
            for next in graph.successors(node) {
                backwards.entry(*next).or_default().push(node);
            }
        }
        for (last, head) in &loops.closing {
            let body = loops.bodies.entry(*head).or_insert_with(|| BTreeSet::from([*head]));
            let mut open = vec![*last];
            while let Some(node) = open.pop() {
                if body.insert(node) {
                    open.extend(backwards.get(&node).into_iter().flatten());
                }
            }
        }
        for (head, body) in &loops.bodies {
            let ends = body.iter().flat_map(|node| graph.successors(*node));
            loops.exits.insert(*head, ends.filter(|end| !body.contains(end)).copied().collect());
        }
        loops
    }

    /// What walks along these edges come to without turning back, through nodes that they may pass.
    fn reach<const N: usize>(
        &self,
        graph: &Icfg,
        edges: [Edge; N],
        may_pass: &dyn Fn(NodeId) -> bool,
    ) -> BTreeSet<NodeId> {
        let mut found = BTreeSet::new();
        let mut open = edges.to_vec();
        while let Some((from, node)) = open.pop() {
            if !may_pass(node) || !found.insert(node) {
                continue;
            }
            if self.closing.contains(&(from, node)) {
                open.extend(self.exits[&node].iter().map(|exit| (node, *exit)));
            } else {
                open.extend(graph.successors(node).iter().map(|next| (node, *next)));
            }
        }
        found
    }
}

/// The edges that lead back to a node that a depth-first search has under way.
fn closing_edges(graph: &Icfg, entry: NodeId) -> BTreeSet<(NodeId, NodeId)> {
    let mut closing = BTreeSet::new();
    // whether the search has left it
    let mut seen: BTreeMap<NodeId, bool> = BTreeMap::from([(entry, false)]);
    let mut stack = vec![(entry, graph.successors(entry).iter())];
    while let Some((node, successors)) = stack.last_mut() {
        match successors.next() {
            Some(next) => match seen.get(next) {
                Some(false) => _ = closing.insert((*node, *next)),
                Some(true) => {}
                None => {
                    seen.insert(*next, false);
                    stack.push((*next, graph.successors(*next).iter()));
                }
            },
            None => {
                seen.insert(*node, true);
                stack.pop();
            }
        }
    }
    closing
}
