//! Assumptions of the user: macros in them are expanded as in the source, and errors in them are told as theirs.

use std::io::Write;
use std::process::Stdio;

use crate::clang::{ClangError, LENIENT, ParsedUnit, clang};
use crate::ctype::CFunction;
use crate::marks::{Marks, Unit};

use super::HarnessError;

/// An expression as written and without macros.
pub struct Assumption {
    pub written: String,
    pub expanded: String,
}

/// What stands between the source and the expressions in the preprocessor's output.
const SEPARATOR: &str = "__quarry_assumption__";

/// Expands the macros of the unit's source in every expression.
pub fn expand(marks: &Marks, unit: usize, written: &[String]) -> Result<Vec<Assumption>, HarnessError> {
    for expression in written {
        let refuse = |message: &str| {
            Err(HarnessError::Assume { expression: expression.clone(), message: message.to_owned() })
        };
        if expression.trim().is_empty() {
            return refuse("the expression is empty");
        }
        if expression.contains('\n') || expression.contains(SEPARATOR) {
            return refuse("the expression must be one line");
        }
    }
    if written.is_empty() {
        return Ok(Vec::new());
    }
    let output = preprocessed(&marks.units[unit], written)?;
    let parts = output.split(SEPARATOR).skip(1).map(|part| {
        let lines = part.lines().filter(|line| !line.trim_start().starts_with('#'));
        lines.map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
    });
    let mut expanded: Vec<String> = parts.collect();
    if expanded.len() != written.len() {
        expanded = written.to_vec();
    }
    let pairs = written.iter().cloned().zip(expanded);
    Ok(pairs.map(|(written, expanded)| Assumption { written, expanded }).collect())
}

fn preprocessed(unit: &Unit, written: &[String]) -> Result<String, HarnessError> {
    let mut input = format!("#include \"{}\"\n", unit.directory.join(&unit.source).display());
    for expression in written {
        input.push_str(&format!("{SEPARATOR}\n{expression}\n"));
    }
    let not_run = |error| HarnessError::Clang(ClangError::NotRun(error));
    let mut process = clang(&unit.directory)
        .args(&unit.preprocess)
        .args(LENIENT)
        .args(["-E", "-x", "c", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(not_run)?;
    let mut stdin = process.stdin.take().expect("stdin is a pipe");
    stdin.write_all(input.as_bytes()).map_err(not_run)?;
    drop(stdin);
    let output = process.wait_with_output().map_err(not_run)?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Parses the unit with its harness and tells errors of assumptions by their text.
pub fn check(
    marks: &Marks,
    function: &CFunction,
    harness: &str,
    assumed: &[Assumption],
) -> Result<(), HarnessError> {
    let unit = &marks.units[function.key.unit];
    let mut text =
        std::fs::read(&unit.text).map_err(|error| HarnessError::Read { file: unit.text.clone(), error })?;
    let first_line = text.iter().filter(|byte| **byte == b'\n').count() + 1;
    text.extend_from_slice(harness.as_bytes());
    let parsed = ParsedUnit::parse(&unit.text, &text, &unit.flags)?;
    let Some(error) = parsed.errors().into_iter().next() else { return Ok(()) };
    let lines: Vec<&str> = harness.lines().collect();
    let index = (error.line as usize).saturating_sub(first_line);
    let at = |index: usize| lines.get(index).map_or("", |line| line.trim());
    // A missing bracket is noticed on the line after.
    let near = [at(index), if index > 0 { at(index - 1) } else { "" }];
    let guilty = assumed.iter().find(|assumption| {
        let condition = format!("if (!({}))", assumption.expanded);
        near.contains(&condition.as_str())
    });
    Err(match guilty {
        Some(assumption) => {
            HarnessError::Assume { expression: assumption.written.clone(), message: error.message }
        }
        None => HarnessError::Rejected {
            function: function.key.name.clone(),
            message: error.message,
            line: at(index).to_owned(),
        },
    })
}
