//! Which inputs do the tests give that are there already?
//!
//! Method: each place is read in the form that it has ([`Form`]): what Quarry wrote, JSON, text files with a command line per test,
//! corpora of fuzzers, KLEE's and Test-Comp's formats, tests in C. Reading needs no program ([`read`]). What the inputs ask for decides
//! how much a program may be given ([`limits`]); when it is built, tests in C are run with it ([`calls`]), and each test becomes an input ([`inputs`]). Every test
//! keeps its name and where it comes from. Limit: what cannot be expressed is left out, with the reason; nothing is
//! dropped silently.

pub mod calls;
mod command_line;
mod corpus;
mod inputs;
pub mod ktest;
mod layout;
mod limits;
mod lines;
mod script;
mod sequence;
mod shell;
mod suite;
pub mod testcomp;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use model::invocation::Invocation;
use serde_json::Value;

use crate::error::Error;
use crate::spec::{FormSpec, Spec, TestsSpec};
pub use inputs::{Resolved, resolve};
pub use limits::widen;
pub use suite::{ImportOrder, ImportedSuite, ImportedTest, import, nothing, take_over};

/// Tests as they were read, and those that could not be.
#[derive(Clone, Debug, Default)]
pub struct Found {
    pub tests: Vec<FoundTest>,
    pub left_out: Vec<LeftOut>,
    /// What was changed on the way, for a person.
    pub notes: Vec<String>,
    /// Files of test programs, which say what they give when they run.
    pub sources: Vec<calls::TestSource>,
    /// Runs of Quarry that wrote some of them: their limits hold for these.
    runs: Vec<Spec>,
}

/// A test that was there already.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundTest {
    pub name: String,
    /// File, and line where it has several.
    pub origin: String,
    pub given: Given,
}

/// What a test gives, as its form says it.
#[derive(Clone, Debug, PartialEq)]
pub enum Given {
    /// To a whole program.
    Invocation(Invocation),
    /// By parameter, as in Quarry's own tests.
    Json(Value),
    /// Bytes for the harness of a fuzzer.
    Bytes(Vec<u8>),
    /// Objects by name, and the program's own arguments.
    Objects(ktest::KTest),
    /// What calls give, in their order.
    Results(Vec<testcomp::NondetResult>),
}

/// A test that is not imported.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct LeftOut {
    pub name: String,
    pub origin: String,
    pub why: String,
}

/// How tests are written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// An output directory of Quarry, or a directory of its tests.
    Quarry,
    /// One file with JSON.
    Json,
    /// A command line per line.
    Lines,
    /// A shell script that calls the program.
    Script,
    /// A directory that AFL++ works in.
    Afl,
    /// A directory of files that are inputs as they are.
    Corpus,
    /// KLEE's files.
    KTest,
    /// Test-Comp's exchange format, as a directory, a zip archive or one test.
    TestComp,
    /// Programs in C or C++ that call the function.
    C,
}

/// Reads all tests that a spec names; paths start at `root`.
pub fn read(spec: &Spec, root: &Path) -> Result<Found, Error> {
    let mut found = Found::default();
    let is_program = spec.subject.program.is_some();
    for place in &spec.tests.tests {
        let path = root.join(place);
        if !path.exists() {
            return Err(Error::usage(format!("cannot find the tests {}", place.display()))
                .help("--tests names a file or directory with tests (see docs/commands/import.md)"));
        }
        let programs =
            spec.tests.command.iter().cloned().chain(spec.sources.files.iter().map(|file| stem(file)));
        let reading =
            Reading { place, path: &path, asked: &spec.tests, is_program, programs: programs.collect() };
        let form = match spec.tests.form {
            Some(asked) => Form::asked(asked, &path),
            None => form(&path, is_program)?,
        };
        reading.read(form, &mut found)?;
    }
    distinguish(&mut found.tests);
    limits::share_files(&mut found);
    Ok(found)
}

/// A place with tests that is being read.
struct Reading<'a> {
    /// As it was named.
    place: &'a Path,
    path: &'a Path,
    asked: &'a TestsSpec,
    is_program: bool,
    /// What the program may be called in scripts.
    programs: Vec<String>,
}

impl Reading<'_> {
    fn read(&self, form: Form, found: &mut Found) -> Result<(), Error> {
        match form {
            Form::Quarry => suite::read(self, found),
            Form::Json => suite::read_file(self, found),
            Form::Lines => lines::read(self, found),
            Form::Script => script::read(self, found),
            Form::Afl => corpus::read_afl(self, found),
            Form::Corpus => corpus::read(self, found),
            Form::KTest => ktest::read(self, found),
            Form::TestComp => testcomp::read(self, found),
            Form::C => calls::read(self, found),
        }
    }

    /// A file below the place, as a person would name it.
    fn origin(&self, file: &Path) -> String {
        let below = file.strip_prefix(self.path).unwrap_or(Path::new(""));
        let origin =
            if below.as_os_str().is_empty() { self.place.to_owned() } else { self.place.join(below) };
        origin.display().to_string()
    }

    fn left_out(&self, file: &Path, why: impl ToString) -> LeftOut {
        LeftOut { name: stem(file), origin: self.origin(file), why: why.to_string() }
    }
}

impl Form {
    /// As the user says.
    fn asked(asked: FormSpec, path: &Path) -> Self {
        match asked {
            FormSpec::Json if path.is_dir() => Self::Quarry,
            FormSpec::Json => Self::Json,
            FormSpec::Lines => Self::Lines,
            FormSpec::Script => Self::Script,
            FormSpec::Corpus if corpus::is_afl(path) => Self::Afl,
            FormSpec::Corpus => Self::Corpus,
            FormSpec::Ktest => Self::KTest,
            FormSpec::Testcomp => Self::TestComp,
            FormSpec::C => Self::C,
        }
    }
}

/// How the tests at a path are written down, judging by names and by how a file begins.
fn form(path: &Path, is_program: bool) -> Result<Form, Error> {
    let has_extension = |file: &Path, extension: &str| file.extension().is_some_and(|it| it == extension);
    if path.is_dir() {
        let files = files_in(path)?;
        let any = |extension: &str| files.iter().any(|file| has_extension(file, extension));
        let is_quarrys = path.join("tests").is_dir() || path.join(crate::store::output::RUN_FILE).is_file();
        return Ok(if is_quarrys {
            Form::Quarry
        } else if corpus::is_afl(path) {
            Form::Afl
        } else if any("ktest") {
            Form::KTest
        } else if path.join("metadata.xml").is_file() || files.iter().any(|file| testcomp::is_testcase(file))
        {
            Form::TestComp
        } else if !is_program && files.iter().any(|file| calls::is_source(file)) {
            Form::C
        } else if any("json") && (!is_program || files.iter().any(|file| suite::is_invocation(file))) {
            // documents that a program reads are a corpus
            Form::Quarry
        } else {
            Form::Corpus
        });
    }
    Ok(if has_extension(path, "ktest") {
        Form::KTest
    } else if has_extension(path, "zip") || has_extension(path, "xml") {
        Form::TestComp
    } else if has_extension(path, "json") {
        Form::Json
    } else if calls::is_source(path) {
        Form::C
    } else if script::is_script(path) {
        Form::Script
    } else {
        Form::Lines
    })
}

/// The regular files of a directory, sorted by name; hidden ones are not anybody's tests.
fn files_in(directory: &Path) -> Result<Vec<PathBuf>, Error> {
    let unreadable = |error| Error::usage(format!("cannot read {}: {error}", directory.display()));
    let mut files = Vec::new();
    for entry in std::fs::read_dir(directory).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        let is_hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        if path.is_file() && !is_hidden {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn read_bytes(file: &Path) -> Result<Vec<u8>, String> {
    std::fs::read(file).map_err(|error| format!("cannot be read: {error}"))
}

/// A file's name without its extension.
fn stem(file: &Path) -> String {
    file.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// Gives tests of the same name numbers, so that each can be told apart.
fn distinguish(tests: &mut [FoundTest]) {
    let mut used = BTreeSet::new();
    for test in tests {
        let first = test.name.clone();
        let mut number = 1;
        while !used.insert(test.name.clone()) {
            number += 1;
            test.name = format!("{first}_{number}");
        }
    }
}

/// A name as part of a file's name.
pub fn file_stem(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let stem: String = name.chars().map(|c| if is_plain(c) { c } else { '_' }).collect();
    if stem.is_empty() || stem.starts_with(['.', '-']) { format!("test_{stem}") } else { stem }
}
