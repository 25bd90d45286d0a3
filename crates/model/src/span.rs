//! Positions in the source as written.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::FileId;

/// A file that contributed tokens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceFile {
    /// As the compiler was told it.
    pub path: String,
    /// Whether it is a system header.
    pub system: bool,
}

/// A place in a source file; line and column count from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Position {
    pub file: FileId,
    pub line: u32,
    pub column: u32,
}

/// Where a token comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Span {
    /// Where a reader sees it: for a token out of a macro, the macro's use.
    pub at: Position,
    /// For a token out of a macro, where its text is written.
    pub spelled: Option<Position>,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}
