//! Inputs in the notation of C, short enough for a line: `v = {1, 0, 0}, s = "ab", p = {.x = 3}`.

use std::fmt::Write;

use model::float_text;
use model::input::calls::{Call, answers_any, calls, ends_behind};
use model::input::{Cell, Input, Key, Kind, Node, Objects, Pointed, Scalar, Shape};

use super::json::{bits_of, characters, is_character, number, text};

/// Elements of an array that are shown.
const SHOWN: usize = 16;

/// Structures with more members are shown without those that are zero.
const FEW: usize = 4;

/// All parameters with their values.
pub fn notation(shape: &Shape, input: &Input) -> String {
    let objects = Objects::of(shape, input);
    let part = |node: &Node| format!("{} = {}", node.name, node_notation(node, input, &objects));
    let called =
        |node: &&Node| matches!(&node.kind, Kind::Results(calls) if !calls.results(input).is_empty());
    // a sequence without calls says nothing
    let is_told = |node: &&Node| match &node.kind {
        Kind::Sequence { root, results } => answers_any(*root, results, input),
        _ => true,
    };
    let roots = shape.roots.iter().filter(is_told).chain(shape.stubs.iter().filter(called));
    let mut parts: Vec<String> = roots.map(part).collect();
    let failing = shape.failing(input);
    if !failing.is_empty() {
        let numbers: Vec<String> = failing.iter().map(u64::to_string).collect();
        parts.push(format!("[allocation {} fails]", numbers.join(", ")));
    }
    parts.join(", ")
}

fn node_notation(node: &Node, input: &Input, objects: &Objects) -> String {
    match &node.kind {
        Kind::Scalar(cell) => scalar_notation(cell, input),
        Kind::Array { elements, .. } => array_notation(elements, input, objects),
        Kind::Struct { members } => {
            let value = |node: &'_ Node| (node.name.clone(), node_notation(node, input, objects));
            let is_told = |(_, value): &(String, String)| members.len() <= FEW || !is_zero(value);
            let told = members.iter().map(value).filter(is_told);
            let told: Vec<String> = told.map(|(name, value)| format!(".{name} = {value}")).collect();
            if told.is_empty() && !members.is_empty() {
                "{0}".to_owned()
            } else {
                format!("{{{}}}", told.join(", "))
            }
        }
        Kind::Sized(sized)
            if sized.zero_ended && sized.n_elements(input) == 0 && is_character(&sized.element) =>
        {
            quoted("")
        }
        Kind::Sized(sized) => array_notation(&sized.elements(input), input, objects),
        Kind::Pointer(pointer) => match objects.pointed(pointer) {
            Pointed::Null => "NULL".to_owned(),
            Pointed::Own(index) => node_notation(&objects.objects[index].node, input, objects),
            Pointed::Shared(index) => objects.objects[index].name.clone(),
        },
        Kind::Union(union) => {
            let member = |node: Node| format!(".{} = {}", node.name, node_notation(&node, input, objects));
            format!("{{{}}}", union.chosen(input).map(member).unwrap_or_default())
        }
        Kind::Function(function) => function.callee(input).map_or("NULL".to_owned(), ToString::to_string),
        Kind::Results(calls) => array_notation(&calls.results(input), input, objects),
        Kind::Stream(stream) if stream.is_there(input) => {
            array_notation(&stream.bytes.elements(input), input, objects)
        }
        Kind::Stream(_) => "NULL".to_owned(),
        Kind::Sequence { root, results } => sequence_notation(*root, results, input, objects),
        Kind::Optional { present, .. } if bits_of(present, input) == 0 => "NULL".to_owned(),
        Kind::Optional { to, .. } => format!("&{}", node_notation(to, input, objects)),
        Kind::Unsupported { .. } => "0 /* not varied */".to_owned(),
    }
}

/// Whether a value is zero in all of its parts.
fn is_zero(value: &str) -> bool {
    let is_quiet = |part: &str| matches!(part, "" | "0" | "0.0" | "false" | "NULL" | "\"\"");
    let last =
        |part: &'_ str| part.rsplit(" = ").next().unwrap_or_default().trim_matches(['{', '}']).to_owned();
    is_quiet(value) || value.starts_with('{') && value.split(", ").all(|part| is_quiet(&last(part)))
}

/// `{3, -1}`, or `{int 3, char 'a'}` when several functions are called.
fn sequence_notation(root: Key, results: &[Node], input: &Input, objects: &Objects) -> String {
    let calls = calls(root, results, input);
    let call = |call: &Call| match results {
        [_] => node_notation(&call.value, input, objects),
        _ => format!("{} {}", call.value.name, node_notation(&call.value, input, objects)),
    };
    let mut shown: Vec<String> = calls.iter().take(SHOWN).map(call).collect();
    if calls.len() > SHOWN {
        shown.push(format!("… {} in all", calls.len()));
    }
    if ends_behind(root, calls.len(), input) {
        shown.push("end".to_owned());
    }
    format!("{{{}}}", shown.join(", "))
}

fn array_notation(elements: &[Node], input: &Input, objects: &Objects) -> String {
    if let Some(text) = characters(elements, input).and_then(|bytes| text(&bytes)) {
        return quoted(&text);
    }
    let mut shown: Vec<String> =
        elements.iter().take(SHOWN).map(|element| node_notation(element, input, objects)).collect();
    if elements.len() > SHOWN {
        shown.push(format!("… {} in all", elements.len()));
    }
    format!("{{{}}}", shown.join(", "))
}

fn scalar_notation(cell: &Cell, input: &Input) -> String {
    let number = number(cell, input);
    match &cell.scalar {
        Scalar::Integer { .. } => number.to_string(),
        Scalar::Float { bits } => float_text::to_text(*bits, bits_of(cell, input)),
        Scalar::Bool => if number == 0 { "false" } else { "true" }.to_owned(),
        Scalar::Char { .. } => match u8::try_from(number) {
            Ok(byte @ b' '..=b'~') => format!("'{}'", escaped(char::from(byte), '\'')),
            Ok(_) | Err(_) => number.to_string(),
        },
        Scalar::Enum { enumerators, .. } => match enumerators.iter().find(|(_, value)| *value == number) {
            Some((name, _)) => name.clone(),
            None => number.to_string(),
        },
    }
}

pub fn quoted(text: &str) -> String {
    let mut quoted = "\"".to_owned();
    for character in text.chars() {
        quoted.push_str(&escaped(character, '"'));
    }
    quoted.push('"');
    quoted
}

fn escaped(character: char, quote: char) -> String {
    let mut escaped = String::new();
    match character {
        '\n' => escaped.push_str("\\n"),
        '\t' => escaped.push_str("\\t"),
        '\r' => escaped.push_str("\\r"),
        '\\' => escaped.push_str("\\\\"),
        c if c == quote => {
            escaped.push('\\');
            escaped.push(c);
        }
        c if c.is_ascii_control() => {
            write!(escaped, "\\{:03o}", u32::from(c)).expect("writing to a string succeeds");
        }
        c => escaped.push(c),
    }
    escaped
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::values::json::from_json;
    use crate::values::json::tests::{linked, shape};

    #[track_caller]
    fn check(value: serde_json::Value, expected: &str) {
        let input = from_json(&shape(), &value).expect("a valid input");
        assert_eq!(notation(&shape(), &input), expected);
    }

    #[test]
    fn inputs_read_like_initialisers() {
        check(
            json!({"n": -5, "e": "BLUE", "b": true, "s": "a\"\n", "p": {"x": 7, "v": [1, 2]}}),
            "n = -5, e = BLUE, b = true, s = \"a\\\"\\n\", p = {.x = 7, .v = {1, 2}}, w = 0",
        );
        check(
            json!({"e": 3, "s": [65, 1, 0, -1]}),
            "n = 0, e = 3, b = false, s = {'A', 1, 0, -1}, p = {.x = 0, .v = {0, 0}}, w = 0",
        );
    }

    #[test]
    fn zeros_are_recognised_at_every_depth() {
        let is_zero = ["0", "{0, 0}", "{{.r = 0, .s = \"\"}, {.r = 0, .s = NULL}}"].map(is_zero);
        let is_other =
            ["1", "{0, 7}", "\"{}\"", "{{.r = 0}, {.r = 2}}", "{0, … 20 in all}"].map(super::is_zero);
        assert_eq!((is_zero, is_other), ([true; 3], [false; 5]));
    }

    #[test]
    fn pointers_read_as_what_they_point_to() {
        let value = json!({"list": {"value": 1, "next": {"value": 2, "next": {"alias": "list"}}}, "s": null});
        let input = from_json(&linked(), &value).expect("a valid input");
        assert_eq!(
            notation(&linked(), &input),
            "list = {.value = 1, .next = {.value = 2, .next = list}}, s = NULL"
        );
    }
}
