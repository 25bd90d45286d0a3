//! The runtime, and other C that is part of this program, as bitcode for the target of the program under test.
//!
//! clang compiles the sources once per set of flags, and the result is kept in the cache. Of the runtime an object is kept, and
//! apart from it the code that is inlined.

use std::path::{Path, PathBuf};
use std::process::Command;

use cache::{Cache, Entry, Key};
use inkwell::context::Context;
use inkwell::module::Module;

use super::InstrumentError;
use super::code::{Effort, write_object};
use super::parts::{keep_inlined, share};
use crate::clang::CLANG;
use crate::compilers;
use crate::tools;

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
    ("unfollowed.c", include_str!("../../../../runtime/unfollowed.c")),
    ("input.c", include_str!("../../../../runtime/input.c")),
    ("objects.c", include_str!("../../../../runtime/objects.c")),
    ("sandbox.c", include_str!("../../../../runtime/sandbox.c")),
    ("tries.c", include_str!("../../../../runtime/tries.c")),
    ("reuse.c", include_str!("../../../../runtime/reuse.c")),
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
#[derive(Clone, Copy, Debug)]
pub struct Embedded {
    /// What they are together: the kind of the entry that has the code.
    pub name: &'static str,
    /// Names and texts; the first includes the others.
    pub sources: &'static [(&'static str, &'static str)],
    pub flags: &'static [&'static str],
}

const RUNTIME: Embedded = Embedded { name: "runtime", sources: SOURCES, flags: FLAGS };

/// The file of an entry of the cache that has compiled code.
pub const BITCODE: &str = "made.bc";

/// The files of the entry that has the runtime: what is inlined, and the rest.
pub const INLINED: &str = "inlined.bc";
pub const OBJECT: &str = "runtime.o";

/// Compiles the runtime for `target_flags` (such as `-m32`) to [`INLINED`] and [`OBJECT`], or finds it in the cache.
pub fn runtime(target_flags: &[String], cache: &Cache) -> Result<Entry, InstrumentError> {
    cache.get_or_make(RUNTIME.name, &key(RUNTIME, target_flags), |directory| {
        compile(RUNTIME, target_flags, directory)?;
        let bitcode = directory.join(BITCODE);
        let context = Context::create();
        let llvm = |message: String| InstrumentError::Llvm { act: "read the runtime", message };
        let module = Module::parse_bitcode_from_path(&bitcode, &context)
            .map_err(|message| llvm(message.to_string()))?;
        share(&module);
        write_object(&module, Effort::Optimised, &directory.join(OBJECT))?;
        keep_inlined(&module)?;
        module.write_bitcode_to_path(directory.join(INLINED));
        std::fs::remove_file(&bitcode).map_err(|source| InstrumentError::File {
            act: "remove",
            path: bitcode,
            source,
        })
    })
}

/// Compiles embedded sources for `target_flags` to [`BITCODE`], or finds it in the cache.
pub fn embedded_bitcode(
    embedded: Embedded,
    target_flags: &[String],
    cache: &Cache,
) -> Result<Entry, InstrumentError> {
    cache.get_or_make(embedded.name, &key(embedded, target_flags), |directory| {
        compile(embedded, target_flags, directory)
    })
}

fn key(embedded: Embedded, target_flags: &[String]) -> Key {
    let texts = embedded.sources.iter().flat_map(|(name, text)| [*name, *text]);
    tools::key().parts("sources", texts).parts("flags", embedded.flags).parts("target", target_flags)
}

fn compile(embedded: Embedded, target_flags: &[String], output: &Path) -> Result<(), InstrumentError> {
    let file_error = |act| {
        let path = output.to_owned();
        move |source| InstrumentError::File { act, path, source }
    };
    // elsewhere: what is kept is the code alone
    let directory = tempfile::tempdir().map_err(file_error("create a directory for"))?;
    for (name, text) in embedded.sources {
        std::fs::write(directory.path().join(name), text).map_err(file_error("write C sources for"))?;
    }
    let (first, _) = embedded.sources[0];
    let mut command = Command::new(CLANG);
    command.current_dir(directory.path());
    command.args(embedded.flags).args(target_flags).args([first, "-o"]).arg(output.join(BITCODE));
    run(&mut command, "compile what programs are linked with")
}

/// Runs a compiler; its messages are the error.
pub fn run(command: &mut Command, act: &'static str) -> Result<(), InstrumentError> {
    tracing::debug!(?command);
    let path = PathBuf::from(command.get_program());
    let output =
        compilers::output(command).map_err(|source| InstrumentError::File { act: "run", path, source })?;
    if output.status.success() {
        return Ok(());
    }
    Err(InstrumentError::Compiler { act, output: String::from_utf8_lossy(&output.stderr).into_owned() })
}
