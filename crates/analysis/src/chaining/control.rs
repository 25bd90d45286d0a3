//! By which branches does control come to a place?
//!
//! Method: a place depends on a direction when every path from its target passes the place, and not every path from its source
//! does (Ferrante, Ottenstein and Warren). Passing is asked of the dominators of the function's graph turned round. Limit: what
//! cannot come to the end of its function has no answer.

use crate::Place;
use crate::dominators::{Digraph, Dominators};
use crate::icfg::{DirectionId, Exit, Icfg, NodeId};

/// The directions that a place depends on within its function, in the order of the code.
pub fn directions_to(graph: &Icfg, place: Place) -> Vec<DirectionId> {
    let nodes = graph.nodes_of(place.function);
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
    let target = number(graph.at(place));
    let passes = |node: NodeId| passed.chain(number(node)).is_some_and(|chain| chain.contains(&target));
    let mut found = Vec::new();
    for node in nodes.clone().map(NodeId) {
        let Exit::Choose(directions) = &graph.node(node).exit else { continue };
        // a place that comes again and again depends on its own branch
        let is_always = passes(node) && number(node) != target;
        let leads = |id: &&DirectionId| graph.directions[id.index()].targets.iter().any(|next| passes(*next));
        if !is_always {
            found.extend(directions.iter().filter(leads).copied());
        }
    }
    found
}
