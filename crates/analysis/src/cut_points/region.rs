//! The folded graph downstream of a definition.
//!
//! A node may occur twice: in an activation that was open at the definition (up), from which control returns to every
//! possible caller, and in one that was entered since (down), which a path to the use does not leave again.

use std::collections::{BTreeSet, VecDeque};

use model::FunctionId;

use super::kills::Kills;
use super::numbering::Numbering;
use super::steps::{RegionPoint, Side, Steps};
use super::{DefinedValue, Dominance};
use crate::dominators::{Digraph, Dominators};
use crate::icfg::{Exit, Icfg, NodeId};

/// Behind the definition, the first vertex.
pub(super) const START: u32 = 0;
const NONE: u32 = u32::MAX;
/// In a region with more vertices than this only what every path passes at the same vertex is found.
const MOST_VERTICES: usize = 1 << 13;
/// Nodes that are there twice of which it is asked whether all paths between two cut points pass them.
const MAX_SEARCHES: usize = 16;

/// What can be reached behind a definition.
pub(super) struct Region<'a> {
    points: Vec<RegionPoint>,
    graph: Digraph,
    backwards: Digraph,
    dominators: Dominators,
    defined: NodeId,
    vertices: Vertices<'a>,
}

/// Which points are which vertices.
struct Vertices<'a> {
    numbering: Numbering<'a>,
    /// By the number of a node: its vertices above and below.
    of_nodes: Vec<[u32; 2]>,
    outside: u32,
    back: u32,
}

/// A node that every path passes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Cut {
    pub(super) node: NodeId,
    /// Where it is; nowhere in particular when it is there twice.
    vertex: Option<u32>,
}

impl<'a> Region<'a> {
    /// The region behind a definition; calls are followed into functions that are of interest.
    pub(super) fn new(
        dominance: &Dominance<'a>,
        definition: DefinedValue<'_>,
        kills: &Kills,
        interests: impl Fn(FunctionId) -> bool,
    ) -> Self {
        let steps = Steps { dominance, definition, kills, interests: &interests };
        let mut vertices = Vertices::new(dominance.graph);
        let (mut points, mut edges, mut ahead) = (vec![RegionPoint::Start], Vec::new(), Vec::new());
        let mut number = START;
        while let Some(point) = points.get(number as usize) {
            steps.add_from(*point, &mut ahead);
            edges.extend(ahead.drain(..).map(|to| (number, vertices.add(to, &mut points))));
            number += 1;
        }
        let graph = Digraph::new(points.len(), &edges);
        let backwards = graph.reversed();
        let dominators = Dominators::with(&graph, &backwards, START);
        Self { points, graph, backwards, dominators, defined: dominance.graph.at(definition.place), vertices }
    }

    /// Whether it is too large to be searched for each use.
    pub(super) fn is_large(&self) -> bool {
        self.points.len() > MOST_VERTICES
    }

    /// Where a node is.
    pub(super) fn vertices(&self, node: NodeId) -> Vec<u32> {
        [Side::Up, Side::Down].into_iter().filter_map(|side| self.vertices.get(node, side)).collect()
    }

    /// Where a node is in an activation that was open at the definition.
    pub(super) fn up(&self, node: NodeId) -> Option<u32> {
        self.vertices.get(node, Side::Up)
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
        match self.points[vertex as usize] {
            RegionPoint::Start => Some(self.defined),
            RegionPoint::At(node, _) => Some(node),
            RegionPoint::Outside | RegionPoint::Back => None,
        }
    }

    /// Whether one of these nodes returns to the vertex.
    pub(super) fn is_returned_to(&self, vertex: u32, returns: impl Fn(NodeId) -> bool) -> bool {
        let is_one = |from: &u32| self.node(*from).is_some_and(&returns);
        self.backwards.successors(vertex).iter().any(|from| match self.points[*from as usize] {
            RegionPoint::Back => self.backwards.successors(*from).iter().any(is_one),
            RegionPoint::Start | RegionPoint::At(..) | RegionPoint::Outside => is_one(from),
        })
    }

    /// The functions that one of these nodes returns to, at vertices that are marked and in activations that were open at the
    /// definition.
    pub(super) fn returned_to(
        &self,
        dominance: &Dominance<'_>,
        returns: impl Fn(NodeId) -> bool,
        marked: &[bool],
    ) -> BTreeSet<FunctionId> {
        let is_returned_to = |vertex: u32| self.is_returned_to(vertex, &returns);
        let mut functions = BTreeSet::new();
        for ((vertex, point), _) in (0..).zip(&self.points).zip(marked).filter(|(_, is_marked)| **is_marked) {
            match point {
                RegionPoint::Start | RegionPoint::At(_, Side::Down) | RegionPoint::Back => {}
                RegionPoint::At(node, Side::Up) if is_returned_to(vertex) => {
                    functions.insert(dominance.graph.node(*node).function);
                }
                // into code that is not known, whoever called that
                RegionPoint::Outside if is_returned_to(vertex) => functions.extend(dominance.calls_outside()),
                RegionPoint::At(_, Side::Up) | RegionPoint::Outside => {}
            }
        }
        functions
    }

    /// Whether the step from the n-th vertex of a chain to the next is the only one that leads there.
    pub(super) fn is_only_way(&self, chain: &[Cut], number: usize) -> bool {
        let Some([from, to]) = chain.get(number..number + 2) else { return false };
        let (Some(from), Some(to)) = (from.vertex, to.vertex) else { return false };
        self.backwards.successors(to).iter().all(|vertex| *vertex == from)
    }

    /// By vertex: whether a path leads from it to one of the targets; `steps` says which vertices it may leave.
    pub(super) fn leads_to(&self, targets: &[u32], steps: impl Fn(u32) -> bool) -> Vec<bool> {
        let mut leads = vec![false; self.points.len()];
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
    region: &'r Region<'r>,
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
        let mut parents = vec![NONE; region.points.len()];
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

impl<'a> Vertices<'a> {
    fn new(graph: &'a Icfg) -> Self {
        Self { numbering: Numbering::new(graph), of_nodes: Vec::new(), outside: NONE, back: NONE }
    }

    fn get(&self, node: NodeId, side: Side) -> Option<u32> {
        let vertex = self.of_nodes[self.numbering.get(node)? as usize][side as usize];
        (vertex != NONE).then_some(vertex)
    }

    /// The vertex of a point, which is put to the others when it is new.
    fn add(&mut self, point: RegionPoint, points: &mut Vec<RegionPoint>) -> u32 {
        let vertex = match point {
            RegionPoint::Start => return START,
            RegionPoint::Outside => &mut self.outside,
            RegionPoint::Back => &mut self.back,
            RegionPoint::At(node, side) => {
                let number = self.numbering.add(node);
                self.of_nodes.resize(self.numbering.nodes().len(), [NONE; 2]);
                &mut self.of_nodes[number as usize][side as usize]
            }
        };
        if *vertex == NONE {
            *vertex = u32::try_from(points.len()).expect("fewer than 2^32 vertices");
            points.push(point);
        }
        *vertex
    }
}
