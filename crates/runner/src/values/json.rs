//! Inputs as JSON a person can edit, and back.
//!
//! Method: the JSON follows the tree of the input's shape: parameter names, members as objects, elements as arrays, enums
//! by enumerator if one fits, `_Bool` as true and false, infinities and NaN as strings. An array of characters that is
//! readable as text is a string without its trailing zero bytes, with its size if that does not follow. A pointer is null,
//! the object it points to, or `{"alias": "list->next"}` if it shares the object of another one. Reading accepts every form
//! that writing produces; a missing parameter is zero, a missing pointer what the harness makes of it.

mod calls;
mod read;

use model::float_text;
use model::input::{Cell, Input, Kind, Node, Objects, Pointed, Scalar, Shape, Sized};
use model::invocation::InvocationError;
use serde_json::{Map, Number, Value, json};

use calls::calls_to_json;
pub use read::{failing, from_json};

/// Why a JSON value is no input for a shape.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ValueError {
    #[error("{at} is {found}, expected {expected}")]
    Kind { at: String, expected: String, found: String },
    #[error("{at} does not exist; known are {known}")]
    Unknown { at: String, known: String },
    #[error("{at} has {found} elements, the input has {expected} (change it with --len)")]
    Length { at: String, expected: usize, found: usize },
    #[error("{at} has {found} elements, at most {most} are built (change it with --max-len)")]
    TooLong { at: String, most: u64, found: usize },
    #[error("{at} is more than {max_depth} pointers deep, which is not built (change it with --max-depth)")]
    TooDeep { at: String, max_depth: u32 },
    #[error("{at} cannot share the object of {name}; known are {known}")]
    NoObject { at: String, name: String, known: String },
    #[error("{at} = {number} does not fit into {bits} bits")]
    Range { at: String, number: String, bits: u32 },
    #[error(transparent)]
    Invocation(#[from] InvocationError),
}

/// The member of a pointer that shares an object.
const ALIAS: &str = "alias";
/// The members of text whose size does not follow from it.
const TEXT: &str = "text";
const SIZE: &str = "size";
/// The member with the numbers of the allocations that fail.
pub const FAILING: &str = "failing_allocations";

/// The input as a JSON object with a member per parameter.
pub fn to_json(shape: &Shape, input: &Input) -> Value {
    let objects = Objects::of(shape, input);
    let member = |node: &Node| (node.name.clone(), node_to_json(node, input, &objects));
    let called =
        |node: &&Node| matches!(&node.kind, Kind::Results(calls) if !calls.results(input).is_empty());
    let mut members: Map<String, Value> =
        shape.roots.iter().chain(shape.stubs.iter().filter(called)).map(member).collect();
    let failing = shape.failing(input);
    if !failing.is_empty() {
        members.insert(FAILING.to_owned(), failing.into_iter().map(Value::from).collect());
    }
    Value::Object(members)
}

/// The number a cell has.
pub fn number(cell: &Cell, input: &Input) -> i128 {
    cell.scalar.number(bits_of(cell, input))
}

/// The bits a cell has.
pub fn bits_of(cell: &Cell, input: &Input) -> u64 {
    input.values.get(&cell.key).copied().unwrap_or(0)
}

/// The bytes of an array of characters.
pub fn characters(elements: &[Node], input: &Input) -> Option<Vec<u8>> {
    let byte = |node: &Node| node.kind.character().map(|cell| number(cell, input).to_le_bytes()[0]);
    (!elements.is_empty()).then(|| elements.iter().map(byte).collect()).flatten()
}

/// The text that bytes spell: printable ASCII, then only zero bytes.
pub fn text(bytes: &[u8]) -> Option<String> {
    let end = bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
    let reads = |byte: &u8| matches!(byte, b' '..=b'~' | b'\t' | b'\n' | b'\r');
    let spelled = &bytes[..end];
    spelled.iter().all(reads).then(|| spelled.iter().map(|&byte| char::from(byte)).collect())
}

/// Whether an element is a character.
pub fn is_character(node: &Node) -> bool {
    matches!(node.kind, Kind::Scalar(Cell { scalar: Scalar::Char { .. }, .. }))
}

fn node_to_json(node: &Node, input: &Input, objects: &Objects) -> Value {
    let all = |elements: &[Node]| elements.iter().map(|node| node_to_json(node, input, objects)).collect();
    match &node.kind {
        Kind::Scalar(cell) => scalar_to_json(cell, input),
        Kind::Array { elements, .. } => match characters(elements, input).and_then(|bytes| text(&bytes)) {
            Some(text) => Value::String(text),
            None => all(elements),
        },
        Kind::Struct { members } => {
            let member = |node: &Node| (node.name.clone(), node_to_json(node, input, objects));
            Value::Object(members.iter().map(member).collect())
        }
        Kind::Sized(sized) => {
            let elements = sized.elements(input);
            match characters(&elements, input).and_then(|bytes| text(&bytes)) {
                Some(text) => text_to_json(sized, text, elements.len() as u64),
                None => all(&elements),
            }
        }
        Kind::Pointer(pointer) => match objects.pointed(pointer) {
            Pointed::Null => Value::Null,
            Pointed::Own(index) => node_to_json(&objects.objects[index].node, input, objects),
            Pointed::Shared(index) => json!({ ALIAS: objects.objects[index].name }),
        },
        Kind::Union(union) => {
            let member = |node: Node| (node.name.clone(), node_to_json(&node, input, objects));
            Value::Object(union.chosen(input).into_iter().map(member).collect())
        }
        Kind::Function(function) => {
            function.callee(input).map_or(Value::Null, |callee| Value::String(callee.to_string()))
        }
        Kind::Results(calls) => all(&calls.results(input)),
        Kind::Stream(stream) if stream.is_there(input) => {
            let elements = stream.bytes.elements(input);
            match characters(&elements, input).and_then(|bytes| text(&bytes)) {
                Some(text) => text_to_json(&stream.bytes, text, elements.len() as u64),
                None => all(&elements),
            }
        }
        Kind::Sequence { root, results } => calls_to_json(*root, results, input, objects),
        Kind::Optional { present, .. } if bits_of(present, input) == 0 => Value::Null,
        Kind::Optional { to, .. } => node_to_json(to, input, objects),
        Kind::Stream(_) | Kind::Unsupported { .. } => Value::Null,
    }
}

/// Text, and its size unless reading would find the same.
fn text_to_json(sized: &Sized, text: String, size: u64) -> Value {
    if size == size_of_text(sized, &text) { Value::String(text) } else { json!({ TEXT: text, SIZE: size }) }
}

fn size_of_text(sized: &Sized, text: &str) -> u64 {
    (text.chars().count() as u64).max(sized.first)
}

fn scalar_to_json(cell: &Cell, input: &Input) -> Value {
    let number = number(cell, input);
    match &cell.scalar {
        Scalar::Bool => Value::Bool(number != 0),
        Scalar::Enum { enumerators, .. } => match enumerators.iter().find(|(_, value)| *value == number) {
            Some((name, _)) => Value::String(name.clone()),
            None => json_number(number),
        },
        Scalar::Integer { .. } | Scalar::Char { .. } => json_number(number),
        Scalar::Float { bits } => float_to_json(*bits, bits_of(cell, input)),
    }
}

/// The shortest decimal; text for what JSON has no numbers for.
pub fn float_to_json(width: u32, bits: u64) -> Value {
    let text = float_text::to_text(width, bits);
    let number = text.parse().ok().and_then(Number::from_f64);
    number.map_or(Value::String(text), Value::Number)
}

/// A number by its digits, so that a `float` is rounded once; or what [`float_to_json`] writes as text.
pub fn float_from_json(width: u32, value: &Value, at: &str) -> Result<u64, ValueError> {
    let bits = match value {
        Value::Number(number) => float_text::from_text(width, &number.to_string()),
        Value::String(text) => float_text::from_text(width, text),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    };
    bits.ok_or_else(|| kind(at, "a number, \"inf\", \"-inf\", \"nan\" or \"nan:0x…\"", value))
}

/// A whole number; as text when it is wider than 64 bits.
pub fn json_number(number: i128) -> Value {
    match (i64::try_from(number), u64::try_from(number)) {
        (Ok(number), _) => Value::Number(Number::from(number)),
        (Err(_), Ok(number)) => Value::Number(Number::from(number)),
        (Err(_), Err(_)) => Value::String(number.to_string()),
    }
}

pub fn object<'v>(value: &'v Value, at: &str) -> Result<&'v Map<String, Value>, ValueError> {
    value.as_object().ok_or_else(|| kind(at, "an object", value))
}

pub fn kind(at: &str, expected: &str, found: &Value) -> ValueError {
    ValueError::Kind { at: at.to_owned(), expected: expected.to_owned(), found: found.to_string() }
}

#[cfg(test)]
pub(crate) mod tests {
    use model::input::{Callee, Function, Key, Pointer, Reach, Results, Union};
    use serde_json::json;

    use super::*;

    pub(crate) fn scalar(name: &str, key: u64, scalar: Scalar) -> Node {
        let cell = Cell { key: Key(key), scalar };
        Node { name: name.to_owned(), c_type: String::new(), kind: Kind::Scalar(cell) }
    }

    fn array(name: &str, elements: Vec<Node>) -> Node {
        Node { name: name.to_owned(), c_type: String::new(), kind: Kind::Array { elements, pointer: false } }
    }

    /// `int n; enum e e; _Bool b; char s[4]; struct { short x; int v[2]; } p; unsigned long long w`
    pub(crate) fn shape() -> Shape {
        let int = |name: &str, key| scalar(name, key, Scalar::Integer { bits: 32, signed: true });
        let character = |at: u64| scalar(&format!("[{at}]"), 10 + at, Scalar::Char { signed: true });
        let enumerators = vec![("RED".to_owned(), 0), ("BLUE".to_owned(), 7)];
        let point = vec![
            scalar("x", 20, Scalar::Integer { bits: 16, signed: true }),
            array("v", vec![int("[0]", 21), int("[1]", 22)]),
        ];
        Shape {
            roots: vec![
                int("n", 1),
                scalar("e", 2, Scalar::Enum { bits: 32, signed: false, enumerators }),
                scalar("b", 3, Scalar::Bool),
                array("s", (0..4).map(character).collect()),
                Node {
                    name: "p".to_owned(),
                    c_type: "struct point".to_owned(),
                    kind: Kind::Struct { members: point },
                },
                scalar("w", 30, Scalar::Integer { bits: 64, signed: false }),
            ],
            ..Shape::default()
        }
    }

    #[track_caller]
    fn check(value: Value) {
        let input = from_json(&shape(), &value).expect("a valid input");
        assert_eq!(to_json(&shape(), &input), value);
    }

    #[track_caller]
    fn refused(value: Value, message: &str) {
        let error = from_json(&shape(), &value).expect_err("an invalid input");
        assert_eq!(error.to_string(), message);
    }

    #[test]
    fn what_is_written_is_read_back() {
        check(
            json!({"n": -5, "e": "BLUE", "b": true, "s": "a\n", "p": {"x": -1, "v": [1, 2]}, "w": u64::MAX}),
        );
        check(
            json!({"n": 0, "e": 3, "b": false, "s": [1, -2, 0, 0], "p": {"x": 0, "v": [-1, i32::MIN]}, "w": 0}),
        );
    }

    #[test]
    fn every_bit_of_a_floating_point_value_is_read_back() {
        let shape = Shape {
            roots: vec![
                scalar("d", 1, Scalar::Float { bits: 64 }),
                scalar("f", 2, Scalar::Float { bits: 32 }),
            ],
            ..Shape::default()
        };
        let check = |d: u64, f: u32, expected: &str| {
            let input = Input { values: [(Key(1), d), (Key(2), u64::from(f))].into() };
            let text = to_json(&shape, &input).to_string();
            assert_eq!(text, expected);
            let read = serde_json::from_str(&text).expect("JSON");
            assert_eq!(from_json(&shape, &read), Ok(input));
        };
        check(0, 0x8000_0000, r#"{"d":0.0,"f":-0.0}"#);
        check(0.1_f64.to_bits(), 0.1_f32.to_bits(), r#"{"d":0.1,"f":0.1}"#);
        check(f64::MAX.to_bits(), f32::MAX.to_bits(), r#"{"d":1.7976931348623157e+308,"f":3.4028235e+38}"#);
        check(1, 1, r#"{"d":5e-324,"f":1e-45}"#);
        check(f64::NAN.to_bits(), f32::NEG_INFINITY.to_bits(), r#"{"d":"nan","f":"-inf"}"#);
        check(0xfff0_0000_0000_0001, 0x7fc0_0001, r#"{"d":"nan:0xfff0000000000001","f":"nan:0x7fc00001"}"#);
        let whole = from_json(&shape, &json!({"d": 3, "f": -2})).expect("whole numbers will do");
        assert_eq!(whole.values[&Key(1)], 3.0_f64.to_bits());
    }

    /// `struct node *list; char *s`, where `struct node { int value; struct node *next; }`
    pub(crate) fn linked() -> Shape {
        let node = |name: &str, kind| Node { name: name.to_owned(), c_type: String::new(), kind };
        let pointer = |choice, first, target| {
            Kind::Pointer(Pointer { choice: Key(choice), first, target, reach: Reach::Open })
        };
        let members = vec![
            scalar("value", 0, Scalar::Integer { bits: 32, signed: true }),
            node("next", pointer(1, 0, 0)),
        ];
        let element = Box::new(scalar("", 0, Scalar::Char { signed: true }));
        let text = Sized {
            size: Key(0),
            first: 4,
            least: 0,
            most: 8,
            element,
            zero_ended: true,
            counted_by: Vec::new(),
        };
        Shape {
            roots: vec![node("list", pointer(0, 1, 0)), node("s", pointer(1, 1, 1))],
            targets: vec![node("", Kind::Struct { members }), node("", Kind::Sized(text))],
            max_depth: 3,
            ..Shape::default()
        }
    }

    #[test]
    fn pointers_are_null_objects_or_aliases() {
        let check = |value: Value| {
            let input = from_json(&linked(), &value).expect("a valid input");
            assert_eq!(to_json(&linked(), &input), value);
        };
        check(json!({"list": null, "s": "ab"}));
        check(
            json!({"list": {"value": 3, "next": {"value": 4, "next": null}}, "s": {"text": "ab", "size": 2}}),
        );
        check(
            json!({"list": {"value": 3, "next": {"value": 4, "next": {"alias": "list"}}}, "s": [1, 2, -3]}),
        );
        check(json!({"list": {"value": 0, "next": {"alias": "list"}}, "s": "abcdefgh"}));
        let left_out = from_json(&linked(), &json!({})).expect("nothing need be said");
        assert_eq!(to_json(&linked(), &left_out), json!({"list": {"value": 0, "next": null}, "s": ""}));
        let refused = |value: Value, message: &str| {
            assert_eq!(from_json(&linked(), &value).expect_err("invalid").to_string(), message);
        };
        refused(
            json!({"s": "a".repeat(4097)}),
            "s has 4097 elements, at most 4096 are built (change it with --max-len)",
        );
        refused(
            json!({"list": {"next": {"alias": "s"}}}),
            "list.next cannot share the object of s; known are list",
        );
        let deep = json!({"list": {"next": {"next": {"next": {"next": null}}}}});
        refused(
            deep,
            "list.next.next.next is more than 3 pointers deep, which is not built (change it with --max-depth)",
        );
    }

    #[test]
    fn unions_functions_and_results_name_what_is_there() {
        let node = |name: &str, kind| Node { name: name.to_owned(), c_type: String::new(), kind };
        let int = |name: &str| scalar(name, 0, Scalar::Integer { bits: 32, signed: true });
        let members = vec![int("i"), scalar("f", 0, Scalar::Float { bits: 32 })];
        let options = vec![Callee::Stub(0), Callee::Function("twice".to_owned())];
        let shape = Shape {
            roots: vec![
                node("u", Kind::Union(Union { choice: Key(0), first: 0, members })),
                node("call", Kind::Function(Function { choice: Key(1), first: 1, options })),
            ],
            stubs: vec![node("stub_0", Kind::Results(Results { key: Key(2), result: Box::new(int("")) }))],
            ..Shape::default()
        };
        for value in [
            json!({"u": {"i": 7}, "call": "stub_0", "stub_0": [1, -2]}),
            json!({"u": {"f": 0.5}, "call": "twice"}),
            json!({"u": {"i": 0}, "call": null}),
        ] {
            let input = from_json(&shape, &value).expect("a valid input");
            assert_eq!(to_json(&shape, &input), value);
        }
        let refused = |value: Value| from_json(&shape, &value).expect_err("invalid").to_string();
        assert_eq!(refused(json!({"u": {"g": 1}})), "u.g does not exist; known are i, f");
        assert_eq!(
            refused(json!({"call": "thrice"})),
            "call is \"thrice\", expected null or one of stub_0, twice"
        );
    }

    #[test]
    fn what_is_left_out_is_zero() {
        let input = from_json(&shape(), &json!({"n": 1})).expect("a valid input");
        assert_eq!(to_json(&shape(), &input)["p"], json!({"x": 0, "v": [0, 0]}));
    }

    #[test]
    fn mistakes_are_named_with_their_place() {
        refused(json!({"m": 1}), "m does not exist; known are n, e, b, s, p, w");
        refused(json!({"p": {"x": 70000}}), "p.x = 70000 does not fit into 16 bits");
        refused(json!({"p": {"v": [1]}}), "p.v has 1 elements, the input has 2 (change it with --len)");
        refused(json!({"e": "GREEN"}), "e is \"GREEN\", expected one of RED, BLUE or a number");
        refused(json!({"n": 1.5}), "n is 1.5, expected a whole number");
        refused(json!([]), "the input is [], expected an object");
    }
}
