//! Mutants of a unit: small changes of its code, all of them built into one text that selects one of them at run time.
//!
//! Method: libclang reads the preprocessed text, as for marking; each place that can be changed is rewritten so that it asks for its mutants by
//! number (a *schema*), evaluates every operand once, and does what the source says when none of them is selected. The text grows with the code, not with the
//! mutants. What the compiler rejects is left out again. A program is linked with [`SUPPORT`], which reads the number from the environment.
//! [`equivalent`] shows of some mutants that they change nothing. Limits: constants that must be constant (labels, sizes of arrays, static
//! initialisers), assembly, and what macros of system headers expand to are not changed.

mod equivalent;
mod schema;
mod sites;

use std::collections::{BTreeSet, HashSet};
use std::path::Path;

use cache::Cache;
use model::{Position, SourceFile};

use crate::clang::ParsedUnit;
use crate::compilers::in_parallel;
use crate::mark::MarkError;
use crate::preprocess::preprocess;
use crate::sources::CompileCommand;

pub use equivalent::equivalent;
pub use schema::text_flags;

/// C that a program of mutants is linked with. The variable [`VARIABLE`] selects one by its number, or, when it is `all`, none, and has the number of
/// each mutant that is reached written to descriptor 197, once: `M 12`.
pub const SUPPORT: &str = include_str!("mutate/support.c");

/// The variable of the environment that selects a mutant.
pub const VARIABLE: &str = "QUARRY_MUTANT";

/// The value of [`VARIABLE`] that asks which mutants are reached.
pub const ALL: &str = "all";

/// How the lines begin that name a reached mutant.
pub const REACHED: &str = "M ";

/// What a mutant changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mutation {
    /// An operator is another one, or is not there.
    Operator,
    /// A number or character is one more or one less.
    Constant,
    /// A condition is always true, or always false.
    Condition,
    /// A statement is left out.
    Statement,
    /// A comparison has its limit one step away: `<` for `<=`.
    Boundary,
}

impl Mutation {
    /// A word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Operator => "operator",
            Self::Constant => "constant",
            Self::Condition => "condition",
            Self::Statement => "statement",
            Self::Boundary => "boundary",
        }
    }
}

/// A mutant of a unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mutant {
    /// Selects it in the program; no other mutant has it, in any unit.
    pub number: u32,
    /// As the source names it.
    pub function: String,
    pub mutation: Mutation,
    /// Where the change is, in [`MutatedUnit::files`].
    pub at: Position,
    /// What stands there, as the source spells it or, in the text of a macro, after preprocessing.
    pub before: String,
    /// What the mutant has there.
    pub after: String,
}

/// A unit with its mutants.
#[derive(Clone, Debug, Default)]
pub struct MutatedUnit {
    pub mutants: Vec<Mutant>,
    /// The files that positions are in.
    pub files: Vec<SourceFile>,
    /// The preprocessed text with all mutants; to be compiled with [`text_flags`].
    pub text: Vec<u8>,
}

/// Finds the mutants of some functions of a unit and writes them into its text. Numbers start at `first`, which is not 0.
pub fn mutate(
    command: &CompileCommand,
    functions: &BTreeSet<String>,
    first: u32,
    cache: Option<&Cache>,
) -> Result<MutatedUnit, MarkError> {
    // a deep tree needs a deep stack
    let made = in_parallel(&[command], 1, |command| mutate_here(command, functions, first, cache));
    made.into_iter().next().expect("one result for one unit")
}

fn mutate_here(
    command: &CompileCommand,
    functions: &BTreeSet<String>,
    first: u32,
    cache: Option<&Cache>,
) -> Result<MutatedUnit, MarkError> {
    let text = preprocess(command, cache)?;
    let parsed = ParsedUnit::parse(&command.source, &text.bytes(), &command.compile)?;
    if let Some(error) = parsed.errors().into_iter().next() {
        let (file, line) = (command.source.clone(), error.line);
        return Err(MarkError::TextRejected { file, line, message: error.message });
    }
    let mut left_out = HashSet::new();
    loop {
        let found = sites::find(&text, &parsed, &command.directory, functions, &left_out);
        let (schema, mutants) = schema::write(&text, &found, first);
        let errors = ParsedUnit::parse(&command.source, &schema, &command.compile)?.errors();
        let Some(rejected) = errors.first() else {
            return Ok(MutatedUnit { mutants, files: text.files.clone(), text: schema });
        };
        let n_before = left_out.len();
        for error in &errors {
            left_out.extend(found.innermost(error.line));
        }
        if left_out.len() == n_before {
            let (file, line) = (command.source.clone(), rejected.line);
            return Err(MarkError::TextRejected { file, line, message: rejected.message.clone() });
        }
    }
}

/// What a file of a unit is called when its compiler runs in `directory`.
pub fn path_of(file: &SourceFile, directory: &Path) -> std::path::PathBuf {
    directory.join(&file.path)
}
