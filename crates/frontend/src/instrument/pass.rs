//! One pass over the module: which functions are instrumented, and what they share.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::annotate::Kinds;
use super::function::instrument_function;
use super::gap::{Gaps, NotFollowed};
use super::library::is_model;
use super::prepare::is_fixed_alloca;
use super::{InstrumentError, Mode, Places, prepare};
use crate::agreement::{HARNESS, Refusal, is_mark, refusal};
use crate::llvm::{AttributePlace, Builder, LLVMLinkage, Type, Value};

const PROGRAM_MAIN: &str = "__quarry_program_main";

/// What all functions of the module need to know.
pub struct Pass<'a> {
    pub ir: &'a Builder<'a>,
    pub mode: Mode,
    /// Whether numbers are rounded to their types here, and not in the program that the user builds.
    pub is_other_rounding: bool,
    pub kinds: Kinds,
    pub gaps: Gaps,
    place: &'a Places<'a>,
    instrumented: HashSet<Value<'a>>,
    /// Instrumented functions that no input reaches.
    free_of_input: HashSet<Value<'a>>,
    /// Instrumented functions that only instrumented code calls, by name: nobody need ask who called.
    private: HashSet<Value<'a>>,
    /// Counters of outcomes given out so far.
    pub(super) n_counters: Cell<u32>,
}

/// Instruments every function of `numbers` that has a body.
pub fn run(
    ir: &Builder<'_>,
    mode: Mode,
    is_other_rounding: bool,
    numbers: &BTreeMap<String, u32>,
    free_of_input: &BTreeSet<u32>,
    place: &Places<'_>,
) -> Result<NotFollowed, InstrumentError> {
    let kinds = Kinds::new(ir);
    let mut pass = Pass {
        ir,
        mode,
        is_other_rounding,
        kinds,
        gaps: Gaps::default(),
        place,
        instrumented: HashSet::new(),
        free_of_input: HashSet::new(),
        private: HashSet::new(),
        n_counters: Cell::new(0),
    };
    let mut functions = Vec::new();
    for function in ir.functions() {
        if let Some(&number) = numbers.get(&function.name())
            && pass.accepts(function)
        {
            pass.instrumented.insert(function);
            if free_of_input.contains(&number) && may_do_without(function) {
                pass.free_of_input.insert(function);
            }
            functions.push((function, number));
        }
    }
    pass.private = functions.iter().map(|(f, _)| *f).filter(|f| pass.is_private(*f)).collect();
    for function in ir.functions() {
        prepare::prepare(ir, function);
    }
    for (function, number) in &functions {
        instrument_function(&mut pass, *function, *number);
    }
    pass.drop_marks();
    pass.make_function_table(&functions);
    pass.make_state_table(); // before tables of its own are added
    pass.make_global_table();
    pass.make_counters();
    pass.make_root()?;
    let mut met = pass.gaps.finish();
    met.gaps.retain(|gap| !is_model(&gap.function)); // nothing the user could change
    Ok(met)
}

impl<'m> Pass<'m> {
    pub fn is_instrumented(&self, function: Value<'m>) -> bool {
        self.instrumented.contains(&function)
    }

    /// Whether an instrumented function makes expressions.
    pub fn has_expressions(&self, function: Value<'m>) -> bool {
        self.mode == Mode::Symbolic && !self.free_of_input.contains(&function)
    }

    /// Whether callers need not announce the call.
    pub fn is_unannounced(&self, function: Value<'m>) -> bool {
        self.private.contains(&function)
    }

    /// Calls a function of the runtime; its type follows from the result and the arguments.
    pub fn runtime(&self, name: &str, result: Type<'m>, arguments: &[Value<'m>]) -> Value<'m> {
        let function = self.ir.function_named(name).unwrap_or_else(|| {
            let parameters: Vec<_> = arguments.iter().map(|argument| argument.ty()).collect();
            self.ir.add_function(name, self.ir.function_type(result, &parameters))
        });
        self.ir.call(function, arguments)
    }

    /// What the log calls the place of an instruction: 0, or one more than its number.
    pub fn place(&self, function: &str, instruction: Value<'m>) -> u32 {
        let (line, _) = instruction.position();
        (self.place)(function, line).map_or(0, |place| place + 1)
    }

    fn accepts(&mut self, function: Value<'m>) -> bool {
        if function.is_declaration() || function.linkage() == LLVMLinkage::LLVMAvailableExternallyLinkage {
            return false;
        }
        let Some(Refusal { kind, what, at }) = refusal(function) else { return true };
        match at {
            Some(instruction) => self.gaps.note(kind, &function.name(), instruction, what),
            None => self.gaps.note_function(kind, &function.name(), what),
        }
        false
    }

    fn is_private(&self, function: Value<'m>) -> bool {
        let internal =
            matches!(function.linkage(), LLVMLinkage::LLVMInternalLinkage | LLVMLinkage::LLVMPrivateLinkage);
        internal
            && function.users().into_iter().all(|user| {
                user.is_instruction()
                    && user.is_call()
                    && user.callee() == function
                    && !user.call_arguments().contains(&function)
                    && user.metadata(self.kinds.indirect).is_none()
                    && self.instrumented.contains(&user.block().function())
            })
    }

    /// Marks have been logged; what stays is their operand.
    fn drop_marks(&self) {
        for function in self.ir.functions() {
            for instruction in function.blocks().into_iter().flat_map(|block| block.instructions()) {
                if is_mark(instruction) {
                    instruction.replace_uses_with(instruction.operand(1));
                    instruction.erase();
                }
            }
        }
    }

    /// Addresses by which indirect calls are recognised at run time.
    fn make_function_table(&self, functions: &[(Value<'m>, u32)]) {
        let word = self.ir.int(32);
        let rows: Vec<_> = functions
            .iter()
            .filter(|(function, _)| !self.private.contains(function))
            .map(|&(function, number)| {
                let signature =
                    signature(function.value_type(), |place, name| function.has_attribute(place, name));
                let numbers = [word.constant(u64::from(number)), word.constant(u64::from(signature))];
                self.ir.constant_struct(&[function, numbers[0], numbers[1]])
            })
            .collect();
        let empty = self.ir.constant_struct(&[self.ir.pointer().zero(), word.zero(), word.zero()]);
        let ty = self.ir.array(empty.ty(), rows.len() as u64);
        let table = self.ir.add_global("__quarry_functions", ty);
        table.set_initializer(self.ir.constant_array(empty.ty(), &rows));
        table.set_hidden();
        let count = self.ir.add_global("__quarry_n_functions", word);
        count.set_initializer(word.constant(rows.len() as u64));
        count.set_hidden();
    }

    /// The function from which the runtime starts the program.
    fn make_root(&self) -> Result<(), InstrumentError> {
        let ir = self.ir;
        let main = ir.function_named("main").filter(|main| !main.is_declaration());
        if let Some(main) = main {
            main.set_name(PROGRAM_MAIN); // the runtime brings the process's own
        }
        let harness = ir.function_named(HARNESS).filter(|harness| !harness.is_declaration());
        let target = harness.or(main).ok_or(InstrumentError::NoRoot)?;
        let (word, pointer) = (ir.int(32), ir.pointer());
        let root = ir.add_function("__quarry_root", ir.function_type(word, &[word, pointer, pointer]));
        root.set_hidden();
        ir.place_at_end(ir.append_block(root));
        if self.is_instrumented(target) && !self.is_unannounced(target) {
            self.runtime("__quarry_expect", ir.void(), &[target]);
        }
        let passed: Vec<_> = (0..)
            .zip(target.value_type().parameters())
            .map(|(index, ty)| {
                let given = (index < 3).then(|| root.parameter(index)).filter(|given| given.ty() == ty);
                given.unwrap_or_else(|| ty.zero())
            })
            .collect();
        let result = ir.call(target, &passed);
        ir.ret(if result.ty().is_integer() { ir.as_int(result, 32) } else { word.zero() });
        Ok(())
    }
}

/// Whether a function can be left without expressions: not where it has memory that others may have left expressions in, nor
/// where its callers' callers take its result from it.
fn may_do_without(function: Value<'_>) -> bool {
    let copies = (0..function.n_parameters())
        .any(|index| function.has_attribute(AttributePlace::Parameter(index), "byval"));
    let is_tail_called = function
        .users()
        .into_iter()
        .any(|user| user.is_instruction() && user.is_call() && user.is_must_tail());
    let mut instructions = function.blocks().into_iter().flat_map(|block| block.instructions());
    let has_sized = instructions.any(|instruction| instruction.is_alloca() && !is_fixed_alloca(instruction));
    !(copies || is_tail_called || has_sized)
}

/// A number for the way a function type passes its arguments, equal at call and callee when they agree.
pub fn signature(ty: Type<'_>, has_attribute: impl Fn(AttributePlace, &str) -> bool) -> u32 {
    let mut text = ty.text();
    for (index, _) in (0..).zip(ty.parameters()) {
        text.push(if has_attribute(AttributePlace::Parameter(index), "byval") { 'm' } else { 'r' });
    }
    // FNV-1a
    text.bytes().fold(0x811c_9dc5, |hash: u32, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}
