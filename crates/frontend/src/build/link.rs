//! The units' modules to one.
//!
//! Harness and stubs are modules of their own, compiled behind what their unit declares. Method: what the unit defines is taken out of
//! them, also what is `static`, and their uses of it become uses of the unit's. Limit: a unit with assembly
//! outside of functions, or with symbols that are other names for some, is compiled again with what is added to it.

use std::{collections::BTreeMap, path::Path};

use inkwell::{context::Context, module::Linkage, module::Module};
use tracing::info_span;

use super::{
    BuildError, boundaries,
    compile::{BITCODE, CompiledUnit, Units},
};
use crate::{
    agreement::{MARK, is_mark},
    harness::statics::symbol,
    llvm::{Ir, LLVMLinkage, Value, declare, keep_errors, link_in, run_passes},
    marks::Unit,
};

/// Reads the units' code and links it; a program without units is an empty module.
pub(super) fn modules<'c>(
    context: &'c Context,
    compiled: &[CompiledUnit],
    units: &Units<'_>,
    work_dir: &Path,
) -> Result<Module<'c>, BuildError> {
    let _span = info_span!("link", n_units = compiled.len()).entered();
    let marks = units.marks;
    let read = |compiled: &CompiledUnit| -> Result<Module<'c>, BuildError> {
        let first_condition = marks.units[compiled.unit].first_condition;
        let read_file = |context, file: &Path| {
            read_file(context, file).inspect(|module| {
                number_conditions(module, first_condition);
                boundaries::note(module, marks);
            })
        };
        let module = read_file(context, &compiled.file())?;
        let Some(added) = &compiled.added() else { return Ok(module) };
        let ir = Ir::of(&module);
        if ir.has_aliases() || ir.has_module_assembly() {
            return read_file(context, &units.whole(compiled.unit, work_dir, BITCODE)?.file());
        }
        let output = marks.units[compiled.unit].source.clone();
        let link = |diagnostics| BuildError::Link { output, diagnostics };
        add(&module, read_file(context, added)?).map_err(link)?;
        Ok(module)
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

fn read_file<'c>(context: &'c Context, file: &Path) -> Result<Module<'c>, BuildError> {
    Module::parse_bitcode_from_path(file, context)
        .map_err(|message| BuildError::Bitcode { file: file.to_owned(), message: message.to_string() })
}

/// Gives the conditions of a unit, which its text counts from 0, the numbers that they have in the program.
fn number_conditions(module: &Module<'_>, first: u32) {
    let ir = Ir::of(module);
    let calls = ir.function_named(MARK).into_iter().flat_map(Value::users).filter(|user| is_mark(*user));
    for call in calls.filter(|_| first > 0) {
        let own = call.operand(0).integer().expect("the text has the number as a constant");
        call.set_operand(0, ir.int(32).constant(own + u64::from(first)));
    }
}

/// Links what is added to a unit to its code.
fn add<'c>(unit: &Module<'c>, added: Module<'c>) -> Result<(), String> {
    let (of_unit, of_added) = (Ir::of(unit), Ir::of(&added));
    // lists of what the unit has (constructors and the like), which would have it twice
    of_added
        .globals()
        .into_iter()
        .filter(|global| global.name().starts_with("llvm."))
        .for_each(Value::delete_global);
    let is_of_unit = |symbol: &Value<'_>| {
        // texts and the like belong to the code that uses them
        let is_named = symbol.linkage() != LLVMLinkage::LLVMPrivateLinkage && !symbol.name().starts_with('.');
        is_named && of_unit.definition(&symbol.name()).is_some()
    };
    let symbols = of_added.functions().into_iter().chain(of_added.globals());
    declare(&added, symbols.filter(is_of_unit)).map_err(|error| error.to_string())?;
    run_passes(&added, "globaldce").map_err(|error| error.to_string())?;
    let used = of_added.functions().into_iter().chain(of_added.globals());
    let is_static = |symbol: &Value<'_>| symbol.linkage() == LLVMLinkage::LLVMInternalLinkage;
    let statics: Vec<Value<'_>> = used
        .filter(|symbol| symbol.is_declaration())
        .filter_map(|symbol| of_unit.definition(&symbol.name()).filter(is_static))
        .collect();
    // for this moment: LLVM links no use to what is known to one module alone
    statics.iter().for_each(|symbol| symbol.set_linkage(LLVMLinkage::LLVMExternalLinkage));
    let linked = link_in(unit, added);
    statics.iter().for_each(|symbol| symbol.set_linkage(LLVMLinkage::LLVMInternalLinkage));
    linked
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
