//! Symbols of modules that become objects of one program: what is known to one alone, and what another one has.

use inkwell::module::Module;

use super::machine::{LlvmError, run_passes};
use super::{AttributePlace, Builder, LLVMLinkage, Value};

/// How the symbols start that only objects of the same program may name.
const SHARED: &str = "__quarry_part_";

/// Turns code that is not to be compiled into declarations.
const DECLARE: &str = "elim-avail-extern";

/// What a module is of: two of one program may have symbols of the same name and number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    Runtime,
    Program,
}

/// Makes what is known to a module alone known to all objects of the program, and to nothing else.
pub fn share(module: &Module<'_>, owner: Owner) {
    let owner = match owner {
        Owner::Runtime => "runtime",
        Owner::Program => "program",
    };
    let ir = Builder::new(module);
    let is_local = |symbol: &Value<'_>| {
        let linkage = symbol.linkage();
        linkage == LLVMLinkage::LLVMInternalLinkage || linkage == LLVMLinkage::LLVMPrivateLinkage
    };
    let symbols = ir.functions().into_iter().chain(ir.globals());
    for (number, symbol) in symbols.filter(is_local).enumerate() {
        symbol.set_name(&format!("{SHARED}{owner}_{number}_{}", symbol.name()));
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

#[cfg(test)]
mod tests {
    use inkwell::context::Context;

    use super::*;

    #[test]
    fn symbols_of_the_runtime_and_of_a_program_have_other_names() {
        let context = Context::create();
        let shared = |owner| {
            let module = context.create_module("unit");
            let text = module.add_global(context.i8_type(), None, ".str.4");
            text.set_initializer(&context.i8_type().const_int(7, false));
            text.set_linkage(inkwell::module::Linkage::Private);
            share(&module, owner);
            module.get_first_global().map(|global| global.get_name().to_owned())
        };
        assert_ne!(shared(Owner::Runtime), shared(Owner::Program));
    }
}
