//! The runtime, and other C that is part of this program, as bitcode for the target of the program under test.
//!
//! clang compiles the sources once per set of flags, and the result is kept under a name made from what went in.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::InstrumentError;

const SOURCES: &[(&str, &str)] = &[
    ("quarry.c", include_str!("../../../../runtime/quarry.c")),
    ("quarry.h", include_str!("../../../../runtime/quarry.h")),
    ("quarry_wire.h", include_str!("../../../../runtime/quarry_wire.h")),
    ("log.c", include_str!("../../../../runtime/log.c")),
    ("nodes.c", include_str!("../../../../runtime/nodes.c")),
    ("arithmetic.c", include_str!("../../../../runtime/arithmetic.c")),
    ("floats.c", include_str!("../../../../runtime/floats.c")),
    ("memory.c", include_str!("../../../../runtime/memory.c")),
    ("extents.c", include_str!("../../../../runtime/extents.c")),
    ("ranges.c", include_str!("../../../../runtime/ranges.c")),
    ("access.c", include_str!("../../../../runtime/access.c")),
    ("strings.c", include_str!("../../../../runtime/strings.c")),
    ("calls.c", include_str!("../../../../runtime/calls.c")),
    ("input.c", include_str!("../../../../runtime/input.c")),
    ("objects.c", include_str!("../../../../runtime/objects.c")),
    ("sandbox.c", include_str!("../../../../runtime/sandbox.c")),
    ("tries.c", include_str!("../../../../runtime/tries.c")),
    ("server.c", include_str!("../../../../runtime/server.c")),
    ("program.c", include_str!("../../../../runtime/program.c")),
    ("program.h", include_str!("../../../../runtime/library/program.h")),
];

const FLAGS: &[&str] = &[
    "-O2",
    "-std=gnu11",
    "-w",
    "-fno-builtin",
    "-fno-stack-protector",
    "-fno-strict-aliasing",
    "-fno-pic",
    "-emit-llvm",
    "-c",
];

/// C sources that are part of this program, and how they are compiled.
#[derive(Clone, Copy, Debug, Hash)]
pub struct Embedded {
    /// What they are together; compiled code is kept under this name.
    pub name: &'static str,
    /// Names and texts; the first includes the others.
    pub sources: &'static [(&'static str, &'static str)],
    pub flags: &'static [&'static str],
}

const RUNTIME: Embedded = Embedded { name: "runtime", sources: SOURCES, flags: FLAGS };

/// The clang that compiles program and runtime alike.
pub const CLANG: &str = "clang-19";

/// Compiles the runtime for `target_flags` (such as `-m32`), or finds it in `cache_dir`.
pub fn runtime_bitcode(target_flags: &[String], cache_dir: &Path) -> Result<PathBuf, InstrumentError> {
    embedded_bitcode(RUNTIME, target_flags, cache_dir)
}

/// Compiles embedded sources for `target_flags`, or finds their code in `cache_dir`.
pub fn embedded_bitcode(
    embedded: Embedded,
    target_flags: &[String],
    cache_dir: &Path,
) -> Result<PathBuf, InstrumentError> {
    let mut hasher = DefaultHasher::new();
    (embedded, target_flags).hash(&mut hasher);
    let bitcode = cache_dir.join(format!("{}-{:016x}.bc", embedded.name, hasher.finish()));
    if bitcode.exists() {
        return Ok(bitcode);
    }
    let file_error = |act| {
        let path = cache_dir.to_owned();
        move |source| InstrumentError::File { act, path, source }
    };
    std::fs::create_dir_all(cache_dir).map_err(file_error("create"))?;
    let directory = tempfile::tempdir_in(cache_dir).map_err(file_error("create a directory in"))?;
    for (name, text) in embedded.sources {
        std::fs::write(directory.path().join(name), text).map_err(file_error("write C sources to"))?;
    }
    let (first, _) = embedded.sources[0];
    let mut command = Command::new(CLANG);
    command.current_dir(directory.path());
    command.args(embedded.flags).args(target_flags).args([first, "-o", "made.bc"]);
    run(&mut command, "compile what programs are linked with")?;
    // renamed whole: another process may look for it meanwhile
    std::fs::rename(directory.path().join("made.bc"), &bitcode)
        .map_err(file_error("keep compiled code in"))?;
    Ok(bitcode)
}

/// Runs a compiler; its messages are the error.
pub fn run(command: &mut Command, act: &'static str) -> Result<(), InstrumentError> {
    tracing::debug!(?command);
    let path = PathBuf::from(command.get_program());
    let output = command.output().map_err(|source| InstrumentError::File { act: "run", path, source })?;
    if output.status.success() {
        return Ok(());
    }
    Err(InstrumentError::Compiler { act, output: String::from_utf8_lossy(&output.stderr).into_owned() })
}
