//! From debug information to the marked source: files to units, lines to spans, subprograms to functions.
//!
//! A unit's text has one token per line, so a line is a token. Limit: code that does not come from a unit's text (the
//! appended harness, inlined code) has no span.

use std::{
    collections::{BTreeMap, HashMap},
    path::{Path, PathBuf},
};

use model::ctype::FunctionKey;
use model::{FunctionId, SpanId};

use crate::llvm::{DebugNode, Ir, Value};
use crate::{mark::USER_MAIN, marks::Marks};

/// Finds spans and functions of the source for pieces of debug information.
pub(crate) struct SourceMap<'m, 'a> {
    ir: Ir<'m>,
    pub(crate) marks: &'a Marks,
    texts: BTreeMap<PathBuf, usize>,
    units: HashMap<DebugNode<'m>, Option<usize>>,
}

/// Where an instruction comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct InstructionOrigin {
    pub(crate) span: Option<SpanId>,
    /// Line in the unit's text; 0 when unknown.
    pub(crate) line: u32,
}

impl<'m, 'a> SourceMap<'m, 'a> {
    pub(crate) fn new(ir: Ir<'m>, marks: &'a Marks) -> Self {
        let texts = marks.units.iter().enumerate().map(|(unit, of)| (plain(&of.text), unit));
        Self { ir, marks, texts: texts.collect(), units: HashMap::new() }
    }

    /// The unit whose text a scope or variable lies in.
    pub(crate) fn unit(&mut self, scope: DebugNode<'m>) -> Option<usize> {
        if let Some(known) = self.units.get(&scope) {
            return *known;
        }
        let unit = scope.file().and_then(|file| {
            let (directory, name) = file.path();
            self.texts.get(&plain(&Path::new(&directory).join(name))).copied()
        });
        self.units.insert(scope, unit);
        unit
    }

    /// Span of the token on a line of the scope's text.
    pub(crate) fn span(&mut self, scope: DebugNode<'m>, line: u32) -> Option<SpanId> {
        let lines = &self.marks.units[self.unit(scope)?].lines;
        *lines.get(line.checked_sub(1)? as usize)?
    }

    /// Where an instruction comes from.
    pub(crate) fn place(&mut self, instruction: Value<'m>) -> InstructionOrigin {
        match instruction.location() {
            Some(location) if self.unit(location.scope).is_some() => {
                InstructionOrigin { span: self.span(location.scope, location.line), line: location.line }
            }
            Some(_) | None => InstructionOrigin::default(),
        }
    }

    /// Name for the user, and unit and name in the source when it comes from a unit's text.
    pub(crate) fn function(&mut self, function: Value<'m>) -> (String, Option<FunctionKey>) {
        let subprogram = function.subprogram();
        let name = subprogram.and_then(|node| self.ir.debug_name(node)).unwrap_or_else(|| function.name());
        let name = if name == USER_MAIN { "main".to_owned() } else { name };
        let unit = subprogram.and_then(|node| self.unit(node));
        let key = unit.map(|unit| FunctionKey { unit, name: name.clone() });
        (name, key)
    }
}

/// A path without `.` and `..`, so that equal files compare equal without asking the file system.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::CurDir => {}
            std::path::Component::ParentDir => {
                plain.pop();
            }
            std::path::Component::Prefix(_)
            | std::path::Component::RootDir
            | std::path::Component::Normal(_) => plain.push(part),
        }
    }
    plain
}

/// Functions by where they are written.
pub(crate) type FunctionKeys = BTreeMap<FunctionKey, FunctionId>;
