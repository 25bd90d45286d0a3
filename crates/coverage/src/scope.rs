//! Which goals count? Those of certain functions and, when parts of interest are named, only those within them.
//!
//! A goal outside is not among the goals of a campaign: nothing steers to it, and the campaign is complete without it.
//! Limit: a goal lies where a reader sees it, so one out of a macro belongs to the line that uses the macro.

use std::collections::BTreeSet;

use model::{FileId, FunctionId, Position, Program};

use crate::Goal;

/// The functions whose goals count, and the parts of interest within them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scope {
    functions: BTreeSet<FunctionId>,
    /// Where runs start, if that is known.
    start: Option<FunctionId>,
    /// Everything when empty.
    parts: Vec<Part>,
}

/// A part of the program that somebody is interested in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// Lines of a file, both ends included.
    Lines {
        file: FileId,
        first: u32,
        last: u32,
    },
    Function(FunctionId),
}

impl Scope {
    /// What a run from `root` may enter and the user wrote: neither harness nor functions without code.
    pub fn reachable_from(program: &Program, root: FunctionId) -> Self {
        let functions = analysis::call_graph::reachable(program, root).into_iter();
        let of = Self::of(functions.filter(|id| is_user(program, *id)));
        Self { start: Some(root), ..of }
    }

    /// What counts where runs begin with this function: what they may enter, and all functions in the file of a program's `main`, so that
    /// code which nothing calls is not overlooked.
    pub fn of_runs(program: &Program, function: FunctionId) -> Self {
        let mut scope = Self::reachable_from(program, function);
        let file_of = |id: FunctionId| program.function(id).span.map(|span| program.span(span).at.file);
        if program.function(function).name == "main" {
            let ids = (0..program.functions.len()).map(FunctionId::new);
            scope
                .functions
                .extend(ids.filter(|id| is_user(program, *id) && file_of(*id) == file_of(function)));
        }
        scope
    }

    /// All functions the user wrote.
    pub fn whole(program: &Program) -> Self {
        let ids = (0..program.functions.len()).map(FunctionId::new);
        Self::of(ids.filter(|id| is_user(program, *id)))
    }

    fn of(functions: impl Iterator<Item = FunctionId>) -> Self {
        Self { functions: functions.collect(), start: None, parts: Vec::new() }
    }

    /// The same functions, but only goals within one of `parts`; without parts, all goals.
    #[must_use]
    pub fn only(self, parts: Vec<Part>) -> Self {
        Self { parts, ..self }
    }

    /// Without these functions.
    #[must_use]
    pub fn without(mut self, left_out: impl Fn(FunctionId) -> bool) -> Self {
        self.functions.retain(|function| !left_out(*function));
        self
    }

    /// The function that runs are about, if there is one.
    pub fn start(&self) -> Option<FunctionId> {
        self.start
    }

    /// Whether goals of this function may count.
    pub fn contains(&self, function: FunctionId) -> bool {
        self.functions.contains(&function)
    }

    /// Whether this goal counts.
    pub fn includes(&self, program: &Program, goal: &Goal) -> bool {
        self.contains(goal.function) && self.is_of_interest(goal.function, goal.position(program))
    }

    /// Whether somebody is interested in what stands in this function at this position.
    pub fn is_of_interest(&self, function: FunctionId, at: Option<Position>) -> bool {
        self.parts.is_empty() || self.parts.iter().any(|part| part.contains(function, at))
    }

    /// The functions, in order.
    pub fn functions(&self) -> impl Iterator<Item = FunctionId> + '_ {
        self.functions.iter().copied()
    }
}

impl Part {
    fn contains(self, function: FunctionId, at: Option<Position>) -> bool {
        match self {
            Self::Lines { file, first, last } => {
                at.is_some_and(|at| at.file == file && (first..=last).contains(&at.line))
            }
            Self::Function(wanted) => function == wanted,
        }
    }
}

fn is_user(program: &Program, id: FunctionId) -> bool {
    let function = program.function(id);
    let in_system_header = function.span.is_some_and(|span| program.file(program.span(span).at.file).system);
    function.is_defined() && !function.generated && !in_system_header
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(file: u32, line: u32) -> Option<Position> {
        Some(Position { file: FileId(file), line, column: 1 })
    }

    #[test]
    fn without_parts_everything_is_of_interest() {
        let scope = Scope::of([FunctionId(0)].into_iter());
        assert!(scope.is_of_interest(FunctionId(0), None));
        assert!(scope.is_of_interest(FunctionId(0), at(3, 9)));
    }

    #[test]
    fn parts_add_up() {
        let lines = Part::Lines { file: FileId(1), first: 10, last: 12 };
        let scope = Scope::of([FunctionId(0), FunctionId(1)].into_iter())
            .only(vec![lines, Part::Function(FunctionId(1))]);
        for (function, place, expected) in [
            (0, at(1, 9), false),
            (0, at(1, 10), true),
            (0, at(1, 12), true),
            (0, at(1, 13), false),
            (0, at(2, 11), false),
            (0, None, false),
            (1, at(2, 11), true),
            (1, None, true),
        ] {
            assert_eq!(scope.is_of_interest(FunctionId(function), place), expected, "f{function} {place:?}");
        }
    }
}
