//! The scalar leaves of a type: what has a shadow of its own.
//!
//! Integers of at most 64 bits, pointers, `float`, `double` and pairs of `float` (which is how two of them are passed) are
//! tracked. Structures and arrays held in registers are flattened; whatever else a leaf may be (`long double`, vectors,
//! wider integers) is there but has no shadow.

use crate::llvm::{Builder, LLVMTypeKind, Type};

/// Larger aggregates in registers do not come from C; they count as one leaf without shadow.
const MOST_LEAVES: usize = 64;

/// A scalar inside a value.
#[derive(Clone, Debug, PartialEq)]
pub struct Leaf<'m> {
    /// Indices from the outermost aggregate inwards; empty for a scalar.
    pub path: Vec<u32>,
    /// Byte offset in memory.
    pub offset: u64,
    pub ty: Type<'m>,
    /// Bits of a tracked leaf.
    pub width: Option<u32>,
}

/// The leaves of a type in memory order; none for `void`.
pub fn leaves<'m>(ir: &Builder<'m>, ty: Type<'m>) -> Vec<Leaf<'m>> {
    let mut found = Vec::new();
    if ty.is_void() {
        return found;
    }
    collect(ir, ty, &mut Vec::new(), 0, &mut found);
    if found.len() > MOST_LEAVES {
        return vec![Leaf { path: Vec::new(), offset: 0, ty, width: None }];
    }
    found
}

/// Bits of a tracked scalar type.
pub fn tracked_width(ir: &Builder<'_>, ty: Type<'_>) -> Option<u32> {
    if ty.is_pointer() {
        Some(ir.pointer_bits())
    } else if ty.is_integer() && ty.bits() <= 64 {
        Some(ty.bits())
    } else if ty.is_pair_of_singles() && ir.rounds_each() {
        Some(64)
    } else {
        float_width(ir, ty)
    }
}

/// Bits of a number that is followed. None is where x87 computes: its registers hold more digits than the type has, and which operations
/// are rounded is the code generator's choice.
pub fn float_width(ir: &Builder<'_>, ty: Type<'_>) -> Option<u32> {
    match ty.kind() {
        LLVMTypeKind::LLVMFloatTypeKind if ir.rounds_each() => Some(32),
        LLVMTypeKind::LLVMDoubleTypeKind if ir.rounds_each() => Some(64),
        _ => None,
    }
}

fn collect<'m>(ir: &Builder<'m>, ty: Type<'m>, path: &mut Vec<u32>, offset: u64, found: &mut Vec<Leaf<'m>>) {
    if found.len() > MOST_LEAVES {
        return;
    }
    let children: Vec<(Type<'m>, u64)> = if ty.is_struct() {
        (0..).zip(ty.fields()).map(|(index, field)| (field, ir.field_offset(ty, index))).collect()
    } else if ty.is_array() {
        let element = ty.element();
        let stride = ir.allocation_size(element);
        (0..ty.array_length().min(MOST_LEAVES as u64 + 1)).map(|index| (element, index * stride)).collect()
    } else {
        found.push(Leaf { path: path.clone(), offset, ty, width: tracked_width(ir, ty) });
        return;
    };
    for (index, (child, child_offset)) in (0..).zip(children) {
        path.push(index);
        collect(ir, child, path, offset + child_offset, found);
        path.pop();
    }
}
