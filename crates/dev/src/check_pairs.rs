//! `quarry-dev check-pairs`: are the pairs that the analysis lists those that some path has?
//!
//! Method: enumerates all states that a function can reach: the call stack, and for every object the definitions that may
//! be in it. Every use records what it reads. It shares the definitions and uses with the analysis, but neither sets, nor
//! summaries, nor the order of iteration. Every pair that a path has must be listed, and every listed pair must be found.
//! Limits: at most [`MOST_FRAMES`] activations and [`MOST_STATES`] states, beyond which only the first half is checked;
//! accesses whose address is not known statically, and `setjmp`, are not compared.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use analysis::dataflow::{
    Access, AccessKind, DataFlow, DataFlowOptions, DefinitionId, DefinitionKind, Home, ObjectId, Pair,
};
use model::{BinaryOp, BlockId, Callee, FunctionId, InstrId, Op, Operand, Program, Terminator};

use crate::arguments::{CheckPairs, cache, here, sources};
use quarry_cli::exit::{Exit, Failure};
use runner::front::work_directory;
use runner::front::{Front, Start};
use runner::subject::function_id;

const MOST_FRAMES: usize = 5;
const MOST_STATES: usize = 400_000;

/// Runs the command.
pub fn check(arguments: &CheckPairs) -> Result<Exit, Failure> {
    let work = work_directory()?;
    let front = Front::mark(&sources(&arguments.sources), &here()?, work.path(), Start::Main, &cache()?)?;
    let built = front.build(None, &[])?;
    let program = &built.lowered.program;
    let root = function_id(program, &arguments.function)?;
    let flow = DataFlow::of(program, &DataFlowOptions { roots: vec![root], elements: arguments.elements });
    let mut explorer = Explorer::new(program, &flow);
    if !explorer.is_comparable(root) {
        eprintln!("not compared: the text leaves addresses open, or there is setjmp");
        return Ok(Exit::Done);
    }
    explorer.explore(root);
    let listed: BTreeSet<Pair> = flow.pairs().map(|(_, pair)| pair).collect();
    let mut n_wrong = 0;
    let mut wrong = |what: &str, pair: &Pair| {
        eprintln!("error: {what}: {}", flow.describe(program, *pair));
        n_wrong += 1;
    };
    explorer.found.difference(&listed).for_each(|pair| wrong("a path has it, but it is not listed", pair));
    if !explorer.is_cut {
        listed.difference(&explorer.found).for_each(|pair| wrong("it is listed, but no path has it", pair));
    }
    let cut = if explorer.is_cut { " (cut short)" } else { "" };
    eprintln!("{} pairs, {} states{cut}, {n_wrong} differences", listed.len(), explorer.seen.len());
    Ok(if n_wrong == 0 { Exit::Done } else { Exit::No })
}

type Held = BTreeMap<ObjectId, BTreeSet<DefinitionId>>;

#[derive(Clone, PartialEq, Eq, Hash)]
struct State {
    frames: Vec<Frame>,
    statics: Held,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct Frame {
    function: FunctionId,
    block: BlockId,
    at: usize,
    locals: Held,
    returned: Option<DefinitionId>,
    /// Values that the way here fixed.
    known: BTreeMap<InstrId, bool>,
}

struct Explorer<'a> {
    program: &'a Program,
    flow: &'a DataFlow,
    found: BTreeSet<Pair>,
    seen: HashSet<State>,
    open: Vec<State>,
    is_cut: bool,
}

impl<'a> Explorer<'a> {
    fn new(program: &'a Program, flow: &'a DataFlow) -> Self {
        let (found, seen, open) = (BTreeSet::new(), HashSet::new(), Vec::new());
        Self { program, flow, found, seen, open, is_cut: false }
    }

    fn is_comparable(&self, root: FunctionId) -> bool {
        analysis::call_graph::reachable(self.program, root).into_iter().all(|id| {
            let function = self.program.function(id);
            let is_closed = |block| self.flow.blocks().of(id, block).iter().all(is_certain);
            !function.returns_twice && function.blocks().all(|(block, _)| is_closed(block))
        })
    }

    fn explore(&mut self, root: FunctionId) {
        let mut statics = Held::new();
        for (id, definition) in self.flow.definitions() {
            if definition.kind == DefinitionKind::Initial {
                statics.entry(definition.object).or_default().insert(id);
            }
        }
        self.push(State { frames: vec![frame(root)], statics });
        while let Some(state) = self.open.pop() {
            self.step(state);
        }
    }

    fn push(&mut self, state: State) {
        if state.frames.len() > MOST_FRAMES || self.seen.len() >= MOST_STATES {
            self.is_cut = true;
        } else if self.seen.insert(state.clone()) {
            self.open.push(state);
        }
    }

    /// Goes on until the way forks.
    fn step(&mut self, mut state: State) {
        loop {
            let Some(top) = state.frames.last() else { return };
            let (id, block_id, at) = (top.function, top.block, top.at);
            let block = self.program.function(id).block(block_id);
            let Some(&instr) = block.instrs.get(at) else {
                return self.terminator(state, id, block_id);
            };
            if let Op::Call { callee, .. } = &self.program.function(id).instr(instr).op {
                return self.call(state, *callee, instr);
            }
            self.execute(&mut state, at);
            if let Some(top) = state.frames.last_mut() {
                top.at += 1;
            }
        }
    }

    fn call(&mut self, state: State, callee: Callee, instr: InstrId) {
        let Some(top) = state.frames.last() else { return };
        let caller = self.program.function(top.function);
        let callees: Vec<FunctionId> = match callee {
            Callee::Direct(callee) => vec![callee],
            Callee::Indirect(_) => {
                let Op::Call { arguments, .. } = &caller.instr(instr).op else { return };
                let fits = |id: &FunctionId| {
                    let of = self.program.function(*id);
                    of.is_defined() && of.parameters.len() == arguments.len()
                };
                analysis::call_graph::address_taken(self.program).into_iter().filter(fits).collect()
            }
        };
        for callee in &callees {
            let of = self.program.function(*callee);
            if of.is_defined() {
                let mut next = state.clone();
                next.frames.push(frame(*callee));
                self.push(next);
            }
        }
        let passes = match callee {
            Callee::Direct(callee) => {
                let of = self.program.function(callee);
                !of.is_defined() && !of.no_return
            }
            Callee::Indirect(_) => true,
        };
        if passes {
            self.come_back(state, None);
        }
    }

    /// A call is over: its own accesses happen, then what it returned is taken.
    fn come_back(&mut self, mut state: State, returned: Option<DefinitionId>) {
        let Some(top) = state.frames.last() else { return };
        let (id, block, at) = (top.function, top.block, top.at);
        self.execute(&mut state, at);
        for site in self.flow.blocks().of(id, block).iter().filter(|site| site.at as usize == at) {
            if let (AccessKind::Result, Some(definition)) = (site.kind, returned) {
                let object = self.flow.definition(definition).object;
                self.found.extend(site.use_of(object).map(|use_| Pair { definition, use_ }));
            }
        }
        if let Some(top) = state.frames.last_mut() {
            top.at += 1;
        }
        self.push(state);
    }

    fn terminator(&mut self, mut state: State, id: FunctionId, block_id: BlockId) {
        let block = self.program.function(id).block(block_id);
        self.execute(&mut state, block.instrs.len());
        match &block.terminator {
            Terminator::Return(_) => {
                let returned = state.frames.pop().and_then(|frame| frame.returned);
                if !state.frames.is_empty() {
                    self.come_back(state, returned);
                }
            }
            Terminator::Branch { condition, then, otherwise, .. } => {
                let known = match (condition, state.frames.last()) {
                    (Operand::Result(id), Some(top)) => top.known.get(id).copied(),
                    _ => None,
                };
                let ways = match known {
                    Some(true) => vec![*then],
                    Some(false) => vec![*otherwise],
                    None => vec![*then, *otherwise],
                };
                ways.into_iter().for_each(|to| self.go(state.clone(), to));
            }
            terminator @ (Terminator::Jump(_)
            | Terminator::Switch { .. }
            | Terminator::IndirectJump { .. }
            | Terminator::Unreachable) => {
                let ways: BTreeSet<BlockId> = terminator.successors().into_iter().collect();
                ways.into_iter().for_each(|to| self.go(state.clone(), to));
            }
        }
    }

    fn go(&mut self, mut state: State, to: BlockId) {
        let Some(top) = state.frames.last_mut() else { return };
        let function = self.program.function(top.function);
        let (from, before) = (top.block, std::mem::take(&mut top.known));
        for id in &function.block(to).instrs {
            let truth = |value: &Operand, known: &BTreeMap<InstrId, bool>| match value {
                Operand::Int { bits: 1, value } => Some(*value == 1),
                Operand::Result(id) => known.get(id).or(before.get(id)).copied(),
                _ => None,
            };
            let value = match &function.instr(*id).op {
                Op::Phi(edges) => {
                    let edge = edges.iter().find(|(block, _)| *block == from);
                    edge.and_then(|(_, value)| truth(value, &top.known))
                }
                Op::Binary(BinaryOp::Xor, value, Operand::Int { value: 1, .. }) => {
                    truth(value, &top.known).map(|value| !value)
                }
                _ => None,
            };
            top.known.extend(value.map(|value| (*id, value)));
        }
        (top.block, top.at) = (to, 0);
        self.push(state);
    }

    /// The accesses of one instruction.
    fn execute(&mut self, state: &mut State, at: usize) {
        let State { frames, statics } = state;
        let Some(top) = frames.last_mut() else { return };
        let flow = self.flow;
        for site in flow.blocks().of(top.function, top.block).iter().filter(|site| site.at as usize == at) {
            match site.kind {
                AccessKind::Load => {
                    for (object, use_) in &site.uses {
                        let held = held(flow, &mut top.locals, statics, *object);
                        let pairs =
                            held.iter().map(|definition| Pair { definition: *definition, use_: *use_ });
                        self.found.extend(pairs);
                    }
                }
                AccessKind::Store => {
                    for (object, definition) in &site.definitions {
                        let covers = self.covers(top, site, *object);
                        let held = held(flow, &mut top.locals, statics, *object);
                        if covers {
                            held.clear();
                        }
                        held.insert(*definition);
                    }
                }
                AccessKind::Return => {
                    top.returned = site.definitions.first().map(|(_, definition)| *definition)
                }
                AccessKind::Result | AccessKind::Begin(_) => {}
            }
        }
    }

    /// Whether a store leaves nothing of an object: by how many bytes it writes.
    fn covers(&self, frame: &Frame, site: &Access, object: ObjectId) -> bool {
        let function = self.program.function(frame.function);
        let instr = function.block(frame.block).instrs.get(site.at as usize);
        let bytes = match instr.map(|id| &function.instr(*id).op) {
            Some(Op::Store { value_type, .. }) => match value_type {
                model::Type::Int(bits) => u64::from(bits.div_ceil(8)),
                model::Type::Ptr => u64::from(self.program.pointer_bits / 8),
                model::Type::Float(kind) => kind.bytes(),
                model::Type::Record(record) => self.program.record(*record).size,
                model::Type::Void | model::Type::Opaque => 0,
            },
            Some(Op::Memory { length: Operand::Int { value, .. }, .. }) => u64::try_from(*value).unwrap_or(0),
            // code that is given the address
            Some(Op::Call { .. }) => u64::MAX,
            Some(_) | None => 0,
        };
        bytes >= self.flow.object(object).size
    }
}

fn held<'h>(
    flow: &DataFlow,
    locals: &'h mut Held,
    statics: &'h mut Held,
    object: ObjectId,
) -> &'h mut BTreeSet<DefinitionId> {
    match flow.object(object).home {
        Home::Local(_) => locals.entry(object).or_default(),
        Home::Static | Home::Result(_) => statics.entry(object).or_default(),
    }
}

fn frame(function: FunctionId) -> Frame {
    let (locals, known) = (Held::new(), BTreeMap::new());
    Frame { function, block: BlockId(0), at: 0, locals, returned: None, known }
}

fn is_certain(site: &Access) -> bool {
    site.address.is_none()
}
