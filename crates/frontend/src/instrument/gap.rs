//! What the instrumentation does not follow: the code runs concretely, and the report lists it.

use model::GapKind;

use crate::llvm::Value;

/// Something that runs concretely, by function and place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CodeGap {
    pub kind: GapKind,
    /// The function it stands in; empty for a symbol of the whole program.
    pub function: String,
    /// Line and column in the compiled text, 0 when unknown.
    pub line: u32,
    pub column: u32,
    /// What exactly: an instruction, a symbol, a type.
    pub what: String,
}

/// Gaps met so far; a kind is kept once per function, with its first place.
#[derive(Debug, Default)]
pub struct Gaps(Vec<CodeGap>);

impl Gaps {
    /// Notes that `instruction` of `function` is not followed.
    pub fn note(&mut self, kind: GapKind, function: &str, instruction: Value, what: impl Into<String>) {
        let what = what.into();
        if self.0.iter().any(|gap| gap.kind == kind && gap.function == function && gap.what == what) {
            return;
        }
        let (line, column) = instruction.position();
        self.0.push(CodeGap { kind, function: function.to_owned(), line, column, what });
    }

    /// Notes that a whole function is left as it is.
    pub fn note_function(&mut self, kind: GapKind, function: &str, what: impl Into<String>) {
        self.0.push(CodeGap { kind, function: function.to_owned(), line: 0, column: 0, what: what.into() });
    }

    /// All gaps in the order of the program.
    pub fn into_vec(self) -> Vec<CodeGap> {
        self.0
    }
}
