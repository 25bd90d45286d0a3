//! The inter-procedural control flow graph with composite decisions split into conditions.
//!
//! Method: blocks are cut behind every condition and every call, so that a node has one thing to decide at its end. An
//! indirect call may go to every function whose address is taken; a call of code that is not known may come back to any
//! of them, or jump to any `setjmp` when it does not return.

use std::collections::{BTreeMap, BTreeSet};

use analysis::call_graph::address_taken;
use model::walk::{Call, Choice, Site};
use model::{BlockId, Callee, ConditionId, Decided, FunctionId, Op, Program, Terminator};

/// A stretch of code without a choice or call but at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct NodeId(pub(super) u32);

/// A site together with a way it can go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct WayId(pub(super) u32);

impl NodeId {
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

impl WayId {
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

pub(super) struct Node {
    /// Instructions.
    pub(super) weight: u32,
    pub(super) exit: Exit,
}

/// What happens at the end of a node.
pub(super) enum Exit {
    Jump(NodeId),
    /// The ways of one site.
    Choose(Vec<WayId>),
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Callees {
    One(FunctionId),
    /// Any function whose address is taken.
    Indirect,
    /// Code that is not known, which may call any function whose address is taken.
    Unknown,
}

pub(super) struct Way {
    pub(super) site: Site,
    pub(super) choice: Choice,
    /// Usually one; several when the compiler made the site more than once.
    pub(super) targets: Vec<NodeId>,
    /// The nodes that choose it.
    pub(super) sources: Vec<NodeId>,
}

pub(super) struct Graph {
    pub(super) nodes: Vec<Node>,
    pub(super) ways: Vec<Way>,
    pub(super) address_taken: Vec<FunctionId>,
    /// Where `setjmp` comes back to.
    pub(super) landings: Vec<NodeId>,
    by_choice: BTreeMap<(Site, Choice), WayId>,
    /// By function and block: the nodes with their first instructions, in order.
    segments: Vec<Vec<Vec<(u32, NodeId)>>>,
}

impl Graph {
    pub(super) fn new(program: &Program) -> Self {
        let address_taken = address_taken(program).into_iter();
        let mut graph = Self {
            nodes: Vec::new(),
            ways: Vec::new(),
            address_taken: address_taken.filter(|id| program.function(*id).is_defined()).collect(),
            landings: Vec::new(),
            by_choice: BTreeMap::new(),
            segments: Vec::new(),
        };
        // nodes first, because edges name them
        for function in &program.functions {
            let blocks = function.blocks.iter().map(|block| graph.cut(program, function, block)).collect();
            graph.segments.push(blocks);
        }
        for (function, id) in program.functions.iter().zip((0..).map(FunctionId)) {
            for (block, _) in function.blocks() {
                graph.connect(program, id, block);
            }
        }
        graph
    }

    /// Where a function begins; `None` when its code is not known.
    pub(super) fn entry(&self, function: FunctionId) -> Option<NodeId> {
        Some(self.segments[function.index()].first()?[0].1)
    }

    /// Where a block begins.
    pub(super) fn block(&self, function: FunctionId, block: BlockId) -> NodeId {
        self.segments[function.index()][block.index()][0].1
    }

    /// The node that this instruction of a block belongs to.
    pub(super) fn node_at(&self, function: FunctionId, block: BlockId, at: u32) -> NodeId {
        let segments = &self.segments[function.index()][block.index()];
        let after = segments.partition_point(|(first, _)| *first <= at);
        segments[after.saturating_sub(1)].1
    }

    /// Where a call comes back to.
    pub(super) fn after(&self, call: Call) -> NodeId {
        self.node_at(call.function, call.block, call.at + 1)
    }

    pub(super) fn way(&self, site: Site, choice: Choice) -> Option<WayId> {
        self.by_choice.get(&(site, choice)).copied()
    }

    pub(super) fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    pub(super) fn ids(&self) -> impl DoubleEndedIterator<Item = NodeId> + use<> {
        let n_nodes = u32::try_from(self.nodes.len()).expect("fewer than 2^32 nodes");
        (0..n_nodes).map(NodeId)
    }

    fn cut(
        &mut self,
        program: &Program,
        function: &model::Function,
        block: &model::Block,
    ) -> Vec<(u32, NodeId)> {
        let mut segments = Vec::new();
        let mut first = 0;
        let n_instrs = number(block.instrs.len());
        let ends =
            block.instrs.iter().zip(1..).filter(|(id, _)| ends_node(program, &function.instr(**id).op));
        for end in ends.map(|(_, end)| end).chain([n_instrs]) {
            segments.push((first, self.add(1 + end - first)));
            first = end;
        }
        segments
    }

    fn add(&mut self, weight: u32) -> NodeId {
        self.nodes.push(Node { weight, exit: Exit::Dead });
        NodeId(number(self.nodes.len() - 1))
    }

    fn connect(&mut self, program: &Program, id: FunctionId, block_id: BlockId) {
        let function = program.function(id);
        let block = function.block(block_id);
        let segments = self.segments[id.index()][block_id.index()].clone();
        let decided = match &block.terminator {
            Terminator::Branch { decided, .. } => *decided,
            Terminator::Jump(_)
            | Terminator::Switch { .. }
            | Terminator::IndirectJump { .. }
            | Terminator::Return(_)
            | Terminator::Unreachable => None,
        };
        let last = segments.len() - 1;
        for (index, pair) in segments.windows(2).enumerate() {
            let ((_, node), (end, next)) = (pair[0], pair[1]);
            let op = &function.instr(block.instrs[end as usize - 1]).op;
            let exit = match op {
                Op::Mark { condition, .. } => {
                    // the branch that a condition decides is taken at once when nothing else happens before it
                    let decides =
                        decided.filter(|decided| decided.condition == *condition && index + 1 == last);
                    self.condition(id, node, *condition, decides, &block.terminator, next)
                }
                Op::Call { callee, .. } => self.call(program, callee, next),
                _ => unreachable!("only conditions and calls cut a block"),
            };
            self.nodes[node.index()].exit = exit;
        }
        let node = segments[last].1;
        let exit = self.terminator(id, block_id, node, &block.terminator);
        self.nodes[node.index()].exit = exit;
    }

    fn condition(
        &mut self,
        function: FunctionId,
        node: NodeId,
        condition: ConditionId,
        decides: Option<Decided>,
        terminator: &Terminator,
        next: NodeId,
    ) -> Exit {
        let ways = [true, false].map(|value| {
            let target = match (decides, terminator) {
                (Some(decided), Terminator::Branch { then, otherwise, .. }) => {
                    self.block(function, if value != decided.negated { *then } else { *otherwise })
                }
                _ => next,
            };
            self.add_way(node, Site::Condition(condition), Choice::Outcome(value), target)
        });
        Exit::Choose(ways.into())
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

    fn terminator(&mut self, id: FunctionId, block: BlockId, node: NodeId, terminator: &Terminator) -> Exit {
        match terminator {
            Terminator::Jump(to) => Exit::Jump(self.block(id, *to)),
            Terminator::Branch { then, otherwise, decided: Some(_), .. } => {
                Exit::Follow(vec![self.block(id, *then), self.block(id, *otherwise)])
            }
            Terminator::Branch { then, otherwise, decided: None, .. } => {
                let ways = [(true, then), (false, otherwise)].map(|(value, to)| {
                    let target = self.block(id, *to);
                    self.add_way(node, Site::Branch(id, block), Choice::Outcome(value), target)
                });
                Exit::Choose(ways.into())
            }
            Terminator::Switch { cases, default, .. } => {
                let numbers = (0..).map(Choice::Case);
                let choices =
                    cases.iter().map(|case| case.target).zip(numbers).chain([(*default, Choice::Default)]);
                let ways = choices.map(|(to, choice)| {
                    let target = self.segments[id.index()][to.index()][0].1;
                    self.add_way(node, Site::Switch(id, block), choice, target)
                });
                Exit::Choose(ways.collect())
            }
            Terminator::IndirectJump { targets, .. } => {
                Exit::Follow(targets.iter().map(|to| self.block(id, *to)).collect())
            }
            Terminator::Return(_) => Exit::Return,
            Terminator::Unreachable => Exit::Dead,
        }
    }

    fn add_way(&mut self, source: NodeId, site: Site, choice: Choice, target: NodeId) -> WayId {
        let id = *self.by_choice.entry((site, choice)).or_insert_with(|| {
            self.ways.push(Way { site, choice, targets: Vec::new(), sources: Vec::new() });
            WayId(number(self.ways.len() - 1))
        });
        let way = &mut self.ways[id.index()];
        way.targets.push(target);
        way.sources.push(source);
        id
    }

    /// Where control may go from a node without leaving the function upwards; calls both into the callee and past it.
    pub(super) fn successors(&self, id: NodeId) -> BTreeSet<NodeId> {
        match &self.node(id).exit {
            Exit::Jump(to) => BTreeSet::from([*to]),
            Exit::Choose(ways) => {
                ways.iter().flat_map(|way| &self.ways[way.index()].targets).copied().collect()
            }
            Exit::Follow(targets) => targets.iter().copied().collect(),
            Exit::Call { then, .. } => then.iter().copied().collect(),
            Exit::Return | Exit::Dead => BTreeSet::new(),
        }
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
