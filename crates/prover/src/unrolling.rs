//! How far is an unrolling: which states wait where, which is executed next, what did the harness decide?
//!
//! Method: states wait at nodes in a weak topological order, and the first is next, so a loop ends before what is behind it
//! begins. A head that was entered too often since its loop began ends these runs, which is noted.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use model::input::Key;
use model::{BlockId, FunctionId};

use crate::graph::{Graph, Node};
use crate::state::State;
use crate::terms::{Bits, ObjectId, Truth};
use crate::wto::ranks;

/// The place of a node in the order: its block and position, behind those of the calls that lead there.
pub(crate) type Rank = Vec<(u32, usize)>;

/// Places of nodes in the order.
#[derive(Default)]
pub(crate) struct Ranks {
    blocks: HashMap<FunctionId, BTreeMap<BlockId, u32>>,
}

impl Ranks {
    pub(crate) fn of(&mut self, graph: &Graph<'_>, node: Node) -> Rank {
        let mut rank = Vec::new();
        let mut at = Some(node);
        while let Some(node) = at {
            let activation = graph.context(node.context);
            let function = activation.function;
            let make = || ranks(graph.program.function(function));
            let of_block = self.blocks.entry(function).or_insert_with(make)[&node.block];
            rank.push((of_block, node.position));
            at = activation.caller.map(|(_, call)| call);
        }
        rank.reverse();
        rank
    }
}

/// What the shape of an input is taken from.
#[derive(Clone, Debug)]
pub(crate) struct Template {
    /// Choices and sizes; the values of cells do not count.
    pub(crate) values: BTreeMap<Key, u64>,
    /// Elements of each array at least, as far as arrays may grow.
    pub(crate) least_size: u64,
}

/// An object of the harness, for pointers that share it and numbers that count its elements.
pub(crate) struct Named<'m> {
    pub(crate) address: Bits<'m>,
    pub(crate) object: Option<ObjectId>,
    pub(crate) ty: u128,
    pub(crate) n_elements: u64,
}

/// How far an unrolling is.
pub(crate) struct Unrolling<'m> {
    pub(crate) template: Template,
    max_iterations: usize,
    waiting: BTreeMap<Rank, (Node, Vec<State<'m>>)>,
    ranks: Ranks,
    /// How often heads of loops were entered since their loops began.
    entered: BTreeMap<Rank, usize>,
    /// Cells by key, with the values that they have in a model.
    pub(crate) cells: BTreeMap<Key, Bits<'m>>,
    /// What the harness decided before anything ran: choices and sizes.
    pub(crate) decided: BTreeMap<Key, u64>,
    pub(crate) named: Vec<Named<'m>>,
    pub(crate) facts: Vec<Truth<'m>>,
    /// Whether some runs were ended early.
    pub(crate) is_cut_short: bool,
    /// What was not followed exactly.
    pub(crate) approximations: BTreeSet<String>,
}

impl<'m> Unrolling<'m> {
    pub(crate) fn new(template: Template, max_iterations: usize) -> Self {
        Self {
            template,
            max_iterations,
            waiting: BTreeMap::new(),
            ranks: Ranks::default(),
            entered: BTreeMap::new(),
            cells: BTreeMap::new(),
            decided: BTreeMap::new(),
            named: Vec::new(),
            facts: Vec::new(),
            is_cut_short: false,
            approximations: BTreeSet::new(),
        }
    }

    /// A state waits until its node is executed.
    pub(crate) fn wait(&mut self, graph: &Graph<'_>, node: Node, state: State<'m>) {
        let rank = self.ranks.of(graph, node);
        self.waiting.entry(rank).or_insert_with(|| (node, Vec::new())).1.push(state);
    }

    /// The node to execute next.
    pub(crate) fn next(&mut self, graph: &Graph<'_>) -> Option<(Node, Vec<State<'m>>)> {
        loop {
            let (rank, (node, states)) = self.waiting.pop_first()?;
            // loops behind it begin anew
            let mut behind = self.entered.split_off(&rank);
            if graph.cut_at(node).is_some() {
                let n_before = behind.remove(&rank).unwrap_or(0);
                if n_before > self.max_iterations {
                    self.is_cut_short = true;
                    continue;
                }
                self.entered.insert(rank, n_before + 1);
            }
            return Some((node, states));
        }
    }
}
