//! Which functions does no library define that the program is linked with?
//!
//! Method: a file that refers to all of them is linked as the program will be, and the linker complains. What has a model
//! of ours counts as defined. Limit: a link that fails for another reason gives no answer, and the program's own will fail
//! with a better message.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use cache::Cache;
use inkwell::context::Context;
use inkwell::module::Module;

use super::InstrumentError;
use super::finish::{LIBRARIES, undefined_symbols};
use super::library::{MODEL_PREFIX, MODELS};
use super::runtime::{BITCODE, embedded_bitcode, run};
use crate::clang::CLANG;

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

/// Those of `names` that are defined nowhere.
pub fn undefined(
    names: &BTreeSet<String>,
    libraries: &Libraries<'_>,
) -> Result<BTreeSet<String>, InstrumentError> {
    if names.is_empty() {
        return Ok(BTreeSet::new());
    }
    let complaints = complaints(names, libraries)?;
    let mut missing: BTreeSet<String> = undefined_symbols(&complaints).intersection(names).cloned().collect();
    if !missing.is_empty() {
        let models = embedded_bitcode(MODELS, libraries.target_flags, libraries.cache)?;
        let context = Context::create();
        let models = Module::parse_bitcode_from_path(models.file(BITCODE), &context).map_err(|message| {
            InstrumentError::Llvm { act: "read the models of the library", message: message.to_string() }
        })?;
        missing.retain(|name| models.get_function(&format!("{MODEL_PREFIX}{name}")).is_none());
    }
    Ok(missing)
}

/// The linker's messages about a file that refers to all names.
fn complaints(names: &BTreeSet<String>, libraries: &Libraries<'_>) -> Result<String, InstrumentError> {
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
    let (source, output) = (libraries.work_dir.join("undefined.s"), libraries.work_dir.join("undefined.out"));
    std::fs::create_dir_all(libraries.work_dir).map_err(file_error("create", libraries.work_dir))?;
    std::fs::write(&source, text).map_err(file_error("write", &source))?;
    let mut command = Command::new(CLANG);
    command.current_dir(libraries.root);
    command.args(["-nostartfiles", "-no-pie"]).args(libraries.target_flags).arg(&source);
    command.args(libraries.link_flags).args(LIBRARIES).arg("-o").arg(&output);
    let linked = run(&mut command, "look for functions in libraries");
    std::fs::remove_file(&source).ok();
    std::fs::remove_file(&output).ok();
    match linked {
        Ok(()) => Ok(String::new()),
        Err(InstrumentError::Compiler { output, .. }) => Ok(output),
        Err(error) => Err(error),
    }
}
