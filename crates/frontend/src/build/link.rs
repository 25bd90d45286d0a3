//! The units' modules to one.

use std::{collections::BTreeMap, path::Path};

use inkwell::{context::Context, module::Linkage, module::Module};
use tracing::info_span;

use super::{BuildError, compile::CompiledUnit};
use crate::{
    harness::statics::symbol,
    llvm::{Ir, keep_errors, link_in},
    marks::{Marks, Unit},
};

/// Reads the units' code and links it; a program without units is an empty module.
pub(super) fn modules<'c>(
    context: &'c Context,
    compiled: &[CompiledUnit],
    marks: &Marks,
) -> Result<Module<'c>, BuildError> {
    let _span = info_span!("link", n_units = compiled.len()).entered();
    let read = |compiled: &CompiledUnit| {
        let file = &compiled.file;
        Module::parse_bitcode_from_path(file, context)
            .map_err(|message| BuildError::Bitcode { file: file.clone(), message: message.to_string() })
    };
    let modules = compiled.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    // before linking, which may rename what is known to one unit alone
    modules.iter().for_each(name_statics);
    let units: Vec<&Unit> = compiled.iter().map(|compiled| &marks.units[compiled.unit]).collect();
    check_symbols(&modules, &units)?;
    let mut modules = modules.into_iter().zip(compiled);
    let Some((program, _)) = modules.next() else {
        return Ok(context.create_module("empty"));
    };
    keep_errors(&program);
    for (module, compiled) in modules {
        let output = marks.units[compiled.unit].source.clone();
        link_in(&program, module).map_err(|diagnostics| BuildError::Link { output, diagnostics })?;
    }
    Ok(program)
}

/// Makes the variables by which a harness names static variables of functions the variables themselves.
fn name_statics(module: &Module<'_>) {
    let ir = Ir::of(module);
    for declared in ir.globals() {
        let Some(variable) = symbol(&declared.name()).and_then(|symbol| ir.global_named(&symbol)) else {
            continue;
        };
        declared.replace_uses_with(variable);
        declared.delete_global();
    }
}

/// Finds symbols that two units define, while it is still known which.
fn check_symbols(modules: &[Module<'_>], units: &[&Unit]) -> Result<(), BuildError> {
    let mut definitions: BTreeMap<String, &Path> = BTreeMap::new();
    for (module, unit) in modules.iter().zip(units) {
        let functions = module.get_functions().filter(|function| function.count_basic_blocks() > 0);
        let functions = functions.map(|function| (function.get_name().to_owned(), function.get_linkage()));
        let globals = module.get_globals().filter(|global| global.get_initializer().is_some());
        let globals = globals.map(|global| (global.get_name().to_owned(), global.get_linkage()));
        for (name, linkage) in functions.chain(globals) {
            let symbol = name.to_string_lossy().into_owned();
            if linkage != Linkage::External {
                continue;
            }
            if let Some(first) = definitions.insert(symbol.clone(), &unit.source) {
                let (first, second) = (first.to_owned(), unit.source.clone());
                return Err(BuildError::DefinedTwice { symbol, first, second });
            }
        }
    }
    Ok(())
}
