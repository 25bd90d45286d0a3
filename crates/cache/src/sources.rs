//! The hash of a program's own sources, taken when it is built: what another version made is never used.

use std::io;
use std::path::{Path, PathBuf};

use crate::key::Key;

/// The hash of all files below these paths, by their names and contents. For build scripts, which are asked to run again when one of
/// the paths changes.
pub fn hash_of_sources(paths: &[PathBuf]) -> io::Result<String> {
    let mut key = Key::new();
    for path in paths {
        let mut files = Vec::new();
        collect(path, &mut files)?;
        files.sort();
        for file in files {
            let name = file.strip_prefix(path).unwrap_or(&file).to_string_lossy().into_owned();
            key = key.part(&name, std::fs::read(&file)?);
        }
    }
    Ok(key.hex())
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    if !path.is_dir() {
        files.push(path.to_owned());
        return Ok(());
    }
    for found in std::fs::read_dir(path)? {
        collect(&found?.path(), files)?;
    }
    Ok(())
}
