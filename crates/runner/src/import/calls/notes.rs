//! What a test program notes of its calls, as inputs in JSON.
//!
//! The notes are numbers in the order of the input's shape, so reading them walks the shape as `testwriter`'s capture does.

use model::input::{Kind, LARGEST, Node, Pointer, Shape, Sized};
use serde_json::{Map, Value, json};
use testwriter::{NotedPointer, OTHER_FUNCTION, first_choice};

use crate::import::layout::scalar_value;

/// A call that was noted to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The call and those that led to it, the innermost first: addresses that they return to, less one.
    pub callers: Vec<u64>,
    pub numbers: Vec<u64>,
}

/// The calls of a record; the last one is left out when the program ended while it was noted.
pub fn calls(record: &[u8]) -> Vec<Call> {
    let text = String::from_utf8_lossy(record);
    let read = |line: &str| -> Option<Call> {
        let words = line.strip_prefix("C ")?.strip_suffix("E")?;
        let (callers, numbers) = words.split_once(';')?;
        let read = |words: &str| -> Option<Vec<u64>> {
            words.split_whitespace().map(|word| u64::from_str_radix(word, 16).ok()).collect()
        };
        let callers = read(callers)?.into_iter().map(|address| address.saturating_sub(1)).collect();
        Some(Call { callers, numbers: read(numbers)? })
    };
    text.lines().filter_map(read).collect()
}

/// The notes of a call that are not read yet.
pub struct Notes<'a> {
    shape: &'a Shape,
    numbers: std::slice::Iter<'a, u64>,
    /// The objects so far: number of the template, and the pointer that it was noted for.
    objects: Vec<String>,
    /// Pointers to functions that an input cannot name.
    pub n_other_functions: usize,
}

impl<'a> Notes<'a> {
    pub fn new(shape: &'a Shape, numbers: &'a [u64]) -> Self {
        Self { shape, numbers: numbers.iter(), objects: Vec::new(), n_other_functions: 0 }
    }

    /// The input that the call was given, or why there is none.
    pub fn input(&mut self) -> Result<Value, String> {
        let mut members = Map::new();
        let shape = self.shape;
        for root in shape.roots.iter().filter(|root| is_noted(&root.kind)) {
            members.insert(root.name.clone(), self.value(root, &root.name, ".")?);
        }
        Ok(Value::Object(members))
    }

    fn number(&mut self) -> Result<u64, String> {
        self.numbers.next().copied().ok_or_else(|| "its notes end too early".to_owned())
    }

    fn value(&mut self, node: &Node, path: &str, arrow: &str) -> Result<Value, String> {
        Ok(match &node.kind {
            Kind::Scalar(cell) => scalar_value(cell, self.number()?),
            Kind::Array { elements, pointer } => {
                if *pointer && self.number()? == 0 {
                    return Err(format!("{path} has fewer than {} elements", elements.len()));
                }
                let elements = elements.iter();
                elements
                    .map(|element| self.value(element, &format!("{path}{}", element.name), "."))
                    .collect::<Result<_, _>>()?
            }
            Kind::Struct { members } => {
                let mut values = Map::new();
                for member in members.iter().filter(|member| is_noted(&member.kind)) {
                    let arrow_below = if member.is_anonymous() { arrow } else { "." };
                    let value = self.value(member, &member.joined(path, arrow), arrow_below)?;
                    values.insert(member.name.clone(), value);
                }
                Value::Object(values)
            }
            Kind::Sized(sized) => self.sized(sized, path)?,
            Kind::Pointer(pointer) => self.pointer(pointer, path)?,
            Kind::Union(union) => match first_choice(union) {
                Some(member) => {
                    json!({ &member.name: self.value(member, &member.joined(path, arrow), ".")? })
                }
                None => Value::Null,
            },
            Kind::Function(function) => match self.number()? {
                0 => Value::Null,
                OTHER_FUNCTION => {
                    self.n_other_functions += 1;
                    let stub = function
                        .options
                        .first()
                        .ok_or_else(|| format!("{path} has no function to point to"))?;
                    Value::String(stub.to_string())
                }
                number => {
                    let option = usize::try_from(number - 1).ok().and_then(|at| function.options.get(at));
                    let option = option.ok_or_else(|| format!("{path} is no function that is known"))?;
                    Value::String(option.to_string())
                }
            },
            Kind::Stream(stream) => match self.number()? {
                0 => Value::Null,
                _ => self.sized(&stream.bytes, path)?,
            },
            Kind::Results(_) | Kind::Sequence { .. } | Kind::Optional { .. } | Kind::Unsupported { .. } => {
                Value::Null
            }
        })
    }

    fn sized(&mut self, sized: &Sized, path: &str) -> Result<Value, String> {
        let n = self.number()?;
        if n > LARGEST {
            return Err(format!("{path} has more than {LARGEST} elements"));
        }
        (0..n)
            .map(|index| {
                let element = sized.element(index);
                self.value(&element, &format!("{path}{}", element.name), ".")
            })
            .collect()
    }

    fn pointer(&mut self, pointer: &Pointer, path: &str) -> Result<Value, String> {
        let number = self.number()?;
        let noted =
            NotedPointer::from_number(number).ok_or_else(|| format!("{path} was noted as {number}"))?;
        match noted {
            NotedPointer::Null => Ok(Value::Null),
            NotedPointer::Own => {
                self.objects.push(path.to_owned());
                let target = &self.shape.targets[pointer.target];
                self.value(target, path, "->")
            }
            NotedPointer::Shared => Ok(json!({ "alias": self.object()? })),
            NotedPointer::Inside => Err(format!("{path} points into what {} points to", self.object()?)),
            NotedPointer::Nowhere => Err(format!("{path} points to no memory of the program")),
            NotedPointer::Deep => Err(format!(
                "{path} is more than {} pointers deep, which is not built (change it with --max-depth)",
                self.shape.max_depth
            )),
        }
    }

    fn object(&mut self) -> Result<String, String> {
        let number = self.number()?;
        let known = usize::try_from(number).ok().and_then(|number| self.objects.get(number));
        known.cloned().ok_or_else(|| "its notes name an object that is not there".to_owned())
    }
}

/// Whether there are notes of it; the rest keeps what an input says nothing about.
fn is_noted(kind: &Kind) -> bool {
    match kind {
        Kind::Results(_) | Kind::Sequence { .. } | Kind::Optional { .. } | Kind::Unsupported { .. } => false,
        Kind::Scalar(_)
        | Kind::Array { .. }
        | Kind::Struct { .. }
        | Kind::Sized(_)
        | Kind::Pointer(_)
        | Kind::Union(_)
        | Kind::Function(_)
        | Kind::Stream(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::values::json::tests::{linked, shape};

    #[track_caller]
    fn check(shape: &Shape, numbers: &[u64], expected: Result<Value, &str>) {
        let read = Notes::new(shape, numbers).input();
        assert_eq!(read, expected.map_err(str::to_owned));
    }

    #[test]
    fn only_calls_that_were_noted_to_their_end_count() {
        let record = b"C 401000 402000 ; 5 ff E\nC 401010 ; 1 2";
        assert_eq!(calls(record), [Call { callers: vec![0x40_0fff, 0x40_1fff], numbers: vec![5, 255] }]);
    }

    #[test]
    fn numbers_are_read_in_the_order_of_the_shape() {
        let numbers = [u64::MAX, 7, 1, 97, 98, 0, 0, 0xffff, 1, 2, 3];
        let expected =
            json!({"n": -1, "e": 7, "b": true, "s": [97, 98, 0, 0], "p": {"x": -1, "v": [1, 2]}, "w": 3});
        check(&shape(), &numbers, Ok(expected));
        check(&shape(), &numbers[..4], Err("its notes end too early"));
    }

    #[test]
    fn pointers_are_null_own_or_shared() {
        // list: a node of value 7 whose next is itself; s: "ab"
        check(
            &linked(),
            &[1, 7, 2, 0, 1, 2, 97, 98],
            Ok(json!({"list": {"value": 7, "next": {"alias": "list"}}, "s": [97, 98]})),
        );
        check(&linked(), &[0, 0], Ok(json!({"list": null, "s": null})));
        check(&linked(), &[1, 7, 5, 0], Err("list->next points into what list points to"));
        check(&linked(), &[4], Err("list points to no memory of the program"));
        check(&linked(), &[0, 1, LARGEST + 1], Err("s has more than 4096 elements"));
    }
}
