//! What the marking step hands to everything after it.
//!
//! Marking reads C with libclang; lowering reads LLVM IR. They meet here: each translation unit's text has one token per
//! line, so a line number in debug information is a token, and a token has a [`Span`]. Functions are named by unit and
//! source name, because linking may rename `static` ones.

use std::path::PathBuf;

use model::ctype::{Declarations, FunctionKey};
use model::{
    Condition, ConditionId, DecisionId, DecisionKind, Gap, Label, Shape, SourceFile, Span, SpanId,
    StatementKind,
};
use serde::{Deserialize, Serialize};

/// All units of a program after marking. Ids of decisions, conditions and switches are indices into the vectors.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Marks {
    /// Absolute directory that relative paths of files start from.
    pub root: PathBuf,
    pub files: Vec<SourceFile>,
    #[serde(with = "compact")]
    pub spans: Vec<Span>,
    pub units: Vec<Unit>,
    /// What the sources declare; units are indices into `units`.
    pub declarations: Declarations,
    pub decisions: Vec<MarkedDecision>,
    pub conditions: Vec<Condition>,
    /// Conditions that compare numbers.
    pub comparisons: Vec<Comparison>,
    /// Those whose boundaries are goals.
    pub boundaries: Vec<Boundaries>,
    pub switches: Vec<MarkedSwitch>,
    pub statements: Vec<MarkedStatement>,
    pub gaps: Vec<Gap>,
}

/// A condition that compares two numbers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Comparison {
    pub condition: ConditionId,
    /// Whether they are integers with a sign once both have one type.
    pub signed: bool,
    /// The sides as they are written.
    pub sides: (String, String),
}

/// The conditions that note how near the sides of a comparison are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Boundaries {
    pub of: ConditionId,
    pub signed: bool,
    /// That for equal sides; that for the left one a step below the right one, and that for a step above, follow.
    pub first: ConditionId,
}

impl Marks {
    /// Makes the boundaries of all comparisons conditions of the program: behind those that the texts mark, so that these keep their
    /// numbers and the code that was compiled of them.
    pub fn add_boundaries(&mut self) {
        for Comparison { condition, signed, sides: (left, right) } in std::mem::take(&mut self.comparisons) {
            let compared = self.conditions[condition.index()].clone();
            let function = self.decisions[compared.decision.index()].function.clone();
            self.boundaries.push(Boundaries {
                of: condition,
                signed,
                first: ConditionId::new(self.conditions.len()),
            });
            for how in ["==", "one below", "one above"] {
                let leaf = Shape::Leaf(ConditionId::new(self.conditions.len()));
                self.conditions.push(Condition {
                    decision: DecisionId::new(self.decisions.len()),
                    span: compared.span,
                    text: format!("{left} {how} {right}"),
                });
                self.decisions.push(MarkedDecision {
                    function: function.clone(),
                    span: compared.span,
                    kind: DecisionKind::Boundary,
                    shape: leaf,
                    text: compared.text.clone(),
                });
            }
        }
    }
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

/// Spans as numbers: there is one per token, and most of what is kept of a unit would be names of members.
mod compact {
    use model::{FileId, Position, Span};
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    /// A span is its file, twice, with one more if it is spelled elsewhere; its line, its column, and where it is spelled.
    pub fn serialize<S: Serializer>(spans: &[Span], serializer: S) -> Result<S::Ok, S::Error> {
        let mut numbers = Vec::with_capacity(3 * spans.len());
        for Span { at, spelled } in spans {
            numbers.extend([2 * at.file.0 + u32::from(spelled.is_some()), at.line, at.column]);
            numbers.extend(spelled.iter().flat_map(|spelled| [spelled.file.0, spelled.line, spelled.column]));
        }
        numbers.serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Span>, D::Error> {
        let numbers = Vec::<u32>::deserialize(deserializer)?;
        let position = |numbers: &[u32]| match *numbers {
            [file, line, column, ..] => Ok(Position { file: FileId(file), line, column }),
            _ => Err(D::Error::custom("a span is cut")),
        };
        let mut spans = Vec::with_capacity(numbers.len() / 3);
        let mut rest = numbers.as_slice();
        while let Some(first) = rest.first() {
            let own = position(rest)?;
            let at = Position { file: FileId(own.file.0 / 2), ..own };
            rest = &rest[3..];
            let is_spelled = first % 2 == 1;
            let spelled = if is_spelled { Some(position(rest)?) } else { None };
            rest = if is_spelled { &rest[3..] } else { rest };
            spans.push(Span { at, spelled });
        }
        Ok(spans)
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use crate::marks::Marks;

        #[test]
        fn spans_are_read_as_they_were_written() {
            let at = |file, line, column| Position { file: FileId(file), line, column };
            let spans = vec![
                Span { at: at(0, 1, 2), spelled: None },
                Span { at: at(3, 70_000, 0), spelled: Some(at(1, 2, 65_535)) },
                Span { at: at(3, 5, 6), spelled: None },
            ];
            let marks = Marks { spans, ..Marks::default() };
            let text = serde_json::to_string(&marks).expect("they can be written");
            assert_eq!(serde_json::from_str::<Marks>(&text).expect("they can be read"), marks);
        }
    }
}
