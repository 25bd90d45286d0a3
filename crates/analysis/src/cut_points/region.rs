//! The folded graph behind a definition.
//!
//! A node may be there twice: in an activation that was open at the definition (up), from which control returns to all
//! who may have called, and in one that was entered since (down), which a path to the use does not leave again.

use std::collections::{BTreeSet, VecDeque};

use model::FunctionId;

use super::kills::Kills;
use super::{Definition, Dominance, Extent};
use crate::dominators::{Digraph, Dominators};
use crate::icfg::{Callees, Exit, NodeId};

/// Behind the definition, the first vertex.
pub(super) const START: u32 = 0;
const NONE: u32 = u32::MAX;
/// In a region with more vertices than this only what every path passes at the same vertex is found.
const MOST_VERTICES: usize = 1 << 13;
/// Nodes that are there twice of which it is asked whether all paths between two cut points pass them.
const MAX_SEARCHES: usize = 16;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Up,
    Down,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Spot {
    /// From behind the definition to the end of its node.
    Start,
    At(NodeId, Side),
    /// Code that is not known.
    Outside,
}

/// What can be reached behind a definition.
pub(super) struct Region {
    spots: Vec<Spot>,
    graph: Digraph,
    backwards: Digraph,
    dominators: Dominators,
    defined: NodeId,
    by_key: Vec<u32>,
    base: u32,
}

/// A node that every path passes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Cut {
    pub(super) node: NodeId,
    /// Where it is; nowhere in particular when it is there twice.
    vertex: Option<u32>,
}

impl Region {
    /// The region behind a definition; calls are followed into functions that are of interest.
    pub(super) fn new(
        dominance: &Dominance<'_>,
        definition: Definition<'_>,
        kills: &Kills,
        interests: impl Fn(FunctionId) -> bool,
    ) -> Self {
        let graph = dominance.graph;
        let nodes = match definition.extent {
            Extent::Activation => graph.nodes_of(definition.place.function),
            Extent::Below(_) | Extent::Program => 0..dominance.outside(),
        };
        let mut builder = Builder {
            steps: Steps { dominance, definition, kills, interests: &interests },
            base: nodes.start,
            by_key: vec![NONE; 2 * nodes.len() + 1],
            spots: vec![Spot::Start],
        };
        let mut edges = Vec::new();
        let mut number = 0;
        while let Some(spot) = builder.spots.get(number as usize) {
            for to in builder.steps.from(*spot) {
                edges.push((number, builder.vertex(to)));
            }
            number += 1;
        }
        let graph = Digraph::new(builder.spots.len(), &edges);
        Self {
            dominators: Dominators::of(&graph, START),
            backwards: graph.reversed(),
            graph,
            defined: dominance.graph.at(definition.place),
            spots: builder.spots,
            by_key: builder.by_key,
            base: builder.base,
        }
    }

    /// Whether it is too large to be searched for each use.
    pub(super) fn is_large(&self) -> bool {
        self.spots.len() > MOST_VERTICES
    }

    /// Where a node is.
    pub(super) fn vertices(&self, node: NodeId) -> Vec<u32> {
        [Side::Up, Side::Down].into_iter().filter_map(|side| self.vertex(Spot::At(node, side))).collect()
    }

    /// Where a node is in an activation that was open at the definition.
    pub(super) fn up(&self, node: NodeId) -> Option<u32> {
        self.vertex(Spot::At(node, Side::Up))
    }

    fn vertex(&self, spot: Spot) -> Option<u32> {
        let vertex = self.by_key.get(key(spot, self.base, self.by_key.len())?)?;
        (*vertex != NONE).then_some(*vertex)
    }

    /// What every path to one of the targets, which are one node, passes, in order, from the definition to the use.
    pub(super) fn chain(&self, targets: &[u32]) -> Option<Vec<Cut>> {
        let chains: Vec<Vec<u32>> =
            targets.iter().filter_map(|target| self.dominators.chain(*target)).collect();
        // behind one target, another adds nothing
        let is_first =
            |chain: &&Vec<u32>| !chain[..chain.len() - 1].iter().any(|vertex| targets.contains(vertex));
        let chains: Vec<&Vec<u32>> = chains.iter().filter(is_first).collect();
        let (first, rest) = chains.split_first()?;
        let n_common = rest.iter().fold(first.len(), |n_common, other| {
            n_common.min(first.iter().zip(*other).take_while(|(one, other)| one == other).count())
        });
        let common = &first[..n_common];
        let leads = if self.is_large() { Vec::new() } else { self.leads_to(targets, |_| true) };
        let mut chain = Vec::new();
        for (number, vertex) in common.iter().enumerate() {
            chain.extend(self.node(*vertex).map(|node| Cut { node, vertex: Some(*vertex) }));
            let ends = common.get(number + 1..number + 2).filter(|ends| !ends.is_empty()).unwrap_or(targets);
            if !leads.is_empty() && (number + 1 < n_common || !rest.is_empty()) {
                let gap = Gap { region: self, leads: &leads, start: *vertex, ends };
                chain.extend(gap.cuts().into_iter().map(|node| Cut { node, vertex: None }));
            }
        }
        if !rest.is_empty() {
            chain.extend(self.node(first[first.len() - 1]).map(|node| Cut { node, vertex: None }));
        }
        Some(chain)
    }

    fn node(&self, vertex: u32) -> Option<NodeId> {
        match self.spots[vertex as usize] {
            Spot::Start => Some(self.defined),
            Spot::At(node, _) => Some(node),
            Spot::Outside => None,
        }
    }

    /// Whether a return of the function leads to the vertex.
    pub(super) fn is_returned_to(
        &self,
        dominance: &Dominance<'_>,
        vertex: u32,
        function: FunctionId,
    ) -> bool {
        self.backwards.successors(vertex).iter().any(|from| {
            let returns = |node: &NodeId| {
                let code = dominance.graph.node(*node);
                matches!(code.exit, Exit::Return) && code.function == function
            };
            self.node(*from).is_some_and(|node| returns(&node))
        })
    }

    /// The nodes that one of these nodes returns to, at vertices that are marked and in activations that were open at the
    /// definition.
    pub(super) fn entered_by(&self, returns: impl Fn(NodeId) -> bool, marked: &[bool]) -> Vec<NodeId> {
        let vertices = (0..).zip(&self.spots).zip(marked).filter(|(_, is_marked)| **is_marked);
        let found = vertices.filter_map(|((vertex, spot), _)| match spot {
            Spot::At(node, Side::Up) => Some((vertex, *node)),
            Spot::At(_, Side::Down) | Spot::Start | Spot::Outside => None,
        });
        let is_entered = |vertex: u32| {
            let mut before = self.backwards.successors(vertex).iter();
            before.any(|from| self.node(*from).is_some_and(&returns))
        };
        found.filter(|(vertex, _)| is_entered(*vertex)).map(|(_, node)| node).collect()
    }

    /// Whether the step from the n-th vertex of a chain to the next is the only one that leads there.
    pub(super) fn is_only_way(&self, chain: &[Cut], number: usize) -> bool {
        let Some([from, to]) = chain.get(number..number + 2) else { return false };
        let (Some(from), Some(to)) = (from.vertex, to.vertex) else { return false };
        self.backwards.successors(to).iter().all(|vertex| *vertex == from)
    }

    /// By vertex: whether a path leads from it to one of the targets; `steps` says which vertices it may leave.
    pub(super) fn leads_to(&self, targets: &[u32], steps: impl Fn(u32) -> bool) -> Vec<bool> {
        let mut leads = vec![false; self.spots.len()];
        let mut open = targets.to_vec();
        while let Some(vertex) = open.pop() {
            if !std::mem::replace(&mut leads[vertex as usize], true) {
                let before = self.backwards.successors(vertex).iter().copied();
                open.extend(before.filter(|from| steps(*from)));
            }
        }
        leads
    }

    /// By vertex: whether a path leads from it to one of the targets without leaving an activation that was open at the
    /// definition.
    pub(super) fn stays(&self, dominance: &Dominance<'_>, targets: &[u32]) -> Vec<bool> {
        let returns = |node: NodeId| matches!(dominance.graph.node(node).exit, Exit::Return);
        self.leads_to(targets, |vertex| !self.node(vertex).is_some_and(returns))
    }
}

/// The paths from a vertex to the next that all pass.
///
/// None of its vertices is passed by all paths; but a node that is there twice may be, by some on one side and by some on
/// the other.
struct Gap<'r> {
    region: &'r Region,
    /// By vertex: whether it leads to the use.
    leads: &'r [bool],
    start: u32,
    ends: &'r [u32],
}

impl Gap<'_> {
    /// The nodes that all paths pass, in order.
    fn cuts(&self) -> Vec<NodeId> {
        let Err(path) = self.avoid(None) else { return Vec::new() };
        let mut seen = BTreeSet::new();
        let mut candidates: Vec<NodeId> = path.into_iter().filter(|node| seen.insert(*node)).collect();
        candidates.retain(|node| self.region.vertices(*node).len() > 1);
        let mut cuts = Vec::new();
        for _ in 0..MAX_SEARCHES {
            if candidates.is_empty() {
                break;
            }
            let candidate = candidates.remove(0);
            match self.avoid(Some(candidate)) {
                Ok(reached) => {
                    cuts.push(candidate);
                    // what some paths pass earlier has no place in the order
                    candidates.retain(|node| !reached.contains(node));
                }
                Err(path) => candidates.retain(|node| path.contains(node)),
            }
        }
        cuts
    }

    /// The nodes on a path to the end without this node, or else all nodes that such paths reach.
    fn avoid(&self, avoided: Option<NodeId>) -> Result<BTreeSet<NodeId>, Vec<NodeId>> {
        let region = self.region;
        let mut parents = vec![NONE; region.spots.len()];
        parents[self.start as usize] = self.start;
        let mut open = VecDeque::from([self.start]);
        while let Some(vertex) = open.pop_front() {
            for to in region.graph.successors(vertex) {
                let is_avoided = avoided.is_some() && region.node(*to) == avoided;
                if is_avoided || !self.leads[*to as usize] || parents[*to as usize] != NONE {
                    continue;
                }
                if self.ends.contains(to) {
                    return Err(self.path(&parents, vertex));
                }
                parents[*to as usize] = vertex;
                open.push_back(*to);
            }
        }
        let reached = (0..).zip(&parents).filter(|(_, parent)| **parent != NONE);
        Ok(reached.filter_map(|(vertex, _)| region.node(vertex)).collect())
    }

    /// The nodes behind the start up to a vertex.
    fn path(&self, parents: &[u32], last: u32) -> Vec<NodeId> {
        let mut path = Vec::new();
        let mut vertex = last;
        while vertex != self.start {
            path.extend(self.region.node(vertex));
            vertex = parents[vertex as usize];
        }
        path.reverse();
        path
    }
}

fn key(spot: Spot, base: u32, n_keys: usize) -> Option<usize> {
    match spot {
        Spot::Start => None,
        Spot::At(node, side) => {
            let number = node.0.checked_sub(base)? as usize;
            Some(2 * number + usize::from(side == Side::Down)).filter(|key| *key + 1 < n_keys)
        }
        Spot::Outside => Some(n_keys - 1),
    }
}

struct Builder<'s, 'a> {
    steps: Steps<'s, 'a>,
    base: u32,
    by_key: Vec<u32>,
    spots: Vec<Spot>,
}

impl Builder<'_, '_> {
    fn vertex(&mut self, spot: Spot) -> u32 {
        let key = key(spot, self.base, self.by_key.len()).expect("every step stays in the region");
        let vertex = &mut self.by_key[key];
        if *vertex == NONE {
            *vertex = u32::try_from(self.spots.len()).expect("fewer than 2^32 vertices");
            self.spots.push(spot);
        }
        *vertex
    }
}

/// The steps of the folded graph.
struct Steps<'s, 'a> {
    dominance: &'s Dominance<'a>,
    definition: Definition<'s>,
    kills: &'s Kills,
    /// Whether paths may go into a function and not leave it again.
    interests: &'s dyn Fn(FunctionId) -> bool,
}

impl Steps<'_, '_> {
    fn from(&self, spot: Spot) -> Vec<Spot> {
        let graph = self.dominance.graph;
        match spot {
            Spot::Start => {
                let place = self.definition.place;
                self.leave(graph.at(place), Side::Up, place.at + 1)
            }
            Spot::At(node, side) => self.leave(node, side, graph.node(node).first),
            Spot::Outside => {
                let taken = graph.address_taken.iter().filter(|taken| (self.interests)(**taken));
                let entries = taken.filter_map(|taken| graph.entry(*taken));
                entries.map(|entry| Spot::At(entry, Side::Down)).collect()
            }
        }
    }

    /// Where control may go from this instruction of a node.
    fn leave(&self, node: NodeId, side: Side, from: u32) -> Vec<Spot> {
        let dominance = self.dominance;
        let code = dominance.graph.node(node);
        let passes = self.kills.passes(dominance, node, from);
        let on = |to: NodeId| Spot::At(to, side);
        match &code.exit {
            // the definition is the call, which has come back
            Exit::Call { then, .. } if from >= code.end => then.map(on).into_iter().collect(),
            Exit::Call { callees, then } => {
                let mut spots: Vec<Spot> = then.filter(|_| passes).map(on).into_iter().collect();
                if self.kills.enters(dominance, node, from) {
                    spots.extend(self.enter(*callees));
                    spots.extend(self.jump(*callees, then.is_some()));
                }
                spots
            }
            Exit::Return if passes && side == Side::Up => self.callers(code.function),
            Exit::Jump(_) | Exit::Choose(_) | Exit::Follow(_) if passes => {
                dominance.graph.successors(node).into_iter().map(on).collect()
            }
            Exit::Jump(_) | Exit::Choose(_) | Exit::Follow(_) | Exit::Return | Exit::Dead => Vec::new(),
        }
    }

    /// Into a callee.
    fn enter(&self, callees: Callees) -> Option<Spot> {
        match (self.definition.extent, callees) {
            (Extent::Activation, _) => None,
            (Extent::Below(_) | Extent::Program, Callees::One(callee)) => {
                let entry = self.dominance.graph.entry(callee).filter(|_| (self.interests)(callee));
                entry.map(|entry| Spot::At(entry, Side::Down))
            }
            (Extent::Below(_) | Extent::Program, Callees::Indirect | Callees::Unknown) => Some(Spot::Outside),
        }
    }

    /// To where `setjmp` comes back.
    fn jump(&self, callees: Callees, returns: bool) -> Vec<Spot> {
        let (graph, may_jump) = (self.dominance.graph, &self.dominance.may_jump);
        let landings = self.dominance.landings(self.definition.extent);
        match self.definition.extent {
            Extent::Activation => {
                let jumps = match callees {
                    Callees::One(callee) => may_jump[callee.index()],
                    Callees::Indirect | Callees::Unknown => {
                        !returns || graph.address_taken.iter().any(|taken| may_jump[taken.index()])
                    }
                };
                let function = self.definition.place.function;
                let own = landings.filter(|node| jumps && graph.node(*node).function == function);
                own.map(|node| Spot::At(node, Side::Up)).collect()
            }
            // what callees do is seen in them
            Extent::Below(_) | Extent::Program if returns => Vec::new(),
            Extent::Below(_) | Extent::Program => {
                landings.flat_map(|node| [Side::Up, Side::Down].map(|side| Spot::At(node, side))).collect()
            }
        }
    }

    /// Back to whoever may have called before the definition.
    fn callers(&self, function: FunctionId) -> Vec<Spot> {
        match self.definition.extent {
            Extent::Activation => return Vec::new(),
            Extent::Below(owner) if owner == function => return Vec::new(),
            Extent::Below(_) | Extent::Program => {}
        }
        let dominance = self.dominance;
        let by_name = dominance.callers[function.index()].iter();
        let by_address = dominance.indirect.iter().filter(|_| dominance.is_taken[function.index()]);
        let mut spots = Vec::new();
        for caller in by_name.chain(by_address).filter(|caller| dominance.is_reached(**caller)) {
            if let Exit::Call { callees, then } = &dominance.graph.node(*caller).exit {
                spots.extend(then.map(|then| Spot::At(then, Side::Up)));
                if *callees == Callees::Unknown {
                    spots.push(Spot::Outside);
                }
            }
        }
        spots
    }
}
