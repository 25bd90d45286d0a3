//! Constants: what they denote as addresses, and the initial bytes of globals.
//!
//! An address is a symbol moved by a number of bytes. The address of a label (`&&label`) is written as its function
//! moved by one more than the block's number: no other pointer into a function exists, so it is never mistaken.
//! Limit: what only the linker can compute (differences of addresses, truncated addresses) is not described.

use model::{Relocation, RelocationTarget, Type};

use super::context::Context;
use crate::llvm::{self, Ir, LLVMOpcode, LLVMTypeKind, Value};

/// A symbol and bytes to move by.
pub(crate) type SymbolicAddress = (RelocationTarget, i64);

/// The symbol that a constant pointer stands for, if it is one.
pub(crate) fn symbolic_address<'m>(cx: &Context<'m, '_>, constant: Value<'m>) -> Option<SymbolicAddress> {
    if let Some(global) = cx.globals.get(&constant) {
        return Some((RelocationTarget::Global(*global), 0));
    }
    if let Some(function) = cx.functions.get(&constant) {
        return Some((RelocationTarget::Function(*function), 0));
    }
    if let Some(aliased) = constant.aliasee() {
        return symbolic_address(cx, aliased);
    }
    if let Some((function, block)) = constant.block_address() {
        let number = cx.blocks.get(&block)?;
        return Some((RelocationTarget::Function(*cx.functions.get(&function)?), 1 + i64::from(number.0)));
    }
    match constant.constant_opcode()? {
        LLVMOpcode::LLVMGetElementPtr => {
            let (target, base) = symbolic_address(cx, constant.operand(0))?;
            Some((target, base.wrapping_add(constant_offset(cx.ir, constant)?)))
        }
        LLVMOpcode::LLVMBitCast | LLVMOpcode::LLVMAddrSpaceCast => symbolic_address(cx, constant.operand(0)),
        _ => None,
    }
}

/// Bytes that a `getelementptr` with constant indices adds.
fn constant_offset<'m>(ir: Ir<'m>, gep: Value<'m>) -> Option<i64> {
    let steps = gep_steps(ir, gep)?;
    steps.into_iter().try_fold(0_i64, |sum, step| match step {
        Step::Bytes(bytes) => Some(sum.wrapping_add(bytes)),
        Step::Scaled(..) => None,
    })
}

/// What one index of a `getelementptr` adds.
pub(crate) enum Step<'m> {
    Bytes(i64),
    Scaled(Value<'m>, i64),
}

/// The indices of a `getelementptr` as steps in bytes; `None` for vectors of pointers.
pub(crate) fn gep_steps<'m>(ir: Ir<'m>, gep: Value<'m>) -> Option<Vec<Step<'m>>> {
    if gep.ty().kind() != LLVMTypeKind::LLVMPointerTypeKind {
        return None;
    }
    let mut steps = Vec::new();
    let mut ty = gep.gep_type();
    for (position, index) in gep.operands().into_iter().skip(1).enumerate() {
        let (step, inner) = gep_step(ir, ty, index, position == 0)?;
        steps.push(step);
        ty = inner;
    }
    Some(steps)
}

fn gep_step<'m>(
    ir: Ir<'m>,
    ty: llvm::Type<'m>,
    index: Value<'m>,
    first: bool,
) -> Option<(Step<'m>, llvm::Type<'m>)> {
    let scaled = |element: llvm::Type<'m>| {
        let scale = i64::try_from(ir.allocation_size(element)).ok()?;
        let step = match signed(index) {
            Some(constant) => Step::Bytes(constant.wrapping_mul(scale)),
            None => Step::Scaled(index, scale),
        };
        Some((step, element))
    };
    if first {
        return scaled(ty);
    }
    match ty.kind() {
        LLVMTypeKind::LLVMStructTypeKind => {
            let member = u32::try_from(index.wide_integer()?).ok()?;
            let offset = i64::try_from(ir.field_offset(ty, member)).ok()?;
            Some((Step::Bytes(offset), *ty.fields().get(member as usize)?))
        }
        LLVMTypeKind::LLVMArrayTypeKind | LLVMTypeKind::LLVMVectorTypeKind => scaled(ty.element()),
        _ => None,
    }
}

/// An integer constant as a signed index.
fn signed(index: Value<'_>) -> Option<i64> {
    let bits = index.ty().int_bits().filter(|bits| index.is_int() && *bits <= 64)?;
    let value = u64::try_from(index.wide_integer()?).ok()?;
    Some((value << (64 - bits)).cast_signed() >> (64 - bits))
}

/// Initial bytes of a global and the pointers in them.
#[derive(Default)]
pub(crate) struct Image {
    pub(crate) bytes: Vec<u8>,
    pub(crate) relocations: Vec<Relocation>,
    /// Parts that are not described, as LLVM writes them.
    pub(crate) undescribed: Vec<String>,
}

/// The image of an initialiser.
pub(crate) fn image<'m>(cx: &mut Context<'m, '_>, initializer: Value<'m>) -> Image {
    let size = usize::try_from(cx.ir.allocation_size(initializer.ty())).expect("a global fits in memory");
    let mut image = Image { bytes: vec![0; size], ..Image::default() };
    write(cx, initializer, 0, &mut image);
    image
}

fn write<'m>(cx: &mut Context<'m, '_>, constant: Value<'m>, at: u64, image: &mut Image) {
    if constant.is_zero_aggregate() || constant.is_undefined() || constant.is_null_pointer() {
        return;
    }
    if let Some(bytes) = constant.string_bytes() {
        let start = at as usize;
        image.bytes[start..start + bytes.len()].copy_from_slice(&bytes);
        return;
    }
    match constant.ty().kind() {
        LLVMTypeKind::LLVMStructTypeKind => {
            for member in 0..constant.ty().fields().len() as u32 {
                let offset = cx.ir.field_offset(constant.ty(), member);
                write_element(cx, constant, member, at + offset, image);
            }
        }
        LLVMTypeKind::LLVMArrayTypeKind => {
            let step = cx.ir.allocation_size(constant.ty().element());
            for index in 0..constant.ty().array_length() {
                write_element(cx, constant, index as u32, at + index * step, image);
            }
        }
        LLVMTypeKind::LLVMVectorTypeKind => {
            let step = cx.ir.store_size(constant.ty().element());
            for index in 0..constant.ty().vector_length() {
                write_element(cx, constant, index as u32, at + index * step, image);
            }
        }
        _ => write_scalar(cx, constant, at, image),
    }
}

fn write_element<'m>(cx: &mut Context<'m, '_>, constant: Value<'m>, number: u32, at: u64, image: &mut Image) {
    match constant.element(number) {
        Some(element) => write(cx, element, at, image),
        None => image.undescribed.push(constant.print()),
    }
}

fn write_scalar<'m>(cx: &mut Context<'m, '_>, constant: Value<'m>, at: u64, image: &mut Image) {
    let (bits, value) = match cx.types.lower(constant.ty()) {
        Type::Int(bits) if constant.is_int() => (bits, constant.wide_integer()),
        Type::Float(kind) if constant.is_float() => (kind.bits(), cx.ir.float_bits(constant, kind.bits())),
        Type::Ptr => return write_address(cx, constant, at, image, constant),
        Type::Int(bits)
            if bits == cx.ir.pointer_bits()
                && constant.constant_opcode() == Some(LLVMOpcode::LLVMPtrToInt) =>
        {
            return write_address(cx, constant.operand(0), at, image, constant);
        }
        Type::Int(_) | Type::Float(_) | Type::Void | Type::Record(_) | Type::Opaque => (0, None),
    };
    match value {
        Some(value) => {
            let length = bits.div_ceil(8) as usize;
            let start = at as usize;
            image.bytes[start..start + length].copy_from_slice(&value.to_le_bytes()[..length]);
        }
        None => image.undescribed.push(constant.print()),
    }
}

fn write_address<'m>(
    cx: &Context<'m, '_>,
    address: Value<'m>,
    offset: u64,
    image: &mut Image,
    whole: Value<'m>,
) {
    if let Some((target, addend)) = symbolic_address(cx, address) {
        image.relocations.push(Relocation { offset, target, addend });
        return;
    }
    // `(char *)-1` and its like: a number written as a pointer.
    let number = (address.constant_opcode() == Some(LLVMOpcode::LLVMIntToPtr))
        .then(|| address.operand(0))
        .filter(|number| number.is_int())
        .and_then(Value::wide_integer);
    match number {
        Some(number) => {
            let (start, length) = (offset as usize, (cx.ir.pointer_bits() / 8) as usize);
            image.bytes[start..start + length].copy_from_slice(&number.to_le_bytes()[..length]);
        }
        None => image.undescribed.push(whole.print()),
    }
}
