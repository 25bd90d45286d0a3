//! Each unit's marked text to LLVM code, by clang, two at a time.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
    path::{Path, PathBuf},
    process::Command,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use tracing::{debug, info_span};

use super::BuildError;
use crate::{
    clang::{ClangError, LENIENT, clang, failure},
    compilers,
    marks::{Marks, Unit},
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

/// Compilers that run at a time.
const AT_A_TIME: usize = 2;

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

/// Compiles all units; the result has their order.
pub(super) fn units(
    marks: &Marks,
    harness: Option<AppendedCode<'_>>,
    stubs: &BTreeMap<usize, String>,
    work_dir: &Path,
    product: Product,
) -> Result<Vec<PathBuf>, BuildError> {
    let own = own_functions(marks);
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::new());
    let worker = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(unit) = marks.units.get(number) else {
                return;
            };
            let harness = harness.filter(|harness| harness.unit == number).map(|harness| harness.text);
            let added = [harness, stubs.get(&number).map(String::as_str)].into_iter().flatten();
            let added = added.collect::<Vec<_>>().concat();
            let output = work_dir.join(format!("unit{number}.{}", product.extension));
            let result = compile(unit, &own, &added, product, &output);
            results.lock().expect("no compiling thread panics").push((number, result));
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..AT_A_TIME.min(marks.units.len()) {
            scope.spawn(worker);
        }
    });
    let mut results = results.into_inner().expect("no compiling thread panics");
    results.sort_by_key(|(number, _)| *number);
    results.into_iter().map(|(_, result)| result).collect()
}

/// Flags by which a call of a function that the program defines is a call of it, whatever the compiler knows of its name.
fn own_functions(marks: &Marks) -> Vec<String> {
    let names: BTreeSet<&str> =
        marks.declarations.functions.iter().map(|function| function.key.name.as_str()).collect();
    names.into_iter().map(|name| format!("-fno-builtin-{name}")).collect()
}

fn compile(
    unit: &Unit,
    own: &[String],
    added: &str,
    product: Product,
    output: &Path,
) -> Result<PathBuf, BuildError> {
    let _span = info_span!("compile", file = %unit.source.display()).entered();
    let text = if added.is_empty() { unit.text.clone() } else { with_added(unit, added, output)? };
    let mut command = clang(&unit.directory);
    command.args(&unit.flags).args(LENIENT).args(product.flags).args(own);
    command.args(["-x", "cpp-output"]).arg(&text).arg("-o").arg(output);
    run(&mut command, &unit.source)?;
    Ok(output.to_owned())
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
