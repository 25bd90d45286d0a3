//! Hooks where runs can be asked for addresses.
//!
//! Method: the model says which of its instructions are watched; what each of them was lowered from gets a call of the hook,
//! before the code is optimised; what lowering added belongs to the atomic operation it is part of, or to the parameter that
//! is a structure passed by value. The hook keeps its variable in memory, and asks the run's flags.

use std::collections::HashMap;

use inkwell::module::Module;
use model::walk::{Watch, Watched};
use model::{Function, FunctionId, InstrId, Op, Operand};

use crate::llvm::{Builder, LLVMOpcode, Value};
use crate::lower::{Lowered, numbered};

/// Told of an address and of how many bytes there it is about.
pub const WATCH_HOOK: &str = "__quarry_watch";

/// Inserts a hook for everything that is watched.
pub fn insert_watch(module: &Module<'_>, lowered: &Lowered, watch: &Watch) {
    let ir = Builder::new(module);
    let program = &lowered.program;
    let mut watched: HashMap<FunctionId, Vec<(InstrId, &[Watched])>> = HashMap::new();
    for ((function, instr), what) in &watch.instrs {
        watched.entry(*function).or_default().push((*instr, what));
    }
    for (symbol, instructions) in numbered(&ir) {
        let Some(id) = lowered.function_numbers.get(&symbol).copied().map(FunctionId) else { continue };
        let function = program.function(id);
        let Some(first) = instructions.first().copied().filter(|_| function.is_defined()) else {
            continue;
        };
        let first = first.block().instructions()[0];
        if program.root == Some(id) {
            ir.place_before(first);
            for global in &watch.globals {
                let global = program.global(*global);
                if let Some(address) = ir.global_named(&global.name) {
                    hook(&ir, address, ir.int(64).constant(global.size));
                }
            }
        }
        for (instr, what) in watched.remove(&id).unwrap_or_default() {
            match instructions.get(instr.index()) {
                Some(instruction) => what.iter().for_each(|what| insert(&ir, *instruction, *what)),
                None => insert_added(&ir, function, instr, first, &instructions),
            }
        }
    }
}

fn hook(ir: &Builder<'_>, address: Value<'_>, size: Value<'_>) {
    let function = ir.function_named(WATCH_HOOK).unwrap_or_else(|| {
        ir.add_function(WATCH_HOOK, ir.function_type(ir.void(), &[ir.pointer(), ir.int(64)]))
    });
    ir.call(function, &[address, size]);
}

fn insert(ir: &Builder<'_>, instruction: Value<'_>, what: Watched) {
    let number = |bytes: u64| ir.int(64).constant(bytes);
    let is_memory = instruction.opcode() == LLVMOpcode::LLVMCall;
    ir.place_before(instruction);
    match what {
        Watched::Variable => {
            ir.place_before_from(instruction.next().expect("an alloca ends no block"), instruction);
            let bytes = number(ir.allocation_size(instruction.allocated_type()));
            let count = ir.as_int(instruction.operand(0), 64);
            hook(ir, instruction, ir.mul(bytes, count));
        }
        Watched::From if is_memory => {
            let arguments = instruction.call_arguments();
            hook(ir, arguments[1], ir.as_int(arguments[2], 64));
        }
        Watched::To if is_memory => {
            let arguments = instruction.call_arguments();
            hook(ir, arguments[0], ir.as_int(arguments[2], 64));
        }
        Watched::From => hook(ir, instruction.operand(0), number(ir.store_size(instruction.ty()))),
        Watched::To => {
            hook(ir, instruction.operand(1), number(ir.store_size(instruction.operand(0).ty())));
        }
        Watched::Argument(argument) => {
            hook(ir, instruction.call_arguments()[argument as usize], number(0));
        }
        Watched::Copied(argument, size) => {
            hook(ir, instruction.call_arguments()[argument as usize], number(size));
        }
    }
}

/// An instruction that lowering added.
fn insert_added(
    ir: &Builder<'_>,
    function: &Function,
    instr: InstrId,
    first: Value<'_>,
    instructions: &[Value<'_>],
) {
    match function.instr(instr).op {
        Op::Alloca { .. } => insert_copy(ir, function, instr, first),
        Op::Load { .. } | Op::Store { .. } => {
            if let Some(atomic) = atomic(function, instr, instructions) {
                ir.place_before(atomic);
                let size = ir.store_size(atomic.operand(1).ty());
                hook(ir, atomic.operand(0), ir.int(64).constant(size));
            }
        }
        _ => {}
    }
}

/// The atomic operation that an added load or store is part of: a compare and exchange comes behind its parts, which begin
/// with an added load, every other one before its store.
fn atomic<'m>(function: &Function, instr: InstrId, instructions: &[Value<'m>]) -> Option<Value<'m>> {
    let block = function.blocks.iter().find(|block| block.instrs.contains(&instr))?;
    let at = block.instrs.iter().position(|other| *other == instr)?;
    let own = |id: &InstrId| instructions.get(id.index()).copied();
    let is_load = |id: &InstrId| matches!(function.instr(*id).op, Op::Load { .. });
    let added = block.instrs[..=at].iter().rev().take_while(|id| own(id).is_none());
    if added.into_iter().any(is_load) {
        block.instrs[at..].iter().find_map(own)
    } else {
        block.instrs[..at].iter().rev().find_map(own)
    }
}

/// A structure passed by value lies where the parameter points to; the model has an `alloca` and a copy for it.
fn insert_copy(ir: &Builder<'_>, function: &Function, variable: InstrId, first: Value<'_>) {
    let parameter = function.instrs.iter().find_map(|instr| match instr.op {
        Op::Memory { to: Operand::Result(to), from: Operand::Parameter(number), .. } if to == variable => {
            Some(number)
        }
        _ => None,
    });
    if let (Some(parameter), Op::Alloca { size, .. }) = (parameter, &function.instr(variable).op) {
        ir.place_before(first);
        hook(ir, first.block().function().parameter(parameter), ir.int(64).constant(*size));
    }
}
