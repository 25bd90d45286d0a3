//! Two versions of a program, side by side: what changed, what that may affect, and why. As records and as text.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use analysis::Place;
use analysis::dataflow::ObjectId;
use analysis::impact::{Cause, Dependence, Impact};
use analysis::versions::{Change, Comparison, FunctionMatch, ItemKind, ItemMatch, Side};
use model::{FunctionId, Op, Program, SpanId};
use serde::{Deserialize, Serialize};

use crate::record::{SCHEMA, SourcePosition};
use crate::words::counted;

/// What changed since the version before, in the output directory of a campaign.
pub const VERSIONS_FILE: &str = "versions.json";

/// Two programs and what is between them.
#[derive(Clone, Copy)]
pub struct Versions<'a> {
    pub old: &'a Program,
    pub new: &'a Program,
    pub comparison: &'a Comparison,
    pub impact: &'a Impact,
}

/// What `quarry diff` found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VersionsRecord {
    pub schema: u32,
    pub old: String,
    pub new: String,
    /// How many functions are unchanged, changed, added, removed, renamed.
    pub functions: BTreeMap<String, usize>,
    /// How many statements of the new version, and of the old one those that were removed.
    pub statements: BTreeMap<String, usize>,
    pub n_impacted: usize,
    pub changes: Vec<FunctionChange>,
    pub impacted: Vec<ImpactedItem>,
}

/// A function that is different.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FunctionChange {
    pub function: String,
    /// Its other name in the old version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub renamed_from: Option<String>,
    pub change: String,
    /// Whether its parameters or its result are others.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub signature: bool,
    pub items: Vec<ItemChange>,
    /// Its source, where it was read.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub old_source: Option<SourceLines>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub new_source: Option<SourceLines>,
}

/// Lines of a file that follow each other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceLines {
    pub file: String,
    pub first: u32,
    pub last: u32,
    #[serde(default)]
    pub lines: Vec<String>,
}

/// A statement or label that is different.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ItemChange {
    pub change: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old: Option<ItemText>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new: Option<ItemText>,
    /// The conditions of the new version that are different themselves.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub conditions: Vec<ItemText>,
}

/// A piece of source.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ItemText {
    #[serde(flatten)]
    pub at: SourcePosition,
    pub text: String,
}

/// A statement that changed or may behave differently, and why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ImpactedItem {
    pub function: String,
    #[serde(flatten)]
    pub item: ItemText,
    /// `changed`, `added`, `moved` or `impacted`.
    pub state: String,
    pub reason: String,
    /// Its conditions that may behave differently.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub conditions: Vec<ItemText>,
}

/// One word for a change.
pub fn change_word(change: Change) -> &'static str {
    match change {
        Change::Unchanged => "unchanged",
        Change::Changed => "changed",
        Change::Added => "added",
        Change::Removed => "removed",
        Change::Moved => "moved",
    }
}

impl<'a> Versions<'a> {
    /// Everything as a record; the versions go by these names.
    pub fn record(&self, old: &str, new: &str) -> VersionsRecord {
        let functions = &self.comparison.functions;
        let mut n_functions: BTreeMap<String, usize> =
            ["unchanged", "changed", "added", "removed", "renamed"].map(|word| (word.to_owned(), 0)).into();
        let mut n_statements: BTreeMap<String, usize> =
            ["unchanged", "changed", "added", "removed", "moved"].map(|word| (word.to_owned(), 0)).into();
        for function in functions {
            *n_functions.entry(function_word(function).to_owned()).or_default() += 1;
            if function.renamed {
                *n_functions.entry("renamed".to_owned()).or_default() += 1;
            }
            for item in function.items.iter().filter(|item| is_statement(item)) {
                *n_statements.entry(change_word(item.change).to_owned()).or_default() += 1;
            }
        }
        let changed = functions.iter().filter(|function| function.is_changed() || function.renamed);
        let impacted = self.impacted();
        VersionsRecord {
            schema: SCHEMA,
            old: old.to_owned(),
            new: new.to_owned(),
            functions: n_functions,
            statements: n_statements,
            n_impacted: impacted.len(),
            changes: changed.map(|function| self.function(function)).collect(),
            impacted,
        }
    }

    fn function(&self, of: &FunctionMatch) -> FunctionChange {
        let name = |program: &Program, id: FunctionId| program.function(id).name.clone();
        let old = of.old.map(|id| name(self.old, id));
        let function = of.new.map(|id| name(self.new, id)).or_else(|| old.clone()).unwrap_or_default();
        // of a function that is new or gone everything is
        let is_whole = of.old.is_none() || of.new.is_none();
        let items = of.items.iter().filter(|item| item.change != Change::Unchanged && !is_whole);
        FunctionChange {
            renamed_from: old.filter(|_| of.renamed),
            function,
            change: function_word(of).to_owned(),
            signature: of.signature,
            items: items.filter_map(|item| self.item(item)).collect(),
            old_source: of.old.and_then(|id| extent(self.old, id)),
            new_source: of.new.and_then(|id| extent(self.new, id)),
        }
    }

    fn item(&self, item: &ItemMatch) -> Option<ItemChange> {
        let old = item.old.as_ref().and_then(|side| text(self.old, side));
        let new = item.new.as_ref().and_then(|side| text(self.new, side));
        if old.is_none() && new.is_none() {
            return None;
        }
        let conditions = item.new.iter().flat_map(|side| &side.marks);
        let conditions = conditions.filter(|(id, _)| self.impact.is_changed_condition(*id));
        let conditions: BTreeSet<ItemText> = conditions.map(|(id, _)| self.condition(*id)).collect();
        let change = change_word(item.change).to_owned();
        Some(ItemChange { change, old, new, conditions: conditions.into_iter().collect() })
    }

    fn condition(&self, id: model::ConditionId) -> ItemText {
        let condition = self.new.condition(id);
        ItemText { at: SourcePosition::of(self.new, condition.span), text: condition.text.clone() }
    }

    /// The statements that are impacted, in order.
    pub fn impacted(&self) -> Vec<ImpactedItem> {
        let mut found = Vec::new();
        for function in &self.comparison.functions {
            let Some(id) = function.new else { continue };
            for item in &function.items {
                let Some(side) = item.new.as_ref().filter(|side| matches!(side.kind, ItemKind::Statement(_)))
                else {
                    continue;
                };
                let Some(text) = text(self.new, side) else { continue };
                let Some((state, reason)) = self.why(item.change, side) else { continue };
                let marks = side.marks.iter().filter(|(_, place)| self.impact.contains(*place));
                let conditions: BTreeSet<ItemText> = marks.map(|(id, _)| self.condition(*id)).collect();
                found.push(ImpactedItem {
                    function: self.new.function(id).name.clone(),
                    item: text,
                    state: state.to_owned(),
                    reason,
                    conditions: conditions.into_iter().collect(),
                });
            }
        }
        found
    }

    /// Why a statement is impacted; nothing when it is not.
    fn why(&self, change: Change, side: &Side) -> Option<(&'static str, String)> {
        let here = side.span?;
        let line = self.new.span(here).at.line;
        match change {
            Change::Changed => return Some(("changed", format!("line {line} is different"))),
            Change::Added => return Some(("added", format!("line {line} is new"))),
            Change::Moved => return Some(("moved", format!("line {line} was elsewhere"))),
            Change::Unchanged | Change::Removed => {}
        }
        let causes: Vec<Cause> = side.places.iter().filter_map(|place| self.impact.cause(*place)).collect();
        let outer = causes.iter().find(|cause| self.is_from_outside(here, **cause));
        let cause = outer.or(causes.first())?;
        Some(("impacted", self.reason(line, here, *cause)))
    }

    fn is_from_outside(&self, here: SpanId, cause: Cause) -> bool {
        match cause {
            Cause::Changed(_) | Cause::Depended { .. } => true,
            Cause::Depends { on, .. } => self.comparison.new_span(on) != Some(here),
        }
    }

    /// What a parameter was given, in place of the code at the entry that takes it.
    fn through_parameter(&self, on: Place, how: Dependence) -> (Place, Dependence) {
        match self.impact.cause(on) {
            Some(Cause::Depends { on: given, how: Dependence::Argument })
                if self.comparison.new_span(on).is_none() =>
            {
                (given, Dependence::Argument)
            }
            Some(_) | None => (on, how),
        }
    }

    /// A cause as a sentence about a line.
    fn reason(&self, line: u32, here: SpanId, cause: Cause) -> String {
        match cause {
            Cause::Changed(_) => format!("values reach line {line} in another way"),
            Cause::Depends { on, how } => {
                let (on, how) = self.through_parameter(on, how);
                let at = self.comparison.new_span(on);
                let state = match at {
                    Some(span) if self.impact.is_changed(span) => "changed ",
                    Some(_) | None => "",
                };
                let from = self.place(self.new, here, at, on);
                self.words(line, how, &format!("{state}{from}"), on, self.new)
            }
            Cause::Depended { on, how } => {
                let at = self.comparison.old_span(on);
                let from = at.map_or_else(
                    || format!("the end of {}", self.old.function(on.function).name),
                    |span| format!("line {}", self.old.span(span).at.line),
                );
                match how {
                    Dependence::Control | Dependence::Call => {
                        format!("{from} of the old version, decided whether line {line} is executed")
                    }
                    Dependence::Variable(_) => format!(
                        "line {line} used {}, which {from} of the old version defined",
                        self.old_variable(on).unwrap_or_else(|| "a variable".to_owned())
                    ),
                    Dependence::Value | Dependence::Memory | Dependence::Argument | Dependence::Result => {
                        format!("line {line} took a value from {from} of the old version")
                    }
                }
            }
        }
    }

    fn words(&self, line: u32, how: Dependence, from: &str, on: Place, program: &Program) -> String {
        match how {
            Dependence::Variable(object) => {
                let name = self.variable(object, on, program);
                format!("line {line} uses {name}, defined at {from}")
            }
            Dependence::Value => format!("line {line} takes a value from {from}"),
            Dependence::Memory => format!("line {line} may read memory that {from} writes"),
            Dependence::Control => format!("{from} decides whether line {line} is executed"),
            Dependence::Argument => format!("line {line} uses an argument that {from} gives"),
            Dependence::Call => format!("the function of line {line} is called at {from}"),
            Dependence::Result => {
                format!("line {line} takes the result of {}", program.function(on.function).name)
            }
        }
    }

    fn place(&self, program: &Program, here: SpanId, at: Option<SpanId>, on: Place) -> String {
        let Some(at) = at else { return format!("the end of {}", program.function(on.function).name) };
        let (from, to) = (program.span(at).at, program.span(here).at);
        if from.file == to.file {
            format!("line {}", from.line)
        } else {
            format!("{}:{}", program.file(from.file).path, from.line)
        }
    }

    fn variable(&self, object: ObjectId, on: Place, program: &Program) -> String {
        self.impact.name(object).map_or_else(|| stored(program, on).unwrap_or_default(), str::to_owned)
    }

    fn old_variable(&self, on: Place) -> Option<String> {
        stored(self.old, on)
    }
}

/// Where a function is written, as far as its code says.
fn extent(program: &Program, id: FunctionId) -> Option<SourceLines> {
    let function = program.function(id);
    let start = program.span(function.span?).at;
    let spans = function.instrs.iter().filter_map(|instr| instr.span);
    let spans = spans.chain(function.blocks.iter().filter_map(|block| block.span));
    let lines = spans.map(|span| program.span(span).at).filter(|at| at.file == start.file).map(|at| at.line);
    let last = lines.max().unwrap_or(start.line).max(start.line);
    let file = program.file(start.file).path.clone();
    Some(SourceLines { file, first: start.line, last, lines: Vec::new() })
}

/// The variable that a store names.
fn stored(program: &Program, on: Place) -> Option<String> {
    let Some(Op::Store { address, .. }) = on.op(program) else { return None };
    let variable = program.variables.iter().find(|variable| match (variable.storage, address) {
        (model::Storage::Stack(function, instr), model::Operand::Result(id)) => {
            function == on.function && instr == *id
        }
        (model::Storage::Global(global), model::Operand::Global { global: id, .. }) => global == *id,
        (model::Storage::Stack(..) | model::Storage::Global(_), _) => false,
    });
    variable.map(|variable| variable.name.clone())
}

fn is_statement(item: &ItemMatch) -> bool {
    let side = item.new.as_ref().or(item.old.as_ref());
    side.is_some_and(|side| matches!(side.kind, ItemKind::Statement(_)))
}

fn function_word(function: &FunctionMatch) -> &'static str {
    match (function.old, function.new) {
        (None, _) => "added",
        (_, None) => "removed",
        (Some(_), Some(_)) if function.is_changed() => "changed",
        (Some(_), Some(_)) => "unchanged",
    }
}

fn text(program: &Program, side: &Side) -> Option<ItemText> {
    let at = SourcePosition::of(program, side.span?);
    let text = match side.kind {
        ItemKind::Entry => return None,
        ItemKind::Statement(statement) => program.statement(statement).text.clone(),
        ItemKind::Label(switch, number) => program.switch(switch).labels[number as usize].to_string(),
    };
    Some(ItemText { at, text })
}

impl VersionsRecord {
    /// For people: changes, then what they may affect.
    pub fn listing(&self) -> String {
        let mut text = format!("{} → {}\n", self.old, self.new);
        let n = |of: &BTreeMap<String, usize>, word: &str| of.get(word).copied().unwrap_or(0);
        let words = |of: &BTreeMap<String, usize>, words: &[&str]| {
            let some = words.iter().filter(|word| n(of, word) > 0);
            some.map(|word| format!("{} {word}", n(of, word))).collect::<Vec<_>>().join(", ")
        };
        let all = ["changed", "added", "removed", "renamed", "moved", "unchanged"];
        _ = writeln!(text, "functions: {}", words(&self.functions, &all));
        _ = writeln!(text, "statements: {}", words(&self.statements, &all));
        for change in &self.changes {
            text.push('\n');
            change.write(&mut text);
        }
        let only: Vec<&ImpactedItem> = self.impacted.iter().filter(|item| item.state == "impacted").collect();
        if self.changes.is_empty() {
            text.push_str("no difference\n");
            return text;
        }
        _ = writeln!(text, "\n{} impacted beside what changed", counted(only.len(), "statement"));
        let mut function = "";
        for item in only {
            if item.function != function {
                function = &item.function;
                _ = writeln!(text, "{function}");
            }
            let ItemText { at, text: source } = &item.item;
            _ = writeln!(text, "    {}:{}  {source}", at.line, at.column);
            _ = writeln!(text, "        because {}", item.reason);
        }
        text
    }
}

impl FunctionChange {
    fn write(&self, text: &mut String) {
        let renamed = self.renamed_from.as_ref().map(|old| format!(", was {old}")).unwrap_or_default();
        let signature = if self.signature { ", another signature" } else { "" };
        let change =
            if self.items.is_empty() && self.renamed_from.is_some() { "renamed" } else { &self.change };
        _ = writeln!(text, "{}: {change}{renamed}{signature}", self.function);
        for item in &self.items {
            let at = |of: &ItemText| format!("{}:{}  {}", of.at.line, of.at.column, of.text);
            match (&item.old, &item.new) {
                (Some(old), Some(new)) if item.change == "moved" => {
                    _ = writeln!(text, "  > {}  (was at {}:{})", at(new), old.at.line, old.at.column);
                }
                (Some(old), Some(new)) if old.text == new.text => {
                    _ = writeln!(text, "  ~ {}  (what it uses is different)", at(new));
                }
                (Some(old), Some(new)) => {
                    _ = writeln!(text, "  - {}\n  + {}", at(old), at(new));
                }
                (Some(old), None) => _ = writeln!(text, "  - {}", at(old)),
                (None, Some(new)) => _ = writeln!(text, "  + {}", at(new)),
                (None, None) => {}
            }
        }
    }
}
