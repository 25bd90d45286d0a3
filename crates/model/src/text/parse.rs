//! Parses the tables of a program; [`super::parse_code`] parses the code of functions.

use super::lexer::{Token, Tokens};
use super::names::Word;
use super::{ParseError, parse_code};
use crate::{
    BlockId, Condition, ConditionId, Decision, DecisionId, FileId, FloatKind, Function, FunctionId, Gap,
    Global, GlobalId, InstrId, Label, LabelValues, Layout, Member, Position, Program, Record, RecordId,
    Relocation, RelocationTarget, Shape, SourceFile, Span, SpanId, Statement, StatementKind, Storage, Switch,
    Type, Variable, VariableKind,
};

pub(super) type Parsed<T> = Result<T, ParseError>;

pub(super) fn program(tokens: &mut Tokens) -> Parsed<Program> {
    let mut program = Program::default();
    tokens.keyword("program")?;
    tokens.keyword("pointer")?;
    program.pointer_bits = number(tokens)?;
    if tokens.take_word("root") {
        program.root = Some(FunctionId(id(tokens, "f")?));
    }
    while tokens.peek() != Token::End {
        item(tokens, &mut program)?;
    }
    Ok(program)
}

fn item(tokens: &mut Tokens, program: &mut Program) -> Parsed<()> {
    let kind = tokens.word("a declaration")?;
    match kind {
        "file" => {
            in_order(tokens, "file", program.files.len())?;
            let path = text(tokens)?;
            program.files.push(SourceFile { path, system: tokens.take_word("system") });
        }
        "span" => {
            in_order(tokens, "s", program.spans.len())?;
            let at = position(tokens)?;
            let spelled = if tokens.take_word("spelled") { Some(position(tokens)?) } else { None };
            program.spans.push(Span { at, spelled });
        }
        "record" => {
            in_order(tokens, "r", program.records.len())?;
            program.records.push(record(tokens)?);
        }
        "global" => {
            in_order(tokens, "g", program.globals.len())?;
            program.globals.push(global(tokens)?);
        }
        "decision" => {
            in_order(tokens, "d", program.decisions.len())?;
            program.decisions.push(decision(tokens)?);
        }
        "condition" => {
            in_order(tokens, "c", program.conditions.len())?;
            tokens.keyword("of")?;
            let decision = DecisionId(id(tokens, "d")?);
            program.conditions.push(Condition { decision, span: span(tokens)?, text: text(tokens)? });
        }
        "switch" => {
            in_order(tokens, "sw", program.switches.len())?;
            program.switches.push(switch(tokens)?);
        }
        "statement" => program.statements.push(statement(tokens)?),
        "variable" => {
            in_order(tokens, "v", program.variables.len())?;
            program.variables.push(variable(tokens)?);
        }
        "gap" => program.gaps.push(gap(tokens)?),
        "site" => program.sites.push(gap(tokens)?),
        "function" => {
            in_order(tokens, "f", program.functions.len())?;
            program.functions.push(function(tokens)?);
        }
        _ => {
            tokens.back();
            return Err(tokens.expected("a declaration"));
        }
    }
    Ok(())
}

fn position(tokens: &mut Tokens) -> Parsed<Position> {
    let file = FileId(id(tokens, "file")?);
    tokens.sign(":")?;
    let line = number(tokens)?;
    tokens.sign(":")?;
    Ok(Position { file, line, column: number(tokens)? })
}

fn record(tokens: &mut Tokens) -> Parsed<Record> {
    tokens.keyword("size")?;
    let size = number(tokens)?;
    let leaves = braced(tokens, |tokens| {
        let offset = number(tokens)?;
        tokens.sign(":")?;
        Ok((offset, ty(tokens)?))
    })?;
    Ok(Record { size, leaves })
}

fn global(tokens: &mut Tokens) -> Parsed<Global> {
    let name = text(tokens)?;
    let linkage = name_of(tokens, "a linkage")?;
    let constant = tokens.take_word("constant");
    tokens.keyword("size")?;
    let size = number(tokens)?;
    tokens.keyword("align")?;
    let align = number(tokens)?;
    let bytes = if tokens.take_word("bytes") { quoted(tokens)? } else { Vec::new() };
    let relocations = if tokens.take_word("relocations") { braced(tokens, relocation)? } else { Vec::new() };
    Ok(Global { name, linkage, constant, size, align, bytes, relocations })
}

fn relocation(tokens: &mut Tokens) -> Parsed<Relocation> {
    let offset = number(tokens)?;
    tokens.sign(":")?;
    let target = match tokens.peek() {
        Token::Word(word) if word.starts_with('f') => {
            RelocationTarget::Function(FunctionId(id(tokens, "f")?))
        }
        _ => RelocationTarget::Global(GlobalId(id(tokens, "g")?)),
    };
    Ok(Relocation { offset, target, addend: displacement(tokens)? })
}

fn decision(tokens: &mut Tokens) -> Parsed<Decision> {
    let kind = name_of(tokens, "a kind of decision")?;
    let function = FunctionId(id(tokens, "f")?);
    let span = span(tokens)?;
    Ok(Decision { function, span, kind, shape: shape(tokens)?, text: text(tokens)? })
}

fn shape(tokens: &mut Tokens) -> Parsed<Shape> {
    if tokens.take_sign("!") {
        return Ok(Shape::Not(Box::new(shape(tokens)?)));
    }
    if tokens.take_word("true") {
        return Ok(Shape::Constant(true));
    }
    if tokens.take_word("false") {
        return Ok(Shape::Constant(false));
    }
    if !tokens.take_sign("(") {
        return Ok(Shape::Leaf(ConditionId(id(tokens, "c")?)));
    }
    let left = Box::new(shape(tokens)?);
    let whole = match tokens.next() {
        Token::Sign("&&") => Shape::And(left, Box::new(shape(tokens)?)),
        Token::Sign("||") => Shape::Or(left, Box::new(shape(tokens)?)),
        Token::Sign("==") => Shape::Equal(left, Box::new(shape(tokens)?)),
        Token::Sign("!=") => Shape::Differ(left, Box::new(shape(tokens)?)),
        Token::Sign("?") => {
            let then = Box::new(shape(tokens)?);
            tokens.sign(":")?;
            Shape::Ternary(left, then, Box::new(shape(tokens)?))
        }
        _ => {
            tokens.back();
            return Err(tokens.expected("a boolean operator"));
        }
    };
    tokens.sign(")")?;
    Ok(whole)
}

fn switch(tokens: &mut Tokens) -> Parsed<Switch> {
    let function = FunctionId(id(tokens, "f")?);
    let span = span(tokens)?;
    Ok(Switch { function, span, text: text(tokens)?, labels: braced(tokens, label)? })
}

fn label(tokens: &mut Tokens) -> Parsed<Label> {
    let values = if tokens.take_word("default") {
        LabelValues::Default
    } else {
        tokens.keyword("case")?;
        let low = number(tokens)?;
        let high = if tokens.take_sign("...") { number(tokens)? } else { low };
        LabelValues::Range { low, high }
    };
    let span = span(tokens)?;
    Ok(Label { span, values, text: optional_text(tokens)? })
}

fn optional_text(tokens: &mut Tokens) -> Parsed<String> {
    if let Token::Quoted(_) = tokens.peek() { text(tokens) } else { Ok(String::new()) }
}

fn statement(tokens: &mut Tokens) -> Parsed<Statement> {
    let function = FunctionId(id(tokens, "f")?);
    let kind = if tokens.take_word("return") { StatementKind::Return } else { StatementKind::Other };
    let span = span(tokens)?;
    let code = if tokens.take_word("in") { Some((BlockId(id(tokens, "b")?), number(tokens)?)) } else { None };
    let text = optional_text(tokens)?;
    Ok(Statement { function, kind, span, code, text })
}

fn variable(tokens: &mut Tokens) -> Parsed<Variable> {
    let name = text(tokens)?;
    let kind = match tokens.word("a kind of variable")? {
        "local" => VariableKind::Local,
        "parameter" => VariableKind::Parameter(number(tokens)?),
        "global" => VariableKind::Global,
        "static" => VariableKind::Static,
        _ => {
            tokens.back();
            return Err(tokens.expected("a kind of variable"));
        }
    };
    let span = span(tokens)?;
    tokens.keyword("in")?;
    let storage = match tokens.peek() {
        Token::Word(word) if word.starts_with('g') => Storage::Global(GlobalId(id(tokens, "g")?)),
        _ => Storage::Stack(FunctionId(id(tokens, "f")?), result(tokens)?),
    };
    Ok(Variable { name, kind, span, storage, layout: layout(tokens)? })
}

fn layout(tokens: &mut Tokens) -> Parsed<Layout> {
    match tokens.peek() {
        Token::Sign("{") => Ok(Layout::Structure(braced(tokens, |tokens| {
            let (name, offset, size) = (text(tokens)?, number(tokens)?, number(tokens)?);
            Ok(Member { name, offset, size, layout: layout(tokens)? })
        })?)),
        Token::Sign("[") => {
            tokens.sign("[")?;
            let length = number(tokens)?;
            tokens.keyword("of")?;
            let stride = number(tokens)?;
            let element = Box::new(layout(tokens)?);
            tokens.sign("]")?;
            Ok(Layout::Array { length, stride, element })
        }
        _ => Ok(Layout::Whole),
    }
}

fn gap(tokens: &mut Tokens) -> Parsed<Gap> {
    let kind = name_of(tokens, "a kind of gap")?;
    let function = if tokens.take_word("in") { Some(FunctionId(id(tokens, "f")?)) } else { None };
    Ok(Gap { kind, function, span: optional_span(tokens)?, what: text(tokens)? })
}

fn function(tokens: &mut Tokens) -> Parsed<Function> {
    let name = text(tokens)?;
    let linkage = name_of(tokens, "a linkage")?;
    tokens.sign("(")?;
    let (mut parameters, mut variadic) = (Vec::new(), false);
    while !tokens.take_sign(")") {
        if !parameters.is_empty() {
            tokens.sign(",")?;
        }
        if tokens.take_sign("...") {
            variadic = true;
            tokens.sign(")")?;
            break;
        }
        parameters.push(ty(tokens)?);
    }
    tokens.sign("->")?;
    let mut function = Function {
        name,
        linkage,
        parameters,
        variadic,
        result: ty(tokens)?,
        no_return: tokens.take_word("no_return"),
        returns_twice: tokens.take_word("returns_twice"),
        generated: tokens.take_word("generated"),
        span: optional_span(tokens)?,
        instrs: Vec::new(),
        blocks: Vec::new(),
    };
    if tokens.take_sign("{") {
        parse_code::body(tokens, &mut function)?;
    }
    Ok(function)
}

/// The parts between braces, separated by commas.
fn braced<T>(tokens: &mut Tokens, mut part: impl FnMut(&mut Tokens) -> Parsed<T>) -> Parsed<Vec<T>> {
    tokens.sign("{")?;
    let mut parts = Vec::new();
    while !tokens.take_sign("}") {
        if !parts.is_empty() {
            tokens.sign(",")?;
        }
        parts.push(part(tokens)?);
    }
    Ok(parts)
}

/// The id that must come next when tables are written in order.
fn in_order(tokens: &mut Tokens, prefix: &str, expected: usize) -> Parsed<()> {
    let found = id(tokens, prefix)?;
    if found as usize == expected {
        return Ok(());
    }
    tokens.back();
    Err(tokens.expected(&format!("`{prefix}{expected}`, the next id")))
}

/// The number of an id with this prefix.
pub(super) fn id(tokens: &mut Tokens, prefix: &str) -> Parsed<u32> {
    let found = match tokens.peek() {
        Token::Word(word) => word.strip_prefix(prefix).and_then(|digits| digits.parse().ok()),
        _ => None,
    };
    let found = found.ok_or_else(|| tokens.expected(&format!("an id `{prefix}…`")))?;
    tokens.next();
    Ok(found)
}

pub(super) fn result(tokens: &mut Tokens) -> Parsed<InstrId> {
    match tokens.peek() {
        Token::Result(number) => {
            tokens.next();
            Ok(InstrId(number))
        }
        _ => Err(tokens.expected("an instruction `%…`")),
    }
}

/// A decimal integer within the range of its field.
pub(super) fn number<T: std::str::FromStr>(tokens: &mut Tokens) -> Parsed<T> {
    let value = match tokens.peek() {
        Token::Number(digits) => digits.parse().ok(),
        _ => None,
    };
    let value = value.ok_or_else(|| tokens.expected("an integer in range"))?;
    tokens.next();
    Ok(value)
}

/// `+8`, `-8` or nothing.
pub(super) fn displacement(tokens: &mut Tokens) -> Parsed<i64> {
    let negative = matches!(tokens.peek(), Token::Number(digits) if digits.starts_with('-'));
    if negative || tokens.take_sign("+") { number(tokens) } else { Ok(0) }
}

pub(super) fn quoted(tokens: &mut Tokens) -> Parsed<Vec<u8>> {
    tokens.quoted()
}

pub(super) fn text(tokens: &mut Tokens) -> Parsed<String> {
    String::from_utf8(quoted(tokens)?).map_err(|_| tokens.error("a text is not UTF-8"))
}

pub(super) fn name_of<T: Word>(tokens: &mut Tokens, what: &str) -> Parsed<T> {
    let found = match tokens.peek() {
        Token::Word(word) => T::from_word(word),
        _ => None,
    };
    let found = found.ok_or_else(|| tokens.expected(what))?;
    tokens.next();
    Ok(found)
}

fn span(tokens: &mut Tokens) -> Parsed<SpanId> {
    tokens.keyword("at")?;
    id(tokens, "s").map(SpanId)
}

pub(super) fn optional_span(tokens: &mut Tokens) -> Parsed<Option<SpanId>> {
    if tokens.take_word("at") { id(tokens, "s").map(|id| Some(SpanId(id))) } else { Ok(None) }
}

pub(super) fn ty(tokens: &mut Tokens) -> Parsed<Type> {
    let found = match tokens.peek() {
        Token::Word(word) => type_of_word(word),
        _ => None,
    };
    let found = found.ok_or_else(|| tokens.expected("a type"))?;
    tokens.next();
    Ok(found)
}

fn type_of_word(word: &str) -> Option<Type> {
    match word {
        "void" => Some(Type::Void),
        "ptr" => Some(Type::Ptr),
        "opaque" => Some(Type::Opaque),
        _ => {
            let bits = || word.strip_prefix('i')?.parse().ok().map(Type::Int);
            let record = || word.strip_prefix('r')?.parse().ok().map(|id| Type::Record(RecordId(id)));
            FloatKind::from_word(word).map(Type::Float).or_else(bits).or_else(record)
        }
    }
}
