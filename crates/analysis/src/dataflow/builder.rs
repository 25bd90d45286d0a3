//! From a program to its data flow: every access gets the definitions or uses it may be, then each object is solved
//! separately.

use std::collections::{BTreeMap, BTreeSet};

use model::{
    Block, BlockId, Callee, Function, FunctionId, InstrId, Op, Operand, Program, SpanId, Storage, Terminator,
    VariableId,
};

use super::block_accesses::{Access, AccessKind, BlockAccesses};
use super::calls::{CallFlow, Targets};
use super::ends::{DefinitionKind, Ends, UseKind};
use super::predicates::predicates;
use super::reaching::{self, ObjectEvents};
use super::{DataFlow, DataFlowOptions, DefinitionId, ObjectId, Pair, UseId};
use crate::Place;
use crate::address::Base;
use crate::call_graph::address_taken;
use crate::cut_points::Extent;
use crate::objects::{Home, Objects};
use crate::watch::MemoryAccesses;

/// The data flow of `program`.
pub(super) fn build(program: &Program, options: &DataFlowOptions) -> DataFlow {
    let objects = Objects::new(program, options.elements);
    let memory = MemoryAccesses::of(program);
    let targets = indirect_targets(program);
    let flow = CallFlow::new(program, &options.roots, &targets);
    let mut builder = Builder {
        program,
        events: objects.all.iter().map(|object| events_of(object.home)).collect(),
        objects,
        flow,
        targets,
        ends: Ends::default(),
        blocks: BlockAccesses::default(),
        returned: vec![Vec::new(); program.functions.len()],
        taken: vec![Vec::new(); program.functions.len()],
        memory,
        recursive: BTreeMap::new(),
    };
    builder.initial_values();
    for (function, id) in program.functions.iter().zip((0..).map(FunctionId)) {
        let blocks = if builder.flow.is_reachable(id) { builder.function(id, function) } else { Vec::new() };
        builder.blocks.functions.push(blocks);
    }
    builder.finish()
}

fn events_of(home: Home) -> ObjectEvents {
    let owner = match home {
        Home::Local(function) => Some(function),
        Home::Static | Home::Result(_) => None,
    };
    ObjectEvents { owner, ..ObjectEvents::default() }
}

pub(super) struct Builder<'p> {
    pub(super) program: &'p Program,
    pub(super) objects: Objects,
    pub(super) flow: CallFlow,
    targets: Targets,
    pub(super) ends: Ends,
    blocks: BlockAccesses,
    /// By object.
    pub(super) events: Vec<ObjectEvents>,
    /// By function: definitions of what it returns.
    returned: Vec<Vec<DefinitionId>>,
    /// By function: uses of what it returns.
    taken: Vec<Vec<UseId>>,
    /// What accesses may touch.
    pub(super) memory: MemoryAccesses,
    /// By function: whether it may be called while it is active, and what may be entered meanwhile.
    recursive: BTreeMap<FunctionId, BTreeSet<FunctionId>>,
}

/// What is the same for all instructions of a function.
pub(super) struct Scene<'p> {
    pub(super) id: FunctionId,
    pub(super) function: &'p Function,
    pub(super) predicates: Vec<bool>,
    /// By instruction: whether something takes its result.
    is_taken: Vec<bool>,
    /// The `alloca` that collects what the function returns.
    result: Option<InstrId>,
}

impl<'p> Builder<'p> {
    /// Variables with static storage hold something when the run starts.
    fn initial_values(&mut self) {
        let start = Place::entry(self.flow.roots().first().copied().unwrap_or(FunctionId(0)));
        for index in 0..self.objects.all.len() {
            let object = ObjectId::new(index);
            let (Home::Static, Some(variable)) =
                (self.objects.all[index].home, self.objects.all[index].variable)
            else {
                continue;
            };
            if self.is_constant(variable) {
                continue;
            }
            let span = Some(self.program.variables[variable.index()].span);
            let definition = self.ends.define(self.program, object, start, span, DefinitionKind::Initial);
            self.events[index].initial.push(definition);
        }
    }

    fn is_constant(&self, variable: VariableId) -> bool {
        match self.program.variables[variable.index()].storage {
            Storage::Global(global) => self.program.global(global).constant,
            Storage::Stack(..) => false,
        }
    }

    /// What may be entered while the function is active; itself only when it is recursive.
    pub(super) fn entered_from(&mut self, function: FunctionId) -> &BTreeSet<FunctionId> {
        let flow = &self.flow;
        self.recursive.entry(function).or_insert_with(|| flow.entered_from(function))
    }

    fn function(&mut self, id: FunctionId, function: &'p Function) -> Vec<Vec<Access>> {
        let mut is_taken = vec![false; function.instrs.len()];
        let operands = function.instrs.iter().flat_map(|instr| instr.op.operands());
        let operands = operands.chain(function.blocks.iter().filter_map(|block| block.terminator.operand()));
        for operand in operands {
            if let Operand::Result(id) = operand {
                is_taken[id.index()] = true;
            }
        }
        let result = result_alloca(&self.objects, id, function);
        let scene = Scene { id, function, predicates: predicates(function), is_taken, result };
        function.blocks().map(|(block_id, block)| self.block(&scene, block_id, block)).collect()
    }

    fn block(&mut self, scene: &Scene<'p>, id: BlockId, block: &Block) -> Vec<Access> {
        let mut accesses = Vec::new();
        let mut span = None;
        for (&instr, at) in block.instrs.iter().zip(0..) {
            let place = Place { function: scene.id, block: id, at };
            let own = scene.function.instr(instr).span;
            span = own.or(span);
            self.instr(scene, instr, place, own, &mut accesses);
        }
        self.terminator(scene, id, block, span, &mut accesses);
        accesses
    }

    fn instr(
        &mut self,
        scene: &Scene<'p>,
        id: InstrId,
        place: Place,
        span: Option<SpanId>,
        accesses: &mut Vec<Access>,
    ) {
        let instr = scene.function.instr(id);
        self.places(scene.id, id, place, accesses);
        if scene.function.generated {
            return self.fill(scene, id, place, accesses);
        }
        let is_result = match instr.op {
            Op::Store { address: Operand::Result(base), .. } => scene.result == Some(base),
            _ => false,
        };
        if is_result {
            return self.returned(scene, place, span, accesses);
        }
        self.accesses(scene, id, place, span, accesses);
        if let Op::Call { callee, .. } = &instr.op
            && scene.is_taken[id.index()]
        {
            self.result(scene, callee, place, span, scene.predicates[id.index()], accesses);
        }
    }

    /// A `return` in a function that collects its results.
    fn returned(
        &mut self,
        scene: &Scene<'_>,
        place: Place,
        span: Option<SpanId>,
        accesses: &mut Vec<Access>,
    ) {
        // what the compiler puts there itself has no token
        let (Some(object), Some(_)) = (self.objects.result(scene.id), span) else { return };
        let definition = self.ends.define(self.program, object, place, span, DefinitionKind::Returned);
        self.returned[scene.id.index()].push(definition);
        let definitions = vec![(object, definition)];
        accesses.push(Access {
            at: place.at,
            kind: AccessKind::Return,
            definitions,
            uses: Vec::new(),
            address: None,
        });
    }

    fn terminator(
        &mut self,
        scene: &Scene<'_>,
        id: BlockId,
        block: &Block,
        span: Option<SpanId>,
        accesses: &mut Vec<Access>,
    ) {
        let is_return = matches!(block.terminator, Terminator::Return(Some(_)));
        if !is_return || scene.result.is_some() || scene.function.generated {
            return;
        }
        let at = u32::try_from(block.instrs.len()).expect("fewer than 2^32 instructions");
        let place = Place { function: scene.id, block: id, at };
        let statements = self.program.statements.iter().filter(|statement| {
            statement.function == scene.id
                && statement.kind == model::StatementKind::Return
                && statement.code.is_some()
        });
        let spans: Vec<SpanId> = statements.map(|statement| statement.span).collect();
        // a function with several `return` statements collects their values
        let span = if let [only] = spans[..] { Some(only) } else { span };
        self.returned(scene, place, span, accesses);
    }

    /// A call takes what was returned to it.
    fn result(
        &mut self,
        scene: &Scene<'_>,
        callee: &Callee,
        place: Place,
        span: Option<SpanId>,
        is_predicate: bool,
        accesses: &mut Vec<Access>,
    ) {
        let callees = match callee {
            Callee::Direct(callee) => vec![*callee],
            Callee::Indirect(_) => {
                let targets = self.targets.get(&(scene.id, place.block.0, place.at));
                targets.map(|(callees, _)| callees.clone()).unwrap_or_default()
            }
        };
        let kind = if is_predicate { UseKind::Predicate } else { UseKind::Computation };
        let mut uses = Vec::new();
        for callee in callees {
            if let Some(object) = self.objects.result(callee) {
                let use_ = self.ends.take(self.program, object, place, span, kind);
                self.taken[callee.index()].push(use_);
                uses.push((object, use_));
            }
        }
        uses.sort();
        if !uses.is_empty() {
            let (at, kind) = (place.at, AccessKind::Result);
            accesses.push(Access { at, kind, definitions: Vec::new(), uses, address: None });
        }
    }

    fn finish(self) -> DataFlow {
        let mut pairs = Vec::new();
        for events in &self.events {
            if !events.named.is_empty() || !events.through.is_empty() {
                pairs.extend(reaching::pairs(&self.flow, events));
            }
        }
        for (definitions, uses) in self.returned.iter().zip(&self.taken) {
            for definition in definitions {
                pairs.extend(uses.iter().map(|use_| Pair { definition: *definition, use_: *use_ }));
            }
        }
        pairs.sort_unstable();
        pairs.dedup();
        let ranges = self.objects.ranges();
        let extents = self.objects.all.iter().zip(&self.events).map(|(object, events)| match object.home {
            Home::Local(_) if events.through.is_empty() => Extent::Activation,
            Home::Local(owner) => Extent::Below(owner),
            Home::Static | Home::Result(_) => Extent::Program,
        });
        let kills = self.events.iter().enumerate().flat_map(|(object, events)| {
            let object = ObjectId::new(object);
            events.kills().map(move |(function, event)| (function, BlockId(event.block), event.at, object))
        });
        DataFlow {
            kills: kills.collect(),
            extents: extents.collect(),
            objects: self.objects.all,
            definitions: self.ends.definitions,
            uses: self.ends.uses,
            pairs,
            blocks: self.blocks,
            watch: self.memory.watch,
            variables: ranges,
        }
    }
}

/// The `alloca` whose content a function returns, if it has no name.
fn result_alloca(objects: &Objects, id: FunctionId, function: &Function) -> Option<InstrId> {
    let returned = function.blocks.iter().find_map(|block| match block.terminator {
        Terminator::Return(Some(Operand::Result(value))) => Some(value),
        Terminator::Return(_)
        | Terminator::Jump(_)
        | Terminator::Branch { .. }
        | Terminator::Switch { .. }
        | Terminator::IndirectJump { .. }
        | Terminator::Unreachable => None,
    })?;
    let Op::Load { address: Operand::Result(alloca), .. } = function.instr(returned).op else { return None };
    let is_alloca = matches!(function.instr(alloca).op, Op::Alloca { .. });
    (is_alloca && objects.variable_at(id, Base::Local(alloca)).is_none()).then_some(alloca)
}

/// Whom indirect calls may enter: every function whose address is taken and that fits.
fn indirect_targets(program: &Program) -> Targets {
    let mut targets = Targets::new();
    let candidates: Vec<FunctionId> =
        address_taken(program).into_iter().filter(|id| program.function(*id).is_defined()).collect();
    for (function, id) in program.functions.iter().zip((0..).map(FunctionId)) {
        for (block_id, block) in function.blocks() {
            for (&instr, at) in block.instrs.iter().zip(0..) {
                if let Op::Call { callee: Callee::Indirect(_), arguments } = &function.instr(instr).op {
                    let fits = |callee: &&FunctionId| {
                        let callee = program.function(**callee);
                        callee.parameters.len() == arguments.len()
                            || callee.variadic && callee.parameters.len() <= arguments.len()
                    };
                    let callees = candidates.iter().filter(fits).copied().collect();
                    targets.insert((id, block_id.0, at), (callees, true));
                }
            }
        }
    }
    targets
}
