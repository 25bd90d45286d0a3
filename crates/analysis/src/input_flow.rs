//! Which functions can no input reach? Their code needs no expressions beside it.
//!
//! Method: values and objects are the nodes of a graph, and an edge leads from one to another that may be computed from it;
//! what the runtime fills and what comes from outside of the program are the sources. A function is free of input when
//! nothing that it computes, reads or writes can be reached from them. Limits: those of the points-to analysis; a function
//! whose address is taken counts as called with input, and so do harness, stubs and models of library functions.

use std::collections::{BTreeSet, HashMap};

use model::{Callee, Function, FunctionId, InstrId, MemoryOp, Op, Operand, Program, Terminator};

use crate::call_graph::address_taken;
use crate::library::{Effect, effect};
use crate::points_to::{Pointee, PointsTo};

/// Names that are not the user's: harness, stubs, models of library functions.
const OWN: &str = "__quarry_";

/// The defined functions of the user that no input reaches.
pub fn free_of_input(program: &Program) -> BTreeSet<FunctionId> {
    let mut flow = Flow::new(program);
    for (id, function) in defined(program) {
        flow.function(id, function);
    }
    flow.enter_from_outside();
    let reached = flow.reached();
    let named = address_taken(program);
    let is_free =
        |id: FunctionId| !named.contains(&id) && flow.met[id.index()].iter().all(|node| !reached[*node]);
    let own = defined(program).filter(|(_, function)| !function.variadic && !function.name.starts_with(OWN));
    own.map(|(id, _)| id).filter(|id| is_free(*id)).collect()
}

fn defined(program: &Program) -> impl Iterator<Item = (FunctionId, &Function)> {
    let functions = (0..).map(FunctionId).zip(&program.functions);
    functions.filter(|(_, function)| function.is_defined())
}

/// What input may be in.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Holder {
    Input,
    Result(FunctionId, InstrId),
    Parameter(FunctionId, u32),
    Returned(FunctionId),
    Object(Pointee),
}

struct Flow<'p> {
    program: &'p Program,
    points_to: PointsTo,
    nodes: HashMap<Holder, usize>,
    /// By node: those that may be computed from it.
    edges: Vec<Vec<usize>>,
    /// By function: what it computes, reads and writes.
    met: Vec<Vec<usize>>,
}

impl<'p> Flow<'p> {
    fn new(program: &'p Program) -> Self {
        let met = vec![Vec::new(); program.functions.len()];
        let points_to = PointsTo::of(program);
        Self { program, points_to, nodes: HashMap::new(), edges: Vec::new(), met }
    }

    fn node(&mut self, holder: Holder) -> usize {
        let next = self.edges.len();
        let node = *self.nodes.entry(holder).or_insert(next);
        if node == next {
            self.edges.push(Vec::new());
        }
        node
    }

    fn value(&mut self, id: FunctionId, operand: Operand) -> Option<usize> {
        match operand {
            Operand::Result(instr) => Some(self.node(Holder::Result(id, instr))),
            Operand::Parameter(number) => Some(self.node(Holder::Parameter(id, number))),
            Operand::Int { .. }
            | Operand::Float { .. }
            | Operand::Null
            | Operand::Global { .. }
            | Operand::Function(_)
            | Operand::Undefined(_) => None,
        }
    }

    /// The objects that an address may lead to; memory of nobody when that is not known.
    fn objects(&mut self, id: FunctionId, address: Operand) -> Vec<usize> {
        let mut pointees: BTreeSet<Pointee> = self
            .points_to
            .targets(self.program, id, address)
            .into_iter()
            .map(|(pointee, _)| pointee)
            .collect();
        if pointees.is_empty() {
            pointees.insert(Pointee::Unknown);
        }
        pointees.into_iter().map(|pointee| self.node(Holder::Object(pointee))).collect()
    }

    fn flow(&mut self, from: impl IntoIterator<Item = usize>, to: usize) {
        for from in from {
            self.edges[from].push(to);
        }
    }

    fn enter_from_outside(&mut self) {
        let input = self.node(Holder::Input);
        let mut entered = vec![Holder::Object(Pointee::Unknown)];
        for (global, number) in self.program.globals.iter().zip((0..).map(model::GlobalId)) {
            if global.linkage == model::Linkage::External {
                entered.push(Holder::Object(Pointee::Global(number)));
            }
        }
        let named = address_taken(self.program).into_iter().chain(self.program.root);
        for id in named {
            let n_parameters = self.program.function(id).parameters.len();
            entered.extend((0..).take(n_parameters).map(|number| Holder::Parameter(id, number)));
        }
        for holder in entered {
            let node = self.node(holder);
            self.flow([input], node);
        }
    }

    /// By node: whether input can be in it.
    fn reached(&mut self) -> Vec<bool> {
        let input = self.node(Holder::Input);
        let mut reached = vec![false; self.edges.len()];
        reached[input] = true;
        let mut open = vec![input];
        while let Some(node) = open.pop() {
            for &next in &self.edges[node] {
                if !std::mem::replace(&mut reached[next], true) {
                    open.push(next);
                }
            }
        }
        reached
    }

    fn function(&mut self, id: FunctionId, function: &Function) {
        for number in (0..).take(function.parameters.len()) {
            let parameter = self.node(Holder::Parameter(id, number));
            self.met[id.index()].push(parameter);
        }
        for block in &function.blocks {
            for &instr in &block.instrs {
                let result = self.node(Holder::Result(id, instr));
                self.met[id.index()].push(result);
                self.instr(id, &function.instr(instr).op, instr, result);
            }
            if let Terminator::Return(Some(value)) = block.terminator {
                let value = self.value(id, value);
                let returned = self.node(Holder::Returned(id));
                self.flow(value, returned);
            }
        }
    }

    fn instr(&mut self, id: FunctionId, op: &Op, instr: InstrId, result: usize) {
        match op {
            Op::Load { address, .. } => {
                let from = self.accessed(id, *address);
                self.flow(from, result);
            }
            Op::Store { address, value, .. } => {
                let value = self.value(id, *value);
                self.write(id, *address, value.into_iter().collect());
            }
            Op::Memory { op, to, from, length } => {
                let length = self.value(id, *length);
                let mut written: Vec<usize> = match op {
                    MemoryOp::Copy | MemoryOp::Move => self.accessed(id, *from),
                    MemoryOp::Set => self.value(id, *from).into_iter().collect(),
                };
                written.extend(length);
                self.write(id, *to, written);
            }
            Op::Call { callee, arguments } => {
                let arguments: Vec<Operand> = arguments.iter().map(|(_, argument)| *argument).collect();
                match *callee {
                    Callee::Direct(callee) => self.call(id, instr, callee, &arguments, result),
                    Callee::Indirect(pointer) => self.call_pointer(id, instr, pointer, &arguments, result),
                }
            }
            // the list itself is memory like any other; what it leads to is what callers passed
            Op::VaStart(list) | Op::VaEnd(list) => {
                self.accessed(id, *list);
            }
            Op::VaCopy { to, from } => {
                let from = self.accessed(id, *from);
                self.write(id, *to, from);
            }
            Op::Opaque { operands, .. } => {
                for operand in operands {
                    let from = self.accessed(id, *operand);
                    self.flow(from, result);
                }
            }
            op @ (Op::Alloca { .. }
            | Op::Binary(..)
            | Op::Compare(..)
            | Op::FloatBinary(..)
            | Op::FloatNegate(_)
            | Op::FloatCompare(..)
            | Op::Cast(..)
            | Op::Address { .. }
            | Op::Select { .. }
            | Op::Phi(_)
            | Op::Mark { .. }
            | Op::Extract { .. }
            | Op::Insert { .. }
            | Op::Freeze(_)) => {
                for operand in op.operands() {
                    let from = self.value(id, operand);
                    self.flow(from, result);
                }
            }
        }
    }

    /// An address and what it leads to, of which the function knows from now on.
    fn accessed(&mut self, id: FunctionId, address: Operand) -> Vec<usize> {
        let mut accessed = self.objects(id, address);
        self.met[id.index()].extend_from_slice(&accessed);
        accessed.extend(self.value(id, address));
        accessed
    }

    fn write(&mut self, id: FunctionId, address: Operand, mut from: Vec<usize>) {
        from.extend(self.value(id, address));
        for object in self.objects(id, address) {
            self.met[id.index()].push(object);
            self.flow(from.iter().copied(), object);
        }
    }

    fn call(
        &mut self,
        id: FunctionId,
        instr: InstrId,
        callee: FunctionId,
        arguments: &[Operand],
        result: usize,
    ) {
        let target = self.program.function(callee);
        if !target.is_defined() {
            return self.call_outside(id, instr, &target.name, arguments, result);
        }
        let n_parameters = target.parameters.len();
        for (number, &argument) in (0..).zip(arguments) {
            let Some(value) = self.value(id, argument) else { continue };
            let is_named = usize::try_from(number).is_ok_and(|number| number < n_parameters);
            let to = if is_named {
                Holder::Parameter(callee, number)
            } else {
                Holder::Object(Pointee::Variadic(callee))
            };
            let to = self.node(to);
            self.flow([value], to);
        }
        let returned = self.node(Holder::Returned(callee));
        self.flow([returned], result);
    }

    fn call_pointer(
        &mut self,
        id: FunctionId,
        instr: InstrId,
        pointer: Operand,
        arguments: &[Operand],
        result: usize,
    ) {
        let targets = self.points_to.targets(self.program, id, pointer);
        let is_known = !targets.is_empty();
        let mut is_outside = !is_known;
        for (pointee, _) in targets {
            match pointee {
                Pointee::Function(callee) => self.call(id, instr, callee, arguments, result),
                _ => is_outside = true,
            }
        }
        let pointer = self.value(id, pointer);
        self.flow(pointer, result);
        if is_outside {
            let input = self.node(Holder::Input);
            self.flow([input], result);
        }
    }

    /// Code that is not instrumented makes no expressions, but those of what it reads may belong to what it gives.
    fn call_outside(
        &mut self,
        id: FunctionId,
        instr: InstrId,
        name: &str,
        arguments: &[Operand],
        result: usize,
    ) {
        let mut from: Vec<usize> = Vec::new();
        if name.starts_with(OWN) {
            from.push(self.node(Holder::Input));
        }
        let effect = effect(name);
        let is_intrinsic = name.starts_with("llvm.");
        for (number, &argument) in arguments.iter().enumerate() {
            from.extend(self.value(id, argument));
            let may_read =
                !(is_intrinsic || matches!(&effect, Effect::Writes(which) if which.contains(&number)));
            let is_pointer = !self.points_to.targets(self.program, id, argument).is_empty();
            if is_pointer && may_read {
                from.extend(self.accessed(id, argument));
            }
        }
        self.flow(from.iter().copied(), result);
        match effect {
            Effect::Allocates => {
                let block = self.node(Holder::Object(Pointee::Heap(id, instr)));
                self.flow(from, block);
            }
            Effect::Reads => {}
            Effect::Writes(which) => {
                for &argument in arguments.get(which).unwrap_or_default() {
                    self.write(id, argument, from.clone());
                }
            }
            Effect::Fills if is_intrinsic => {}
            Effect::Offers | Effect::Chooses | Effect::ChoosesFunction | Effect::Fills | Effect::Anything => {
                for &argument in arguments {
                    if !self.points_to.targets(self.program, id, argument).is_empty() {
                        self.write(id, argument, from.clone());
                    }
                }
            }
        }
    }
}
