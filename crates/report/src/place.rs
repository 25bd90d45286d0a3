//! Positions in the source as text: `bubble.c:12:9`, for macros with where the text is written.

use model::{Program, SpanId};

/// Stands for a place that nobody knows.
pub const UNKNOWN_PLACE: &str = "?";

/// `path:line:column`, or `?` for code without a place.
pub fn place(program: &Program, span: Option<SpanId>) -> String {
    match span {
        Some(span) => program.describe(program.span(span).at),
        None => UNKNOWN_PLACE.to_owned(),
    }
}

/// `line:column` within a file that has been named before; the file too when it is another one.
pub fn short_place(program: &Program, span: SpanId, file: Option<model::FileId>) -> String {
    let at = program.span(span).at;
    if Some(at.file) == file { format!("{}:{}", at.line, at.column) } else { program.describe(at) }
}
