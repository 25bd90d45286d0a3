//! Makes a compiler buffer what it writes to its standard error.
//!
//! Method: a library that is loaded before the others replaces `write`. Limit: a compiler without shared libraries does not see it, and
//! a compiler that dies loses the end of what it wrote.

use std::path::Path;
use std::process::Command;

use cache::{Cache, Entry};

use crate::clang::CLANG;
use crate::embedded::BUFFERED;
use crate::{compilers, prepared, tools};

const LIBRARY: &str = "buffered.so";

/// The library, in an entry that must be kept while it is in use; nothing when there is no way to build it, and writing takes longer.
pub fn library(cache: &Cache) -> Option<Entry> {
    let key = tools::key().parts("source", BUFFERED.sources.iter().map(|(_, text)| text));
    cache.get_or_make(BUFFERED.name, &key, make).map_err(|error| tracing::debug!(%error)).ok()
}

/// Has a compiler that is about to run load it.
pub fn preload(command: &mut Command, library: &Entry) {
    command.env("LD_PRELOAD", library.file(LIBRARY));
}

fn make(directory: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let output = directory.join(LIBRARY);
    if let Some(prepared) = prepared::get(&[]) {
        return Ok(std::fs::write(output, prepared.buffered)?);
    }
    let mut command = BUFFERED.compiler(CLANG, &[], directory, &output)?;
    let output = compilers::output(&mut command)?;
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into()) }
}
