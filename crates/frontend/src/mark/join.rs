//! Marked units to a program: ids of a unit, which count from 0, become ids of the whole.

use model::ctype::{CFunction, CTypeId, CTypeKind, FunctionKey};
use model::{ConditionId, DecisionId, FileId, Position, SpanId};

use super::draft::Renumber;
use crate::marks::Marks;

/// Where the ids of a unit start among those of the program.
struct Base {
    unit: usize,
    span: usize,
    ty: usize,
    decision: usize,
    condition: usize,
}

/// Appends what was found in one unit to a program.
pub fn join(marks: &mut Marks, unit: Marks) {
    let base = Base {
        unit: marks.units.len(),
        span: marks.spans.len(),
        ty: marks.declarations.types.types.len(),
        decision: marks.decisions.len(),
        condition: marks.conditions.len(),
    };
    let files: Vec<FileId> = unit.files.iter().map(|file| shared_file(marks, file)).collect();
    let moved = |position: Position| Position { file: files[position.file.index()], ..position };
    marks.spans.extend(
        unit.spans.iter().map(|span| model::Span { at: moved(span.at), spelled: span.spelled.map(moved) }),
    );
    for mut unit in unit.units {
        unit.first_condition = u32::try_from(base.condition).expect("fewer than 2^32 conditions");
        unit.lines.iter_mut().flatten().for_each(|span| base.span(span));
        marks.units.push(unit);
    }
    for mut decision in unit.decisions {
        base.key(&mut decision.function);
        base.span(&mut decision.span);
        decision.shape.renumber(&|index| base.condition + index);
        marks.decisions.push(decision);
    }
    for mut condition in unit.conditions {
        condition.decision = DecisionId::new(base.decision + condition.decision.index());
        base.span(&mut condition.span);
        marks.conditions.push(condition);
    }
    for mut comparison in unit.comparisons {
        comparison.condition = ConditionId::new(base.condition + comparison.condition.index());
        marks.comparisons.push(comparison);
    }
    for mut switch in unit.switches {
        base.key(&mut switch.function);
        base.span(&mut switch.span);
        switch.labels.iter_mut().for_each(|label| base.span(&mut label.span));
        marks.switches.push(switch);
    }
    for mut statement in unit.statements {
        base.key(&mut statement.function);
        base.span(&mut statement.span);
        marks.statements.push(statement);
    }
    for mut gap in unit.gaps {
        gap.span.iter_mut().for_each(|span| base.span(span));
        marks.gaps.push(gap);
    }
    join_declarations(marks, unit.declarations, &base);
}

/// Files are shared between units when they are the same path.
fn shared_file(marks: &mut Marks, file: &model::SourceFile) -> FileId {
    let known = marks.files.iter().position(|known| known.path == file.path);
    FileId::new(known.unwrap_or_else(|| {
        marks.files.push(file.clone());
        marks.files.len() - 1
    }))
}

fn join_declarations(marks: &mut Marks, of_unit: model::ctype::Declarations, base: &Base) {
    let declarations = &mut marks.declarations;
    for mut ty in of_unit.types.types {
        base.parts(&mut ty.kind);
        declarations.types.types.push(ty);
    }
    for mut function in of_unit.functions {
        base.function(&mut function);
        declarations.functions.push(function);
    }
    for mut foreign in of_unit.foreign {
        base.function(&mut foreign.function);
        declarations.foreign.push(foreign);
    }
    for mut global in of_unit.globals {
        global.unit = base.unit;
        base.span(&mut global.span);
        base.ty(&mut global.ty);
        declarations.globals.push(global);
    }
    for mut variable in of_unit.statics {
        variable.unit = base.unit;
        base.span(&mut variable.span);
        base.ty(&mut variable.ty);
        declarations.statics.push(variable);
    }
}

impl Base {
    fn span(&self, span: &mut SpanId) {
        *span = SpanId::new(self.span + span.index());
    }

    fn key(&self, key: &mut FunctionKey) {
        key.unit = self.unit;
    }

    fn ty(&self, ty: &mut CTypeId) {
        ty.0 += u32::try_from(self.ty).expect("fewer than 2^32 types");
    }

    fn function(&self, function: &mut CFunction) {
        self.key(&mut function.key);
        self.span(&mut function.span);
        self.ty(&mut function.result);
        function.parameters.iter_mut().for_each(|parameter| self.ty(&mut parameter.ty));
    }

    /// The types that a type consists of.
    fn parts(&self, kind: &mut CTypeKind) {
        match kind {
            CTypeKind::Pointer { to, .. } => self.ty(to),
            CTypeKind::Array { element, .. } => self.ty(element),
            CTypeKind::Struct { members, .. } => {
                members.iter_mut().for_each(|member| self.ty(&mut member.ty));
            }
            CTypeKind::Function(signature) => {
                self.ty(&mut signature.result);
                signature.parameters.iter_mut().for_each(|parameter| self.ty(parameter));
            }
            CTypeKind::Void
            | CTypeKind::Bool
            | CTypeKind::Char { .. }
            | CTypeKind::Integer { .. }
            | CTypeKind::Enum { .. }
            | CTypeKind::Float { .. }
            | CTypeKind::Other => {}
        }
    }
}

/// A marked text in which conditions have the numbers that they have in the program: those of the text count from 0.
pub fn renumbered(text: &str, first_condition: u32) -> String {
    let mut renumbered = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let mut rest = line;
        // marks stand before the token of a line, and no token begins like one
        while let Some((number, after)) = rest.strip_prefix(MARK).and_then(|rest| rest.split_once(",("))
            && let Ok(number) = number.parse::<u32>()
        {
            renumbered.push_str(&format!("{MARK}{},(", number + first_condition));
            rest = after;
        }
        renumbered.push_str(rest);
    }
    renumbered
}

/// How a mark begins.
const MARK: &str = "__q(";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_of_a_text_are_renumbered_and_nothing_else_is() {
        let text = "extern _Bool __q(unsigned, _Bool);\nif\n(\n__q(0,(__q(12,(x\n==\n\"__q(3,(\"))\n";
        let expected = "extern _Bool __q(unsigned, _Bool);\nif\n(\n__q(7,(__q(19,(x\n==\n\"__q(3,(\"))\n";
        assert_eq!(renumbered(text, 7), expected);
        assert_eq!(renumbered(text, 0), text);
    }
}
