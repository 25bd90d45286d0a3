//! The runtime, and other C that is part of this program, as bitcode for the target of the program under test.
//!
//! Of the runtime an object is kept in the cache, and apart from it the code that is inlined. For the machine that this program was built
//! on, by the compiler that is there now, both are part of this program; else clang compiles the sources once per set of flags.

use std::path::{Path, PathBuf};
use std::process::Command;

use cache::{Cache, Entry, Key};
use inkwell::context::Context;
use inkwell::module::Module;
use tracing::info_span;

use super::InstrumentError;
use crate::clang::CLANG;
use crate::compilers;
use crate::embedded::{Embedded, MODELS, RUNTIME};
use crate::llvm::{Effort, LlvmError, Owner, keep_inlined, share, write_object};
use crate::prepared;
use crate::tools;

/// The file of an entry of the cache that has compiled code.
pub const BITCODE: &str = "made.bc";

/// The files of the entry that has the runtime: what is inlined, and the rest.
pub const INLINED: &str = "inlined.bc";
pub const OBJECT: &str = "runtime.o";

/// Compiles the runtime for `target_flags` (such as `-m32`) to [`INLINED`] and [`OBJECT`], or finds it in the cache.
pub fn runtime(target_flags: &[String], cache: &Cache) -> Result<Entry, InstrumentError> {
    cache.get_or_make(RUNTIME.name, &key(RUNTIME, target_flags), |directory| {
        if let Some(prepared) = prepared::get(target_flags) {
            write(&directory.join(INLINED), prepared.inlined)?;
            return write(&directory.join(OBJECT), prepared.object);
        }
        let _span = info_span!("compile runtime").entered();
        compile(RUNTIME, target_flags, directory)?;
        let bitcode = directory.join(BITCODE);
        let context = Context::create();
        let module = Module::parse_bitcode_from_path(&bitcode, &context)
            .map_err(|message| LlvmError::new("read the runtime", message))?;
        share(&module, Owner::Runtime);
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

/// Compiles the models of library functions for `target_flags` to [`BITCODE`], or finds them in the cache.
pub fn models(target_flags: &[String], cache: &Cache) -> Result<Entry, InstrumentError> {
    cache.get_or_make(MODELS.name, &key(MODELS, target_flags), |directory| {
        if let Some(prepared) = prepared::get(target_flags) {
            return write(&directory.join(BITCODE), prepared.models);
        }
        let _span = info_span!("compile runtime").entered();
        compile(MODELS, target_flags, directory)
    })
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), InstrumentError> {
    std::fs::write(path, bytes).map_err(|source| InstrumentError::File {
        act: "write",
        path: path.to_owned(),
        source,
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
    let command = embedded.compiler(CLANG, target_flags, directory.path(), &output.join(BITCODE));
    let mut command = command.map_err(file_error("write C sources for"))?;
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
