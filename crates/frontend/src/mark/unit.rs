//! One unit from command to marks.

use std::collections::BTreeSet;
use std::path::Path;

use model::ctype::FunctionKey;
use model::{Condition, ConditionId, DecisionId, SourceFile, SpanId};

use crate::clang::{Diagnostic, LENIENT, ParsedUnit};
use crate::marks::{Comparison, MarkedDecision, Marks, Unit};
use crate::preprocess::{Text, check_syntax, preprocess};
use crate::sources::CompileCommand;

use super::draft::{Draft, DraftDecision, DraftLeaf};
use super::emit::marked_text;
use super::walk::walk;
use super::{MarkError, MarkOptions};

/// Preprocesses and marks one unit. Its text is to be called `name`; ids count from 0. `root` and the rest are as for the whole program.
pub fn mark(command: &CompileCommand, name: &str, options: &MarkOptions) -> Result<Marks, MarkError> {
    let text = preprocess(command, options.cache.as_ref())?;
    let parsed = ParsedUnit::parse(&command.source, &text.bytes(), &command.compile)?;
    if let Some(error) = parsed.errors().into_iter().next() {
        if let Some(rejected) = check_syntax(command)? {
            return Err(rejected.into());
        }
        return Err(rejected_text(command, error));
    }
    let mut draft = walk(&text, &parsed, &command.directory);
    drop(parsed);
    drop_rejected_marks(command, &text, &mut draft)?;
    written(command, text, draft, name, options)
}

fn rejected_text(command: &CompileCommand, error: Diagnostic) -> MarkError {
    MarkError::TextRejected { file: command.source.clone(), line: error.line, message: error.message }
}

/// Parses the marked text until the compiler accepts every mark left.
fn drop_rejected_marks(command: &CompileCommand, text: &Text, draft: &mut Draft) -> Result<(), MarkError> {
    loop {
        let marked = marked_text(text, draft, false);
        let errors = ParsedUnit::parse(&command.source, &marked, &command.compile)?.errors();
        let Some(first) = errors.first() else { return Ok(()) };
        let mut dropped: BTreeSet<usize> =
            errors.iter().filter_map(|error| innermost_mark(draft, error.line)).collect();
        if dropped.is_empty() {
            // The complaint stands elsewhere: give up the marks of the whole function it stands in.
            dropped = marks_of_function_at(draft, first.line);
        }
        if dropped.is_empty() {
            return Err(rejected_text(command, first.clone()));
        }
        draft.drop_decisions(&dropped);
    }
}

/// The decision whose smallest condition covers the line.
fn innermost_mark(draft: &Draft, line: u32) -> Option<usize> {
    let covering = draft.leaves.iter().filter(|leaf| leaf.lines.0 <= line && line <= leaf.lines.1);
    covering.min_by_key(|leaf| leaf.lines.1 - leaf.lines.0).map(|leaf| leaf.decision)
}

/// The decisions of the function that holds the statement nearest before the line.
fn marks_of_function_at(draft: &Draft, line: u32) -> BTreeSet<usize> {
    let before = draft.statements.iter().filter(|statement| statement.lines.0 <= line);
    let Some(statement) = before.max_by_key(|statement| statement.lines.0) else { return BTreeSet::new() };
    let name = &statement.function.name;
    let all = draft.decisions.iter().enumerate();
    all.filter(|(_, decision)| decision.function == *name).map(|(index, _)| index).collect()
}

/// Writes the unit's text; what was found of the unit.
fn written(
    command: &CompileCommand,
    text: Text,
    draft: Draft,
    name: &str,
    options: &MarkOptions,
) -> Result<Marks, MarkError> {
    // Absolute: compilers run in the units' own directories.
    let path = options.root.join(&options.directory).join(name);
    let marked = marked_text(&text, &draft, options.rename_main);
    std::fs::write(&path, marked).map_err(|error| MarkError::Write { file: path.clone(), error })?;
    let source = command.directory.join(&command.source);
    let unit = Unit {
        source: command.source.clone(),
        real_path: source.canonicalize().unwrap_or(source),
        text: path,
        first_condition: 0,
        flags: command.compile.iter().cloned().chain(LENIENT.iter().map(|flag| (*flag).to_owned())).collect(),
        preprocess: command.preprocess.clone(),
        directory: command.directory.clone(),
        bodies: draft.bodies.iter().copied().filter(|body| !has_pragma(&text, *body)).collect(),
        lines: text.spans_by_line(),
    };
    Ok(Marks {
        root: options.root.clone(),
        files: files(&text, command, &options.root),
        decisions: draft.decisions.iter().map(decision).collect(),
        conditions: draft.leaves.iter().map(condition).collect(),
        comparisons: draft.leaves.iter().zip((0..).map(ConditionId)).filter_map(comparison).collect(),
        boundaries: Vec::new(),
        units: vec![unit],
        spans: text.spans,
        declarations: draft.declarations,
        switches: draft.switches,
        statements: draft.statements,
        gaps: draft.gaps,
    })
}

/// Whether a line says something that may concern what follows the function, too.
fn has_pragma(text: &Text, (first, last): (u32, u32)) -> bool {
    (first..=last).any(|line| text.line(line).starts_with(b"#"))
}

/// The files of a text; relative ones count from the unit's directory.
fn files(text: &Text, command: &CompileCommand, root: &Path) -> Vec<SourceFile> {
    let own_path = |file: &SourceFile| {
        let mut file = file.clone();
        if command.directory != root && !file.path.starts_with(['/', '<']) {
            file.path = command.directory.join(&file.path).to_string_lossy().into_owned();
        }
        file
    };
    text.files.iter().map(own_path).collect()
}

fn decision(decision: &DraftDecision) -> MarkedDecision {
    MarkedDecision {
        function: FunctionKey { unit: 0, name: decision.function.clone() },
        span: decision.span.unwrap_or(SpanId(0)),
        kind: decision.kind,
        shape: decision.shape.clone(),
        text: decision.text.clone(),
    }
}

fn condition(leaf: &DraftLeaf) -> Condition {
    Condition {
        decision: DecisionId::new(leaf.decision),
        span: leaf.span.unwrap_or(SpanId(0)),
        text: leaf.text.clone(),
    }
}

fn comparison((leaf, condition): (&DraftLeaf, ConditionId)) -> Option<Comparison> {
    let (signed, sides) = leaf.compares.clone()?;
    Some(Comparison { condition, signed, sides })
}

#[cfg(test)]
mod tests {
    use model::{DecisionKind, Shape};

    use super::*;
    use crate::sources::Sources;

    /// A decision of one condition on the lines of one token.
    fn plant(draft: &mut Draft, text: &Text, token: &[u8]) {
        let line = (1..=text.n_lines()).rfind(|line| text.line(*line) == token).expect("the token is there");
        let word = String::from_utf8_lossy(token).into_owned();
        let decision = draft.decisions.len();
        let (lines, text) = ((line, line), word.clone());
        draft.leaves.push(DraftLeaf { decision, lines, span: None, text, compares: None });
        draft.decisions.push(DraftDecision {
            function: "f".to_owned(),
            kind: DecisionKind::Value,
            shape: Shape::Not(Box::new(Shape::Leaf(model::ConditionId::new(draft.leaves.len() - 1)))),
            span: None,
            text: word,
        });
    }

    #[test]
    fn marks_the_compiler_rejects_become_gaps_and_the_others_stay() {
        let directory = tempfile::tempdir().expect("temporary directory");
        let file = directory.path().join("a.c");
        std::fs::write(&file, "int f(int a) { long b = 3; return !a + b; }").expect("write");
        let sources = Sources { files: vec![file], ..Sources::below(directory.path()) };
        let command = &sources.commands().expect("the file can be read")[0];
        let text = preprocess(command, None).expect("the file compiles");
        let mut draft = Draft::default();
        for token in [b"long".as_slice(), b"a", b"return", b"3"] {
            plant(&mut draft, &text, token);
        }
        drop_rejected_marks(command, &text, &mut draft).expect("what is left compiles");
        let kept: Vec<_> = draft.decisions.iter().map(|decision| decision.text.as_str()).collect();
        assert_eq!(kept, ["a", "3"]);
        assert_eq!(draft.decisions[1].shape, Shape::Not(Box::new(Shape::Leaf(model::ConditionId::new(1)))));
        assert_eq!(draft.leaves[1].decision, 1);
        let gaps: Vec<_> = draft.gaps.iter().map(|gap| gap.what.as_str()).collect();
        assert_eq!(gaps, ["long", "return"]);
    }
}
