//! Calls: into inlined activations and back, and around everything else.

use model::{Callee, Function, FunctionId, InstrId, Linkage, Operand, Program, Type};

use super::execute::{MAX_COPY, Segment, Step};
use super::inline::Point;
use super::reach::jumps;
use super::state::{State, ValueName};
use super::terms::Term;
use super::{Checked, rejected};

/// What a call that is not inlined does to memory.
enum Effect {
    None,
    /// Nothing, and its result is new memory or null.
    Allocates,
    /// So many bytes become arbitrary where its second argument points.
    Fills(u64),
    Any,
}

/// Functions by which a harness asks for numbers, and the one that ends a run which asks for more than there are.
const ASKS: [&str; 5] =
    ["__quarry_part_key", "__quarry_call", "__quarry_size", "__quarry_option", "__quarry_is_fresh"];
/// Functions that write output; the number of pointers that they only read.
const WRITES: [(&str, usize); 7] =
    [("printf", 1), ("fprintf", 2), ("puts", 1), ("fputs", 2), ("putchar", 0), ("putc", 1), ("fflush", 1)];
/// Functions after which output may lie in memory of the program, or be written by it.
const BUFFERS: [&str; 7] = [
    "setvbuf",
    "setbuf",
    "setbuffer",
    "open_memstream",
    "fmemopen",
    "fopencookie",
    "register_printf_specifier",
];

fn effect(program: &Program, function: &Function, arguments: &[(Type, Operand)]) -> Effect {
    if function.is_defined() || function.linkage != Linkage::External {
        return Effect::Any;
    }
    let name = function.name.as_str();
    if ASKS.contains(&name) {
        return Effect::None;
    }
    if ["malloc", "calloc"].contains(&name) {
        return Effect::Allocates;
    }
    if name == "__quarry_cell" {
        let bytes = arguments.get(2).and_then(|(_, bytes)| bytes.constant());
        return bytes.filter(|bytes| *bytes <= MAX_COPY).map_or(Effect::Any, Effect::Fills);
    }
    // a pointer behind the format may be one to write to
    let n_pointers = arguments.iter().filter(|(ty, _)| !matches!(ty, Type::Int(_) | Type::Float(_))).count();
    let only_writes = WRITES.iter().any(|(known, n_read)| *known == name && n_pointers <= *n_read);
    let is_apart = || program.functions.iter().all(|function| !BUFFERS.contains(&function.name.as_str()));
    if only_writes && is_apart() { Effect::None } else { Effect::Any }
}

impl Segment<'_, '_> {
    /// Under the assumption that there is memory enough, runs without it are none.
    fn allocate(&mut self, state: &mut State, result: &[Term]) {
        if let (true, [address]) = (self.plan.is_allocated, result) {
            let null = self.world.terms.address(0);
            let is_null = self.world.terms.equal(*address, null);
            let exists = self.world.terms.not(is_null);
            state.reached = self.world.terms.and(&[state.reached, exists]);
        }
    }

    pub(super) fn call(
        &mut self,
        point: Point,
        state: &mut State,
        id: InstrId,
        callee: Callee,
        arguments: &[(Type, Operand)],
    ) -> Checked<Step> {
        let direct = match callee {
            Callee::Direct(function) => Some(function),
            Callee::Indirect(_) => None,
        };
        let function: Option<&Function> = direct.map(|id| self.world.program.function(id));
        if let Some(function) = function.filter(|function| jumps(function)) {
            let at = format!("{} {id}", self.plan.inlined.describe(point));
            return rejected(at, format!("{} does not come back as calls do", function.name));
        }
        if let Some(callee) = self.plan.inlined.callee(point.activation, id) {
            self.enter(point.activation, state, callee, arguments);
            return Ok(Step::Called(callee));
        }
        let name = function.map_or("a pointer", |function| &function.name);
        self.may_not_lead_to_goal(direct, point, id, name)?;
        if function.is_some_and(|function| function.no_return) {
            return Ok(Step::Ended);
        }
        let ty = self.plan.inlined.activations[point.activation].code.instr(id).ty;
        let result = self.world.fresh(ty);
        match function.map_or(Effect::Any, |function| effect(self.world.program, function, arguments)) {
            Effect::None => {}
            Effect::Allocates => self.allocate(state, &result),
            Effect::Fills(bytes) => {
                let address = self.pointer(state, point.activation, arguments[1].1);
                self.fill(state, address, bytes);
            }
            Effect::Any => state.memory = self.world.fresh_memory(false),
        }
        state.values.insert((point.activation, ValueName::Result(id)), result);
        Ok(Step::Next)
    }

    pub(super) fn may_not_lead_to_goal(
        &self,
        callee: Option<FunctionId>,
        point: Point,
        id: InstrId,
        what: &str,
    ) -> Checked<()> {
        if self.plan.may_reach.iter().any(|reach| reach.by_call(self.world.program, callee)) {
            let at = format!("{} {id}", self.plan.inlined.describe(point));
            return rejected(at, format!("{what} may lead to the goal, and is not inlined"));
        }
        Ok(())
    }

    /// Begins an inlined activation.
    fn enter(&mut self, caller: usize, state: &mut State, callee: usize, arguments: &[(Type, Operand)]) {
        let activation = &self.plan.inlined.activations[callee];
        state.placed.retain(|(of, _)| *of != callee);
        state.values.retain(|(of, _), _| *of != callee);
        for (number, ty) in activation.code.parameters.iter().enumerate() {
            let value = match arguments.get(number) {
                Some((given, operand)) if given == ty => self.operand(state, caller, *operand, *ty),
                Some(_) | None => self.world.fresh(*ty),
            };
            state.values.insert((callee, ValueName::Parameter(number as u32)), value);
        }
        self.plan.begin(self.world, state, callee, true);
    }

    pub(super) fn give_back(&mut self, point: Point, mut state: State, value: Option<Operand>) {
        let activation = &self.plan.inlined.activations[point.activation];
        let Some((caller, call, back)) = activation.caller else { return };
        let wanted = self.plan.inlined.activations[caller].code.instr(call).ty;
        let value = match value {
            Some(operand) if activation.code.result == wanted => {
                self.operand(&state, point.activation, operand, wanted)
            }
            Some(_) | None => self.world.fresh(wanted),
        };
        self.bury(&mut state, point.activation);
        state.values.retain(|(of, _), _| *of != point.activation);
        state.values.insert((caller, ValueName::Result(call)), value);
        self.arrive(back, state);
    }
}
