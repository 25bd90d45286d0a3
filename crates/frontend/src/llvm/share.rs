//! Symbols of modules that become objects of one program: what is known to one alone, and what another one has.

use inkwell::module::Module;

use super::machine::{LlvmError, run_passes};
use super::{AttributePlace, Builder, LLVMLinkage, Value};

/// How the symbols start that only objects of the same program may name.
const SHARED: &str = "__quarry_part_";

/// Turns code that is not to be compiled into declarations.
const DECLARE: &str = "elim-avail-extern";

/// Makes what is known to a module alone known to all objects of the program, and to nothing else.
pub fn share(module: &Module<'_>) {
    let ir = Builder::new(module);
    let is_local = |symbol: &Value<'_>| {
        let linkage = symbol.linkage();
        linkage == LLVMLinkage::LLVMInternalLinkage || linkage == LLVMLinkage::LLVMPrivateLinkage
    };
    let symbols = ir.functions().into_iter().chain(ir.globals());
    for (number, symbol) in symbols.filter(is_local).enumerate() {
        symbol.set_name(&format!("{SHARED}{number}_{}", symbol.name()));
        symbol.set_linkage(LLVMLinkage::LLVMExternalLinkage);
        symbol.set_hidden();
    }
}

/// Leaves the functions that are to be inlined, and declarations of all else.
pub fn keep_inlined(module: &Module<'_>) -> Result<(), LlvmError> {
    let is_inlined = |function: &Value<'_>| function.has_attribute(AttributePlace::Function, "alwaysinline");
    let ir = Builder::new(module);
    let (inlined, others): (Vec<_>, Vec<_>) = ir.functions().into_iter().partition(is_inlined);
    declare(module, others.into_iter().chain(ir.globals()))?;
    // the object has them, too: where one is not inlined, either does
    inlined.into_iter().for_each(|function| function.set_linkage(LLVMLinkage::LLVMLinkOnceODRLinkage));
    Ok(())
}

/// Takes the code and the values of symbols out of a module; another one has them.
pub fn declare<'m>(module: &Module<'_>, symbols: impl Iterator<Item = Value<'m>>) -> Result<(), LlvmError> {
    for symbol in symbols.filter(|symbol| !symbol.is_declaration()) {
        symbol.set_linkage(LLVMLinkage::LLVMAvailableExternallyLinkage);
    }
    run_passes(module, DECLARE)
}
