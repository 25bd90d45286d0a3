//! Numbers and goals in words.

use std::fmt::Write;

use model::DecisionKind;

/// `1 test`, `2 tests`.
pub fn counted(n: usize, word: &str) -> String {
    if n == 1 { format!("1 {word}") } else { format!("{n} {word}s") }
}

/// How it is known that a goal is infeasible: `proofs/f.proof, under: arrays have at most 64 elements`.
pub fn known_by(proof: &str, under: &[String]) -> String {
    if under.is_empty() { proof.to_owned() } else { format!("{proof}, under: {}", under.join("; ")) }
}

/// Adds a line.
pub fn line(text: &mut String, arguments: std::fmt::Arguments<'_>) {
    writeln!(text, "{arguments}").expect("writing to a string succeeds");
}

/// What the goals of a criterion are called.
pub fn goal_word(criterion: &str) -> &'static str {
    match criterion {
        "branch" => "branches",
        "gcov-branch" => "gcov branches",
        "function" => "functions",
        "statement" => "statements",
        "decision" => "decision outcomes",
        "condition" => "condition outcomes",
        "condition-decision" => "condition and decision outcomes",
        "mcdc" => "MC/DC obligations",
        "multiple-condition" => "condition vectors",
        "all-defs" => "definitions",
        "all-uses" => "uses",
        "def-use" => "def-use pairs",
        _ => "goals",
    }
}

/// What a decision controls, by the keyword of C.
pub fn kind_word(kind: DecisionKind) -> &'static str {
    match kind {
        DecisionKind::If => "if",
        DecisionKind::While => "while",
        DecisionKind::DoWhile => "do-while",
        DecisionKind::For => "for",
        DecisionKind::Ternary => "?:",
        DecisionKind::Value => "value",
    }
}
