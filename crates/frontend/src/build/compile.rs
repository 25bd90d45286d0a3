//! Each unit's marked text to LLVM code, by clang, two at a time; what nothing is added to is kept in the cache.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
    path::{Path, PathBuf},
    process::Command,
};

use cache::{Cache, Entry};
use tracing::{debug, info_span};

use super::{BuildError, in_parallel};
use crate::{
    clang::{ClangError, LENIENT, clang, failure},
    compilers,
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
    // Also `static` functions that nothing calls: a harness or a goal may.
    "-Xclang",
    "-femit-all-decls",
    // What the machine does, not what the standard leaves undefined.
    "-fwrapv",
    "-fno-strict-aliasing",
    "-fno-delete-null-pointer-checks",
    // Numbers as IEEE 754 has them, whatever -ffast-math permits: one operation, one rounding.
    "-ffp-model=precise",
    "-fdenormal-fp-math=ieee",
    "-ffp-contract=off",
];

/// What a unit's text is compiled to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Product {
    flags: &'static [&'static str],
    extension: &'static str,
}

/// Code that is lowered and instrumented.
pub(super) const BITCODE: Product = Product { flags: CODE, extension: "bc" };

/// Objects that sanitizers observe.
pub(super) const SANITIZED: Product = Product {
    flags: &[
        "-c",
        "-g",
        // nothing that reads or writes may be left out
        "-O0",
        "-Xclang",
        "-femit-all-decls",
        "-fno-omit-frame-pointer",
        "-fsanitize=address,undefined",
    ],
    extension: "o",
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
    let Units { marks, chosen, harness, stubs, cache } = *units;
    let own = own_functions(marks);
    let chosen: Vec<usize> =
        (0..marks.units.len()).filter(|unit| chosen.is_none_or(|chosen| chosen.contains(unit))).collect();
    let compiled = in_parallel(&chosen, |&number| {
        let unit = &marks.units[number];
        let harness = harness.filter(|harness| harness.unit == number).map(|harness| harness.text);
        let added = [harness, stubs.get(&number).map(String::as_str)].into_iter().flatten();
        let added = added.collect::<Vec<_>>().concat();
        let (file, _entry) = if added.is_empty() {
            kept(unit, &own, product, cache)?
        } else {
            let output = work_dir.join(format!("unit{number}.{}", product.extension));
            compile(unit, &own, &added, product, &output)?;
            (output, None)
        };
        Ok(CompiledUnit { unit: number, file, _entry })
    });
    compiled.into_iter().collect()
}

/// Flags by which a call of a function that the program defines is a call of it, whatever the compiler knows of its name.
fn own_functions(marks: &Marks) -> Vec<String> {
    let names: BTreeSet<&str> =
        marks.declarations.functions.iter().map(|function| function.key.name.as_str()).collect();
    names.into_iter().map(|name| format!("-fno-builtin-{name}")).collect()
}

/// A unit to which nothing is added, from the cache or compiled.
fn kept(
    unit: &Unit,
    own: &[String],
    product: Product,
    cache: &Cache,
) -> Result<(PathBuf, Option<Entry>), BuildError> {
    let text = std::fs::read(&unit.text).map_err(|error| BuildError::File {
        act: "read",
        file: unit.text.clone(),
        error,
    })?;
    // debug information names the text and the directory
    let paths = [&unit.text, &unit.directory].map(|path| path.as_os_str().as_encoded_bytes());
    let key = tools::key().part("text", text).parts("paths", paths).parts("product", product.flags);
    let key = key.parts("flags", &unit.flags).parts("own", own);
    let make = |directory: &Path| compile(unit, own, "", product, &directory.join(FILE));
    let entry = cache.get_or_make(KIND, &key, make)?;
    Ok((entry.file(FILE), Some(entry)))
}

fn compile(
    unit: &Unit,
    own: &[String],
    added: &str,
    product: Product,
    output: &Path,
) -> Result<(), BuildError> {
    let _span = info_span!("compile", file = %unit.source.display()).entered();
    let text = if added.is_empty() { unit.text.clone() } else { with_added(unit, added, output)? };
    let mut command = clang(&unit.directory);
    command.args(&unit.flags).args(LENIENT).args(product.flags).args(own);
    command.args(["-x", "cpp-output"]).arg(&text).arg("-o").arg(output);
    Ok(run(&mut command, &unit.source)?)
}

/// The unit's text with further code behind it; lines of the text keep their file and number.
fn with_added(unit: &Unit, added: &str, output: &Path) -> Result<PathBuf, BuildError> {
    let text = std::fs::read_to_string(&unit.text).map_err(|error| BuildError::File {
        act: "read",
        file: unit.text.clone(),
        error,
    })?;
    let mut joined = line_marker(&unit.text.to_string_lossy());
    write!(joined, "{text}\n{}{added}\n", line_marker(HARNESS_FILE))
        .expect("writing to a string does not fail");
    let file = output.with_extension("i");
    std::fs::write(&file, joined).map_err(|error| BuildError::File {
        act: "write",
        file: file.clone(),
        error,
    })?;
    Ok(file)
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
