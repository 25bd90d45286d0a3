//! Modules in parts: which code is compiled how, and in which object.
//!
//! The runtime is an object that is made once, and beside it the short functions that are inlined into instrumented code. A
//! program that is large gets two objects: what is worth optimising, and the rest, in which the runtime is called and
//! nothing is inlined. Optimisation and register allocation cost more than linearly in the size of a function, code
//! generation without them does not.
//!
//! Method: the calls of the runtime are what instrumentation has added, so they measure size. Functions with loops are worth more
//! than others, small ones more than large ones; they are optimised until [`MOST_OPTIMISED`] calls are. Limit: a program
//! with aliases is optimised as a whole.

use std::collections::{BTreeSet, HashSet};

use inkwell::module::Module;

use crate::agreement::direct_callee;
use crate::llvm::{Block, Builder, LLVMOpcode, LlvmError, Value, declare};

/// Calls of the runtime that are inlined and optimised in a program.
const MOST_OPTIMISED: usize = 1_200;

/// A function with more calls of the runtime is not optimised.
const LARGE_FUNCTION: usize = 600;

/// The functions of an instrumented program that are not worth optimising, by name.
pub fn plain_functions(ir: &Builder<'_>) -> BTreeSet<String> {
    if ir.has_aliases() {
        return BTreeSet::new();
    }
    let mut sized: Vec<(bool, usize, Value<'_>)> = Vec::new();
    for function in ir.functions().into_iter().filter(|function| !function.is_declaration()) {
        let n_calls = n_runtime_calls(function);
        if n_calls > 0 {
            sized.push((!has_loop(function), n_calls, function));
        }
    }
    sized.sort_by_key(|(is_straight, n_calls, _)| (*is_straight, *n_calls)); // stable: in the order of the module
    let mut n_optimised = 0;
    let mut plain = BTreeSet::new();
    for (_, n_calls, function) in sized {
        if n_calls > LARGE_FUNCTION || n_optimised + n_calls > MOST_OPTIMISED {
            plain.insert(function.name());
        } else {
            n_optimised += n_calls;
        }
    }
    plain
}

/// Leaves some functions of a module whose symbols are shared, and with `variables` its variables; the rest is declared. Variables
/// with addresses of labels are where the function with the labels is.
pub fn keep(module: &Module<'_>, variables: bool, is_kept: impl Fn(&str) -> bool) -> Result<(), LlvmError> {
    let ir = Builder::new(module);
    let mut elsewhere = ir.functions();
    let has_tables = elsewhere.iter().any(|function| has_labels(*function));
    elsewhere.retain(|function| !is_kept(&function.name()));
    for global in ir.globals() {
        let function = if has_tables { global.initializer().and_then(labelled) } else { None };
        if function.map_or(variables, |function| is_kept(&function.name())) {
            continue;
        }
        if global.name().starts_with("llvm.") {
            global.delete_global();
        } else {
            elsewhere.push(global);
        }
    }
    declare(module, elsewhere.into_iter())
}

/// The function whose labels a constant has addresses of, if it has any: C knows no labels of two functions in one place.
fn labelled(constant: Value<'_>) -> Option<Value<'_>> {
    let mut open = vec![constant];
    while let Some(part) = open.pop() {
        if let Some(function) = part.function_of_label() {
            return Some(function);
        }
        // what a variable holds is its own matter
        if part.as_global_variable().is_none() && part.as_function().is_none() {
            open.extend(part.operands());
        }
    }
    None
}

/// Takes the instructions out that fix a value: where nothing is optimised a value that was computed is the same in all its uses, and LLVM's fast
/// selection of instructions gives up a whole block for one of them.
pub fn thaw(module: &Module<'_>) {
    let functions = Builder::new(module).functions();
    let instructions = functions.iter().flat_map(|function| function.blocks()).flat_map(Block::instructions);
    let freezes: Vec<_> =
        instructions.filter(|instruction| instruction.opcode() == LLVMOpcode::LLVMFreeze).collect();
    for freeze in freezes.into_iter().filter(|freeze| !freeze.operand(0).is_constant()) {
        freeze.replace_uses_with(freeze.operand(0));
        freeze.erase();
    }
}

fn n_runtime_calls(function: Value<'_>) -> usize {
    let instructions = function.blocks().into_iter().flat_map(|block| block.instructions());
    let callees = instructions.filter(|instruction| instruction.is_call()).filter_map(direct_callee);
    callees.filter(|callee| callee.is_declaration() && callee.name().starts_with("__quarry_")).count()
}

/// Whether addresses of its labels may be taken: whoever has one must be in the same object.
fn has_labels(function: Value<'_>) -> bool {
    let mut terminators = function.blocks().into_iter().filter_map(Block::terminator);
    terminators.any(|terminator| terminator.opcode() == LLVMOpcode::LLVMIndirectBr)
}

/// Whether a way through the function comes by the same block twice.
fn has_loop(function: Value<'_>) -> bool {
    let entry = function.blocks()[0];
    let (mut seen, mut open) = (HashSet::from([entry]), HashSet::from([entry]));
    let mut stack = vec![(entry, entry.successors().into_iter())];
    while let Some((block, successors)) = stack.last_mut() {
        let block = *block;
        match successors.next() {
            Some(next) if open.contains(&next) => return true,
            Some(next) if seen.insert(next) => {
                open.insert(next);
                stack.push((next, next.successors().into_iter()));
            }
            Some(_) => {}
            None => {
                open.remove(&block);
                stack.pop();
            }
        }
    }
    false
}
