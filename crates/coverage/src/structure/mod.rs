//! The coverage structure (coverage-driven DSE, section III): the inter-procedural control flow graph with conditions split,
//! and where in it each goal that is still open can be covered.
//!
//! It tells of a candidate, whatever the criteria are, whether it is worth trying ([`Relevance`]), how much it may cover
//! ([`Structure::potential`]) and how far the nearest open goal is ([`Structure::distance`]). All that matters of a
//! candidate is its [`OutlookId`]: where it turns off, the call stack there, and how far the decision that it turns off in
//! has been evaluated. There are far fewer outlooks than candidates, so judging a pool anew after more has been covered
//! costs one search of the graph and one look at each outlook.

mod attach;
mod evaluation;
mod predict;

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use analysis::Place;
use analysis::call_stack::CallStacks;
pub use analysis::call_stack::ContextId;
use analysis::distance::{Distances, FAR, Routes, Towards};
use analysis::icfg::{Callees, Direction, DirectionId, Exit, Icfg, NodeId};
use model::walk::{Call, Choice, Site};
use model::{BlockId, FunctionId};

use crate::vector::Vector;
use crate::{Coverage, GoalId, Marking};
use attach::Attached;

/// Steps that are followed as certain behind a flip.
const MAX_CERTAIN_STEPS: usize = 1000;

/// Number of an outlook.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OutlookId(u32);

impl OutlookId {
    /// The id as an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a candidate is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Relevance {
    /// Nothing open can be reached.
    Irrelevant,
    /// Something open may be reached.
    May,
    /// A run that follows it covers something open.
    Must,
}

/// Where a function that was called goes on when it returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Back {
    /// Behind the call.
    Behind(Call),
    /// Somewhere in this block, where code that is not known called it.
    Within(FunctionId, BlockId),
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Outlook {
    /// `None` before the first step: everything is ahead.
    direction: Option<DirectionId>,
    context: ContextId,
    /// For a condition among others: the outcomes before it in the same evaluation.
    begun: Option<Vector>,
}

/// The structure of a program and the goals of a campaign.
pub struct Structure<'a> {
    marking: &'a Marking<'a>,
    graph: Icfg,
    routes: Routes,
    attached: Attached,
    stacks: CallStacks,
    outlooks: Vec<Outlook>,
    known: BTreeMap<Outlook, OutlookId>,
    /// By node: whether an open goal is around.
    wanted: Vec<bool>,
    /// How far the nearest one is.
    distances: Distances,
    version: u64,
    /// By outlook: its relevance at a version.
    judged: Vec<Cell<(u64, Relevance)>>,
}

impl<'a> Structure<'a> {
    /// The structure for the goals of `coverage`.
    pub fn new(marking: &'a Marking<'a>, coverage: &Coverage) -> Self {
        let graph = Icfg::new(marking.program());
        let routes = Routes::of(&graph);
        let attached = Attached::new(marking, &graph, coverage);
        let wanted = attached.wanted(coverage);
        Self {
            marking,
            distances: Distances::to_nodes(&graph, &routes, &wanted),
            wanted,
            graph,
            routes,
            attached,
            stacks: CallStacks::default(),
            outlooks: Vec::new(),
            known: BTreeMap::new(),
            version: 1,
            judged: Vec::new(),
        }
    }

    /// Takes in that more has been covered.
    pub fn refresh(&mut self, coverage: &Coverage) {
        let wanted = self.attached.wanted(coverage);
        self.version += 1;
        if wanted != self.wanted {
            self.wanted = wanted;
            self.distances = Distances::to_nodes(&self.graph, &self.routes, &self.wanted);
            self.distances.extend(&self.stacks, &self.routes);
        }
    }

    /// Grows with every [`Self::refresh`].
    pub fn version(&self) -> u64 {
        self.version
    }

    /// The call stack with one more call.
    pub fn context(&mut self, below: ContextId, back: Back) -> ContextId {
        let node = match back {
            Back::Behind(call) => self.graph.after(call),
            Back::Within(function, block) => self.graph.block(function, block),
        };
        let id = self.stacks.push(below, node);
        self.distances.extend(&self.stacks, &self.routes);
        id
    }

    /// The outlook of this direction of a site under a call stack; `begun` as [`crate::observe::Observer::begun`] says.
    pub fn outlook(
        &mut self,
        context: ContextId,
        site: Site,
        choice: Choice,
        begun: Option<Vector>,
    ) -> OutlookId {
        self.intern(Outlook { direction: self.graph.direction(site, choice), context, begun })
    }

    fn intern(&mut self, outlook: Outlook) -> OutlookId {
        if let Some(known) = self.known.get(&outlook) {
            return *known;
        }
        let id = OutlookId(u32::try_from(self.outlooks.len()).expect("fewer than 2^32 outlooks"));
        self.outlooks.push(outlook.clone());
        self.judged.push(Cell::new((0, Relevance::May)));
        self.known.insert(outlook, id);
        id
    }

    /// The outlook of a run that has not begun.
    pub fn start(&mut self) -> OutlookId {
        self.intern(Outlook { direction: None, context: ContextId::ROOT, begun: None })
    }

    /// All outlooks in order.
    pub fn outlooks(&self) -> impl Iterator<Item = OutlookId> + use<> {
        (0..u32::try_from(self.outlooks.len()).expect("fewer than 2^32 outlooks")).map(OutlookId)
    }

    /// What candidates with this outlook are worth. It never rises as more is covered.
    pub fn relevance(&self, id: OutlookId, coverage: &Coverage) -> Relevance {
        let judged = &self.judged[id.index()];
        let (version, relevance) = judged.get();
        if version == self.version || version > 0 && relevance == Relevance::Irrelevant {
            return relevance;
        }
        let relevance = self.judge(id, coverage);
        judged.set((self.version, relevance));
        relevance
    }

    fn judge(&self, id: OutlookId, coverage: &Coverage) -> Relevance {
        let outlook = &self.outlooks[id.index()];
        let Some(direction) = outlook.direction else { return Relevance::May };
        if !self.certain(outlook, direction, coverage).is_empty() {
            return Relevance::Must;
        }
        let reaches =
            self.distance(id).is_some() || !self.attainable(outlook, direction, coverage).is_empty();
        if reaches { Relevance::May } else { Relevance::Irrelevant }
    }

    /// How many instructions it takes from behind the flip to the nearest place where an open goal can be covered; `None`
    /// when there is none. It never falls as more is covered.
    pub fn distance(&self, id: OutlookId) -> Option<u32> {
        let outlook = &self.outlooks[id.index()];
        let direction = &self.graph.directions[outlook.direction?.index()];
        let distance = |target: &NodeId| self.distances.from_node(*target, outlook.context, &self.routes);
        direction.targets.iter().map(distance).min().filter(|distance| *distance < FAR)
    }

    /// How far it is to a place: to be asked by [`Self::distance_towards`].
    pub fn towards(&self, target: Place) -> Towards {
        Towards::new(&self.graph, &self.routes, target)
    }

    /// How many instructions it takes from behind the flip to the place; `None` when no path leads there. Before the first
    /// step it takes none.
    pub fn distance_towards(&self, towards: &mut Towards, id: OutlookId) -> Option<u32> {
        towards.extend(&self.stacks, &self.routes);
        let outlook = &self.outlooks[id.index()];
        let Some(direction) = outlook.direction else { return Some(0) };
        let targets = self.graph.directions[direction.index()].targets.iter();
        targets.filter_map(|node| towards.from_node(&self.graph, &self.routes, *node, outlook.context)).min()
    }

    /// The control flow graph of the program.
    pub fn icfg(&self) -> &Icfg {
        &self.graph
    }

    /// The directions that cover an open goal when they are taken, or may as part of an evaluation.
    pub fn targets(&self, coverage: &Coverage) -> BTreeSet<(Site, Choice)> {
        let directions = self.graph.directions.iter().zip(&self.attached.on_direction);
        let is_target = |(direction, goals): &(&Direction, &Vec<GoalId>)| {
            goals.iter().any(|goal| coverage.is_open(*goal)) || self.may_end_well(direction, coverage)
        };
        directions.filter(is_target).map(|(direction, _)| (direction.site, direction.choice)).collect()
    }

    /// Open goals that a run covers when it follows the flip.
    fn certain(&self, outlook: &Outlook, direction: DirectionId, coverage: &Coverage) -> Vec<GoalId> {
        let open = |goal: &&GoalId| coverage.is_open(**goal);
        let mut goals: Vec<GoalId> =
            self.attached.on_direction[direction.index()].iter().filter(open).copied().collect();
        goals.extend(self.shown(outlook, direction, coverage));
        if let [target] = self.graph.directions[direction.index()].targets[..] {
            self.follow(target, outlook.context, |node| {
                goals.extend(self.attached.on_entry[node.index()].iter().filter(open));
            });
        }
        goals
    }

    /// Goes on from a node as long as there is only one way.
    fn follow(&self, start: NodeId, context: ContextId, mut visit: impl FnMut(NodeId)) {
        let (mut node, mut context, mut calls) = (start, context, Vec::new());
        for _ in 0..MAX_CERTAIN_STEPS {
            visit(node);
            node = match &self.graph.node(node).exit {
                Exit::Jump(to) => *to,
                Exit::Call { callees: Callees::One(callee), then } => {
                    calls.push(*then);
                    self.graph.entry(*callee).expect("a callee with code has an entry")
                }
                Exit::Return => match calls.pop() {
                    Some(Some(back)) => back,
                    Some(None) => return,
                    None => {
                        let Some((back, below)) = self.stacks.pop(context) else { return };
                        context = below;
                        back
                    }
                },
                Exit::Choose(_)
                | Exit::Follow(_)
                | Exit::Dead
                | Exit::Call { callees: Callees::Indirect | Callees::Unknown, .. } => return,
            };
        }
    }
}

#[cfg(test)]
mod tests;
