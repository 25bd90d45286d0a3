//! Declarations of variables of any C type.

use model::input::{Kind, Node};

use crate::ctype::{CType, CTypeId, CTypeKind, CTypes};

/// `type name`, with arrays and awkward types written so that C accepts them.
pub fn declaration(types: &CTypes, ty: CTypeId, name: &str) -> String {
    let mut declarator = name.to_owned();
    let mut ty = of(types, ty);
    while let CTypeKind::Array { element, length: Some(length) } = ty.kind {
        declarator = format!("{declarator}[{length}]");
        ty = of(types, element);
    }
    typed(&ty.spelling, &declarator)
}

/// The variable that stands for a parameter: the array a pointer points to, or the value itself.
pub fn parameter_object(types: &CTypes, ty: CTypeId, node: &Node, name: &str) -> String {
    match (&of(types, ty).kind, &node.kind) {
        (CTypeKind::Pointer { to, .. }, Kind::Array { elements, pointer: true }) => {
            let target = of(types, *to);
            let length = elements.len() as u64 + u64::from(is_text(target));
            if matches!(target.kind, CTypeKind::Void) {
                return format!("unsigned char {name}[{length}]");
            }
            declaration(types, *to, &format!("{name}[{length}]"))
        }
        _ => declaration(types, ty, name),
    }
}

/// Plain `char`: behind a pointer, it may be a string.
pub fn is_text(ty: &CType) -> bool {
    matches!(ty.kind, CTypeKind::Char { .. }) && ty.spelling == "char"
}

/// A type by id.
pub fn of(types: &CTypes, ty: CTypeId) -> &CType {
    &types.types[ty.0 as usize]
}

/// `type declarator`.
pub fn typed(spelling: &str, declarator: &str) -> String {
    let awkward = spelling.contains(['(', '[']) && !spelling.starts_with("__typeof__");
    if awkward {
        format!("__typeof__({spelling}) {declarator}")
    } else if spelling.ends_with('*') {
        format!("{spelling}{declarator}")
    } else {
        format!("{spelling} {declarator}")
    }
}
