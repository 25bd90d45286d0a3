//! A function or a program with its harness, built: what `gen`, `cover` and `replay` execute.

use std::path::Path;

use coverage::Scope;
use frontend::build::Built;
use frontend::harness::{self, Harness};
use frontend::instrument::Mode;
use frontend::marks::FunctionKey;
use frontend::replay;
use model::Program;
use model::input::{Input, Shape};
use model::invocation::{InvocationLimits, InvocationShape};
use serde_json::Value;

use crate::arguments::SourceArguments;
use crate::exit::Failure;
use crate::goals::function_id;
use crate::inputs::Inputs;
use crate::pipeline::{self, Front, Start};
use crate::report::invocation;
use crate::report::notation::notation;
use crate::report::value::{ValueError, from_json, to_json};

/// What is to be tested.
pub struct Wanted<'a> {
    pub function: Option<&'a str>,
    pub inputs: Inputs,
    pub assumptions: &'a [String],
    /// What a whole program is given; a function is tested when this says nothing.
    pub program: Option<&'a InvocationLimits>,
}

/// A built function.
pub struct Prepared {
    front: Front,
    function: FunctionKey,
    harness: Harness,
    built: Built,
    /// What the program is given, if it is one.
    invocation: Option<InvocationShape>,
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
        let invocation = wanted.program.map(InvocationShape::new);
        let (function, harness) = match &invocation {
            Some(invocation) => front.program_harness(invocation)?,
            None => {
                let function = front.function(wanted.function)?;
                let harness = front.harness(&function, &wanted.inputs.options(wanted.assumptions))?;
                (function, harness)
            }
        };
        let mut built = front.build(Some((&function, &harness)), modes)?;
        built.lowered.program.gaps.extend(harness.gaps.iter().cloned());
        Ok(Self { front, function, harness, built, invocation })
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

    /// What can be varied of a function's input.
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
        let Some(shape) = &self.invocation else {
            return replay::c_program(&self.front.marks, &self.function, &self.harness.shape, inputs);
        };
        let invocation = |(name, input): &(String, Input)| (name.clone(), shape.invocation(input));
        let tests: Vec<_> = inputs.iter().map(invocation).collect();
        replay::driver(&self.program_name(), &tests)
    }

    /// C that a program is linked with when the replayed tests make allocations fail.
    pub fn replay_allocations(&self) -> Option<&'static str> {
        let fails = self.invocation.as_ref().is_some_and(|shape| shape.allocations.is_some());
        fails.then_some(replay::ALLOCATIONS)
    }

    /// An input as JSON.
    pub fn to_json(&self, input: &Input) -> Value {
        match &self.invocation {
            Some(shape) => invocation::to_json(&shape.invocation(input)),
            None => to_json(self.shape(), input),
        }
    }

    /// The input that a JSON object describes.
    pub fn from_json(&self, json: &Value) -> Result<Input, ValueError> {
        match &self.invocation {
            Some(shape) => Ok(shape.input(&invocation::from_json(json)?)?),
            None => from_json(self.shape(), json),
        }
    }

    /// For a program: an input with some of everything.
    pub fn full_invocation(&self) -> Option<Input> {
        self.invocation.as_ref().map(InvocationShape::full)
    }

    /// The call that an input makes, on one line: `f(n = 3)`, `wc -l < "text"`.
    pub fn call(&self, input: &Input) -> String {
        match &self.invocation {
            Some(shape) => invocation::notation(&self.program_name(), &shape.invocation(input)),
            None => format!("{}({})", self.function(), notation(self.shape(), input)),
        }
    }

    fn program_name(&self) -> String {
        harness::program_name(&self.front.marks, &self.function)
    }
}
