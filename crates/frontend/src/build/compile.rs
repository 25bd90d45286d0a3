//! Each unit's marked text to code, by clang, two at a time.
//!
//! Harness and stubs are compiled apart from the unit, behind what it declares, so that the unit's own code is made once for all functions of
//! it. All code is kept in the cache by the text it is made of: when a file changes, only its own unit is compiled again. A small unit is compiled with what is added to it: that takes one compiler less. Objects cannot be put together afterwards where a harness names what is `static`: there
//! the unit is compiled with what is added to it.

use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    path::{Path, PathBuf},
    process::Command,
};

use cache::{Cache, Entry};
use tracing::{debug, info_span};

use super::{AT_A_TIME, BuildError};
use crate::{
    clang::{ClangError, LENIENT, clang, failure},
    compilers::{self, in_parallel},
    declarations,
    instrument::SystemSymbols,
    marks::{Marks, Unit},
    tools,
};

/// Code appended to a unit.
#[derive(Clone, Copy, Debug)]
pub struct AppendedCode<'a> {
    /// Index into [`Marks::units`].
    pub unit: usize,
    pub text: &'a str,
}

/// Name that compiler messages and debug information give to what is added.
pub const HARNESS_FILE: &str = "quarry-harness.c";

/// The same for what a unit declares, where it stands without its code.
const DECLARATIONS_FILE: &str = "quarry-declarations.c";

/// Flags that make code fit for lowering and instrumentation.
const CODE: &[&str] = &[
    "-c",
    "-emit-llvm",
    "-g",
    // Every statement and condition as written, but open to later passes.
    "-O0",
    "-Xclang",
    "-disable-O0-optnone",
    // Even at -O0 clang would inline `always_inline` functions, and their conditions would stand in others.
    "-Xclang",
    "-disable-llvm-passes",
    // Bit-fields by the bytes that hold them: as one integer a run of them can be wider than the model's widest.
    "-ffine-grained-bitfield-accesses",
    // What the machine does, not what the standard leaves undefined.
    "-fwrapv",
    "-fno-strict-aliasing",
    "-fno-delete-null-pointer-checks",
    // Numbers as IEEE 754 has them, whatever -ffast-math permits: one operation, one rounding.
    "-ffp-model=precise",
    "-fdenormal-fp-math=ieee",
    "-ffp-contract=off",
];

/// Also `static` functions that nothing calls: a harness or a goal may.
const ALL: &[&str] = &["-Xclang", "-femit-all-decls"];

/// What a unit's text is compiled to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Product {
    flags: &'static [&'static str],
    /// Whether what is added to a unit is compiled with it.
    is_whole: bool,
}

/// Code that is lowered and instrumented.
pub(super) const BITCODE: Product = Product { flags: CODE, is_whole: false };

/// Objects that sanitizers observe.
pub(super) const SANITIZED: Product = Product {
    flags: &[
        "-c",
        "-g",
        // nothing that reads or writes may be left out
        "-O0",
        "-fno-omit-frame-pointer",
        "-fsanitize=address,undefined",
    ],
    is_whole: true,
};

/// The units of a program, and what is added to them.
#[derive(Clone, Copy)]
pub(super) struct Units<'a> {
    pub(super) marks: &'a Marks,
    /// Those to compile; all when none are named.
    pub(super) chosen: Option<&'a BTreeSet<usize>>,
    pub(super) harness: Option<AppendedCode<'a>>,
    pub(super) stubs: &'a BTreeMap<usize, String>,
    pub(super) cache: &'a Cache,
}

/// A compiled unit.
pub(super) struct CompiledUnit {
    /// Index into [`Marks::units`].
    pub(super) unit: usize,
    entry: Entry,
    /// What is added to it, if that is apart.
    added: Option<Entry>,
}

impl CompiledUnit {
    pub(super) fn file(&self) -> PathBuf {
        self.entry.file(FILE)
    }

    /// The file with what is added to it, if that is apart.
    pub(super) fn added(&self) -> Option<PathBuf> {
        self.added.as_ref().map(|entry| entry.file(FILE))
    }
}

/// The kinds of entries that have compiled code of a unit, alone or with what is added to it, and of that alone; and their file.
const UNIT: &str = "unit";
const ADDED: &str = "harness";
const FILE: &str = "unit";

/// Compiles the units of a program; the result has their order.
pub(super) fn units(
    units: &Units<'_>,
    work_dir: &Path,
    product: Product,
) -> Result<Vec<CompiledUnit>, BuildError> {
    let chosen: Vec<usize> = (0..units.marks.units.len())
        .filter(|unit| units.chosen.is_none_or(|chosen| chosen.contains(unit)))
        .collect();
    let own = own_functions(units.marks);
    let compiled = in_parallel(&chosen, AT_A_TIME, |&number| {
        let (unit, added) = (&units.marks.units[number], units.added(number));
        let source = Source { unit, own: &own, product, cache: units.cache, work_dir, number };
        if (product.is_whole || is_small(unit)) && !added.is_empty() {
            return source.whole(&added);
        }
        let added = if added.is_empty() { None } else { Some(source.added(&added)?) };
        Ok(CompiledUnit { added, ..source.alone()? })
    });
    compiled.into_iter().collect()
}

/// Tokens in the functions of a unit that are compiled in less time than it takes to start a compiler.
const SMALL: u32 = 5_000;

/// Whether a unit is compiled again with all that is added to it sooner than what is added is apart.
fn is_small(unit: &Unit) -> bool {
    unit.bodies.iter().map(|(first, last)| last - first).sum::<u32>() <= SMALL
}

/// The functions that the program defines.
fn own_functions(marks: &Marks) -> BTreeSet<&str> {
    marks.declarations.functions.iter().map(|function| function.key.name.as_str()).collect()
}

/// Flags by which a call of a function that the program defines is a call of it, whatever the compiler knows of its name. It knows names of C's
/// libraries, also where the code does not name them; others count only where they are named, so that a unit stays the same when
/// another one has a function more.
fn own_flags(own: &BTreeSet<&str>, texts: &[&[u8]]) -> Vec<String> {
    let is_of_name =
        |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte == b'$' || !byte.is_ascii();
    let words = texts.iter().flat_map(|text| text.split(|byte| !is_of_name(byte)));
    let named: HashSet<&[u8]> = words.collect();
    let system = SystemSymbols::get();
    let is_of_system = |name: &str| system.is_none_or(|system| system.defines(name));
    let counts = |name: &&&str| named.contains(name.as_bytes()) || is_of_system(name);
    own.iter().filter(counts).map(|name| format!("-fno-builtin-{name}")).collect()
}

impl Units<'_> {
    /// What is added to a unit.
    fn added(&self, number: usize) -> String {
        let harness = self.harness.filter(|harness| harness.unit == number).map(|harness| harness.text);
        [harness, self.stubs.get(&number).map(String::as_str)].into_iter().flatten().collect()
    }

    /// Compiles a unit together with what is added to it.
    pub(super) fn whole(
        &self,
        number: usize,
        work_dir: &Path,
        product: Product,
    ) -> Result<CompiledUnit, BuildError> {
        let (unit, own) = (&self.marks.units[number], &own_functions(self.marks));
        let source = Source { unit, own, product, cache: self.cache, work_dir, number };
        source.whole(&self.added(number))
    }
}

/// A unit and what it is compiled to. What is compiled is kept by the text that it is made of.
struct Source<'a> {
    unit: &'a Unit,
    own: &'a BTreeSet<&'a str>,
    product: Product,
    cache: &'a Cache,
    /// Where texts go that are put together, by the number of the unit.
    work_dir: &'a Path,
    number: usize,
}

impl Source<'_> {
    /// The unit alone.
    fn alone(&self) -> Result<CompiledUnit, BuildError> {
        let text = std::fs::read(&self.unit.text).map_err(reading(self.unit))?;
        let own = own_flags(self.own, &[&text]);
        let entry = self.kept(UNIT, &[&text], &own, |output| {
            let _span = info_span!("compile", file = %self.unit.source.display()).entered();
            compile(self.unit, &self.unit.text, &own, &[self.product.flags, ALL], output)
        })?;
        Ok(self.compiled(entry))
    }

    /// The unit and what is added to it as one.
    fn whole(&self, added: &str) -> Result<CompiledUnit, BuildError> {
        let text = std::fs::read(&self.unit.text).map_err(reading(self.unit))?;
        let own = own_flags(self.own, &[&text, added.as_bytes()]);
        let entry = self.kept(UNIT, &[&text, added.as_bytes()], &own, |output| {
            let _span = info_span!("compile", file = %self.unit.source.display()).entered();
            let file = self.work_dir.join(format!("unit{}.i", self.number));
            // lines of the text keep their file and number
            write_joined(&file, &self.unit.text.to_string_lossy(), &text, added)?;
            compile(self.unit, &file, &own, &[self.product.flags, ALL], output)
        })?;
        Ok(self.compiled(entry))
    }

    /// What is added to the unit, without it.
    fn added(&self, added: &str) -> Result<Entry, BuildError> {
        let declarations = declarations::of(self.unit).map_err(reading(self.unit))?;
        let own = own_flags(self.own, &[&declarations, added.as_bytes()]);
        self.kept(ADDED, &[&declarations, added.as_bytes()], &own, |output| {
            let _span = info_span!("compile harness").entered();
            let file = self.work_dir.join(format!("added{}.i", self.number));
            write_joined(&file, DECLARATIONS_FILE, &declarations, added)?;
            compile(self.unit, &file, &own, &[self.product.flags], output)
        })
    }

    /// What is compiled of some texts, from the cache or by `compile`, which is given the file to write.
    fn kept(
        &self,
        kind: &'static str,
        texts: &[&[u8]],
        own: &[String],
        compile: impl FnOnce(&Path) -> Result<(), BuildError>,
    ) -> Result<Entry, BuildError> {
        // debug information names the text and the directory
        let paths = [&self.unit.text, &self.unit.directory].map(|path| path.as_os_str().as_encoded_bytes());
        let key = tools::key().parts("texts", texts).parts("paths", paths);
        let key = key.parts("product", self.product.flags).parts("flags", &self.unit.flags).parts("own", own);
        self.cache.get_or_make(kind, &key, |directory| compile(&directory.join(FILE)))
    }

    fn compiled(&self, entry: Entry) -> CompiledUnit {
        CompiledUnit { unit: self.number, entry, added: None }
    }
}

fn compile(
    unit: &Unit,
    text: &Path,
    own: &[String],
    flags: &[&[&str]],
    output: &Path,
) -> Result<(), BuildError> {
    let mut command = clang(&unit.directory);
    command.args(&unit.flags).args(LENIENT).args(flags.concat()).args(own);
    command.args(["-x", "cpp-output"]).arg(text).arg("-o").arg(output);
    Ok(run(&mut command, &unit.source)?)
}

/// Writes a file with a text that is called `name` and further code behind it.
fn write_joined(file: &Path, name: &str, text: &[u8], added: &str) -> Result<(), BuildError> {
    let (first, second) = (line_marker(name), line_marker(HARNESS_FILE));
    let parts = [first.as_bytes(), text, b"\n", second.as_bytes(), added.as_bytes(), b"\n"];
    std::fs::write(file, parts.concat()).map_err(|error| BuildError::File {
        act: "write",
        file: file.to_owned(),
        error,
    })
}

fn reading(unit: &Unit) -> impl Fn(std::io::Error) -> BuildError {
    let file = unit.text.clone();
    move |error| BuildError::File { act: "read", file: file.clone(), error }
}

/// Tells the compiler that the next line is the first of `file`.
fn line_marker(file: &str) -> String {
    format!("# 1 \"{}\"\n", file.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Runs a compiler on `source`.
pub(super) fn run(command: &mut Command, source: &Path) -> Result<(), ClangError> {
    debug!(?command);
    let output = compilers::output(command).map_err(ClangError::NotRun)?;
    if output.status.success() { Ok(()) } else { Err(failure(source, &output)) }
}
