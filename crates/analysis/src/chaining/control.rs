//! By which branches does control come to a place?
//!
//! Method: a node depends on a direction when every path from its target passes the node, and not every path from its source
//! does (Ferrante, Ottenstein and Warren). Passing is asked of the dominators of the function's graph turned round, once for each
//! function that is asked about. Limit: what cannot come to the end of its function has no answer.

use std::collections::{BTreeMap, BTreeSet};

use model::walk::{Choice, Site};
use model::{FunctionId, Op, Program};

use crate::Place;
use crate::dominators::{Digraph, Dominators};
use crate::icfg::{Callees, DirectionId, Exit, Icfg, NodeId};

/// The directions that nodes depend on, found function by function when they are asked for.
#[derive(Debug, Default)]
pub struct ControlDependence {
    by_function: BTreeMap<FunctionId, OfFunction>,
}

/// What is known of a function.
#[derive(Debug, Default)]
struct OfFunction {
    /// By node: the directions that it depends on.
    on: BTreeMap<NodeId, Vec<DirectionId>>,
}

impl ControlDependence {
    /// The directions that a node depends on within its function, in the order of the code.
    pub fn of(&mut self, graph: &Icfg, node: NodeId) -> &[DirectionId] {
        self.function(graph, node).on.get(&node).map(Vec::as_slice).unwrap_or_default()
    }

    fn function(&mut self, graph: &Icfg, node: NodeId) -> &OfFunction {
        let function = graph.node(node).function;
        self.by_function.entry(function).or_insert_with(|| dependences(graph, function))
    }
}

fn dependences(graph: &Icfg, function: FunctionId) -> OfFunction {
    let nodes = graph.nodes_of(function);
    let number = |node: NodeId| node.0 - nodes.start;
    let end = nodes.end - nodes.start;
    let mut backwards: Vec<(u32, u32)> = Vec::new();
    for node in nodes.clone().map(NodeId) {
        let successors = graph.successors(node);
        backwards.extend(successors.iter().map(|next| (number(*next), number(node))));
        if successors.is_empty() {
            backwards.push((end, number(node)));
        }
    }
    let passed = Dominators::of(&Digraph::new(end as usize + 1, &backwards), end);
    let mut found = OfFunction::default();
    for node in nodes.clone().map(NodeId) {
        let Exit::Choose(directions) = &graph.node(node).exit else { continue };
        // a node that comes again and again depends on its own branch
        let chain = passed.chain(number(node)).unwrap_or_default();
        let mut always: BTreeSet<u32> = chain.into_iter().collect();
        always.remove(&number(node));
        for direction in directions {
            let targets = graph.directions[direction.index()].targets.iter();
            let led: BTreeSet<u32> =
                targets.flat_map(|next| passed.chain(number(*next)).unwrap_or_default()).collect();
            for led in led.difference(&always).filter(|led| **led != end) {
                found.on.entry(NodeId(nodes.start + led)).or_default().push(*direction);
            }
        }
    }
    found
}

/// The directions that a place depends on within its function, in the order of the code.
pub fn directions_to(graph: &Icfg, place: Place) -> Vec<DirectionId> {
    ControlDependence::default().of(graph, graph.at(place)).to_vec()
}

/// How far every direction is from a place, by the branches that come between, through calls: 0 for those that the place itself
/// depends on, 1 for those that these branches depend on, and so on. The approach level of search-based testing.
pub fn approach(
    dependence: &mut ControlDependence,
    program: &Program,
    graph: &Icfg,
    place: Place,
) -> BTreeMap<(Site, Choice), u32> {
    let mut levels: BTreeMap<(Site, Choice), u32> = BTreeMap::new();
    let mut seen: BTreeSet<NodeId> = BTreeSet::new();
    let mut open = vec![graph.at(place)];
    for level in 0.. {
        let mut next = Vec::new();
        // callers count as the same level: a call is no branch
        while let Some(node) = open.pop() {
            if !seen.insert(node) {
                continue;
            }
            let function = graph.node(node).function;
            let directions = dependence.of(graph, node).to_vec();
            for direction in &directions {
                let direction = &graph.directions[direction.index()];
                levels.entry((direction.site, direction.choice)).or_insert(level);
                next.extend(&direction.sources);
            }
            let is_loop = |direction: &DirectionId| graph.directions[direction.index()].sources == [node];
            if directions.iter().all(is_loop) {
                open.extend(calls_of(program, graph, function));
            }
        }
        if next.is_empty() {
            break;
        }
        open = next;
    }
    levels
}

/// The nodes that call a function by its name.
fn calls_of(program: &Program, graph: &Icfg, callee: FunctionId) -> Vec<NodeId> {
    let calls = |id: &NodeId| match graph.node(*id).exit {
        Exit::Call { callees: Callees::One(one), .. } => one == callee,
        Exit::Call { callees: Callees::Indirect | Callees::Unknown, .. } => {
            graph.address_taken.contains(&callee) && is_indirect(program, graph, *id)
        }
        Exit::Jump(_) | Exit::Choose(_) | Exit::Follow(_) | Exit::Return | Exit::Dead => false,
    };
    graph.ids().filter(calls).collect()
}

fn is_indirect(program: &Program, graph: &Icfg, id: NodeId) -> bool {
    let node = graph.node(id);
    let place = Place { function: node.function, block: node.block, at: node.end.saturating_sub(1) };
    matches!(place.op(program), Some(Op::Call { callee: model::Callee::Indirect(_), .. }))
}
