//! From the instrumented module to an executable.
//!
//! Symbols defined nowhere get stand-ins that return 0, so that a part of a program can be tested without the rest; they
//! are reported as gaps.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use inkwell::module::Module;
use model::GapKind;
use tracing::info_span;

use super::InstrumentError;
use super::code::objects;
use super::gap::CodeGap;
use super::linker::{by_compiler, linker};
use super::runtime::{INLINED, OBJECT, run, runtime};
use super::undefined::Libraries;
use crate::llvm::Builder;

/// How the executable is made.
#[derive(Clone, Debug)]
pub struct Build<'a> {
    pub libraries: &'a Libraries<'a>,
    /// The executable to write. Absolute.
    pub output: &'a Path,
}

/// Makes code of the module and writes the executable. Returns the symbols that had to be stood in.
pub fn finish(module: &Module<'_>, build: &Build<'_>) -> Result<Vec<CodeGap>, InstrumentError> {
    module.strip_debug_info(); // the model has the positions; keeping them up to date costs a quarter of the time
    let runtime = runtime(build.libraries.target_flags, build.libraries.cache)?;
    let variables = declared_variables(&Builder::new(module));
    let objects = objects(module, &runtime.file(INLINED), build.output)?;
    let mut inputs: Vec<&Path> = objects.iter().map(PathBuf::as_path).collect();
    let runtime = runtime.file(OBJECT);
    inputs.push(&runtime);
    let linked = link(&variables, build, &inputs);
    for object in &objects {
        std::fs::remove_file(object).ok();
    }
    linked
}

/// The variables that a module uses and does not define, with their sizes.
fn declared_variables(ir: &Builder<'_>) -> BTreeMap<String, u64> {
    let declared = ir.globals().into_iter().filter(|global| global.is_declaration());
    declared.map(|global| (global.name(), ir.known_size(global.value_type()).unwrap_or(0))).collect()
}

fn link(
    variables: &BTreeMap<String, u64>,
    build: &Build<'_>,
    inputs: &[&Path],
) -> Result<Vec<CodeGap>, InstrumentError> {
    let _span = info_span!("link program").entered();
    let error = match run(&mut linker(build.libraries, inputs, build.output), "link the program") {
        Ok(()) => return Ok(Vec::new()),
        Err(error) => error,
    };
    let InstrumentError::Compiler { output, .. } = &error else { return Err(error) };
    let missing = undefined_symbols(output);
    if missing.is_empty() {
        return Err(error);
    }
    let assembly = write_stand_ins(variables, build, &missing)?;
    let linked = run(
        &mut by_compiler(build.libraries, &[inputs, &[&assembly]].concat(), build.output),
        "link the program",
    );
    std::fs::remove_file(&assembly).ok();
    linked?;
    let gap = |name: String| CodeGap {
        kind: GapKind::UndefinedSymbol,
        function: String::new(),
        line: 0,
        column: 0,
        what: name,
    };
    Ok(missing.into_iter().map(gap).collect())
}

/// Names in the linker's complaints.
pub(super) fn undefined_symbols(messages: &str) -> BTreeSet<String> {
    let name_after = |line: &str| {
        let (_, rest) = line.split_once("undefined reference to `")?;
        let (name, _) = rest.split_once('\'')?;
        Some(name.to_owned())
    };
    messages.lines().filter_map(name_after).collect()
}

/// A function that returns 0 in every register a result may be in, or zeroed memory for a variable.
fn write_stand_ins(
    variables: &BTreeMap<String, u64>,
    build: &Build<'_>,
    names: &BTreeSet<String>,
) -> Result<PathBuf, InstrumentError> {
    let mut text = String::new();
    for name in names {
        let body = match variables.get(name) {
            Some(bytes) => {
                let bytes = bytes.max(&16);
                format!(".bss\n.balign 64\n.weak \"{name}\"\n\"{name}\": .zero {bytes}\n")
            }
            None => format!(
                ".text\n.weak \"{name}\"\n\"{name}\": xorl %eax, %eax\nxorl %edx, %edx\n\
                 pxor %xmm0, %xmm0\npxor %xmm1, %xmm1\nret\n"
            ),
        };
        text.write_str(&body).expect("writing to a string does not fail");
    }
    text.push_str(".section .note.GNU-stack,\"\",@progbits\n");
    let path = build.output.with_extension("quarry-stand-ins.s");
    match std::fs::write(&path, text) {
        Ok(()) => Ok(path),
        Err(source) => Err(InstrumentError::File { act: "write", path, source }),
    }
}
