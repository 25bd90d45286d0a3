//! Makes a compiler buffer what it writes to its standard error.
//!
//! Method: a library that is loaded before the others replaces `write`. Limit: a compiler without shared libraries does not see it, and
//! a compiler that dies loses the end of what it wrote.

use std::path::Path;
use std::process::Command;

use cache::{Cache, Entry};

use crate::clang::CLANG;
use crate::{compilers, tools};

const SOURCE: &str = include_str!("buffered.c");
const LIBRARY: &str = "buffered.so";

/// The library, in an entry that must be kept while it is in use; nothing when there is no way to build it, and writing takes longer.
pub fn library(cache: &Cache) -> Option<Entry> {
    let key = tools::key().part("source", SOURCE);
    cache.get_or_make("buffered", &key, compile).map_err(|error| tracing::debug!(%error)).ok()
}

/// Has a compiler that is about to run load it.
pub fn preload(command: &mut Command, library: &Entry) {
    command.env("LD_PRELOAD", library.file(LIBRARY));
}

fn compile(directory: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let source = directory.join("buffered.c");
    std::fs::write(&source, SOURCE)?;
    let mut command = Command::new(CLANG);
    command.args(["-O1", "-shared", "-fPIC", "-w"]).arg(&source).arg("-o").arg(directory.join(LIBRARY));
    let output = compilers::output(&mut command)?;
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into()) }
}
