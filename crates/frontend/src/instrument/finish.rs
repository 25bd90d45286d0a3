//! From the instrumented module to an executable: runtime, optimisation, code, link.
//!
//! Symbols defined nowhere get stand-ins that return 0, so that a part of a program can be tested without the rest; they
//! are reported as gaps.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use inkwell::OptimizationLevel;
use inkwell::module::Module;
use inkwell::passes::PassBuilderOptions;
use inkwell::targets::{CodeModel, FileType, InitializationConfig, RelocMode, Target, TargetMachine};
use model::GapKind;

use super::InstrumentError;
use super::gap::CodeGap;
use super::runtime::{BITCODE, run, runtime_bitcode};
use super::undefined::Libraries;
use crate::clang::CLANG;
use crate::llvm::link_in;
use crate::llvm::{Builder, LLVMLinkage};
use crate::targets::alone;

/// How the executable is made.
#[derive(Clone, Debug)]
pub struct Build<'a> {
    pub libraries: &'a Libraries<'a>,
    /// The executable to write. Absolute.
    pub output: &'a Path,
}

/// Inlining first, so that shadows that are always zero are seen to be before anything else is decided. On instrumented
/// code the rest of -O2 costs four times as much time and gains nothing measurable.
const PIPELINE: &str = "globaldce,always-inline,globaldce,\
    function(sroa,early-cse,sccp,instcombine<no-verify-fixpoint>,simplifycfg,jump-threading,sccp,adce,\
    gvn,simplifycfg,instcombine<no-verify-fixpoint>,adce)";

/// Libraries that every program is linked with: mathematics is part of C's own.
pub(super) const LIBRARIES: [&str; 2] = ["-Wl,--as-needed", "-lm"];

/// Links the runtime into the module, optimises, and writes the executable. Returns the symbols that had to be stood in.
pub fn finish(module: &Module<'_>, build: &Build<'_>) -> Result<Vec<CodeGap>, InstrumentError> {
    module.strip_debug_info(); // the model has the positions; keeping them up to date costs a quarter of the time
    let runtime = runtime_bitcode(build.libraries.target_flags, build.libraries.cache)?;
    link_runtime(module, &runtime.file(BITCODE))?;
    let machine = target_machine(module)?;
    run_passes(module, PIPELINE, Some(&machine))?;
    // not `with_extension`: the binaries of a program's modes may differ in theirs alone
    let mut object = build.output.as_os_str().to_owned();
    object.push(".o");
    let object = PathBuf::from(object);
    machine
        .write_to_file(module, FileType::Object, &object)
        .map_err(|message| llvm("write machine code", message.to_string()))?;
    let linked = link(module, build, &object);
    std::fs::remove_file(&object).ok();
    linked
}

/// Runs a pipeline of LLVM passes over the module.
pub fn run_passes(
    module: &Module<'_>,
    pipeline: &str,
    machine: Option<&TargetMachine>,
) -> Result<(), InstrumentError> {
    let own;
    let machine = match machine {
        Some(machine) => machine,
        None => {
            own = target_machine(module)?;
            &own
        }
    };
    module
        .run_passes(pipeline, machine, PassBuilderOptions::create())
        .map_err(|message| llvm("optimise the module", message.to_string()))
}

fn llvm(act: &'static str, message: String) -> InstrumentError {
    InstrumentError::Llvm { act, message }
}

fn target_machine(module: &Module<'_>) -> Result<TargetMachine, InstrumentError> {
    let triple = module.get_triple();
    let target = alone(|| {
        Target::initialize_x86(&InitializationConfig::default());
        Target::from_triple(&triple)
    })
    .map_err(|message| llvm("find the target", message.to_string()))?;
    target
        .create_target_machine(
            &triple,
            "",
            "",
            OptimizationLevel::Default,
            RelocMode::Static,
            CodeModel::Default,
        )
        .ok_or_else(|| llvm("find the target", format!("no code generator for {triple}")))
}

fn link_runtime(module: &Module<'_>, bitcode: &Path) -> Result<(), InstrumentError> {
    let runtime = Module::parse_bitcode_from_path(bitcode, module.get_context())
        .map_err(|message| llvm("read the runtime", message.to_string()))?;
    link_in(module, runtime).map_err(|message| llvm("link the runtime", message))?;
    let ir = Builder::new(module);
    for symbol in ir.functions().into_iter().chain(ir.globals()) {
        // internal: calls inline and unused parts go away
        if symbol.name().starts_with("__quarry_") && !symbol.is_declaration() {
            symbol.set_linkage(LLVMLinkage::LLVMInternalLinkage);
        }
    }
    Ok(())
}

fn link(module: &Module<'_>, build: &Build<'_>, object: &Path) -> Result<Vec<CodeGap>, InstrumentError> {
    let error = match run(&mut linker(build, &[object]), "link the program") {
        Ok(()) => return Ok(Vec::new()),
        Err(error) => error,
    };
    let InstrumentError::Compiler { output, .. } = &error else { return Err(error) };
    let missing = undefined_symbols(output);
    if missing.is_empty() {
        return Err(error);
    }
    let assembly = write_stand_ins(module, build, &missing)?;
    let linked = run(&mut linker(build, &[object, &assembly]), "link the program");
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

fn linker(build: &Build<'_>, inputs: &[&Path]) -> Command {
    let Libraries { root, target_flags, link_flags, .. } = build.libraries;
    let mut command = Command::new(CLANG);
    // bound at once: what is bound on first use is bound again in every run
    command.args(["-no-pie", "-Wl,-z,now"]).args(*target_flags).args(inputs).args(*link_flags);
    command.current_dir(root).args(LIBRARIES).arg("-o").arg(build.output);
    command
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
    module: &Module<'_>,
    build: &Build<'_>,
    names: &BTreeSet<String>,
) -> Result<PathBuf, InstrumentError> {
    let ir = Builder::new(module);
    let mut text = String::new();
    for name in names {
        let variable = ir.global_named(name);
        let body = match variable {
            Some(variable) => {
                let bytes = ir.allocation_size(variable.value_type()).max(16);
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
