//! Which activations does a proof speak of, where is each loop cut, and in which order are blocks executed between cuts?
//!
//! Method: calls of defined functions are inlined as far as the plan allows; each inlined call is a context of its own. The
//! target of every retreating edge of a function is a cut, so the rest of the graph has no cycle and is sorted once.
//! Limit: calls through pointers are not inlined, and recursion up to a depth.

use std::collections::{BTreeSet, HashMap, HashSet};

use analysis::loops::loop_heads;
use model::{BlockId, Callee, FunctionId, InstrId, Op, Program};

use crate::calls::MayCall;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ContextId(u32);

impl ContextId {
    /// The activation of the entry.
    pub(crate) const ENTRY: Self = Self(0);

    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// An activation.
pub(crate) struct Activation {
    pub(crate) function: FunctionId,
    /// The activation and the place of the call that made it.
    pub(crate) caller: Option<(ContextId, Node)>,
    pub(crate) path: proof::Context,
}

/// A place from which code is executed: an instruction of a block of an activation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Node {
    pub(crate) context: ContextId,
    pub(crate) block: BlockId,
    pub(crate) position: usize,
}

/// The start of a block where a formula is to hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct CutId(u32);

impl CutId {
    pub(crate) fn new(index: usize) -> Self {
        Self(u32::try_from(index).expect("fewer than 2^32 cuts"))
    }

    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// How much is inlined.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Inlining {
    /// Calls that may lead to these functions are inlined, or there is no graph.
    pub(crate) towards: BTreeSet<FunctionId>,
    /// Instructions of all contexts up to which other calls are inlined.
    pub(crate) max_instrs: usize,
    /// How many activations of a function may be within another of the same.
    pub(crate) max_recursion: usize,
    /// Whether functions are inlined that were made in place of such as are defined nowhere.
    pub(crate) has_stubs: bool,
}

/// Contexts that a proof may have; more are given up.
const MAX_CONTEXTS: usize = 400;
/// Instructions of all contexts; more are given up.
const MAX_INSTRS: usize = 20_000;

/// The inlined control flow graph.
pub(crate) struct Graph<'p> {
    pub(crate) program: &'p Program,
    pub(crate) contexts: Vec<Activation>,
    calls: HashMap<(ContextId, InstrId), ContextId>,
    cuts: Vec<Node>,
    cut_ids: HashMap<Node, CutId>,
    order: Vec<Node>,
}

impl<'p> Graph<'p> {
    /// The graph of `entry`, or why there is none.
    pub(crate) fn new(
        program: &'p Program,
        may_call: &MayCall,
        entry: FunctionId,
        inlining: &Inlining,
    ) -> Result<Self, &'static str> {
        let root = Activation { function: entry, caller: None, path: proof::Context::entry() };
        let mut graph = Self {
            program,
            contexts: vec![root],
            calls: HashMap::new(),
            cuts: Vec::new(),
            cut_ids: HashMap::new(),
            order: Vec::new(),
        };
        graph.inline(may_call, inlining)?;
        let mut cut_blocks: HashMap<FunctionId, BTreeSet<BlockId>> = HashMap::new();
        for index in 0..graph.contexts.len() {
            let function = graph.contexts[index].function;
            let blocks = cut_blocks.entry(function).or_insert_with(|| loop_heads(program.function(function)));
            for &block in blocks.iter() {
                let node = Node { context: ContextId(index as u32), block, position: 0 };
                graph.cut_ids.insert(node, CutId(graph.cuts.len() as u32));
                graph.cuts.push(node);
            }
        }
        graph.sort();
        Ok(graph)
    }

    pub(crate) fn function(&self, context: ContextId) -> &'p model::Function {
        self.program.function(self.contexts[context.index()].function)
    }

    pub(crate) fn context(&self, id: ContextId) -> &Activation {
        &self.contexts[id.index()]
    }

    pub(crate) fn context_ids(&self) -> impl Iterator<Item = ContextId> + use<> {
        (0..self.contexts.len() as u32).map(ContextId)
    }

    /// The context with this path.
    pub(crate) fn context_of(&self, path: &proof::Context) -> Option<ContextId> {
        self.context_ids().find(|id| self.context(*id).path == *path)
    }

    /// The context that an inlined call makes.
    pub(crate) fn callee(&self, context: ContextId, call: InstrId) -> Option<ContextId> {
        self.calls.get(&(context, call)).copied()
    }

    pub(crate) fn cuts(&self) -> impl Iterator<Item = (CutId, Node)> {
        self.cuts.iter().enumerate().map(|(index, node)| (CutId(index as u32), *node))
    }

    pub(crate) fn cut(&self, id: CutId) -> Node {
        self.cuts[id.index()]
    }

    pub(crate) fn cut_at(&self, node: Node) -> Option<CutId> {
        self.cut_ids.get(&node).copied()
    }

    pub(crate) fn entry(&self) -> Node {
        Node { context: ContextId::ENTRY, block: BlockId(0), position: 0 }
    }

    /// All nodes; edges that do not lead to a cut go forward in this order.
    pub(crate) fn order(&self) -> &[Node] {
        &self.order
    }

    /// The contexts whose activations exist at the node, the innermost first.
    pub(crate) fn enclosing(&self, context: ContextId) -> Vec<ContextId> {
        let mut found = vec![context];
        while let Some((caller, _)) = self.context(*found.last().expect("begun with one")).caller {
            found.push(caller);
        }
        found
    }

    fn inline(&mut self, may_call: &MayCall, inlining: &Inlining) -> Result<(), &'static str> {
        let mut n_instrs = 0;
        let mut n_planned = self.program.function(self.contexts[0].function).instrs.len();
        let mut at = 0;
        while at < self.contexts.len() {
            let (context, function) = (ContextId(at as u32), self.contexts[at].function);
            at += 1;
            n_instrs += self.program.function(function).instrs.len();
            if n_instrs > MAX_INSTRS || self.contexts.len() > MAX_CONTEXTS {
                return Err("too much code to inline");
            }
            for (block, code) in self.program.function(function).blocks() {
                for (position, &id) in code.instrs.iter().enumerate() {
                    let Op::Call { callee, .. } = &self.program.function(function).instr(id).op else {
                        continue;
                    };
                    let leads_there = inlining.towards.iter().any(|goal| may_call.leads(*callee, *goal));
                    let Some(callee) = self.inlined(context, *callee, inlining) else {
                        if leads_there {
                            return Err("a call on the way to the goal cannot be inlined");
                        }
                        continue;
                    };
                    let size = self.program.function(callee).instrs.len();
                    let has_room =
                        self.contexts.len() < MAX_CONTEXTS && n_planned + size <= inlining.max_instrs;
                    if leads_there || has_room {
                        n_planned += size;
                        let node = Node { context, block, position };
                        self.call(node, id, callee);
                    }
                }
            }
        }
        Ok(())
    }

    fn call(&mut self, node: Node, call: InstrId, callee: FunctionId) {
        let id = ContextId(self.contexts.len() as u32);
        let path = self.context(node.context).path.call(call);
        self.calls.insert((node.context, call), id);
        self.contexts.push(Activation { function: callee, caller: Some((node.context, node)), path });
    }

    /// The function that a call from this context may be replaced by.
    fn inlined(&self, context: ContextId, callee: Callee, inlining: &Inlining) -> Option<FunctionId> {
        let Callee::Direct(callee) = callee else { return None };
        if !inlining.has_stubs && is_stub(self.program.function(callee)) {
            return None;
        }
        let enclosing = self.enclosing(context);
        let n_outer = enclosing.iter().filter(|outer| self.context(**outer).function == callee).count();
        (self.program.function(callee).is_defined() && n_outer <= inlining.max_recursion).then_some(callee)
    }

    /// Where control may go from the node's code, without calls that are not inlined.
    pub(crate) fn successors(&self, node: Node) -> Vec<Node> {
        let function = self.function(node.context);
        let block = function.block(node.block);
        let calls = block.instrs[node.position..].iter();
        if let Some(callee) = calls.filter_map(|id| self.callee(node.context, *id)).next() {
            return vec![Node { context: callee, block: BlockId(0), position: 0 }];
        }
        if let model::Terminator::Return(_) = block.terminator {
            let caller = self.context(node.context).caller;
            return caller
                .map(|(_, call)| Node { position: call.position + 1, ..call })
                .into_iter()
                .collect();
        }
        let targets = block.terminator.successors().into_iter();
        targets.map(|block| Node { context: node.context, block, position: 0 }).collect()
    }

    fn sort(&mut self) {
        let mut roots = vec![self.entry()];
        roots.extend(&self.cuts);
        let mut seen: HashSet<Node> = HashSet::new();
        let mut finished = Vec::new();
        for root in roots {
            if !seen.insert(root) {
                continue;
            }
            let mut stack = vec![(root, self.successors(root))];
            while let Some((node, open)) = stack.last_mut() {
                match open.pop() {
                    Some(next) => {
                        if self.cut_at(next).is_none() && seen.insert(next) {
                            let successors = self.successors(next);
                            stack.push((next, successors));
                        }
                    }
                    None => {
                        finished.push(*node);
                        stack.pop();
                    }
                }
            }
        }
        finished.reverse();
        self.order = finished;
    }
}

/// Whether the function stands for one that is defined nowhere; what those of verification competitions do is agreed on.
pub(crate) fn is_stub(function: &model::Function) -> bool {
    let is_known = function.name.starts_with("__VERIFIER_") || function.name.starts_with("__quarry_");
    function.generated && !is_known
}
