//! From the sources of a spec to a marked and built program, with errors a user can act on.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use cache::{Cache, DEFAULT_LIMIT};
use frontend::Blame;
use frontend::build::{self, Built, Request};
use frontend::harness::{self, Harness, HarnessError, HarnessOptions};
use frontend::instrument::{Libraries, MATHEMATICS, Mode, undefined};
use frontend::mark::{self, MarkError, MarkOptions};
use frontend::marks::Marks;
use frontend::preprocess;
use frontend::sources::{self, CompileCommand, Sources};
use frontend::stubs::{self, StubError, StubOptions};
use model::ctype::{CFunction, FunctionKey};
use model::invocation::{InvocationShape, MAX_FILES, MAX_VARIABLES};
use model::stub::Stubs;
use model::{GapKind, Linkage, Program};
use serde::{Deserialize, Serialize};
use tempfile::TempDir;

use crate::error::{Error, with_causes};
use crate::spec::SourceSpec;

/// Marked sources, not built yet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Front {
    pub commands: Vec<CompileCommand>,
    pub marks: Marks,
    /// The first units are the program's; those behind them stand in for functions it lacks.
    n_own_units: usize,
    work: PathBuf,
}

/// A function that can be tested.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestableFunction {
    pub name: String,
    /// As `--function` takes it: with its file when the name alone says too little.
    pub qualified: String,
    pub file: PathBuf,
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

/// What the preprocessor makes of a source.
pub fn preprocessed(command: &CompileCommand) -> Result<Vec<u8>, Error> {
    preprocess::preprocessed(command).map_err(|error| failure(MarkError::Clang(error)))
}

/// What the compiler has against a source, if anything.
pub fn objection(command: &CompileCommand) -> Result<(), Error> {
    let complaint = preprocess::check_syntax(command).map_err(|error| failure(MarkError::Clang(error)))?;
    complaint.map_or(Ok(()), |error| Err(failure(MarkError::Clang(error))))
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
    pub fn mark(spec: &SourceSpec, root: &Path, work: &Path, start: Start) -> Result<Self, Error> {
        let commands = commands(spec, root)?;
        let work = root.join(work);
        let rename_main = start == Start::Harness;
        let options = MarkOptions { root: root.to_owned(), directory: work.join("units"), rename_main };
        let marks = mark::mark(&commands, &options).map_err(failure)?;
        Ok(Self { n_own_units: commands.len(), commands, marks, work })
    }

    /// Reads and marks all sources, and the files that stand in for what they lack.
    pub fn with_stand_ins(
        spec: &SourceSpec,
        stand_ins: &[PathBuf],
        root: &Path,
        work: &Path,
    ) -> Result<Self, Error> {
        let mut all = spec.clone();
        all.files.extend_from_slice(stand_ins);
        let front = Self::mark(&all, root, work, Start::Harness)?;
        Ok(Self { n_own_units: front.n_own_units - stand_ins.len(), ..front })
    }

    /// Whether a unit is of the program, not a stand-in.
    pub fn is_own(&self, unit: usize) -> bool {
        unit < self.n_own_units
    }

    /// Stubs for functions that nothing defines; their keys start behind those of the harness.
    pub fn stubs(
        &self,
        function: &FunctionKey,
        harness: &Harness,
        options: &StubOptions,
    ) -> Result<Stubs, Error> {
        self.with_libraries(|libraries| {
            stubs::generate(&self.marks, function.unit, libraries, options, harness.next_key)
                .map_err(stub_failure)
        })
    }

    /// The variables that the program uses and nothing defines, with their sizes. A program that was linked has said which;
    /// for one that was not, libraries are asked.
    pub fn undefined_variables(
        &self,
        program: &Program,
        was_linked: bool,
    ) -> Result<Vec<(String, u64)>, Error> {
        let declared = program.globals.iter().filter(|global| global.linkage == Linkage::External);
        let declared: BTreeMap<String, u64> =
            declared.map(|global| (global.name.clone(), global.size)).collect();
        let missing: BTreeSet<String> = if was_linked {
            let undefined = program.gaps.iter().filter(|gap| gap.kind == GapKind::UndefinedSymbol);
            undefined.map(|gap| gap.what.clone()).collect()
        } else {
            let names = declared.keys().cloned().collect();
            self.with_libraries(|libraries| {
                undefined(&names, libraries).map_err(|error| Error::internal(with_causes(&error)))
            })?
        };
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
            cache: &user_cache(),
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

    /// Builds without stubs: functions that nothing defines return zero.
    pub fn build(&self, harness: Option<(&FunctionKey, &Harness)>, modes: &[Mode]) -> Result<Built, Error> {
        self.build_with_stubs(harness, &Stubs::default(), modes)
    }

    /// Compiles, links, lowers, and instruments once per mode.
    pub fn build_with_stubs(
        &self,
        harness: Option<(&FunctionKey, &Harness)>,
        stubs: &Stubs,
        modes: &[Mode],
    ) -> Result<Built, Error> {
        let link_flags = self.link_flags();
        let harness = harness
            .map(|(function, harness)| build::AppendedCode { unit: function.unit, text: &harness.text });
        let request = Request {
            marks: &self.marks,
            harness,
            stubs: &stubs.texts,
            work_dir: &self.work.join("build"),
            cache: &user_cache(),
            link_flags: &link_flags,
            modes,
            watch: analysis::watch,
        };
        build::build(&request).map_err(failure)
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
                testable.push(TestableFunction { name, qualified, file });
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

/// The user's cache; a temporary one when nothing says where it is.
fn user_cache() -> Cache {
    let from =
        |variable: &str| std::env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from);
    let directory = from("QUARRY_CACHE")
        .or_else(|| from("XDG_CACHE_HOME").map(|path| path.join("quarry")))
        .or_else(|| from("HOME").map(|path| path.join(".cache/quarry")));
    let directory = directory.unwrap_or_else(|| std::env::temp_dir().join("quarry"));
    Cache::open(&directory, DEFAULT_LIMIT)
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
