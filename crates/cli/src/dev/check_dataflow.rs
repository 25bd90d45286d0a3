//! `quarry dev check-dataflow`: does the tracker, from the path alone, find the pairs that real addresses show?
//!
//! Method: `main` runs in the model interpreter, once. Its path log is walked with coverage's tracker; beside it, an observer of
//! the interpreter remembers for each address which definition was stored there last, and what loads find. Both must
//! see the same pairs, and each pair must be one that the analysis lists. Limit: variables of one scalar, because at real
//! addresses an element of an array is not the array; results of functions are in registers and have no address.

use std::collections::{BTreeSet, HashMap};

use analysis::dataflow::{DataFlow, DefinitionId, DefinitionKind, ObjectId, Options, Site, UseId};
use coverage::flow::{FlowEvent, Listener, Tracker};
use model::interpret::{self, Interpreter, Limits, PathLog, Place};
use model::walk::{Completeness, Script, walk};
use model::{BlockId, ConditionId, FunctionId, InstrId, Program};

use super::{CheckDataflow, work_directory};
use crate::exit::{Exit, Failure};
use crate::pipeline::{Front, Start};

type Pairs = BTreeSet<(DefinitionId, UseId)>;

/// Runs the command.
pub fn check(arguments: &CheckDataflow) -> Result<Exit, Failure> {
    let work = work_directory()?;
    let front = Front::mark(&arguments.sources, work.path(), Start::Main)?;
    let built = front.build(None, &[])?;
    let program = &built.lowered.program;
    let root = program.root.ok_or_else(|| Failure::usage("there is no main"))?;
    let flow = DataFlow::of(program, &Options { roots: vec![root], elements: arguments.elements });
    let limits = Limits { steps: arguments.max_steps, ..Limits::default() };
    let mut witness = Witness::new(program, &flow);
    let outcome = Interpreter::new(program, limits).run_observed(root, &[], &mut witness);
    let is_whole = matches!(outcome.end, interpret::End::Returned(_) | interpret::End::Exit(_));
    if !is_whole {
        eprintln!("not compared: {:?}", outcome.end);
        return Ok(Exit::Done);
    }
    let mut told = Tracker::new(program, &flow, Told::default());
    let entries = std::mem::take(&mut witness.log.entries).into_iter();
    walk(&Script::new(program, false), root, entries, Completeness::Complete, &mut told)
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
    flow: &'a DataFlow,
    sites: HashMap<(FunctionId, InstrId), Vec<&'a Site>>,
    initial: HashMap<ObjectId, DefinitionId>,
    /// By address: the definition stored there last.
    memory: HashMap<u64, DefinitionId>,
    seen: Pairs,
}

impl<'a> Witness<'a> {
    fn new(program: &Program, flow: &'a DataFlow) -> Self {
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
        let (log, memory, seen) = (PathLog::default(), HashMap::new(), Pairs::new());
        Self { log, flow, sites, initial, memory, seen }
    }

    /// Whether the use is of a variable that is one scalar.
    fn sees(&self, use_: UseId) -> bool {
        self.is_scalar(self.flow.use_(use_).object)
    }

    fn is_scalar(&self, object: ObjectId) -> bool {
        let object = self.flow.object(object);
        object.variable.is_some() && matches!(object.size, 1 | 2 | 4 | 8)
    }

    fn sites(&self, at: Place) -> Vec<&'a Site> {
        let found = at.instr.and_then(|instr| self.sites.get(&(at.function, instr)));
        found.cloned().unwrap_or_default()
    }
}

impl interpret::Observer for Witness<'_> {
    fn load(&mut self, at: Place, address: u64, _: u64) {
        for (object, use_) in self.sites(at).into_iter().flat_map(|site| &site.uses) {
            // an address may have belonged to another variable before
            let of_object = |id: &&DefinitionId| self.flow.definition(**id).object == *object;
            let newest = self.memory.get(&address).filter(of_object).or_else(|| self.initial.get(object));
            if let (true, Some(definition)) = (self.is_scalar(*object), newest) {
                self.seen.insert((*definition, *use_));
            }
        }
    }

    fn store(&mut self, at: Place, address: u64, _: u64) {
        for (object, definition) in self.sites(at).into_iter().flat_map(|site| &site.definitions) {
            if self.is_scalar(*object) {
                self.memory.insert(address, *definition);
            }
        }
    }

    fn block(&mut self, function: FunctionId, block: BlockId) {
        self.log.block(function, block);
    }

    fn condition(&mut self, condition: ConditionId, outcome: bool) {
        self.log.condition(condition, outcome);
    }

    fn branch(&mut self, at: Place, taken: bool, decided: bool) {
        self.log.branch(at, taken, decided);
    }

    fn switch(&mut self, at: Place, case: usize) {
        self.log.switch(at, case);
    }

    fn callee(&mut self, at: Place, function: Option<FunctionId>) {
        self.log.callee(at, function);
    }

    fn callback(&mut self, function: FunctionId) {
        self.log.callback(function);
    }
}
