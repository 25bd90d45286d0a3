//! A function or a program with its harness, built: what campaigns search, and what suites are measured and replayed on.

pub mod mutated;
mod tested;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use analysis::dictionary::{Dictionary, Hint};
use analysis::origins::Asked;
use cache::{Cache, Entry};
use coverage::Scope;
use engine::campaign::InputLimit;
use engine::simplify::Of;
use engine::strategy::Chains;
use frontend::build::{Built, KeptObject, NativeUnit, compile_native};
use frontend::harness::{self, Harness};
use frontend::instrument::Mode;
use frontend::mark;
use frontend::marks::{Marks, Unit};
use frontend::sources::CompileCommand;
use frontend::stubs::StubOptions;
use model::ctype::declare::prototype;
use model::ctype::{CTypeKind, FunctionKey};
use model::input::{Input, Key, Shape};
use model::invocation::{InputFile, Invocation, InvocationShape};
use model::stub::{Stub, Stubs};
use model::{FunctionId, Program, SpanId};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use testwriter::FunctionUnderTest;

use crate::build_key::{Addresses, Wanted};
use crate::error::Error;
use crate::first_invocations::first_invocations;
use crate::front::{self, Front, clang_failure};
use crate::sanitized::SanitizedOrder;
use crate::spec::{InputSpec, ProgramSpec, Spec};
use crate::stored;
use crate::values::invocation;
use crate::values::json::{ValueError, from_json, to_json};
use crate::values::notation::notation;
pub use tested::TestProgram;

/// Takes a `main` in another unit than the function's out of the way.
pub const OTHER_MAIN: &str = "-Dmain=quarry_other_main";

/// The kind of entry that has a built program, and its file beside the binaries.
const PROGRAM: &str = "program";
const STORED: &str = "stored";

/// Arguments that a program is given at most, unless an option says more.
const MOST_ARGUMENTS: u64 = 32;
/// Files that a program is given without `--file`, how large they are at most, and the name of one that it is told to read.
const MOST_FILES: usize = 4;
const FILE_SIZE: u64 = 1024;
const GIVEN_FILE: &str = "input.txt";

/// A built function or program.
#[derive(Clone, Debug)]
pub struct Subject {
    front: Arc<Front>,
    /// Where the paths of the spec start.
    root: PathBuf,
    parts: Parts,
    /// What decides how it is built, if that is known.
    key: Option<cache::Key>,
    /// The units of the program; all when none are named.
    program_units: Option<BTreeSet<usize>>,
    /// Has the binaries.
    _entry: Entry,
}

/// What is kept of it in the cache, beside its marks and binaries.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Parts {
    function: FunctionKey,
    harness: Harness,
    /// How inputs are built, and what must hold of them, from all that was said.
    inputs: InputSpec,
    stubs: Stubs,
    built: Built,
    /// What the program is given, if it is one.
    invocation: Option<InvocationShape>,
}

/// What a subject is needed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Its model alone; any binary may be there.
    Model,
    /// Executions whose path is logged, which all binaries do.
    Paths,
    /// Executions in one mode.
    Mode(Mode),
}

impl Need {
    /// The binaries that do, those that are built when there are none first.
    fn choices(self) -> &'static [&'static [Mode]] {
        match self {
            Self::Model => &[&[], &[Mode::Symbolic], &[Mode::Fast]],
            Self::Paths => &[&[Mode::Fast], &[Mode::Symbolic]],
            Self::Mode(Mode::Fast) => &[&[Mode::Fast]],
            Self::Mode(Mode::Symbolic) => &[&[Mode::Symbolic]],
        }
    }
}

impl Subject {
    /// What `spec` names, from the cache or built. Paths of the spec start at `root`; files go below `work`.
    pub fn build(spec: &Spec, root: &Path, work: &Path, need: Need, cache: &Cache) -> Result<Self, Error> {
        let front = Front::with_stand_ins(&spec.sources, &spec.subject.stubs, root, work, cache)?;
        Self::of_front(Arc::new(front.for_criteria(&spec.criteria)), spec, root, need)
    }

    /// What `spec` names of sources that are marked already.
    pub fn of_front(front: Arc<Front>, spec: &Spec, root: &Path, need: Need) -> Result<Self, Error> {
        let invocation = spec.subject.limits().as_ref().map(InvocationShape::new);
        let function = match &invocation {
            Some(_) => front.main()?,
            None => front.function(spec.subject.function.as_deref())?,
        };
        let inputs = match &invocation {
            Some(_) => spec.inputs.clone(),
            None => spec.inputs.for_function(&function.name).0,
        };
        let program_units = front.units_of(&spec.sources.files);
        let wanted = Wanted {
            root,
            units: program_units.as_ref(),
            function: &function,
            subject: &spec.subject,
            inputs: &inputs,
            addresses: addresses(spec)?,
            command: &front.commands[function.unit],
            link_flags: &front.link_flags(),
        };
        let key = |modes: &[Mode]| match front.key() {
            Some(marks) => wanted.key(marks, modes, front.cache()).map_err(clang_failure),
            None => Ok(None),
        };
        for modes in need.choices() {
            let entry = key(modes)?.and_then(|key| front.cache().get(PROGRAM, &key));
            if let Some((parts, entry)) = entry.and_then(|entry| kept(entry, &front)) {
                if let Some(raised) = raised(spec, &parts.built.lowered.program) {
                    return Self::of_front(front, &raised, root, need);
                }
                let key = key(&[])?;
                return Ok(Self { front, root: root.to_owned(), parts, key, program_units, _entry: entry });
            }
        }
        let modes = need.choices()[0];
        let key_before = key(modes)?;
        let mut parts = None;
        let entry = front.cache().make_if(PROGRAM, &key_before.clone().unwrap_or_default(), |directory| {
            let mut made = Parts::build(&front, spec, root, program_units.as_ref(), invocation, modes)?;
            move_binaries(&mut made.built, directory)?;
            front.take_spans(&mut made.built.lowered.program);
            stored::write(&directory.join(STORED), &made)?;
            parts = Some(made);
            Ok::<bool, Error>(key_before.is_some() && front.holds()? && key(modes)? == key_before)
        })?;
        let mut parts = match parts {
            Some(parts) => parts,
            None => stored::read(&entry.file(STORED))?,
        };
        parts.complete(&entry, &front);
        if let Some(raised) = raised(spec, &parts.built.lowered.program) {
            return Self::of_front(front, &raised, root, need);
        }
        let key = if key_before.is_some() { key(&[])? } else { None };
        Ok(Self { front, root: root.to_owned(), parts, key, program_units, _entry: entry })
    }

    /// What it was built for.
    pub fn modes(&self) -> impl Iterator<Item = Mode> {
        self.parts.built.binaries.iter().map(|(mode, _)| *mode)
    }

    /// The name of the function.
    pub fn function(&self) -> &str {
        &self.parts.function.name
    }

    /// Where the paths of its spec start.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Where what is built of it is kept.
    pub fn cache(&self) -> &Cache {
        self.front.cache()
    }

    /// How inputs are built, and what must hold of them.
    pub fn inputs(&self) -> &InputSpec {
        &self.parts.inputs
    }

    /// The model, with the gaps of all steps.
    pub fn program(&self) -> &Program {
        &self.parts.built.lowered.program
    }

    /// What counts where runs begin with the function.
    pub fn scope(&self) -> Result<Scope, Error> {
        let scope = Scope::of_runs(self.program(), function_id(self.program(), self.function())?);
        let units = &self.parts.built.lowered.units;
        Ok(scope.without(|id| units[id.index()].is_some_and(|unit| !self.front.is_own(unit))))
    }

    /// What stands in for functions that are defined nowhere.
    pub fn stubs(&self) -> &Stubs {
        &self.parts.stubs
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
        self.parts.stubs.stubs.iter().filter_map(asked).collect()
    }

    /// Limits on the size of a program's input, which options raise.
    pub fn input_limits(&self) -> Vec<InputLimit> {
        let Some(InvocationShape { arguments, files, .. }) = &self.parts.invocation else {
            return Vec::new();
        };
        let limit = |option: &str, cells: Vec<(Key, u64)>, texts: Vec<Vec<Key>>| InputLimit {
            option: option.to_owned(),
            cells,
            texts,
        };
        let text = |number: u64| {
            let argument = arguments.key.part(number);
            (0..arguments.length).map(|index| argument.part(index)).collect()
        };
        let of_file = |file: &InputFile| {
            let option =
                file.name.as_ref().map_or_else(|| "--stdin-size".to_owned(), |name| format!("--file {name}"));
            limit(&option, vec![(file.key, file.most)], Vec::new())
        };
        let mut limits = vec![
            limit("--max-args", vec![(arguments.key, arguments.most)], Vec::new()),
            limit("--arg-len", Vec::new(), (0..arguments.most).map(text).collect()),
        ];
        limits.extend(files.iter().map(of_file));
        limits
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
        &self.parts.harness.shape
    }

    /// Which numbers were taken for lengths.
    pub fn couplings(&self) -> &[String] {
        &self.parts.harness.couplings
    }

    /// The harness as C, and the stubs.
    pub fn harness(&self) -> String {
        let mut text = self.parts.harness.text.clone();
        self.parts.stubs.texts.values().for_each(|stubs| text.push_str(stubs));
        text
    }

    /// The harness as C, without stubs.
    pub fn harness_alone(&self) -> &str {
        &self.parts.harness.text
    }

    /// The sources as they were marked.
    pub fn marks(&self) -> &Marks {
        &self.front.marks
    }

    /// The unit with the function.
    pub fn unit(&self) -> usize {
        self.parts.function.unit
    }

    /// Whether a unit is part of the program.
    pub fn has_unit(&self, unit: usize) -> bool {
        self.program_units.as_ref().is_none_or(|units| units.contains(&unit))
    }

    /// The marked text of each unit, with the numbers that conditions have in the program.
    pub fn texts(&self) -> Result<Vec<String>, Error> {
        let read = |unit: &Unit| {
            let bytes = std::fs::read(&unit.text)
                .map_err(|error| Error::internal(format!("cannot read {}: {error}", unit.text.display())))?;
            Ok(mark::renumbered(&String::from_utf8_lossy(&bytes), unit.first_condition))
        };
        self.front.marks.units.iter().map(read).collect()
    }

    /// Where the compiler runs for each unit.
    pub fn directories(&self) -> impl Iterator<Item = &Path> {
        self.front.marks.units.iter().map(|unit| unit.directory.as_path())
    }

    /// The executable of a mode that was asked for.
    pub fn binary(&self, mode: Mode) -> &Path {
        front::binary(&self.parts.built, mode)
    }

    /// A plain C program that replays these tests.
    pub fn replay(&self, tests: &[testwriter::Test<Input>]) -> String {
        let Some(shape) = &self.parts.invocation else {
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
            function: declarations
                .definition(&self.parts.function)
                .expect("a function with a harness is defined"),
            declarations,
            source: &self.front.marks.units[self.parts.function.unit].real_path,
            shape: &self.parts.harness.shape,
            stubs: &self.parts.stubs,
        }
    }

    /// The function that tests call; nothing for a whole program.
    pub fn function_under_test(&self) -> Option<FunctionUnderTest<'_>> {
        self.parts.invocation.is_none().then(|| self.under_test())
    }

    /// Of a program that needs stubs: C that takes the place of the unit with `main`, has them, and lets them give what
    /// the test asks for that the environment names.
    fn stubbed(&self, tests: &[testwriter::Test<Input>]) -> Option<String> {
        let is_needed = !(self.parts.stubs.stubs.is_empty() && self.parts.stubs.variables.is_empty());
        let is_needed = self.parts.invocation.is_some() && is_needed;
        is_needed.then(|| testwriter::stubbed_unit(&self.under_test(), tests))
    }

    /// Whether it is a whole program.
    pub fn is_whole_program(&self) -> bool {
        self.parts.invocation.is_some()
    }

    /// The input that gives a program this and no other files, or why it cannot be given.
    pub fn input_of(&self, invocation: &Invocation) -> Result<Input, String> {
        match &self.parts.invocation {
            Some(shape) => {
                let mut invocation = invocation.clone();
                for name in shape.files.iter().filter_map(|file| file.name.as_ref()) {
                    if !invocation.files.iter().any(|(given, _)| given == name) {
                        invocation.files.push((name.clone(), None));
                    }
                }
                shape.input(&invocation).map_err(|error| error.to_string())
            }
            None => Err("it is a command line, and a function is tested".to_owned()),
        }
    }

    /// What a program is given by an input; nothing for a function.
    pub fn invocation_of(&self, input: &Input) -> Option<Invocation> {
        self.parts.invocation.as_ref().map(|shape| shape.invocation(input))
    }

    /// Whether a unit is part of the program and does not have the function.
    fn is_other(&self, unit: usize) -> bool {
        let is_part = self.program_units.as_ref().is_none_or(|units| units.contains(&unit));
        is_part && unit != self.parts.function.unit
    }

    /// The unit with the function, and the others with their numbers.
    fn units(&self) -> (&Unit, Vec<(usize, &Unit)>) {
        let units = &self.front.marks.units;
        let others = units.iter().enumerate().filter(|(unit, _)| self.is_other(*unit));
        (&units[self.parts.function.unit], others.collect())
    }

    /// How the unit with the function is compiled, and how the others are, by the user's own flags.
    pub fn commands(&self) -> (&CompileCommand, Vec<&CompileCommand>) {
        let commands = &self.front.commands;
        let others = commands.iter().enumerate().filter(|(unit, _)| self.is_other(*unit));
        (&commands[self.parts.function.unit], others.map(|(_, command)| command).collect())
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
        let is_current = || self.is_current();
        let target = target_flags(unit);
        let mut units: Vec<NativeUnit<'_>> =
            files.iter().map(|file| NativeUnit { file, ..NativeUnit::from(unit) }).collect();
        units.extend(plain.iter().map(|file| plain_unit(file, unit, &target)));
        let flags = without_main(&others);
        for ((number, other), preprocess) in others.iter().zip(&flags) {
            let kept = self.kept_object(*number, &is_current);
            units.push(NativeUnit { flags: [preprocess, &other.flags], kept, ..NativeUnit::from(*other) });
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
        let is_current = || self.is_current();
        let native = |(number, unit)| NativeUnit {
            kept: self.kept_object(number, &is_current),
            ..NativeUnit::from(unit)
        };
        let mut units: Vec<NativeUnit<'_>> = self.front.marks.units.iter().enumerate().map(native).collect();
        let (unit, _) = self.units();
        if let Some(text) = self.stubbed(tests) {
            std::fs::write(&stubbed, text)
                .map_err(|error| Error::internal(format!("cannot write {}: {error}", stubbed.display())))?;
            units[self.parts.function.unit] = NativeUnit { file: &stubbed, ..NativeUnit::from(unit) };
        }
        let target = target_flags(unit);
        units.extend(plain.iter().map(|file| plain_unit(file, unit, &target)));
        self.build_native(&units, output, extra)
    }

    /// Whether the sources are still what they were when they were marked.
    fn is_current(&self) -> bool {
        self.front.holds().unwrap_or(false)
    }

    /// Where the object of a unit that nothing is added to is kept.
    fn kept_object<'a>(
        &'a self,
        unit: usize,
        is_current: &'a (dyn Fn() -> bool + Sync),
    ) -> Option<KeptObject<'a>> {
        let kept = |sources| KeptObject { cache: self.front.cache(), sources, is_current };
        self.front.unit_key(unit).map(kept)
    }

    fn build_native(&self, units: &[NativeUnit<'_>], output: &Path, extra: &[&str]) -> Result<(), Error> {
        compile_native(&self.front.marks.root, units, &self.front.link_flags(), output, extra)
            .map_err(|error| Error::build(format!("it does not build natively: {error}")))
    }

    /// C that a program is linked with when the replayed tests make allocations fail.
    pub fn replay_allocations(&self) -> Option<&'static str> {
        let of_program = self.parts.invocation.as_ref().is_some_and(|shape| shape.allocations.is_some());
        (of_program || self.shape().allocations.is_some()).then_some(testwriter::ALLOCATIONS)
    }

    /// What a build of it with sanitizers takes; files go below `work`.
    pub fn sanitized_order(&self, work: PathBuf) -> SanitizedOrder {
        let result = &self.under_test().function.result;
        let is_void = matches!(self.front.marks.declarations.types[*result].kind, CTypeKind::Void);
        let harness = &self.parts.harness;
        let text = if is_void { harness.text.clone() } else { harness.with_result_kept() };
        SanitizedOrder {
            front: Arc::clone(&self.front),
            unit: self.parts.function.unit,
            program_units: self.program_units.clone(),
            harness: self.parts.invocation.is_none().then_some(text),
            stubs: self.parts.stubs.texts.clone(),
            variables: self.parts.stubs.variables.clone(),
            fails_allocations: harness.shape.allocations.is_some(),
            key: self.key.clone(),
            work,
        }
    }

    /// Whether a program can be built without the tests that say what its stubs give.
    pub fn needs_tests_to_build(&self) -> bool {
        self.stubbed(&[]).is_some()
    }

    /// The token on a line of a marked text.
    pub fn token_at(&self, text: &Path, line: u32) -> Option<SpanId> {
        let mut units = self.front.marks.units.iter();
        let unit = units.find(|unit| unit.text.file_name() == text.file_name())?;
        let index = usize::try_from(line).ok()?.checked_sub(1)?;
        unit.lines.get(index).copied().flatten()
    }

    /// An input as JSON.
    pub fn to_json(&self, input: &Input) -> Value {
        match &self.parts.invocation {
            Some(shape) => invocation::to_json(&shape.invocation(input), &to_json(self.shape(), input)),
            None => to_json(self.shape(), input),
        }
    }

    /// The input that a JSON object describes.
    pub fn read_json(&self, json: &Value) -> Result<Input, ValueError> {
        match &self.parts.invocation {
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
        match &self.parts.invocation {
            Some(shape) => Of::Program(shape, &self.parts.harness.shape),
            None => Of::Function(&self.parts.harness.shape),
        }
    }

    /// For a program: what it can be given.
    pub fn invocation_shape(&self) -> Option<&InvocationShape> {
        self.parts.invocation.as_ref()
    }

    /// For a program: an input with some of everything.
    pub fn full_invocation(&self) -> Option<Input> {
        self.parts.invocation.as_ref().map(InvocationShape::full)
    }

    /// For a program: inputs made of what its text says of them.
    pub fn invocations_by_dictionary(&self) -> Vec<Input> {
        let Some(shape) = &self.parts.invocation else { return Vec::new() };
        let dictionary = Dictionary::of(self.program());
        let invocations = first_invocations(shape, &dictionary);
        invocations.iter().filter_map(|invocation| shape.input(invocation).ok()).collect()
    }

    /// Numbers that the program compares others with.
    pub fn compared_numbers(&self) -> Vec<i64> {
        let number = |hint: &Hint| match hint {
            Hint::Number(number) => Some(*number),
            Hint::ArgumentCount(_)
            | Hint::Option(_)
            | Hint::NumericArgument
            | Hint::NumericText
            | Hint::Format(_)
            | Hint::File(_)
            | Hint::NamedFile
            | Hint::Variable(_)
            | Hint::Word(_)
            | Hint::Character(_) => None,
        };
        Dictionary::of(self.program()).hints.keys().filter_map(number).collect()
    }

    /// The call that an input makes, on one line: `f(n = 3)`, `wc -l < "text"`.
    pub fn call(&self, input: &Input) -> String {
        match &self.parts.invocation {
            Some(shape) => {
                let calls = notation(self.shape(), input);
                invocation::notation(&self.program_name(), &shape.invocation(input), &calls)
            }
            None => format!("{}({})", self.function(), notation(self.shape(), input)),
        }
    }

    /// What a program is called.
    pub fn program_name(&self) -> String {
        harness::program_name(&self.front.marks, &self.parts.function)
    }
}

impl Parts {
    /// Builds it in some modes.
    fn build(
        front: &Front,
        spec: &Spec,
        root: &Path,
        units: Option<&BTreeSet<usize>>,
        invocation: Option<InvocationShape>,
        modes: &[Mode],
    ) -> Result<Self, Error> {
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
        let mut stubs = front.stubs(units, &function, &harness, &options)?;
        harness.shape.roots.extend(stubs.roots.iter().cloned());
        let mut built =
            front.build_with_stubs(units, Some((&function, &harness)), &stubs, modes, addresses(spec)?)?;
        stubs.variables = front.undefined_variables(&built.lowered.program)?;
        built.lowered.program.gaps.extend(harness.gaps.iter().chain(&stubs.gaps).cloned());
        Ok(Self { function, harness, inputs, stubs, built, invocation })
    }

    /// Finds the binaries where an entry has them, and the spans among the marks.
    fn complete(&mut self, entry: &Entry, front: &Front) {
        front.put_spans(&mut self.built.lowered.program);
        self.built.binaries.iter_mut().for_each(|(_, binary)| *binary = entry.path().join(&*binary));
    }
}

/// The same with room for all arguments that the program asks about, unless `--max-args` sets a limit, and with the files that it
/// reads, unless `--file` names some.
fn raised(spec: &Spec, program: &Program) -> Option<Spec> {
    let asked = spec.subject.program.as_ref()?;
    let dictionary = Dictionary::of(program);
    let n = dictionary.n_arguments().unwrap_or(0).min(MOST_ARGUMENTS);
    let max_args = asked.max_args.or_else(|| (n > asked.arguments()).then_some(n));
    let files = if asked.files.is_empty() { files_read(&dictionary) } else { asked.files.clone() };
    let raised = ProgramSpec { max_args, files, ..asked.clone() };
    (raised != *asked).then(|| {
        let mut spec = spec.clone();
        spec.subject.program = Some(raised);
        spec
    })
}

/// Files in its own directory that a program opens, and one for the names that it is given.
fn files_read(dictionary: &Dictionary) -> Vec<(String, u64)> {
    let name = |hint: &Hint| match hint {
        Hint::File(name) => String::from_utf8(name.clone()).ok().filter(|name| is_plain(name)),
        Hint::NamedFile => Some(GIVEN_FILE.to_owned()),
        Hint::ArgumentCount(_)
        | Hint::Option(_)
        | Hint::NumericArgument
        | Hint::NumericText
        | Hint::Format(_)
        | Hint::Variable(_)
        | Hint::Word(_)
        | Hint::Character(_)
        | Hint::Number(_) => None,
    };
    let names: BTreeSet<String> = dictionary.hints.keys().filter_map(name).collect();
    names.into_iter().take(MOST_FILES).map(|name| (name, FILE_SIZE)).collect()
}

/// Whether a file of this name is in the program's directory.
fn is_plain(name: &str) -> bool {
    !name.is_empty()
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
        && !name.starts_with('.')
}

/// Criteria of data flow ask what was accessed, and so do strategies that follow event sequences; the others do not.
fn addresses(spec: &Spec) -> Result<Addresses, Error> {
    let is_asked = spec.criteria.criteria()?.iter().any(|criterion| criterion.needs_data_flow());
    Ok(match spec.search.strategy()?.chains() {
        Chains::Always => Addresses::OnRequest,
        Chains::InSmallPrograms | Chains::Never if is_asked => Addresses::OnRequest,
        Chains::InSmallPrograms => Addresses::InSmallPrograms,
        Chains::Never => Addresses::Never,
    })
}

/// What an entry has; nothing when another version wrote it.
fn kept(entry: Entry, front: &Front) -> Option<(Parts, Entry)> {
    let mut parts: Parts = stored::read(&entry.file(STORED)).ok()?;
    parts.complete(&entry, front);
    Some((parts, entry))
}

/// Moves binaries to a directory and names them relative to it.
fn move_binaries(built: &mut Built, directory: &Path) -> Result<(), Error> {
    for (mode, binary) in &mut built.binaries {
        let name = PathBuf::from(match mode {
            Mode::Fast => "fast",
            Mode::Symbolic => "symbolic",
        });
        let place = directory.join(&name);
        // the cache may be on another file system
        if std::fs::rename(&*binary, &place).is_err() {
            std::fs::copy(&*binary, &place)
                .map_err(|error| Error::internal(format!("cannot write {}: {error}", place.display())))?;
        }
        *binary = name;
    }
    Ok(())
}

/// Which machine a unit is for.
fn target_flags(unit: &Unit) -> Vec<String> {
    unit.flags.iter().filter(|flag| matches!(flag.as_str(), "-m32" | "-m64")).cloned().collect()
}

/// How units are preprocessed when a `main` of theirs is not wanted.
fn without_main(units: &[(usize, &Unit)]) -> Vec<Vec<String>> {
    units.iter().map(|(_, unit)| [unit.preprocess.clone(), vec![OTHER_MAIN.to_owned()]].concat()).collect()
}

/// A file that is built beside a unit, for the same machine.
fn plain_unit<'a>(file: &'a Path, beside: &'a Unit, target: &'a [String]) -> NativeUnit<'a> {
    NativeUnit { file, directory: &beside.directory, flags: [target, &[]], kept: None }
}

/// The function of the model with this name.
pub fn function_id(program: &Program, name: &str) -> Result<FunctionId, Error> {
    let id = program.function_named(name).filter(|id| program.function(*id).is_defined());
    id.ok_or_else(|| Error::internal(format!("the model has no code for '{name}'")))
}
