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

/// Errors that are shown; what follows them is mostly their consequence.
const MOST_ERRORS: usize = 5;
/// Lines of what clang says about them, with the places of includes, excerpts and notes.
const MOST_LINES: usize = 40;
/// Characters of a line.
const WIDEST_LINE: usize = 200;

/// What clang said, as an error.
pub fn failure(file: &Path, output: &Output) -> ClangError {
    let mut diagnostics = first_errors(&String::from_utf8_lossy(&output.stderr));
    if diagnostics.is_empty() {
        diagnostics = format!("{CLANG} ended with {}", output.status);
    }
    ClangError::Rejected { file: file.to_owned(), diagnostics }
}

/// The first errors with what belongs to them, and how many there are besides. Warnings are left out: the program does not
/// fail for them.
fn first_errors(said: &str) -> String {
    let is_head = |line: &str, kind: &str| {
        line.contains(&format!(": {kind}: ")) || line.starts_with(&format!("{kind}: "))
    };
    let is_error = |line: &str| is_head(line, "error") || is_head(line, "fatal error");
    let (mut n_errors, mut n_left_out, mut is_shown) = (0, 0, true);
    let mut shown = Vec::new();
    for line in said.trim_end().lines() {
        if line.contains("too many errors emitted")
            || line.ends_with(" generated.")
            || line.starts_with("PLEASE submit a bug report")
        {
            // the last is the head of a stack dump
            is_shown = false;
        } else if is_error(line) {
            n_errors += 1;
            is_shown = n_errors <= MOST_ERRORS && shown.len() < MOST_LINES;
            n_left_out += usize::from(!is_shown);
        } else if is_head(line, "warning") {
            is_shown = false;
        } else if line.starts_with("In file included from") {
            is_shown = n_errors < MOST_ERRORS;
        }
        if is_shown && shown.len() < MOST_LINES {
            shown.push(clipped(line));
        }
    }
    // clang warns of such bytes, unless something else ends it before, or shows them in a line
    let of_no_text = ["null character ignored", "error: source file is not valid UTF-8", "<U+0000>"];
    if of_no_text.iter().any(|sign| said.contains(sign)) {
        shown.push("the file holds bytes that are no text: is it a C source?".to_owned());
    }
    if n_left_out > 0 {
        let word = if n_left_out == 1 { "error" } else { "errors" };
        shown.push(format!("and {n_left_out} more {word}"));
    }
    shown.join("\n")
}

fn clipped(line: &str) -> String {
    match line.char_indices().nth(WIDEST_LINE) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_errors_are_shown_and_the_others_counted() {
        let error =
            |line: usize| format!("a.c:{line}:1: error: odd\n {line} | {}\n   | ^\n", "x".repeat(900));
        let said: String = (1..=9).map(error).collect();
        let shown =
            first_errors(&format!("a.c:1:1: warning: never mind\n 1 | x\n{said}9 errors generated.\n"));
        assert!(shown.starts_with("a.c:1:1: error: odd\n 1 | xxx"), "{shown}");
        assert!(shown.contains("a.c:5:1: error") && !shown.contains("a.c:6:1"), "{shown}");
        assert!(shown.ends_with("and 4 more errors") && !shown.contains("never mind"), "{shown}");
        assert!(shown.len() < 5 * 300, "{shown}");
    }

    #[test]
    fn the_stack_of_a_compiler_that_crashed_is_left_out() {
        let said = "error: unable to open output file: No space left on device\nPLEASE submit a bug report\nStack dump:\n#0 0x1 main\n";
        assert_eq!(first_errors(said), "error: unable to open output file: No space left on device");
    }

    #[test]
    fn a_file_that_is_no_text_is_called_so() {
        let shown = first_errors(
            "a.c:1:9: warning: null character ignored [-Wnull-character]\na.c:1:1: error: odd\n",
        );
        assert_eq!(shown, "a.c:1:1: error: odd\nthe file holds bytes that are no text: is it a C source?");
        let shown =
            first_errors("a.c:3:2: error: invalid preprocessing directive\n 3 | <U+0000> #K<U+0000>\n");
        assert!(shown.ends_with("is it a C source?"), "{shown}");
    }
}
