//! The inter-procedural control flow graph with composite decisions split into conditions.
//!
//! Method: blocks are split after every condition and every call, so that a node decides one thing at its end. An indirect
//! call may go to every function whose address is taken; a call of unknown code may call back any of them, or jump to any
//! `setjmp` if it does not return.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use model::walk::{Call, Choice, Site};
use model::{BlockId, Callee, ConditionId, Decided, Function, FunctionId, Op, Program, Terminator};

use crate::Place;
use crate::call_graph::address_taken;

/// A stretch of code without a choice or call but at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

/// A site together with an outcome that it can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DirectionId(pub u32);

impl NodeId {
    /// The id as an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl DirectionId {
    /// The id as an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Code that runs from its first instruction to its last, or ends the run.
pub struct Node {
    pub function: FunctionId,
    pub block: BlockId,
    /// The first instruction in the block.
    pub first: u32,
    /// The one behind the last; the block's terminator counts as an instruction.
    pub end: u32,
    /// What passing it costs: its instructions and the step to the next node.
    pub weight: u32,
    pub exit: Exit,
}

impl Node {
    /// Where it begins.
    pub fn place(&self) -> Place {
        Place { function: self.function, block: self.block, at: self.first }
    }
}

/// What happens at the end of a node.
pub enum Exit {
    Jump(NodeId),
    /// The directions of one site.
    Choose(Vec<DirectionId>),
    /// A choice that was made before.
    Follow(Vec<NodeId>),
    /// `then` is missing when the callee never comes back.
    Call {
        callees: Callees,
        then: Option<NodeId>,
    },
    Return,
    /// Control goes nowhere that is known.
    Dead,
}

/// What a call may enter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Callees {
    One(FunctionId),
    /// Any function whose address is taken.
    Indirect,
    /// Code that is not known, which may call any function whose address is taken.
    Unknown,
}

/// A branch direction: a site and an outcome that it can have.
pub struct Direction {
    pub site: Site,
    pub choice: Choice,
    /// Usually one; several when the compiler made the site more than once.
    pub targets: Vec<NodeId>,
    /// The nodes that choose it.
    pub sources: Vec<NodeId>,
}

/// The graph of a whole program.
pub struct Icfg {
    /// Indexed by [`NodeId`].
    pub nodes: Vec<Node>,
    /// Indexed by [`DirectionId`].
    pub directions: Vec<Direction>,
    /// What indirect calls may enter.
    pub address_taken: Vec<FunctionId>,
    /// Where `setjmp` comes back to.
    pub landings: Vec<NodeId>,
    by_choice: BTreeMap<(Site, Choice), DirectionId>,
    /// By function and block: the nodes with their first instructions, in order.
    segments: Vec<Vec<Vec<(u32, NodeId)>>>,
    /// By node.
    successors: Vec<Vec<NodeId>>,
}

impl Icfg {
    /// The graph of a program.
    pub fn new(program: &Program) -> Self {
        let address_taken = address_taken(program).into_iter();
        let mut graph = Self {
            nodes: Vec::new(),
            directions: Vec::new(),
            address_taken: address_taken.filter(|id| program.function(*id).is_defined()).collect(),
            landings: Vec::new(),
            by_choice: BTreeMap::new(),
            segments: Vec::new(),
            successors: Vec::new(),
        };
        // nodes first, because edges name them
        for (function, id) in program.functions.iter().zip((0..).map(FunctionId)) {
            let blocks = function.blocks().map(|(block, _)| graph.cut(program, id, block)).collect();
            graph.segments.push(blocks);
        }
        for (function, id) in program.functions.iter().zip((0..).map(FunctionId)) {
            for (block, _) in function.blocks() {
                graph.connect(program, id, block);
            }
        }
        graph.successors = graph.nodes.iter().map(|node| graph.steps(&node.exit)).collect();
        graph
    }

    /// Where a function begins; `None` when its code is not known.
    pub fn entry(&self, function: FunctionId) -> Option<NodeId> {
        Some(self.segments[function.index()].first()?[0].1)
    }

    /// How many functions the program has.
    pub fn n_functions(&self) -> usize {
        self.segments.len()
    }

    /// The nodes of a function, which follow each other.
    pub fn nodes_of(&self, function: FunctionId) -> Range<u32> {
        let segments = &self.segments[function.index()];
        let first = segments.first().and_then(|block| block.first());
        let last = segments.last().and_then(|block| block.last());
        first.zip(last).map(|((_, first), (_, last))| first.0..last.0 + 1).unwrap_or_default()
    }

    /// Where a block begins.
    pub fn block(&self, function: FunctionId, block: BlockId) -> NodeId {
        self.segments[function.index()][block.index()][0].1
    }

    /// The node that a place belongs to.
    pub fn at(&self, place: Place) -> NodeId {
        self.node_at(place.function, place.block, place.at)
    }

    /// The node that this instruction of a block belongs to.
    pub fn node_at(&self, function: FunctionId, block: BlockId, at: u32) -> NodeId {
        let segments = &self.segments[function.index()][block.index()];
        let after = segments.partition_point(|(first, _)| *first <= at);
        segments[after.saturating_sub(1)].1
    }

    /// Where a call comes back to.
    pub fn after(&self, call: Call) -> NodeId {
        self.node_at(call.function, call.block, call.at + 1)
    }

    /// The direction of a choice at a site.
    pub fn direction(&self, site: Site, choice: Choice) -> Option<DirectionId> {
        self.by_choice.get(&(site, choice)).copied()
    }

    /// A node by its id.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    /// All nodes in order.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = NodeId> + use<> {
        let n_nodes = u32::try_from(self.nodes.len()).expect("fewer than 2^32 nodes");
        (0..n_nodes).map(NodeId)
    }

    /// Adds the nodes of a block.
    fn cut(&mut self, program: &Program, function: FunctionId, block: BlockId) -> Vec<(u32, NodeId)> {
        let code = program.function(function);
        let instrs = &code.block(block).instrs;
        let cuts = instrs.iter().zip(1..).filter(|(id, _)| ends_node(program, &code.instr(**id).op));
        let mut ends: Vec<u32> = cuts.map(|(_, end)| end).collect();
        // the branch that a condition decides is taken at once when nothing else happens before it
        let last = ends.last().map(|end| &code.instr(instrs[*end as usize - 1]).op);
        if let (Some(Op::Mark { condition, .. }), Some(decided)) = (last, decided(code, block))
            && *condition == decided.condition
        {
            ends.pop();
        }
        let mut segments = Vec::new();
        let mut first = 0;
        for end in ends {
            let weight = 1 + end - first;
            segments.push((first, self.add(Node { function, block, first, end, weight, exit: Exit::Dead })));
            first = end;
        }
        let end = number(instrs.len()) + 1;
        let weight = end - first;
        segments.push((first, self.add(Node { function, block, first, end, weight, exit: Exit::Dead })));
        segments
    }

    fn add(&mut self, node: Node) -> NodeId {
        self.nodes.push(node);
        NodeId(number(self.nodes.len() - 1))
    }

    fn connect(&mut self, program: &Program, id: FunctionId, block_id: BlockId) {
        let function = program.function(id);
        let block = function.block(block_id);
        let segments = self.segments[id.index()][block_id.index()].clone();
        for pair in segments.windows(2) {
            let ((_, node), (end, next)) = (pair[0], pair[1]);
            let op = &function.instr(block.instrs[end as usize - 1]).op;
            let exit = match op {
                Op::Mark { condition, .. } => self.condition(node, *condition, [next, next]),
                Op::Call { callee, .. } => self.call(program, callee, next),
                _ => unreachable!("only conditions and calls cut a block"),
            };
            self.nodes[node.index()].exit = exit;
        }
        let (first, node) = segments[segments.len() - 1];
        let exit = self.terminator(program, id, block_id, first, node);
        self.nodes[node.index()].exit = exit;
    }

    /// The directions of a condition; `targets` when it holds and when not.
    fn condition(&mut self, node: NodeId, condition: ConditionId, targets: [NodeId; 2]) -> Exit {
        let directions = [(true, targets[0]), (false, targets[1])].map(|(value, target)| {
            self.add_way(node, Site::Condition(condition), Choice::Outcome(value), target)
        });
        Exit::Choose(directions.into())
    }

    fn call(&mut self, program: &Program, callee: &Callee, next: NodeId) -> Exit {
        let (callees, returns) = match callee {
            Callee::Indirect(_) => (Callees::Indirect, true),
            Callee::Direct(id) => {
                let callee = program.function(*id);
                if callee.returns_twice {
                    self.landings.push(next);
                    return Exit::Jump(next);
                }
                let callees = if callee.is_defined() { Callees::One(*id) } else { Callees::Unknown };
                (callees, !callee.no_return)
            }
        };
        Exit::Call { callees, then: returns.then_some(next) }
    }

    /// How the last node of a block, which begins at the instruction `first`, is left.
    fn terminator(
        &mut self,
        program: &Program,
        id: FunctionId,
        block: BlockId,
        first: u32,
        node: NodeId,
    ) -> Exit {
        let function = program.function(id);
        let code = function.block(block);
        match &code.terminator {
            Terminator::Jump(to) => Exit::Jump(self.block(id, *to)),
            Terminator::Branch { then, otherwise, decided: Some(decided), .. } => {
                let targets = [self.block(id, *then), self.block(id, *otherwise)];
                let marks =
                    |op: &Op| matches!(op, Op::Mark { condition, .. } if *condition == decided.condition);
                if code.instrs[first as usize..].iter().any(|instr| marks(&function.instr(*instr).op)) {
                    let [then, otherwise] = targets;
                    let targets = if decided.negated { [otherwise, then] } else { [then, otherwise] };
                    self.condition(node, decided.condition, targets)
                } else {
                    Exit::Follow(targets.into())
                }
            }
            Terminator::Branch { then, otherwise, decided: None, .. } => {
                let directions = [(true, then), (false, otherwise)].map(|(value, to)| {
                    let target = self.block(id, *to);
                    self.add_way(node, Site::Branch(id, block), Choice::Outcome(value), target)
                });
                Exit::Choose(directions.into())
            }
            Terminator::Switch { cases, default, .. } => {
                let numbers = (0..).map(Choice::Case);
                let choices =
                    cases.iter().map(|case| case.target).zip(numbers).chain([(*default, Choice::Default)]);
                let directions = choices.map(|(to, choice)| {
                    let target = self.segments[id.index()][to.index()][0].1;
                    self.add_way(node, Site::Switch(id, block), choice, target)
                });
                Exit::Choose(directions.collect())
            }
            Terminator::IndirectJump { targets, .. } => {
                Exit::Follow(targets.iter().map(|to| self.block(id, *to)).collect())
            }
            Terminator::Return(_) => Exit::Return,
            Terminator::Unreachable => Exit::Dead,
        }
    }

    fn add_way(&mut self, source: NodeId, site: Site, choice: Choice, target: NodeId) -> DirectionId {
        let id = *self.by_choice.entry((site, choice)).or_insert_with(|| {
            self.directions.push(Direction { site, choice, targets: Vec::new(), sources: Vec::new() });
            DirectionId(number(self.directions.len() - 1))
        });
        let direction = &mut self.directions[id.index()];
        direction.targets.push(target);
        direction.sources.push(source);
        id
    }

    /// Where control may go from a node within its function, each once and in order; calls are passed.
    pub fn successors(&self, id: NodeId) -> &[NodeId] {
        &self.successors[id.index()]
    }

    fn steps(&self, exit: &Exit) -> Vec<NodeId> {
        let targets = |direction: &DirectionId| &self.directions[direction.index()].targets;
        let steps: BTreeSet<NodeId> = match exit {
            Exit::Jump(to) => BTreeSet::from([*to]),
            Exit::Choose(directions) => directions.iter().flat_map(targets).copied().collect(),
            Exit::Follow(targets) => targets.iter().copied().collect(),
            Exit::Call { then, .. } => then.iter().copied().collect(),
            Exit::Return | Exit::Dead => BTreeSet::new(),
        };
        steps.into_iter().collect()
    }
}

/// The condition that decides the branch at the end of a block.
fn decided(function: &Function, block: BlockId) -> Option<Decided> {
    match &function.block(block).terminator {
        Terminator::Branch { decided, .. } => *decided,
        Terminator::Jump(_)
        | Terminator::Switch { .. }
        | Terminator::IndirectJump { .. }
        | Terminator::Return(_)
        | Terminator::Unreachable => None,
    }
}

fn ends_node(program: &Program, op: &Op) -> bool {
    match op {
        Op::Mark { .. } | Op::Call { callee: Callee::Indirect(_), .. } => true,
        Op::Call { callee: Callee::Direct(id), .. } => {
            let callee = program.function(*id);
            callee.is_defined() || !callee.name.starts_with("llvm.")
        }
        _ => false,
    }
}

fn number(index: usize) -> u32 {
    u32::try_from(index).expect("fewer than 2^32 of anything")
}
