//! From an instrumented module to machine code.
//!
//! Method: what the runtime has for inlining is linked in, and LLVM optimises the code that is worth it; functions that are not
//! go to an object of their own, without optimisation, at the same time.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;

use tracing::info_span;

use super::parts::{keep, plain_functions, thaw};
use crate::llvm::{
    Builder, Effort, LLVMLinkage, LlvmError, Owner, keep_errors, link_in, run_passes, share, take_errors,
    write_object,
};

/// Inlining first, so that shadows that are always zero are seen to be before anything else is decided. On instrumented
/// code the rest of -O2 costs four times as much time and gains nothing measurable.
const PIPELINE: &str = "globaldce,always-inline,globaldce,\
    function(sroa,early-cse,sccp,instcombine<no-verify-fixpoint>,simplifycfg,jump-threading,sccp,adce,\
    gvn,simplifycfg,instcombine<no-verify-fixpoint>,adce)";

/// Writes the objects of an instrumented module beside `output`. `inlined` has the runtime's functions to be inlined.
pub fn objects(module: &Module<'_>, inlined: &Path, output: &Path) -> Result<Vec<PathBuf>, LlvmError> {
    let object = |suffix: &str| {
        // not `with_extension`: the binaries of a program's modes may differ in theirs alone
        let mut name = output.as_os_str().to_owned();
        name.push(suffix);
        PathBuf::from(name)
    };
    let optimised = object(".o");
    let plain = plain_functions(&Builder::new(module));
    link_runtime(module, inlined)?;
    if plain.is_empty() {
        optimise(module)?;
        write(module, Effort::Optimised, &optimised)?;
        return Ok(vec![optimised]);
    }
    let plain = renamed(module, &plain);
    let bitcode = module.write_bitcode_to_memory();
    let code = bitcode.as_slice();
    let rest = object(".plain.o");
    std::thread::scope(|scope| {
        let beside = scope.spawn(|| {
            part(code, |module| {
                keep(module, false, |name| plain.contains(name))?;
                thaw(module);
                write(module, Effort::Plain, &rest)
            })
        });
        let own = || {
            keep(module, true, |name| !plain.contains(name))?;
            optimise(module)?;
            write(module, Effort::Optimised, &optimised)
        };
        own().and(beside.join().expect("no working thread panics"))
    })?;
    Ok(vec![optimised, rest])
}

/// Shares the symbols of a module; gives the names that these functions have then.
fn renamed(module: &Module<'_>, names: &BTreeSet<String>) -> BTreeSet<String> {
    let ir = Builder::new(module);
    let functions: Vec<_> = names.iter().filter_map(|name| ir.function_named(name)).collect();
    share(module, Owner::Program);
    functions.into_iter().map(|function| function.name()).collect()
}

/// Does something with a copy of a module; what LLVM says against it is the error.
fn part(code: &[u8], act: impl FnOnce(&Module<'_>) -> Result<(), LlvmError>) -> Result<(), LlvmError> {
    let context = Context::create();
    let bitcode = MemoryBuffer::create_from_memory_range_copy(code, "program");
    let module = Module::parse_bitcode_from_buffer(&bitcode, &context)
        .map_err(|message| LlvmError::new("read the program", message))?;
    keep_errors(&module);
    let done = act(&module);
    match take_errors() {
        Some(errors) => Err(LlvmError::new("make code of the program", errors)),
        None => done,
    }
}

fn link_runtime(module: &Module<'_>, inlined: &Path) -> Result<(), LlvmError> {
    let runtime = Module::parse_bitcode_from_path(inlined, module.get_context())
        .map_err(|message| LlvmError::new("read the runtime", message))?;
    link_in(module, runtime).map_err(|message| LlvmError::new("link the runtime", message))?;
    let ir = Builder::new(module);
    for symbol in ir.functions().into_iter().chain(ir.globals()) {
        // what the runtime does not name can go away when nothing else does
        let is_own = symbol.name().starts_with("__quarry_") && !symbol.is_declaration();
        if is_own && !symbol.is_hidden() {
            symbol.set_linkage(LLVMLinkage::LLVMInternalLinkage);
        }
    }
    Ok(())
}

fn optimise(module: &Module<'_>) -> Result<(), LlvmError> {
    let _span = info_span!("optimise").entered();
    run_passes(module, PIPELINE)
}

fn write(module: &Module<'_>, effort: Effort, object: &Path) -> Result<(), LlvmError> {
    let _span = info_span!("generate").entered();
    write_object(module, effort, object)
}
