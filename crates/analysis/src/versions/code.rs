//! What does an instruction compute, in terms that two versions of a program share?
//!
//! Method: a fingerprint of the expression tree that ends in the instruction: operations, types, constants, functions by
//! name, globals by name with what they hold, strings by their text. Locals are kept apart ([`Code::locals`]), because their names
//! may change. Code before optimisation has one instruction per step of the source, so a macro, a type or a layout shows
//! wherever it is used, and comments, formatting and names do not. Limit: two fingerprints of 64 bits may be equal by accident.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::mem::discriminant;

use model::{
    BlockId, Callee, FunctionId, Global, GlobalId, InstrId, Linkage, Op, Operand, Program, RelocationTarget,
    SpanId, Terminator, Type, VariableId, VariableKind,
};

use crate::Place;

/// One instruction or terminator, as far as versions are compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Code {
    pub(super) place: Place,
    /// What is computed; locals by their sizes alone.
    pub(super) shape: u64,
    /// The kind of operation alone.
    pub(super) kind: u64,
    /// The locals in the expression, in order.
    pub(super) locals: Vec<InstrId>,
}

/// What is known of a whole program before its code is read.
pub(super) struct Names<'p> {
    program: &'p Program,
    /// Functions that go by another name in the other version.
    renamed: BTreeMap<FunctionId, String>,
    globals: Vec<u64>,
    /// The same without what they hold.
    names: Vec<u64>,
    /// By `alloca`: the variable.
    variables: HashMap<(FunctionId, InstrId), VariableId>,
}

impl<'p> Names<'p> {
    pub(super) fn new(program: &'p Program, renamed: BTreeMap<FunctionId, String>) -> Self {
        let mut variables = HashMap::new();
        for (variable, id) in program.variables.iter().zip((0..).map(VariableId)) {
            if let model::Storage::Stack(function, instr) = variable.storage {
                variables.entry((function, instr)).or_insert(id);
            }
        }
        let mut names = Self { program, renamed, globals: Vec::new(), names: Vec::new(), variables };
        let ids = || (0..program.globals.len()).map(GlobalId::new);
        names.globals = ids().map(|id| names.global(id, true, &mut BTreeSet::new())).collect();
        names.names = ids().map(|id| names.global(id, false, &mut BTreeSet::new())).collect();
        names
    }

    /// The variable that lives in an `alloca`.
    pub(super) fn variable(&self, function: FunctionId, instr: InstrId) -> Option<&'p model::Variable> {
        Some(&self.program.variables[self.variables.get(&(function, instr))?.index()])
    }

    /// What a function is called in both versions.
    pub(super) fn function(&self, id: FunctionId) -> &str {
        self.renamed.get(&id).unwrap_or(&self.program.function(id).name)
    }

    /// The name of the source file whose path a string is: what `__FILE__` gives.
    fn file_named(&self, global: &Global) -> Option<&'p str> {
        let text = std::str::from_utf8(global.bytes.strip_suffix(b"\0")?).ok()?;
        let name = text.rsplit('/').next()?;
        let ends = |path: &str| path.ends_with(text) || text.ends_with(path);
        let file = self.program.files.iter().find(|file| file.path.ends_with(name) && ends(&file.path))?;
        file.path.rsplit('/').next().filter(|file| *file == name)
    }

    /// A global by name and, if asked for, what it holds; one without a name of the source by that alone.
    fn global(&self, id: GlobalId, with_contents: bool, inside: &mut BTreeSet<GlobalId>) -> u64 {
        let global = self.program.global(id);
        let is_named = !is_literal(global);
        let mut hasher = DefaultHasher::new();
        if is_named {
            name_of(global).hash(&mut hasher);
        }
        if (with_contents || !is_named) && inside.insert(id) {
            match self.file_named(global).filter(|_| !is_named) {
                // the two versions lie in different directories
                Some(file) => file.hash(&mut hasher),
                None => (global.size, global.constant && is_named, &global.bytes).hash(&mut hasher),
            }
            for relocation in &global.relocations {
                (relocation.offset, relocation.addend).hash(&mut hasher);
                match relocation.target {
                    // what another variable holds is a matter of that one's users
                    RelocationTarget::Global(target) => self.global(target, false, inside).hash(&mut hasher),
                    RelocationTarget::Function(function) => self.function(function).hash(&mut hasher),
                }
            }
        }
        hasher.finish()
    }
}

/// Whether a global has no name in the source: a string, a constant aggregate.
fn is_literal(global: &Global) -> bool {
    let name = &global.name;
    global.linkage == Linkage::Internal
        && (name.starts_with(".str") || name.starts_with("__const.") || name.starts_with(".compoundliteral"))
}

/// The name without the number that linking adds to `static` ones.
fn name_of(global: &Global) -> &str {
    let name = global.name.as_str();
    match name.rsplit_once('.') {
        Some((stem, number)) if global.linkage == Linkage::Internal && number.parse::<u32>().is_ok() => stem,
        Some(_) | None => name,
    }
}

/// Reads the code of one function.
pub(super) struct Reader<'n, 'p> {
    names: &'n Names<'p>,
    id: FunctionId,
    known: HashMap<InstrId, (u64, Vec<InstrId>)>,
    /// Being read: a cycle through a phi ends here.
    open: BTreeSet<InstrId>,
    /// The `alloca` in which the compiler collects what a function with several `return` statements returns.
    slot: Option<InstrId>,
}

impl<'n, 'p> Reader<'n, 'p> {
    pub(super) fn new(names: &'n Names<'p>, id: FunctionId) -> Self {
        let slot = slot(names, id);
        Self { names, id, known: HashMap::new(), open: BTreeSet::new(), slot }
    }

    /// What an instruction of the function does.
    pub(super) fn op_of(&self, instr: InstrId) -> &'p Op {
        &self.function().instr(instr).op
    }

    fn function(&self) -> &'p model::Function {
        self.names.program.function(self.id)
    }

    /// An instruction that says something; `allocas` of fixed size, parameters taking their arguments and the way the compiler
    /// collects results do not.
    pub(super) fn instr(&mut self, place: Place, instr: InstrId) -> Option<Code> {
        let function = self.function();
        match &function.instr(instr).op {
            Op::Alloca { count, .. } if count.constant().is_some() => return None,
            Op::Store { address: Operand::Result(to), value: Operand::Parameter(_), .. }
                if matches!(function.instr(*to).op, Op::Alloca { .. }) =>
            {
                return None;
            }
            _ => {}
        }
        if self.is_result_slot(instr) {
            return None;
        }
        if let Op::Store { address: Operand::Result(to), value, .. } = function.instr(instr).op
            && self.slot == Some(to)
        {
            return Some(self.returned(place, value));
        }
        let (shape, locals) = self.tree(instr);
        let op = &function.instr(instr).op;
        Some(Code { place, shape, kind: kind(op), locals })
    }

    /// A terminator that depends on a value.
    pub(super) fn terminator(&mut self, block: BlockId, at: u32) -> Option<Code> {
        let place = Place { function: self.id, block, at };
        let terminator = &self.function().block(block).terminator;
        let mut hasher = DefaultHasher::new();
        discriminant(terminator).hash(&mut hasher);
        let kind = hasher.finish();
        let mut locals = Vec::new();
        match terminator {
            Terminator::Jump(_) | Terminator::Unreachable | Terminator::Return(None) => return None,
            Terminator::Return(Some(Operand::Result(value))) if self.is_result_slot(*value) => return None,
            Terminator::Return(Some(value)) => return Some(self.returned(place, *value)),
            Terminator::Branch { condition, decided, range, .. } => {
                decided.map(|decided| decided.negated).hash(&mut hasher);
                range.is_some().hash(&mut hasher);
                self.operand(*condition, &mut hasher, &mut locals, true);
            }
            Terminator::Switch { value, bits, .. } => {
                bits.hash(&mut hasher);
                self.operand(*value, &mut hasher, &mut locals, true);
            }
            Terminator::IndirectJump { address, .. } => {
                self.operand(*address, &mut hasher, &mut locals, true);
            }
        }
        Some(Code { place, shape: hasher.finish(), kind, locals })
    }

    /// A load of what the compiler collects the function's results in.
    pub(super) fn is_result_slot(&self, instr: InstrId) -> bool {
        let Op::Load { address: Operand::Result(from), .. } = self.op_of(instr) else { return false };
        self.slot == Some(*from)
    }

    /// A `return` with a value, which may be all that the function's end has or a store before it.
    fn returned(&mut self, place: Place, value: Operand) -> Code {
        let mut hasher = DefaultHasher::new();
        "return".hash(&mut hasher);
        let kind = hasher.finish();
        self.ty(self.function().result, &mut hasher);
        let mut locals = Vec::new();
        self.operand(value, &mut hasher, &mut locals, true);
        Code { place, shape: hasher.finish(), kind, locals }
    }

    fn tree(&mut self, instr: InstrId) -> (u64, Vec<InstrId>) {
        if let Some(known) = self.known.get(&instr) {
            return known.clone();
        }
        if !self.open.insert(instr) {
            return (1, Vec::new());
        }
        let of = self.function().instr(instr);
        let mut hasher = DefaultHasher::new();
        let mut locals = Vec::new();
        discriminant(&of.op).hash(&mut hasher);
        self.ty(of.ty, &mut hasher);
        self.op(&of.op, of.span, &mut hasher, &mut locals);
        self.open.remove(&instr);
        let found = (hasher.finish(), locals);
        self.known.insert(instr, found.clone());
        found
    }

    fn op(&mut self, op: &Op, span: Option<SpanId>, hasher: &mut DefaultHasher, locals: &mut Vec<InstrId>) {
        match op {
            Op::Alloca { size, .. } => size.hash(hasher),
            Op::Load { volatile, .. } => volatile.hash(hasher),
            Op::Store { value_type, .. } | Op::Insert { value_type, .. } => self.ty(*value_type, hasher),
            Op::Binary(operation, ..) => operation.hash(hasher),
            Op::Compare(predicate, ty, ..) => {
                predicate.hash(hasher);
                self.ty(*ty, hasher);
            }
            Op::FloatBinary(operation, ..) => operation.hash(hasher),
            Op::FloatCompare(predicate, kind, ..) => (predicate, kind).hash(hasher),
            Op::Cast(cast, from, _) => {
                cast.hash(hasher);
                self.ty(*from, hasher);
            }
            Op::Address { offset, indices, .. } => {
                offset.hash(hasher);
                indices.iter().for_each(|(_, _, scale)| scale.hash(hasher));
            }
            Op::Call { callee, arguments } => {
                match callee {
                    Callee::Direct(id) if *id == self.id => "itself".hash(hasher),
                    Callee::Direct(id) => self.names.function(*id).hash(hasher),
                    Callee::Indirect(_) => {}
                }
                arguments.iter().for_each(|(ty, _)| self.ty(*ty, hasher));
            }
            Op::Extract { leaf, .. } => leaf.hash(hasher),
            Op::Memory { op, .. } => discriminant(op).hash(hasher),
            Op::Opaque { what, .. } => what.hash(hasher),
            Op::FloatNegate(_)
            | Op::Select { .. }
            | Op::Phi(_)
            | Op::Mark { .. }
            | Op::Freeze(_)
            | Op::VaStart(_)
            | Op::VaCopy { .. }
            | Op::VaEnd(_) => {}
        }
        let is_store = matches!(op, Op::Store { .. });
        let line = self.line_of_macro(op, span);
        for (operand, number) in op.operands().into_iter().zip(0..) {
            if line.is_some() && operand.constant() == line {
                "__LINE__".hash(hasher);
                continue;
            }
            // what a variable holds at first does not matter to what is written over it
            self.operand(operand, hasher, locals, !(is_store && number == 0));
        }
    }

    /// The line of a call that a macro makes: an argument with this value is `__LINE__`, as in `assert`, and no change when it moves.
    fn line_of_macro(&self, op: &Op, span: Option<SpanId>) -> Option<u64> {
        let span = span.filter(|_| matches!(op, Op::Call { .. }))?;
        let span = self.names.program.span(span);
        span.spelled.map(|_| u64::from(span.at.line))
    }

    fn operand(
        &mut self,
        operand: Operand,
        hasher: &mut DefaultHasher,
        locals: &mut Vec<InstrId>,
        with_contents: bool,
    ) {
        discriminant(&operand).hash(hasher);
        match operand {
            Operand::Result(id) => {
                let alloca = match &self.function().instr(id).op {
                    Op::Alloca { size, count, .. } => Some((*size, count.constant())),
                    _ => None,
                };
                match alloca {
                    Some(size) => {
                        size.hash(hasher);
                        if self.names.variable(self.id, id).is_some() {
                            locals.push(id);
                        }
                    }
                    None => {
                        let (shape, of) = self.tree(id);
                        shape.hash(hasher);
                        locals.extend(of);
                    }
                }
            }
            Operand::Parameter(number) => number.hash(hasher),
            Operand::Int { bits, value } => (bits, value).hash(hasher),
            Operand::Float { kind, bits } => (kind, bits).hash(hasher),
            Operand::Null => {}
            Operand::Global { global, offset } => {
                let names = self.names;
                let of = if with_contents { &names.globals } else { &names.names };
                (of[global.index()], offset).hash(hasher);
            }
            Operand::Function(id) => self.names.function(id).hash(hasher),
            Operand::Undefined(ty) => self.ty(ty, hasher),
        }
    }

    /// A type; a structure by what is in it, because its number is not that of the other version.
    fn ty(&self, ty: Type, hasher: &mut DefaultHasher) {
        match ty {
            Type::Record(id) => {
                let record = self.names.program.record(id);
                (record.size, &record.leaves).hash(hasher);
            }
            Type::Void | Type::Int(_) | Type::Ptr | Type::Float(_) | Type::Opaque => ty.hash(hasher),
        }
    }
}

/// Where the compiler collects what a function returns.
fn slot(names: &Names<'_>, id: FunctionId) -> Option<InstrId> {
    let function = names.program.function(id);
    let returned = function.blocks.iter().find_map(|block| match block.terminator {
        Terminator::Return(Some(Operand::Result(value))) => Some(value),
        Terminator::Return(_)
        | Terminator::Jump(_)
        | Terminator::Branch { .. }
        | Terminator::Switch { .. }
        | Terminator::IndirectJump { .. }
        | Terminator::Unreachable => None,
    })?;
    let Op::Load { address: Operand::Result(slot), .. } = function.instr(returned).op else { return None };
    let is_alloca = matches!(function.instr(slot).op, Op::Alloca { .. });
    (is_alloca && names.variable(id, slot).is_none()).then_some(slot)
}

fn kind(op: &Op) -> u64 {
    let mut hasher = DefaultHasher::new();
    discriminant(op).hash(&mut hasher);
    hasher.finish()
}

/// The locals of a function that have a name, in the order of the code: name, size, number as a parameter.
pub(super) fn locals(names: &Names<'_>, id: FunctionId) -> Vec<Local> {
    let function = names.program.function(id);
    let allocas = function.blocks.iter().flat_map(|block| &block.instrs);
    let local = |instr: &InstrId| {
        let Op::Alloca { size, count, .. } = &function.instr(*instr).op else { return None };
        let variable = names.variable(id, *instr)?;
        let parameter = match variable.kind {
            VariableKind::Parameter(number) => Some(number),
            VariableKind::Local | VariableKind::Global | VariableKind::Static => None,
        };
        let size = (*size, count.constant());
        Some(Local { instr: *instr, name: variable.name.clone(), size, parameter })
    };
    allocas.filter_map(local).collect()
}

/// A local variable.
pub(super) struct Local {
    pub(super) instr: InstrId,
    pub(super) name: String,
    pub(super) size: (u64, Option<u64>),
    pub(super) parameter: Option<u32>,
}
