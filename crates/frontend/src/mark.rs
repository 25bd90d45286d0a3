//! Finds decisions, conditions, switches, statements and types in C, and wraps every condition in a marker call.
//!
//! Method: libclang reads the preprocessed text; each condition becomes `__q(ID, (condition))`, on the lines it had
//! before, so that positions keep their meaning. The marked text is parsed once more: a mark that the compiler does not
//! accept there is taken out again and named as a gap. Limit: GNU `a ?: b` has no place for a mark.

mod decide;
mod draft;
mod emit;
mod foreign;
mod join;
pub(crate) mod spelling;
pub(crate) mod tokens;
mod types;
mod unit;
mod walk;

use std::path::PathBuf;

use cache::Cache;
use tracing::info_span;

pub use emit::USER_MAIN;
pub use join::{join, renumbered};

use crate::clang::ClangError;
use crate::compilers::{in_parallel, processors};
use crate::marks::Marks;
use crate::sources::CompileCommand;

/// How to mark.
#[derive(Clone, Debug)]
pub struct MarkOptions {
    /// Absolute directory that relative paths start from; files that a compiler running there names keep their relative names.
    pub root: PathBuf,
    /// Where the marked texts are written; created when it does not exist.
    pub directory: PathBuf,
    /// Calls a `main` in the way [`USER_MAIN`], because a harness starts the run.
    pub rename_main: bool,
    /// Where what helps the compiler is kept; without one marking takes longer.
    pub cache: Option<Cache>,
}

/// Why a program cannot be marked.
#[derive(Debug, thiserror::Error)]
pub enum MarkError {
    #[error(transparent)]
    Clang(#[from] ClangError),
    #[error("cannot write {}: {error}", file.display())]
    Write { file: PathBuf, error: std::io::Error },
    #[error(
        "{} compiles, but its preprocessed text does not: line {line}: {message} (please report this as a defect)",
        file.display()
    )]
    TextRejected { file: PathBuf, line: u32, message: String },
}

/// Preprocesses, marks and writes every unit.
pub fn mark(commands: &[CompileCommand], options: &MarkOptions) -> Result<Marks, MarkError> {
    let numbered: Vec<(usize, &CompileCommand)> = commands.iter().enumerate().collect();
    let marked = in_parallel(&numbered, processors(), |(number, command)| {
        mark_unit(command, &format!("{number}-{}.i", stem(command)), options)
    });
    let mut marks = Marks { root: options.root.clone(), ..Marks::default() };
    for unit in marked {
        join(&mut marks, unit?);
    }
    Ok(marks)
}

/// Preprocesses, marks and writes one unit, whose text is to be called `name`; to be [joined](join) with others. Needs a deep stack
/// ([`in_parallel`]).
pub fn mark_unit(command: &CompileCommand, name: &str, options: &MarkOptions) -> Result<Marks, MarkError> {
    let _span = info_span!("mark", file = %command.source.display()).entered();
    let directory = options.root.join(&options.directory);
    std::fs::create_dir_all(&directory)
        .map_err(|error| MarkError::Write { file: directory.clone(), error })?;
    unit::mark(command, name, options)
}

/// What the text of a unit is called after.
pub fn stem(command: &CompileCommand) -> String {
    command.source.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
}
