//! From the accesses of instructions to definitions and uses: by name, through pointers, and by code that receives an
//! address.

use std::collections::{BTreeMap, BTreeSet};

use model::{FunctionId, InstrId, Layout, MemoryOp, Op, Operand, SpanId, Storage, VariableId, VariableKind};

use super::block_accesses::{Access, AccessKind};
use super::builder::{Builder, Scene};
use super::ends::{DefinitionKind, UseKind};
use super::reaching::{Event, EventKind};
use super::{DefinitionId, ObjectId, UseId};
use crate::Place;
use crate::address::{Index, address, size};
use crate::objects::{Touch, Touched};
use crate::points_to::PointerOffset;
use crate::watch::{AccessEffect, AccessTarget, MemoryAccess};

/// An access through a pointer that may lead to more variables than this has no pairs: they would be many, and hardly any of
/// them could be. A run still sees what it overwrites.
const MOST_TARGETS: usize = 16;

impl<'p> Builder<'p> {
    /// The accesses of an instruction of the user.
    pub(super) fn accesses(
        &mut self,
        scene: &Scene<'p>,
        id: InstrId,
        place: Place,
        span: Option<SpanId>,
        accesses: &mut Vec<Access>,
    ) {
        let memory = self.memory.accesses.get(&scene.id).and_then(|of| of.get(&id)).cloned();
        for mut memory_access in memory.unwrap_or_default() {
            memory_access.address =
                memory_access.address.map(|number| number + self.n_before(scene.id, place));
            let is_predicate = scene.predicates[id.index()];
            self.access(&memory_access, place, span, is_predicate, accesses);
        }
    }

    fn access(
        &mut self,
        memory_access: &MemoryAccess,
        place: Place,
        span: Option<SpanId>,
        is_predicate: bool,
        accesses: &mut Vec<Access>,
    ) {
        let (touched, is_named, address) = match &memory_access.to {
            AccessTarget::Named(variable, at) => {
                let touched = self.touched(*variable, at.offset, at.index, memory_access);
                let address = memory_access.address.filter(|_| !touched.is_certain);
                (touched, true, address)
            }
            AccessTarget::Pointer { targets, is_all } => {
                let touched = self.behind_pointer(targets, *is_all, memory_access, place.function);
                (touched, false, memory_access.address)
            }
        };
        let (mut definitions, mut uses) = (Vec::new(), Vec::new());
        for (object, touch) in touched.objects {
            match memory_access.effect {
                AccessEffect::Read | AccessEffect::Shown => {
                    let kind = if is_predicate { UseKind::Predicate } else { UseKind::Computation };
                    let use_ = self.ends.take(self.program, object, place, span, kind);
                    self.event(object, place, is_named, EventKind::Use(use_));
                    uses.push((object, use_));
                }
                AccessEffect::Write | AccessEffect::Given => {
                    let definition = self.definition(object, place, span, is_named);
                    let kills = touch == Touch::All && touched.is_certain;
                    self.event(object, place, is_named, EventKind::Define { definition, kills });
                    definitions.push((object, definition));
                }
            }
        }
        let kind = match memory_access.effect {
            AccessEffect::Read | AccessEffect::Shown => AccessKind::Load,
            AccessEffect::Write | AccessEffect::Given => AccessKind::Store,
        };
        push(accesses, Access { at: place.at, kind, definitions, uses, address });
    }

    fn touched(
        &self,
        variable: VariableId,
        offset: i64,
        index: Option<Index>,
        memory_access: &MemoryAccess,
    ) -> Touched {
        match (memory_access.effect, index) {
            (AccessEffect::Given | AccessEffect::Shown, None) => self.objects.given(variable, offset),
            (AccessEffect::Given | AccessEffect::Shown, Some(_))
            | (AccessEffect::Read | AccessEffect::Write, _) => {
                self.objects.touched(variable, offset, index, memory_access.size)
            }
        }
    }

    fn definition(
        &mut self,
        object: ObjectId,
        place: Place,
        span: Option<SpanId>,
        is_named: bool,
    ) -> DefinitionId {
        let variable = self.objects.all[object.index()].variable;
        let of = variable.map(|variable| &self.program.variables[variable.index()]);
        // the code that takes a parameter has no token of its own
        let parameter = of.filter(|of| {
            let is_parameter = matches!(of.kind, VariableKind::Parameter(_));
            is_named && is_parameter && span.is_none() && place.block == model::BlockId(0)
        });
        match parameter {
            Some(of) => {
                self.ends.define(self.program, object, place, Some(of.span), DefinitionKind::Parameter)
            }
            None => self.ends.define(self.program, object, place, span, DefinitionKind::Assigned),
        }
    }

    /// What an access through a pointer may touch: a local only while its function is active.
    fn behind_pointer(
        &mut self,
        targets: &[(VariableId, PointerOffset)],
        is_all: bool,
        memory_access: &MemoryAccess,
        from: FunctionId,
    ) -> Touched {
        let mut objects: BTreeMap<ObjectId, Touch> = BTreeMap::new();
        let mut variables = BTreeSet::new();
        let mut is_certain = is_all && memory_access.effect == AccessEffect::Write;
        for &(variable, spot) in targets {
            let owner = match self.program.variables[variable.index()].storage {
                Storage::Stack(owner, _) => Some(owner),
                Storage::Global(_) => None,
            };
            if let Some(owner) = owner {
                let entered = self.entered_from(owner);
                is_certain &= !entered.contains(&owner);
                if owner != from && !entered.contains(&from) {
                    continue;
                }
            }
            variables.insert(variable);
            if variables.len() > MOST_TARGETS {
                return Touched { objects: Vec::new(), is_certain: false };
            }
            let touched = match spot {
                PointerOffset::At { offset, index } => self.touched(variable, offset, index, memory_access),
                PointerOffset::Anywhere => self.anywhere(variable, memory_access.size),
            };
            is_certain &= touched.is_certain;
            objects.extend(touched.objects);
        }
        let is_certain = is_certain && objects.len() == 1;
        Touched { is_certain, objects: objects.into_iter().collect() }
    }

    /// All of a variable may be touched; it is if it is one scalar.
    fn anywhere(&self, variable: VariableId, size: Option<u64>) -> Touched {
        let is_whole = self.program.variables[variable.index()].layout == Layout::Whole
            && size == Some(self.objects.size_of(variable));
        let touch = if is_whole { Touch::All } else { Touch::Part };
        let objects = self.objects.objects_of(variable).map(|id| (id, touch)).collect();
        Touched { objects, is_certain: is_whole }
    }

    /// What a harness puts into a global is its value when the run starts.
    pub(super) fn fill(&mut self, scene: &Scene<'p>, id: InstrId, place: Place, accesses: &mut Vec<Access>) {
        let (to, size) = match &scene.function.instr(id).op {
            Op::Store { address, value_type, .. } => (*address, Some(size(self.program, *value_type))),
            Op::Memory { op: MemoryOp::Copy | MemoryOp::Move | MemoryOp::Set, to, length, .. } => {
                (*to, length.constant())
            }
            _ => return,
        };
        let Some(at) = address(scene.function, to) else { return };
        let Some(variable) = self.objects.variable_at(scene.id, at.base) else { return };
        let touched = self.objects.touched(variable, at.offset, at.index, size);
        let mut definitions = Vec::new();
        for (object, touch) in touched.objects {
            let Some(&definition) = self.events[object.index()].initial.first() else { continue };
            let kills = touch == Touch::All && touched.is_certain;
            self.event(object, place, true, EventKind::Define { definition, kills });
            definitions.push((object, definition));
        }
        let (at, kind, uses) = (place.at, AccessKind::Store, Vec::<(ObjectId, UseId)>::new());
        push(accesses, Access { at, kind, definitions, uses, address: None });
    }

    /// Where variables begin to lie somewhere, as far as that is logged.
    pub(super) fn places(
        &mut self,
        function: FunctionId,
        id: InstrId,
        place: Place,
        accesses: &mut Vec<Access>,
    ) {
        let n_before = self.n_before(function, place);
        let mut begin = |variable: VariableId, number: u32| {
            let (definitions, uses) = (Vec::new(), Vec::new());
            let kind = AccessKind::Begin(variable);
            accesses.push(Access { at: place.at, kind, definitions, uses, address: Some(number) });
        };
        if n_before > 0 {
            for (global, number) in self.memory.watch.globals.iter().zip(0..) {
                let base = Operand::Global { global: *global, offset: 0 };
                let at = address(self.program.function(function), base);
                let variable = at.and_then(|at| self.objects.variable_at(function, at.base));
                variable.into_iter().for_each(|variable| begin(variable, number));
            }
        }
        let is_variable = matches!(self.program.function(function).instr(id).op, Op::Alloca { .. })
            && !self.memory.watch.of(function, id).is_empty();
        if is_variable {
            let at = address(self.program.function(function), Operand::Result(id));
            let variable = at.and_then(|at| self.objects.variable_at(function, at.base));
            variable.into_iter().for_each(|variable| begin(variable, n_before));
        }
    }

    /// How many addresses are logged for the first instruction of the root before its own.
    fn n_before(&self, function: FunctionId, place: Place) -> u32 {
        let is_first =
            self.program.root == Some(function) && place.block == model::BlockId(0) && place.at == 0;
        if is_first { u32::try_from(self.memory.watch.globals.len()).expect("few globals") } else { 0 }
    }

    fn event(&mut self, object: ObjectId, place: Place, is_named: bool, kind: EventKind) {
        let event = Event { block: place.block.0, at: place.at, kind };
        let events = &mut self.events[object.index()];
        let of = if is_named { &mut events.named } else { &mut events.through };
        of.entry(place.function).or_default().push(event);
    }
}

/// Sites without any effect are left out; a store whose address says what it hits always has one.
fn push(accesses: &mut Vec<Access>, access: Access) {
    let may_kill = access.kind == AccessKind::Store && access.address.is_some();
    if may_kill || !access.definitions.is_empty() || !access.uses.is_empty() {
        accesses.push(access);
    }
}
