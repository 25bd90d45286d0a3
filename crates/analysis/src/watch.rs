//! Which accesses must a run log the addresses of, so that what they touched is known? And which variables may that be?
//!
//! Method: an access by name touches what it names; its address is needed only if an index leaves the element open. Every
//! other access is looked up in the points-to analysis: if a variable may be there, the access is watched, and so is the
//! address of the variable. A call of code outside the program counts as an access of what its pointers point to. Limits:
//! accesses of generated code (harness, models of library functions) belong to the call of it; unnamed memory is not
//! watched.

use std::collections::{BTreeMap, BTreeSet};

use model::walk::{Watch, Watched};
use model::{
    Callee, Function, FunctionId, InstrId, MemoryOp, Op, Operand, Program, Storage, Type, VariableId,
};

use crate::address::{Address, address, size};
use crate::library::{Effect, effect};
use crate::objects::Objects;
use crate::points_to::{Pointee, PointerOffset, PointsTo};

/// The addresses that runs of `program` can be asked for.
pub fn watch(program: &Program) -> Watch {
    MemoryAccesses::of(program).watch
}

/// What accesses may touch.
pub(crate) struct MemoryAccesses {
    pub(crate) watch: Watch,
    /// By function: its accesses, in the order of its blocks.
    pub(crate) accesses: BTreeMap<FunctionId, BTreeMap<InstrId, Vec<MemoryAccess>>>,
}

/// One access of an instruction.
#[derive(Clone, Debug)]
pub(crate) struct MemoryAccess {
    pub(crate) effect: AccessEffect,
    /// Bytes, if that is known.
    pub(crate) size: Option<u64>,
    pub(crate) to: AccessTarget,
    /// Which of the addresses that the instruction logs is its own.
    pub(crate) address: Option<u32>,
}

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AccessEffect {
    Read,
    Write,
    /// Code that is not the user's may write there.
    Given,
    /// Code that is not the user's reads there.
    Shown,
}

/// Where an access goes.
#[derive(Clone, Debug)]
pub(crate) enum AccessTarget {
    Named(VariableId, Address),
    Pointer {
        /// What may be there, and where in it.
        targets: Vec<(VariableId, PointerOffset)>,
        /// Whether the pointer can point to nothing else.
        is_all: bool,
    },
}

impl MemoryAccesses {
    pub(crate) fn of(program: &Program) -> Self {
        let mut finder = Finder {
            program,
            points_to: PointsTo::of(program),
            objects: Objects::new(program, true),
            variables: variables(program),
            seen: BTreeSet::new(),
            found: Self { watch: Watch::default(), accesses: BTreeMap::new() },
        };
        for (function, id) in program.functions.iter().zip((0..).map(FunctionId)) {
            if !function.generated {
                finder.function(id, function);
            }
        }
        finder.finish()
    }
}

struct Finder<'p> {
    program: &'p Program,
    points_to: PointsTo,
    /// With elements: what is watched does not depend on who asks.
    objects: Objects,
    variables: BTreeMap<Pointee, VariableId>,
    /// Variables that watched accesses may touch.
    seen: BTreeSet<VariableId>,
    found: MemoryAccesses,
}

impl Finder<'_> {
    fn function(&mut self, id: FunctionId, function: &Function) {
        let copied: BTreeSet<InstrId> = by_value(function).into_iter().map(|(_, _, copy)| copy).collect();
        for &instr in function.blocks.iter().flat_map(|block| &block.instrs) {
            match &function.instr(instr).op {
                Op::Load { address, .. } => {
                    let size = size(self.program, function.instr(instr).ty);
                    self.access(id, instr, AccessEffect::Read, Watched::From, *address, Some(size));
                }
                Op::Store { address, value_type, .. } => {
                    let size = size(self.program, *value_type);
                    self.access(id, instr, AccessEffect::Write, Watched::To, *address, Some(size));
                }
                Op::Memory { op, to, from, length } => {
                    let length = length.constant();
                    let reads = match op {
                        MemoryOp::Copy | MemoryOp::Move => !copied.contains(&instr),
                        MemoryOp::Set => false,
                    };
                    if reads {
                        self.access(id, instr, AccessEffect::Read, Watched::From, *from, length);
                    }
                    self.access(id, instr, AccessEffect::Write, Watched::To, *to, length);
                }
                Op::Call { callee: Callee::Direct(callee), arguments } => {
                    self.call(id, instr, *callee, arguments);
                }
                _ => {}
            }
        }
    }

    fn call(&mut self, id: FunctionId, instr: InstrId, callee: FunctionId, arguments: &[(Type, Operand)]) {
        let callee = self.program.function(callee);
        let pointers = arguments.iter().zip(0u32..).filter(|((ty, _), _)| *ty == Type::Ptr);
        if callee.is_defined() && !callee.generated {
            for (number, variable, _) in by_value(callee) {
                let Op::Alloca { size, .. } = callee.instr(variable).op else { continue };
                if let Some((_, argument)) = arguments.get(number as usize) {
                    let watched = Watched::Copied(number, size);
                    self.access(id, instr, AccessEffect::Read, watched, *argument, Some(size));
                }
            }
            return;
        }
        let effect = effect(&callee.name);
        for ((_, argument), number) in pointers {
            let effect = match &effect {
                Effect::Reads => AccessEffect::Shown,
                Effect::Writes(range) if !range.contains(&(number as usize)) => AccessEffect::Shown,
                Effect::Writes(_) | Effect::Anything => AccessEffect::Given,
                Effect::Allocates
                | Effect::Offers
                | Effect::Chooses
                | Effect::ChoosesFunction
                | Effect::Fills => continue,
            };
            self.access(id, instr, effect, Watched::Argument(number), *argument, None);
        }
    }

    fn access(
        &mut self,
        id: FunctionId,
        instr: InstrId,
        effect: AccessEffect,
        watched: Watched,
        operand: Operand,
        size: Option<u64>,
    ) {
        let function = self.program.function(id);
        let (to, is_watched) = match address(function, operand) {
            Some(at) => {
                let Some(variable) = self.objects.variable_at(id, at.base) else { return };
                if self.is_constant(variable) {
                    return;
                }
                // how far other code goes from a known address is no question of where
                let is_known = at.index.is_none() && matches!(watched, Watched::Argument(_));
                let is_open =
                    !is_known && !self.objects.touched(variable, at.offset, at.index, size).is_certain;
                if is_open {
                    self.seen.insert(variable);
                }
                (AccessTarget::Named(variable, at), is_open)
            }
            None => {
                let pointees = self.points_to.targets(self.program, id, operand);
                let target = |(pointee, spot): &(Pointee, PointerOffset)| {
                    let variable = *self.variables.get(pointee)?;
                    let fits = !self.is_constant(variable)
                        && size.is_none_or(|size| size <= self.objects.size_of(variable));
                    fits.then_some((variable, *spot))
                };
                let targets: Vec<(VariableId, PointerOffset)> = pointees.iter().filter_map(target).collect();
                if targets.is_empty() {
                    return;
                }
                self.seen.extend(targets.iter().map(|(variable, _)| *variable));
                (AccessTarget::Pointer { is_all: pointees.len() == 1, targets }, true)
            }
        };
        let address = is_watched.then(|| {
            let of = self.found.watch.instrs.entry((id, instr)).or_default();
            of.push(watched);
            u32::try_from(of.len() - 1).expect("an instruction has few addresses")
        });
        let access = MemoryAccess { effect, size, to, address };
        self.found.accesses.entry(id).or_default().entry(instr).or_default().push(access);
    }

    fn is_constant(&self, variable: VariableId) -> bool {
        match self.program.variables[variable.index()].storage {
            Storage::Global(global) => self.program.global(global).constant,
            Storage::Stack(..) => false,
        }
    }

    /// Where the variables lie is watched, too.
    fn finish(mut self) -> MemoryAccesses {
        let mut globals = BTreeSet::new();
        for variable in &self.seen {
            match self.program.variables[variable.index()].storage {
                Storage::Stack(function, instr) => {
                    let of = self.found.watch.instrs.entry((function, instr)).or_default();
                    if of.is_empty() {
                        of.push(Watched::Variable);
                    }
                }
                Storage::Global(global) => _ = globals.insert(global),
            }
        }
        self.found.watch.globals = globals.into_iter().collect();
        self.found
    }
}

/// The variable at each place that has one.
fn variables(program: &Program) -> BTreeMap<Pointee, VariableId> {
    let mut found = BTreeMap::new();
    for (variable, id) in program.variables.iter().zip((0..).map(VariableId)) {
        let pointee = match variable.storage {
            Storage::Stack(function, instr) => Pointee::Local(function, instr),
            Storage::Global(global) => Pointee::Global(global),
        };
        found.entry(pointee).or_insert(id);
    }
    found
}

/// The parameters that are structures passed by value in memory: number, variable and the copy that fills it. They come first
/// in a function.
pub(crate) fn by_value(function: &Function) -> Vec<(u32, InstrId, InstrId)> {
    let Some(entry) = function.blocks.first() else { return Vec::new() };
    let copies = entry.instrs.chunks_exact(2).map_while(|two| match &function.instr(two[1]).op {
        Op::Memory { to: Operand::Result(to), from: Operand::Parameter(number), .. }
            if *to == two[0] && matches!(function.instr(two[0]).op, Op::Alloca { .. }) =>
        {
            Some((*number, two[0], two[1]))
        }
        _ => None,
    });
    copies.collect()
}
