//! Which code can a run reach? What it cannot is neither instrumented nor made into machine code.
//!
//! Method: a symbol that nothing outside of the module can name becomes internal, and LLVM removes what then has no use. A
//! library may name what it defines or refers to itself (`malloc`, `environ`), so such symbols stay. Limit: everything
//! stays where further objects are linked to the program, or where assembly may name symbols.

use std::collections::BTreeSet;

use inkwell::module::Module;

use super::InstrumentError;
use super::undefined::{Libraries, unknown};
use crate::agreement::HARNESS;
use crate::llvm::{Builder, LLVMLinkage, Value, run_passes};

/// Makes symbols internal that only the program itself can name, and removes what no run can reach.
pub fn hide(module: &Module<'_>, libraries: &Libraries<'_>) -> Result<(), InstrumentError> {
    let ir = Builder::new(module);
    if ir.has_assembly() || !libraries.are_of_system() {
        return Ok(());
    }
    let is_defined = |name: &str| ir.function_named(name).is_some_and(|function| !function.is_declaration());
    let root = if is_defined(HARNESS) { HARNESS } else { "main" };
    // what is ours the runtime may name
    let is_own = |name: &str| name != root && !name.starts_with("__quarry_");
    let is_exported = |symbol: &Value<'_>| {
        let linkage = symbol.linkage();
        !symbol.is_declaration() && linkage == LLVMLinkage::LLVMExternalLinkage && is_own(&symbol.name())
    };
    let symbols: Vec<_> = ir.functions().into_iter().chain(ir.globals()).filter(is_exported).collect();
    let names: BTreeSet<String> = symbols.iter().map(|symbol| symbol.name()).collect();
    let unknown_outside = unknown(&names, libraries)?;
    for symbol in symbols.into_iter().filter(|symbol| unknown_outside.contains(&symbol.name())) {
        symbol.set_linkage(LLVMLinkage::LLVMInternalLinkage);
    }
    // at once: the module is copied for every mode
    Ok(run_passes(module, "globaldce")?)
}
