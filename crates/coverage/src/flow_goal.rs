//! What a data-flow goal says to a reader.

use analysis::dataflow::UseKind;
use model::{Program, SpanId};

/// What a goal of data flow is about, for a reader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowGoal {
    /// As the source names it.
    pub variable: String,
    /// Where it is defined; missing when any definition counts.
    pub definition: Option<SpanId>,
    /// Where it is used, and for what; missing when any use counts.
    pub use_: Option<(Option<SpanId>, UseKind)>,
}

impl FlowGoal {
    /// What it asks, in words that follow the position `at`: `res defined at 8:5 is used (c-use)`.
    pub fn describe(&self, program: &Program, at: Option<SpanId>) -> String {
        let file = at.map(|at| program.span(at).at.file);
        let text = |span: Option<SpanId>| match span.map(|span| program.span(span).at) {
            None => "an unknown place".to_owned(),
            Some(place) if Some(place.file) == file => format!("{}:{}", place.line, place.column),
            Some(place) => program.describe(place),
        };
        let variable = &self.variable;
        match (self.definition, self.use_) {
            (definition @ Some(_), Some((_, kind))) => {
                format!("{variable} defined at {} is used ({kind})", text(definition))
            }
            (None, Some((_, kind))) => format!("{variable} is used ({kind})"),
            (_, None) => format!("{variable} defined here is used"),
        }
    }
}
