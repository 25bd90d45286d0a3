//! A function with its harness, built: what `gen`, `cover` and `replay` execute.

use std::path::Path;

use coverage::Scope;
use frontend::build::Built;
use frontend::harness::Harness;
use frontend::instrument::Mode;
use frontend::marks::FunctionKey;
use frontend::replay;
use model::Program;
use model::input::{Input, Shape};

use crate::arguments::SourceArguments;
use crate::exit::Failure;
use crate::goals::function_id;
use crate::inputs::Inputs;
use crate::pipeline::{self, Front, Start};

/// What is to be tested.
pub struct Wanted<'a> {
    pub function: Option<&'a str>,
    pub inputs: Inputs,
    pub assumptions: &'a [String],
}

/// A built function.
pub struct Prepared {
    front: Front,
    function: FunctionKey,
    harness: Harness,
    built: Built,
}

impl Prepared {
    /// Builds the function in every mode asked for; files go below `work`.
    pub fn new(
        sources: &SourceArguments,
        wanted: &Wanted<'_>,
        work: &Path,
        modes: &[Mode],
    ) -> Result<Self, Failure> {
        let front = Front::mark(sources, work, Start::Harness)?;
        let function = front.function(wanted.function)?;
        let harness = front.harness(&function, &wanted.inputs.options(wanted.assumptions))?;
        let mut built = front.build(Some((&function, &harness)), modes)?;
        built.lowered.program.gaps.extend(harness.gaps.iter().cloned());
        Ok(Self { front, function, harness, built })
    }

    /// The name of the function.
    pub fn function(&self) -> &str {
        &self.function.name
    }

    /// The model, with the gaps of all steps.
    pub fn program(&self) -> &Program {
        &self.built.lowered.program
    }

    /// What a call of the function can reach.
    pub fn scope(&self) -> Result<Scope, Failure> {
        Ok(Scope::reachable_from(self.program(), function_id(self.program(), self.function())?))
    }

    /// What can be varied.
    pub fn shape(&self) -> &Shape {
        &self.harness.shape
    }

    /// Which numbers were taken for lengths.
    pub fn couplings(&self) -> &[String] {
        &self.harness.couplings
    }

    /// The harness as C.
    pub fn harness(&self) -> &str {
        &self.harness.text
    }

    /// The executable of a mode that was asked for.
    pub fn binary(&self, mode: Mode) -> &Path {
        pipeline::binary(&self.built, mode)
    }

    /// A plain C program that replays these inputs, each by its name.
    pub fn replay(&self, inputs: &[(String, Input)]) -> String {
        replay::c_program(&self.front.marks, &self.function, &self.harness.shape, inputs)
    }
}
