//! Which library functions does the program call that there is a model of? Their models become part of it.
//!
//! A model is C of ours (`runtime/library/`) that does what the function does. Method: a function that no unit defines
//! and that has a model of the same type is replaced by it wherever it is used, also as a value; what no such model needs
//! is dropped before linking. Functions with a term of their own ([`has_term`]) are replaced only where they are used
//! as values. Limit: the models know the "C" locale only.

use cache::Cache;
use inkwell::module::Module;
use tracing::info_span;

use super::InstrumentError;
use super::runtime::{BITCODE, models};
use super::terms::has_term;
use crate::agreement::direct_callee;
use crate::llvm::{Builder, LLVMLinkage, LlvmError, Value, link_in, run_passes};

/// How the names of models start; the rest is the function's own.
pub(super) const MODEL_PREFIX: &str = "__quarry_lib_";

/// Functions whose models have something to do only when a harness gives the program that kind of input.
const ON_DEMAND: [(&str, &[&str]); 3] = [
    ("__quarry_input_file", &STREAMS),
    ("__quarry_input_variable", &["getenv", "secure_getenv"]),
    ("__quarry_fail_allocations", &["malloc", "calloc", "realloc"]),
];

const STREAMS: [&str; 38] = [
    "fgetc",
    "getc",
    "_IO_getc",
    "getc_unlocked",
    "fgetc_unlocked",
    "getchar",
    "getchar_unlocked",
    "ungetc",
    "fgets",
    "fgets_unlocked",
    "__fgets_chk",
    "getdelim",
    "__getdelim",
    "getline",
    "fread",
    "fread_unlocked",
    "read",
    "fscanf",
    "scanf",
    "vfscanf",
    "vscanf",
    "fseek",
    "fseeko",
    "rewind",
    "ftell",
    "ftello",
    "lseek",
    "fopen",
    "freopen",
    "fdopen",
    "fclose",
    "open",
    "close",
    "dup2",
    "access",
    "stat",
    "lstat",
    "fstat",
];

/// Names for files of any size; on 64 bits they mean the same as the others.
const LARGE_FILES: [&str; 9] =
    ["fopen64", "freopen64", "fseeko64", "ftello64", "lseek64", "open64", "stat64", "lstat64", "fstat64"];

/// Whether a function of the module is a model or part of one.
pub(super) fn is_model(name: &str) -> bool {
    name.starts_with(MODEL_PREFIX)
}

/// Links in the models that the program needs and redirects to them. The compiled models are in the cache.
pub fn link_models(module: &Module<'_>, cache: &Cache) -> Result<(), InstrumentError> {
    let _span = info_span!("link models").entered();
    let ir = Builder::new(module);
    if ir.functions().is_empty() {
        return Ok(()); // of no target
    }
    let target_flags = if ir.pointer_bits() == 32 { vec!["-m32".to_owned()] } else { Vec::new() };
    let bitcode = models(&target_flags, cache)?;
    let models = Module::parse_bitcode_from_path(bitcode.file(BITCODE), module.get_context())
        .map_err(|message| LlvmError::new("read the models of the library", message))?;
    let wanted = wanted(&ir, &Builder::new(&models));
    if wanted.is_empty() {
        return Ok(());
    }
    keep_only(&models, &wanted)?;
    link_in(module, models).map_err(|message| LlvmError::new("link the models of the library", message))?;
    for (symbol, model) in wanted {
        redirect(&ir, &symbol, &model);
    }
    Ok(())
}

/// Symbols of the program with the models that stand in for them.
fn wanted(program: &Builder<'_>, models: &Builder<'_>) -> Vec<(String, String)> {
    let mut wanted = Vec::new();
    for function in program.functions() {
        let is_foreign =
            function.is_declaration() || function.linkage() == LLVMLinkage::LLVMAvailableExternallyLinkage;
        if !is_foreign || function.is_intrinsic() {
            continue;
        }
        let symbol = function.name();
        let name = library_name(program, &symbol);
        let model = format!("{MODEL_PREFIX}{name}");
        let fits = |model: &Value<'_>| !model.is_declaration() && model.value_type() == function.value_type();
        let is_used = function.users().into_iter().any(|user| is_redirected(user, function));
        if is_used && is_asked_for(program, name) && models.function_named(&model).filter(fits).is_some() {
            wanted.push((symbol, model));
        }
    }
    wanted
}

/// The function's name in the standard: headers may give it another one for the same meaning.
fn library_name<'s>(program: &Builder<'_>, symbol: &'s str) -> &'s str {
    if program.pointer_bits() == 64 && LARGE_FILES.contains(&symbol) {
        return symbol.strip_suffix("64").unwrap_or(symbol);
    }
    symbol.strip_prefix("__isoc99_").unwrap_or(symbol)
}

/// Whether the harness gives the program what the function's model is about.
fn is_asked_for(program: &Builder<'_>, function: &str) -> bool {
    let about = ON_DEMAND.iter().find(|(_, functions)| functions.contains(&function));
    about.is_none_or(|(giver, _)| program.function_named(giver).is_some())
}

/// Whether this use of a library function goes to its model.
fn is_redirected(user: Value<'_>, function: Value<'_>) -> bool {
    let is_call = user.is_instruction()
        && user.is_call()
        && direct_callee(user) == Some(function)
        && !user.call_arguments().contains(&function);
    let stays = |user: Value<'_>| is_model(&user.block().function().name()) || has_term(&function.name());
    !(is_call && stays(user))
}

/// Drops what none of the wanted models needs.
fn keep_only(models: &Module<'_>, wanted: &[(String, String)]) -> Result<(), InstrumentError> {
    let ir = Builder::new(models);
    for symbol in ir.functions().into_iter().chain(ir.globals()).filter(|symbol| !symbol.is_declaration()) {
        let name = symbol.name();
        if !wanted.iter().any(|(_, model)| *model == name) {
            symbol.set_linkage(LLVMLinkage::LLVMInternalLinkage);
        }
    }
    Ok(run_passes(models, "globaldce")?)
}

/// Makes the program use the model.
fn redirect(ir: &Builder<'_>, symbol: &str, model: &str) {
    let (Some(function), Some(model)) = (ir.function_named(symbol), ir.function_named(model)) else {
        return; // clashed with a symbol of the program when linked
    };
    model.set_linkage(LLVMLinkage::LLVMInternalLinkage);
    let staying: Vec<_> =
        function.users().into_iter().filter(|user| !is_redirected(*user, function)).collect();
    function.replace_uses_with(model);
    for call in &staying {
        call.set_operand(call.n_operands() - 1, function); // the callee is the last operand
    }
    if staying.is_empty() {
        function.delete_function();
    }
}
