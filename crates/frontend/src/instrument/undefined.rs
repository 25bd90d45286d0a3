//! Which functions does no library define that the program is linked with?
//!
//! Method: what C's own libraries define is read off them. For the rest, a file that refers to all names is linked as the program will be, and the
//! linker complains. What has a model of ours counts as defined. Limit: a link that fails for another reason gives no answer, and the program's own will fail
//! with a better message.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use cache::Cache;
use inkwell::context::Context;
use inkwell::module::Module;
use tracing::info_span;

use super::InstrumentError;
use super::finish::undefined_symbols;
use super::library::MODEL_PREFIX;
use super::runtime::{BITCODE, models, run};
use super::system::SystemSymbols;
use crate::clang::CLANG;
use crate::linking::{LIBRARIES, MATHEMATICS};
use crate::llvm::LlvmError;
use crate::tools;

/// What a program is linked with. All directories are absolute.
#[derive(Clone, Copy, Debug)]
pub struct Libraries<'a> {
    /// Where the linker runs.
    pub root: &'a Path,
    /// Flags that choose the target, such as `-m32`.
    pub target_flags: &'a [String],
    /// Flags for the linker, such as `-lm`, and further objects.
    pub link_flags: &'a [String],
    /// A directory for files of no lasting use.
    pub work_dir: &'a Path,
    /// Where the compiled runtime and the compiled models are kept.
    pub cache: &'a Cache,
}

/// Libraries that belong to C's own: they refer to nothing that a program does not replace by its name.
const OF_SYSTEM: [&str; 6] = [MATHEMATICS, "-lm", "-ldl", "-lrt", "-lpthread", "-pthread"];

/// The kind of note that says which names are defined nowhere.
const KIND: &str = "undefined";

impl Libraries<'_> {
    /// Whether the program is linked with nothing but libraries that belong to C's own.
    pub(super) fn are_of_system(&self) -> bool {
        self.link_flags.iter().all(|flag| OF_SYSTEM.contains(&flag.as_str()))
    }

    /// What the libraries have, if they are all of C's own and for this machine.
    fn system_symbols(&self) -> Option<&'static SystemSymbols> {
        (self.are_of_system() && self.target_flags.is_empty()).then(SystemSymbols::get).flatten()
    }
}

/// Those of `names` that are defined nowhere.
pub fn undefined(
    names: &BTreeSet<String>,
    libraries: &Libraries<'_>,
) -> Result<BTreeSet<String>, InstrumentError> {
    let system = libraries.system_symbols();
    let is_known = |name: &String| system.is_some_and(|system| system.defines(name));
    ask_linker(&names.iter().filter(|name| !is_known(name)).cloned().collect(), libraries)
}

/// Those of `names`, which a program defines, that no library that it is linked with can name.
pub(super) fn unknown(
    names: &BTreeSet<String>,
    libraries: &Libraries<'_>,
) -> Result<BTreeSet<String>, InstrumentError> {
    let Some(system) = libraries.system_symbols() else { return ask_linker(names, libraries) };
    let (open, unknown) = names.iter().cloned().partition(|name| system.may_name(name));
    Ok(&unknown | &ask_linker(&open, libraries)?)
}

fn ask_linker(
    names: &BTreeSet<String>,
    libraries: &Libraries<'_>,
) -> Result<BTreeSet<String>, InstrumentError> {
    if names.is_empty() {
        return Ok(BTreeSet::new());
    }
    // libraries of the project may change; those of the system are taken to stay the same
    let key = libraries.are_of_system().then(|| {
        let key = tools::key().parts("names", names).parts("target", libraries.target_flags);
        key.parts("flags", libraries.link_flags)
    });
    let noted = key.as_ref().and_then(|key| libraries.cache.note(KIND, key));
    if let Some(missing) = noted.and_then(|note| serde_json::from_slice(&note).ok()) {
        return Ok(missing);
    }
    let complaints = complaints(names, libraries)?;
    let mut missing: BTreeSet<String> = undefined_symbols(&complaints).intersection(names).cloned().collect();
    if !missing.is_empty() {
        let models = models(libraries.target_flags, libraries.cache)?;
        let context = Context::create();
        let models = Module::parse_bitcode_from_path(models.file(BITCODE), &context)
            .map_err(|message| LlvmError::new("read the models of the library", message))?;
        missing.retain(|name| models.get_function(&format!("{MODEL_PREFIX}{name}")).is_none());
    }
    if let (Some(key), Ok(note)) = (key, serde_json::to_vec(&missing)) {
        libraries.cache.keep_note(KIND, &key, &note);
    }
    Ok(missing)
}

/// The linker's messages about a file that refers to all names.
fn complaints(names: &BTreeSet<String>, libraries: &Libraries<'_>) -> Result<String, InstrumentError> {
    let _span = info_span!("look for functions").entered();
    let word = if libraries.target_flags.iter().any(|flag| flag == "-m32") { ".long" } else { ".quad" };
    let mut text = String::from(".data\n");
    for name in names {
        writeln!(text, "{word} \"{name}\"").expect("writing to a string does not fail");
    }
    text.push_str(".section .note.GNU-stack,\"\",@progbits\n");
    let file_error = |act, path: &Path| {
        let path = path.to_owned();
        move |source| InstrumentError::File { act, path, source }
    };
    std::fs::create_dir_all(libraries.work_dir).map_err(file_error("create", libraries.work_dir))?;
    // of its own: others may ask at the same time
    let directory = tempfile::tempdir_in(libraries.work_dir)
        .map_err(file_error("create a directory in", libraries.work_dir))?;
    let (source, output) = (directory.path().join("undefined.s"), directory.path().join("undefined.out"));
    std::fs::write(&source, text).map_err(file_error("write", &source))?;
    let mut command = Command::new(CLANG);
    command.current_dir(libraries.root);
    command.args(["-nostartfiles", "-no-pie"]).args(libraries.target_flags).arg(&source);
    command.args(libraries.link_flags).args(LIBRARIES).arg("-o").arg(&output);
    match run(&mut command, "look for functions in libraries") {
        Ok(()) => Ok(String::new()),
        Err(InstrumentError::Compiler { output, .. }) => Ok(output),
        Err(error) => Err(error),
    }
}
