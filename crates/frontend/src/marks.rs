//! What the marking step hands to everything after it.
//!
//! Marking reads C with libclang; lowering reads LLVM IR. They meet here: each translation unit's text has one token per
//! line, so a line number in debug information is a token, and a token has a [`Span`]. Functions are named by unit and
//! source name, because linking may rename `static` ones.

use std::path::PathBuf;

use model::ctype::{Declarations, FunctionKey};
use model::{Condition, DecisionKind, Gap, Label, Shape, SourceFile, Span, SpanId, StatementKind};
use serde::{Deserialize, Serialize};

/// All units of a program after marking. Ids of decisions, conditions and switches are indices into the vectors.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Marks {
    /// Absolute directory that relative paths of files start from.
    pub root: PathBuf,
    pub files: Vec<SourceFile>,
    pub spans: Vec<Span>,
    pub units: Vec<Unit>,
    /// What the sources declare; units are indices into `units`.
    pub declarations: Declarations,
    pub decisions: Vec<MarkedDecision>,
    pub conditions: Vec<Condition>,
    pub switches: Vec<MarkedSwitch>,
    pub statements: Vec<MarkedStatement>,
    pub gaps: Vec<Gap>,
}

/// One translation unit as it is compiled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unit {
    /// The file the user named.
    pub source: PathBuf,
    /// Where that file is: absolute, without symbolic links.
    pub real_path: PathBuf,
    /// The marked text, one token per line; debug information names this file. Absolute.
    pub text: PathBuf,
    /// The number in the program of the condition that the text calls 0.
    pub first_condition: u32,
    /// Flags for compiling the text (no preprocessor flags).
    pub flags: Vec<String>,
    /// Flags for preprocessing the file the user named.
    pub preprocess: Vec<String>,
    /// Directory the compiler runs in.
    pub directory: PathBuf,
    /// First and last line of the bodies of functions that a declaration of the function can do without, in the order of the text.
    pub bodies: Vec<(u32, u32)>,
    /// Span of the token on each line; line 1 is at index 0.
    pub lines: Vec<Option<SpanId>>,
}

/// A decision whose function is not lowered yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MarkedDecision {
    pub function: FunctionKey,
    pub span: SpanId,
    pub kind: DecisionKind,
    pub shape: Shape,
    pub text: String,
}

/// A `switch` whose code is not found yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MarkedSwitch {
    pub function: FunctionKey,
    pub span: SpanId,
    pub text: String,
    pub labels: Vec<Label>,
    /// Line of the `switch` keyword in the unit's text, where debug information puts the instruction.
    pub line: u32,
}

/// A statement whose code is not found yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MarkedStatement {
    pub function: FunctionKey,
    pub kind: StatementKind,
    pub span: SpanId,
    /// First and last line in the unit's text.
    pub lines: (u32, u32),
    pub text: String,
}
