//! `quarry-dev check-dataflow`: does the tracker, from the path and the logged addresses, find the pairs that memory shows?
//!
//! Method: `main` runs in the model interpreter, once. Coverage's tracker walks its path log, with the addresses that a run
//! would log; next to it, an observer of the interpreter knows the address of every variable, looks up every access by its
//! real address, whether it has a name or not, and remembers what was stored last. Both must see the same pairs, the
//! analysis must list each of them, and each access must be a definition or use of what it touches. Limit: results of
//! functions are in registers and have no address; both sides make the same assumptions about what library functions touch.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use analysis::dataflow::{
    Access, AccessKind, DataFlow, DataFlowOptions, DefinitionId, DefinitionKind, ObjectId, UseId,
};
use coverage::flow::{FlowEvent, Listener, Tracker};
use model::interpret::{self, CodeLocation, Interpreter, Limits, PathLog};
use model::walk::{Completeness, Entry, Script, Watched, walk};
use model::{BlockId, ConditionId, FunctionId, InstrId, Op, Operand, Program, Storage, VariableId};

use crate::arguments::{CheckDataflow, cache, here, sources};
use quarry_cli::exit::{Exit, Failure};
use runner::front::work_directory;
use runner::front::{Front, Start};

type Pairs = BTreeSet<(DefinitionId, UseId)>;

/// Runs the command.
pub fn check(arguments: &CheckDataflow) -> Result<Exit, Failure> {
    let work = work_directory()?;
    let front = Front::mark(&sources(&arguments.sources), &here()?, work.path(), Start::Main, &cache()?)?;
    let built = front.build(None, &[])?;
    let program = &built.lowered.program;
    let root = program.root.ok_or_else(|| Failure::usage("there is no main"))?;
    let flow = DataFlow::of(program, &DataFlowOptions { roots: vec![root], elements: arguments.elements });
    let limits = Limits { steps: arguments.max_steps, ..Limits::default() };
    let interpreter = Interpreter::new(program, limits);
    let mut witness = Witness::new(program, &flow, &interpreter);
    let outcome = interpreter.run_observed(root, &[], &mut witness);
    let is_whole = matches!(outcome.end, interpret::End::Returned(_) | interpret::End::Exit(_));
    if !is_whole {
        eprintln!("not compared: {:?}", outcome.end);
        return Ok(Exit::Done);
    }
    let mut told = Tracker::new(program, &flow, Told::default());
    let entries = std::mem::take(&mut witness.log.entries).into_iter();
    walk(&Script::new(program, Some(flow.watch())), root, entries, Completeness::Complete, &mut told)
        .map_err(|error| Failure::new(Exit::No, format!("the path cannot be walked: {error}")))?;
    let told: Pairs = told.finish().0.into_iter().filter(|(_, use_)| witness.sees(*use_)).collect();
    let listed = |(definition, use_): &&(DefinitionId, UseId)| flow.pair_of(*definition, *use_).is_none();
    let mut n_wrong = 0;
    let mut wrong = |what: &str, (definition, use_): &(DefinitionId, UseId)| {
        let pair = analysis::dataflow::Pair { definition: *definition, use_: *use_ };
        eprintln!("error: {what}: {}", flow.describe(program, pair));
        n_wrong += 1;
    };
    witness.seen.difference(&told).for_each(|pair| wrong("at real addresses only", pair));
    told.difference(&witness.seen).for_each(|pair| wrong("by the path only", pair));
    told.iter().filter(listed).for_each(|pair| wrong("covered but not listed", pair));
    for (at, object) in &witness.unforeseen {
        let function = &program.function(at.function).name;
        eprintln!(
            "error: an access of {function} touches {}, but is none of it: {at}",
            flow.object(*object).name
        );
        n_wrong += 1;
    }
    eprintln!("{} pairs covered of {} listed, {n_wrong} differences", told.len(), flow.pairs().count());
    Ok(if n_wrong == 0 { Exit::Done } else { Exit::No })
}

#[derive(Default)]
struct Told(Pairs);

impl Listener for Told {
    fn tell(&mut self, event: FlowEvent, _: u64) {
        match event {
            FlowEvent::Used { definition, use_ } => _ = self.0.insert((definition, use_)),
            FlowEvent::Defined(_) | FlowEvent::Killed(_) => {}
        }
    }
}

/// Watches the interpreter.
struct Witness<'a> {
    log: PathLog,
    program: &'a Program,
    flow: &'a DataFlow,
    sites: HashMap<(FunctionId, InstrId), Vec<&'a Access>>,
    locals: HashMap<(FunctionId, InstrId), VariableId>,
    initial: HashMap<ObjectId, DefinitionId>,
    /// By address: the variable that lies there now, and its size.
    places: BTreeMap<u64, (u64, VariableId)>,
    /// By where its variable lies, and object: the definition stored there last.
    memory: BTreeMap<(u64, ObjectId), Option<DefinitionId>>,
    seen: Pairs,
    /// Accesses that the analysis does not know to touch these.
    unforeseen: BTreeSet<(CodeLocation, ObjectId)>,
}

impl<'a> Witness<'a> {
    fn new(program: &'a Program, flow: &'a DataFlow, interpreter: &Interpreter<'_>) -> Self {
        let mut sites: HashMap<_, Vec<_>> = HashMap::new();
        for (function, id) in program.functions.iter().zip((0..).map(FunctionId)) {
            for (block_id, block) in function.blocks() {
                for site in flow.blocks().of(id, block_id) {
                    if let Some(instr) = block.instrs.get(site.at as usize) {
                        sites.entry((id, *instr)).or_default().push(site);
                    }
                }
            }
        }
        let initial = flow.definitions().filter(|(_, definition)| definition.kind == DefinitionKind::Initial);
        let initial = initial.map(|(id, definition)| (definition.object, id)).collect();
        let mut witness = Self {
            log: PathLog::default(),
            program,
            flow,
            sites,
            locals: HashMap::new(),
            initial,
            places: BTreeMap::new(),
            memory: BTreeMap::new(),
            seen: Pairs::new(),
            unforeseen: BTreeSet::new(),
        };
        for (variable, id) in program.variables.iter().zip((0..).map(VariableId)) {
            match variable.storage {
                Storage::Stack(function, instr) => {
                    witness.locals.entry((function, instr)).or_insert(id);
                }
                Storage::Global(global) => {
                    let place = (program.global(global).size, id);
                    witness.places.entry(interpreter.address_of(global)).or_insert(place);
                }
            }
        }
        for global in &flow.watch().globals {
            let (address, size) = (interpreter.address_of(*global), program.global(*global).size);
            witness.log.entries.push(Entry::Address { address, size });
        }
        witness
    }

    /// Whether the use is of a variable.
    fn sees(&self, use_: UseId) -> bool {
        self.flow.object(self.flow.use_(use_).object).variable.is_some()
    }

    fn sites(&self, at: CodeLocation, kind: AccessKind) -> Vec<&'a Access> {
        let found = at.instr.and_then(|instr| self.sites.get(&(at.function, instr)));
        found.into_iter().flatten().copied().filter(|site| site.kind == kind).collect()
    }

    /// The variable at an address: where it begins, and which.
    fn variable_at(&self, address: u64) -> Option<(u64, VariableId)> {
        let (start, (size, variable)) = self.places.range(..=address).next_back()?;
        (address - start < *size).then_some((*start, *variable))
    }

    /// The objects in so many bytes at an address, with where their variable begins.
    fn objects_at(&self, address: u64, size: u64) -> Vec<(u64, ObjectId)> {
        let Some((start, variable)) = self.variable_at(address) else { return Vec::new() };
        let (from, to) = (address - start, address - start + size);
        let is_met = |id: &ObjectId| {
            let object = self.flow.object(*id);
            object.offset < to && from < object.offset + object.size
        };
        self.flow.objects_of(variable).filter(is_met).map(|id| (start, id)).collect()
    }

    /// Notes an access to an object that is none of its definitions or uses.
    fn foresee(&mut self, at: CodeLocation, kind: AccessKind, object: ObjectId) {
        let sites = self.sites(at, kind);
        let knows = |site: &&Access| site.use_of(object).is_some() || site.definition_of(object).is_some();
        // accesses that may touch very much have neither
        let is_open = |site: &&Access| site.definitions.is_empty() && site.uses.is_empty();
        let is_of_interest = !self.program.function(at.function).generated && !self.is_constant(object);
        if is_of_interest && !sites.iter().any(|site| knows(site) || is_open(site)) {
            self.unforeseen.insert((at, object));
        }
    }

    fn is_constant(&self, object: ObjectId) -> bool {
        let variable = self.flow.object(object).variable;
        variable.is_some_and(|variable| match self.program.variables[variable.index()].storage {
            Storage::Global(global) => self.program.global(global).constant,
            Storage::Stack(..) => false,
        })
    }

    fn take(&mut self, start: u64, object: ObjectId, use_: UseId) {
        let stored = self.memory.get(&(start, object)).copied();
        let newest = stored.unwrap_or_else(|| self.initial.get(&object).copied());
        self.seen.extend(newest.map(|definition| (definition, use_)));
    }

    /// Whether a function makes its own copy of a structure that is passed by value there: only that reads memory by way of
    /// a parameter that is in no variable.
    fn takes_structure(&self, at: CodeLocation) -> bool {
        at.instr.is_some_and(|instr| match &self.program.function(at.function).instr(instr).op {
            Op::Memory { from, .. } => matches!(from, Operand::Parameter(_)),
            _ => false,
        })
    }

    fn watched(&self, at: CodeLocation, what: Watched) -> bool {
        at.instr.is_some_and(|instr| self.flow.watch().of(at.function, instr).contains(&what))
    }
}

impl interpret::Observer for Witness<'_> {
    fn allocated(&mut self, at: CodeLocation, address: u64, size: u64) {
        // what lay here is gone
        let over = self.places.range(..address + size.max(1)).rev();
        let gone = over.take_while(|(start, (size, _))| *start + *size > address).map(|(start, _)| *start);
        for start in gone.collect::<Vec<_>>() {
            self.places.remove(&start);
            let first = (start, ObjectId(0));
            let old: Vec<_> = self
                .memory
                .range(first..)
                .take_while(|((of, _), _)| *of == start)
                .map(|(key, _)| *key)
                .collect();
            old.iter().for_each(|key| _ = self.memory.remove(key));
        }
        let variable = at.instr.and_then(|instr| self.locals.get(&(at.function, instr)));
        if let Some(variable) = variable {
            self.places.insert(address, (size, *variable));
        }
        if self.watched(at, Watched::Variable) {
            self.log.entries.push(Entry::Address { address, size });
        }
    }

    fn wants_arguments(&self) -> bool {
        true
    }

    fn arguments(&mut self, at: CodeLocation, arguments: &[u64]) {
        let Some(instr) = at.instr else { return };
        if !matches!(self.program.function(at.function).instr(instr).op, Op::Call { .. }) {
            return;
        }
        for watched in self.flow.watch().of(at.function, instr) {
            let (number, size) = match watched {
                Watched::Argument(number) => (*number, 0),
                Watched::Copied(number, size) => (*number, *size),
                Watched::Variable | Watched::From | Watched::To => continue,
            };
            let address = arguments.get(number as usize).copied().unwrap_or(0);
            self.log.entries.push(Entry::Address { address, size });
        }
        let given: Vec<_> = arguments
            .iter()
            .filter_map(|address| self.variable_at(*address).map(|(start, of)| (start, of, *address - start)))
            .collect();
        let met = |flow: &DataFlow, site: &Access, object: ObjectId| {
            let of = flow.object(object);
            let is_met = |(_, variable, offset): &&(u64, VariableId, u64)| {
                of.variable == Some(*variable)
                    && (site.address.is_none() || *offset == 0 || of.offset == *offset)
            };
            given.iter().find(is_met).map(|(start, _, _)| *start)
        };
        for site in self.sites(at, AccessKind::Load) {
            for (object, use_) in &site.uses {
                if let Some(start) = met(self.flow, site, *object) {
                    self.take(start, *object, *use_);
                }
            }
        }
        for site in self.sites(at, AccessKind::Store) {
            for (object, definition) in &site.definitions {
                if let Some(start) = met(self.flow, site, *object) {
                    self.memory.insert((start, *object), Some(*definition));
                }
            }
        }
    }

    fn load(&mut self, at: CodeLocation, address: u64, size: u64) {
        if self.watched(at, Watched::From) {
            self.log.entries.push(Entry::Address { address, size });
        }
        // the call has used it
        if self.takes_structure(at) {
            return;
        }
        for (start, object) in self.objects_at(address, size) {
            self.foresee(at, AccessKind::Load, object);
            for use_ in self.sites(at, AccessKind::Load).iter().filter_map(|site| site.use_of(object)) {
                self.take(start, object, use_);
            }
        }
    }

    fn store(&mut self, at: CodeLocation, address: u64, size: u64) {
        if self.watched(at, Watched::To) {
            self.log.entries.push(Entry::Address { address, size });
        }
        let sites = self.sites(at, AccessKind::Store);
        for (start, object) in self.objects_at(address, size) {
            self.foresee(at, AccessKind::Store, object);
            // a store without a definition of it overwrites it all the same
            for site in &sites {
                self.memory.insert((start, object), site.definition_of(object));
            }
        }
    }

    fn block(&mut self, function: FunctionId, block: BlockId) {
        self.log.block(function, block);
    }

    fn condition(&mut self, condition: ConditionId, outcome: bool) {
        self.log.condition(condition, outcome);
    }

    fn branch(&mut self, at: CodeLocation, taken: bool, decided: bool) {
        self.log.branch(at, taken, decided);
    }

    fn switch(&mut self, at: CodeLocation, case: usize) {
        self.log.switch(at, case);
    }

    fn callee(&mut self, at: CodeLocation, function: Option<FunctionId>) {
        self.log.callee(at, function);
    }

    fn callback(&mut self, function: FunctionId) {
        self.log.callback(function);
    }
}
