//! Proofs as text: `quarry-proof 1`, then one item after the other, formulas as s-expressions.
//!
//! [`print`] and [`parse`] are inverse to each other. Ids are those of the model's text; `;` starts a comment, and
//! line breaks count as blanks. A text is untrusted: parsing it never panics, and limits the depth of formulas.

mod lexer;
mod parse;
mod print;

use model::Program;

use crate::Proof;

/// The first line.
const HEAD: &str = "quarry-proof";
const VERSION: &str = "1";

/// How deep formulas may be nested; deeper ones are refused by the parser and by the checker.
pub const MAX_DEPTH: usize = 200;

/// A text that is no proof.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot parse the proof, line {line}: {message}")]
pub struct ProofParseError {
    /// Counts from 1.
    pub line: u32,
    pub message: String,
}

/// The proof as text.
pub fn print(proof: &Proof) -> String {
    print::proof(proof, None)
}

/// The proof as text, with the names of functions and variables of `program` as comments.
pub fn print_with_names(proof: &Proof, program: &Program) -> String {
    print::proof(proof, Some(program))
}

/// The proof that a text describes.
pub fn parse(text: &str) -> Result<Proof, ProofParseError> {
    parse::proof(text)
}
