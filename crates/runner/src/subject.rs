//! A function or a program with its harness, built: what campaigns search, and what suites are measured and replayed on.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use analysis::origins::Asked;
use coverage::Scope;
use engine::simplify::Of;
use frontend::build::{Built, NativeUnit, compile_native};
use frontend::harness::{self, Harness};
use frontend::instrument::Mode;
use frontend::marks::Unit;
use frontend::sources::CompileCommand;
use frontend::stubs::StubOptions;
use model::ctype::declare::prototype;
use model::ctype::{CTypeKind, FunctionKey};
use model::input::{Input, Shape};
use model::invocation::{Invocation, InvocationShape};
use model::stub::{Stub, Stubs};
use model::{FunctionId, Program};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use testwriter::FunctionUnderTest;

use crate::error::Error;
use crate::front::{self, Front};
use crate::spec::{InputSpec, Spec};
use crate::values::invocation;
use crate::values::json::{ValueError, from_json, to_json};
use crate::values::notation::notation;

/// Takes a `main` in another unit than the function's out of the way.
pub const OTHER_MAIN: &str = "-Dmain=quarry_other_main";

/// What a directory with a built program has it in, beside the binaries.
const SUBJECT_FILE: &str = "subject.json";

/// A built function or program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Subject {
    front: Arc<Front>,
    /// Where the paths of the spec start.
    root: PathBuf,
    function: FunctionKey,
    harness: Harness,
    /// How inputs are built, and what must hold of them, from all that was said.
    inputs: InputSpec,
    stubs: Stubs,
    built: Built,
    /// What the program is given, if it is one.
    invocation: Option<InvocationShape>,
}

impl Subject {
    /// Builds what `spec` names in every mode asked for. Paths of the spec start at `root`; files go below `work`.
    pub fn build(spec: &Spec, root: &Path, work: &Path, modes: &[Mode]) -> Result<Self, Error> {
        let front = Front::with_stand_ins(&spec.sources, &spec.subject.stubs, root, work)?;
        Self::of_front(Arc::new(front), spec, root, modes)
    }

    /// Builds what `spec` names of sources that are marked already.
    pub fn of_front(front: Arc<Front>, spec: &Spec, root: &Path, modes: &[Mode]) -> Result<Self, Error> {
        let invocation = spec.subject.limits().as_ref().map(InvocationShape::new);
        let (function, inputs, mut harness) = match &invocation {
            Some(invocation) => {
                let (function, harness) = front.program_harness(invocation)?;
                (function, spec.inputs.clone(), harness)
            }
            None => {
                let function = front.function(spec.subject.function.as_deref())?;
                let (inputs, said_in) = spec.inputs.for_function(&function.name);
                let harness = front.harness(&function, &inputs.harness_options(root));
                let harness = harness.map_err(|error| match said_in {
                    Some(file) => error.help(format!("{} also sets inputs of this function", file.display())),
                    None => error,
                })?;
                (function, inputs, harness)
            }
        };
        let options = StubOptions { writes: spec.subject.stub_writes.clone() };
        let mut stubs = front.stubs(&function, &harness, &options)?;
        harness.shape.roots.extend(stubs.roots.iter().cloned());
        let mut built = front.build_with_stubs(Some((&function, &harness)), &stubs, modes)?;
        stubs.variables = front.undefined_variables(&built.lowered.program, !modes.is_empty())?;
        built.lowered.program.gaps.extend(harness.gaps.iter().chain(&stubs.gaps).cloned());
        let root = root.to_owned();
        Ok(Self { front, root, function, harness, inputs, stubs, built, invocation })
    }

    /// Writes it to a directory, which is made; [`Subject::read`] has it back without building anything.
    pub fn write(&self, directory: &Path) -> Result<(), Error> {
        let cannot = |path: &Path, error| cannot("write", path, &error);
        std::fs::create_dir_all(directory).map_err(|error| cannot(directory, error))?;
        let mut stored = self.clone();
        for (mode, binary) in &mut stored.built.binaries {
            let name = PathBuf::from(match mode {
                Mode::Fast => "fast",
                Mode::Symbolic => "symbolic",
            });
            let copy = directory.join(&name);
            std::fs::copy(&*binary, &copy).map_err(|error| cannot(&copy, error))?;
            *binary = name;
        }
        let file = directory.join(SUBJECT_FILE);
        let text = serde_json::to_vec(&stored)
            .map_err(|error| Error::internal(format!("cannot write the built program as JSON: {error}")))?;
        std::fs::write(&file, text).map_err(|error| cannot(&file, error))
    }

    /// Reads what [`Subject::write`] wrote.
    pub fn read(directory: &Path) -> Result<Self, Error> {
        let file = directory.join(SUBJECT_FILE);
        let text = std::fs::read(&file).map_err(|error| cannot("read", &file, &error))?;
        let mut subject: Self = serde_json::from_slice(&text)
            .map_err(|error| Error::usage(format!("{} is no built program: {error}", file.display())))?;
        subject.built.binaries.iter_mut().for_each(|(_, binary)| *binary = directory.join(&*binary));
        Ok(subject)
    }

    /// What it was built for.
    pub fn modes(&self) -> impl Iterator<Item = Mode> {
        self.built.binaries.iter().map(|(mode, _)| *mode)
    }

    /// The name of the function.
    pub fn function(&self) -> &str {
        &self.function.name
    }

    /// Where the paths of its spec start.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// How inputs are built, and what must hold of them.
    pub fn inputs(&self) -> &InputSpec {
        &self.inputs
    }

    /// The model, with the gaps of all steps.
    pub fn program(&self) -> &Program {
        &self.built.lowered.program
    }

    /// What a call of the function can reach.
    pub fn scope(&self) -> Result<Scope, Error> {
        let scope = Scope::reachable_from(self.program(), function_id(self.program(), self.function())?);
        let units = &self.built.lowered.units;
        Ok(scope.without(|id| units[id.index()].is_some_and(|unit| !self.front.is_own(unit))))
    }

    /// What stands in for functions that are defined nowhere.
    pub fn stubs(&self) -> &Stubs {
        &self.stubs
    }

    /// The stubs that give less than their functions could, by what it is.
    pub fn limited_stubs(&self) -> BTreeMap<FunctionId, Asked> {
        let types = &self.front.marks.declarations.types;
        let asked = |stub: &Stub| {
            let asked = Asked { result: stub.result_is_limited(types), memory: stub.leaves_memory(types) };
            let name = &stub.function.key.name;
            let at = self.program().functions.iter().position(|function| function.name == *name)?;
            (asked != Asked::default()).then(|| (FunctionId::new(at), asked))
        };
        self.stubs.stubs.iter().filter_map(asked).collect()
    }

    /// Whether a stub's function has no result.
    pub fn returns_nothing(&self, stub: &Stub) -> bool {
        let result = &self.front.marks.declarations.types[stub.function.result];
        matches!(result.kind, CTypeKind::Void)
    }

    /// A stub's function as C declares it.
    pub fn prototype(&self, stub: &Stub) -> String {
        prototype(&self.front.marks.declarations.types, &stub.function)
    }

    /// What can be varied of a function's input.
    pub fn shape(&self) -> &Shape {
        &self.harness.shape
    }

    /// Which numbers were taken for lengths.
    pub fn couplings(&self) -> &[String] {
        &self.harness.couplings
    }

    /// The harness as C, and the stubs.
    pub fn harness(&self) -> String {
        let mut text = self.harness.text.clone();
        self.stubs.texts.values().for_each(|stubs| text.push_str(stubs));
        text
    }

    /// Where the compiler runs for each unit.
    pub fn directories(&self) -> impl Iterator<Item = &Path> {
        self.front.marks.units.iter().map(|unit| unit.directory.as_path())
    }

    /// The executable of a mode that was asked for.
    pub fn binary(&self, mode: Mode) -> &Path {
        front::binary(&self.built, mode)
    }

    /// A plain C program that replays these tests.
    pub fn replay(&self, tests: &[testwriter::Test<Input>]) -> String {
        let Some(shape) = &self.invocation else {
            return testwriter::replay_program(&self.under_test(), tests);
        };
        let invocation = |test: &testwriter::Test<Input>| testwriter::Test {
            name: test.name.clone(),
            about: test.about.clone(),
            input: shape.invocation(&test.input),
        };
        let invocations: Vec<_> = tests.iter().map(invocation).collect();
        testwriter::driver(&self.program_name(), &invocations, self.stubbed(tests).as_deref())
    }

    /// The function that tests call; `main` of a whole program.
    fn under_test(&self) -> FunctionUnderTest<'_> {
        let declarations = &self.front.marks.declarations;
        FunctionUnderTest {
            function: declarations.definition(&self.function).expect("a function with a harness is defined"),
            declarations,
            source: &self.front.marks.units[self.function.unit].real_path,
            shape: &self.harness.shape,
            stubs: &self.stubs,
        }
    }

    /// The function that tests call; nothing for a whole program.
    pub fn function_under_test(&self) -> Option<FunctionUnderTest<'_>> {
        self.invocation.is_none().then(|| self.under_test())
    }

    /// Of a program that needs stubs: C that takes the place of the unit with `main`, has them, and lets them give what
    /// the test asks for that the environment names.
    fn stubbed(&self, tests: &[testwriter::Test<Input>]) -> Option<String> {
        let is_needed = !(self.stubs.stubs.is_empty() && self.stubs.variables.is_empty());
        let is_needed = self.invocation.is_some() && is_needed;
        is_needed.then(|| testwriter::stubbed_unit(&self.under_test(), tests))
    }

    /// What a program is given by an input; nothing for a function.
    pub fn invocation_of(&self, input: &Input) -> Option<Invocation> {
        self.invocation.as_ref().map(|shape| shape.invocation(input))
    }

    /// The units besides the one with the function, and that one.
    fn units(&self) -> (&Unit, Vec<&Unit>) {
        let units = &self.front.marks.units;
        let others = units.iter().enumerate().filter(|(unit, _)| *unit != self.function.unit);
        (&units[self.function.unit], others.map(|(_, unit)| unit).collect())
    }

    /// How the unit with the function is compiled, and how the others are, by the user's own flags.
    pub fn commands(&self) -> (&CompileCommand, Vec<&CompileCommand>) {
        let commands = &self.front.commands;
        let others = commands.iter().enumerate().filter(|(unit, _)| *unit != self.function.unit);
        (&commands[self.function.unit], others.map(|(_, command)| command).collect())
    }

    /// Libraries and linker flags.
    pub fn link_flags(&self) -> Vec<String> {
        self.front.link_flags()
    }

    /// Builds files that stand for the function's unit (one of them includes it), files that need no flags, and the
    /// other units, natively.
    pub fn build_around(
        &self,
        files: &[&Path],
        plain: &[&Path],
        output: &Path,
        extra: &[&str],
    ) -> Result<(), Error> {
        let (unit, others) = self.units();
        let target = target_flags(unit);
        let mut units: Vec<NativeUnit<'_>> =
            files.iter().map(|file| NativeUnit { file, ..NativeUnit::from(unit) }).collect();
        units.extend(plain.iter().map(|file| plain_unit(file, unit, &target)));
        // a main that another unit has is not wanted
        let flags: Vec<Vec<String>> = others
            .iter()
            .map(|other| [other.preprocess.clone(), vec![OTHER_MAIN.to_owned()]].concat())
            .collect();
        for (other, preprocess) in others.iter().zip(&flags) {
            units.push(NativeUnit { flags: [preprocess, &other.flags], ..NativeUnit::from(*other) });
        }
        self.build_native(&units, output, extra)
    }

    /// Builds the program as it is, with files that need no flags. Functions that are defined nowhere give what these
    /// tests say, each by its name; what that takes is written to `work`.
    pub fn build_program(
        &self,
        tests: &[testwriter::Test<Input>],
        plain: &[&Path],
        work: &Path,
        output: &Path,
        extra: &[&str],
    ) -> Result<(), Error> {
        let stubbed = work.join("stubbed.c");
        let mut units: Vec<NativeUnit<'_>> = self.front.marks.units.iter().map(NativeUnit::from).collect();
        let (unit, _) = self.units();
        if let Some(text) = self.stubbed(tests) {
            std::fs::write(&stubbed, text)
                .map_err(|error| Error::internal(format!("cannot write {}: {error}", stubbed.display())))?;
            units[self.function.unit] = NativeUnit { file: &stubbed, ..NativeUnit::from(unit) };
        }
        let target = target_flags(unit);
        units.extend(plain.iter().map(|file| plain_unit(file, unit, &target)));
        self.build_native(&units, output, extra)
    }

    fn build_native(&self, units: &[NativeUnit<'_>], output: &Path, extra: &[&str]) -> Result<(), Error> {
        compile_native(&self.front.marks.root, units, &self.front.link_flags(), output, extra)
            .map_err(|error| Error::build(format!("it does not build natively: {error}")))
    }

    /// C that a program is linked with when the replayed tests make allocations fail.
    pub fn replay_allocations(&self) -> Option<&'static str> {
        let of_program = self.invocation.as_ref().is_some_and(|shape| shape.allocations.is_some());
        (of_program || self.shape().allocations.is_some()).then_some(testwriter::ALLOCATIONS)
    }

    /// An input as JSON.
    pub fn to_json(&self, input: &Input) -> Value {
        match &self.invocation {
            Some(shape) => invocation::to_json(&shape.invocation(input), &to_json(self.shape(), input)),
            None => to_json(self.shape(), input),
        }
    }

    /// The input that a JSON object describes.
    pub fn read_json(&self, json: &Value) -> Result<Input, ValueError> {
        match &self.invocation {
            Some(shape) => {
                let sequences: Vec<&str> = self.shape().roots.iter().map(|root| root.name.as_str()).collect();
                let (invocation, calls) = invocation::from_json(json, &sequences)?;
                let mut input = shape.input(&invocation)?;
                input.values.extend(from_json(self.shape(), &calls)?.values);
                Ok(input)
            }
            None => from_json(self.shape(), json),
        }
    }

    /// What its inputs are of, for those who simplify them.
    pub fn simplified(&self) -> Of<'_> {
        match &self.invocation {
            Some(shape) => Of::Program(shape, &self.harness.shape),
            None => Of::Function(&self.harness.shape),
        }
    }

    /// For a program: an input with some of everything.
    pub fn full_invocation(&self) -> Option<Input> {
        self.invocation.as_ref().map(InvocationShape::full)
    }

    /// The call that an input makes, on one line: `f(n = 3)`, `wc -l < "text"`.
    pub fn call(&self, input: &Input) -> String {
        match &self.invocation {
            Some(shape) => {
                let calls = notation(self.shape(), input);
                invocation::notation(&self.program_name(), &shape.invocation(input), &calls)
            }
            None => format!("{}({})", self.function(), notation(self.shape(), input)),
        }
    }

    /// What a program is called.
    pub fn program_name(&self) -> String {
        harness::program_name(&self.front.marks, &self.function)
    }
}

fn cannot(act: &str, path: &Path, error: &std::io::Error) -> Error {
    Error::internal(format!("cannot {act} {}: {error}", path.display()))
}

/// Which machine a unit is for.
fn target_flags(unit: &Unit) -> Vec<String> {
    unit.flags.iter().filter(|flag| matches!(flag.as_str(), "-m32" | "-m64")).cloned().collect()
}

/// A file that is built beside a unit, for the same machine.
fn plain_unit<'a>(file: &'a Path, beside: &'a Unit, target: &'a [String]) -> NativeUnit<'a> {
    NativeUnit { file, directory: &beside.directory, flags: [target, &[]] }
}

/// The function of the model with this name.
pub fn function_id(program: &Program, name: &str) -> Result<FunctionId, Error> {
    let id = program.function_named(name).filter(|id| program.function(*id).is_defined());
    id.ok_or_else(|| Error::internal(format!("the model has no code for '{name}'")))
}
