//! What may a branch that was not taken do to variables, until it meets the one that was?
//!
//! Method: the code behind the other outcome is walked with a state. Branches that the state decides are followed; at others, which may
//! depend on the input, every direction is followed, for a cost: that it comes so is a hope, which the next run tells more about. Limit:
//! regions are walked for so many nodes and branches; what
//! returns from the function is no alternative.

use std::cell::Cell;

use analysis::dataflow::{Access, AccessKind, DataFlow, ObjectId};
use analysis::icfg::{Callees, Exit, Icfg, NodeId};
use model::walk::{Choice, Site};

use super::values::{Held, State, Store};

/// Nodes of a walk, and walks of a region.
const MOST_NODES: u32 = 96;
const MOST_WALKS: usize = 24;
/// What it costs to hope for an outcome.
const COST_OF_HOPE: u32 = 2;

pub(super) struct Region<'r> {
    pub graph: &'r Icfg,
    pub flow: &'r DataFlow,
    pub objects: &'r [ObjectId],
    pub store: &'r Store<'r>,
    pub decide: &'r dyn Fn(Site, &State) -> Option<Choice>,
    /// Counts nodes.
    pub work: &'r Cell<u64>,
}

/// A walk that is under way.
struct Walk {
    node: NodeId,
    /// Instructions of the node's block before this one are done.
    done: u32,
    state: State,
    cost: u32,
    n_nodes: u32,
    /// Where calls return to.
    calls: Vec<Option<NodeId>>,
}

impl Region<'_> {
    /// The states in which a direction comes to the first of some nodes of its function, each with that and with the hopes that it takes.
    pub(super) fn walk(
        &self,
        site: Site,
        choice: Choice,
        joins: &[NodeId],
        state: &State,
    ) -> Vec<(State, u32, NodeId)> {
        let Some(direction) = self.graph.direction(site, choice) else { return Vec::new() };
        let direction = &self.graph.directions[direction.index()];
        let Some(target) = direction.targets.first() else { return Vec::new() };
        let begin =
            Walk { node: *target, done: 0, state: state.clone(), cost: 0, n_nodes: 0, calls: Vec::new() };
        let (mut found, mut open, mut n_walks) = (Vec::new(), vec![begin], 1);
        while let Some(mut walk) = open.pop() {
            while walk.n_nodes < MOST_NODES {
                if joins.contains(&walk.node) && walk.calls.is_empty() {
                    found.push((walk.state, walk.cost, walk.node));
                    break;
                }
                walk.n_nodes += 1;
                self.work.set(self.work.get() + 1);
                self.pass(&mut walk, &mut open, &mut n_walks);
                let Some(next) = self.next(&mut walk, &mut open, &mut n_walks) else { break };
                walk.node = next;
            }
        }
        found
    }

    /// Does what the instructions of a node do. Which of several variables a pointer leads to is a hope as well.
    fn pass(&self, walk: &mut Walk, open: &mut Vec<Walk>, n_walks: &mut usize) {
        let node = self.graph.node(walk.node);
        let accesses = self.flow.blocks().of(node.function, node.block).iter();
        let here = |access: &&Access| (walk.done.max(node.first)..node.end).contains(&access.at);
        let accesses: Vec<&Access> = accesses.filter(here).collect();
        for access in accesses {
            if !matches!(access.kind, AccessKind::Store | AccessKind::Return) {
                continue;
            }
            let is_certain = access.address.is_none() || access.definitions.len() == 1;
            for (object, definition) in &access.definitions {
                let Some(index) = self.objects.iter().position(|known| known == object) else { continue };
                let held =
                    Held { definition: Some(*definition), value: (self.store)(*definition, &walk.state) };
                if is_certain {
                    walk.state[index] = held;
                } else if *n_walks < MOST_WALKS {
                    *n_walks += 1;
                    let (mut state, calls) = (walk.state.clone(), walk.calls.clone());
                    state[index] = held;
                    let (node, cost, n_nodes) = (walk.node, walk.cost + COST_OF_HOPE, walk.n_nodes);
                    open.push(Walk { node, done: access.at + 1, state, cost, n_nodes, calls });
                }
            }
            // that it leads elsewhere is one, too
            let is_met = access.definitions.iter().any(|(object, _)| self.objects.contains(object));
            walk.cost += if !is_certain && is_met { COST_OF_HOPE } else { 0 };
        }
        walk.done = 0;
    }

    /// Where control goes from a node; other walks begin where that is open.
    fn next(&self, walk: &mut Walk, open: &mut Vec<Walk>, n_walks: &mut usize) -> Option<NodeId> {
        match &self.graph.node(walk.node).exit {
            Exit::Jump(next) => Some(*next),
            Exit::Follow(targets) => match targets[..] {
                [only] => Some(only),
                _ => None,
            },
            Exit::Choose(directions) => {
                let directions = directions.iter().map(|id| &self.graph.directions[id.index()]);
                let of_node = |direction: &analysis::icfg::Direction| {
                    let edges = direction.sources.iter().zip(&direction.targets);
                    edges.filter(|(source, _)| **source == walk.node).map(|(_, target)| *target).next()
                };
                let targets: Vec<(Site, Choice, NodeId)> = directions
                    .filter_map(|direction| Some((direction.site, direction.choice, of_node(direction)?)))
                    .collect();
                let (site, ..) = *targets.first()?;
                if let Some(choice) = (self.decide)(site, &walk.state) {
                    return targets.iter().find(|(_, known, _)| *known == choice).map(|(.., target)| *target);
                }
                for (.., target) in targets {
                    if *n_walks < MOST_WALKS {
                        *n_walks += 1;
                        let (state, calls) = (walk.state.clone(), walk.calls.clone());
                        let (cost, n_nodes) = (walk.cost + COST_OF_HOPE, walk.n_nodes);
                        open.push(Walk { node: target, done: 0, state, cost, n_nodes, calls });
                    }
                }
                None
            }
            Exit::Call { callees: Callees::One(callee), then } => match self.graph.entry(*callee) {
                Some(entry) => {
                    walk.calls.push(*then);
                    Some(entry)
                }
                None => *then,
            },
            Exit::Call { callees: Callees::Indirect | Callees::Unknown, then } => *then,
            Exit::Return => walk.calls.pop().flatten(),
            Exit::Dead => None,
        }
    }
}
