//! Words and parentheses of a proof's text, each with its line.

use super::ProofParseError;

/// The words of a text, read one after the other; `(` and `)` are words of their own.
pub(super) struct Words<'t> {
    words: Vec<(&'t str, u32)>,
    at: usize,
    last_line: u32,
}

impl<'t> Words<'t> {
    pub(super) fn of(text: &'t str) -> Self {
        let mut words = Vec::new();
        let mut last_line = 1;
        for (line, number) in text.lines().zip(1..) {
            last_line = number;
            let code = line.split(';').next().unwrap_or_default();
            for word in code.split_whitespace() {
                split_parentheses(word, number, &mut words);
            }
        }
        Self { words, at: 0, last_line }
    }

    pub(super) fn peek(&self) -> Option<&'t str> {
        self.words.get(self.at).map(|(word, _)| *word)
    }

    /// Takes the next word; `what` is for the error.
    pub(super) fn next(&mut self, what: &str) -> Result<&'t str, ProofParseError> {
        let word = self.peek().ok_or_else(|| self.error(format!("expected {what}, found the end")))?;
        self.at += 1;
        Ok(word)
    }

    /// Takes this word or fails.
    pub(super) fn keyword(&mut self, word: &str) -> Result<(), ProofParseError> {
        let found = self.next(&format!("`{word}`"))?;
        if found == word { Ok(()) } else { Err(self.unexpected(&format!("`{word}`"), found)) }
    }

    /// An error about the word taken last, or at the end.
    pub(super) fn error(&self, message: impl Into<String>) -> ProofParseError {
        let line = self.words.get(self.at.saturating_sub(1)).map_or(self.last_line, |(_, line)| *line);
        ProofParseError { line, message: message.into() }
    }

    /// An error about the word taken last.
    pub(super) fn unexpected(&self, what: &str, found: &str) -> ProofParseError {
        let shown: String = found.chars().take(40).collect();
        self.error(format!("expected {what}, found `{shown}`"))
    }
}

fn split_parentheses<'t>(word: &'t str, line: u32, words: &mut Vec<(&'t str, u32)>) {
    let mut rest = word;
    while let Some(at) = rest.find(['(', ')']) {
        if at > 0 {
            words.push((&rest[..at], line));
        }
        words.push((&rest[at..at + 1], line));
        rest = &rest[at + 1..];
    }
    if !rest.is_empty() {
        words.push((rest, line));
    }
}
