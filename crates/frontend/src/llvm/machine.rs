//! Passes over modules, and machine code of them.

use std::path::Path;

use inkwell::OptimizationLevel;
use inkwell::module::Module;
use inkwell::passes::PassBuilderOptions;
use inkwell::targets::{CodeModel, FileType, InitializationConfig, RelocMode, Target, TargetMachine};

use super::targets::alone;

/// LLVM refused a pass, a file or a target.
#[derive(Debug, thiserror::Error)]
#[error("cannot {act}: {message}")]
pub struct LlvmError {
    pub act: &'static str,
    pub message: String,
}

impl LlvmError {
    pub fn new(act: &'static str, message: impl ToString) -> Self {
        Self { act, message: message.to_string() }
    }
}

/// What is done for the speed of code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// Inlining and optimisation.
    Optimised,
    /// As little as possible.
    Plain,
}

/// Writes machine code.
pub fn write_object(module: &Module<'_>, effort: Effort, object: &Path) -> Result<(), LlvmError> {
    let level = match effort {
        Effort::Optimised => OptimizationLevel::Default,
        Effort::Plain => OptimizationLevel::None,
    };
    target_machine(module, level)?
        .write_to_file(module, FileType::Object, object)
        .map_err(|message| LlvmError::new("write machine code", message))
}

/// Runs a pipeline of LLVM passes over the module.
pub fn run_passes(module: &Module<'_>, pipeline: &str) -> Result<(), LlvmError> {
    let machine = target_machine(module, OptimizationLevel::Default)?;
    module
        .run_passes(pipeline, &machine, PassBuilderOptions::create())
        .map_err(|message| LlvmError::new("optimise the module", message))
}

fn target_machine(module: &Module<'_>, level: OptimizationLevel) -> Result<TargetMachine, LlvmError> {
    let triple = module.get_triple();
    let error = |message: String| LlvmError::new("find the target", message);
    let target = alone(|| {
        Target::initialize_x86(&InitializationConfig::default());
        Target::from_triple(&triple)
    })
    .map_err(|message| error(message.to_string()))?;
    target
        .create_target_machine(&triple, "", "", level, RelocMode::Static, CodeModel::Default)
        .ok_or_else(|| error(format!("no code generator for {triple}")))
}
