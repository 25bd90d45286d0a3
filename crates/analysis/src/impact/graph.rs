//! What depends directly on an instruction? Control and data dependence of a whole program, forwards.
//!
//! Method: values within a function by their operands; variables by def-use pairs ([`crate::dataflow`]); unnamed memory (heap,
//! objects of the input, what other code owns) by points-to sets, whatever the order; branches by control dependence. A call is
//! followed with the place that made it, so that what a function returns to one caller does not reach the others. Limits: one
//! call is remembered, not the calls above it; variables of other functions are reached whoever called.

use std::collections::{BTreeSet, HashMap, HashSet};

use model::{Callee, FunctionId, InstrId, MemoryOp, Op, Operand, Program, Terminator};

use crate::Place;
use crate::address::{Base, address, size};
use crate::chaining::ControlDependence;
use crate::dataflow::{DataFlow, DataFlowOptions, DefinitionId, DefinitionKind, ObjectId};
use crate::icfg::{Exit, Icfg, NodeId};
use crate::library::{Effect, effect};
use crate::points_to::{Pointee, PointerOffset, PointsTo};

/// How one instruction depends on another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Dependence {
    /// It takes the value.
    Value,
    /// It uses a variable that the other defines.
    Variable(ObjectId),
    /// It may read memory that the other may write.
    Memory,
    /// The other decides whether it is executed.
    Control,
    /// It is given the value as an argument of a call.
    Argument,
    /// It is in a function whose call depends on the other.
    Call,
    /// It takes what the function returns.
    Result,
}

/// An instruction in what is called from one place, or in all activations of its function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Reached {
    pub(super) place: Place,
    pub(super) from: Option<Place>,
    /// The arguments alone depend: what is called does where it uses them.
    pub(super) passes: bool,
}

/// An address, and how many bytes from there, if that is known.
type Touch = (Operand, Option<u64>);

/// A memory access through a pointer.
struct Access {
    place: Place,
    pointees: BTreeSet<(Pointee, PointerOffset)>,
    size: Option<u64>,
}

/// The dependences of a program.
pub struct Dependences<'p> {
    program: &'p Program,
    pub(super) flow: DataFlow,
    graph: Icfg,
    control: ControlDependence,
    /// By function: what takes the result of an instruction, and what takes a parameter.
    users: HashMap<(FunctionId, InstrId), Vec<Place>>,
    takers: HashMap<(FunctionId, u32), Vec<Place>>,
    /// The definitions at a place.
    definitions: HashMap<Place, Vec<DefinitionId>>,
    /// The instruction at a place is in `loads` or `stores` when it accesses unnamed memory.
    loads: Vec<Access>,
    stores: HashMap<Place, Access>,
    /// Loads of `allocas` without a name.
    slots: HashMap<(FunctionId, InstrId), Vec<Place>>,
    /// Direct and indirect calls of each function.
    callers: HashMap<FunctionId, Vec<Place>>,
    callees: HashMap<Place, Vec<FunctionId>>,
    /// By node that chooses: the nodes that depend on it; filled function by function.
    decides: HashMap<NodeId, Vec<NodeId>>,
    decided: BTreeSet<FunctionId>,
    /// Of the slice that is under way: nodes that are reached as a whole, from this call; stores and calls that were followed.
    whole_nodes: HashSet<(NodeId, Option<Place>)>,
    followed_stores: HashSet<Place>,
    followed_calls: HashSet<Place>,
}

impl<'p> Dependences<'p> {
    /// The dependences of a program.
    pub fn of(program: &'p Program) -> Self {
        let roots = program.root.filter(|root| program.function(*root).generated).into_iter().collect();
        let flow = DataFlow::of(program, &DataFlowOptions { roots, elements: false });
        let mut definitions: HashMap<Place, Vec<DefinitionId>> = HashMap::new();
        for (id, definition) in flow.definitions() {
            match definition.kind {
                DefinitionKind::Assigned | DefinitionKind::Parameter => {}
                // the operand of `return` is followed to the callers
                DefinitionKind::Initial | DefinitionKind::Returned => continue,
            }
            definition.places.iter().for_each(|place| definitions.entry(*place).or_default().push(id));
        }
        let mut found = Self {
            program,
            flow,
            graph: Icfg::new(program),
            control: ControlDependence::default(),
            users: HashMap::new(),
            takers: HashMap::new(),
            definitions,
            loads: Vec::new(),
            stores: HashMap::new(),
            slots: HashMap::new(),
            callers: HashMap::new(),
            callees: HashMap::new(),
            decides: HashMap::new(),
            decided: BTreeSet::new(),
            whole_nodes: HashSet::new(),
            followed_stores: HashSet::new(),
            followed_calls: HashSet::new(),
        };
        let points_to = PointsTo::of(program);
        for id in (0..program.functions.len()).map(FunctionId::new) {
            found.function(id, &points_to);
        }
        found
    }

    fn function(&mut self, id: FunctionId, points_to: &PointsTo) {
        let function = self.program.function(id);
        for (block_id, block) in function.blocks() {
            for (instr, at) in block.instrs.iter().zip(0..) {
                let place = Place { function: id, block: block_id, at };
                let op = &function.instr(*instr).op;
                op.operands().into_iter().for_each(|operand| self.uses(id, place, operand));
                self.access(id, place, *instr, points_to);
                if let Op::Call { callee, arguments } = op {
                    let callees = match callee {
                        Callee::Direct(callee) => vec![*callee],
                        Callee::Indirect(_) => self.called_by_pointer(arguments.len()),
                    };
                    for callee in callees {
                        self.callers.entry(callee).or_default().push(place);
                        self.callees.entry(place).or_default().push(callee);
                    }
                }
            }
            if let Some(operand) = block.terminator.operand() {
                let at = u32::try_from(block.instrs.len()).expect("fewer than 2^32 instructions");
                self.uses(id, Place { function: id, block: block_id, at }, operand);
            }
        }
    }

    fn uses(&mut self, id: FunctionId, place: Place, operand: Operand) {
        match operand {
            Operand::Result(instr) => self.users.entry((id, instr)).or_default().push(place),
            Operand::Parameter(number) => self.takers.entry((id, number)).or_default().push(place),
            Operand::Int { .. }
            | Operand::Float { .. }
            | Operand::Null
            | Operand::Global { .. }
            | Operand::Function(_)
            | Operand::Undefined(_) => {}
        }
    }

    fn called_by_pointer(&self, n_arguments: usize) -> Vec<FunctionId> {
        let fits = |id: &&FunctionId| {
            let function = self.program.function(**id);
            function.parameters.len() == n_arguments
                || function.variadic && function.parameters.len() <= n_arguments
        };
        self.graph.address_taken.iter().filter(fits).copied().collect()
    }

    /// Remembers accesses that def-use pairs do not know.
    fn access(&mut self, id: FunctionId, place: Place, instr: InstrId, points_to: &PointsTo) {
        let function = self.program.function(id);
        let of = function.instr(instr);
        let (reads, writes): (Vec<Touch>, Vec<Touch>) = match &of.op {
            Op::Load { address, .. } => (vec![(*address, Some(size(self.program, of.ty)))], Vec::new()),
            Op::Store { address, value_type, .. } => {
                (Vec::new(), vec![(*address, Some(size(self.program, *value_type)))])
            }
            Op::Memory { op, to, from, length } => {
                let length = length.constant();
                let reads = match op {
                    MemoryOp::Copy | MemoryOp::Move => vec![(*from, length)],
                    MemoryOp::Set => Vec::new(),
                };
                (reads, vec![(*to, length)])
            }
            Op::Call { callee: Callee::Direct(callee), arguments }
                if !self.program.function(*callee).is_defined() =>
            {
                let pointers = arguments.iter().filter(|(ty, _)| *ty == model::Type::Ptr);
                let pointers: Vec<_> = pointers.map(|(_, operand)| (*operand, None)).collect();
                match effect(&self.program.function(*callee).name) {
                    Effect::Reads => (pointers, Vec::new()),
                    Effect::Writes(_) | Effect::Anything => (pointers.clone(), pointers),
                    Effect::Allocates
                    | Effect::Offers
                    | Effect::Chooses
                    | Effect::ChoosesFunction
                    | Effect::Fills => return,
                }
            }
            _ => return,
        };
        for (is_store, (operand, size)) in
            reads.into_iter().map(|read| (false, read)).chain(writes.into_iter().map(|write| (true, write)))
        {
            if let Some(at) = address(function, operand) {
                // an `alloca` without a name collects what a function returns, or holds a value for a moment
                if let (Base::Local(slot), false) = (at.base, is_store) {
                    self.slots.entry((id, slot)).or_default().push(place);
                }
                continue;
            }
            let mut pointees = points_to.targets(self.program, id, operand);
            if pointees.is_empty() {
                pointees.insert((Pointee::Unknown, PointerOffset::Anywhere));
            }
            pointees.retain(|(pointee, _)| is_unnamed(*pointee));
            if pointees.is_empty() {
                continue;
            }
            let access = Access { place, pointees, size };
            if is_store {
                self.stores.insert(place, access);
            } else {
                self.loads.push(access);
            }
        }
    }

    /// What depends directly on an instruction, and how.
    pub(super) fn after(&mut self, reached: Reached, found: &mut Vec<(Dependence, Reached)>) {
        if reached.passes {
            return;
        }
        let Reached { place, from, .. } = reached;
        let function = self.program.function(place.function);
        let here = |place| Reached { place, from, passes: false };
        if let Some(instr) = function.block(place.block).instrs.get(place.at as usize) {
            self.value(place, *instr, from, found);
            if let Op::Store { address: Operand::Result(slot), .. } = function.instr(*instr).op
                && matches!(function.instr(slot).op, Op::Alloca { .. })
            {
                let loads = self.slots.get(&(place.function, slot)).into_iter().flatten();
                if !self.definitions.contains_key(&place) {
                    found.extend(loads.map(|load| (Dependence::Value, here(*load))));
                }
            }
        } else if let Terminator::Return(Some(_)) = function.block(place.block).terminator {
            self.returned(place.function, from, found);
        }
        self.variables(place, from, found);
        self.memory(place, found);
        self.controlled(place, from, found);
        self.called(place, found);
    }

    /// What takes the result of an instruction.
    fn value(
        &self,
        place: Place,
        instr: InstrId,
        from: Option<Place>,
        found: &mut Vec<(Dependence, Reached)>,
    ) {
        for user in self.users.get(&(place.function, instr)).into_iter().flatten() {
            found.extend(self.taken(*user, Operand::Result(instr), from));
        }
    }

    /// Where a value goes when this instruction takes it: a call hands it on.
    fn taken(&self, user: Place, operand: Operand, from: Option<Place>) -> Vec<(Dependence, Reached)> {
        let plain = |passes| (Dependence::Value, Reached { place: user, from, passes });
        let Some(Op::Call { callee, arguments }) = user.op(self.program) else { return vec![plain(false)] };
        if matches!(callee, Callee::Indirect(pointer) if *pointer == operand) {
            return vec![plain(false)];
        }
        let callees = self.callees.get(&user).into_iter().flatten();
        let followed: Vec<&FunctionId> =
            callees.filter(|callee| self.program.function(**callee).is_defined()).collect();
        if followed.is_empty() {
            return vec![plain(false)];
        }
        let mut found = vec![plain(true)];
        for callee in followed {
            for (_, number) in arguments.iter().zip(0..).filter(|((_, argument), _)| *argument == operand) {
                let takers = self.takers.get(&(*callee, number)).into_iter().flatten();
                let into = |place: &Place| {
                    (Dependence::Argument, Reached { place: *place, from: Some(user), passes: false })
                };
                found.extend(takers.map(into));
            }
        }
        found
    }

    fn returned(&self, function: FunctionId, from: Option<Place>, found: &mut Vec<(Dependence, Reached)>) {
        let all = self.callers.get(&function).map(Vec::as_slice).unwrap_or_default();
        let callers = match &from {
            Some(call) if all.contains(call) => std::slice::from_ref(call),
            Some(_) | None => all,
        };
        for call in callers {
            let caller = self.program.function(call.function);
            let Some(instr) = caller.block(call.block).instrs.get(call.at as usize) else { continue };
            for user in self.users.get(&(call.function, *instr)).into_iter().flatten() {
                let taken = self.taken(*user, Operand::Result(*instr), None);
                found.extend(taken.into_iter().map(|(how, reached)| {
                    (if how == Dependence::Value { Dependence::Result } else { how }, reached)
                }));
            }
        }
    }

    fn variables(&self, place: Place, from: Option<Place>, found: &mut Vec<(Dependence, Reached)>) {
        for definition in self.definitions.get(&place).into_iter().flatten() {
            let object = self.flow.definition(*definition).object;
            for use_ in self.flow.uses_of(*definition) {
                for user in &self.flow.use_(use_).places {
                    let from = from.filter(|_| user.function == place.function);
                    let reached = Reached { place: *user, from, passes: false };
                    found.push((Dependence::Variable(object), reached));
                }
            }
        }
    }

    fn memory(&mut self, place: Place, found: &mut Vec<(Dependence, Reached)>) {
        // whoever called
        if !self.followed_stores.insert(place) {
            return;
        }
        let Some(store) = self.stores.get(&place) else { return };
        let touching = self.loads.iter().filter(|load| may_overlap(store, load));
        let reached = |load: &Access| Reached { place: load.place, from: None, passes: false };
        found.extend(touching.map(|load| (Dependence::Memory, reached(load))));
    }

    /// What is executed or not because of a choice.
    fn controlled(&mut self, place: Place, from: Option<Place>, found: &mut Vec<(Dependence, Reached)>) {
        let function = self.program.function(place.function);
        let is_mark = matches!(place.op(self.program), Some(Op::Mark { .. }));
        let is_terminator = place.at as usize == function.block(place.block).instrs.len();
        if !is_mark && !is_terminator {
            return;
        }
        let node = self.graph.at(place);
        let end = self.graph.node(node).end;
        if place.at + 1 != end && !is_mark {
            return;
        }
        self.decide(place.function);
        for node in self.decides.get(&node).into_iter().flatten() {
            if self.whole_nodes.contains(&(*node, None)) || !self.whole_nodes.insert((*node, from)) {
                continue;
            }
            let node = self.graph.node(*node);
            let reached = (node.first..node.end).map(|at| Reached {
                place: Place { function: node.function, block: node.block, at },
                from,
                passes: false,
            });
            found.extend(reached.map(|reached| (Dependence::Control, reached)));
        }
    }

    /// All of a function that is called or not.
    fn called(&mut self, place: Place, found: &mut Vec<(Dependence, Reached)>) {
        let Some(callees) = self.callees.get(&place).cloned() else { return };
        if !self.followed_calls.insert(place) {
            return;
        }
        for callee in callees {
            if !self.program.function(callee).is_defined() {
                continue;
            }
            for node in self.graph.nodes_of(callee).map(NodeId) {
                if !self.control.of(&self.graph, node).is_empty() {
                    continue;
                }
                let node = self.graph.node(node);
                let reached = (node.first..node.end).map(|at| Reached {
                    place: Place { function: callee, block: node.block, at },
                    from: Some(place),
                    passes: false,
                });
                found.extend(reached.map(|reached| (Dependence::Call, reached)));
            }
        }
    }

    fn decide(&mut self, function: FunctionId) {
        if !self.decided.insert(function) {
            return;
        }
        for node in self.graph.nodes_of(function).map(NodeId) {
            for direction in self.control.of(&self.graph, node).to_vec() {
                for source in &self.graph.directions[direction.index()].sources {
                    let of = self.decides.entry(*source).or_default();
                    if !of.contains(&node) {
                        of.push(node);
                    }
                }
            }
        }
        // a choice that was made before is made again by its branch
        for node in self.graph.nodes_of(function).map(NodeId) {
            if let Exit::Follow(_) = self.graph.node(node).exit {
                self.decides.entry(node).or_default();
            }
        }
    }

    /// What a place depends on directly within its function by the branches: for slices backwards.
    pub(super) fn choices_before(&mut self, place: Place) -> Vec<Place> {
        let node = self.graph.at(place);
        let directions = self.control.of(&self.graph, node).to_vec();
        let sources = directions.iter().flat_map(|id| &self.graph.directions[id.index()].sources);
        let last = |node: &NodeId| {
            let node = self.graph.node(*node);
            Place { function: node.function, block: node.block, at: node.end - 1 }
        };
        sources.map(last).collect()
    }

    /// The calls of a function.
    pub(super) fn calls_of(&self, function: FunctionId) -> &[Place] {
        self.callers.get(&function).map(Vec::as_slice).unwrap_or_default()
    }

    /// The program.
    pub(super) fn program(&self) -> &'p Program {
        self.program
    }

    /// The nodes that one outcome of a branch leads to.
    pub(super) fn places(&self, function: FunctionId) -> Vec<Place> {
        let function_of = self.program.function(function);
        let blocks = function_of.blocks();
        let places = blocks.flat_map(|(block, code)| {
            let n = u32::try_from(code.instrs.len()).expect("fewer than 2^32 instructions");
            (0..=n).map(move |at| Place { function, block, at })
        });
        places.collect()
    }
}

/// Memory that is no variable of the source.
fn is_unnamed(pointee: Pointee) -> bool {
    match pointee {
        Pointee::Unknown | Pointee::Heap(..) | Pointee::Variadic(_) => true,
        Pointee::Local(..) | Pointee::Global(_) | Pointee::Function(_) => false,
    }
}

fn may_overlap(store: &Access, load: &Access) -> bool {
    store.pointees.iter().any(|(pointee, at)| {
        let same = load.pointees.iter().filter(|(other, _)| other == pointee);
        same.into_iter().any(|(_, other)| !are_apart(*at, store.size, *other, load.size))
    })
}

fn are_apart(a: PointerOffset, a_size: Option<u64>, b: PointerOffset, b_size: Option<u64>) -> bool {
    let (PointerOffset::At { offset: a, index: None }, PointerOffset::At { offset: b, index: None }) = (a, b)
    else {
        return false;
    };
    let ends_before = |start: i64, size: Option<u64>, next: i64| {
        size.is_some_and(|size| start.saturating_add_unsigned(size) <= next)
    };
    ends_before(a, a_size, b) || ends_before(b, b_size, a)
}
