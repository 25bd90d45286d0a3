//! From the program to constraints: which values include which, and what is loaded and stored through which.

use std::collections::{BTreeMap, HashMap};

use model::{
    Callee, CastOp, Function, FunctionId, InstrId, Linkage, MemoryOp, Op, Operand, Program, RelocationTarget,
    Terminator,
};

use super::{Pointee, PointerOffset, pointee, root};
use crate::address::address;
use crate::library::{Effect, effect};

/// Values and memory as numbered nodes.
#[derive(Default)]
pub(super) struct Constraints {
    /// By object; the first is [`Pointee::Unknown`].
    pub(super) pointees: Vec<Pointee>,
    /// By object: the node of what it holds.
    pub(super) contents: Vec<u32>,
    objects: HashMap<Pointee, u32>,
    values: HashMap<(FunctionId, Value), u32>,
    pub(super) n_nodes: u32,
    /// A place in an object is a pointee of a node.
    pub(super) addresses: Vec<(u32, PointerOffset, u32)>,
    /// The second takes all pointees of the first.
    pub(super) copies: Vec<(u32, u32)>,
    /// The second takes all pointees of the first, moved.
    pub(super) moves: Vec<(u32, PointerOffset, u32)>,
    /// Nodes that are others moved.
    moved: HashMap<(u32, PointerOffset), u32>,
    /// The second takes what is in memory that the first points to.
    pub(super) loads: Vec<(u32, u32)>,
    /// Memory that the first points to takes the second.
    pub(super) stores: Vec<(u32, u32)>,
    pub(super) calls: Vec<IndirectCall>,
    /// By function: nodes of its parameters and of its result.
    pub(super) interfaces: BTreeMap<FunctionId, Interface>,
    /// What a harness offers to pointers of the input.
    offered: u32,
}

/// A call of whatever a pointer points to.
pub(super) struct IndirectCall {
    pub(super) callee: u32,
    pub(super) arguments: Vec<Option<u32>>,
    pub(super) result: Option<u32>,
    /// Code outside of the program calls, with any of the arguments for each parameter.
    pub(super) is_outside: bool,
}

#[derive(Clone)]
pub(super) struct Interface {
    pub(super) parameters: Vec<u32>,
    pub(super) result: u32,
    /// What the arguments behind the parameters become part of.
    pub(super) variadic: Option<u32>,
}

/// A value of a function.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Value {
    Result(InstrId),
    Parameter(u32),
    Returned,
}

impl Constraints {
    pub(super) fn of(program: &Program) -> Self {
        let mut this = Self::default();
        let unknown = this.object(Pointee::Unknown);
        this.addresses.push((unknown, PointerOffset::START, this.contents[unknown as usize]));
        this.offered = this.node();
        for (function, id) in program.functions.iter().zip((0..).map(FunctionId)) {
            if function.is_defined() {
                this.interface(id, function);
            }
        }
        this.globals(program);
        for (function, id) in program.functions.iter().zip((0..).map(FunctionId)) {
            this.function(program, id, function);
        }
        if let Some(root) = program.root {
            // what a run is given from outside
            let parameters = this.interfaces.get(&root).map(|of| of.parameters.clone()).unwrap_or_default();
            this.addresses.extend(parameters.into_iter().map(|node| (unknown, PointerOffset::START, node)));
        }
        this
    }

    /// The node of a value, if it has one.
    pub(super) fn node_of(&self, function: FunctionId, operand: Operand) -> Option<u32> {
        match operand {
            Operand::Result(id) => self.values.get(&(function, Value::Result(id))).copied(),
            Operand::Parameter(number) => self.values.get(&(function, Value::Parameter(number))).copied(),
            Operand::Int { .. }
            | Operand::Float { .. }
            | Operand::Null
            | Operand::Global { .. }
            | Operand::Function(_)
            | Operand::Undefined(_) => None,
        }
    }

    fn node(&mut self) -> u32 {
        self.n_nodes += 1;
        self.n_nodes - 1
    }

    fn value(&mut self, function: FunctionId, value: Value) -> u32 {
        if let Some(node) = self.values.get(&(function, value)) {
            return *node;
        }
        let node = self.node();
        self.values.insert((function, value), node);
        node
    }

    fn object(&mut self, pointee: Pointee) -> u32 {
        if let Some(object) = self.objects.get(&pointee) {
            return *object;
        }
        let object = u32::try_from(self.pointees.len()).expect("fewer than 2^32 objects");
        let content = self.node();
        self.pointees.push(pointee);
        self.contents.push(content);
        self.objects.insert(pointee, object);
        object
    }

    fn interface(&mut self, id: FunctionId, function: &Function) {
        let n_parameters = u32::try_from(function.parameters.len()).expect("fewer than 2^32 parameters");
        let parameters = (0..n_parameters).map(|number| self.value(id, Value::Parameter(number))).collect();
        let result = self.value(id, Value::Returned);
        let variadic = function.variadic.then(|| {
            let object = self.object(Pointee::Variadic(id));
            self.contents[object as usize]
        });
        self.interfaces.insert(id, Interface { parameters, result, variadic });
    }

    fn globals(&mut self, program: &Program) {
        for (global, id) in program.globals.iter().zip((0..).map(model::GlobalId)) {
            if global.linkage == Linkage::External {
                let content = self.content(Pointee::Global(id));
                self.addresses.push((0, PointerOffset::START, content));
            }
            for relocation in &global.relocations {
                let target = self.object(match relocation.target {
                    RelocationTarget::Global(target) => Pointee::Global(target),
                    RelocationTarget::Function(target) => Pointee::Function(target),
                });
                let content = self.content(Pointee::Global(id));
                let spot = PointerOffset::At { offset: relocation.addend, index: None };
                self.addresses.push((target, spot, content));
            }
        }
    }

    fn content(&mut self, pointee: Pointee) -> u32 {
        let object = self.object(pointee);
        self.contents[object as usize]
    }

    /// The node of an operand; none for what points nowhere.
    fn operand(&mut self, id: FunctionId, function: &Function, operand: Operand) -> Option<u32> {
        if let Some(at) = address(function, operand) {
            let spot = PointerOffset::At { offset: at.offset, index: at.index };
            return Some(self.address_of(pointee(id, at.base), spot));
        }
        let (root, by) = root(function, operand);
        let node = self.unmoved(id, function, root)?;
        Some(self.moved(node, by))
    }

    /// The node of a value that is no other one moved.
    fn unmoved(&mut self, id: FunctionId, function: &Function, root: Operand) -> Option<u32> {
        match root {
            Operand::Result(instr) => Some(self.value(id, Value::Result(instr))),
            Operand::Parameter(number) => Some(self.value(id, Value::Parameter(number))),
            Operand::Function(target) => {
                Some(self.address_of(Pointee::Function(target), PointerOffset::START))
            }
            Operand::Global { offset, .. } => {
                let spot = PointerOffset::At { offset, index: None };
                address(function, root).map(|at| self.address_of(pointee(id, at.base), spot))
            }
            Operand::Int { .. } | Operand::Float { .. } | Operand::Null | Operand::Undefined(_) => None,
        }
    }

    /// The node that takes what another one points to, moved.
    fn moved(&mut self, from: u32, by: PointerOffset) -> u32 {
        if by == PointerOffset::START {
            return from;
        }
        if let Some(node) = self.moved.get(&(from, by)) {
            return *node;
        }
        let node = self.node();
        self.moves.push((from, by, node));
        self.moved.insert((from, by), node);
        node
    }

    /// A node that points to this alone.
    fn address_of(&mut self, pointee: Pointee, spot: PointerOffset) -> u32 {
        let object = self.object(pointee);
        let node = self.node();
        self.addresses.push((object, spot, node));
        node
    }

    /// Takes a pointer that may be moved on the way.
    fn take(&mut self, from: Option<u32>, to: u32) {
        self.moves.extend(from.map(|from| (from, PointerOffset::Anywhere, to)));
    }

    fn copy(&mut self, from: Option<u32>, to: u32) {
        self.copies.extend(from.map(|from| (from, to)));
    }

    /// `to` takes what is at an address.
    fn load(&mut self, id: FunctionId, function: &Function, at: Operand, to: u32) {
        match address(function, at) {
            Some(at) => {
                let content = self.content(pointee(id, at.base));
                self.copies.push((content, to));
            }
            None => {
                let from = self.unmoved(id, function, root(function, at).0);
                self.loads.extend(from.map(|from| (from, to)));
            }
        }
    }

    fn store(&mut self, id: FunctionId, function: &Function, at: Operand, value: Option<u32>) {
        let Some(value) = value else { return };
        match address(function, at) {
            Some(at) => {
                let content = self.content(pointee(id, at.base));
                self.copies.push((value, content));
            }
            None => {
                let to = self.unmoved(id, function, root(function, at).0);
                self.stores.extend(to.map(|to| (to, value)));
            }
        }
    }

    fn function(&mut self, program: &Program, id: FunctionId, function: &Function) {
        for block in &function.blocks {
            for &instr in &block.instrs {
                self.instr(program, id, function, instr);
            }
            if let Terminator::Return(Some(value)) = block.terminator {
                let value = self.operand(id, function, value);
                let result = self.value(id, Value::Returned);
                self.copy(value, result);
            }
        }
    }

    fn instr(&mut self, program: &Program, id: FunctionId, function: &Function, instr: InstrId) {
        let result = Value::Result(instr);
        match &function.instr(instr).op {
            // moved or renamed pointers are what they come from
            Op::Alloca { .. } | Op::Address { .. } | Op::Freeze(_) => {}
            Op::Cast(
                CastOp::Trunc
                | CastOp::Zext
                | CastOp::Sext
                | CastOp::PtrToInt
                | CastOp::IntToPtr
                | CastOp::Bitcast
                | CastOp::FloatTrunc
                | CastOp::FloatExtend
                | CastOp::FloatToUnsigned
                | CastOp::FloatToSigned
                | CastOp::UnsignedToFloat
                | CastOp::SignedToFloat,
                ..,
            ) => {}
            Op::Load { address, .. } => {
                let to = self.value(id, result);
                self.load(id, function, *address, to);
            }
            Op::Store { address, value, .. } => {
                let value = self.operand(id, function, *value);
                self.store(id, function, *address, value);
            }
            Op::Memory { op: MemoryOp::Copy | MemoryOp::Move, to, from, .. } => {
                let moved = self.node();
                self.load(id, function, *from, moved);
                self.store(id, function, *to, Some(moved));
            }
            Op::Memory { op: MemoryOp::Set, .. } => {}
            Op::Call { callee, arguments } => {
                let arguments: Vec<Option<u32>> =
                    arguments.iter().map(|(_, argument)| self.operand(id, function, *argument)).collect();
                self.call(program, id, function, instr, *callee, &arguments);
            }
            Op::VaStart(list) => {
                let area = self.address_of(Pointee::Variadic(id), PointerOffset::START);
                self.store(id, function, *list, Some(area));
            }
            Op::VaCopy { to, from } => {
                let moved = self.node();
                self.load(id, function, *from, moved);
                self.store(id, function, *to, Some(moved));
            }
            Op::Select { then, otherwise, .. } => self.join(id, function, result, &[*then, *otherwise]),
            Op::Compare(..) | Op::FloatCompare(..) | Op::Mark { .. } | Op::VaEnd(_) => {}
            op @ (Op::Phi(_) | Op::Extract { .. } | Op::Insert { .. }) => {
                self.join(id, function, result, &op.operands());
            }
            op @ (Op::Binary(..) | Op::FloatBinary(..) | Op::FloatNegate(_) | Op::Opaque { .. }) => {
                let to = self.value(id, result);
                for operand in op.operands() {
                    let from = self.operand(id, function, operand);
                    self.take(from, to);
                }
            }
        }
    }

    fn join(&mut self, id: FunctionId, function: &Function, result: Value, operands: &[Operand]) {
        let to = self.value(id, result);
        for operand in operands {
            let from = self.operand(id, function, *operand);
            self.copy(from, to);
        }
    }

    fn call(
        &mut self,
        program: &Program,
        id: FunctionId,
        function: &Function,
        instr: InstrId,
        callee: Callee,
        arguments: &[Option<u32>],
    ) {
        let result = self.value(id, Value::Result(instr));
        match callee {
            Callee::Direct(callee) => match self.interfaces.get(&callee).cloned() {
                Some(interface) => {
                    self.copies.push((interface.result, result));
                    for (number, argument) in arguments.iter().enumerate() {
                        let parameter = interface.parameters.get(number).copied().or(interface.variadic);
                        self.copies.extend(argument.zip(parameter));
                    }
                }
                None => self.outside(id, instr, &program.function(callee).name, arguments, result),
            },
            Callee::Indirect(callee) => {
                let callee = self.operand(id, function, callee);
                let arguments = arguments.to_vec();
                self.calls.extend(callee.map(|callee| IndirectCall {
                    callee,
                    arguments,
                    result: Some(result),
                    is_outside: false,
                }));
            }
        }
    }

    /// A call of code that is not in the program.
    fn outside(
        &mut self,
        id: FunctionId,
        instr: InstrId,
        name: &str,
        arguments: &[Option<u32>],
        result: u32,
    ) {
        match effect(name) {
            Effect::Allocates => {
                let block = self.object(Pointee::Heap(id, instr));
                self.addresses.push((block, PointerOffset::START, result));
                // `realloc` gives what it was given, or a copy of it
                for argument in arguments.iter().flatten() {
                    self.copies.push((*argument, result));
                }
            }
            Effect::Offers => {
                let offered = self.offered;
                self.copy(arguments.first().copied().flatten(), offered);
            }
            Effect::Chooses => {
                let offered = self.offered;
                if let Some(to) = arguments.get(1).copied().flatten() {
                    self.stores.push((to, offered));
                    self.stores.extend(arguments.get(2).copied().flatten().map(|fresh| (to, fresh)));
                }
            }
            Effect::ChoosesFunction => {
                if let (Some(to), Some(from)) =
                    (arguments.get(1).copied().flatten(), arguments.get(2).copied().flatten())
                {
                    let moved = self.node();
                    self.loads.push((from, moved));
                    self.stores.push((to, moved));
                }
            }
            Effect::Fills => {}
            Effect::Reads | Effect::Writes(_) => {
                arguments.iter().for_each(|argument| self.take(*argument, result));
                self.addresses.push((0, PointerOffset::START, result));
            }
            Effect::Anything => self.anything(arguments, result),
        }
    }

    fn anything(&mut self, arguments: &[Option<u32>], result: u32) {
        let known = self.node();
        self.addresses.push((0, PointerOffset::START, known));
        self.loads.push((known, known));
        self.copies.push((known, result));
        for argument in arguments.iter().flatten() {
            self.take(Some(*argument), known);
            self.stores.push((*argument, known));
            let arguments = vec![Some(known)];
            self.calls.push(IndirectCall { callee: *argument, arguments, result: None, is_outside: true });
        }
    }
}
