//! Which objects does a program have? Each variable or, for a structure, each of its members; and the result of each
//! function.
//!
//! Method: follows the layout of a variable down to scalars; a union is one object, and so is an array unless its elements
//! are requested. Limit: elements are distinguished in arrays of at most [`MOST_ELEMENTS`], as long as the variable then
//! has at most [`MOST_PARTS`] objects.

use std::collections::BTreeMap;
use std::ops::Range;

use model::{FunctionId, InstrId, Layout, Op, Program, Storage, Type, Variable, VariableId};

use crate::address::{Base, Index};
use crate::ids::ObjectId;

/// Arrays of more elements are one object.
const MOST_ELEMENTS: u64 = 64;
/// A variable that would fall into more objects keeps its arrays whole.
const MOST_PARTS: usize = 256;

/// Something that is defined and used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    /// As the source names it: `res`, `s.in.x`, `a[3]`, `f()`.
    pub name: String,
    /// None for what a function returns.
    pub variable: Option<VariableId>,
    pub home: Home,
    /// Bytes from the start of the variable.
    pub offset: u64,
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
pub(crate) enum Touch {
    All,
    /// Some of it, or nobody knows.
    Part,
}

/// The objects that an access by name may touch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Touched {
    pub(crate) objects: Vec<(ObjectId, Touch)>,
    /// Whether it is known to touch each of them.
    pub(crate) is_certain: bool,
}

/// The objects, and how to find them. Those of variables come first, in their order.
pub(crate) struct Objects {
    pub(crate) all: Vec<Object>,
    variables: Vec<Parts>,
    locals: BTreeMap<(FunctionId, InstrId), VariableId>,
    /// By global.
    statics: Vec<Option<VariableId>>,
    /// By function: what it returns.
    results: Vec<Option<ObjectId>>,
}

/// The objects of a variable, by offset, and the arrays in it.
struct Parts {
    size: u64,
    objects: Range<usize>,
    arrays: Vec<ArrayPart>,
}

struct ArrayPart {
    start: u64,
    size: u64,
    stride: u64,
    /// One object whose elements are not scalars.
    holds_more: bool,
}

impl Objects {
    pub(crate) fn new(program: &Program, elements: bool) -> Self {
        let mut objects = Self {
            all: Vec::new(),
            variables: Vec::new(),
            locals: BTreeMap::new(),
            statics: vec![None; program.globals.len()],
            results: Vec::new(),
        };
        for (variable, id) in program.variables.iter().zip((0..).map(VariableId)) {
            objects.variable(program, variable, id, elements);
        }
        for (function, id) in program.functions.iter().zip((0..).map(FunctionId)) {
            let has_result = function.is_defined() && !function.generated && function.result != Type::Void;
            objects.results.push(has_result.then(|| {
                let name = format!("{}()", function.name);
                let home = Home::Result(id);
                objects.all.push(Object { name, variable: None, home, offset: 0, size: 0 });
                ObjectId::new(objects.all.len() - 1)
            }));
        }
        objects
    }

    fn variable(&mut self, program: &Program, variable: &Variable, id: VariableId, elements: bool) {
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
        let whole = Object { name: variable.name.clone(), variable: Some(id), home, offset: 0, size };
        let mut split = Split { elements, objects: Vec::new(), arrays: Vec::new() };
        split.add(&whole, &variable.layout);
        if elements && split.objects.len() > MOST_PARTS {
            split = Split { elements: false, objects: Vec::new(), arrays: Vec::new() };
            split.add(&whole, &variable.layout);
        }
        let first = self.all.len();
        self.all.append(&mut split.objects);
        self.variables.push(Parts { size, objects: first..self.all.len(), arrays: split.arrays });
    }

    /// The variable at a base.
    pub(crate) fn variable_at(&self, function: FunctionId, base: Base) -> Option<VariableId> {
        match base {
            Base::Local(instr) => self.locals.get(&(function, instr)).copied(),
            Base::Global(global) => self.statics[global.index()],
        }
    }

    /// What a function returns.
    pub(crate) fn result(&self, function: FunctionId) -> Option<ObjectId> {
        self.results[function.index()]
    }

    /// Bytes of a variable.
    pub(crate) fn size_of(&self, variable: VariableId) -> u64 {
        self.variables[variable.index()].size
    }

    /// By variable: its objects.
    pub(crate) fn ranges(&self) -> Vec<Range<u32>> {
        let number = |index: usize| ObjectId::new(index).0;
        let range = |of: &Parts| number(of.objects.start)..number(of.objects.end);
        self.variables.iter().map(range).collect()
    }

    /// The objects of a variable, by offset.
    pub(crate) fn objects_of(&self, variable: VariableId) -> impl Iterator<Item = ObjectId> + use<> {
        self.variables[variable.index()].objects.clone().map(ObjectId::new)
    }

    /// What of a variable an access touches; without a size, nobody knows how far it goes.
    pub(crate) fn touched(
        &self,
        variable: VariableId,
        offset: i64,
        index: Option<Index>,
        size: Option<u64>,
    ) -> Touched {
        match (index, size) {
            (None, Some(size)) => {
                let end = offset.saturating_add_unsigned(size);
                let found = self.objects_of(variable).filter_map(|id| {
                    let (start, past) = self.bounds(id);
                    let touch = if offset <= start && past <= end { Touch::All } else { Touch::Part };
                    (start < end && offset < past).then_some((id, touch))
                });
                Touched { objects: found.collect(), is_certain: true }
            }
            (None, None) => {
                self.may_touch(self.objects_of(variable).filter(|id| offset < self.bounds(*id).1).collect())
            }
            (Some(index), size) => {
                let parts = &self.variables[variable.index()];
                let holds = |part: &&ArrayPart| {
                    u64::try_from(offset)
                        .is_ok_and(|offset| (part.start..part.start + part.size).contains(&offset))
                };
                let fits = |part: &&ArrayPart| part.stride == index.largest;
                let around = parts.arrays.iter().filter(holds);
                let part = around.clone().filter(fits).min_by_key(|part| part.size);
                let part = part.or_else(|| around.clone().find(|part| part.holds_more));
                let Some(part) = part else { return self.may_touch(self.objects_of(variable).collect()) };
                let range = part.start..part.start + part.size;
                let within = self.objects_of(variable).filter(|id| {
                    let of = &self.all[id.index()];
                    range.contains(&of.offset) && hits(offset, index.common, size, of)
                });
                self.may_touch(within.collect())
            }
        }
    }

    /// What code may touch that is given the address of this byte of a variable: all of it from the start, else the object that
    /// begins there.
    pub(crate) fn given(&self, variable: VariableId, offset: i64) -> Touched {
        let is_met = |id: &ObjectId| offset == 0 || self.bounds(*id).0 == offset;
        let objects = self.objects_of(variable).filter(is_met).map(|id| (id, Touch::All)).collect();
        Touched { objects, is_certain: true }
    }

    fn may_touch(&self, objects: Vec<ObjectId>) -> Touched {
        let is_certain = objects.len() == 1;
        Touched { objects: objects.into_iter().map(|id| (id, Touch::Part)).collect(), is_certain }
    }

    fn bounds(&self, id: ObjectId) -> (i64, i64) {
        let object = &self.all[id.index()];
        let start = i64::try_from(object.offset).unwrap_or(i64::MAX);
        (start, start.saturating_add_unsigned(object.size))
    }
}

/// Whether an access at `offset`, moved by any number of steps, may touch the object.
fn hits(offset: i64, step: u64, size: Option<u64>, object: &Object) -> bool {
    let (Some(size), Ok(start), Ok(step)) = (size, i64::try_from(object.offset), i64::try_from(step)) else {
        return true;
    };
    let behind = start.wrapping_sub(offset).rem_euclid(step.max(1)).unsigned_abs();
    size > behind || object.size > step.unsigned_abs() - behind
}

/// A variable on its way to objects.
struct Split {
    elements: bool,
    objects: Vec<Object>,
    arrays: Vec<ArrayPart>,
}

impl Split {
    fn add(&mut self, object: &Object, making: &Layout) {
        match making {
            Layout::Whole => self.objects.push(object.clone()),
            Layout::Structure(members) => {
                for member in members {
                    let name = match member.name.as_str() {
                        "" => object.name.clone(),
                        name => format!("{}.{name}", object.name),
                    };
                    let offset = object.offset + member.offset;
                    self.add(&Object { name, offset, size: member.size, ..object.clone() }, &member.layout);
                }
            }
            Layout::Array { length, stride, element } => {
                let is_split = self.elements && *length <= MOST_ELEMENTS;
                let (start, size, stride) = (object.offset, length * stride, *stride);
                let holds_more = !is_split && **element != Layout::Whole;
                self.arrays.push(ArrayPart { start, size, stride, holds_more });
                if !is_split {
                    return self.objects.push(object.clone());
                }
                for index in 0..*length {
                    let name = format!("{}[{index}]", object.name);
                    let offset = start + index * stride;
                    self.add(&Object { name, offset, size: stride, ..object.clone() }, element);
                }
            }
        }
    }
}

fn alloca_size(program: &Program, function: FunctionId, instr: InstrId) -> u64 {
    match &program.function(function).instr(instr).op {
        // an array whose length is not known before it runs is never covered by one access
        Op::Alloca { size, count, .. } => count.constant().map_or(u64::MAX, |count| size * count),
        _ => 0,
    }
}
