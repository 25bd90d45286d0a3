//! Tests in KLEE's file format, version 3: names and bytes of the objects that are input, all numbers big-endian.
//!
//! For a function, each scalar is an object named by its C expression, and so is each array of characters. For a program,
//! the objects are `arg00`, `arg01`, … (with their zero bytes), `stdin`, and files and variables by name. Limit: the format
//! has no pointers; only the name of an object says which pointer points to it.

use model::input::{Cell, Input, Kind, Node, Objects, Pointed, Scalar, Shape};
use model::invocation::Invocation;

const VERSION: u32 = 3;

/// An object: name and bytes.
pub type Object = (String, Vec<u8>);

/// A file with these objects, for a program called with these arguments.
pub fn encoded(arguments: &[String], objects: &[Object]) -> Vec<u8> {
    let mut bytes = b"KTEST".to_vec();
    let number = |bytes: &mut Vec<u8>, number: usize| {
        bytes.extend(u32::try_from(number).unwrap_or(u32::MAX).to_be_bytes());
    };
    let block = |bytes: &mut Vec<u8>, block: &[u8]| {
        number(bytes, block.len());
        bytes.extend(block);
    };
    bytes.extend(VERSION.to_be_bytes());
    number(&mut bytes, arguments.len());
    arguments.iter().for_each(|argument| block(&mut bytes, argument.as_bytes()));
    // no symbolic arguments by KLEE's own options
    number(&mut bytes, 0);
    number(&mut bytes, 0);
    number(&mut bytes, objects.len());
    for (name, contents) in objects {
        block(&mut bytes, name.as_bytes());
        block(&mut bytes, contents);
    }
    bytes
}

/// What a program is given.
pub fn of_program(given: &Invocation) -> Vec<Object> {
    let argument = |(index, argument): (usize, &Vec<u8>)| {
        (format!("arg{index:02}"), [argument.as_slice(), b"\0"].concat())
    };
    let mut objects: Vec<Object> = given.arguments.iter().enumerate().map(argument).collect();
    objects.push(("stdin".to_owned(), given.stdin.clone()));
    for (name, contents) in given.files.iter().chain(&given.variables) {
        objects.extend(contents.clone().map(|contents| (name.clone(), contents)));
    }
    objects
}

/// The input of a function.
pub fn of_function(shape: &Shape, input: &Input) -> Vec<Object> {
    let mut walk = Walk { input, objects: Objects::of(shape, input), found: Vec::new() };
    for root in shape.roots.iter().chain(&shape.stubs) {
        walk.node(root, &root.name, ".");
    }
    walk.found
}

struct Walk<'a> {
    input: &'a Input,
    objects: Objects,
    found: Vec<Object>,
}

impl Walk<'_> {
    fn node(&mut self, node: &Node, path: &str, arrow: &str) {
        match &node.kind {
            Kind::Scalar(cell) => self.found.push((path.to_owned(), self.bytes(cell))),
            Kind::Array { elements, .. } => self.elements(elements, path),
            Kind::Sized(sized) => self.elements(&sized.elements(self.input), path),
            Kind::Struct { members } => {
                for member in members {
                    let arrow_below = if member.is_anonymous() { arrow } else { "." };
                    self.node(member, &member.joined(path, arrow), arrow_below);
                }
            }
            Kind::Pointer(pointer) => {
                if let Pointed::Own(index) = self.objects.pointed(pointer) {
                    let object = self.objects.objects[index].node.clone();
                    let is_scalar = matches!(object.kind, Kind::Scalar(_) | Kind::Pointer(_));
                    let path = if is_scalar { format!("*{path}") } else { path.to_owned() };
                    self.node(&object, &path, "->");
                }
            }
            Kind::Union(union) => {
                if let Some(member) = union.chosen(self.input) {
                    self.node(&member, &member.joined(path, arrow), ".");
                }
            }
            Kind::Stream(stream) if stream.is_there(self.input) => {
                self.elements(&stream.bytes.elements(self.input), path);
            }
            Kind::Results(results) => self.elements(&results.results(self.input), path),
            Kind::Sequence { root, results } => {
                let calls = model::input::calls::calls(*root, results, self.input);
                for (number, call) in calls.iter().enumerate() {
                    self.node(&call.value, &format!("{path}[{number}]"), ".");
                }
            }
            Kind::Optional { present, to } => {
                if self.input.values.get(&present.key).is_some_and(|value| *value != 0) {
                    self.node(to, path, "->");
                }
            }
            Kind::Function(_) | Kind::Stream(_) | Kind::Unsupported { .. } => {}
        }
    }

    /// Characters are one object, other elements one each.
    fn elements(&mut self, elements: &[Node], path: &str) {
        let character = |node: &Node| match &node.kind {
            Kind::Scalar(cell @ Cell { scalar: Scalar::Char { .. }, .. }) => {
                self.bytes(cell).first().copied()
            }
            _ => None,
        };
        let characters: Option<Vec<u8>> = elements.iter().map(character).collect();
        match characters {
            Some(characters) if !characters.is_empty() => self.found.push((path.to_owned(), characters)),
            Some(_) | None => {
                for element in elements {
                    self.node(element, &format!("{path}{}", element.name), ".");
                }
            }
        }
    }

    fn bytes(&self, cell: &Cell) -> Vec<u8> {
        let value = self.input.values.get(&cell.key).copied().unwrap_or(0);
        value.to_le_bytes()[..cell.scalar.bits().div_ceil(8).min(8) as usize].to_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_klees_layout() {
        let bytes = encoded(&["f".to_owned()], &[("n".to_owned(), vec![3, 0])]);
        let expected = [
            b"KTEST".as_slice(),
            &[0, 0, 0, 3],
            &[0, 0, 0, 1, 0, 0, 0, 1, b'f'],
            &[0; 8],
            &[0, 0, 0, 1, 0, 0, 0, 1, b'n', 0, 0, 0, 2, 3, 0],
        ]
        .concat();
        assert_eq!(bytes, expected);
    }
}
