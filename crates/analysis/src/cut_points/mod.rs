//! Cut points (data-flow testing by DSE and model checking, section III): which control points must every path pass that
//! carries a definition to a use, and in which order?
//!
//! Method: dominators over valid paths, on which calls and returns match. A path is folded: a call that returned is one
//! step from the call to the point after it, and the remaining steps stay within functions, enter callees that are not left
//! again, or (after the definition) leave functions that were active at the definition. On this folded graph ordinary
//! dominators suffice: those of the definition from the root, on call chains from which the use can be reached, then those
//! of the use from after the definition. A call that every path makes and returns from is unfolded: what every path through
//! its callee passes is passed there.
//!
//! Paths after the definition avoid what kills it. Every call that may jump may return to `setjmp`. Limit: code called from
//! several places of which none is on every path (both sides of a branch call it) is not found, and neither is what happens
//! only inside an indirect call. In the choice of call chains, activations of a recursive function are not distinguished.

mod folded;
mod kills;
mod numbering;
mod prefix;
mod region;
mod returned;
mod steps;

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::sync::OnceLock;

use model::FunctionId;

use crate::Place;
use crate::distance::{FAR, Routes};
use crate::dominators::{Digraph, Dominators};
use crate::icfg::{Callees, Exit, Icfg, NodeId};
use folded::Folded;
use kills::Kills;
use prefix::Chains;
use region::Region;
pub use returned::Returned;

/// A definition, and how its value may be lost before it is used.
#[derive(Clone, Copy, Debug)]
pub struct DefinedValue<'k> {
    pub place: Place,
    pub extent: Extent,
    /// Where the value is overwritten for certain, as far as that shall be taken into account. The definition counts
    /// only when it is among them.
    pub kills: &'k BTreeSet<Place>,
}

/// Where a value can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Extent {
    /// In the activation that defines it: a local variable whose address nobody has. What other activations of the same
    /// function overwrite is another variable.
    Activation,
    /// In the activation of this function that is open where it is defined, and in what it enters: a local variable whose
    /// address is known. Of a function that may be entered again meanwhile, activations are not told apart.
    Below(FunctionId),
    /// Everywhere.
    Program,
}

impl Extent {
    /// The function that must be active, if it need not be the one that defines.
    fn owner(self) -> Option<FunctionId> {
        match self {
            Self::Below(owner) => Some(owner),
            Self::Activation | Self::Program => None,
        }
    }
}

/// What every path from the root over a definition to a use passes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CutPoints {
    /// In order; nodes of the graph by the places where they begin. The last is the use.
    pub places: Vec<Place>,
    /// Which of the places is the definition.
    pub definition: usize,
}

/// What is known of a program before a pair is asked for.
pub struct Dominance<'a> {
    graph: &'a Icfg,
    routes: &'a Routes,
    root: FunctionId,
    rooted: OnceLock<Folded<'a>>,
    /// By function: the nodes that call it by name.
    callers: Vec<Vec<NodeId>>,
    /// The nodes that call functions by address, or code that may.
    indirect: Vec<NodeId>,
    /// By function: whether indirect calls may enter it.
    is_taken: Vec<bool>,
    /// By function: whether it may jump to a `setjmp`.
    may_jump: Vec<bool>,
    /// By function: what every path through it passes.
    through: Vec<OnceLock<Vec<NodeId>>>,
    /// By function: the functions that may be entered while it is active.
    entered: Vec<OnceLock<Vec<bool>>>,
}

impl<'a> Dominance<'a> {
    /// What is known of the paths from `root`.
    pub fn of(graph: &'a Icfg, routes: &'a Routes, root: FunctionId) -> Self {
        let n_functions = graph.n_functions();
        let mut callers = vec![Vec::new(); n_functions];
        let mut indirect = Vec::new();
        for id in graph.ids() {
            match &graph.node(id).exit {
                Exit::Call { callees: Callees::One(callee), .. } => callers[callee.index()].push(id),
                Exit::Call { callees: Callees::Indirect | Callees::Unknown, .. } => indirect.push(id),
                Exit::Jump(_) | Exit::Choose(_) | Exit::Follow(_) | Exit::Return | Exit::Dead => {}
            }
        }
        let mut is_taken = vec![false; n_functions];
        graph.address_taken.iter().for_each(|taken| is_taken[taken.index()] = true);
        Self {
            graph,
            routes,
            root,
            rooted: OnceLock::new(),
            may_jump: may_jump(graph, &callers, &indirect),
            callers,
            indirect,
            is_taken,
            through: (0..n_functions).map(|_| OnceLock::new()).collect(),
            entered: (0..n_functions).map(|_| OnceLock::new()).collect(),
        }
    }

    /// What every path from the root to a node passes.
    fn rooted(&self) -> &Folded<'a> {
        self.rooted.get_or_init(|| {
            let functions = (0..).map(FunctionId).take(self.graph.n_functions());
            Folded::new(self, self.root, functions, |_, _| true)
        })
    }

    /// What the definition can reach.
    pub fn downstream<'d>(&'d self, definition: DefinedValue<'d>) -> Downstream<'d, 'a> {
        let kills = Kills::new(self, definition);
        let region = Region::new(self, definition, &kills, |_| true);
        Downstream { dominance: self, definition, kills, region, before: OnceCell::new() }
    }

    /// How a definition at this place can reach some of these uses, whatever is defined behind it.
    pub fn downstream_of(&self, place: Place, extent: Extent, uses: &[Place]) -> Downstream<'_, 'a> {
        static NO_KILLS: BTreeSet<Place> = BTreeSet::new();
        let extent = match extent {
            Extent::Below(owner) if self.entered(owner)[owner.index()] => Extent::Program,
            extent => extent,
        };
        let definition = DefinedValue { place, extent, kills: &NO_KILLS };
        let (kills, leading) = (Kills::none(), self.leading(extent, uses));
        let region = Region::new(self, definition, &kills, |callee| leading[callee.index()]);
        Downstream { dominance: self, definition, kills, region, before: OnceCell::new() }
    }

    /// By function: whether a path that enters it and does not leave it again may get to one of the uses.
    fn leading(&self, extent: Extent, uses: &[Place]) -> Vec<bool> {
        let mut leading = vec![false; self.callers.len()];
        let mut open: Vec<FunctionId> = uses.iter().map(|used| used.function).collect();
        if self.landings(extent).next().is_some() {
            open.extend(
                (0..).map(FunctionId).zip(&self.may_jump).filter(|(_, jumps)| **jumps).map(|(id, _)| id),
            );
        }
        let mut by_address = false;
        while let Some(function) = open.pop() {
            if std::mem::replace(&mut leading[function.index()], true) || extent == Extent::Below(function) {
                continue;
            }
            open.extend(self.callers[function.index()].iter().map(|call| self.graph.node(*call).function));
            // whoever calls by address may enter it, and each of them is looked at once
            if self.is_taken[function.index()] && !std::mem::replace(&mut by_address, true) {
                open.extend(self.indirect.iter().map(|call| self.graph.node(*call).function));
            }
        }
        leading
    }

    /// Where `setjmp` may come back to while a value lives.
    fn landings(&self, extent: Extent) -> impl Iterator<Item = NodeId> + '_ {
        let lives = move |node: &NodeId| self.is_below(extent.owner(), self.graph.node(*node).function);
        self.graph.landings.iter().copied().filter(lives)
    }

    /// Whether a function is the owner or may be entered while that is active; without an owner, all are.
    fn is_below(&self, owner: Option<FunctionId>, function: FunctionId) -> bool {
        owner.is_none_or(|owner| function == owner || self.entered(owner)[function.index()])
    }

    /// By function: whether it may be entered while this one is active.
    fn entered(&self, function: FunctionId) -> &[bool] {
        self.entered[function.index()].get_or_init(|| {
            let mut entered = vec![false; self.callers.len()];
            let mut open = vec![function];
            while let Some(caller) = open.pop() {
                for node in self.graph.nodes_of(caller).map(NodeId) {
                    let callees = match &self.graph.node(node).exit {
                        Exit::Call { callees: Callees::One(callee), .. } => std::slice::from_ref(callee),
                        Exit::Call { callees: Callees::Indirect | Callees::Unknown, .. } => {
                            self.graph.address_taken.as_slice()
                        }
                        Exit::Jump(_) | Exit::Choose(_) | Exit::Follow(_) | Exit::Return | Exit::Dead => &[],
                    };
                    for callee in callees {
                        if !std::mem::replace(&mut entered[callee.index()], true) {
                            open.push(*callee);
                        }
                    }
                }
            }
            entered
        })
    }

    /// Whether a call may come back.
    fn returns(&self, callees: Callees) -> bool {
        match callees {
            Callees::One(callee) => {
                self.graph.entry(callee).is_some_and(|entry| self.routes.to_return(entry) < FAR)
            }
            Callees::Indirect | Callees::Unknown => true,
        }
    }

    /// What every path through a function passes that does not meet a kill.
    fn through(&self, function: FunctionId, kills: &Kills) -> Vec<NodeId> {
        if kills.touches(function) {
            self.chain_through(function, kills)
        } else {
            let unhindered = || self.chain_through(function, &Kills::none());
            self.through[function.index()].get_or_init(unhindered).clone()
        }
    }

    fn chain_through(&self, function: FunctionId, kills: &Kills) -> Vec<NodeId> {
        let (base, exit, graph) = self.graph_of(function, kills);
        let mut chain = Dominators::of(&graph, 0).chain(exit).unwrap_or_default();
        chain.pop();
        chain.into_iter().map(|vertex| NodeId(base + vertex)).collect()
    }

    /// The folded graph of one function without what is behind kills; its first node, and the vertex that stands for having
    /// returned.
    fn graph_of(&self, function: FunctionId, kills: &Kills) -> (u32, u32, Digraph) {
        let nodes = self.graph.nodes_of(function);
        let (base, exit) = (nodes.start, nodes.end - nodes.start);
        let mut edges = Vec::new();
        for id in nodes.map(NodeId).filter(|id| kills.passes(self, *id, self.graph.node(*id).first)) {
            let from = id.0 - base;
            match &self.graph.node(id).exit {
                Exit::Return => edges.push((from, exit)),
                _ => edges.extend(self.graph.successors(id).iter().map(|to| (from, to.0 - base))),
            }
        }
        (base, exit, Digraph::new(exit as usize + 1, &edges))
    }

    /// What every path from the root to a node passes, in order; `None` when no path leads there.
    fn before(&self, node: NodeId) -> Option<Vec<NodeId>> {
        Some(self.unfolded(&self.rooted().chain(node)?))
    }

    /// What is passed along a chain of nodes, calls that come back unfolded.
    fn unfolded(&self, chain: &[NodeId]) -> Vec<NodeId> {
        let mut unfolded = Unfolded::default();
        self.unfold(chain, &Kills::none(), &mut unfolded);
        unfolded.nodes
    }

    /// Adds what is passed along a chain of nodes, calls that come back unfolded.
    fn unfold(&self, chain: &[NodeId], kills: &Kills, unfolded: &mut Unfolded) {
        for number in 0..chain.len() {
            unfolded.push(chain[number]);
            self.unfold_call(chain, number, kills, unfolded);
        }
    }

    /// Adds what is passed in the callee when the step from the n-th node of a chain to the next is a call that comes back.
    fn unfold_call(&self, chain: &[NodeId], number: usize, kills: &Kills, unfolded: &mut Unfolded) {
        let exit = &self.graph.node(chain[number]).exit;
        if let Exit::Call { callees: Callees::One(callee), then: Some(then) } = exit
            && chain.get(number + 1) == Some(then)
            && unfolded.functions.insert(*callee)
        {
            self.unfold(&self.through(*callee, kills), kills, unfolded);
        }
    }
}

/// Nodes in the order in which they are passed first.
#[derive(Default)]
struct Unfolded {
    nodes: Vec<NodeId>,
    is_known: BTreeSet<NodeId>,
    /// The functions whose nodes are among them.
    functions: BTreeSet<FunctionId>,
}

impl Unfolded {
    fn push(&mut self, node: NodeId) {
        if self.is_known.insert(node) {
            self.nodes.push(node);
        }
    }
}

/// What a definition can reach.
pub struct Downstream<'d, 'a> {
    dominance: &'d Dominance<'a>,
    definition: DefinedValue<'d>,
    kills: Kills,
    region: Region<'a>,
    /// What every path from the root to the definition passes, whatever the use.
    before: OnceCell<Option<Vec<NodeId>>>,
}

impl Downstream<'_, '_> {
    /// The cut points of the pair with this use; `None` when no path covers it.
    pub fn cut_points(&self, used: Place) -> Option<CutPoints> {
        let graph = self.dominance.graph;
        let (defined, user) = (graph.at(self.definition.place), graph.at(used));
        let (between, targets) = if self.is_straight(used) {
            (Unfolded::default(), Vec::new())
        } else {
            if self.kills.between(user, graph.node(user).first, used.at) {
                return None;
            }
            let targets = self.region.vertices(user);
            (self.between(&targets)?, targets)
        };
        let before = self.before(&targets)?;
        let place = |node: &NodeId| graph.node(*node).place();
        let mut places: Vec<Place> = before.iter().filter(|node| **node != defined).map(place).collect();
        let definition = places.len();
        places.push(self.definition.place);
        places.extend(between.nodes.iter().filter(|node| **node != user).map(place));
        places.push(used);
        Some(CutPoints { places, definition })
    }

    /// Whether the use follows the definition in the same node.
    fn is_straight(&self, used: Place) -> bool {
        let (graph, place) = (self.dominance.graph, self.definition.place);
        let node = graph.at(place);
        node == graph.at(used) && place.at < used.at && !self.kills.between(node, place.at + 1, used.at)
    }

    /// What is passed behind the definition, the node of the use among it.
    fn between(&self, targets: &[u32]) -> Option<Unfolded> {
        let (dominance, place) = (self.dominance, self.definition.place);
        let chain = self.region.chain(targets)?;
        let nodes: Vec<NodeId> = chain.iter().map(|cut| cut.node).collect();
        let mut unfolded = Unfolded::default();
        // the first is where the definition is; unless that is the call at its end, the call is still to come
        if place.at + 1 < dominance.graph.node(nodes[0]).end && self.region.is_only_way(&chain, 0) {
            dominance.unfold_call(&nodes, 0, &self.kills, &mut unfolded);
        }
        for number in 1..nodes.len() {
            unfolded.push(nodes[number]);
            if self.region.is_only_way(&chain, number) {
                dominance.unfold_call(&nodes, number, &self.kills, &mut unfolded);
            }
        }
        Some(unfolded)
    }

    /// What is passed up to the definition, its node among it; `targets` are where the use is in the region.
    fn before(&self, targets: &[u32]) -> Option<Cow<'_, [NodeId]>> {
        match self.chosen_chains(targets) {
            Chains::All => {
                let any = || self.dominance.before(self.dominance.graph.at(self.definition.place));
                self.before.get_or_init(any).as_deref().map(Cow::Borrowed)
            }
            Chains::Some(chain) => Some(Cow::Owned(self.dominance.unfolded(&chain?))),
        }
    }
}

/// By function: whether it may call something that does not return and may jump.
fn may_jump(graph: &Icfg, callers: &[Vec<NodeId>], indirect: &[NodeId]) -> Vec<bool> {
    let mut jumps = vec![false; callers.len()];
    let jumping = |id: &NodeId| matches!(graph.node(*id).exit, Exit::Call { then: None, .. });
    let mut open: Vec<FunctionId> = graph.ids().filter(jumping).map(|id| graph.node(id).function).collect();
    while let Some(function) = open.pop() {
        if !std::mem::replace(&mut jumps[function.index()], true) {
            open.extend(callers[function.index()].iter().map(|id| graph.node(*id).function));
            if graph.address_taken.contains(&function) {
                open.extend(indirect.iter().map(|id| graph.node(*id).function));
            }
        }
    }
    jumps
}

#[cfg(test)]
mod tests;
