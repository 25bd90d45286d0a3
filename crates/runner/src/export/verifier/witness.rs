//! Proofs as correctness witnesses of SV-COMP (YAML, version 2.0): the program of a goal, and what holds at its loops.
//!
//! Method: the program is the one that a verifier is asked about, so that "`reach_error` is not called" is the claim of the proof. Each cut of the proof that
//! lies in the head of a `while` or `for` of the proof's entry gives a loop invariant for each part of its formula that is an expression of C; the program is
//! compiled with each, because a variable may not be visible there. Limits: invariants of inlined calls hold for these calls only, and are left out, as are those of `do` loops and of
//! loops by `goto`; a validator must find again what is left out.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::UNIX_EPOCH;

use cache::sha256;
use model::{BlockId, FunctionId, Program, Terminator};
use proof::{Context, Formula, Operator, Proof};
use serde_json::json;

use super::expression::Expressions;
use super::monitor::Texts;
use super::tokens::Tokens;
use super::{ProgramFile, Writer};

/// The version of the format.
const FORMAT: &str = "2.0";

/// An invariant in a file of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopInvariant {
    pub file: String,
    /// Of the keyword; both count from 1.
    pub line: u32,
    pub column: usize,
    pub function: String,
    pub value: String,
}

/// What a proof says about loops of the program that these files are.
pub fn loop_invariants(writer: &Writer<'_>, files: &[ProgramFile], proof: &Proof) -> Vec<LoopInvariant> {
    let (program, function) = (writer.texts.program, proof.claim.entry);
    let Some(unit) = writer.texts.braces(function).ok().map(|(unit, _)| unit) else { return Vec::new() };
    let Some(file) = files.iter().find(|file| file.unit == unit) else { return Vec::new() };
    let expressions = Expressions { program, function };
    let mut invariants = Vec::new();
    for (keyword, formula) in by_loop(writer.texts, unit, proof) {
        let parts = match formula {
            Formula::Apply(Operator::And, parts) => &parts[..],
            other => std::slice::from_ref(other),
        };
        let line = keyword + file.n_before;
        let text = file.text.lines().nth(line as usize - 1).unwrap_or_default();
        let Some(column) = ["while", "for"].iter().find_map(|word| text.find(word)) else { continue };
        for part in parts.iter().filter(|part| **part != Formula::Bool(true)) {
            let Some(value) = expressions.truth(part) else { continue };
            if is_visible(writer, file, line, &value) {
                let name = program.function(function).name.clone();
                let file = file.name.clone();
                invariants.push(LoopInvariant { file, line, column: column + 1, function: name, value });
            }
        }
    }
    invariants
}

/// The formulas of the proof's own cuts, by the line of the loop's keyword in the unit's text. Where two cuts seem to belong to one loop, none is taken.
fn by_loop<'p>(texts: &Texts<'_>, unit: usize, proof: &'p Proof) -> BTreeMap<u32, &'p Formula> {
    let mut found: BTreeMap<u32, Vec<&Formula>> = BTreeMap::new();
    for cut in proof.cuts.iter().filter(|cut| cut.context == Context::entry()) {
        if let Some(keyword) = loop_of(texts, unit, proof.claim.entry, cut.block) {
            found.entry(keyword).or_default().push(&cut.formula);
        }
    }
    let single = found.into_iter().filter_map(|(keyword, formulas)| match formulas[..] {
        [formula] => Some((keyword, formula)),
        _ => None,
    });
    single.collect()
}

/// The line of the keyword of the loop whose condition, if it has one, is evaluated first in a block.
fn loop_of(texts: &Texts<'_>, unit: usize, function: FunctionId, block: BlockId) -> Option<u32> {
    let line = first_line(texts, unit, function, block)?;
    let tokens = Tokens::of(&texts.units[unit]);
    let statements = texts.marks.statements.iter().filter(|statement| statement.function.unit == unit);
    let loops = statements.filter_map(|statement| {
        let is_loop = matches!(tokens.token(statement.lines.0), "for" | "while" | "do");
        (is_loop && (statement.lines.0..=statement.lines.1).contains(&line)).then_some(statement.lines)
    });
    let (keyword, _) = loops.min_by_key(|lines| lines.1 - lines.0)?;
    let header = tokens.brackets(keyword + 1)?;
    match tokens.token(keyword) {
        "while" if line < header.close => Some(keyword),
        // the condition is no code
        "while" => (header.close == keyword + 3).then_some(keyword),
        "for" => {
            let first = tokens.expression_end(tokens.after(header.open))?.line;
            let second = tokens.expression_end(tokens.after(first))?.line;
            let has_condition = second > first + 1;
            let is_head = if has_condition { (first..second).contains(&line) } else { line > header.close };
            is_head.then_some(keyword)
        }
        _ => None,
    }
}

/// The line of the first token that a block, or what it leads to in any case, has code for.
fn first_line(texts: &Texts<'_>, unit: usize, function: FunctionId, mut block: BlockId) -> Option<u32> {
    let program: &Program = texts.program;
    let code = program.function(function);
    for _ in 0..code.blocks.len() {
        let of = code.block(block);
        let span = of.instrs.iter().find_map(|instr| code.instr(*instr).span);
        match (span, &of.terminator) {
            (Some(span), _) => {
                let span = program.span(span);
                let lines = texts.marks.units[unit].lines.iter().zip(1..);
                let mut lines =
                    lines.filter(|(id, _)| id.is_some_and(|id| texts.marks.spans[id.index()] == span));
                let (_, line) = lines.next()?;
                return lines.next().is_none().then_some(line);
            }
            (None, Terminator::Jump(next)) => block = *next,
            (None, _) => return None,
        }
    }
    None
}

/// Whether the expression can stand where the condition of a loop is evaluated.
fn is_visible(writer: &Writer<'_>, file: &ProgramFile, keyword: u32, expression: &str) -> bool {
    let tokens = Tokens::of(&file.text);
    let head = match tokens.token(keyword) {
        "for" => tokens.expression_end(tokens.after(keyword + 1)).map(|end| end.line),
        _ => Some(keyword + 1),
    };
    let Some(head) = head else { return false };
    let comma = if tokens.token(head + 1) == ";" { "1" } else { "" };
    let mut text = String::new();
    for (line, number) in file.text.lines().zip(1..) {
        let _ = writeln!(text, "{line}");
        if number == head {
            let _ = writeln!(text, "(void) ({expression}), {comma}");
        }
    }
    writer.check(file.unit, &text).is_ok()
}

/// The witness of a program with these files, made when its proof was written.
pub fn witness(
    program: &Program,
    files: &[ProgramFile],
    invariants: &[LoopInvariant],
    seconds: u64,
) -> String {
    let content = invariants.iter().map(|invariant| {
        let LoopInvariant { file, line, column, function, value } = invariant;
        format!(
            "    - invariant:\n        type: loop_invariant\n        location:\n          file_name: {}\n          line: {line}\n          column: {column}\n          function: {}\n        value: {}\n        format: c_expression\n",
            json!(file), json!(function), json!(value)
        )
    });
    let content: String = content.collect();
    let hashed: Vec<(&str, String)> =
        files.iter().map(|file| (file.name.as_str(), sha256(file.text.as_bytes()))).collect();
    let names: String =
        hashed.iter().fold(String::new(), |all, (name, _)| format!("{all}        - {}\n", json!(name)));
    let hashes: String = hashed
        .iter()
        .fold(String::new(), |all, (name, hash)| format!("{all}        {}: {}\n", json!(name), json!(hash)));
    let model = if program.pointer_bits == 64 { "LP64" } else { "ILP32" };
    let content = if content.is_empty() { " []\n".to_owned() } else { format!("\n{content}") };
    format!(
        "- entry_type: invariant_set\n  metadata:\n    format_version: \"{FORMAT}\"\n    uuid: \"{}\"\n    creation_time: \"{}\"\n    producer:\n      name: Quarry\n      version: \"{}\"\n    task:\n      input_files:\n{names}      input_file_hashes:\n{hashes}      specification: \"G ! call(reach_error())\"\n      data_model: {model}\n      language: C\n  content:{content}",
        uuid(&format!("{hashes}{content}")),
        utc(seconds),
        env!("CARGO_PKG_VERSION"),
    )
}

/// When a file was written, in seconds since 1970.
pub fn written_at(file: &std::path::Path) -> u64 {
    let modified = std::fs::metadata(file).and_then(|metadata| metadata.modified()).ok();
    modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok()).map_or(0, |since| since.as_secs())
}

/// An identifier that the same witness always has (RFC 9562, version 8).
fn uuid(text: &str) -> String {
    let hash = sha256(text.as_bytes());
    format!("{}-{}-8{}-a{}-{}", &hash[..8], &hash[8..12], &hash[13..16], &hash[17..20], &hash[20..32])
}

/// Seconds since 1970 as ISO 8601 has it.
fn utc(seconds: u64) -> String {
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    let is_leap =
        |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let (mut year, mut day) = (1970, days);
    while day >= 365 + u64::from(is_leap(year)) {
        day -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let mut month = 1;
    for length in [31, 28 + u64::from(is_leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30] {
        if day < length {
            break;
        }
        day -= length;
        month += 1;
    }
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{:02}T{hour:02}:{minute:02}:{second:02}Z", day + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_the_calendar() {
        assert_eq!(utc(0), "1970-01-01T00:00:00Z");
        assert_eq!(utc(951_827_696), "2000-02-29T12:34:56Z");
        assert_eq!(utc(1_735_689_599), "2024-12-31T23:59:59Z");
    }
}
