//! Bytes as they lie in memory, as the input of a function.
//!
//! Method: an object is named by a parameter or by a C expression over it (`p->x`, `v[2]`, `*n`), as KLEE's users and Quarry's
//! export name them. Its bytes are read by the type of what it names: numbers little-endian, members at the offsets that
//! C's usual alignment gives. An object for a pointer is what it points to. Limit: bit-fields, packed structures and
//! pointers inside of an object have no layout that is known here; such a test is left out. Bytes for the harness of a
//! fuzzer are the one text or array of bytes that there is, with its length beside it, or else fill the parameters in
//! their order.

use model::input::{Cell, Key, Kind, Node, Reach, Scalar, Shape};
use serde_json::{Map, Value, json};

use crate::values::json::{float_to_json, is_character, json_number};

/// The input in which objects have these bytes, as JSON.
pub(super) fn of_objects(
    shape: &Shape,
    pointer_bytes: u64,
    objects: &[(String, Vec<u8>)],
) -> Result<Value, String> {
    let layout = Layout { shape, pointer_bytes };
    let mut members = Map::new();
    for (name, bytes) in objects.iter().filter(|(name, _)| name != "model_version") {
        let steps =
            steps(name).ok_or_else(|| format!("its object {name} has a name that is no C expression"))?;
        let (root, rest) = layout.root(name, &steps)?;
        let slot = members.entry(root.name.clone()).or_insert(Value::Null);
        layout.put(root, rest, bytes, slot).map_err(|why| format!("its object {name} {why}"))?;
    }
    Ok(Value::Object(members))
}

/// The input that a fuzzer's bytes are, as JSON.
pub(super) fn of_bytes(shape: &Shape, pointer_bytes: u64, bytes: &[u8]) -> Result<Value, String> {
    let layout = Layout { shape, pointer_bytes };
    let texts: Vec<(&Node, &[Key])> =
        shape.roots.iter().filter_map(|root| Some((root, layout.bytes_behind(&root.kind)?))).collect();
    let mut members = Map::new();
    match texts.as_slice() {
        [(text, counted_by)] => {
            let mut slot = Value::Null;
            layout.put(text, &[], bytes, &mut slot)?;
            members.insert(text.name.clone(), slot);
            for root in &shape.roots {
                if let Kind::Scalar(cell) = &root.kind
                    && counted_by.contains(&cell.key)
                {
                    members.insert(root.name.clone(), json!(bytes.len()));
                }
            }
        }
        [] => {
            let mut rest = bytes;
            for root in &shape.roots {
                let Some((size, _)) = layout.size(&root.kind) else { continue };
                let (own, behind) =
                    rest.split_at(usize::try_from(size).unwrap_or(usize::MAX).min(rest.len()));
                let mut own = own.to_vec();
                own.resize(usize::try_from(size).unwrap_or(0), 0);
                members.insert(root.name.clone(), layout.value(&root.kind, &own)?);
                rest = behind;
            }
        }
        [_, _, ..] => {
            let names: Vec<&str> = texts.iter().map(|(root, _)| root.name.as_str()).collect();
            return Err(format!("which of {} its bytes are for cannot be told", names.join(", ")));
        }
    }
    Ok(Value::Object(members))
}

/// A step of a C expression.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Name(String),
    Index(u64),
    Deref,
}

/// The steps of `p->v[2].x` or `*p`.
fn steps(expression: &str) -> Option<Vec<Step>> {
    let mut rest = expression.trim();
    let mut derefs = Vec::new();
    while let Some(inner) = rest.strip_prefix('*') {
        derefs.push(Step::Deref);
        rest = inner.trim_start();
    }
    let mut steps = Vec::new();
    while !rest.is_empty() {
        if let Some(inner) = rest.strip_prefix('[') {
            let (index, behind) = inner.split_once(']')?;
            steps.push(Step::Index(index.trim().parse().ok()?));
            rest = behind;
            continue;
        }
        rest = rest.strip_prefix("->").or_else(|| rest.strip_prefix('.')).unwrap_or(rest);
        let end = rest.find(['.', '[', '-']).unwrap_or(rest.len());
        if end == 0 {
            return None;
        }
        steps.push(Step::Name(rest[..end].to_owned()));
        rest = &rest[end..];
    }
    steps.extend(derefs);
    (!steps.is_empty()).then_some(steps)
}

struct Layout<'a> {
    shape: &'a Shape,
    pointer_bytes: u64,
}

impl Layout<'_> {
    /// The parameter or variable that an object belongs to.
    fn root<'s>(&self, name: &str, steps: &'s [Step]) -> Result<(&Node, &'s [Step]), String> {
        let roots = || self.shape.roots.iter().chain(&self.shape.stubs);
        let known = || roots().map(|root| root.name.as_str()).collect::<Vec<_>>().join(", ");
        match steps.split_first() {
            Some((Step::Name(first), rest)) => match roots().find(|root| root.name == *first) {
                Some(root) => Ok((root, rest)),
                None => Err(format!("its object {name} is none of the inputs {}", known())),
            },
            Some((Step::Index(_) | Step::Deref, _)) | None => {
                Err(format!("its object {name} is none of the inputs {}", known()))
            }
        }
    }

    /// Puts bytes where the steps lead to.
    fn put(&self, node: &Node, steps: &[Step], bytes: &[u8], slot: &mut Value) -> Result<(), String> {
        match (&node.kind, steps) {
            (Kind::Pointer(pointer), _) => {
                let target = &self.shape.targets[pointer.target];
                let rest = if steps.first() == Some(&Step::Deref) { &steps[1..] } else { steps };
                self.put(target, rest, bytes, slot)
            }
            (Kind::Struct { members }, [Step::Name(name), rest @ ..]) => {
                let member = members.iter().find(|member| member.name == *name);
                let member = member.ok_or_else(|| format!("has no member {name}"))?;
                let members = as_object(slot);
                self.put(member, rest, bytes, members.entry(name.clone()).or_insert(Value::Null))
            }
            (Kind::Union(union), [Step::Name(name), rest @ ..]) => {
                let member = union.members.iter().find(|member| member.name == *name);
                let member = member.ok_or_else(|| format!("has no member {name}"))?;
                let mut value = Value::Null;
                self.put(member, rest, bytes, &mut value)?;
                *slot = json!({ name: value });
                Ok(())
            }
            (Kind::Array { elements, .. }, [Step::Index(index), rest @ ..]) => {
                let element = usize::try_from(*index).ok().and_then(|index| elements.get(index));
                let element = element.ok_or_else(|| format!("has no element {index}"))?;
                self.put_element(element, *index, elements.len(), rest, bytes, slot)
            }
            (Kind::Sized(sized), [Step::Index(index), rest @ ..]) if *index < model::input::LARGEST => {
                self.put_element(&sized.element, *index, *index as usize + 1, rest, bytes, slot)
            }
            (Kind::Stream(stream), []) => {
                let sized = Node { kind: Kind::Sized(stream.bytes.clone()), ..node.clone() };
                self.put(&sized, steps, bytes, slot)
            }
            (Kind::Sequence { results, .. }, [Step::Index(index), rest @ ..]) => match results.as_slice() {
                [result] => self.put_element(result, *index, *index as usize + 1, rest, bytes, slot),
                _ => Err("does not say which function was called".to_owned()),
            },
            (Kind::Results(results), [Step::Index(index), rest @ ..]) => {
                self.put_element(&results.result, *index, *index as usize + 1, rest, bytes, slot)
            }
            (Kind::Sized(sized), []) => {
                let (size, _) = self.size(&sized.element.kind).ok_or("has no layout that is known")?;
                let n = bytes.len() as u64 / size.max(1);
                if n * size != bytes.len() as u64 {
                    return Err(format!("has {} bytes, which are no elements of {size} bytes", bytes.len()));
                }
                let element = |part: &[u8]| self.value(&sized.element.kind, part);
                let elements: Result<Vec<Value>, String> =
                    bytes.chunks(usize::try_from(size).unwrap_or(1)).map(element).collect();
                *slot = Value::Array(elements?);
                Ok(())
            }
            (kind, []) => {
                let (size, _) =
                    self.size(kind).ok_or("has no layout that is known: bit-fields or pointers")?;
                if size != bytes.len() as u64 {
                    return Err(format!("has {} bytes, its type {size}", bytes.len()));
                }
                *slot = self.value(kind, bytes)?;
                Ok(())
            }
            (_, [step, ..]) => Err(match step {
                Step::Name(name) => format!("has no member {name}"),
                Step::Index(index) => format!("has no element {index}"),
                Step::Deref => "is no pointer".to_owned(),
            }),
        }
    }

    fn put_element(
        &self,
        element: &Node,
        index: u64,
        n: usize,
        rest: &[Step],
        bytes: &[u8],
        slot: &mut Value,
    ) -> Result<(), String> {
        if !slot.is_array() {
            *slot = Value::Array(Vec::new());
        }
        let Value::Array(values) = slot else { unreachable!("an array was put there") };
        while values.len() < n {
            values.push(self.zero(element));
        }
        let index = usize::try_from(index).map_err(|_| "has no such element")?;
        self.put(element, rest, bytes, &mut values[index])
    }

    /// What an element is that no object names.
    fn zero(&self, node: &Node) -> Value {
        let size = self.size(&node.kind).and_then(|(size, _)| usize::try_from(size).ok());
        let zero = size.and_then(|size| self.value(&node.kind, &vec![0; size]).ok());
        zero.unwrap_or(Value::Null)
    }

    /// Size and alignment in bytes.
    fn size(&self, kind: &Kind) -> Option<(u64, u64)> {
        match kind {
            Kind::Scalar(cell) => {
                let bits = u64::from(cell.scalar.bits());
                let size = if cell.scalar == Scalar::Bool { 1 } else { bits / 8 };
                let is_whole = cell.scalar == Scalar::Bool || bits % 8 == 0;
                // on 32 bits numbers of eight bytes stand at multiples of four
                is_whole.then_some((size, size.min(self.pointer_bytes).max(1)))
            }
            Kind::Array { elements, .. } => {
                let (size, alignment) = self.size(&elements.first()?.kind)?;
                Some((size * elements.len() as u64, alignment))
            }
            Kind::Struct { members } => {
                let (mut size, mut alignment) = (0_u64, 1);
                for member in members {
                    let (own, aligned) = self.size(&member.kind)?;
                    size = size.next_multiple_of(aligned) + own;
                    alignment = alignment.max(aligned);
                }
                Some((size.next_multiple_of(alignment), alignment))
            }
            Kind::Sized(_)
            | Kind::Pointer(_)
            | Kind::Union(_)
            | Kind::Function(_)
            | Kind::Stream(_)
            | Kind::Results(_)
            | Kind::Sequence { .. }
            | Kind::Optional { .. }
            | Kind::Unsupported { .. } => None,
        }
    }

    /// The value of these bytes, which are as many as the type has.
    fn value(&self, kind: &Kind, bytes: &[u8]) -> Result<Value, String> {
        match kind {
            Kind::Scalar(cell) => Ok(scalar(cell, bytes)),
            Kind::Array { elements, .. } => {
                let size = bytes.len() / elements.len().max(1);
                let parts = elements.iter().zip(bytes.chunks(size.max(1)));
                parts.map(|(element, part)| self.value(&element.kind, part)).collect()
            }
            Kind::Struct { members } => {
                let mut value = Map::new();
                let mut at = 0_u64;
                for member in members {
                    let (size, alignment) = self.size(&member.kind).ok_or("has no layout that is known")?;
                    at = at.next_multiple_of(alignment);
                    let range = at as usize..(at + size) as usize;
                    let part = bytes.get(range).ok_or("ends within a member")?;
                    value.insert(member.name.clone(), self.value(&member.kind, part)?);
                    at += size;
                }
                Ok(Value::Object(value))
            }
            Kind::Sized(_)
            | Kind::Pointer(_)
            | Kind::Union(_)
            | Kind::Function(_)
            | Kind::Stream(_)
            | Kind::Results(_)
            | Kind::Sequence { .. }
            | Kind::Optional { .. }
            | Kind::Unsupported { .. } => Err("has no layout that is known".to_owned()),
        }
    }

    /// If a fuzzer's bytes can be for a parameter: the numbers that say how many they are.
    fn bytes_behind<'k>(&'k self, kind: &'k Kind) -> Option<&'k [Key]> {
        let is_byte = |node: &Node| {
            is_character(node)
                || node
                    .kind
                    .scalar()
                    .is_some_and(|cell| cell.scalar.bits() == 8 && cell.scalar != Scalar::Bool)
        };
        match kind {
            Kind::Pointer(pointer) => {
                let own = self.bytes_behind(&self.shape.targets[pointer.target].kind)?;
                match &pointer.reach {
                    Reach::Counted(keys) => Some(keys),
                    Reach::Open | Reach::Text => Some(own),
                }
            }
            Kind::Sized(sized) if is_byte(&sized.element) => Some(&sized.counted_by),
            Kind::Stream(_) => Some(&[]),
            _ => None,
        }
    }
}

fn as_object(slot: &mut Value) -> &mut Map<String, Value> {
    if !slot.is_object() {
        *slot = Value::Object(Map::new());
    }
    let Value::Object(members) = slot else { unreachable!("an object was put there") };
    members
}

fn scalar(cell: &Cell, bytes: &[u8]) -> Value {
    let mut wide = [0; 8];
    wide[..bytes.len().min(8)].copy_from_slice(&bytes[..bytes.len().min(8)]);
    scalar_value(cell, u64::from_le_bytes(wide))
}

/// A value by its bits; those that the type does not have do not count.
pub(super) fn scalar_value(cell: &Cell, bits: u64) -> Value {
    match &cell.scalar {
        Scalar::Float { bits: width } => float_to_json(*width, bits),
        Scalar::Bool => Value::Bool(bits != 0),
        Scalar::Integer { .. } | Scalar::Char { .. } | Scalar::Enum { .. } => {
            json_number(cell.scalar.number(bits))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::values::json::tests::{linked, shape};

    fn objects(objects: &[(&str, &[u8])]) -> Vec<(String, Vec<u8>)> {
        objects.iter().map(|(name, bytes)| ((*name).to_owned(), bytes.to_vec())).collect()
    }

    #[test]
    fn objects_are_read_by_the_type_of_what_they_name() {
        let read = |given: &[(&str, &[u8])]| of_objects(&shape(), 8, &objects(given));
        let structure = [0xff, 0xff, 9, 9, 1, 0, 0, 0, 2, 0, 0, 0];
        assert_eq!(
            read(&[("n", &[0xfe, 0xff, 0xff, 0xff]), ("b", &[1]), ("s", b"ab\0\0"), ("p", &structure)]),
            Ok(json!({"n": -2, "b": true, "s": [97, 98, 0, 0], "p": {"x": -1, "v": [1, 2]}}))
        );
        assert_eq!(read(&[("p.v[1]", &[3, 0, 0, 0])]), Ok(json!({"p": {"v": [0, 3]}})));
        let wrong = |given: &[(&str, &[u8])]| read(given).expect_err("it cannot be read");
        assert_eq!(wrong(&[("n", &[1])]), "its object n has 1 bytes, its type 4");
        assert_eq!(wrong(&[("m", &[1])]), "its object m is none of the inputs n, e, b, s, p, w");
        assert_eq!(wrong(&[("p.y", &[1])]), "its object p.y has no member y");
    }

    #[test]
    fn an_object_for_a_pointer_is_what_it_points_to() {
        let read = of_objects(&linked(), 8, &objects(&[("list->value", &[7, 0, 0, 0]), ("s", b"abc")]));
        assert_eq!(read, Ok(json!({"list": {"value": 7}, "s": [97, 98, 99]})));
    }

    #[test]
    fn bytes_of_a_fuzzer_are_the_one_text_or_fill_all_parameters() {
        assert_eq!(of_bytes(&linked(), 8, b"xy"), Ok(json!({"s": [120, 121]})));
        let given = of_bytes(&shape(), 8, &[1, 0, 0, 0, 7]).expect("it can be read");
        assert_eq!((&given["n"], &given["e"], &given["b"]), (&json!(1), &json!(7), &json!(false)));
    }

    #[test]
    fn expressions_have_steps() {
        let name = |name: &str| Step::Name(name.to_owned());
        assert_eq!(steps("p->v[2].x"), Some(vec![name("p"), name("v"), Step::Index(2), name("x")]));
        assert_eq!(steps("*p"), Some(vec![name("p"), Step::Deref]));
        assert_eq!(steps("a[x]"), None);
    }
}
