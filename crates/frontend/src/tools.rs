//! Which tools build programs: what one compiler or one version of Quarry has made is not what another would make.
//!
//! Method: the compiler is known by its file and the libraries beside it (path, size, time of last change), because to start it costs more
//! than all else that a cached program costs; Quarry itself by the hash of its sources. Limit: linkers, and configuration files of
//! clang, are taken to stay the same.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use cache::Key;

use crate::clang::CLANG;

/// Variables that change what the compiler reads or does.
const VARIABLES: [&str; 8] = [
    "CPATH",
    "C_INCLUDE_PATH",
    "LIBRARY_PATH",
    "COMPILER_PATH",
    "GCC_EXEC_PREFIX",
    "CCC_OVERRIDE_OPTIONS",
    "LIBCLANG_PATH",
    "LD_LIBRARY_PATH",
];

/// A key with all tools, to which what they work on is added.
pub fn key() -> Key {
    static TOOLS: OnceLock<String> = OnceLock::new();
    Key::new().part("tools", TOOLS.get_or_init(|| tools().hex()))
}

fn tools() -> Key {
    let compiler = std::env::var_os("PATH").and_then(|path| program(CLANG, &path));
    let mut key = Key::new().part("quarry", env!("QUARRY_FRONTEND_SOURCES"));
    for file in compiler.iter().flat_map(|compiler| files_of(compiler)) {
        key = key.parts("compiler", [file.to_string_lossy().into_owned(), state(&file)]);
    }
    for variable in VARIABLES {
        if let Some(value) = std::env::var_os(variable) {
            key = key.part(variable, value.as_encoded_bytes());
        }
    }
    key
}

/// Where a program is found.
fn program(name: &str, path: &std::ffi::OsStr) -> Option<PathBuf> {
    std::env::split_paths(path).map(|directory| directory.join(name)).find(|file| file.is_file())
}

/// A compiler, the file that its name leads to, and its libraries.
fn files_of(compiler: &Path) -> Vec<PathBuf> {
    let real = compiler.canonicalize().unwrap_or_else(|_| compiler.to_owned());
    let mut files = vec![compiler.to_owned(), real.clone()];
    let libraries = real.parent().and_then(Path::parent).map(|installed| installed.join("lib"));
    let found = libraries.and_then(|libraries| std::fs::read_dir(libraries).ok()).into_iter().flatten();
    let is_library = |file: &PathBuf| {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        name.contains(".so") && (name.starts_with("libLLVM") || name.starts_with("libclang"))
    };
    let mut libraries: Vec<PathBuf> = found.flatten().map(|file| file.path()).filter(is_library).collect();
    libraries.sort();
    files.extend(libraries);
    files
}

/// Size and time of last change.
fn state(file: &Path) -> String {
    std::fs::metadata(file).map_or_else(
        |error| error.to_string(),
        |metadata| format!("{} {}.{}", metadata.len(), metadata.mtime(), metadata.mtime_nsec()),
    )
}
