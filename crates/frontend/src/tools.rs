//! Which tools build programs: what one compiler or one version of Quarry has made is not what another would make.
//!
//! Method: the compiler is known by its file and the libraries beside it (path, size, time of last change), because to start it costs more
//! than all else that a cached program costs; Quarry itself by the hash of its sources. Limit: linkers, and configuration files of
//! clang, are taken to stay the same.

mod compiler;

use std::path::PathBuf;
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

/// The compiler that is there now, as one hash; empty when there is none.
pub(crate) fn compiler() -> &'static str {
    static COMPILER: OnceLock<String> = OnceLock::new();
    COMPILER.get_or_init(|| compiler::state(CLANG))
}

/// The library of the compiler that is there now, if it has one beside it: to search for it takes longer than all else that a small
/// function needs.
pub fn libclang() -> Option<PathBuf> {
    compiler::libclang(CLANG)
}

fn tools() -> Key {
    let mut key = Key::new().part("quarry", env!("QUARRY_FRONTEND_SOURCES")).part("compiler", compiler());
    for variable in VARIABLES {
        if let Some(value) = std::env::var_os(variable) {
            key = key.part(variable, value.as_encoded_bytes());
        }
    }
    key
}
