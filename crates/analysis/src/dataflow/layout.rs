//! Which objects does a program have? Each variable, and what each function returns.

use std::collections::BTreeMap;

use model::{FunctionId, InstrId, Op, Program, Storage, Type, Variable, VariableId};

use super::ObjectId;
use super::address::{Address, Base, constant};

/// Something that is defined and used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    /// As the source names it: `res`, `f()`.
    pub name: String,
    /// None for what a function returns.
    pub variable: Option<VariableId>,
    pub home: Home,
    /// Bytes.
    pub size: u64,
}

/// Where an object lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Home {
    /// In each activation of the function anew.
    Local(FunctionId),
    /// As long as the program runs.
    Static,
    /// In the return of a function.
    Result(FunctionId),
}

/// How much of an object an access touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Touch {
    All,
    /// Some of it, or nobody knows.
    Part,
}

/// The objects, and how to find them. Those of variables come first, in their order.
pub(super) struct Layout {
    pub(super) objects: Vec<Object>,
    locals: BTreeMap<(FunctionId, InstrId), VariableId>,
    /// By global.
    statics: Vec<Option<VariableId>>,
    /// By function: what it returns.
    results: Vec<Option<ObjectId>>,
}

impl Layout {
    pub(super) fn new(program: &Program) -> Self {
        let mut layout = Self {
            objects: Vec::new(),
            locals: BTreeMap::new(),
            statics: vec![None; program.globals.len()],
            results: Vec::new(),
        };
        for (variable, id) in program.variables.iter().zip((0..).map(VariableId)) {
            layout.variable(program, variable, id);
        }
        for (function, id) in program.functions.iter().zip((0..).map(FunctionId)) {
            let has_result = function.is_defined() && !function.generated && function.result != Type::Void;
            layout.results.push(has_result.then(|| {
                let name = format!("{}()", function.name);
                let home = Home::Result(id);
                layout.objects.push(Object { name, variable: None, home, size: 0 });
                ObjectId::new(layout.objects.len() - 1)
            }));
        }
        layout
    }

    fn variable(&mut self, program: &Program, variable: &Variable, id: VariableId) {
        let (home, size) = match variable.storage {
            Storage::Stack(function, instr) => {
                self.locals.entry((function, instr)).or_insert(id);
                (Home::Local(function), alloca_size(program, function, instr))
            }
            Storage::Global(global) => {
                self.statics[global.index()].get_or_insert(id);
                (Home::Static, program.global(global).size)
            }
        };
        self.objects.push(Object { name: variable.name.clone(), variable: Some(id), home, size });
    }

    /// The variable at a base.
    pub(super) fn variable_at(&self, function: FunctionId, base: Base) -> Option<VariableId> {
        match base {
            Base::Local(instr) => self.locals.get(&(function, instr)).copied(),
            Base::Global(global) => self.statics[global.index()],
        }
    }

    /// What a function returns.
    pub(super) fn result(&self, function: FunctionId) -> Option<ObjectId> {
        self.results[function.index()]
    }

    /// The object of a variable, and how much of it an access touches; without a size, nobody knows.
    pub(super) fn touched(&self, variable: VariableId, at: Address, size: Option<u64>) -> (ObjectId, Touch) {
        let object = ObjectId::new(variable.index());
        let whole = self.objects[object.index()].size;
        let covers = at.is_exact && at.offset <= 0 && size.is_some_and(|size| size >= whole);
        (object, if covers { Touch::All } else { Touch::Part })
    }
}

fn alloca_size(program: &Program, function: FunctionId, instr: InstrId) -> u64 {
    match &program.function(function).instr(instr).op {
        // an array whose length is not known before it runs is never covered by one access
        Op::Alloca { size, count, .. } => constant(*count).map_or(u64::MAX, |count| size * count),
        _ => 0,
    }
}
