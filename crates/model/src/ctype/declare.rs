//! Declarations and literals as C text.

use std::fmt::Write;

use super::{CFunction, CParameter, CTypeId, CTypeKind, CTypes};
use crate::input::{Kind, Node};

/// `type name`, with arrays and awkward types written so that C accepts them.
pub fn declaration(types: &CTypes, ty: CTypeId, name: &str) -> String {
    let mut declarator = name.to_owned();
    let mut ty = &types[ty];
    while let CTypeKind::Array { element, length: Some(length) } = ty.kind {
        declarator = format!("{declarator}[{length}]");
        ty = &types[element];
    }
    typed(&ty.spelling, &declarator)
}

/// The variable that stands for a parameter: the array a pointer points to, or the value itself.
pub fn parameter_object(types: &CTypes, ty: CTypeId, node: &Node, name: &str) -> String {
    match (&types[ty].kind, &node.kind) {
        (CTypeKind::Pointer { to, .. }, Kind::Array { elements, pointer: true }) => {
            let target = &types[*to];
            let length = elements.len() as u64 + u64::from(target.is_text());
            if matches!(target.kind, CTypeKind::Void) {
                return format!("unsigned char {name}[{length}]");
            }
            declaration(types, *to, &format!("{name}[{length}]"))
        }
        _ => declaration(types, ty, name),
    }
}

/// The function's declaration without the semicolon, as people write it.
pub fn prototype(types: &CTypes, function: &CFunction) -> String {
    let names = function.parameter_names();
    let parameter = |(parameter, name): (&CParameter, &String)| declaration(types, parameter.ty, name);
    let mut parameters: Vec<String> = function.parameters.iter().zip(&names).map(parameter).collect();
    if function.variadic {
        parameters.push("...".to_owned());
    }
    declaration(types, function.result, &format!("{}({})", function.key.name, parameters.join(", ")))
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

/// Bytes as a C string; those that do not read as text are octal.
pub fn c_string(bytes: &[u8]) -> String {
    let mut text = String::from("\"");
    for &byte in bytes {
        match byte {
            b'"' | b'\\' => text.extend(['\\', char::from(byte)]),
            b'\n' => text.push_str("\\n"),
            b'\t' => text.push_str("\\t"),
            // a question mark may begin a trigraph
            b' '..=b'~' if byte != b'?' => text.push(char::from(byte)),
            _ => {
                let _ = write!(text, "\\{byte:03o}");
            }
        }
    }
    text.push('"');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_is_written_so_that_c_reads_it_back() {
        assert_eq!(c_string(b"a\"\\\n\x001?\xff"), r#""a\"\\\n\0001\077\377""#);
    }
}
