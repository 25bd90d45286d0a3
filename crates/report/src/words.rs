//! Numbers and goals in words.

use std::fmt::Write;

use model::DecisionKind;

use crate::record::InvariantRecord;

/// `1 test`, `2 tests`.
pub fn counted(n: usize, word: &str) -> String {
    if n == 1 { format!("1 {word}") } else { format!("{n} {word}s") }
}

/// How it is known that a goal is infeasible: `proofs/f.proof, under: arrays have at most 64 elements`.
pub fn known_by(proof: &str, under: &[String]) -> String {
    if under.is_empty() { proof.to_owned() } else { format!("{proof}, under: {}", under.join("; ")) }
}

/// Clauses of an invariant that are told; a proof has them all.
const CLAUSES: usize = 4;

/// The argument of a proof, a line for each place: ``whenever f.c:8 is reached, `i <= n` and `n <= 9` ``.
pub fn argument(invariants: &[InvariantRecord], how: &str) -> Vec<String> {
    if invariants.is_empty() {
        let how = if how.is_empty() { "the conditions on every path to it exclude each other" } else { how };
        return vec![how.to_owned()];
    }
    let tell = |InvariantRecord { place, holds }: &InvariantRecord| {
        let file = place.file.rsplit('/').next().unwrap_or(&place.file);
        let told: Vec<String> = holds.iter().take(CLAUSES).map(|clause| format!("`{clause}`")).collect();
        let more = match holds.len().saturating_sub(CLAUSES) {
            0 => String::new(),
            n => format!(" and {n} more"),
        };
        format!("whenever {file}:{} is reached, {}{more}", place.line, told.join(" and "))
    };
    let said = (!how.is_empty()).then(|| how.to_owned()).into_iter();
    said.chain(invariants.iter().map(tell)).collect()
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
        "boundary" => "boundaries of comparisons",
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
        DecisionKind::Boundary => "boundary",
    }
}
