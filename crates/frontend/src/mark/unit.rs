//! One unit from command to marks, and putting units together.

use std::collections::BTreeSet;
use std::path::Path;
use std::thread;

use cache::Cache;
use model::ctype::{CFunction, CTypeKind, FunctionKey};
use model::{Condition, DecisionId, Position, Span, SpanId};

use crate::clang::{Diagnostic, LENIENT, ParsedUnit};
use crate::compilers::Group;
use crate::marks::{MarkedDecision, Marks, Unit};
use crate::preprocess::{Text, check_syntax, preprocess};
use crate::sources::CompileCommand;

use super::MarkError;
use super::draft::{Draft, Renumber};
use super::emit::marked_text;
use super::walk::walk;

/// A unit whose ids are its own.
pub struct Found<'a> {
    command: &'a CompileCommand,
    text: Text,
    draft: Draft,
}

/// Deep expressions recurse deeply.
const STACK: usize = 256 << 20;

/// Reads all units, several at a time; results are in the order of the commands.
pub fn find_all<'c>(
    commands: &'c [CompileCommand],
    cache: Option<&Cache>,
) -> Vec<Result<Found<'c>, MarkError>> {
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let group = &Group::current();
    let mut results = Vec::new();
    for some in commands.chunks(threads) {
        thread::scope(|scope| {
            let spawn = |command| {
                let builder = thread::Builder::new().stack_size(STACK);
                let find = move || group.run(|| find(command, cache));
                builder.spawn_scoped(scope, find).expect("a thread can be started")
            };
            let handles: Vec<_> = some.iter().map(spawn).collect();
            for handle in handles {
                results.push(handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            }
        });
    }
    results
}

fn find<'c>(command: &'c CompileCommand, cache: Option<&Cache>) -> Result<Found<'c>, MarkError> {
    let text = preprocess(command, cache)?;
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
    Ok(Found { command, text, draft })
}

fn rejected_text(command: &CompileCommand, error: Diagnostic) -> MarkError {
    MarkError::TextRejected { file: command.source.clone(), line: error.line, message: error.message }
}

/// Parses the marked text until the compiler accepts every mark left.
fn drop_rejected_marks(command: &CompileCommand, text: &Text, draft: &mut Draft) -> Result<(), MarkError> {
    loop {
        let marked = marked_text(text, draft, 0, false);
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

/// Writes the unit's text into `directory` and appends what was found to `marks`.
pub fn add(
    marks: &mut Marks,
    found: Found<'_>,
    directory: &Path,
    rename_main: bool,
) -> Result<(), MarkError> {
    let Found { command, text, draft } = found;
    let unit = marks.units.len();
    let stem = command.source.file_stem().map(|stem| stem.to_string_lossy()).unwrap_or_default();
    let path = directory.join(format!("{unit}-{stem}.i"));
    let marked = marked_text(&text, &draft, marks.conditions.len(), rename_main);
    std::fs::write(&path, marked).map_err(|error| MarkError::Write { file: path.clone(), error })?;

    let base = Base { unit, span: marks.spans.len(), ty: marks.declarations.types.types.len() };
    add_files(marks, &text, command);
    let source = command.directory.join(&command.source);
    marks.units.push(Unit {
        source: command.source.clone(),
        real_path: source.canonicalize().unwrap_or(source),
        text: path,
        flags: command.compile.iter().cloned().chain(LENIENT.iter().map(|flag| (*flag).to_owned())).collect(),
        preprocess: command.preprocess.clone(),
        directory: command.directory.clone(),
        bodies: draft.bodies.iter().copied().filter(|body| !has_pragma(&text, *body)).collect(),
        lines: text.spans_by_line().into_iter().map(|span| span.map(|span| base.span(span))).collect(),
    });
    add_decisions(marks, &draft, &base);
    add_declarations(marks, draft, &base);
    Ok(())
}

/// Whether a line says something that may concern what follows the function, too.
fn has_pragma(text: &Text, (first, last): (u32, u32)) -> bool {
    (first..=last).any(|line| text.line(line).starts_with(b"#"))
}

/// Where the unit's ids start among those of the program.
struct Base {
    unit: usize,
    span: usize,
    ty: usize,
}

impl Base {
    fn span(&self, span: SpanId) -> SpanId {
        SpanId::new(self.span + span.index())
    }

    fn key(&self, name: String) -> FunctionKey {
        FunctionKey { unit: self.unit, name }
    }

    fn ty(&self, ty: &mut model::ctype::CTypeId) {
        ty.0 += u32::try_from(self.ty).expect("fewer than 2^32 types");
    }

    fn function(&self, function: &mut CFunction) {
        function.key.unit = self.unit;
        function.span = self.span(function.span);
        self.ty(&mut function.result);
        function.parameters.iter_mut().for_each(|parameter| self.ty(&mut parameter.ty));
    }
}

/// Files are shared between units when they are the same path; relative ones count from the unit's directory.
fn add_files(marks: &mut Marks, text: &Text, command: &CompileCommand) {
    let root = marks.root.clone();
    let ids: Vec<_> = text
        .files
        .iter()
        .map(|file| {
            let mut file = file.clone();
            if command.directory != root && !file.path.starts_with(['/', '<']) {
                file.path = command.directory.join(&file.path).to_string_lossy().into_owned();
            }
            let known = marks.files.iter().position(|known| known.path == file.path);
            let index = known.unwrap_or_else(|| {
                marks.files.push(file);
                marks.files.len() - 1
            });
            model::FileId::new(index)
        })
        .collect();
    let moved = |position: Position| Position { file: ids[position.file.index()], ..position };
    let spans = text.spans.iter().map(|span| Span { at: moved(span.at), spelled: span.spelled.map(moved) });
    marks.spans.extend(spans);
}

fn add_decisions(marks: &mut Marks, draft: &Draft, base: &Base) {
    let first_decision = marks.decisions.len();
    let first_condition = marks.conditions.len();
    let span = |span: Option<SpanId>| base.span(span.unwrap_or(SpanId(0)));
    for decision in &draft.decisions {
        let mut shape = decision.shape.clone();
        shape.renumber(&|index| first_condition + index);
        marks.decisions.push(MarkedDecision {
            function: base.key(decision.function.clone()),
            span: span(decision.span),
            kind: decision.kind,
            shape,
            text: decision.text.clone(),
        });
    }
    for leaf in &draft.leaves {
        marks.conditions.push(Condition {
            decision: DecisionId::new(first_decision + leaf.decision),
            span: span(leaf.span),
            text: leaf.text.clone(),
        });
    }
}

fn add_declarations(marks: &mut Marks, draft: Draft, base: &Base) {
    for mut ty in draft.declarations.types.types {
        match &mut ty.kind {
            CTypeKind::Pointer { to, .. } => base.ty(to),
            CTypeKind::Array { element, .. } => base.ty(element),
            CTypeKind::Struct { members, .. } => {
                members.iter_mut().for_each(|member| base.ty(&mut member.ty))
            }
            CTypeKind::Void
            | CTypeKind::Bool
            | CTypeKind::Char { .. }
            | CTypeKind::Integer { .. }
            | CTypeKind::Enum { .. }
            | CTypeKind::Float { .. }
            | CTypeKind::Other => {}
            CTypeKind::Function(signature) => {
                base.ty(&mut signature.result);
                signature.parameters.iter_mut().for_each(|parameter| base.ty(parameter));
            }
        }
        marks.declarations.types.types.push(ty);
    }
    for mut function in draft.declarations.functions {
        base.function(&mut function);
        marks.declarations.functions.push(function);
    }
    for mut foreign in draft.declarations.foreign {
        base.function(&mut foreign.function);
        marks.declarations.foreign.push(foreign);
    }
    for mut global in draft.declarations.globals {
        global.unit = base.unit;
        global.span = base.span(global.span);
        base.ty(&mut global.ty);
        marks.declarations.globals.push(global);
    }
    for mut variable in draft.declarations.statics {
        variable.unit = base.unit;
        variable.span = base.span(variable.span);
        base.ty(&mut variable.ty);
        marks.declarations.statics.push(variable);
    }
    for mut switch in draft.switches {
        switch.function.unit = base.unit;
        switch.span = base.span(switch.span);
        switch.labels.iter_mut().for_each(|label| label.span = base.span(label.span));
        marks.switches.push(switch);
    }
    for mut statement in draft.statements {
        statement.function.unit = base.unit;
        statement.span = base.span(statement.span);
        marks.statements.push(statement);
    }
    for mut gap in draft.gaps {
        gap.span = gap.span.map(|span| base.span(span));
        marks.gaps.push(gap);
    }
}

#[cfg(test)]
mod tests {
    use model::{DecisionKind, Shape};

    use super::*;
    use crate::mark::draft::{DraftDecision, DraftLeaf};
    use crate::sources::Sources;

    /// A decision of one condition on the lines of one token.
    fn plant(draft: &mut Draft, text: &Text, token: &[u8]) {
        let line = (1..=text.n_lines()).rfind(|line| text.line(*line) == token).expect("the token is there");
        let word = String::from_utf8_lossy(token).into_owned();
        let decision = draft.decisions.len();
        draft.leaves.push(DraftLeaf { decision, lines: (line, line), span: None, text: word.clone() });
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
