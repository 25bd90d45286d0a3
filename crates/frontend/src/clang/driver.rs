//! Running the `clang-19` program.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Name of the compiler; its version must be that of the LLVM library that reads its output.
pub const CLANG: &str = "clang-19";

/// Why clang gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum ClangError {
    #[error("cannot run {CLANG}: {0} (install it with: apt-get install clang-19)")]
    NotRun(std::io::Error),
    #[error(
        "cannot load libclang 19: {0} (install it with: apt-get install libclang-19-dev, or set LIBCLANG_PATH)"
    )]
    NoLibrary(String),
    #[error("libclang could not read {}: error {code}", file.display())]
    NotParsed { file: PathBuf, code: i32 },
    #[error("{} does not compile:\n{diagnostics}", file.display())]
    Rejected { file: PathBuf, diagnostics: String },
}

/// A `clang-19` that runs in `directory`.
pub fn clang(directory: &Path) -> Command {
    let mut command = Command::new(CLANG);
    command.current_dir(directory);
    command
}

/// What clang said, as an error.
pub fn failure(file: &Path, output: &Output) -> ClangError {
    let mut diagnostics = String::from_utf8_lossy(&output.stderr).trim_end().to_owned();
    if diagnostics.is_empty() {
        diagnostics = format!("{CLANG} ended with {}", output.status);
    }
    ClangError::Rejected { file: file.to_owned(), diagnostics }
}
