//! From a program to its data flow: every access becomes a site with the definitions or uses it may be, then each object is
//! solved for itself.

use std::collections::{BTreeMap, BTreeSet};

use model::{
    Block, BlockId, Callee, Function, FunctionId, InstrId, MemoryOp, Op, Operand, Program, SpanId, Storage,
    Terminator, VariableId, VariableKind,
};

use super::address::{Address, Base, address, constant, size};
use super::calls::{Icfg, Targets};
use super::ends::{DefinitionKind, Ends, UseKind};
use super::layout::{Home, Layout, Touch};
use super::predicates::predicates;
use super::reaching::{self, Accesses, Event, EventKind};
use super::sites::{Blocks, Site, SiteKind};
use super::{DataFlow, DefinitionId, ObjectId, Options, Pair, UseId};
use crate::Place;
use crate::call_graph::address_taken;

/// The data flow of `program`.
pub(super) fn build(program: &Program, options: &Options) -> DataFlow {
    let layout = Layout::new(program, options.elements);
    let targets = indirect_targets(program);
    let icfg = Icfg::new(program, &options.roots, &targets);
    let mut builder = Builder {
        program,
        accesses: layout.objects.iter().map(|object| accesses_of(object.home)).collect(),
        layout,
        icfg,
        targets,
        ends: Ends::default(),
        blocks: Blocks::default(),
        returned: vec![Vec::new(); program.functions.len()],
        taken: vec![Vec::new(); program.functions.len()],
        escaping: escaping(program),
    };
    builder.initial_values();
    for (function, id) in program.functions.iter().zip((0..).map(FunctionId)) {
        let blocks = if builder.icfg.is_reachable(id) { builder.function(id, function) } else { Vec::new() };
        builder.blocks.functions.push(blocks);
    }
    builder.finish()
}

fn accesses_of(home: Home) -> Accesses {
    let owner = match home {
        Home::Local(function) => Some(function),
        Home::Static | Home::Result(_) => None,
    };
    Accesses { owner, ..Accesses::default() }
}

struct Builder<'p> {
    program: &'p Program,
    layout: Layout,
    icfg: Icfg,
    targets: Targets,
    ends: Ends,
    blocks: Blocks,
    /// By object.
    accesses: Vec<Accesses>,
    /// By function: definitions of what it returns.
    returned: Vec<Vec<DefinitionId>>,
    /// By function: uses of what it returns.
    taken: Vec<Vec<UseId>>,
    /// Variables that are left out.
    escaping: BTreeSet<VariableId>,
}

/// What is the same for all instructions of a function.
struct Scene<'p> {
    id: FunctionId,
    function: &'p Function,
    predicates: Vec<bool>,
    /// By instruction: whether something takes its result.
    is_taken: Vec<bool>,
    /// The `alloca` that collects what the function returns.
    result: Option<InstrId>,
}

impl<'p> Builder<'p> {
    /// Variables with static storage hold something when the run starts.
    fn initial_values(&mut self) {
        let start = Place::entry(self.icfg.roots().first().copied().unwrap_or(FunctionId(0)));
        for index in 0..self.layout.objects.len() {
            let object = ObjectId::new(index);
            let (Home::Static, Some(variable)) =
                (self.layout.objects[index].home, self.layout.objects[index].variable)
            else {
                continue;
            };
            if self.is_left_out(variable) {
                continue;
            }
            let span = Some(self.program.variables[variable.index()].span);
            let definition = self.ends.define(self.program, object, start, span, DefinitionKind::Initial);
            self.accesses[index].initial.push(definition);
        }
    }

    fn is_left_out(&self, variable: VariableId) -> bool {
        let is_constant = match self.program.variables[variable.index()].storage {
            Storage::Global(global) => self.program.global(global).constant,
            Storage::Stack(..) => false,
        };
        is_constant || self.escaping.contains(&variable)
    }

    fn function(&mut self, id: FunctionId, function: &'p Function) -> Vec<Vec<Site>> {
        let mut is_taken = vec![false; function.instrs.len()];
        let operands = function.instrs.iter().flat_map(|instr| instr.op.operands());
        let operands = operands.chain(function.blocks.iter().filter_map(|block| block.terminator.operand()));
        for operand in operands {
            if let Operand::Result(id) = operand {
                is_taken[id.index()] = true;
            }
        }
        let result = result_alloca(&self.layout, id, function);
        let scene = Scene { id, function, predicates: predicates(function), is_taken, result };
        function.blocks().map(|(block_id, block)| self.block(&scene, block_id, block)).collect()
    }

    fn block(&mut self, scene: &Scene<'p>, id: BlockId, block: &Block) -> Vec<Site> {
        let mut sites = Vec::new();
        let mut span = None;
        for (&instr, at) in block.instrs.iter().zip(0..) {
            let place = Place { function: scene.id, block: id, at };
            let own = scene.function.instr(instr).span;
            span = own.or(span);
            self.instr(scene, instr, place, own, &mut sites);
        }
        self.terminator(scene, id, block, span, &mut sites);
        sites
    }

    fn instr(
        &mut self,
        scene: &Scene<'p>,
        id: InstrId,
        place: Place,
        span: Option<SpanId>,
        sites: &mut Vec<Site>,
    ) {
        let instr = scene.function.instr(id);
        match &instr.op {
            Op::Load { address } => {
                let size = size(self.program, instr.ty);
                self.load(scene, *address, Some(size), place, span, scene.predicates[id.index()], sites);
            }
            Op::Store { address, value_type, .. } => {
                if let (Some(alloca), Operand::Result(base)) = (scene.result, *address)
                    && alloca == base
                {
                    self.returned(scene, place, span, sites);
                } else {
                    let size = size(self.program, *value_type);
                    self.store(scene, *address, Some(size), place, span, sites);
                }
            }
            Op::Memory { op, to, from, length } => {
                let length = constant(*length);
                match op {
                    MemoryOp::Copy | MemoryOp::Move => {
                        self.load(scene, *from, length, place, span, false, sites);
                    }
                    MemoryOp::Set => {}
                }
                self.store(scene, *to, length, place, span, sites);
            }
            Op::Call { callee, .. } if scene.is_taken[id.index()] && !scene.function.generated => {
                self.result(scene, callee, place, span, scene.predicates[id.index()], sites);
            }
            _ => {}
        }
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "an access is an address, a size, a place and what it is for"
    )]
    fn load(
        &mut self,
        scene: &Scene<'p>,
        operand: Operand,
        size: Option<u64>,
        place: Place,
        span: Option<SpanId>,
        is_predicate: bool,
        sites: &mut Vec<Site>,
    ) {
        let Some((variable, at)) = self.named(scene, operand) else { return };
        if scene.function.generated {
            return;
        }
        let kind = if is_predicate { UseKind::Predicate } else { UseKind::Computation };
        let mut uses = Vec::new();
        for (object, _) in self.layout.touched(variable, at, size).objects {
            let use_ = self.ends.take(self.program, object, place, span, kind);
            self.event(object, place, EventKind::Use(use_));
            uses.push((object, use_));
        }
        sites.push(Site { at: place.at, kind: SiteKind::Load, definitions: Vec::new(), uses });
    }

    fn store(
        &mut self,
        scene: &Scene<'p>,
        operand: Operand,
        size: Option<u64>,
        place: Place,
        span: Option<SpanId>,
        sites: &mut Vec<Site>,
    ) {
        let Some((variable, at)) = self.named(scene, operand) else { return };
        let of = &self.program.variables[variable.index()];
        // the code that takes a parameter has no token of its own
        let is_parameter =
            matches!(of.kind, VariableKind::Parameter(_)) && span.is_none() && place.block == BlockId(0);
        let mut definitions = Vec::new();
        for (object, touch) in self.layout.touched(variable, at, size).objects {
            let definition = if is_parameter {
                self.ends.define(self.program, object, place, Some(of.span), DefinitionKind::Parameter)
            } else if scene.function.generated {
                // what a harness puts into a global is its value when the run starts
                let Some(initial) = self.accesses[object.index()].initial.first() else { continue };
                *initial
            } else {
                self.ends.define(self.program, object, place, span, DefinitionKind::Assigned)
            };
            self.event(object, place, EventKind::Define { definition, kills: touch == Touch::All });
            definitions.push((object, definition));
        }
        sites.push(Site { at: place.at, kind: SiteKind::Store, definitions, uses: Vec::new() });
    }

    fn named(&self, scene: &Scene<'_>, operand: Operand) -> Option<(VariableId, Address)> {
        let at = address(scene.function, operand)?;
        let variable = self.layout.variable_at(scene.id, at.base)?;
        (!self.is_left_out(variable)).then_some((variable, at))
    }

    fn event(&mut self, object: ObjectId, place: Place, kind: EventKind) {
        let event = Event { block: place.block.0, at: place.at, kind };
        self.accesses[object.index()].named.entry(place.function).or_default().push(event);
    }

    /// A `return` in a function that collects its results.
    fn returned(&mut self, scene: &Scene<'_>, place: Place, span: Option<SpanId>, sites: &mut Vec<Site>) {
        // what the compiler puts there itself has no token
        let (Some(object), Some(_)) = (self.layout.result(scene.id), span) else { return };
        let definition = self.ends.define(self.program, object, place, span, DefinitionKind::Returned);
        self.returned[scene.id.index()].push(definition);
        let (definitions, uses) = (vec![(object, definition)], Vec::new());
        sites.push(Site { at: place.at, kind: SiteKind::Return, definitions, uses });
    }

    fn terminator(
        &mut self,
        scene: &Scene<'_>,
        id: BlockId,
        block: &Block,
        span: Option<SpanId>,
        sites: &mut Vec<Site>,
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
        self.returned(scene, place, span, sites);
    }

    /// A call takes what was returned to it.
    fn result(
        &mut self,
        scene: &Scene<'_>,
        callee: &Callee,
        place: Place,
        span: Option<SpanId>,
        is_predicate: bool,
        sites: &mut Vec<Site>,
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
            if let Some(object) = self.layout.result(callee) {
                let use_ = self.ends.take(self.program, object, place, span, kind);
                self.taken[callee.index()].push(use_);
                uses.push((object, use_));
            }
        }
        uses.sort();
        if !uses.is_empty() {
            sites.push(Site { at: place.at, kind: SiteKind::Result, definitions: Vec::new(), uses });
        }
    }

    fn finish(self) -> DataFlow {
        let mut pairs = BTreeSet::new();
        for accesses in &self.accesses {
            if !accesses.named.is_empty() || !accesses.through.is_empty() {
                pairs.extend(reaching::pairs(&self.icfg, accesses));
            }
        }
        for (definitions, uses) in self.returned.iter().zip(&self.taken) {
            for definition in definitions {
                pairs.extend(uses.iter().map(|use_| Pair { definition: *definition, use_: *use_ }));
            }
        }
        DataFlow {
            objects: self.layout.objects,
            definitions: self.ends.definitions,
            uses: self.ends.uses,
            pairs: pairs.into_iter().collect(),
            blocks: self.blocks,
            left_out: self.escaping,
        }
    }
}

/// The `alloca` whose content a function returns, if it has no name.
fn result_alloca(layout: &Layout, id: FunctionId, function: &Function) -> Option<InstrId> {
    let returned = function.blocks.iter().find_map(|block| match block.terminator {
        Terminator::Return(Some(Operand::Result(value))) => Some(value),
        Terminator::Return(_)
        | Terminator::Jump(_)
        | Terminator::Branch { .. }
        | Terminator::Switch { .. }
        | Terminator::IndirectJump { .. }
        | Terminator::Unreachable => None,
    })?;
    let Op::Load { address: Operand::Result(alloca) } = function.instr(returned).op else { return None };
    let is_alloca = matches!(function.instr(alloca).op, Op::Alloca { .. });
    (is_alloca && layout.variable_at(id, Base::Local(alloca)).is_none()).then_some(alloca)
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

/// Name of the function by which a harness offers an object to pointers of the input.
const OFFER: &str = "__quarry_object";

fn offers(program: &Program, callee: &Callee) -> bool {
    matches!(callee, Callee::Direct(callee) if program.function(*callee).name == OFFER)
}

/// Variables whose address is used for something else than an access by name.
fn escaping(program: &Program) -> BTreeSet<VariableId> {
    let mut bases: BTreeMap<(Option<FunctionId>, Base), VariableId> = BTreeMap::new();
    for (variable, id) in program.variables.iter().zip((0..).map(VariableId)) {
        match variable.storage {
            Storage::Stack(function, instr) => bases.insert((Some(function), Base::Local(instr)), id),
            Storage::Global(global) => bases.insert((None, Base::Global(global)), id),
        };
    }
    let mut found = BTreeSet::new();
    let mut escape = |id: FunctionId, function: &Function, operand: Operand| {
        if let Some(at) = address(function, operand) {
            let owner = matches!(at.base, Base::Local(_)).then_some(id);
            found.extend(bases.get(&(owner, at.base)));
        }
    };
    for (function, id) in program.functions.iter().zip((0..).map(FunctionId)) {
        for instr in &function.instrs {
            match &instr.op {
                // a harness fills a global before the run; only one that inputs may point to is given away
                Op::Call { callee, .. } if function.generated && !offers(program, callee) => {}
                Op::Load { .. } => {}
                Op::Store { value, .. } => escape(id, function, *value),
                Op::Address { indices, .. } => {
                    indices.iter().for_each(|(_, index, _)| escape(id, function, *index));
                }
                Op::Memory { .. } => {}
                op => op.operands().into_iter().for_each(|operand| escape(id, function, operand)),
            }
        }
        for block in &function.blocks {
            block.terminator.operand().into_iter().for_each(|operand| escape(id, function, operand));
        }
    }
    for global in &program.globals {
        for relocation in &global.relocations {
            if let model::RelocationTarget::Global(target) = relocation.target {
                found.extend(bases.get(&(None, Base::Global(target))));
            }
        }
    }
    found
}
