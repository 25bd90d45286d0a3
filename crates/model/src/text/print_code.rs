//! Prints the code of a function.

use std::fmt::{Result, Write};

use super::print::quote;
use crate::{
    BlockId, Callee, FloatKind, Function, Instr, InstrId, MemoryOp, Op, Operand, SpanId, Terminator, Type,
};

/// The result type that an operation has by its form alone; the others write theirs.
pub(super) fn implied_type(op: &Op) -> Option<Type> {
    match op {
        Op::Alloca { .. } | Op::Address { .. } => Some(Type::Ptr),
        Op::Store { .. } | Op::Memory { .. } | Op::VaStart(_) | Op::VaCopy { .. } | Op::VaEnd(_) => {
            Some(Type::Void)
        }
        Op::Compare(..) | Op::FloatCompare(..) | Op::Mark { .. } => Some(Type::Int(1)),
        Op::Load { .. }
        | Op::Binary(..)
        | Op::FloatBinary(..)
        | Op::FloatNegate(_)
        | Op::Cast(..)
        | Op::Select { .. }
        | Op::Phi(_)
        | Op::Call { .. }
        | Op::Extract { .. }
        | Op::Insert { .. }
        | Op::Freeze(_)
        | Op::Opaque { .. } => None,
    }
}

/// Type of the third operand's place of copying and filling.
pub(super) const LENGTH: Type = Type::Int(64);
/// Type of the place for an alloca's count.
pub(super) const COUNT: Type = Type::Int(32);

/// Type of the place for what is copied from, or filled with.
pub(super) fn memory_source(op: MemoryOp) -> Type {
    match op {
        MemoryOp::Copy | MemoryOp::Move => Type::Ptr,
        MemoryOp::Set => Type::Int(8),
    }
}

pub(super) fn body(out: &mut String, function: &Function) -> Result {
    if !function.is_defined() && function.instrs.is_empty() {
        out.push('\n');
        return Ok(());
    }
    out.push_str(" {\n");
    let mut placed = vec![false; function.instrs.len()];
    for (id, block) in function.blocks() {
        write!(out, "{id}")?;
        at(out, block.span)?;
        out.push_str(":\n");
        for &instr_id in &block.instrs {
            placed[instr_id.index()] = true;
            instr(out, instr_id, function.instr(instr_id))?;
        }
        out.push_str("  ");
        terminator(out, &block.terminator, function.result)?;
        out.push('\n');
    }
    if placed.contains(&false) {
        out.push_str("unplaced:\n");
    }
    for (index, _) in placed.iter().enumerate().filter(|(_, placed)| !**placed) {
        instr(out, InstrId::new(index), &function.instrs[index])?;
    }
    out.push_str("}\n");
    Ok(())
}

fn instr(out: &mut String, id: InstrId, instr: &Instr) -> Result {
    write!(out, "  {id} = ")?;
    op(out, &instr.op, instr.ty)?;
    if implied_type(&instr.op).is_some_and(|implied| implied != instr.ty) {
        write!(out, " as {}", instr.ty)?;
    }
    at(out, instr.span)?;
    out.push('\n');
    Ok(())
}

fn op(out: &mut String, op: &Op, ty: Type) -> Result {
    match op {
        Op::Alloca { size, align, count } => {
            write!(out, "alloca {size} align {align}")?;
            let one = Operand::Int { bits: 32, value: 1 };
            if *count == one { Ok(()) } else { list(out, " count ", &[(COUNT, *count)]) }
        }
        Op::Load { address, volatile } => {
            let word = if *volatile { "volatile load" } else { "load" };
            list(out, &format!("{word} {ty}, "), &[(Type::Ptr, *address)])
        }
        Op::Store { address, value, value_type } => {
            list(out, &format!("store {value_type} "), &[(*value_type, *value), (Type::Ptr, *address)])
        }
        Op::Binary(op, left, right) => list(out, &format!("{op} {ty} "), &[(ty, *left), (ty, *right)]),
        Op::Compare(predicate, of, left, right) => {
            list(out, &format!("compare {predicate} {of} "), &[(*of, *left), (*of, *right)])
        }
        Op::FloatBinary(op, left, right) => list(out, &format!("{op} {ty} "), &[(ty, *left), (ty, *right)]),
        Op::FloatNegate(value) => list(out, &format!("fneg {ty} "), &[(ty, *value)]),
        Op::FloatCompare(predicate, kind, left, right) => {
            let of = Type::Float(*kind);
            list(out, &format!("fcompare {predicate} {of} "), &[(of, *left), (of, *right)])
        }
        Op::Cast(op, from, value) => {
            list(out, &format!("{op} {from} "), &[(*from, *value)])?;
            write!(out, " to {ty}")
        }
        Op::Address { base, offset, indices } => address(out, *base, *offset, indices),
        Op::Select { condition, then, otherwise } => {
            let operands = [(Type::Int(1), *condition), (ty, *then), (ty, *otherwise)];
            list(out, &format!("select {ty} "), &operands)
        }
        Op::Phi(incoming) => phi(out, ty, incoming),
        Op::Call { callee, arguments } => call(out, ty, *callee, arguments),
        Op::Mark { condition, value } => list(out, &format!("mark {condition} "), &[(Type::Int(1), *value)]),
        Op::Extract { record, record_type, leaf } => {
            let of = Type::Record(*record_type);
            list(out, &format!("extract {ty}, {of} "), &[(of, *record)])?;
            write!(out, ", {leaf}")
        }
        Op::Insert { record, leaf, value, value_type } => {
            list(out, &format!("insert {ty} "), &[(ty, *record)])?;
            list(out, &format!(", {leaf}, {value_type} "), &[(*value_type, *value)])
        }
        Op::Memory { op, to, from, length } => {
            let operands = [(Type::Ptr, *to), (memory_source(*op), *from), (LENGTH, *length)];
            list(out, &format!("{op} "), &operands)
        }
        Op::Freeze(value) => list(out, &format!("freeze {ty} "), &[(ty, *value)]),
        Op::VaStart(to) => list(out, "va_start ", &[(Type::Ptr, *to)]),
        Op::VaCopy { to, from } => list(out, "va_copy ", &[(Type::Ptr, *to), (Type::Ptr, *from)]),
        Op::VaEnd(of) => list(out, "va_end ", &[(Type::Ptr, *of)]),
        Op::Opaque { what, operands } => {
            write!(out, "opaque {ty} ")?;
            quote(out, what);
            let operands: Vec<_> = operands.iter().map(|operand| (Type::Opaque, *operand)).collect();
            list(out, "(", &operands)?;
            write!(out, ")")
        }
    }
}

fn address(out: &mut String, base: Operand, offset: i64, indices: &[(Type, Operand, i64)]) -> Result {
    list(out, "address ", &[(Type::Ptr, base)])?;
    if offset != 0 {
        write!(out, ", {offset}")?;
    }
    for (of, index, scale) in indices {
        list(out, &format!(", {of} "), &[(*of, *index)])?;
        write!(out, " * {scale}")?;
    }
    Ok(())
}

fn phi(out: &mut String, ty: Type, incoming: &[(BlockId, Operand)]) -> Result {
    write!(out, "phi {ty}")?;
    for (number, (block, value)) in incoming.iter().enumerate() {
        let comma = if number == 0 { "" } else { "," };
        list(out, &format!("{comma} [{block}: "), &[(ty, *value)])?;
        out.push(']');
    }
    Ok(())
}

fn call(out: &mut String, ty: Type, callee: Callee, arguments: &[(Type, Operand)]) -> Result {
    write!(out, "call {ty} ")?;
    match callee {
        Callee::Direct(function) => write!(out, "{function}")?,
        Callee::Indirect(address) => list(out, "*", &[(Type::Ptr, address)])?,
    }
    out.push('(');
    for (number, (of, argument)) in arguments.iter().enumerate() {
        let comma = if number == 0 { "" } else { ", " };
        list(out, &format!("{comma}{of} "), &[(*of, *argument)])?;
    }
    write!(out, ")")
}

fn terminator(out: &mut String, terminator: &Terminator, result: Type) -> Result {
    match terminator {
        Terminator::Jump(to) => write!(out, "jump {to}"),
        Terminator::Branch { condition, then, otherwise, decided, range } => {
            list(out, "branch ", &[(Type::Int(1), *condition)])?;
            write!(out, ", {then}, {otherwise}")?;
            if let Some(decided) = decided {
                write!(out, " decided {}{}", if decided.negated { "!" } else { "" }, decided.condition)?;
            }
            if let Some(range) = range {
                write!(out, " range {} {}", range.switch, range.label)?;
            }
            Ok(())
        }
        Terminator::Switch { value, bits, cases, default, source } => {
            let of = Type::Int(*bits);
            list(out, &format!("switch {of} "), &[(of, *value)])?;
            out.push_str(" {");
            for case in cases {
                out.push(' ');
                integer(out, *bits, case.value)?;
                write!(out, ": {},", case.target)?;
            }
            write!(out, " default: {default} }}")?;
            source.map_or(Ok(()), |source| write!(out, " source {source}"))
        }
        Terminator::IndirectJump { address, targets } => {
            list(out, "jump *", &[(Type::Ptr, *address)])?;
            let targets: Vec<String> = targets.iter().map(BlockId::to_string).collect();
            write!(out, " [{}]", targets.join(", "))
        }
        Terminator::Return(Some(value)) => list(out, "return ", &[(result, *value)]),
        Terminator::Return(None) => write!(out, "return"),
        Terminator::Unreachable => write!(out, "unreachable"),
    }
}

/// ` at s3` where a span is known.
pub(super) fn at(out: &mut String, span: Option<SpanId>) -> Result {
    span.map_or(Ok(()), |span| write!(out, " at {span}"))
}

/// `+8`, `-8`, or nothing.
pub(super) fn displacement(out: &mut String, bytes: i64) -> Result {
    if bytes == 0 { Ok(()) } else { write!(out, "{bytes:+}") }
}

/// Operands after a lead, separated by commas, each in a place of the given type.
fn list(out: &mut String, lead: &str, operands: &[(Type, Operand)]) -> Result {
    out.push_str(lead);
    for (number, (place, value)) in operands.iter().enumerate() {
        if number > 0 {
            out.push_str(", ");
        }
        operand(out, *value, *place)?;
    }
    Ok(())
}

fn operand(out: &mut String, operand: Operand, place: Type) -> Result {
    let own = match operand {
        Operand::Result(id) => return write!(out, "{id}"),
        Operand::Parameter(number) => return write!(out, "p{number}"),
        Operand::Null => return write!(out, "null"),
        Operand::Function(function) => return write!(out, "{function}"),
        Operand::Global { global, offset } => {
            write!(out, "{global}")?;
            return displacement(out, offset);
        }
        Operand::Int { bits, value } => {
            integer(out, bits, value)?;
            Type::Int(bits)
        }
        Operand::Float { kind, bits } => {
            float(out, kind, bits)?;
            Type::Float(kind)
        }
        Operand::Undefined(ty) => {
            out.push_str("undef");
            ty
        }
    };
    if own == place { Ok(()) } else { write!(out, ":{own}") }
}

/// Signed where the value fits the width, so that -1 reads as such; by its bits otherwise.
fn integer(out: &mut String, bits: u32, value: u128) -> Result {
    if !(1..=128).contains(&bits) || (bits < 128 && value >> bits != 0) {
        return write!(out, "{value:#x}");
    }
    let shift = 128 - bits;
    if bits == 1 { write!(out, "{value}") } else { write!(out, "{}", (value << shift) as i128 >> shift) }
}

fn float(out: &mut String, kind: FloatKind, bits: u128) -> Result {
    match kind {
        FloatKind::Single => match u32::try_from(bits).map(f32::from_bits) {
            Ok(value) if value.is_finite() => write!(out, "{value:?}"),
            _ => write!(out, "#{bits:x}"),
        },
        FloatKind::Double => match u64::try_from(bits).map(f64::from_bits) {
            Ok(value) if value.is_finite() => write!(out, "{value:?}"),
            _ => write!(out, "#{bits:x}"),
        },
        FloatKind::Half | FloatKind::X87 | FloatKind::Quad => write!(out, "#{bits:x}"),
    }
}
