//! The text form of a [`Program`]: what people read in snapshots and write in tests.
//!
//! [`print`] and [`parse`] are inverse to each other: a printed program parses to an equal one. Ids are written as they
//! print elsewhere (`f0`, `b2`, `%3`, `c1`); tables come in the order of their ids; an operand shows its type only if its
//! position does not imply it. `//` starts a comment. Limit: parsing checks only the form, [`crate::verify`] the meaning.

mod lexer;
mod names;
mod parse;
mod parse_code;
mod parse_operand;
mod print;
mod print_code;

use crate::Program;

/// A text that is no program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot parse the program text, line {line}: {message}")]
pub struct ParseError {
    /// Counts from 1.
    pub line: u32,
    pub message: String,
}

/// The program as text.
pub fn print(program: &Program) -> String {
    let mut out = String::new();
    print::program(&mut out, program).expect("writing to a string does not fail");
    out
}

/// The program that a text describes.
pub fn parse(text: &str) -> Result<Program, ParseError> {
    let mut tokens = lexer::Tokens::of(text);
    let program = parse::program(&mut tokens)?;
    tokens.finish()?;
    Ok(program)
}
