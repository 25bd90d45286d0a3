//! Walks a unit: declarations and statements. Expressions are [`super::decide`]'s.

use std::collections::{BTreeSet, HashSet};
use std::path::Path;

use model::ctype::{CFunction, CGlobal, CStatic, FunctionKey};
use model::{DecisionKind, Label, LabelValues, SpanId, StatementKind};

use crate::clang::{Constant, Cursor, Node, ParsedUnit};
use crate::marks::{MarkedStatement, MarkedSwitch};
use crate::preprocess::Text;

use super::draft::{Draft, OpenSwitch};
use super::foreign::foreign;
use super::spelling::Spelling;
use super::tokens;
use super::types::TypeTable;

/// The state of a walk through one unit.
pub struct Walk<'a> {
    pub(super) text: &'a Text,
    pub(super) spelling: Spelling<'a>,
    pub(super) draft: Draft,
    /// Name of the function whose body is walked.
    pub(super) function: String,
    /// Lines of decisions found: libclang shows some expressions twice (initialiser lists).
    pub(super) seen: HashSet<(u32, u32)>,
    types: TypeTable<'a>,
    switches: Vec<OpenSwitch>,
}

/// Finds everything in a parsed unit; the compiler ran in `directory`.
pub fn walk(text: &Text, parsed: &ParsedUnit, directory: &Path) -> Draft {
    let mut walk = Walk {
        text,
        spelling: Spelling::new(text, directory),
        draft: Draft::default(),
        function: String::new(),
        seen: HashSet::new(),
        types: TypeTable::new(text, parsed.pointer_bytes()),
        switches: Vec::new(),
    };
    let mut globals = BTreeSet::new();
    for declaration in parsed.root().children() {
        match declaration.node() {
            Node::Function => walk.function_declaration(declaration),
            Node::Variable => walk.global(declaration, &mut globals),
            _ => {}
        }
    }
    walk.draft.declarations.foreign = foreign(text, parsed.root(), &mut walk.types);
    walk.draft.declarations.types = walk.types.types;
    if !walk.draft.main_names.is_empty() {
        walk.draft.main_names = names_of_main(text, parsed.root());
    }
    walk.draft
}

/// Lines that name the function `main`: declarations, the definition, and uses anywhere.
fn names_of_main(text: &Text, root: Cursor<'_>) -> Vec<u32> {
    let candidates: BTreeSet<u32> = (1..=text.n_lines()).filter(|line| text.line(*line) == b"main").collect();
    let mut names = Vec::new();
    let mut open = vec![root];
    while let Some(cursor) = open.pop() {
        let names_main = match cursor.node() {
            Node::Function => cursor.name() == "main",
            Node::Reference => {
                candidates.contains(&cursor.name_line()) && cursor.referenced().node() == Node::Function
            }
            _ => false,
        };
        if names_main {
            names.push(cursor.name_line());
        }
        let (first, last) = cursor.lines();
        if cursor.node() == Node::Other || candidates.range(first..=last.max(first)).next().is_some() {
            open.extend(cursor.children());
        }
    }
    names
}

impl Walk<'_> {
    fn function_declaration(&mut self, cursor: Cursor<'_>) {
        let name = cursor.name();
        let name_line = cursor.name_line();
        if name == "main" {
            self.draft.main_names.push(name_line);
        }
        if !cursor.is_definition() {
            return;
        }
        let Some(body) = cursor.children().into_iter().rfind(|child| child.node() == Node::Compound) else {
            return;
        };
        self.draft.bodies.push(body.lines());
        if self.text.in_system_header(name_line) {
            return;
        }
        let Some(span) = self.text.span(name_line) else { return };
        let result = self.types.id(cursor.result_type(), "int");
        if name == "main" && cursor.result_type().canonical().spelling() == "int" {
            self.draft.main_end = Some(body.lines().1);
        }
        self.function = name;
        let parameters = cursor.arguments().into_iter().map(|cursor| self.types.parameter(cursor)).collect();
        self.draft.declarations.functions.push(CFunction {
            canonical: cursor.ty().canonical().spelling(),
            key: self.key(),
            span,
            system: false,
            is_static: cursor.is_static(),
            variadic: cursor.is_variadic(),
            parameters,
            result,
        });
        self.statement(body);
        self.statics(body);
    }

    /// Finds the static variables of a function.
    fn statics(&mut self, cursor: Cursor<'_>) {
        for child in cursor.children() {
            if child.node() == Node::Variable && child.is_static() {
                self.static_variable(child);
            }
            self.statics(child);
        }
    }

    fn static_variable(&mut self, cursor: Cursor<'_>) {
        let Some(span) = self.text.span(cursor.name_line()) else { return };
        let (name, ty) = (cursor.name(), cursor.ty());
        if ty.is_const() || ty.innermost_element().is_const() {
            return;
        }
        // by its canonical name: a typedef may be known in the function alone
        let ty = self.types.id(ty.canonical(), "int");
        let function = self.function.clone();
        let is_same = |other: &CStatic| other.function == function && other.name == name;
        let is_repeated = self.draft.declarations.statics.iter().any(is_same);
        self.draft.declarations.statics.push(CStatic { unit: 0, function, name, span, ty, is_repeated });
    }

    fn global(&mut self, cursor: Cursor<'_>, seen: &mut BTreeSet<String>) {
        let line = cursor.name_line();
        let Some(span) = self.text.span(line) else { return };
        let name = cursor.name();
        // A declaration without `extern` defines the variable, unless a later one does: the type is the same.
        if cursor.is_extern() || self.text.in_system_header(line) || !seen.insert(name.clone()) {
            return;
        }
        let ty = cursor.ty();
        let is_const = ty.is_const() || ty.innermost_element().is_const();
        let ty = self.types.id(ty, &format!("__typeof__({name})"));
        self.draft.declarations.globals.push(CGlobal {
            unit: 0,
            name,
            span,
            ty,
            is_const,
            is_static: cursor.is_static(),
        });
    }

    /// The function being walked; its unit is set when units are put together.
    fn key(&self) -> FunctionKey {
        FunctionKey { unit: 0, name: self.function.clone() }
    }

    pub(super) fn span(&self, line: u32) -> Option<SpanId> {
        self.text.span(line)
    }

    fn executable(&mut self, first: u32, last: u32) {
        self.executable_of(StatementKind::Other, first, last);
    }

    fn executable_of(&mut self, kind: StatementKind, first: u32, last: u32) {
        let Some(span) = self.span(first) else { return };
        let (function, text) = (self.key(), self.spelling.of(first, last));
        self.draft.statements.push(MarkedStatement { function, kind, span, lines: (first, last), text });
    }

    /// Walks a statement (or an expression that stands as one).
    pub(super) fn statement(&mut self, cursor: Cursor<'_>) {
        let (first, last) = cursor.lines();
        match cursor.node() {
            Node::Compound | Node::Label | Node::Default | Node::OtherStatement => {
                if cursor.node() == Node::Default {
                    self.label(first, LabelValues::Default, String::new());
                }
                for child in cursor.children() {
                    if child.is_statement() || child.is_expression() {
                        self.statement(child);
                    }
                }
            }
            Node::Case => self.case(cursor, first),
            Node::DeclarationStatement => self.declarations(cursor, first, last),
            Node::If => self.branch(cursor, DecisionKind::If),
            Node::While => self.branch(cursor, DecisionKind::While),
            Node::Switch => self.switch(cursor),
            Node::DoWhile => self.do_while(cursor, last),
            Node::For => self.for_loop(cursor, first),
            Node::Return => {
                self.executable_of(StatementKind::Return, first, last);
                self.expressions(cursor);
            }
            Node::Jump => {
                self.executable(first, last);
                self.expressions(cursor);
            }
            Node::Assembly => {
                self.executable(first, last);
                // An operand may have to stay a constant for the assembler.
                self.leave_unmarked(cursor);
            }
            Node::Null => {}
            _ if cursor.is_expression() => {
                self.executable(first, last);
                self.expression(cursor);
            }
            _ => {}
        }
    }

    /// Walks the expressions directly below.
    pub(super) fn expressions(&mut self, cursor: Cursor<'_>) {
        for child in cursor.children() {
            if child.is_expression() && !self.is_typeof_operand(child) {
                self.expression(child);
            }
        }
    }

    /// `typeof (e)` in a declaration or cast looks at `e` without evaluating it.
    fn is_typeof_operand(&self, cursor: Cursor<'_>) -> bool {
        let first = cursor.lines().0;
        let (keyword, open) = (self.text.line(first.wrapping_sub(2)), self.text.line(first.wrapping_sub(1)));
        let typeof_keyword = matches!(
            keyword,
            b"typeof" | b"__typeof" | b"__typeof__" | b"typeof_unqual" | b"_Alignas" | b"alignas"
        );
        typeof_keyword && open == b"("
    }

    fn declarations(&mut self, cursor: Cursor<'_>, first: u32, last: u32) {
        let variables = cursor.children().into_iter().filter(|child| child.node() == Node::Variable);
        let automatic: Vec<_> = variables.filter(|child| !child.is_static() && !child.is_extern()).collect();
        if automatic.iter().any(|variable| variable.initialiser().is_some()) {
            self.executable(first, last);
        }
        for variable in automatic {
            // Besides the initialiser, the length of an array may hold a decision.
            self.expressions(variable);
        }
    }

    /// `if` and `while`: the condition is the first expression, statements follow.
    fn branch(&mut self, cursor: Cursor<'_>, kind: DecisionKind) {
        let keyword = cursor.lines().0;
        self.executable(keyword, tokens::closing(self.text, keyword + 1));
        let children = cursor.children();
        if let Some((condition, bodies)) = children.split_first() {
            self.decision(*condition, kind);
            for body in bodies {
                self.statement(*body);
            }
        }
    }

    fn do_while(&mut self, cursor: Cursor<'_>, last: u32) {
        let children = cursor.children();
        if let [body, condition] = children.as_slice() {
            self.statement(*body);
            let keyword = body.lines().1..condition.lines().0;
            let keyword = keyword.rev().find(|line| matches!(self.text.line(*line), b"while" | b"__while"));
            self.executable(keyword.unwrap_or(condition.lines().0), last);
            self.decision(*condition, DecisionKind::DoWhile);
        }
    }

    /// libclang leaves absent parts of the head out; the semicolons show which are there.
    fn for_loop(&mut self, cursor: Cursor<'_>, keyword: u32) {
        let open = keyword + 1;
        let close = tokens::closing(self.text, open);
        self.executable(keyword, close);
        let semicolons = tokens::semicolons(self.text, open, close);
        for child in cursor.children() {
            let line = child.lines().0;
            let is_condition = matches!(semicolons.as_slice(), [a, b] if *a < line && line < *b);
            if is_condition {
                self.decision(child, DecisionKind::For);
            } else if line > close {
                self.statement(child);
            } else if child.is_expression() {
                self.expression(child);
            } else {
                for variable in child.children() {
                    self.expressions(variable);
                }
            }
        }
    }

    fn switch(&mut self, cursor: Cursor<'_>) {
        let keyword = cursor.lines().0;
        self.executable(keyword, tokens::closing(self.text, keyword + 1));
        let children = cursor.children();
        let Some((operand, bodies)) = children.split_first() else { return };
        self.expression(*operand);
        // Its place among the switches is that of its keyword, before switches inside it.
        let place = self.draft.switches.len();
        let (first, last) = operand.lines();
        if let Some(span) = self.span(keyword) {
            self.draft.switches.push(MarkedSwitch {
                function: self.key(),
                span,
                text: self.spelling.of(first, last),
                labels: Vec::new(),
                line: keyword,
            });
        }
        self.switches.push(OpenSwitch::default());
        for body in bodies {
            self.statement(*body);
        }
        let open = self.switches.pop().expect("pushed above");
        if let Some(switch) = self.draft.switches.get_mut(place) {
            switch.labels = open.labels;
        }
    }

    fn case(&mut self, cursor: Cursor<'_>, first: u32) {
        let children = cursor.children();
        let Some((body, values)) = children.split_last() else { return };
        let integer = |value: &Cursor<'_>| match value.evaluate() {
            Some(Constant::Integer(value)) => Some(value),
            Some(Constant::Float(_)) | None => None,
        };
        let low = values.first().and_then(integer);
        let high = if values.len() > 1 { values.last().and_then(integer) } else { low };
        match (low, high) {
            (Some(low), Some(high)) => {
                let text = values.iter().map(|value| self.spelling.of(value.lines().0, value.lines().1));
                let text = text.collect::<Vec<_>>().join(" ... ");
                self.label(first, LabelValues::Range { low, high }, text);
            }
            _ => {
                let what = format!("case label {}", self.spelling.of(first, first + 1));
                self.draft.unmarked(self.span(first), what);
            }
        }
        self.statement(*body);
    }

    fn label(&mut self, line: u32, values: LabelValues, text: String) {
        if let (Some(span), Some(open)) = (self.text.span(line), self.switches.last_mut()) {
            open.labels.push(Label { span, values, text });
        }
    }
}
