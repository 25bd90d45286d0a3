//! One text per translation unit, with a token per line and the way back to the source.
//!
//! Method: `clang-19 -E` gives the text, `clang-19 -Xclang -dump-tokens` the exact position of every token (and, for
//! tokens out of macros, where they are spelled); the two streams are walked side by side. Where they cannot be matched,
//! the line markers of the text still give file and line. A token per line makes a line number in debug information,
//! or in libclang's tree, the name of a token.
//!
//! Line 1 is left empty: marking declares its marker there.

mod buffered;
mod lexer;
mod positions;
mod reflow;
mod state;
mod texts;

use std::process::Command;

use cache::Cache;
use model::{SourceFile, Span, SpanId};
use tracing::info_span;

use crate::clang::{ClangError, LENIENT, clang, failure};
use crate::compilers;
use crate::sources::CompileCommand;
pub use lexer::token_length;
pub use state::{SourceState, states};

/// A unit's text, one token or pragma per line.
#[derive(Clone, Debug)]
pub struct Text {
    /// What the preprocessor wrote; lines refer to parts of it.
    output: Vec<u8>,
    lines: Vec<Line>,
    pub files: Vec<SourceFile>,
    pub spans: Vec<Span>,
}

/// One line: a token, a pragma, or nothing.
#[derive(Clone, Copy, Debug)]
struct Line {
    start: u32,
    end: u32,
    span: Option<SpanId>,
}

/// Character classes as functions, which have models: as macros they read a table of the library.
const FUNCTIONS: &[&str] = &["-D__NO_CTYPE"];

/// The compiler for one file, about to preprocess it.
fn preprocessor(command: &CompileCommand) -> Command {
    let mut process = reader(command);
    process.arg("-E").args(["-x", "c"]).arg(&command.source);
    process
}

/// The compiler with all that decides how a file is preprocessed.
fn reader(command: &CompileCommand) -> Command {
    let mut process = clang(&command.directory);
    process.args(&command.preprocess).args(LENIENT).args(FUNCTIONS);
    process
}

/// Preprocesses one file; with a cache it takes less time.
pub fn preprocess(command: &CompileCommand, cache: Option<&Cache>) -> Result<Text, ClangError> {
    let _span = info_span!("preprocess", file = %command.source.display()).entered();
    let library = cache.and_then(buffered::library);
    let mut tokens = reader(command);
    library.iter().for_each(|library| buffered::preload(&mut tokens, library));
    tokens.args(["-fsyntax-only", "-Xclang", "-dump-tokens", "-x", "c"]).arg(&command.source);
    let tokens = compilers::start(&mut tokens).map_err(ClangError::NotRun)?;
    // Both write megabytes: read them at the same time, or the second blocks.
    let tokens = std::thread::spawn(move || tokens.output());
    let text = match cache.and_then(|cache| state::take_text(command, cache)) {
        Some(text) => Ok(text),
        None => compilers::output(&mut preprocessor(command)).map_err(ClangError::NotRun).and_then(|text| {
            if text.status.success() { Ok(text.stdout) } else { Err(failure(&command.source, &text)) }
        }),
    };
    let tokens = tokens.join().expect("waiting for a process does not panic").map_err(ClangError::NotRun)?;
    Ok(reflow::reflow(text?, &tokens.stderr))
}

/// What clang says about the file as the user wrote it; `None` when it accepts it.
pub fn check_syntax(command: &CompileCommand) -> Result<Option<ClangError>, ClangError> {
    let mut clang = clang(&command.directory);
    clang.args(&command.preprocess).args(LENIENT);
    clang.args(["-fsyntax-only", "-x", "c"]).arg(&command.source);
    let output = compilers::output(&mut clang).map_err(ClangError::NotRun)?;
    Ok((!output.status.success()).then(|| failure(&command.source, &output)))
}

impl Text {
    /// Number of lines; line 1 is empty.
    pub fn n_lines(&self) -> u32 {
        self.lines.len() as u32
    }

    /// The token or pragma on a line, counted from 1; empty beyond the end.
    pub fn line(&self, line: u32) -> &[u8] {
        match (line as usize).checked_sub(1).and_then(|index| self.lines.get(index)) {
            Some(line) => &self.output[line.start as usize..line.end as usize],
            None => b"",
        }
    }

    /// Where the token on a line comes from.
    pub fn span(&self, line: u32) -> Option<SpanId> {
        (line as usize).checked_sub(1).and_then(|index| self.lines.get(index)).and_then(|line| line.span)
    }

    /// Whether the token on a line stands in a system header.
    pub fn in_system_header(&self, line: u32) -> bool {
        let span = self.span(line).map(|span| self.spans[span.index()]);
        span.is_some_and(|span| self.files[span.at.file.index()].system)
    }

    /// The span of each line, line 1 at index 0.
    pub fn spans_by_line(&self) -> Vec<Option<SpanId>> {
        self.lines.iter().map(|line| line.span).collect()
    }

    /// The text as the compiler reads it.
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.output.len());
        for line in 1..=self.n_lines() {
            bytes.extend_from_slice(self.line(line));
            bytes.push(b'\n');
        }
        bytes
    }
}
