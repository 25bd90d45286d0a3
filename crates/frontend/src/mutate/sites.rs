//! Where a unit can be changed, and how: walks the functions that libclang sees.
//!
//! Rules (few, so that each mutant asks for a test of its own): an arithmetic operator becomes its counterpart; `&&` becomes `||`; a comparison has its limit one step away, and is always
//! true or false; any other condition is always true or false; a number is one more and one less, unless a comparison beside it changes alike; `++` becomes `--`; a sign or `~`
//! is left out; statements without declarations are left out. No loop is made endless where that can be seen.

use std::collections::{BTreeSet, HashSet};
use std::path::Path;

use model::Position;

use crate::clang::{BinaryOperator, ClangType, Cursor, Node, ParsedUnit, TypeNode, UnaryOperator};
use crate::mark::spelling::Spelling;
use crate::mark::tokens;
use crate::preprocess::Text;

use super::Mutation;
use super::schema::described;

/// Longer initialisers are tables, whose numbers are left alone.
const LONGEST_LIST: usize = 32;

/// Longer texts are shortened.
const LONGEST_TEXT: usize = 60;

/// How a place is rewritten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Template {
    /// Two operands; which of them are numbers.
    Binary {
        operator: u32,
        promoted: (bool, bool),
    },
    Logical {
        operator: u32,
    },
    /// A condition whose value is asked for.
    Truth,
    /// A sign, which is left out.
    Prefix,
    StepBefore {
        other: &'static str,
    },
    StepAfter {
        other: &'static str,
    },
    /// `+=` and the like; whether the right side is a number.
    Update {
        operator: u32,
        promoted: bool,
    },
    Literal,
    /// An expression that is evaluated for its effect.
    Effect,
    /// A statement up to its semicolon.
    Statement,
}

/// One way to change a place.
#[derive(Clone, Debug)]
pub struct Change {
    pub mutation: Mutation,
    /// What the template needs to know.
    pub code: String,
    pub after: String,
}

/// A place that can be changed.
#[derive(Clone, Debug)]
pub struct Site {
    pub function: String,
    pub lines: (u32, u32),
    pub template: Template,
    pub at: Position,
    pub before: String,
    pub changes: Vec<Change>,
}

/// What was found in a unit.
#[derive(Default)]
pub struct Found {
    /// Outer places before those inside them.
    pub sites: Vec<Site>,
    /// Lines with the word `register`: variables whose address is taken cannot be in one.
    pub registers: Vec<u32>,
}

impl Found {
    /// The smallest place that covers a line, by what [`find`] knows it by.
    pub fn innermost(&self, line: u32) -> Option<(u32, u32)> {
        let covering = self.sites.iter().filter(|site| site.lines.0 <= line && line <= site.lines.1);
        covering.map(|site| site.lines).min_by_key(|lines| lines.1 - lines.0)
    }
}

/// Finds the places of some functions, except at those lines that are left out.
pub fn find(
    text: &Text,
    parsed: &ParsedUnit,
    directory: &Path,
    functions: &BTreeSet<String>,
    left_out: &HashSet<(u32, u32)>,
) -> Found {
    let mut search = Search {
        text,
        spelling: Spelling::new(text, directory),
        left_out,
        found: Found::default(),
        function: String::new(),
        seen: HashSet::new(),
        last: (0, 0),
    };
    for declaration in parsed.root().children() {
        let is_meant = declaration.node() == Node::Function
            && declaration.is_definition()
            && functions.contains(&declaration.name())
            && !text.in_system_header(declaration.name_line());
        if is_meant {
            search.body(declaration);
        }
    }
    search.found
}

struct Search<'a> {
    text: &'a Text,
    spelling: Spelling<'a>,
    left_out: &'a HashSet<(u32, u32)>,
    found: Found,
    function: String,
    /// libclang shows some expressions twice (initialiser lists).
    seen: HashSet<((u32, u32), bool)>,
    /// The last statement of the function.
    last: (u32, u32),
}

impl Search<'_> {
    fn body(&mut self, declaration: Cursor<'_>) {
        let Some(body) = declaration.children().into_iter().rfind(|child| child.node() == Node::Compound)
        else {
            return;
        };
        self.function = declaration.name();
        self.last = body.children().last().map_or((0, 0), |last| last.lines());
        let (first, last) = declaration.lines();
        let is_register = |line: &u32| self.text.line(*line) == b"register";
        self.found.registers.extend((first..=last).filter(is_register));
        self.statement(body);
    }

    /// Walks a statement; `value` says that its value may be that of a statement expression.
    fn statement(&mut self, cursor: Cursor<'_>) {
        let (first, last) = cursor.lines();
        if self.is_of_system(first) {
            return;
        }
        match cursor.node() {
            Node::Compound | Node::Label | Node::Default | Node::OtherStatement => {
                for child in cursor.children() {
                    if child.is_statement() || child.is_expression() {
                        self.statement(child);
                    }
                }
            }
            Node::Case => {
                if let Some(body) = cursor.children().last() {
                    self.statement(*body);
                }
            }
            Node::DeclarationStatement => {
                for variable in cursor.children() {
                    let is_automatic = variable.node() == Node::Variable && !variable.is_static();
                    if is_automatic && let Some(initialiser) = variable.initialiser() {
                        self.expression(initialiser);
                    }
                }
            }
            Node::If => self.branch(cursor, false),
            Node::While => self.branch(cursor, true),
            Node::Switch => {
                let children = cursor.children();
                let Some((operand, bodies)) = children.split_first() else { return };
                self.expression(*operand);
                bodies.iter().for_each(|body| self.statement(*body));
            }
            Node::DoWhile => {
                if let [body, condition] = cursor.children().as_slice() {
                    self.statement(*body);
                    self.condition(*condition, true);
                }
            }
            Node::For => self.for_loop(cursor, first),
            Node::Return => {
                if (first, last) != self.last {
                    self.left_out_statement(first, last);
                }
                cursor.children().into_iter().for_each(|child| self.expression(child));
            }
            Node::Jump => self.left_out_statement(first, last),
            Node::Assembly | Node::Null => {}
            _ if cursor.is_expression() => {
                if self.has_effect(first, last) {
                    let change = change(Mutation::Statement, "", "");
                    self.site((first, last), Template::Effect, first, vec![change]);
                }
                self.expression(cursor);
            }
            _ => {}
        }
    }

    /// A statement that ends in a semicolon of its own.
    fn left_out_statement(&mut self, first: u32, last: u32) {
        let end = (last + 1..=last + 3).find(|line| self.text.line(*line) == b";");
        if let Some(end) = end {
            let change = change(Mutation::Statement, "", "");
            self.site((first, end), Template::Statement, first, vec![change]);
        }
    }

    fn branch(&mut self, cursor: Cursor<'_>, is_loop: bool) {
        let children = cursor.children();
        let Some((condition, bodies)) = children.split_first() else { return };
        self.condition(*condition, is_loop);
        bodies.iter().for_each(|body| self.statement(*body));
    }

    /// libclang leaves absent parts of the head out; the semicolons show which are there.
    fn for_loop(&mut self, cursor: Cursor<'_>, keyword: u32) {
        let open = keyword + 1;
        let close = tokens::closing(self.text, open);
        let semicolons = tokens::semicolons(self.text, open, close);
        for child in cursor.children() {
            let line = child.lines().0;
            let is_condition = matches!(semicolons.as_slice(), [a, b] if *a < line && line < *b);
            if is_condition {
                self.condition(child, true);
            } else if line > close || child.is_statement() {
                self.statement(child);
            } else if child.is_expression() {
                self.expression(child);
            }
        }
    }

    /// Walks an expression that is true or false to who asks; one that decides a loop is not made always true.
    fn condition(&mut self, cursor: Cursor<'_>, is_loop: bool) {
        let inner = peel(cursor);
        let (first, last) = inner.lines();
        if cursor.evaluate().is_some() || self.is_of_system(first) {
            return;
        }
        let children = inner.children();
        match (inner.node(), children.as_slice()) {
            (Node::Unary(UnaryOperator::Not), [operand]) => self.condition(*operand, false),
            (Node::Binary(BinaryOperator::And | BinaryOperator::Or), [left, right]) => {
                self.logical(inner, *left, *right, is_loop);
            }
            (
                Node::Binary(BinaryOperator::Equal | BinaryOperator::NotEqual | BinaryOperator::Order),
                [left, right],
            ) => self.comparison(inner, *left, *right, is_loop),
            (Node::Binary(BinaryOperator::Comma), [left, right]) => {
                self.expression(*left);
                self.condition(*right, is_loop);
            }
            (Node::Call, [_, operand, ..]) if self.text.line(first) == b"__builtin_expect" => {
                self.condition(*operand, is_loop);
            }
            _ => {
                if inner.ty().is_scalar() {
                    self.site((first, last), Template::Truth, first, truths(is_loop));
                }
                self.expression(inner);
            }
        }
    }

    fn logical(&mut self, cursor: Cursor<'_>, left: Cursor<'_>, right: Cursor<'_>, is_loop: bool) {
        let operator = left.lines().1 + 1;
        let other = match self.text.line(operator) {
            b"&&" => Some("||"),
            b"||" => Some("&&"),
            _ => None,
        };
        if let Some(other) = other {
            let after = self.joined(left, other, right);
            let change = change(Mutation::Operator, other, &after);
            self.site(cursor.lines(), Template::Logical { operator }, operator, vec![change]);
        }
        self.condition(left, is_loop);
        self.condition(right, is_loop);
    }

    fn comparison(&mut self, cursor: Cursor<'_>, left: Cursor<'_>, right: Cursor<'_>, is_loop: bool) {
        let operator = left.lines().1 + 1;
        let token = self.text.line(operator);
        let is_number = is_number(left.ty()) && is_number(right.ty());
        let near: &[&'static str] = match token {
            b"<" => &["<="],
            b"<=" => &["<"],
            b">" => &[">="],
            b">=" => &[">"],
            b"==" if is_number => &["<=", ">="],
            b"!=" if is_number => &["<", ">"],
            _ => &[],
        };
        let is_compared = (is_number || is_pointer(left.ty()) && is_pointer(right.ty()))
            && matches!(token, b"<" | b"<=" | b">" | b">=" | b"==" | b"!=");
        if is_compared {
            let boundary =
                |other: &&'static str| change(Mutation::Boundary, other, &self.joined(left, other, right));
            let changes = near.iter().map(boundary).chain(truths(is_loop)).collect();
            let promoted = (is_number, is_number);
            self.site(cursor.lines(), Template::Binary { operator, promoted }, operator, changes);
        } else if cursor.ty().is_scalar() {
            self.site(cursor.lines(), Template::Truth, cursor.lines().0, truths(is_loop));
        }
        let (of_left, of_right) = match token {
            // the other step is what the boundary does
            b"<" | b">=" => (Steps::Up, Steps::Down),
            b"<=" | b">" => (Steps::Down, Steps::Up),
            _ => (Steps::Both, Steps::Both),
        };
        self.operand(left, of_left);
        self.operand(right, of_right);
    }

    /// An operand that may be a number.
    fn operand(&mut self, cursor: Cursor<'_>, steps: Steps) {
        let inner = peel(cursor);
        if inner.node() == Node::Literal {
            if !is_pointer(cursor.ty()) {
                self.literal(inner, steps);
            }
        } else {
            self.expression(cursor);
        }
    }

    /// Walks an expression whose value is used as it is.
    fn expression(&mut self, cursor: Cursor<'_>) {
        let (first, last) = cursor.lines();
        let children = cursor.children();
        if self.is_of_system(first) && cursor.node() == Node::StatementExpression {
            return;
        }
        match (cursor.node(), children.as_slice()) {
            (Node::Literal, _) => self.literal(cursor, Steps::Both),
            (Node::Unary(UnaryOperator::Not), [operand]) if cursor.ty().is_scalar() => {
                self.condition(*operand, false);
            }
            (Node::Unary(UnaryOperator::Extension) | Node::Paren, [inner]) => self.expression(*inner),
            (Node::Unary(_), [operand]) => self.unary(cursor, *operand),
            (Node::Binary(BinaryOperator::And | BinaryOperator::Or), [left, right]) => {
                self.logical(cursor, *left, *right, false);
            }
            (
                Node::Binary(BinaryOperator::Equal | BinaryOperator::NotEqual | BinaryOperator::Order),
                [left, right],
            ) => self.comparison(cursor, *left, *right, false),
            (Node::Binary(_), [left, right]) => self.arithmetic(cursor, *left, *right),
            (Node::Conditional, [condition, then, otherwise]) => {
                self.condition(*condition, false);
                self.expression(*then);
                self.expression(*otherwise);
            }
            (Node::StatementExpression, [body]) => {
                // what stands last is the value
                let statements = body.children();
                let Some((value, before)) = statements.split_last() else { return };
                before.iter().for_each(|statement| self.statement(*statement));
                if value.is_expression() { self.expression(*value) } else { self.statement(*value) }
            }
            (Node::SizeOf | Node::Generic | Node::Block | Node::Reference, _) => {}
            (Node::Call, _) => {
                let is_builtin = self.text.line(first).starts_with(b"__builtin_");
                if self.text.line(first) == b"__builtin_expect" {
                    children.get(1).into_iter().for_each(|operand| self.expression(*operand));
                } else if !is_builtin {
                    children.into_iter().for_each(|child| self.expression(child));
                }
            }
            (Node::UnexposedExpression, [inner]) if inner.lines() == cursor.lines() => {
                // a null pointer must stay one
                if !(is_pointer(cursor.ty()) && peel(*inner).node() == Node::Literal) {
                    self.expression(*inner);
                }
            }
            (Node::UnexposedExpression, _) => {}
            (Node::CStyleCast, [.., operand]) => {
                if !(is_pointer(cursor.ty()) && peel(*operand).node() == Node::Literal) {
                    self.expression(*operand);
                }
            }
            (_, [left, right]) if is_update(self.text.line(left.lines().1 + 1)) => {
                self.update(cursor, *left, *right);
            }
            _ if self.text.line(first) == b"{" && children.len() > LONGEST_LIST => {}
            _ => {
                let operands = children.into_iter().filter(|child| child.is_expression());
                operands.filter(|child| child.lines().1 <= last).for_each(|child| self.expression(child));
            }
        }
    }

    fn unary(&mut self, cursor: Cursor<'_>, operand: Cursor<'_>) {
        let (first, last) = cursor.lines();
        let text = self.source(operand.lines());
        let step = |token: &[u8]| match token {
            b"++" => Some("--"),
            b"--" => Some("++"),
            _ => None,
        };
        let token = self.text.line(first);
        if let Some(other) = step(token).filter(|_| can_be_pointed_to(operand)) {
            let change = change(Mutation::Operator, other, &format!("{other}{text}"));
            self.site((first, last), Template::StepBefore { other }, first, vec![change]);
        } else if let Some(other) = step(self.text.line(last)).filter(|_| can_be_pointed_to(operand)) {
            let change = change(Mutation::Operator, other, &format!("{text}{other}"));
            self.site((first, last), Template::StepAfter { other }, last, vec![change]);
        } else if matches!(token, b"-" | b"~") && is_number(operand.ty()) && !is_zero(self.text, operand) {
            let change = change(Mutation::Operator, "", &text);
            self.site((first, last), Template::Prefix, first, vec![change]);
        }
        self.expression(operand);
    }

    fn arithmetic(&mut self, cursor: Cursor<'_>, left: Cursor<'_>, right: Cursor<'_>) {
        let operator = left.lines().1 + 1;
        let promoted = (is_number(left.ty()), is_number(right.ty()));
        let other = counterpart(self.text.line(operator)).filter(|_| match promoted {
            (true, true) => true,
            // an address and a distance; two addresses have a difference and no sum
            (false, true) => is_pointer(left.ty()),
            (true, false) | (false, false) => false,
        });
        if let Some(other) = other {
            let after = self.joined(left, other, right);
            let change = change(Mutation::Operator, other, &after);
            self.site(cursor.lines(), Template::Binary { operator, promoted }, operator, vec![change]);
        }
        self.expression(left);
        self.expression(right);
    }

    fn update(&mut self, cursor: Cursor<'_>, left: Cursor<'_>, right: Cursor<'_>) {
        let operator = left.lines().1 + 1;
        let token = self.text.line(operator);
        let other = counterpart(&token[..token.len() - 1]).filter(|_| can_be_pointed_to(left));
        if let Some(other) = other.filter(|_| is_number(right.ty())) {
            let code = format!("{other}=");
            let after = self.joined(left, &code, right);
            let change = change(Mutation::Operator, &code, &after);
            let template = Template::Update { operator, promoted: true };
            self.site(cursor.lines(), template, operator, vec![change]);
        }
        self.expression(left);
        self.expression(right);
    }

    fn literal(&mut self, cursor: Cursor<'_>, steps: Steps) {
        let (first, last) = cursor.lines();
        let token = self.text.line(first);
        let is_number = matches!(token, [b'0'..=b'9' | b'.', ..] | [b'\'', ..]);
        if first != last || !is_number {
            return;
        }
        let codes: &[&str] = match steps {
            // where 0 is the least that makes sense
            Steps::Both if token == b"0" => &["+1"],
            Steps::Both => &["+1", "-1"],
            Steps::Up => &["+1"],
            Steps::Down => &["-1"],
        };
        let before = self.source((first, last));
        let step =
            |code: &&str| change(Mutation::Constant, code, &described(Mutation::Constant, &before, code));
        let changes = codes.iter().map(step).collect();
        self.site((first, last), Template::Literal, first, changes);
    }

    fn site(&mut self, lines: (u32, u32), template: Template, line: u32, changes: Vec<Change>) {
        let is_statement = matches!(template, Template::Effect | Template::Statement);
        let is_left_out = self.left_out.contains(&lines) || self.is_of_system(line);
        if changes.is_empty() || is_left_out || !self.seen.insert((lines, is_statement)) {
            return;
        }
        let Some(span) = self.text.span(line) else { return };
        let before = self.source(match template {
            // without the semicolon
            Template::Statement => (lines.0, lines.1 - 1),
            _ => lines,
        });
        let at = self.text.spans[span.index()].at;
        self.found.sites.push(Site { function: self.function.clone(), lines, template, at, before, changes });
    }

    /// Whether a token comes out of the text of a macro of a system header.
    fn is_of_system(&self, line: u32) -> bool {
        let span = self.text.span(line).map(|span| self.text.spans[span.index()]);
        let spelled = span.and_then(|span| span.spelled);
        spelled.is_some_and(|spelled| self.text.files[spelled.file.index()].system)
    }

    /// Whether leaving an expression out could change something.
    fn has_effect(&self, first: u32, last: u32) -> bool {
        (first..=last).any(|line| {
            let token = self.text.line(line);
            let is_call = token == b"(" && line > first && is_name(self.text.line(line - 1));
            matches!(token, b"=" | b"++" | b"--") || is_update(token) || is_call
        })
    }

    fn joined(&self, left: Cursor<'_>, operator: &str, right: Cursor<'_>) -> String {
        shortened(format!("{} {operator} {}", self.source(left.lines()), self.source(right.lines())))
    }

    fn source(&self, (first, last): (u32, u32)) -> String {
        shortened(self.spelling.of(first, last))
    }
}

/// The steps that a number makes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Steps {
    Both,
    Up,
    Down,
}

fn change(mutation: Mutation, code: &str, after: &str) -> Change {
    Change { mutation, code: code.to_owned(), after: after.to_owned() }
}

fn truths(is_loop: bool) -> Vec<Change> {
    let truth = |code| change(Mutation::Condition, code, code);
    if is_loop { vec![truth("0")] } else { vec![truth("1"), truth("0")] }
}

fn counterpart(operator: &[u8]) -> Option<&'static str> {
    Some(match operator {
        b"+" => "-",
        b"-" => "+",
        b"*" => "+",
        b"/" => "*",
        b"%" => "/",
        b"<<" => ">>",
        b">>" => "<<",
        b"&" => "|",
        b"|" | b"^" => "&",
        _ => return None,
    })
}

fn is_update(token: &[u8]) -> bool {
    matches!(token, b"+=" | b"-=" | b"*=" | b"/=" | b"%=" | b"<<=" | b">>=" | b"&=" | b"|=" | b"^=")
}

/// Through parentheses and conversions the source does not show.
fn peel(cursor: Cursor<'_>) -> Cursor<'_> {
    let mut inner = cursor;
    loop {
        let children = inner.children();
        let next = match (inner.node(), children.as_slice()) {
            (Node::Paren | Node::Unary(UnaryOperator::Extension), [only]) => *only,
            (Node::UnexposedExpression, [only]) if only.lines() == inner.lines() => *only,
            _ => return inner,
        };
        inner = next;
    }
}

fn is_number(ty: ClangType<'_>) -> bool {
    match ty.node() {
        TypeNode::Bool
        | TypeNode::Char { .. }
        | TypeNode::Integer { .. }
        | TypeNode::Float
        | TypeNode::Enum => true,
        TypeNode::Void
        | TypeNode::Pointer
        | TypeNode::Array
        | TypeNode::Record
        | TypeNode::Function
        | TypeNode::Other => false,
    }
}

fn is_pointer(ty: ClangType<'_>) -> bool {
    matches!(ty.node(), TypeNode::Pointer | TypeNode::Array)
}

/// Whether it has an address: bit-fields have none.
fn can_be_pointed_to(cursor: Cursor<'_>) -> bool {
    let is_simple = is_number(cursor.ty()) || is_pointer(cursor.ty());
    is_simple && peel(cursor).referenced().bit_field_width().is_none()
}

fn is_zero(text: &Text, cursor: Cursor<'_>) -> bool {
    let (first, last) = peel(cursor).lines();
    first == last && text.line(first) == b"0"
}

fn shortened(text: String) -> String {
    if text.chars().count() <= LONGEST_TEXT {
        return text;
    }
    text.chars().take(LONGEST_TEXT - 1).chain(['…']).collect()
}

fn is_name(token: &[u8]) -> bool {
    token.first().is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b')' | b']'))
}
