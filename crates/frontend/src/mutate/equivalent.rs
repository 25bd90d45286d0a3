//! Which mutants compile to the same code as the source?
//!
//! Method: the function alone is optimised (LLVM's `default<O2>`) with the mutant selected and with none, as constants; when the code is the same
//! to the letter, nothing that the function does can differ. Other functions and all variables are only declared, so that nothing is concluded from what they are.
//! Limit: most equivalent mutants do not compile to the same code.

use std::collections::BTreeMap;
use std::path::Path;

use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;

use super::schema::{ASKS, CELL};
use super::{Mutant, text_flags};
use crate::build::BuildError;
use crate::clang::{ClangError, LENIENT, clang, failure};
use crate::compilers;
use crate::llvm::{Ir, LLVMLinkage, Value, declare, run_passes};
use crate::sources::CompileCommand;

/// Optimised to nothing: the passes are run here.
const CODE: &[&str] =
    &["-c", "-emit-llvm", "-O1", "-g0", "-Xclang", "-disable-llvm-passes", "-Xclang", "-discard-value-names"];

/// Says of each mutant of a text whether it is shown to be equivalent; `text` is the file with it, `work` a directory for files. Stops, and
/// says no of the rest, when `is_enough` says so.
pub fn equivalent(
    command: &CompileCommand,
    text: &Path,
    mutants: &[&Mutant],
    work: &Path,
    is_enough: &dyn Fn() -> bool,
) -> Result<Vec<bool>, BuildError> {
    let bitcode = work.join("mutants.bc");
    let mut compiler = clang(&command.directory);
    compiler
        .args(&command.compile)
        .args(LENIENT)
        .args(text_flags())
        .args(CODE)
        .arg(text)
        .arg("-o")
        .arg(&bitcode);
    let output = compilers::output(&mut compiler).map_err(ClangError::NotRun)?;
    if !output.status.success() {
        return Err(failure(&command.source, &output).into());
    }
    let whole = std::fs::read(&bitcode).map_err(|error| BuildError::File {
        act: "read",
        file: bitcode.clone(),
        error,
    })?;
    let mut functions: BTreeMap<&str, Option<(Vec<u8>, String)>> = BTreeMap::new();
    let mut verdicts = Vec::with_capacity(mutants.len());
    for mutant in mutants {
        if is_enough() {
            verdicts.push(false);
            continue;
        }
        let alone = functions.entry(&mutant.function).or_insert_with(|| {
            let alone = alone(&whole, &mutant.function)?;
            let code = optimised(&alone, &mutant.function, 0)?;
            Some((alone, code))
        });
        let same = alone.as_ref().is_some_and(|(alone, code)| {
            optimised(alone, &mutant.function, mutant.number).as_ref() == Some(code)
        });
        verdicts.push(same);
    }
    Ok(verdicts)
}

fn parse<'c>(context: &'c Context, bitcode: &[u8]) -> Option<Module<'c>> {
    let buffer = MemoryBuffer::create_from_memory_range_copy(bitcode, "mutants");
    Module::parse_bitcode_from_buffer(&buffer, context).ok()
}

/// The code of one function, where everything else is declared.
fn alone(whole: &[u8], function: &str) -> Option<Vec<u8>> {
    let context = Context::create();
    let module = parse(&context, whole)?;
    let ir = Ir::of(&module);
    let kept = ir.definition(function)?;
    kept.set_linkage(LLVMLinkage::LLVMExternalLinkage);
    ir.globals()
        .into_iter()
        .filter(|global| global.name().starts_with("llvm."))
        .for_each(Value::delete_global);
    let is_other = |symbol: &Value<'_>| {
        let name = symbol.name();
        let is_constant = symbol.as_global_variable().is_some_and(Value::is_constant_global);
        name != function && name != ASKS && !is_constant
    };
    let others: Vec<_> = ir.functions().into_iter().chain(ir.globals()).filter(is_other).collect();
    declare(&module, others.into_iter()).ok()?;
    run_passes(&module, "globaldce").ok()?;
    Some(module.write_bitcode_to_memory().as_slice().to_vec())
}

/// The function's code with a mutant selected; 0 selects none.
fn optimised(alone: &[u8], function: &str, number: u32) -> Option<String> {
    let context = Context::create();
    let module = parse(&context, alone)?;
    let ir = Ir::of(&module);
    if let Some(cell) = ir.global_named(CELL) {
        cell.set_linkage(LLVMLinkage::LLVMInternalLinkage);
        cell.set_initializer(ir.int(32).constant(u64::from(number)));
    }
    run_passes(&module, "default<O2>").ok()?;
    Some(ir.definition(function)?.print())
}
