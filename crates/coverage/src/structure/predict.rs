//! How much may a candidate cover? The score of predictive path search: the open goals within a number of levels behind the
//! flip, where a level is one choice further down, through calls and returns.
//!
//! Limit: at most [`MAX_VISITS`] nodes are looked at, so a flip before code without choices as long as that scores less
//! than it might.

use std::collections::{BTreeSet, VecDeque};

use analysis::distance::FAR;
use analysis::icfg::{Callees, Exit, NodeId};

use super::{ContextId, OutlookId, Structure};
use crate::{Coverage, GoalId};

const MAX_VISITS: usize = 4096;

/// A call stack: one that is known, or one with a call made while looking ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Stack {
    Known(ContextId),
    Ahead(usize),
}

/// A node that the walk looks at, under a call stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Visit {
    node: NodeId,
    stack: Stack,
}

struct Walk<'s> {
    structure: &'s Structure<'s>,
    coverage: &'s Coverage,
    /// Stacks made while looking ahead: what is below, and where to return to.
    ahead: Vec<(Stack, NodeId)>,
    seen: BTreeSet<Visit>,
    /// Visits with the number of choices before them.
    open: VecDeque<(Visit, u32)>,
    goals: BTreeSet<GoalId>,
}

impl Structure<'_> {
    /// How many open goals lie within `n_levels` choices behind the flip, what it covers itself among them. It never rises
    /// as more is covered.
    pub fn potential(&self, id: OutlookId, n_levels: u32, coverage: &Coverage) -> usize {
        let outlook = &self.outlooks[id.index()];
        let Some(direction) = outlook.direction else { return 0 };
        let mut goals: BTreeSet<GoalId> = self.certain(outlook, direction, coverage).into_iter().collect();
        goals.extend(self.attainable(outlook, direction, coverage));
        let (ahead, seen, open) = (Vec::new(), BTreeSet::new(), VecDeque::new());
        let mut walk = Walk { structure: self, coverage, ahead, seen, open, goals };
        for target in &self.graph.directions[direction.index()].targets {
            walk.go(*target, Stack::Known(outlook.context), 0);
        }
        walk.walk(n_levels);
        walk.goals.len()
    }
}

impl Walk<'_> {
    fn walk(&mut self, n_levels: u32) {
        while let Some((visit, level)) = self.open.pop_front() {
            if self.seen.len() > MAX_VISITS {
                return;
            }
            let Visit { node, stack } = visit;
            let (attached, graph) = (&self.structure.attached, &self.structure.graph);
            let is_choice = matches!(graph.node(node).exit, Exit::Choose(_));
            let here = match (is_choice, level < n_levels) {
                (true, true) => &attached.around[node.index()],
                (true, false) | (false, _) => &attached.on_entry[node.index()],
            };
            self.goals.extend(here.iter().copied().filter(|goal| self.coverage.is_open(*goal)));
            match &graph.node(node).exit {
                Exit::Choose(_) if level == n_levels => {}
                Exit::Choose(_) => {
                    graph.successors(node).iter().for_each(|to| self.choose(*to, stack, level + 1));
                }
                Exit::Jump(_) | Exit::Follow(_) => {
                    graph.successors(node).iter().for_each(|to| self.go(*to, stack, level));
                }
                Exit::Call { callees, then } => self.call(*callees, *then, stack, level),
                Exit::Return => {
                    if let Some((back, below)) = self.pop(stack) {
                        self.go(back, below, level);
                    }
                }
                Exit::Dead => {}
            }
        }
    }

    fn call(&mut self, callees: Callees, then: Option<NodeId>, stack: Stack, level: u32) {
        let graph = &self.structure.graph;
        let entries: Vec<NodeId> = match callees {
            Callees::One(callee) => graph.entry(callee).into_iter().collect(),
            Callees::Indirect => {
                graph.address_taken.iter().filter_map(|callee| graph.entry(*callee)).collect()
            }
            // whether it calls back is a guess, that it returns is not
            Callees::Unknown => Vec::new(),
        };
        let returns =
            entries.is_empty() || entries.iter().any(|entry| self.structure.routes.to_return(*entry) < FAR);
        if entries.is_empty() || then.is_some_and(|then| self.is_waiting_at(stack, then)) {
            then.into_iter().filter(|_| returns).for_each(|then| self.go(then, stack, level));
            return;
        }
        let inside = match then {
            Some(back) => {
                self.ahead.push((stack, back));
                Stack::Ahead(self.ahead.len() - 1)
            }
            None => Stack::Known(ContextId::ROOT),
        };
        entries.into_iter().for_each(|entry| self.go(entry, inside, level));
    }

    /// Whether a call made ahead returns there: entering its callee once more would find the same again.
    fn is_waiting_at(&self, mut stack: Stack, back: NodeId) -> bool {
        while let Stack::Ahead(index) = stack {
            let (below, other) = self.ahead[index];
            if other == back {
                return true;
            }
            stack = below;
        }
        false
    }

    fn pop(&self, stack: Stack) -> Option<(NodeId, Stack)> {
        match stack {
            Stack::Known(context) => {
                let (back, below) = self.structure.stacks.pop(context)?;
                Some((back, Stack::Known(below)))
            }
            Stack::Ahead(index) => {
                let (below, back) = self.ahead[index];
                Some((back, below))
            }
        }
    }

    /// Further on the same level: before what is one level down.
    fn go(&mut self, node: NodeId, stack: Stack, level: u32) {
        let visit = Visit { node, stack };
        if self.seen.insert(visit) {
            self.open.push_front((visit, level));
        }
    }

    fn choose(&mut self, node: NodeId, stack: Stack, level: u32) {
        let visit = Visit { node, stack };
        if self.seen.insert(visit) {
            self.open.push_back((visit, level));
        }
    }
}
