//! Parses the code of a function.

use super::lexer::{Token, Tokens};
use super::names::Word;
use super::parse::{Parsed, id, name_of, number, optional_span, text, ty};
use super::parse_operand::{integer, operand, two};
use super::print_code::{COUNT, LENGTH, implied_type, memory_source};
use crate::{
    BinaryOp, Block, BlockId, Callee, CastOp, ConditionId, Decided, FloatBinaryOp, Function, FunctionId,
    Instr, InstrId, MemoryOp, Op, Operand, RangeTest, RecordId, SwitchCase, SwitchId, Terminator, Type,
};

/// Reads up to the closing brace; the head and the opening brace are read.
pub(super) fn body(tokens: &mut Tokens, function: &mut Function) -> Parsed<()> {
    let mut instrs: Vec<Option<Instr>> = Vec::new();
    while !tokens.take_sign("}") {
        if tokens.take_word("unplaced") {
            tokens.sign(":")?;
            instructions(tokens, &mut instrs)?;
            continue;
        }
        let block = id(tokens, "b")?;
        if block as usize != function.blocks.len() {
            tokens.back();
            return Err(tokens.expected(&format!("`b{}`, the next block", function.blocks.len())));
        }
        let span = optional_span(tokens)?;
        tokens.sign(":")?;
        let placed = instructions(tokens, &mut instrs)?;
        let terminator = terminator(tokens, function.result)?;
        function.blocks.push(Block { instrs: placed, terminator, span });
    }
    for (index, instr) in instrs.into_iter().enumerate() {
        let missing = || tokens.error(format!("function \"{}\" has no instruction %{index}", function.name));
        function.instrs.push(instr.ok_or_else(missing)?);
    }
    Ok(())
}

fn instructions(tokens: &mut Tokens, instrs: &mut Vec<Option<Instr>>) -> Parsed<Vec<InstrId>> {
    let mut placed = Vec::new();
    while let Token::Result(number) = tokens.peek() {
        let instr_id = InstrId(number);
        if instrs.len() <= instr_id.index() {
            // A number out of all proportion to the text is a slip of the pen, not a reason to take gigabytes.
            if instr_id.index() > instrs.len() + (1 << 20) {
                return Err(tokens.error(format!("{instr_id} leaves too large a hole before it")));
            }
            instrs.resize(instr_id.index() + 1, None);
        }
        if instrs[instr_id.index()].is_some() {
            return Err(tokens.error(format!("{instr_id} is written twice")));
        }
        tokens.next();
        tokens.sign("=")?;
        instrs[instr_id.index()] = Some(instr(tokens)?);
        placed.push(instr_id);
    }
    Ok(placed)
}

fn instr(tokens: &mut Tokens) -> Parsed<Instr> {
    let (op, written) = op(tokens)?;
    let ty = match implied_type(&op) {
        Some(_) if tokens.take_word("as") => ty(tokens)?,
        Some(implied) => implied,
        None => written,
    };
    Ok(Instr { op, ty, span: optional_span(tokens)? })
}

/// An operation and the result type it writes; `Void` where the form implies the type.
fn op(tokens: &mut Tokens) -> Parsed<(Op, Type)> {
    let word = tokens.word("an instruction")?;
    if let Some(op) = BinaryOp::from_word(word) {
        let of = ty(tokens)?;
        let (left, right) = two(tokens, of, of)?;
        return Ok((Op::Binary(op, left, right), of));
    }
    if let Some(op) = FloatBinaryOp::from_word(word) {
        let of = ty(tokens)?;
        let (left, right) = two(tokens, of, of)?;
        return Ok((Op::FloatBinary(op, left, right), of));
    }
    if let Some(op) = CastOp::from_word(word) {
        let from = ty(tokens)?;
        let value = operand(tokens, from)?;
        tokens.keyword("to")?;
        return Ok((Op::Cast(op, from, value), ty(tokens)?));
    }
    if let Some(op) = MemoryOp::from_word(word) {
        let (to, from) = two(tokens, Type::Ptr, memory_source(op))?;
        tokens.sign(",")?;
        let length = operand(tokens, LENGTH)?;
        return Ok((Op::Memory { op, to, from, length }, Type::Void));
    }
    match word {
        "load" | "phi" | "select" | "fneg" | "freeze" | "call" | "extract" | "insert" | "opaque" => {
            let of = ty(tokens)?;
            Ok((typed_op(tokens, word, of)?, of))
        }
        "volatile" => {
            tokens.keyword("load")?;
            let of = ty(tokens)?;
            Ok((load(tokens, true)?, of))
        }
        _ => Ok((untyped_op(tokens, word)?, Type::Void)),
    }
}

fn load(tokens: &mut Tokens, volatile: bool) -> Parsed<Op> {
    tokens.sign(",")?;
    Ok(Op::Load { address: operand(tokens, Type::Ptr)?, volatile })
}

fn typed_op(tokens: &mut Tokens, word: &str, of: Type) -> Parsed<Op> {
    match word {
        "load" => load(tokens, false),
        "phi" => phi(tokens, of),
        "select" => {
            let condition = operand(tokens, Type::Int(1))?;
            tokens.sign(",")?;
            let (then, otherwise) = two(tokens, of, of)?;
            Ok(Op::Select { condition, then, otherwise })
        }
        "fneg" => Ok(Op::FloatNegate(operand(tokens, of)?)),
        "freeze" => Ok(Op::Freeze(operand(tokens, of)?)),
        "call" => call(tokens),
        "extract" => {
            tokens.sign(",")?;
            let record_type = RecordId(id(tokens, "r")?);
            let record = operand(tokens, Type::Record(record_type))?;
            tokens.sign(",")?;
            Ok(Op::Extract { record, record_type, leaf: number(tokens)? })
        }
        "insert" => {
            let record = operand(tokens, of)?;
            tokens.sign(",")?;
            let leaf = number(tokens)?;
            tokens.sign(",")?;
            let value_type = ty(tokens)?;
            Ok(Op::Insert { record, leaf, value: operand(tokens, value_type)?, value_type })
        }
        _ => {
            let what = text(tokens)?;
            tokens.sign("(")?;
            let mut operands = Vec::new();
            while !tokens.take_sign(")") {
                if !operands.is_empty() {
                    tokens.sign(",")?;
                }
                operands.push(operand(tokens, Type::Opaque)?);
            }
            Ok(Op::Opaque { what, operands })
        }
    }
}

fn untyped_op(tokens: &mut Tokens, word: &str) -> Parsed<Op> {
    match word {
        "alloca" => {
            let size = number(tokens)?;
            tokens.keyword("align")?;
            let align = number(tokens)?;
            let one = Operand::Int { bits: 32, value: 1 };
            let count = if tokens.take_word("count") { operand(tokens, COUNT)? } else { one };
            Ok(Op::Alloca { size, align, count })
        }
        "store" => {
            let value_type = ty(tokens)?;
            let (value, address) = two(tokens, value_type, Type::Ptr)?;
            Ok(Op::Store { address, value, value_type })
        }
        "compare" => {
            let predicate = name_of(tokens, "a predicate")?;
            let of = ty(tokens)?;
            let (left, right) = two(tokens, of, of)?;
            Ok(Op::Compare(predicate, of, left, right))
        }
        "fcompare" => {
            let predicate = name_of(tokens, "a floating-point predicate")?;
            let kind = name_of(tokens, "a floating-point type")?;
            let (left, right) = two(tokens, Type::Float(kind), Type::Float(kind))?;
            Ok(Op::FloatCompare(predicate, kind, left, right))
        }
        "address" => address(tokens),
        "mark" => {
            let condition = ConditionId(id(tokens, "c")?);
            Ok(Op::Mark { condition, value: operand(tokens, Type::Int(1))? })
        }
        "va_start" => Ok(Op::VaStart(operand(tokens, Type::Ptr)?)),
        "va_end" => Ok(Op::VaEnd(operand(tokens, Type::Ptr)?)),
        "va_copy" => {
            let (to, from) = two(tokens, Type::Ptr, Type::Ptr)?;
            Ok(Op::VaCopy { to, from })
        }
        _ => {
            tokens.back();
            Err(tokens.expected("an instruction"))
        }
    }
}

fn phi(tokens: &mut Tokens, of: Type) -> Parsed<Op> {
    let mut incoming = Vec::new();
    while tokens.take_sign("[") {
        let block = BlockId(id(tokens, "b")?);
        tokens.sign(":")?;
        incoming.push((block, operand(tokens, of)?));
        tokens.sign("]")?;
        if !tokens.take_sign(",") {
            break;
        }
    }
    Ok(Op::Phi(incoming))
}

fn call(tokens: &mut Tokens) -> Parsed<Op> {
    let callee = if tokens.take_sign("*") {
        Callee::Indirect(operand(tokens, Type::Ptr)?)
    } else {
        Callee::Direct(FunctionId(id(tokens, "f")?))
    };
    tokens.sign("(")?;
    let mut arguments = Vec::new();
    while !tokens.take_sign(")") {
        if !arguments.is_empty() {
            tokens.sign(",")?;
        }
        let of = ty(tokens)?;
        arguments.push((of, operand(tokens, of)?));
    }
    Ok(Op::Call { callee, arguments })
}

fn address(tokens: &mut Tokens) -> Parsed<Op> {
    let base = operand(tokens, Type::Ptr)?;
    let (mut offset, mut indices) = (0, Vec::new());
    while tokens.take_sign(",") {
        if matches!(tokens.peek(), Token::Number(_)) && indices.is_empty() {
            offset = number(tokens)?;
            continue;
        }
        let of = ty(tokens)?;
        let index = operand(tokens, of)?;
        tokens.sign("*")?;
        indices.push((of, index, number(tokens)?));
    }
    Ok(Op::Address { base, offset, indices })
}

fn terminator(tokens: &mut Tokens, result: Type) -> Parsed<Terminator> {
    match tokens.word("an instruction or a terminator")? {
        "jump" if tokens.take_sign("*") => {
            let address = operand(tokens, Type::Ptr)?;
            tokens.sign("[")?;
            let mut targets = Vec::new();
            while !tokens.take_sign("]") {
                if !targets.is_empty() {
                    tokens.sign(",")?;
                }
                targets.push(block(tokens)?);
            }
            Ok(Terminator::IndirectJump { address, targets })
        }
        "jump" => Ok(Terminator::Jump(block(tokens)?)),
        "branch" => branch(tokens),
        "switch" => switch(tokens),
        "return" => {
            // What may follow a bare return is the next block, the list of unplaced instructions, or the end.
            let ends = match tokens.peek() {
                Token::Word(word) => word == "unplaced" || is_block(word),
                Token::Sign(sign) => sign == "}",
                _ => false,
            };
            Ok(Terminator::Return(if ends { None } else { Some(operand(tokens, result)?) }))
        }
        "unreachable" => Ok(Terminator::Unreachable),
        _ => {
            tokens.back();
            Err(tokens.expected("an instruction or a terminator"))
        }
    }
}

fn is_block(word: &str) -> bool {
    word.strip_prefix('b').is_some_and(|digits| digits.parse::<u32>().is_ok())
}

fn block(tokens: &mut Tokens) -> Parsed<BlockId> {
    id(tokens, "b").map(BlockId)
}

fn branch(tokens: &mut Tokens) -> Parsed<Terminator> {
    let condition = operand(tokens, Type::Int(1))?;
    tokens.sign(",")?;
    let then = block(tokens)?;
    tokens.sign(",")?;
    let otherwise = block(tokens)?;
    let mut decided = None;
    if tokens.take_word("decided") {
        let negated = tokens.take_sign("!");
        decided = Some(Decided { condition: ConditionId(id(tokens, "c")?), negated });
    }
    let mut range = None;
    if tokens.take_word("range") {
        range = Some(RangeTest { switch: SwitchId(id(tokens, "sw")?), label: number(tokens)? });
    }
    Ok(Terminator::Branch { condition, then, otherwise, decided, range })
}

fn switch(tokens: &mut Tokens) -> Parsed<Terminator> {
    let Type::Int(bits) = ty(tokens)? else {
        tokens.back();
        return Err(tokens.expected("an integer type"));
    };
    let value = operand(tokens, Type::Int(bits))?;
    tokens.sign("{")?;
    let mut cases = Vec::new();
    while !tokens.take_word("default") {
        let value = integer(tokens, bits)?;
        tokens.sign(":")?;
        cases.push(SwitchCase { value, target: block(tokens)? });
        tokens.sign(",")?;
    }
    tokens.sign(":")?;
    let default = block(tokens)?;
    tokens.sign("}")?;
    let source = if tokens.take_word("source") { Some(SwitchId(id(tokens, "sw")?)) } else { None };
    Ok(Terminator::Switch { value, bits, cases, default, source })
}
