//! Each unit's marked text to code, by clang, two at a time.
//!
//! Harness and stubs are compiled apart from the unit, behind what it declares, so that the unit's own code is made once for all functions of
//! it and kept in the cache. A small unit is compiled with what is added to it: that takes one compiler less. Objects cannot be put together afterwards where a harness names what is `static`: there
//! the unit is compiled with what is added to it.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    process::Command,
};

use cache::{Cache, Entry};
use tracing::{debug, info_span};

use super::{BuildError, in_parallel};
use crate::{
    clang::{ClangError, LENIENT, clang, failure},
    compilers, declarations,
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
    extension: &'static str,
    /// Whether what is added to a unit is compiled with it.
    is_whole: bool,
}

/// Code that is lowered and instrumented.
pub(super) const BITCODE: Product = Product { flags: CODE, extension: "bc", is_whole: false };

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
    extension: "o",
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
    pub(super) file: PathBuf,
    /// What is added to it, if that is apart.
    pub(super) added: Option<PathBuf>,
    /// Has the file, if it is of the cache.
    _entry: Option<Entry>,
}

/// The kind of entry that has a compiled unit, and its file.
const KIND: &str = "unit";
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
    let compiled = in_parallel(&chosen, |&number| {
        let added = units.added(number);
        let is_whole = product.is_whole || is_small(&units.marks.units[number]);
        if is_whole && !added.is_empty() {
            compile_whole(&units.marks.units[number], &own, &added, product, work_dir, number)
                .map(|file| CompiledUnit { unit: number, file, added: None, _entry: None })
        } else {
            compile_apart(units, number, &own, &added, product, work_dir)
        }
    });
    compiled.into_iter().collect()
}

/// Tokens in the functions of a unit that are compiled in less time than it takes to start a compiler.
const SMALL: u32 = 5_000;

/// Whether a unit is compiled again with all that is added to it sooner than what is added is apart.
fn is_small(unit: &Unit) -> bool {
    unit.bodies.iter().map(|(first, last)| last - first).sum::<u32>() <= SMALL
}

/// Flags by which a call of a function that the program defines is a call of it, whatever the compiler knows of its name.
fn own_functions(marks: &Marks) -> Vec<String> {
    let names: BTreeSet<&str> =
        marks.declarations.functions.iter().map(|function| function.key.name.as_str()).collect();
    names.into_iter().map(|name| format!("-fno-builtin-{name}")).collect()
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
    ) -> Result<PathBuf, BuildError> {
        let own = own_functions(self.marks);
        compile_whole(&self.marks.units[number], &own, &self.added(number), product, work_dir, number)
    }
}

/// A unit alone, from the cache or compiled, and what is added to it.
fn compile_apart(
    units: &Units<'_>,
    number: usize,
    own: &[String],
    added: &str,
    product: Product,
    work_dir: &Path,
) -> Result<CompiledUnit, BuildError> {
    let unit = &units.marks.units[number];
    let entry = kept(unit, own, product, units.cache)?;
    let output = work_dir.join(format!("added{number}.{}", product.extension));
    let added =
        (!added.is_empty()).then(|| compile_added(unit, own, added, product, &output).map(|()| output));
    Ok(CompiledUnit { unit: number, file: entry.file(FILE), added: added.transpose()?, _entry: Some(entry) })
}

/// A unit to which nothing is added, from the cache or compiled.
fn kept(unit: &Unit, own: &[String], product: Product, cache: &Cache) -> Result<Entry, BuildError> {
    let text = std::fs::read(&unit.text).map_err(reading(unit))?;
    // debug information names the text and the directory
    let paths = [&unit.text, &unit.directory].map(|path| path.as_os_str().as_encoded_bytes());
    let key = tools::key().part("text", text).parts("paths", paths).parts("product", product.flags);
    let key = key.parts("flags", &unit.flags).parts("own", own);
    let make = |directory: &Path| {
        let _span = info_span!("compile", file = %unit.source.display()).entered();
        compile(unit, &unit.text, own, &[product.flags, ALL], &directory.join(FILE))
    };
    cache.get_or_make(KIND, &key, make)
}

/// Compiles what is added to a unit, without the unit.
fn compile_added(
    unit: &Unit,
    own: &[String],
    added: &str,
    product: Product,
    output: &Path,
) -> Result<(), BuildError> {
    let _span = info_span!("compile harness").entered();
    let declarations = declarations::of(unit).map_err(reading(unit))?;
    let text = joined(DECLARATIONS_FILE, &declarations, added, output)?;
    compile(unit, &text, own, &[product.flags], output)
}

/// Compiles a unit and what is added to it as one.
fn compile_whole(
    unit: &Unit,
    own: &[String],
    added: &str,
    product: Product,
    work_dir: &Path,
    number: usize,
) -> Result<PathBuf, BuildError> {
    let _span = info_span!("compile", file = %unit.source.display()).entered();
    let output = work_dir.join(format!("unit{number}.{}", product.extension));
    let text = std::fs::read(&unit.text).map_err(reading(unit))?;
    // lines of the text keep their file and number
    let text = joined(&unit.text.to_string_lossy(), &text, added, &output)?;
    compile(unit, &text, own, &[product.flags, ALL], &output)?;
    Ok(output)
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

/// A file beside `output` with a text that is called `name` and further code behind it.
fn joined(name: &str, text: &[u8], added: &str, output: &Path) -> Result<PathBuf, BuildError> {
    let (first, second) = (line_marker(name), line_marker(HARNESS_FILE));
    let parts = [first.as_bytes(), text, b"\n", second.as_bytes(), added.as_bytes(), b"\n"];
    let file = output.with_extension("i");
    match std::fs::write(&file, parts.concat()) {
        Ok(()) => Ok(file),
        Err(error) => Err(BuildError::File { act: "write", file, error }),
    }
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
