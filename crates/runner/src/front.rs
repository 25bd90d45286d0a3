//! From the sources of a spec to a marked and built program, with errors a user can act on.

mod programs;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use cache::{Cache, Entry, Key};
use engine::strategy::Chains;
use frontend::RUNTIME_PREFIX;
use frontend::build::{self, Built, Request};
use frontend::compilers::{in_parallel, processors};
use frontend::harness::{self, Harness, HarnessError, HarnessOptions};
use frontend::instrument::{Libraries, MATHEMATICS, Mode, undefined};
use frontend::lower::Lowered;
use frontend::mark::{self, MarkError, MarkOptions};
use frontend::marks::{MarkedDecision, Marks};
use frontend::preprocess;
use frontend::sources::{self, CompileCommand, Sources};
use frontend::stubs::{self, StubError, StubOptions};
use frontend::{Blame, ClangError};
use model::ctype::{CFunction, FunctionKey};
use model::invocation::{InvocationShape, MAX_FILES, MAX_VARIABLES};
use model::stub::Stubs;
use model::walk::Watch;
use model::{Global, Linkage, Program};
use tempfile::TempDir;

use crate::build_key::{self, Addresses};
use crate::error::{Error, with_causes};
use crate::spec::{CriteriaSpec, SourceSpec};
use crate::stored;
pub use programs::Programs;

/// Marked sources, not built yet.
#[derive(Clone, Debug)]
pub struct Front {
    pub commands: Vec<CompileCommand>,
    /// The files as the spec names them, one per unit.
    files: Vec<PathBuf>,
    pub marks: Marks,
    /// The first units are the program's; those behind them stand in for functions it lacks.
    n_own_units: usize,
    work: PathBuf,
    cache: Cache,
    rename_main: bool,
    /// What each unit was made from; nothing when that changed meanwhile.
    unit_keys: Vec<Option<Key>>,
    /// The same of all of them.
    key: Option<Key>,
    /// Have the marked texts.
    _entries: Vec<Entry>,
}

/// The kinds of entries that have a marked source, and the model of a program without a harness.
const MARKS: &str = "marks";
const MODEL: &str = "model";
/// The file of an entry that has them; the marked text is beside it.
const STORED: &str = "stored";

/// A function that can be tested.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestableFunction {
    pub name: String,
    /// As `--function` takes it: with its file when the name alone says too little.
    pub qualified: String,
    pub file: PathBuf,
    /// How large it is.
    pub n_decisions: usize,
}

/// Who starts a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// A generated harness; a `main` in the way is renamed.
    Harness,
    /// The program's own `main`.
    Main,
}

/// How each source is compiled; fails when one is missing or no C.
pub fn commands(spec: &SourceSpec, root: &Path) -> Result<Vec<CompileCommand>, Error> {
    let sources = Sources {
        root: root.to_owned(),
        files: spec.files.clone(),
        flags: spec.flags.clone(),
        build_dir: spec.build_dir.clone(),
    };
    sources.commands().map_err(failure)
}

/// What a user is told when the compiler refuses a source.
pub fn clang_failure(error: ClangError) -> Error {
    failure(MarkError::Clang(error))
}

/// What a user is told when a source cannot be marked, or its mutants cannot be written.
pub fn mark_failure(error: MarkError) -> Error {
    failure(error)
}

/// What the compiler has against a source, if anything.
pub fn objection(command: &CompileCommand) -> Result<(), Error> {
    let complaint = preprocess::check_syntax(command).map_err(clang_failure)?;
    complaint.map_or(Ok(()), |error| Err(clang_failure(error)))
}

/// The sources as given; all of the build directory when none are.
pub fn with_all_sources(spec: &SourceSpec, root: &Path) -> Result<SourceSpec, Error> {
    let mut all = spec.clone();
    if let (Some(build_dir), true) = (&spec.build_dir, spec.files.is_empty()) {
        all.files = sources::listed(root, build_dir).map_err(failure)?;
    }
    Ok(all)
}

impl Front {
    /// Reads and marks all sources; files go below `work`.
    pub fn mark(
        spec: &SourceSpec,
        root: &Path,
        work: &Path,
        start: Start,
        cache: &Cache,
    ) -> Result<Self, Error> {
        let commands = commands(spec, root)?;
        let rename_main = start == Start::Harness;
        let keys = build_key::of_units(&commands, root, rename_main, cache).map_err(clang_failure)?;
        let units: Vec<(usize, &CompileCommand, Option<Key>)> = commands
            .iter()
            .zip(keys)
            .enumerate()
            .map(|(number, (command, key))| (number, command, key))
            .collect();
        let marked = in_parallel(&units, processors(), |(number, command, key)| {
            MarkedUnit::of(*number, command, key.as_ref(), root, rename_main, cache)
        });
        let mut marks = Marks { root: root.to_owned(), ..Marks::default() };
        let (mut unit_keys, mut entries) = (Vec::new(), Vec::new());
        for unit in marked {
            let MarkedUnit { marks: unit, key, entry } = unit?;
            mark::join(&mut marks, unit);
            unit_keys.push(key);
            entries.push(entry);
        }
        let key = build_key::of_marks(&commands, &unit_keys);
        let work = root.join(work);
        let cache = cache.clone();
        Ok(Self {
            n_own_units: commands.len(),
            files: spec.files.clone(),
            commands,
            marks,
            work,
            cache,
            rename_main,
            unit_keys,
            key,
            _entries: entries,
        })
    }

    /// The same, with what the criteria ask to be noted besides.
    pub fn for_criteria(mut self, criteria: &CriteriaSpec) -> Self {
        if criteria.criterion.iter().any(|name| name == coverage::BOUNDARY) {
            self.marks.add_boundaries();
            self.key = self.key.map(|key| key.part("noted", coverage::BOUNDARY));
        }
        self
    }

    /// Reads and marks all sources, and the files that stand in for what they lack.
    pub fn with_stand_ins(
        spec: &SourceSpec,
        stand_ins: &[PathBuf],
        root: &Path,
        work: &Path,
        cache: &Cache,
    ) -> Result<Self, Error> {
        let mut all = spec.clone();
        all.files.extend_from_slice(stand_ins);
        let front = Self::mark(&all, root, work, Start::Harness, cache)?;
        Ok(Self { n_own_units: front.n_own_units - stand_ins.len(), ..front })
    }

    /// Where what is built of it is kept.
    pub fn cache(&self) -> &Cache {
        &self.cache
    }

    /// What it was made from; nothing when that is not known.
    pub fn key(&self) -> Option<&Key> {
        self.key.as_ref()
    }

    /// Whether the sources are still what they were when they were marked.
    pub fn holds(&self) -> Result<bool, Error> {
        let (root, cache) = (&self.marks.root, &self.cache);
        let now =
            build_key::of_units(&self.commands, root, self.rename_main, cache).map_err(clang_failure)?;
        Ok(self.key.is_some() && now == self.unit_keys)
    }

    /// What a unit was made from; nothing when that is not known.
    pub fn unit_key(&self, unit: usize) -> Option<&Key> {
        self.unit_keys[unit].as_ref()
    }

    /// The model of the program alone, with no harness and no binary.
    pub fn model(&self) -> Result<Lowered, Error> {
        let kept = self.key.as_ref().and_then(|key| self.cache.get(MODEL, key));
        let read = kept.and_then(|entry| stored::read::<Lowered>(&entry.file(STORED)).ok());
        if let Some(mut lowered) = read {
            self.put_spans(&mut lowered.program);
            return Ok(lowered);
        }
        let mut lowered = self.build(None, &[])?.lowered;
        if let Some(key) = &self.key {
            self.take_spans(&mut lowered.program);
            let write = |directory: &Path| stored::write(&directory.join(STORED), &lowered);
            self.cache.make(MODEL, key, write)?;
            self.put_spans(&mut lowered.program);
        }
        Ok(lowered)
    }

    /// Takes the spans out of a program that is to be kept, if they are those of the marks, which are kept already: there is one per token.
    pub fn take_spans(&self, program: &mut Program) {
        if program.spans == self.marks.spans {
            program.spans = Vec::new();
        }
    }

    /// Puts them back.
    pub fn put_spans(&self, program: &mut Program) {
        if program.spans.is_empty() {
            program.spans = self.marks.spans.clone();
        }
    }

    /// Whether a unit is of the program, not a stand-in.
    pub fn is_own(&self, unit: usize) -> bool {
        unit < self.n_own_units
    }

    /// The units of these files, and those that stand in; nothing when that is all of them.
    pub fn units_of(&self, files: &[PathBuf]) -> Option<BTreeSet<usize>> {
        let is_part = |unit: &usize| !self.is_own(*unit) || files.contains(&self.files[*unit]);
        let units: BTreeSet<usize> = (0..self.files.len()).filter(is_part).collect();
        (units.len() < self.files.len()).then_some(units)
    }

    /// Which of its files belong together.
    pub fn programs(&self) -> Result<Programs, Error> {
        Programs::of(&self.marks, self.n_own_units)
    }

    /// The files of the program that a file belongs to.
    pub fn program_of(&self, file: &Path, programs: &Programs) -> Vec<PathBuf> {
        let Some(home) = self.commands.iter().position(|command| command.source == file) else {
            return self.files.clone();
        };
        programs.around(home).into_iter().map(|unit| self.files[unit].clone()).collect()
    }

    /// Stubs for functions that nothing defines; their keys start behind those of the harness.
    pub fn stubs(
        &self,
        units: Option<&BTreeSet<usize>>,
        function: &FunctionKey,
        harness: &Harness,
        options: &StubOptions,
    ) -> Result<Stubs, Error> {
        self.with_libraries(|libraries| {
            stubs::generate(&self.marks, units, function.unit, libraries, options, harness.next_key)
                .map_err(stub_failure)
        })
    }

    /// The variables that the program uses and nothing defines, with their sizes: also those of code that no run reaches, which native
    /// builds have.
    pub fn undefined_variables(&self, program: &Program) -> Result<Vec<(String, u64)>, Error> {
        let is_foreign = |global: &&Global| {
            // the runtime has what models of library functions use
            global.linkage == Linkage::External && !global.name.starts_with(RUNTIME_PREFIX)
        };
        let declared = program.globals.iter().filter(is_foreign);
        let declared: BTreeMap<String, u64> =
            declared.map(|global| (global.name.clone(), global.size)).collect();
        let names = declared.keys().cloned().collect();
        let missing = self.with_libraries(|libraries| {
            undefined(&names, libraries).map_err(|error| Error::internal(with_causes(&error)))
        })?;
        Ok(declared.into_iter().filter(|(name, _)| missing.contains(name)).collect())
    }

    /// Does something with what the program is linked with.
    fn with_libraries<T>(&self, act: impl FnOnce(&Libraries<'_>) -> T) -> T {
        let is_32 = |flag: &&String| matches!(flag.as_str(), "-m32" | "-m64");
        let flags = self.marks.units.first().map(|unit| unit.flags.as_slice()).unwrap_or_default();
        let target = flags.iter().rfind(is_32).filter(|flag| *flag == "-m32");
        act(&Libraries {
            root: &self.marks.root,
            target_flags: &target.cloned().into_iter().collect::<Vec<_>>(),
            link_flags: &self.link_flags(),
            work_dir: &self.work,
            cache: &self.cache,
        })
    }

    /// The harness of a function.
    pub fn harness(&self, function: &FunctionKey, options: &HarnessOptions) -> Result<Harness, Error> {
        harness::generate(&self.marks, function, options).map_err(harness_failure)
    }

    /// The program's `main`, and the harness that calls it.
    pub fn program_harness(&self, shape: &InvocationShape) -> Result<(FunctionKey, Harness), Error> {
        if shape.files.len() > MAX_FILES || shape.variables.len() > MAX_VARIABLES {
            let (files, variables) = (MAX_FILES - 1, MAX_VARIABLES);
            return Err(Error::usage(format!(
                "a program can have at most {files} input files and {variables} environment variables"
            )));
        }
        harness::generate_program(&self.marks, shape).map_err(harness_failure)
    }

    /// Builds without stubs: functions that nothing defines return zero. Runs can be asked for addresses.
    pub fn build(&self, harness: Option<(&FunctionKey, &Harness)>, modes: &[Mode]) -> Result<Built, Error> {
        self.build_with_stubs(None, harness, &Stubs::default(), modes, Addresses::OnRequest)
    }

    /// Compiles, links, lowers, and instruments once per mode. The program consists of these units, or of all.
    pub fn build_with_stubs(
        &self,
        units: Option<&BTreeSet<usize>>,
        harness: Option<(&FunctionKey, &Harness)>,
        stubs: &Stubs,
        modes: &[Mode],
        addresses: Addresses,
    ) -> Result<Built, Error> {
        let link_flags = self.link_flags();
        let harness = harness
            .map(|(function, harness)| build::AppendedCode { unit: function.unit, text: &harness.text });
        let request = Request {
            marks: &self.marks,
            units,
            harness,
            stubs: &stubs.texts,
            work_dir: &self.build_directory(),
            cache: &self.cache,
            link_flags: &link_flags,
            modes,
            watch: match addresses {
                Addresses::Never => |_| Watch::default(),
                Addresses::InSmallPrograms => |program| {
                    if Chains::InSmallPrograms.of(program) {
                        analysis::watch(program)
                    } else {
                        Watch::default()
                    }
                },
                Addresses::OnRequest => analysis::watch,
            },
            free_of_input: analysis::free_of_input,
        };
        build::build(&request).map_err(failure)
    }

    /// A directory for one build: several may be under way.
    fn build_directory(&self) -> PathBuf {
        static N_BUILDS: AtomicUsize = AtomicUsize::new(0);
        self.work.join(format!("build{}", N_BUILDS.fetch_add(1, Ordering::Relaxed)))
    }

    /// The program's `main`.
    pub fn main(&self) -> Result<FunctionKey, Error> {
        harness::find(&self.marks, "main").map_err(harness_failure)
    }

    /// The function with this name, or the only one there is.
    pub fn function(&self, name: Option<&str>) -> Result<FunctionKey, Error> {
        let is_testable = |function: &&CFunction| !function.system && self.is_own(function.key.unit);
        let functions: Vec<_> = self.marks.declarations.functions.iter().filter(is_testable).collect();
        if functions.is_empty() {
            return Err(Error::usage(format!("{} defines no function", self.source_names())));
        }
        if let Some(name) = name {
            return harness::find(&self.marks, name).map_err(harness_failure);
        }
        match likely(&functions).as_slice() {
            [only] => Ok(only.key.clone()),
            _ => Err(Error::usage("which function? Name one with --function")
                .help(format!("functions are: {}", names(&functions)))),
        }
    }

    /// The functions that are tested when none is named, with a name that means only this one.
    pub fn testable(&self) -> Vec<TestableFunction> {
        let is_testable = |function: &&CFunction| !function.system && self.is_own(function.key.unit);
        let functions: Vec<_> = self.marks.declarations.functions.iter().filter(is_testable).collect();
        let mut testable: Vec<TestableFunction> = Vec::new();
        for function in likely(&functions) {
            let file = self.commands[function.key.unit].source.clone();
            let name = function.key.name.clone();
            let is_only = harness::find(&self.marks, &name).is_ok();
            let qualified = if is_only { name.clone() } else { format!("{}:{name}", file.display()) };
            // an inline function of a header is there once, whoever includes it
            if !testable.iter().any(|known| known.qualified == qualified) {
                let decisions = self.marks.decisions.iter();
                let is_its = |decision: &&MarkedDecision| {
                    decision.kind.is_of_source() && decision.function == function.key
                };
                let n_decisions = decisions.filter(is_its).count();
                testable.push(TestableFunction { name, qualified, file, n_decisions });
            }
        }
        testable
    }

    /// Libraries and linker flags of all units, each once and in order, and the library of mathematics if it is needed:
    /// sources named one by one do not say so.
    pub fn link_flags(&self) -> Vec<String> {
        let mut flags: Vec<String> = Vec::new();
        for command in &self.commands {
            if !flags.ends_with(&command.link) {
                flags.extend(command.link.iter().cloned());
            }
        }
        flags.push(MATHEMATICS.to_owned());
        flags
    }

    fn source_names(&self) -> String {
        let names = self.commands.iter().map(|command| command.source.display().to_string());
        names.collect::<Vec<_>>().join(", ")
    }
}

/// One marked source, whose ids are its own.
struct MarkedUnit {
    marks: Marks,
    key: Option<Key>,
    /// Has the text.
    entry: Entry,
}

impl MarkedUnit {
    /// From the cache, or marked now. The key is taken away when the source changed meanwhile.
    fn of(
        number: usize,
        command: &CompileCommand,
        key: Option<&Key>,
        root: &Path,
        rename_main: bool,
        cache: &Cache,
    ) -> Result<Self, Error> {
        // the same in every program, so that code that is compiled of it is the same, and different from that of the others
        let name = key.map_or_else(|| number.to_string(), |key| key.hex()[..16].to_owned());
        let text = format!("{}-{name}.i", mark::stem(command));
        if let Some(entry) = key.and_then(|key| cache.get(MARKS, key))
            && let Ok(marks) = stored::read(&entry.file(STORED))
        {
            return Ok(Self::at(marks, &text, key.cloned(), entry));
        }
        let mut key = key.cloned();
        let mut made = None;
        let entry = cache.make_if(MARKS, &key.clone().unwrap_or_default(), |directory| {
            let options = MarkOptions {
                root: root.to_owned(),
                directory: directory.to_owned(),
                rename_main,
                cache: Some(cache.clone()),
            };
            let marks = mark::mark_unit(command, &text, &options).map_err(failure)?;
            stored::write(&directory.join(STORED), &marks)?;
            made = Some(marks);
            let command = std::slice::from_ref(command);
            let now = build_key::of_units(command, root, rename_main, cache).map_err(clang_failure)?;
            if key != now[0] {
                key = None;
            }
            Ok::<bool, Error>(key.is_some())
        })?;
        let marks = match made {
            Some(marks) => marks,
            None => stored::read(&entry.file(STORED))?,
        };
        Ok(Self::at(marks, &text, key, entry))
    }

    /// With the text where an entry has it.
    fn at(mut marks: Marks, text: &str, key: Option<Key>, entry: Entry) -> Self {
        marks.units.iter_mut().for_each(|unit| unit.text = entry.file(text));
        Self { marks, key, entry }
    }
}

/// Exported functions besides `main`; when there are none, `static` ones.
fn likely<'m>(functions: &[&'m CFunction]) -> Vec<&'m CFunction> {
    let testable = functions.iter().copied().filter(|function| function.key.name != "main");
    let (hidden, exported): (Vec<_>, Vec<_>) = testable.partition(|function| function.is_static);
    if exported.is_empty() { hidden } else { exported }
}

fn names(functions: &[&CFunction]) -> String {
    const SHOWN: usize = 30;
    let mut shown: Vec<&str> =
        functions.iter().take(SHOWN).map(|function| function.key.name.as_str()).collect();
    if functions.len() > SHOWN {
        shown.push("…");
    }
    shown.join(", ")
}

/// The executable of a mode that was asked for.
pub fn binary(built: &Built, mode: Mode) -> &Path {
    let found = built.binaries.iter().find(|(built, _)| *built == mode);
    found.map(|(_, path)| path.as_path()).expect("every mode asked for is built")
}

/// Where build files go; removed when dropped.
pub fn work_directory() -> Result<TempDir, Error> {
    tempfile::tempdir()
        .map_err(|error| Error::internal(format!("cannot create a temporary directory: {error}")))
}

const BUILD_HELP: &str =
    "give the flags of your build after -- (such as -Iinclude -DNAME), or -p DIR with compile_commands.json";
const DOCTOR_HELP: &str = "quarry doctor says what is missing and how to install it";

fn stub_failure(error: StubError) -> Error {
    match error {
        StubError::UnknownFunction { .. } | StubError::UnknownParameter { .. } => Error::usage(error),
        StubError::Clang(_) | StubError::Instrument(_) => Error::internal(error).help(DOCTOR_HELP),
        StubError::Read { .. } => Error::internal(error),
    }
}

fn harness_failure(error: HarnessError) -> Error {
    match error {
        HarnessError::UnknownFunction { .. }
        | HarnessError::AmbiguousFunction { .. }
        | HarnessError::UnknownLength { .. }
        | HarnessError::UnknownGlobal { .. }
        | HarnessError::ConstantGlobal { .. }
        | HarnessError::StaticVariable { .. }
        | HarnessError::Assume { .. }
        | HarnessError::UnreadPrecondition { .. }
        | HarnessError::NoPrecondition { .. }
        | HarnessError::Precondition { .. } => Error::usage(error),
        HarnessError::Clang(_) => Error::internal(error).help(DOCTOR_HELP),
        HarnessError::Rejected { .. } | HarnessError::Read { .. } => Error::internal(error),
    }
}

/// What a user is told about an error of the front end.
fn failure(error: impl Into<frontend::Error>) -> Error {
    let error: frontend::Error = error.into();
    match error.blame() {
        Blame::Usage => Error::usage(error),
        Blame::Program => Error::build(format!("the program does not build: {error}")).help(BUILD_HELP),
        Blame::Environment => Error::internal(error).help(DOCTOR_HELP),
        Blame::Internal => Error::internal(error),
    }
}
