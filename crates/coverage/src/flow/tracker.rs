//! Which definition reaches each use of a run? Told along the walk of its path.
//!
//! Method: reads and writes of variables by name follow from the blocks that are walked, so per activation and object the
//! last definition is known. Of the others the log has the address, and of the variables that they may touch where each of
//! their activations lies: what a store hits, and a load finds, is known exactly. An instruction counts when it is certain
//! to have been executed: the rest of a block when the next one is entered, of an abandoned block what comes before the
//! instruction it was left at. Limit: how far code that is not instrumented goes from an address it is given is not known;
//! from the start of a variable it is all of it, from elsewhere the object that begins there.

use analysis::dataflow::{Access, AccessKind, DataFlow, DefinitionId, Home, ObjectId, UseId};
use model::walk::{Call, Site, Visitor};
use model::{BlockId, FunctionId, InstrId, Op, Program, VariableId};

use super::regions::{Region, Regions};

/// Something that happened to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowEvent {
    /// The definition was executed.
    Defined(DefinitionId),
    /// What the definition had written is gone: another definition came, or the activation was left.
    Killed(DefinitionId),
    /// The use was executed, with what this definition had written.
    Used { definition: DefinitionId, use_: UseId },
}

/// Told what happens, with the number of outcomes (of any kind) that the path had before.
pub trait Listener {
    fn tell(&mut self, event: FlowEvent, n_outcomes: u64);
}

/// Walks along a path and tells a listener what becomes of definitions.
#[derive(Clone)]
pub struct Tracker<'a, L> {
    program: &'a Program,
    flow: &'a DataFlow,
    slots: Slots,
    activations: Vec<Activation>,
    /// The newest definition of each local object, by activation.
    locals: Vec<Option<DefinitionId>>,
    /// The same of objects with static storage.
    statics: Vec<Option<DefinitionId>>,
    regions: Regions,
    n_outcomes: u64,
    listener: L,
}

/// Where the newest definition of each object is kept.
#[derive(Clone)]
struct Slots {
    /// By object.
    of: Vec<u32>,
    /// By function: how many its activations need.
    n_locals: Vec<u32>,
}

#[derive(Clone)]
struct Activation {
    function: FunctionId,
    call: Option<Call>,
    /// None before the first one is entered.
    block: Option<BlockId>,
    /// The next access of the block.
    next: usize,
    first_slot: usize,
    returned: Option<DefinitionId>,
    is_abandoned: bool,
    /// Addresses that the log has for instructions of the block: which instruction, where, how many bytes.
    addresses: Vec<(u32, u64, u64)>,
}

const ALL: u32 = u32::MAX;

impl<'a, L: Listener> Tracker<'a, L> {
    /// A tracker before the first step of a run.
    pub fn new(program: &'a Program, flow: &'a DataFlow, listener: L) -> Self {
        let mut n_locals = vec![0; program.functions.len()];
        let mut n_statics = 0;
        let slot = |counter: &mut u32| {
            *counter += 1;
            *counter - 1
        };
        let of = flow.objects().map(|(_, object)| match object.home {
            Home::Local(function) => slot(&mut n_locals[function.index()]),
            Home::Static | Home::Result(_) => slot(&mut n_statics),
        });
        let of = of.collect();
        let mut tracker = Self {
            program,
            flow,
            slots: Slots { of, n_locals },
            activations: Vec::new(),
            locals: Vec::new(),
            statics: vec![None; n_statics as usize],
            regions: Regions::default(),
            n_outcomes: 0,
            listener,
        };
        tracker.start();
        tracker
    }

    /// The listener, while the run goes on.
    pub fn listener_mut(&mut self) -> &mut L {
        &mut self.listener
    }

    /// The listener, with what it was told.
    pub fn finish(self) -> L {
        self.listener
    }

    fn start(&mut self) {
        for (id, definition) in self.flow.definitions() {
            if definition.kind == analysis::dataflow::DefinitionKind::Initial {
                self.define(definition.object, 0, id);
            }
        }
    }

    /// Where the newest definition of an object is kept, for locals in the activation with this number.
    fn newest(&mut self, object: ObjectId, activation: usize) -> Option<&mut Option<DefinitionId>> {
        let slot = self.slots.of[object.index()] as usize;
        match self.flow.object(object).home {
            Home::Local(_) => {
                let first = self.activations.get(activation)?.first_slot;
                self.locals.get_mut(first + slot)
            }
            Home::Static | Home::Result(_) => self.statics.get_mut(slot),
        }
    }

    fn innermost(&self) -> usize {
        self.activations.len().saturating_sub(1)
    }

    fn define(&mut self, object: ObjectId, activation: usize, definition: DefinitionId) {
        let n_outcomes = self.n_outcomes;
        let Some(newest) = self.newest(object, activation) else { return };
        if let Some(killed) = newest.replace(definition) {
            self.listener.tell(FlowEvent::Killed(killed), n_outcomes);
        }
        self.listener.tell(FlowEvent::Defined(definition), n_outcomes);
    }

    fn kill(&mut self, object: ObjectId, activation: usize) {
        let n_outcomes = self.n_outcomes;
        if let Some(killed) = self.newest(object, activation).and_then(Option::take) {
            self.listener.tell(FlowEvent::Killed(killed), n_outcomes);
        }
    }

    fn take(&mut self, object: ObjectId, activation: usize, use_: UseId) {
        let n_outcomes = self.n_outcomes;
        if let Some(definition) = self.newest(object, activation).and_then(|newest| *newest) {
            self.listener.tell(FlowEvent::Used { definition, use_ }, n_outcomes);
        }
    }

    /// What a site touches: all it names, or what lies at its address.
    fn touched(&self, access: &Access) -> Vec<(ObjectId, usize)> {
        let innermost = self.innermost();
        match (access.address, self.address_of(access)) {
            (None, _) => {
                let defined = access.definitions.iter().map(|(object, _)| *object);
                let used = access.uses.iter().map(|(object, _)| *object);
                defined.chain(used).map(|object| (object, innermost)).collect()
            }
            (Some(_), Some((address, size))) => self.regions.touched(self.flow, address, size),
            // runs that were not asked for addresses say nothing of what pointers do
            (Some(_), None) => Vec::new(),
        }
    }

    /// The address that the log has for a site, and the number of bytes.
    fn address_of(&self, access: &Access) -> Option<(u64, u64)> {
        let number = access.address? as usize;
        let of = self.activations.last()?.addresses.iter().filter(|(at, _, _)| *at == access.at);
        of.map(|(_, address, size)| (*address, *size)).nth(number)
    }

    /// Executes the accesses of the innermost function's block before this instruction.
    fn advance(&mut self, end: u32) {
        let flow = self.flow;
        let Some(activation) = self.activations.last() else { return };
        let Some(block) = activation.block else { return };
        let accesses = flow.blocks().of(activation.function, block);
        let mut next = activation.next;
        while let Some(access) = accesses.get(next).filter(|access| access.at < end) {
            self.execute(access);
            next += 1;
        }
        if let Some(activation) = self.activations.last_mut() {
            activation.next = next;
        }
    }

    /// Executes what a call itself reads: structures that it passes by value. The callee may change where they come from.
    fn pass_structures(&mut self, call: u32) {
        let flow = self.flow;
        let Some(Activation { function, block: Some(block), next, .. }) = self.activations.last() else {
            return;
        };
        let accesses = flow.blocks().of(*function, *block).iter().skip(*next);
        let mut n_read = 0;
        for access in accesses.take_while(|access| access.at == call && access.kind == AccessKind::Load) {
            self.execute(access);
            n_read += 1;
        }
        if let Some(activation) = self.activations.last_mut() {
            activation.next += n_read;
        }
    }

    fn execute(&mut self, access: &Access) {
        match access.kind {
            AccessKind::Load => {
                for (object, activation) in self.touched(access) {
                    if let Some(use_) = access.use_of(object) {
                        self.take(object, activation, use_);
                    }
                }
            }
            AccessKind::Store => {
                for (object, activation) in self.touched(access) {
                    match access.definition_of(object) {
                        Some(definition) => self.define(object, activation, definition),
                        // a pointer that may lead to too much to have pairs
                        None => self.kill(object, activation),
                    }
                }
            }
            AccessKind::Begin(variable) => {
                if let Some((address, size)) = self.address_of(access) {
                    let activation = self.innermost();
                    self.regions.begin(Region { address, size, variable, activation });
                    self.forget(variable, activation);
                }
            }
            AccessKind::Return => {
                let definition = access.definitions.first().map(|(_, definition)| *definition);
                let activation = self.activations.last_mut();
                let before = activation.and_then(|of| std::mem::replace(&mut of.returned, definition));
                let events =
                    before.map(FlowEvent::Killed).into_iter().chain(definition.map(FlowEvent::Defined));
                events.for_each(|event| self.listener.tell(event, self.n_outcomes));
            }
            // told when the callee is left
            AccessKind::Result => {}
        }
    }

    /// A local variable that begins, maybe again, holds nothing.
    fn forget(&mut self, variable: VariableId, activation: usize) {
        let flow = self.flow;
        for object in flow.objects_of(variable) {
            match flow.object(object).home {
                Home::Local(_) => self.kill(object, activation),
                Home::Static | Home::Result(_) => {}
            }
        }
    }

    /// The function returned to the call.
    fn result(&mut self, function: FunctionId, call: Call, definition: DefinitionId) {
        let flow = self.flow;
        let accesses = flow.blocks().of(call.function, call.block);
        let is_taken = |access: &&Access| access.at == call.at && access.kind == AccessKind::Result;
        let object = flow.definition(definition).object;
        debug_assert_eq!(flow.object(object).home, Home::Result(function));
        if let Some(use_) = accesses.iter().find(is_taken).and_then(|access| access.use_of(object)) {
            self.listener.tell(FlowEvent::Used { definition, use_ }, self.n_outcomes);
        }
    }

    /// Where in the present block the condition is marked; behind everything for what decides at the end of a block.
    fn position_of(&self, site: Site) -> u32 {
        let (Site::Condition(condition), Some(activation)) = (site, self.activations.last()) else {
            return ALL;
        };
        let function = self.program.function(activation.function);
        let is_mark = |id: &InstrId| match function.instr(*id).op {
            Op::Mark { condition: marked, .. } => marked == condition,
            _ => false,
        };
        let block = activation.block.map(|block| function.block(block));
        let found = block.and_then(|block| block.instrs.iter().position(is_mark));
        found.and_then(|at| u32::try_from(at).ok()).unwrap_or(0)
    }
}

impl<P, L: Listener> Visitor<P> for Tracker<'_, L> {
    fn enter(&mut self, function: FunctionId, call: Option<Call>) {
        if let Some(call) = call {
            self.advance(call.at);
            self.pass_structures(call.at);
        }
        let first_slot = self.locals.len();
        self.locals.resize(first_slot + self.slots.n_locals[function.index()] as usize, None);
        self.activations.push(Activation {
            function,
            call,
            block: None,
            next: 0,
            first_slot,
            returned: None,
            is_abandoned: false,
            addresses: Vec::new(),
        });
    }

    fn wait(&mut self, call: Call) {
        self.advance(call.at);
    }

    fn leave(&mut self) {
        if self.activations.last().is_some_and(|activation| !activation.is_abandoned) {
            self.advance(ALL);
        }
        let Some(activation) = self.activations.pop() else { return };
        let n_left = self.activations.len();
        let flow = self.flow;
        self.regions.end(n_left, |variable| {
            let mut objects = flow.objects_of(variable);
            objects.next().is_some_and(|object| matches!(flow.object(object).home, Home::Local(_)))
        });
        for killed in self.locals.drain(activation.first_slot..).flatten() {
            self.listener.tell(FlowEvent::Killed(killed), self.n_outcomes);
        }
        if let Some(definition) = activation.returned {
            if let (false, Some(call)) = (activation.is_abandoned, activation.call) {
                self.result(activation.function, call, definition);
            }
            // whoever did not take it never will
            self.listener.tell(FlowEvent::Killed(definition), self.n_outcomes);
        }
    }

    fn block(&mut self, _: FunctionId, block: BlockId) {
        self.advance(ALL);
        if let Some(activation) = self.activations.last_mut() {
            (activation.block, activation.next) = (Some(block), 0);
            activation.addresses.clear();
        }
    }

    fn abandon(&mut self, _: FunctionId, _: BlockId, at: u32) {
        self.advance(at);
        if let Some(activation) = self.activations.last_mut() {
            activation.is_abandoned = true;
        }
    }

    fn resume(&mut self, function: FunctionId, block: BlockId, at: u32) {
        let accesses = self.flow.blocks().of(function, block);
        if let Some(activation) = self.activations.last_mut() {
            activation.block = Some(block);
            activation.next = accesses.partition_point(|access| access.at <= at);
            activation.is_abandoned = false;
            activation.addresses.clear();
        }
    }

    fn address(&mut self, at: u32, address: u64, size: u64) {
        if let Some(activation) = self.activations.last_mut() {
            activation.addresses.push((at, address, size));
        }
    }

    fn outcome(&mut self, site: Site, _: bool, _: P) {
        self.advance(self.position_of(site));
        self.n_outcomes += 1;
    }

    fn switch(&mut self, _: FunctionId, _: BlockId, _: usize, _: P) {
        self.advance(ALL);
        self.n_outcomes += 1;
    }
}

#[cfg(test)]
mod tests {
    use analysis::dataflow::DataFlowOptions;
    use model::text;
    use model::walk::{Completeness, Script, walk};

    use super::*;

    #[derive(Default)]
    struct Told(Vec<String>);

    impl Listener for Told {
        fn tell(&mut self, event: FlowEvent, _: u64) {
            if let FlowEvent::Used { definition, use_ } = event {
                self.0.push(format!("{definition} {use_}"));
            }
        }
    }

    /// What a complete run of `main` without outcomes tells; `set` stores into `g`, and so does `take` after it has copied what it
    /// is given, `stop` never comes back.
    fn told(main: &str, completeness: Completeness) -> Vec<String> {
        let text = format!(
            "program pointer 64 root f0\nfile file0 \"t.c\"\n\
             span s0 file0:1:1\nspan s1 file0:2:1\nspan s2 file0:3:1\nspan s3 file0:4:1\n\
             global g0 \"g\" exported size 4 align 4\nvariable v0 \"g\" global at s0 in g0\n\
             function f0 \"main\" exported () -> void at s0 {{\nb0:\n{main}}}\n\
             function f1 \"set\" exported () -> void at s0 {{\nb0:\n %0 = store i32 1, g0 at s1\n return\n}}\n\
             function f2 \"stop\" external () -> void no_return\n\
             function f3 \"take\" exported (ptr) -> void at s0 {{\nb0:\n %0 = alloca 4 align 4\n %1 = copy %0, p0, 4\n \
             %2 = store i32 2, g0 at s1\n return\n}}\n"
        );
        let program = text::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let flow = DataFlow::of(
            &program,
            &DataFlowOptions { roots: vec![FunctionId(0)], ..DataFlowOptions::default() },
        );
        let mut tracker = Tracker::new(&program, &flow, Told::default());
        let script = Script::new(&program, None);
        walk::<()>(&script, FunctionId(0), std::iter::empty(), completeness, &mut tracker).expect("fits");
        tracker.finish().0
    }

    const CALL: &str = " %0 = call void f1() at s2\n %1 = load i32, g0 at s3\n return\n";

    #[test]
    fn what_a_call_defines_is_there_behind_it_and_not_before() {
        // def0 is the initial value
        assert_eq!(told(CALL, Completeness::Complete), ["def1 use0"]);
        let before = " %0 = load i32, g0 at s2\n %1 = call void f1() at s2\n return\n";
        assert_eq!(told(before, Completeness::Complete), ["def0 use0"]);
    }

    #[test]
    fn what_is_passed_by_value_is_read_before_the_callee_changes_it() {
        let call = " %0 = call void f3(ptr g0) at s2\n return\n";
        assert_eq!(told(call, Completeness::Complete), ["def0 use0"]);
    }

    #[test]
    fn what_is_not_certain_does_not_count() {
        assert!(told(CALL, Completeness::Partial).is_empty(), "the run may have ended before the load");
        let stopped = " %0 = call void f2() at s2\n %1 = load i32, g0 at s3\n unreachable\n";
        assert!(told(stopped, Completeness::Complete).is_empty());
    }
}
