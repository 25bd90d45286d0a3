//! How far is a run from a branch? The approach level of search-based testing, on the inter-procedural graph.
//!
//! Method: a node is controlled by the branches after which every path to the end of the function passes it (control
//! dependence, from post-dominators). A target is chosen at its own node, level 0; the nodes that control this are level 1,
//! and so on to the entry of the function, behind which come the calls of it and what controls these. A run that comes to a
//! node of level *n* and to none below took a wrong direction there; the wanted ones are known. Limit: calls through
//! pointers do not count as calls of a function, and [`MAX_CALLS`] callers are looked at one behind the other.

use std::collections::{BTreeMap, BTreeSet};

use model::FunctionId;

use crate::chaining::ControlDependence;
use crate::icfg::{Callees, DirectionId, Exit, Icfg, NodeId};

/// Callers one behind the other.
const MAX_CALLS: usize = 16;

/// By how many wrong directions runs that come to a node are away from a target.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Approach {
    /// By node: its level, and the directions there that lead on.
    pub stages: BTreeMap<NodeId, Stage>,
}

/// A node on the way to a target.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stage {
    pub level: u32,
    pub wanted: BTreeSet<DirectionId>,
}

/// The callers of each function, by the nodes that call them.
pub type Callers = BTreeMap<FunctionId, Vec<NodeId>>;

/// Who calls what by name.
pub fn callers(graph: &Icfg) -> Callers {
    let mut callers: Callers = BTreeMap::new();
    for id in graph.ids() {
        if let Exit::Call { callees: Callees::One(callee), .. } = &graph.node(id).exit {
            callers.entry(*callee).or_default().push(id);
        }
    }
    callers
}

impl Approach {
    /// To a direction.
    pub fn to(
        target: DirectionId,
        graph: &Icfg,
        dependence: &mut ControlDependence,
        callers: &Callers,
    ) -> Self {
        let mut approach = Self::default();
        let mut open = graph.directions[target.index()].sources.clone();
        for source in &open {
            approach.stages.insert(*source, Stage { level: 0, wanted: BTreeSet::from([target]) });
        }
        for _ in 0..MAX_CALLS {
            let Some(first) = open.first() else { break };
            let function = graph.node(*first).function;
            let highest = approach.climb(open, graph, dependence);
            let calls = callers.get(&function).map(Vec::as_slice).unwrap_or_default();
            open = calls.iter().copied().filter(|call| !approach.stages.contains_key(call)).collect();
            for call in &open {
                approach.stages.insert(*call, Stage { level: highest + 1, wanted: BTreeSet::new() });
            }
        }
        approach
    }

    /// Adds what controls these nodes, one behind the other; the highest level.
    fn climb(&mut self, mut open: Vec<NodeId>, graph: &Icfg, dependence: &mut ControlDependence) -> u32 {
        let levels = open.iter().filter_map(|node| self.stages.get(node)).map(|stage| stage.level);
        let mut highest = levels.max().unwrap_or(0);
        while !open.is_empty() {
            let mut next = Vec::new();
            for node in open {
                let level = self.stages[&node].level + 1;
                for direction in dependence.of(graph, node).to_vec() {
                    for controlling in &graph.directions[direction.index()].sources {
                        let known = self.stages.entry(*controlling).or_insert_with(|| {
                            next.push(*controlling);
                            Stage { level, wanted: BTreeSet::new() }
                        });
                        if known.level == level {
                            known.wanted.insert(direction);
                            highest = highest.max(level);
                        }
                    }
                }
            }
            open = next;
        }
        highest
    }
}

/// The places of nodes in depth-first order from the root: what comes before something else in control flow has the smaller number.
/// Nodes that are not reached have none.
pub fn depth_first_order(graph: &Icfg, root: FunctionId) -> BTreeMap<NodeId, usize> {
    let Some(entry) = graph.entry(root) else { return BTreeMap::new() };
    let steps = |id: NodeId| -> Vec<NodeId> {
        let callee = match &graph.node(id).exit {
            Exit::Call { callees: Callees::One(callee), .. } => graph.entry(*callee),
            _ => None,
        };
        let called: Vec<NodeId> = match &graph.node(id).exit {
            Exit::Call { callees: Callees::Indirect, .. } => {
                graph.address_taken.iter().filter_map(|function| graph.entry(*function)).collect()
            }
            _ => Vec::new(),
        };
        // in the reverse of the order in which nodes finish, what is visited first comes last: calls come before what follows them
        graph.successors(id).iter().copied().chain(called).chain(callee).collect()
    };
    let mut finished = Vec::new();
    let mut seen = BTreeSet::from([entry]);
    let mut stack = vec![(entry, steps(entry), 0)];
    while let Some((node, next, at)) = stack.last_mut() {
        match next.get(*at).copied() {
            Some(step) => {
                *at += 1;
                if seen.insert(step) {
                    stack.push((step, steps(step), 0));
                }
            }
            None => {
                finished.push(*node);
                stack.pop();
            }
        }
    }
    finished.into_iter().rev().zip(0..).collect()
}

#[cfg(test)]
mod tests {
    use model::walk::{Choice, Site};
    use model::{BlockId, Program};

    use super::*;
    use crate::random::{Do, To, program};

    /// `if (a) { if (b) { if (c) {} } } do {} while (d);`, called by the root behind a branch.
    fn nested() -> Program {
        let caller = vec![(vec![], To::Branch(1, 2)), (vec![Do::Call(1)], To::Jump(2)), (vec![], To::Return)];
        let callee = vec![
            (vec![], To::Branch(1, 4)),
            (vec![], To::Branch(2, 4)),
            (vec![], To::Branch(3, 4)),
            (vec![], To::Jump(4)),
            (vec![], To::Branch(4, 5)),
            (vec![], To::Return),
        ];
        program(&[caller, callee])
    }

    fn direction(graph: &Icfg, function: u32, block: u32) -> DirectionId {
        let site = Site::Branch(FunctionId(function), BlockId(block));
        graph.direction(site, Choice::Outcome(true)).expect("it is there")
    }

    #[test]
    fn levels_count_the_branches_in_front_also_of_callers() {
        let program = nested();
        let graph = Icfg::new(&program);
        let mut dependence = ControlDependence::default();
        let approach = Approach::to(direction(&graph, 1, 2), &graph, &mut dependence, &callers(&graph));
        let level = |(function, block): (u32, u32)| {
            let node = graph.block(FunctionId(function), BlockId(block));
            approach.stages.get(&node).map(|stage| stage.level)
        };
        assert_eq!(
            [(1, 2), (1, 1), (1, 0), (1, 3), (1, 4)].map(level),
            [Some(0), Some(1), Some(2), None, None]
        );
        assert_eq!([(0, 1), (0, 0), (0, 2)].map(level), [Some(3), Some(4), None]);
        let entry = graph.block(FunctionId(1), BlockId(0));
        assert_eq!(approach.stages[&entry].wanted, BTreeSet::from([direction(&graph, 1, 0)]));
    }

    #[test]
    fn what_comes_first_in_control_flow_comes_first() {
        let program = nested();
        let graph = Icfg::new(&program);
        let order = depth_first_order(&graph, FunctionId(0));
        let place = |function: u32, block: u32| order[&graph.block(FunctionId(function), BlockId(block))];
        let places =
            [place(0, 0), place(0, 1), place(1, 0), place(1, 1), place(1, 2), place(1, 4), place(1, 5)];
        assert!(places.is_sorted(), "{places:?}");
        assert!(place(0, 1) < place(0, 2));
    }
}
